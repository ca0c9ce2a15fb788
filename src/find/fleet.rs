//! What the visitor has or may spend: owned GPUs, budgets, prices.

use std::collections::BTreeMap;

use serde_json::Value;

use super::prices::Price;
use crate::config::catalog::catalog;
use crate::config::check::check_gpu;
use crate::config::inputs::{ANY, Range};
use crate::config::names::{gpu_id, named};
use crate::config::{Field, Gpu, Issue, Scenario, Setup, json};
use crate::units::{Dollars, counted, map_of};

/// Bounds on what may be used; all empty if there are none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Fleet {
    /// GPUs available, by id. If any are named, no others are used except those in `bought`.
    pub owned: BTreeMap<String, u32>,
    /// GPUs the request asks to try: unlimited unless owned.
    pub bought: Vec<String>,
    /// Most GPUs in a plan.
    pub gpus: Option<u32>,
    /// Most dollars per hour for a plan.
    pub dollars: Option<f64>,
    /// Dollars per GPU-hour, by id, instead of the catalog's.
    pub prices: BTreeMap<String, Price>,
}

/// Most replicas in a plan, as in a scenario.
const MOST_REPLICAS: u32 = 10_000;
const GPUS: Range = Range::new(1.0, 100_000.0);
const DOLLARS: Range = Range::new(0.01, 10_000_000.0);

/// Why a budget in dollars excludes a plan without a known price.
const UNPRICED: &str = "has no known price, so no budget covers it";

impl Fleet {
    /// Reads `owned`, `budget_gpus` and `budget_dollars`.
    pub(super) fn read([owned, gpus, dollars]: [Option<Value>; 3], issues: &mut Vec<Issue>) -> Self {
        let mut one = |field, range, whole, value: Option<Value>| {
            value.and_then(|value| number(field, range, whole, field.input().label, &value, issues))
        };
        let gpus = one(Field::BudgetGpus, GPUS, true, gpus).map(|gpus| gpus as u32);
        let dollars = one(Field::BudgetDollars, DOLLARS, false, dollars);
        let count = |id: &str, value: &Value, issues: &mut Vec<Issue>| {
            let name = format!("{} of {}", Field::Owned.input().label, gpu_name(id));
            number(Field::Owned, GPUS, true, &name, value, issues)
        };
        let owned = by_gpu(Field::Owned, owned, issues, count);
        let owned = map_of(owned.into_iter().map(|(id, count)| (id, count as u32)));
        Self { owned, bought: Vec::new(), gpus, dollars, prices: BTreeMap::new() }
    }

    /// Whether nothing bounds a plan.
    pub fn is_unbounded(&self) -> bool {
        self.owned.is_empty() && self.gpus.is_none() && self.dollars.is_none()
    }

    /// Known price per GPU-hour: the visitor's, or the catalog's.
    pub fn price(&self, gpu: &str) -> Option<f64> {
        let listed = || catalog().gpu(gpu).and_then(|gpu| gpu.dollars_per_hour.0);
        self.given_price(gpu).or_else(listed)
    }

    /// The price given for this GPU, which replaces all others.
    pub(super) fn given_price(&self, gpu: &str) -> Option<f64> {
        self.prices.get(gpu).map(|price| price.dollars)
    }

    /// How many GPUs of a type are owned; `None` if more may be bought.
    pub(super) fn owned(&self, gpu: &str) -> Option<u32> {
        match self.owned.get(gpu) {
            None if self.owned.is_empty() || self.bought.iter().any(|id| id == gpu) => None,
            count => Some(count.copied().unwrap_or(0)),
        }
    }

    /// Number of replicas of this layout that the fleet allows, possibly 0. A dollar budget excludes layouts
    /// without a price.
    pub fn replicas(&self, setup: &Setup) -> u32 {
        let each = f64::from(setup.parallel.gpus());
        let bought = match (self.dollars, setup.price) {
            (None, _) => f64::INFINITY,
            (Some(_), None) => 0.0,
            // Owned GPUs at no cost are bounded by the other limits.
            (Some(dollars), Some(price)) => dollars / price.max(f64::MIN_POSITIVE),
        };
        let [owned, most] =
            [self.owned(&setup.gpu.id), self.gpus].map(|count| count.map_or(f64::INFINITY, f64::from));
        let gpus = owned.min(bought).min(most);
        (gpus / each + ROUNDING).floor().min(f64::from(MOST_REPLICAS)) as u32
    }

    /// What is missing for these replicas, the fewest that the bounds allow; a simulation may require more.
    pub(super) fn lacks(&self, setup: &Setup, least: u32) -> String {
        let gpus = least.saturating_mul(setup.parallel.gpus());
        let within = match (self.owned(&setup.gpu.id), self.gpus, self.dollars.zip(setup.price)) {
            (Some(owned), ..) if gpus > owned => format!("the {} owned", counted(owned, "GPU")),
            (_, Some(most), _) if gpus > most => format!("the budget of {}", counted(most, "GPU")),
            (.., Some((most, price))) if price * f64::from(gpus) > most => {
                let [most, cost] = [most, price * f64::from(gpus)].map(|dollars| Dollars(dollars).print());
                return format!(
                    "needs at least {}, {cost} per hour: more than the budget of {most}",
                    counted(gpus, "GPU")
                );
            }
            (.., None) if self.dollars.is_some() => {
                return UNPRICED.into();
            }
            _ => "what the request allows".to_owned(),
        };
        format!("needs at least {}, more than {within}", counted(gpus, "GPU"))
    }

