//! What a visitor reads first: the headline at the roofline, from a module that holds the counting and no interface.

use crate::config::{self, catalog::catalog, link};
use crate::efficiency::Efficiencies;
use crate::serving::{self, plan_alone, reading, words};
use crate::units::Printed;

/// What is predicted, in a few words, and its headline as the page prints it.
#[derive(Debug, PartialEq)]
pub struct First {
    pub title: String,
    pub workload: String,
    /// TTFT, TPOT, E2E, output; none where there is no such number.
    pub readings: [Option<Printed>; 4],
}

/// The first answer to an `address`. None where the page will have something to say of it instead: what is wrong, or why
/// it does not fit.
pub fn first(address: &str) -> Option<First> {
    let (link, issues) = link::decode(address);
    if issues.iter().any(config::Issue::is_error) {
        return None;
    }
    let (setup, _) = config::check(&link.scenario, catalog());
    let plan = plan_alone(&setup?).ok()?;
    let headline = serving::headline(&plan, &Efficiencies::Roofline)?;
    let readings = [reading::ttft, reading::tpot, reading::e2e, reading::output];
    let readings = readings.map(|read| read(&headline).map(|(_, printed)| printed));
    Some(First { title: words::title(&plan.setup), workload: words::workload(&plan.setup), readings })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serving::finish;

    #[test]
    fn it_is_the_headline_of_the_page() {
        let address = "https://example.org/#v=1&m=qwen3-32b&g=h200-sxm&tp=2&e=sglang&c=48";
        let found = first(address).expect("an answer");
        assert_eq!(found.title, "Qwen/Qwen3-32B on 2 x H200 SXM with SGLang");
        assert_eq!(found.workload, "1024 tokens in, 512 out, 48 clients");
        let (setup, _) = config::check(&link::decode(address).0.scenario, catalog());
        let plan = plan_alone(&setup.expect("a setup")).expect("a plan");
        let headline =
            finish(&plan, &Efficiencies::Roofline).and_then(|report| report.headline).expect("numbers");
        let printed =
            [reading::ttft, reading::tpot, reading::e2e, reading::output].map(|read| read(&headline));
        assert_eq!(found.readings, printed.map(|reading| reading.map(|(_, printed)| printed)));
        assert!(found.readings.iter().all(Option::is_some));
    }

    #[test]
    fn a_single_token_has_no_tpot() {
        let [ttft, tpot, ..] = first("#v=1&osl=1").expect("an answer").readings;
        assert!(ttft.is_some());
        assert_eq!(tpot, None);
    }

    #[test]
    fn what_the_page_must_explain_has_no_first_answer() {
        for address in ["#v=1&m=no-such-model", "#v=1&isl=many", "#v=1&m=llama-3.1-405b&g=l4", "#v=1&tp=3"] {
            assert_eq!(first(address), None, "{address}");
        }
    }
}
