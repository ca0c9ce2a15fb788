use super::*;

fn isl() -> &'static Input {
    Field::Isl.input()
}

#[test]
fn invalid_text_stays_in_the_box_and_the_last_valid_number_applies() {
    let mut form = Form::from_link("");
    form.type_text(isl(), "2048".into());
    form.type_text(isl(), "2048x".into());
    form.leave(isl());
    assert_eq!(form.text(isl()), "2048x");
    assert_eq!(form.scenario().workload.mean_prompt(), Some(2048.0));
    assert!(form.has_bad_draft());
    assert_eq!(form.issues().len(), 1);

    form.set(Field::Isl, 512.0);
    assert_eq!(form.text(isl()), "512");
    assert!(!form.has_bad_draft() && form.issues().is_empty());
}

#[test]
fn a_number_out_of_range_stays_typed_and_out_of_the_link() {
    let limit = Field::SloTtft.input();
    for address in ["v=1", "v=1&st=99999999999"] {
        let mut form = Form::from_link(address);
        for text in ["99999999999", "abc"] {
            form.type_text(limit, text.into());
            form.leave(limit);
            assert_eq!((form.text(limit).as_str(), form.link().as_str()), (text, "v=1"));
            assert!(form.issues().len() == 1 && form.issues()[0].text.contains(text), "{:?}", form.issues());
        }
    }
    let mut form = Form::from_link("v=1");
    form.type_text(Field::Concurrency.input(), "100200".into());
    assert!(form.has_bad_draft() && form.link() == "v=1");
}

#[test]
fn leaving_a_box_normalises_a_valid_number() {
    let mut form = Form::from_link("");
    form.type_text(isl(), " 4 096".into());
    assert_eq!(form.text(isl()), " 4 096");
    form.leave(isl());
    assert_eq!(form.text(isl()), "4096");
}

#[test]
fn lengths_of_a_batch_are_not_read_as_thousands_silently() {
    let said = |address: &str| {
        let mut form = Form::from_link(address);
        form.type_text(isl(), "100,200".into());
        form.leave(isl());
        assert!(!form.has_bad_draft() && form.text(isl()) == "100200");
        form.issues().iter().map(|issue| issue.text.clone()).collect::<Vec<_>>()
    };
    let doubt = &said("b=2")[0];
    assert!(doubt.contains("100200") && doubt.contains("100x1,200"), "{doubt}");
    assert_eq!(said("c=2"), [""; 0]);
}

#[test]
fn the_prompts_of_a_batch_are_typed_as_links_write_them() {
    for (typed, shown) in [("128x4, 1024x2", "128x4,1024x2"), ("100x1,200", "100,200"), ("64X6", "64x6")] {
        let mut form = Form::from_link("b=6");
        form.type_text(isl(), typed.into());
        assert_eq!(form.text(isl()), typed);
        form.leave(isl());
        assert_eq!((form.text(isl()).as_str(), form.issues()), (shown, &[][..]));
        assert_eq!(form.link(), format!("v=1&isl={shown}&b=6"));
    }
    let refused = |address: &str, typed: &str| {
        let mut form = Form::from_link(address);
        form.type_text(isl(), typed.into());
        form.leave(isl());
        assert!(form.has_bad_draft() && form.text(isl()) == typed, "{typed}");
        form.issues()[0].text.clone()
    };
    assert!(refused("c=6", "128x4,1024x2").ends_with("only a static batch takes a list of lengths"));
    for typed in ["128x", "128x4,0x2", ",", "x"] {
        assert!(refused("b=6", typed).ends_with("such as 128x4,1024"), "{typed}");
    }
}

#[test]
fn an_emptied_optional_box_is_the_catalogs_figure() {
    let mut form = Form::from_link("");
    form.type_text(Field::Price.input(), "3".into());
    assert_eq!(form.scenario().overrides.price, Some(3.0));
    form.type_text(Field::Price.input(), String::new());
    assert_eq!(form.scenario().overrides.price, None);
    assert!(form.issues().is_empty());
}

#[test]
fn a_choice_resets_excluded_inputs_with_a_note() {
    let mut form = Form::from_link("#m=qwen3-30b-a3b&tp=4&ep=4&dp=x");
    assert!(form.shows(Field::Ep) && form.shows(Field::Dp) && form.has_bad_draft());
    form.choose(Field::Model, |scenario| scenario.model = ModelChoice::Catalog("qwen3-32b".into()));
    assert_eq!((form.scenario().parallel.ep, form.has_bad_draft()), (1, false));
    assert!(!form.shows(Field::Ep) && !form.shows(Field::Dp));
    let notes: Vec<&str> = form.issues().iter().map(|issue| &*issue.text).collect();
    assert!(notes[0].starts_with("Expert parallel was reset from 4 to 1"), "{notes:?}");
    assert!(notes[1].starts_with("Attention data parallel was reset"), "{notes:?}");
    assert!(form.issues().iter().all(|issue| issue.field == Field::Model && !issue.is_error()));
}