    /// Whether the fleet has all GPUs of a setup, prefill workers included.
    pub fn holds(&self, setup: &Setup) -> bool {
        self.short_of(setup).is_none()
    }

    /// What the fleet lacks for a setup, prefill workers included; `None` if it has all of it.
    pub fn short_of(&self, setup: &Setup) -> Option<String> {
        for Gpu { id, name, .. } in setup.parts().map(|part| &part.gpu) {
            let taken: u32 = setup.parts().filter(|part| part.gpu.id == *id).map(Setup::own_gpus).sum();
            if let Some(owned) = self.owned(id).filter(|owned| taken > *owned) {
                return Some(format!("needs {taken} × {name}, but you own only {owned}"));
            }
        }
        if let Some(most) = self.gpus.filter(|most| setup.gpus() > *most) {
            return Some(format!("needs {}, but the budget is {most}", counted(setup.gpus(), "GPU")));
        }
        match (self.dollars, setup.dollars_per_hour()) {
            (Some(_), None) => Some(UNPRICED.into()),
            (Some(most), Some(cost)) if cost > most * (1.0 + ROUNDING) => {
                Some(format!("over the budget of {} per hour", Dollars(most).print()))
            }
            _ if setup.replicas > MOST_REPLICAS => {
                Some(format!("a plan has at most {MOST_REPLICAS} replicas"))
            }
            _ => None,
        }
    }

    /// Reports contradictions, and bounds below one GPU. `fixed` GPUs of these types are requested.
    pub(super) fn check(
        &self,
        fixed: Option<u32>,
        types: &[String],
        base: &Scenario,
        issues: &mut Vec<Issue>,
    ) {
        let mut refuse = |field, text: String| issues.push(Issue::error(field, text));
        if let (Some(fixed), Some(most)) = (fixed, self.gpus)
            && fixed > most
        {
            refuse(Field::BudgetGpus, format!("{fixed} GPUs are requested, but only {most} allowed"));
        }
        if !self.owned.is_empty() && !types.iter().any(|id| self.owned.contains_key(id)) {
            let owned: Vec<&str> = self.owned.keys().map(|id| gpu_name(id)).collect();
            let asked: Vec<&str> = types.iter().map(|id| gpu_name(id)).collect();
            let (owned, asked) = (owned.join(", "), asked.join(", "));
            refuse(Field::Owned, format!("you own only {owned}, and the request allows only {asked}"));
        }
        let Some(dollars) = self.dollars else { return };
        let own = base.overrides.price.filter(|_| types.len() == 1);
        let priced = types
            .iter()
            .filter_map(|id| Some((self.given_price(id).or(own).or_else(|| self.price(id))?, id)));
        match priced.min_by(|a, b| a.0.total_cmp(&b.0)) {
            None => {
                let text = "the GPUs to try have no known price: give `prices`, or a budget in GPUs";
                refuse(Field::BudgetDollars, text.into());
            }
            Some((price, id)) if price > dollars => {
                let (dollars, price) = (Dollars(dollars).print(), Dollars(price).print());
                let text = format!(
                    "{dollars} per hour is less than one GPU: {}, the cheapest to try, costs {price}",
                    gpu_name(id)
                );
                refuse(Field::BudgetDollars, text);
            }
            Some(_) => {}
        }
    }
}

/// Rounding tolerance for a budget divided by a price.
const ROUNDING: f64 = 1e-9;

/// A number in the request itself, or an issue on its field.
pub(super) fn number(
    field: Field,
    range: Range,
    whole: bool,
    name: &str,
    value: &Value,
    issues: &mut Vec<Issue>,
) -> Option<f64> {
    let read = value.as_f64().filter(|number| range.contains(*number) && (!whole || number.fract() == 0.0));
    if read.is_none() {
        let what = if whole { "a whole number" } else { ANY };
        issues.push(Issue::error(field, range.wanted(name, what, &json::shown(value))));
    }
    read
}

/// The name of a GPU of the catalog, for messages.
pub(super) fn gpu_name(id: &str) -> &str {
    named(Field::Gpu, id)
}

/// `{"h100-sxm": 16}`, with each value parsed by `read`.
pub(super) fn by_gpu<T>(
    field: Field,
    value: Option<Value>,
    issues: &mut Vec<Issue>,
    read: impl Fn(&str, &Value, &mut Vec<Issue>) -> Option<T>,
) -> BTreeMap<String, T> {
    let object = match value {
        None => return BTreeMap::new(),
        Some(Value::Object(object)) => object,
        Some(other) => {
            let text = format!("`{}` must be an object by GPU, not {}", field.id(), json::kind(&other));
            issues.push(Issue::error(field, text));
            return BTreeMap::new();
        }
    };
    let mut values = BTreeMap::new();
    for (name, value) in object {
        let id = gpu_id(&name).to_owned();
        let mut found = Vec::new();
        check_gpu(&id, catalog(), &mut found);
        let known = found.is_empty();
        issues.extend(found.drain(..).map(|issue| Issue { field, ..issue }));
        if values.contains_key(&id) {
            let text = format!("`{}` has {} twice: once by another name", field.id(), gpu_name(&id));
            issues.push(Issue::error(field, text));
        } else if known {
            let read = read(&id, &value, &mut found);
            issues.extend(found.into_iter().map(|issue| Issue { of: Some(id.clone()), ..issue }));
            values.extend(read.map(|value| (id, value)));
        }
    }
    values
}
