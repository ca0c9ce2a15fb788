//! Prints an answer as text.

use rooflight::api::{Failure, Figure, Options, ParsedScenario, Prediction, columns, figures};
use rooflight::config::Setup;
use rooflight::efficiency::{Efficiencies, Rows};
use rooflight::find::in_columns;
use rooflight::serving::table::Tables;
use rooflight::study::words::{GROWS, demand, title};
use rooflight::units::count;

use super::console::{csv_line, line};

/// A prediction and its setup.
pub struct Answered {
    pub setup: Option<Setup>,
    pub prediction: Prediction,
    /// Whether it replays a trace in place of the setup's load.
    traced: bool,
}

impl Answered {
    /// `tables` keep the last table of steps for the next scenario.
    pub fn of(
        text: &str,
        options: &Options,
        tables: &mut Tables,
        ask: impl Fn(&Rows) -> Result<Efficiencies, Failure>,
    ) -> Self {
        let asked = ParsedScenario::with(text, options);
        let (setup, traced) = (asked.setup.clone(), options.trace.is_some());
        Self { setup, traced, prediction: asked.predict_among(options, tables, ask) }
    }

    /// Title, figures and link; empty if the scenario cannot be read.
    pub fn to_table(&self) -> String {
        let report = self.prediction.report.as_ref();
        let grows = report.zip(self.setup.as_ref()).is_some_and(|(report, setup)| report.queue_grows(setup));
        let row = |figure: Figure| {
            let value = figure.value?;
            if grows && figure.queues {
                return Some([figure.name, GROWS.to_owned(), String::new()]);
            }
            let value = figure.print(value);
            let band =
                figure.band.map(|[low, high]| format!("{} to {}", figure.print(low), figure.print(high)));
            Some([figure.name, value, band.unwrap_or_default()])
        };
        let rows: Vec<_> = figures(report).into_iter().filter_map(row).collect();
        // The load is named even where all of it is the default, which the link leaves out.
        let headed = |setup: &Setup| {
            let asked = if self.traced { "the trace".into() } else { demand(&setup.workload) };
            format!("{} {}: {asked}", title(setup), setup.engine.version)
        };
        let headed = self.setup.as_ref().map(headed).unwrap_or_default();
        let mut lines = Vec::new();
        if !rows.is_empty() {
            lines = in_columns(["figure", "predicted", "80 % of measurements"], rows);
            lines.extend(self.of_cost());
            let several = self.setup.as_ref().filter(|setup| setup.replicas > 1);
            lines.extend(several.map(|setup| {
                let of = if setup.prefill.is_some() { "decode replica" } else { "replica" };
                format!("Running and waiting are per {of}.")
            }));
        }
        let mut parts = vec![headed, lines.join("\n"), self.prediction.link.clone()];
        parts.retain(|part| !part.is_empty());
        parts.join("\n\n")
    }

    /// What the cost is of, or why there is none.
    fn of_cost(&self) -> Option<String> {
        let (setup, headline) = (self.setup.as_ref()?, self.prediction.report.as_ref()?.headline.as_ref()?);
        if setup.price.is_none() {
            return Some("No price is known: set one (`price`) for the cost.".into());
        }
        let [lasting, whole] = [headline.sustained_output_per_s, headline.output_per_s].map(count);
        (lasting != whole)
            .then(|| format!("Cost is based on {lasting} tok/s, the output while requests arrive."))
    }

    /// A row under [`csv_head`].
    pub fn to_csv(&self) -> String {
        let (_, numbers) = columns(&figures(self.prediction.report.as_ref()));
        let issues: Vec<String> = self.prediction.issues.iter().map(line).collect();
        csv_line([self.prediction.link.clone()].into_iter().chain(numbers).chain([issues.join("; ")]))
    }
}

pub fn csv_head() -> String {
    let (names, _) = columns(&figures(None));
    csv_line(["link".to_owned()].into_iter().chain(names).chain(["issues".to_owned()]))
}