#[test]
fn unreadable_values_are_shown_at_their_input() {
    let form = Form::from_link("#r=1,5&bu=x&ep=y");
    for field in [Field::Rate, Field::Burstiness, Field::Ep, Field::Concurrency] {
        assert!(form.shows(field), "{field:?}");
    }
    assert_eq!(form.text(Field::Rate.input()), "1,5");
    // Of a text that is no link the defaults are no answer; it is quoted as it was typed.
    let form = Form::opened("http://127.0.0.1/rooflight/#hello%20world");
    assert!(form.has_bad_draft());
    let said = &form.issues().iter().find(|issue| issue.is_error()).expect("it is refused").text;
    assert!(said.starts_with("`hello world` is not a link"), "{said}");
    // A length is named, as any number is: where its input is folded away, the text is all there is.
    for (address, given) in [("isl=-5", "-5"), ("isl=abc", "abc"), ("osl=-5", "-5")] {
        let said = Form::from_link(address).issues()[0].text.clone();
        assert!(said.contains("put length must be a whole number between 1 and"), "{said}");
        assert!(said.ends_with(&format!("not `{given}`")), "{said}");
    }
    // A comparison does not block the prediction.
    assert!(!Form::from_link("#vs=m~").has_bad_draft());
    // Another load or length replaces what could not be read.
    let mut form = Form::from_link("#r=1,5&hl=5");
    form.set(Field::Concurrency, 8.0);
    form.set(Field::Osl, 8.0);
    assert!(!form.has_bad_draft() && !form.shows(Field::Rate) && form.issues().is_empty());
}

#[test]
fn only_a_page_without_a_link_is_fresh() {
    let load = |address: &str| Form::opened(address).scenario().workload.load;
    for address in ["https://example.org/", "https://example.org/?utm=x", "https://example.org/#", ""] {
        assert_eq!(load(address), Load::Rate(4.0), "{address}");
    }
    for address in ["https://example.org/#v=1", "https://example.org/?tp=2", "https://example.org/#future=1"]
    {
        assert_eq!(load(address), Load::Concurrency(16), "{address}");
    }
}

#[test]
fn an_edit_taken_back_leaves_the_catalogs_gpu_and_model() {
    let mut form = Form::from_link("#v=1&m=qwen3-32b&g=h100-sxm");
    let before = form.link();
    for (field, edited, own) in
        [(Field::Sms, "100", "132"), (Field::Layers, "32", "64"), (Field::Hidden, "4096", "5120")]
    {
        form.type_text(field.input(), edited.into());
        form.leave(field.input());
        assert_ne!(form.link(), before, "{field:?}");
        // Another edit in between: the model before the first is forgotten.
        form.set(Field::Isl, 1024.0);
        form.type_text(field.input(), own.into());
        assert_eq!(form.link(), before, "{field:?}");
    }
    // A peak of the GPU's own is an edit beside other SMs, which it would follow.
    let peak = Form::from_link("#v=1").text(Field::Bf16Tflops.input());
    assert_eq!(peak, "");
    form.set(Field::Sms, 100.0);
    form.set(Field::Bf16Tflops, 989.0);
    assert!(form.link().contains("hbf=989"));
}

#[test]
fn an_edit_unpins_the_release() {
    let mut form = Form::from_link("#v=1&isl=300&d=2026-01-01");
    assert_eq!(form.link(), "v=1&isl=300&d=2026-01-01");
    assert_eq!(form.pinned_link("2026-02-02".into()), "v=1&isl=300&d=2026-02-02");
    assert!(form.then_and_now("2026-01-01").is_none() && form.then_and_now("2026-02-02").is_some());
    form.set(Field::Isl, 300.0);
    assert_eq!(form.link(), "v=1&isl=300");
    assert!(form.then_and_now("2026-02-02").is_none());
}

#[test]
fn the_rates_of_a_day_replace_the_load() {
    let form = Form::from_link("v=1&c=32&f=day~1,2");
    assert_eq!(form.hours(), ["1", "2"]);
    assert!(!form.shows(Field::Concurrency) && form.shows(Field::Isl));
    assert!(Form::from_link("v=1&c=32&f=all").shows(Field::Concurrency));
}

#[test]
fn formats_that_a_gpu_rules_out_come_back_with_a_gpu_that_has_them() {
    let mut form = Form::from_link("m=qwen3-32b&e=trtllm&w=fp8&kv=fp8");
    let formats = |form: &Form| (form.scenario().weights, form.scenario().kv);
    let choose = |form: &mut Form, gpu: &str| form.choose(Field::Gpu, |scenario| scenario.gpu = gpu.into());
    let asked = formats(&form);
    for gpu in ["a100-sxm-80gb", "v100-sxm-32gb"] {
        choose(&mut form, gpu);
        assert_eq!(formats(&form), (None, Dtype::Bf16), "{gpu}");
    }
    choose(&mut form, "h200-sxm");
    assert_eq!(formats(&form), asked);
    assert!(form.issues().iter().any(|issue| issue.text.contains("restored")), "{:?}", form.issues());

    choose(&mut form, "a100-sxm-80gb");
    form.choose(Field::Weights, |scenario| scenario.weights = Some(Dtype::Bf16));
    choose(&mut form, "h200-sxm");
    assert_eq!(formats(&form), (Some(Dtype::Bf16), Dtype::Bf16));
}

