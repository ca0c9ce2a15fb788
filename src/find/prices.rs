//! The hourly price of a GPU: from the catalog on demand or reserved, given, or for own hardware.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::fleet::{by_gpu, gpu_name, number};
use crate::config::catalog::{catalog, prices};
use crate::config::inputs::Range;
use crate::config::link::pointed;
use crate::config::{Field, Issue, excerpt, json};
use crate::units::map_of;

/// Dollars per GPU-hour, and their basis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    pub dollars: f64,
    pub basis: PriceBasis,
}

/// The basis of a price that replaces the catalog's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PriceBasis {
    Given,
    /// The catalog's price under a contract.
    Reserved,
    /// Bought, written off over some years, powered and hosted.
    Own,
}

const ON_DEMAND: &str = "on_demand";
const RESERVED: &str = "reserved";
/// 365.25 days.
const HOURS_A_YEAR: f64 = 8766.0;
/// Cost items of a bought GPU; `watts` defaults to its power limit.
const OWN: [(&str, Range); 5] = [
    ("purchase_dollars", Range::new(1.0, 1e6)),
    ("years", Range::new(0.5, 20.0)),
    ("dollars_per_kwh", Range::new(0.0, 10.0)),
    ("hosting_dollars_per_month", Range::new(0.0, 1e5)),
    ("watts", Range::new(1.0, 1e5)),
];

impl Price {
    /// The source of the price in a few words.
    pub fn from(&self, gpu: &str) -> String {
        match self.basis {
            PriceBasis::Given => "given".into(),
            PriceBasis::Own => "own hardware".into(),
            PriceBasis::Reserved => {
                let list = prices();
                let source = list.reserved_dollars_per_hour.get(gpu).and_then(|of| list.sources.get(&of.1));
                format!("reserved: {}", source.map_or("", |source| &source.title))
            }
        }
    }
}

/// Reads `{"h100-sxm": 2.5, "b200": "reserved", "l4": {"purchase_dollars": 2500, ...}}`, or `"reserved"` for all
/// `types`. Other GPUs keep the catalog's price. `overhead` is facility power over GPU power.
pub(super) fn read(
    value: Option<Value>,
    types: &[String],
    overhead: f64,
    issues: &mut Vec<Issue>,
) -> BTreeMap<String, Price> {
    let Some(Value::String(terms)) = value else {
        return by_gpu(Field::Prices, value, issues, |gpu, value, issues| one(gpu, value, overhead, issues));
    };
    match terms.as_str() {
        ON_DEMAND => BTreeMap::new(),
        RESERVED => {
            let known = map_of(types.iter().filter_map(|gpu| Some((gpu.clone(), reserved(gpu)?))));
            let others = types.iter().filter_map(|id| catalog().gpu(id).filter(|_| !known.contains_key(id)));
            let (listed, unknown): (Vec<_>, Vec<_>) =
                others.partition(|gpu| gpu.dollars_per_hour.0.is_some());
            let without = [(listed, "no known reserved price, so on demand"), (unknown, "no known price")];
            for (gpus, text) in without.into_iter().filter(|(gpus, _)| !gpus.is_empty()) {
                let names: Vec<&str> = gpus.iter().map(|gpu| &*gpu.name).collect();
                issues.push(Issue::warning(Field::Prices, format!("{}: {text}", names.join(", "))));
            }
            known
        }
        _ => {
            issues.push(Issue::error(Field::Prices, format!("`prices` {}", wanted(&Value::from(terms)))));
            BTreeMap::new()
        }
    }
}

fn one(gpu: &str, value: &Value, overhead: f64, issues: &mut Vec<Issue>) -> Option<Price> {
    let mut refuse = |text: String| {
        issues.push(Issue::error(Field::Prices, text));
        None
    };
    let name = gpu_name(gpu);
    let is_decimal = |value: &Value| value.as_str().is_some_and(|text| pointed(text).is_some());
    match value {
        value if value.is_number() || is_decimal(value) => {
            let (range, name) = (Field::Price.input().number?.range, format!("the price of {name}"));
            let dollars = number(Field::Prices, range, false, &name, value, issues)?;
            Some(Price { dollars, basis: PriceBasis::Given })
        }
        Value::Object(own) => self::own(gpu, own, overhead, issues),
        Value::String(terms) if terms == RESERVED => match reserved(gpu) {
            Some(price) => Some(price),
            None => refuse(format!("{name} has no known reserved price: give it in dollars per GPU-hour")),
        },
        Value::String(terms) if terms == ON_DEMAND => None,
        other => refuse(format!("the price of {name} {}", wanted(other))),
    }
}

fn wanted(value: &Value) -> String {
    if let Some(text) = value.as_str() {
        return format!(
            "must be dollars per GPU-hour, `{ON_DEMAND}` or `{RESERVED}`, not `{}`",
            excerpt(text)
        );
    }
    let (names, given) = (OWN.map(|(name, _)| name).join(", "), json::kind(value));
    format!(
        "must be dollars per GPU-hour, \"{ON_DEMAND}\", \"{RESERVED}\" or an object with {names} for own hardware; \
        not {given}"
    )
}

fn reserved(gpu: &str) -> Option<Price> {
    let dollars = prices().reserved_dollars_per_hour.get(gpu)?.0?;
    Some(Price { dollars, basis: PriceBasis::Reserved })
}

/// Hourly cost of a bought GPU, used or not.
fn own(gpu: &str, own: &Map<String, Value>, overhead: f64, issues: &mut Vec<Issue>) -> Option<Price> {
    let known = |name: &String| OWN.iter().any(|(own, _)| own == name);
    if let Some(name) = own.keys().find(|name| !known(name)) {
        let text = format!(
            "`{name}` is not part of the price of {}: own hardware takes {}",
            gpu_name(gpu),
            OWN.map(|(name, _)| name).join(", ")
        );
        issues.push(Issue::error(Field::Prices, text));
        return None;
    }
    let limit = || catalog().gpu(gpu).and_then(|gpu| gpu.power_w.0).map(Value::from);
    let [purchase, years, per_kwh, per_month, watts] = OWN.map(|(name, range)| {
        let value = own.get(name).cloned().or_else(|| limit().filter(|_| name == "watts"));
        number(
            Field::Prices,
            range,
            false,
            &format!("{name} of {}", gpu_name(gpu)),
            &value.unwrap_or_default(),
            issues,
        )
    });
    let dollars = purchase? / (years? * HOURS_A_YEAR)
        + watts? / 1000.0 * overhead * per_kwh?
        + per_month? * 12.0 / HOURS_A_YEAR;
    Some(Price { dollars, basis: PriceBasis::Own })
}
