#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| rooflight_fuzz::measured(text));
