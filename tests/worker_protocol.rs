//! Messages between page and worker, in a browser: headers through serde, tables as transferred arrays.
#![cfg(all(target_arch = "wasm32", any(feature = "ui", feature = "infer-worker")))]

use js_sys::{Array, Float32Array};
use rooflight::features::Family;
use rooflight::worker::protocol::{BadMessage, FromWorker, ToWorker, VERSION, pack, unpack};
use wasm_bindgen::JsValue;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

#[wasm_bindgen_test]
fn rows_arrive_as_they_were_sent() {
    let header = ToWorker::Rows { id: 7, families: vec![Family::Gemm, Family::AttentionDecode] };
    let tables = [Float32Array::from(&[1.0_f32, -2.5, 3.0][..]), Float32Array::from(&[0.5_f32][..])];
    let (message, buffers) = pack(&header, &tables).expect("packs");
    assert_eq!(buffers.length(), 2);
    let (read, arrays) = unpack::<ToWorker>(&message).expect("unpacks");
    assert_eq!(read, header);
    assert_eq!(arrays[0].to_vec(), [1.0, -2.5, 3.0]);
    assert_eq!(arrays[1].to_vec(), [0.5]);
}

#[wasm_bindgen_test]
fn every_answer_round_trips() {
    let trained_on = vec![(Family::Gemm, vec!["h100-sxm".to_string()])];
    for header in [
        FromWorker::Up { version: VERSION },
        FromWorker::Loaded { release: "2026-11-21".into(), trained_on },
        FromWorker::Answer { id: 1, families: Family::ALL.to_vec() },
        FromWorker::Failed { id: None, reason: "no models".into() },
    ] {
        let (message, _) = pack(&header, &[]).expect("packs");
        assert_eq!(unpack::<FromWorker>(&message).expect("unpacks").0, header);
    }
}

#[wasm_bindgen_test]
fn strange_messages_are_refused() {
    assert_eq!(unpack::<FromWorker>(&JsValue::from("hello")), Err(BadMessage::Form));
    let unknown = Array::of1(&JsValue::from("Unknown"));
    assert!(matches!(unpack::<FromWorker>(&unknown), Err(BadMessage::Header(_))));
    let (message, _) = pack(&FromWorker::Up { version: 1 }, &[]).expect("packs");
    message.push(&JsValue::from(3));
    assert_eq!(unpack::<FromWorker>(&message), Err(BadMessage::Form));
}
