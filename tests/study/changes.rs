//! Single changes, and the best of them.

use rooflight::config::{Start, link};
use rooflight::study::{Span, Topic};

use super::{LINKS, output, report, spans, spans_of, study, tables};

#[test]
fn a_change_shows_its_effect_on_output() {
    let document = study(Topic::Change, "", LINKS[1]);
    let base = output(LINKS[1]).unwrap();
    for row in tables(&document).iter().flat_map(|table| &table.rows) {
        let said = &row.cells[6].text;
        let change = (output(&row.cells[0].link).unwrap() / base - 1.0) * 100.0;
        let sign = match change.round() {
            0.0 => "",
            rounded if rounded > 0.0 => "+",
            _ => "−",
        };
        let wanted = format!("({sign}{:.0}\u{a0}%)", change.abs());
        assert!(said.ends_with(&wanted), "{}: {said} is not {wanted}", row.cells[0].text);
    }
}

#[test]
fn the_suggested_change_is_cheaper_and_meets_the_limits() {
    let cost = |link: &str| {
        let report = report(link).unwrap();
        (report.headline.unwrap().dollars_per_million.unwrap().0, report.run.unwrap().meets_limits())
    };
    let link = "v=1&m=llama-3.3-70b-instruct&tp=8&r=2&st=2000&sp=60";
    let document = study(Topic::Better, "", link);
    assert_eq!(document.blocks[0].id, "better");
    let apply = spans(&document).into_iter().find(|span| span.text == "Apply").unwrap();
    let ((now, _), (then, keeps)) = (cost(link), cost(apply.link.trim_start_matches('#')));
    assert!(then < now * 0.95 && keeps == Some(true), "{then} after {now}");
    let nothing = study(Topic::Better, "", "v=1&m=llama-3.3-70b-instruct&g=l4&st=1&sp=1");
    let [_, search] = spans_of(&nothing.blocks[0])[..] else { panic!("{nothing:?}") };
    let search = link::decode(search.link.trim_start_matches('#')).0;
    assert!(search.find.is_some() && search.scenario.gpu == "l4", "{nothing:?}");
}

#[test]
fn the_advice_is_the_suggested_change() {
    let link = "v=1&m=qwen3-32b&tp=2&c=32&rr=0.2&st=1000&sp=14";
    assert_eq!(report(link).unwrap().run.unwrap().meets_limits(), Some(false));
    let offered = |topic, id: &str| {
        let document = study(topic, "", link);
        let text = document.blocks.iter().find(|block| block.id == id);
        let link = text.and_then(|text| spans_of(text).into_iter().find(|span| !span.link.is_empty()));
        link.unwrap_or_else(|| panic!("{document:?}")).link.clone()
    };
    assert_eq!(offered(Topic::Change, "advice"), offered(Topic::Better, "better"));
}

#[test]
fn changes_that_only_make_things_worse_are_omitted() {
    let document = study(Topic::Change, "", LINKS[1]);
    let (of, base) =
        (|link: &str| report(link).unwrap().headline.unwrap(), report(LINKS[1]).unwrap().headline.unwrap());
    for row in tables(&document).iter().flat_map(|table| &table.rows) {
        let then = of(row.cells[0].link.trim_start_matches('#'));
        assert!(then.ttft.0 <= base.ttft.0 * 3.0, "{}", row.cells[0].text);
    }
}

#[test]
fn a_configuration_that_does_not_fit_gets_one_that_does() {
    for link in [LINKS[4], LINKS[5]] {
        assert_eq!(output(link), None);
        let document = study(Topic::Change, "", link);
        let offers: Vec<&Span> = spans(&document).into_iter().filter(|span| !span.link.is_empty()).collect();
        assert!(output(&offers[0].link).is_some(), "{link}: {:?}", offers[0]);
    }
}

/// Which GPUs there are is not what is wrong.
#[test]
fn what_does_not_fit_is_spread_over_more_of_the_same_gpus() {
    let document = study(Topic::Better, "", "v=1&m=qwen3-235b-a22b&g=h100-sxm&tp=4&c=32");
    let apply = spans(&document).into_iter().find(|span| span.text == "Apply").unwrap();
    let scenario = link::decode(apply.link.trim_start_matches('#')).0.scenario;
    assert_eq!((&*scenario.gpu, scenario.weights), ("h100-sxm", None), "{}", apply.link);
    assert!(output(apply.link.trim_start_matches('#')).is_some());
}

/// Before four times as many GPUs.
#[test]
fn clients_who_miss_a_limit_only_because_they_start_together_start_apart() {
    let document = study(Topic::Better, "", "v=1&m=llama-3.1-8b&g=h100-sxm&c=64&rr=0.2&st=500&sp=20");
    let apply = spans(&document).into_iter().find(|span| span.text == "Apply").unwrap();
    let scenario = link::decode(apply.link.trim_start_matches('#')).0.scenario;
    assert!(matches!(scenario.workload.start, Start::Ramp(_)), "{}", apply.link);
    assert_eq!(scenario.replicas, 1);
}

#[test]
fn experts_over_the_whole_stage_stay_so_with_another_tp() {
    // vLLM spreads experts over all GPUs of a stage or over none.
    let document = study(Topic::Change, "", "v=1&m=qwen3-235b-a22b&g=h200-sxm&tp=4&ep=4&w=fp8_block&c=32");
    let links: Vec<&str> = spans(&document).into_iter().map(|span| &*span.link).collect();
    assert!(links.iter().any(|link| link.contains("tp=8&ep=8")), "{links:?}");
}
