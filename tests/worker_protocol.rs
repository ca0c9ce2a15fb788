//! Messages between page and worker, in wasm under Node: headers as JSON, tables as transferred arrays.
#![cfg(all(target_arch = "wasm32", any(feature = "ui", feature = "infer-worker")))]

use js_sys::{Array, Float32Array};
use rooflight::config::{Field, Issue};
use rooflight::study::{Block, Document, Row, Topic};
use rooflight::worker::protocol::{
    BadMessage, FromWorker, Read, Simulate, Simulated, Studied, StudyAsked, Swept, Text, ToWorker, VERSION,
    pack, unpack,
};
use wasm_bindgen::JsValue;
use wasm_bindgen_test::wasm_bindgen_test;

#[wasm_bindgen_test]
fn tables_arrive_as_they_were_sent() {
    let header = FromWorker::Answered { id: 7, release: String::new(), issues: Vec::new() };
    let tables = [Float32Array::from(&[1.0_f32, -2.5, 3.0][..]), Float32Array::from(&[0.5_f32][..])];
    let (message, buffers) = pack(&header, &tables);
    assert_eq!(buffers.length(), 2);
    let (read, arrays) = unpack::<FromWorker>(&message).expect("unpacks");
    assert_eq!(read, header);
    assert_eq!(arrays[0].to_vec(), [1.0, -2.5, 3.0]);
    assert_eq!(arrays[1].to_vec(), [0.5]);
}

#[wasm_bindgen_test]
fn every_answer_round_trips() {
    let issues = vec![Issue::error(Field::Gpu, "no bandwidth").with_given("x")];
    let table = Block::table("Latencies", &["", "Mean"], vec![Row::texts(["TTFT", "12 ms"])]);
    let blocks = vec![table, Block::fold("why", "Why", vec![Block::code("Run", "", "vllm serve \\\n  --x")])];
    let document = Document { blocks, ..Document::default() };
    for header in [
        FromWorker::Up { version: VERSION },
        FromWorker::Loaded { release: "2026-11-21".into() },
        FromWorker::Answered { id: 1, release: "2026-11-21".into(), issues: Vec::new() },
        FromWorker::Answered { id: 2, release: String::new(), issues: issues.clone() },
        FromWorker::Simulated(Simulated { id: 3, issues, goes_on: true, document: document.clone() }),
        FromWorker::Studied(Studied { id: 4, done: 2, total: 36, document: document.clone() }),
        FromWorker::Swept(Swept { id: 3, done: 1, total: 7, finished: false, document: document.clone() }),
        FromWorker::Failed { id: None, reason: "no \"models\"".into() },
        FromWorker::Failed { id: Some(3), reason: String::new() },
        FromWorker::Read(Read { field: Field::Trace, trace: "Trace".into(), ..Read::default() }),
        FromWorker::Read(Read { field: Field::Measured, link: "v=1&me=ttft-5".into(), ..Read::default() }),
    ] {
        let (message, _) = pack(&header, &[]);
        assert_eq!(unpack::<FromWorker>(&message).expect("unpacks").0, header);
    }
}

#[wasm_bindgen_test]
fn every_question_round_trips() {
    let link = "v=1&m=qwen3-32b&r=2.5".to_string();
    let page = "https://example.org/".to_string();
    for header in [
        ToWorker::Ask { id: 1, link: link.clone() },
        ToWorker::Study(StudyAsked {
            id: 3,
            topic: Topic::Sweep,
            of: "isl".into(),
            link: link.clone(),
            page,
        }),
        ToWorker::EndStudy { id: 3 },
        ToWorker::Simulate(Simulate { id: 2, link: link.clone(), replay: true }),
        ToWorker::Stop { id: 2 },
        ToWorker::Read(Text { field: Field::Trace, text: "arrival,prompt,output\n0,1,1\n".into(), link }),
    ] {
        let (message, _) = pack(&header, &[]);
        assert_eq!(unpack::<ToWorker>(&message).expect("unpacks").0, header);
    }
}

#[wasm_bindgen_test]
fn strange_messages_are_refused() {
    assert!(matches!(unpack::<FromWorker>(&JsValue::from("hello")), Err(BadMessage::Form)));
    let unknown = Array::of1(&JsValue::from("{\"unknown\":{}}"));
    assert!(matches!(unpack::<FromWorker>(&unknown), Err(BadMessage::Header(_))));
    let (message, _) = pack(&FromWorker::Up { version: 1 }, &[]);
    message.push(&JsValue::from(3));
    assert!(matches!(unpack::<FromWorker>(&message), Err(BadMessage::Form)));
}