#[test]
fn a_pasted_command_sets_everything_it_states_and_keeps_other_typed_text() {
    let pasted = |address: &str, command: &str| {
        let mut form = Form::from_link(address);
        form.type_text(Field::Price.input(), "abc".into());
        let (read, _) = crate::config::command::read(command, form.scenario()).expect("a command");
        form.take(read.expect("a scenario"));
        assert_eq!(form.text(Field::Price.input()), "abc");
        form.link()
    };
    let serve = "vllm serve Qwen/Qwen3-8B";
    let off = format!("{serve} --no-enable-prefix-caching");
    assert_eq!(pasted("v=1&sn=8", &off), "v=1&m=qwen3-8b&sn=8&hc=0");
    assert_eq!(pasted("v=1&pw=2&ptp=2&tp=4", serve), "v=1&m=qwen3-8b");
    assert_eq!(
        pasted("v=1&b=2&isl=100,200&sh=sharegpt&vs=v~1~tp~2", serve),
        "v=1&m=qwen3-8b&isl=100,200&sh=sharegpt&b=2&vs=v~1~tp~2"
    );
    let bench = |flags: &str| format!("{serve} &\nvllm bench serve --dataset-name random {flags}");
    let bursty = bench("--request-rate 4 --burstiness 0.5");
    assert_eq!(pasted("v=1&c=8", &bursty), "v=1&m=qwen3-8b&osl=128&r=4&bu=0.5&np=1000");
    assert_eq!(pasted("v=1&b=2&isl=100,200", &bench("--max-concurrency 4")), "v=1&m=qwen3-8b&osl=128&c=4");
}

#[test]
fn a_number_that_a_pasted_command_changes_replaces_what_was_typed() {
    let mut form = Form::from_link("v=1&tp=2");
    form.type_text(Field::Tp.input(), "abc".into());
    let (read, _) = crate::config::command::read("vllm serve Qwen/Qwen3-8B -tp 4", form.scenario()).unwrap();
    form.take(read.expect("a scenario"));
    assert_eq!((form.link().as_str(), form.has_bad_draft()), ("v=1&m=qwen3-8b&tp=4", false));
}

#[test]
fn a_removed_run_takes_its_measurement_with_it() {
    let run = |clients, ttft| {
        let mut run = Scenario::default();
        run.workload.load = Load::Concurrency(clients);
        run.measured.set(crate::config::Metric::Ttft, false, ttft).expect("in range");
        run
    };
    let mut form = Form::from_link("v=1");
    form.calibrate_on(Some(vec![run(8, 154.0), run(16, 200.0)]));
    form.choose(Field::Measured, |scenario| scenario.measured = run(16, 200.0).measured);
    form.remove_run(0);
    assert_eq!((form.runs().len(), form.scenario().measured.is_empty()), (1, false));
    form.remove_run(0);
    assert_eq!((form.runs().len(), form.scenario().measured.is_empty()), (0, true));
    form.remove_run(0);
}

#[test]
fn an_offline_workload_sets_load_and_limits_aside() {
    const CHAT: (u32, u32, f64) = (1020, 129, 0.0);
    const BATCH: ((u32, u32, f64), u32) = ((1024, 128, 0.0), 1000);
    let mut form = Form::from_link("v=1&r=6&st=500&sp=30");
    for _ in 0..2 {
        form.use_workload(BATCH.0, BATCH.1);
        assert_eq!(form.link(), "v=1&osl=128&on=1000");
    }
    // As a trace sets its rate.
    let mut traced = Form::from_link("v=1&r=6&st=500&sp=30");
    traced.use_workload(BATCH.0, BATCH.1);
    traced.set(Field::Rate, 2.0);
    assert_eq!(traced.link(), "v=1&osl=128&r=2&st=500&sp=30");
    form.type_text(Field::SloTtft.input(), "800".into());
    form.use_workload(CHAT, 0);
    assert_eq!(form.link(), "v=1&isl=1020&osl=129&r=6&st=800&sp=30");
    form.use_workload(BATCH.0, BATCH.1);
    let said = |form: &Form| form.issues().iter().map(|issue| issue.field).collect::<Vec<_>>();
    assert_eq!(said(&form), [Field::Load]);
    form.choose(Field::Load, |scenario| scenario.workload.load = Load::Concurrency(8));
    assert_eq!((form.link().as_str(), said(&form)), ("v=1&osl=128&c=8&st=800&sp=30", vec![]));
    // However the queue is chosen.
    form.choose(Field::Load, |scenario| scenario.workload.load = Load::Offline(50));
    assert_eq!((form.link().as_str(), said(&form)), ("v=1&osl=128&on=50", vec![Field::Load]));
    form.use_workload(CHAT, 0);
    assert_eq!(form.link(), "v=1&isl=1020&osl=129&c=8&st=800&sp=30");
}
