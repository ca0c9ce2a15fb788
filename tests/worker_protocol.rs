//! Messages between page and worker, in wasm under Node.
#![cfg(all(target_arch = "wasm32", any(feature = "ui", feature = "infer-worker")))]

use rooflight::config::{Field, Issue};
use rooflight::study::{Block, Document, Row, Topic};
use rooflight::worker::protocol::{
    Answer, Answered, FromWorker, KernelRow, MemoryShown, Part, Pass, PredictionRequest, Read, Reading,
    Studied, StudyRequest, Swept, Text, ToWorker, VERSION, pack, unpack,
};
use wasm_bindgen::JsValue;
use wasm_bindgen_test::wasm_bindgen_test;

fn answer(document: &Document) -> Answer {
    let reading = Reading { id: "ttft".into(), value: 0.123456789012345, ..Reading::default() };
    let part = Part { class: "kv".into(), width: 12.5, ..Part::default() };
    let kernel = KernelRow { id: "qkv_proj".into(), cells: vec!["Compute".into()], ..KernelRow::default() };
    Answer {
        fits: true,
        readings: vec![reading],
        memory: MemoryShown { parts: vec![part], end: Some(80.0), ..MemoryShown::default() },
        passes: vec![Pass { facts: vec!["1".into()], kernels: vec![kernel], ..Pass::default() }],
        run: document.clone(),
        ..Answer::default()
    }
}

#[wasm_bindgen_test]
fn every_answer_round_trips() {
    let of_gpu = Issue { of: Some("l4".into()), ..Issue::error(Field::Owned, "no number") };
    let issues = vec![Issue::error(Field::Gpu, "no bandwidth").with_given("x"), of_gpu];
    let table = Block::table("Latencies", &["", "Mean"], vec![Row::texts(["TTFT", "12 ms"])]);
    let blocks = vec![table, Block::fold("why", "Why", vec![Block::code("Run", "", "vllm serve \\\n  --x")])];
    let document = Document { blocks, ..Document::default() };
    let (release, answer) = (Some("2026-11-21".to_owned()), Some(answer(&document)));
    for message in [
        FromWorker::Up { version: VERSION },
        FromWorker::Loaded { release: "2026-11-21".into() },
        FromWorker::Answered(Box::new(Answered { id: 2, issues: issues.clone(), ..Answered::default() })),
        FromWorker::Answered(Box::new(Answered {
            id: 3,
            release,
            answer,
            has_loads: true,
            ..Answered::default()
        })),
        FromWorker::Studied(Studied { id: 4, done: 2, total: 36, issues, document: document.clone() }),
        FromWorker::Swept(Swept { id: 3, done: 1, total: 7, finished: false, document: document.clone() }),
        FromWorker::Failed { reason: "no \"models\"".into() },
        FromWorker::Read(Read { field: Field::Trace, trace: "Trace".into(), ..Read::default() }),
        FromWorker::Read(Read { field: Field::Measured, link: "v=1&me=ttft-5".into(), ..Read::default() }),
    ] {
        assert_eq!(unpack::<FromWorker>(&pack(&message)), Ok(message));
    }
}

#[wasm_bindgen_test]
fn every_question_round_trips() {
    let link = "v=1&m=qwen3-32b&r=2.5".to_string();
    let page = "https://example.org/".to_string();
    for message in [
        ToWorker::Ask(PredictionRequest { id: 1, link: link.clone(), replay: true }),
        ToWorker::Study(StudyRequest {
            id: 3,
            topic: Topic::Sweep,
            of: "isl".into(),
            link: link.clone(),
            page,
        }),
        ToWorker::EndStudy { id: 3 },
        ToWorker::Sweep { id: 2 },
        ToWorker::Stop { id: 2 },
        ToWorker::Read(Text { field: Field::Trace, text: "arrival,prompt,output\n0,1,1\n".into(), link }),
    ] {
        assert_eq!(unpack::<ToWorker>(&pack(&message)), Ok(message));
    }
}

#[wasm_bindgen_test]
fn strange_messages_are_refused() {
    for strange in [JsValue::from(3), JsValue::from("hello"), JsValue::from("{\"unknown\":{}}")] {
        assert!(unpack::<FromWorker>(&strange).is_err());
    }
}
