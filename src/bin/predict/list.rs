//! Lists the catalogs: everything in JSON and CSV, a selection in the table.

use rooflight::api::{engines, gpus, models};
use rooflight::config::catalog::catalog;
use rooflight::find::in_columns;
use rooflight::units::{Dollars, count};
use serde::Serialize;
use serde_json::Value;

use super::cli::{Catalog, Format};
use super::console::csv_line;

pub fn listed(what: Catalog, format: Format) -> serde_json::Result<String> {
    match what {
        Catalog::Models => {
            let row = |of: &rooflight::api::ModelFacts| {
                let billions = format!("{} B", count(of.parameters / 1e9));
                [
                    of.id.clone(),
                    of.name.clone(),
                    billions,
                    of.weights.id().into(),
                    count(of.max_context.into()),
                ]
            };
            shown(&models(), format, ["id", "name", "parameters", "weights", "context"], row)
        }
        Catalog::Gpus => {
            let row = |of: &rooflight::api::GpuFacts| {
                let text = |known: Option<String>| known.unwrap_or_else(|| "–".into());
                let memory = text(of.memory.map(|of| of.print().to_string()));
                let bandwidth = text(of.bandwidth.map(|of| of.print().to_string()));
                let price = text(of.price.map(|Dollars(price)| count(price)));
                let served = catalog().gpu(&of.id).is_none_or(|gpu| catalog().is_served(gpu));
                let unserved = if served { "" } else { " (no engine has known kernels for it)" };
                [of.id.clone(), format!("{}{unserved}", of.name), memory, bandwidth, price]
            };
            shown(&gpus(), format, ["id", "name", "memory", "bandwidth", "$/h"], row)
        }
        Catalog::Engines => {
            let row = |of: &rooflight::api::EngineFacts| [of.id.clone(), of.name.clone(), of.version.clone()];
            shown(&engines(), format, ["id", "name", "version"], row)
        }
    }
}

fn shown<Facts: Serialize, const N: usize>(
    all: &[Facts],
    format: Format,
    head: [&str; N],
    row: impl Fn(&Facts) -> [String; N],
) -> serde_json::Result<String> {
    Ok(match format {
        Format::Table => in_columns(head, all.iter().map(row).collect()).join("\n"),
        Format::Json => serde_json::to_string_pretty(all)?,
        Format::Csv => in_csv(&serde_json::to_value(all)?),
    })
}

/// JSON names as columns, the id first.
fn in_csv(all: &Value) -> String {
    let records: Vec<_> = all.as_array().into_iter().flatten().filter_map(Value::as_object).collect();
    let mut names: Vec<&String> = records.iter().flat_map(|record| record.keys()).collect();
    names.sort_by_key(|name| (*name != "id", *name));
    names.dedup();
    let head = csv_line(names.iter().map(|name| name.to_string()));
    let row =
        |record: &&serde_json::Map<String, Value>| csv_line(names.iter().map(|name| cell(&record[*name])));
    std::iter::once(head).chain(records.iter().map(row)).collect::<Vec<_>>().join("\n")
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(cell).collect::<Vec<_>>().join("; "),
        other => other.to_string(),
    }
}
