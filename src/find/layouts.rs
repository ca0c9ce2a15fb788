//! The layouts that a request allows: its open inputs, value by value.

use super::Request;
use crate::config::catalog::catalog;
use crate::config::check::{KV_FORMATS, check_engine, check_gpu, weight_formats};
use crate::config::inputs::Input;
use crate::config::link::{Draft, Link, VARIES};
use crate::config::{Dtype, Field, Issue, Scenario};

/// Inputs with the values to try, as links write them.
pub type Varied = Vec<(Field, Vec<String>)>;

/// Open where nobody says anything of them. Formats, scheduler settings and drafts are not: they are the visitor's to allow.
const OPEN: [Field; 6] = [Field::Gpu, Field::Engine, Field::Tp, Field::Pp, Field::Dp, Field::Ep];

/// In place of a list.
pub const ALL: &str = "all";

/// GPUs that share a layer, stages, and groups of attention, where nobody names any: more of them are tried when asked for.
const DEGREES: [u32; 5] = [1, 2, 4, 8, 16];
const STAGES: [u32; 3] = [1, 2, 4];

/// Every value of an input that has a list of them.
pub fn all(field: Field) -> Option<Vec<String>> {
    let texts = |degrees: &[u32]| degrees.iter().map(u32::to_string).collect();
    let ids = |dtypes: &[Dtype]| dtypes.iter().map(|dtype| dtype.id().to_owned()).collect();
    match field {
        Field::Gpu => Some(catalog().gpus.gpus.iter().map(|gpu| gpu.id.clone()).collect()),
        Field::Engine => Some(catalog().engines.engines.iter().map(|engine| engine.id.clone()).collect()),
        Field::Weights => Some(ids(Dtype::ALL)),
        Field::Kv => Some(ids(&KV_FORMATS)),
        Field::Tp | Field::Dp => Some(texts(&DEGREES)),
        Field::Pp => Some(texts(&STAGES)),
        Field::Ep => Some(texts(&[1, 2, 4, 8, 16, 32, 64, 128])),
        _ => None,
    }
}

/// An id that no catalog has.
pub fn unknown(field: Field, text: &str) -> Option<Issue> {
    let mut issues = Vec::new();
    match field {
        Field::Gpu => drop(check_gpu(text, catalog(), &mut issues)),
        Field::Engine => drop(check_engine(text, catalog(), &mut issues)),
        _ => {}
    }
    issues.pop()
}

/// Opens what the request says nothing of; of GPUs, where some are owned, those.
pub fn open(request: &mut Request, stated: &[Field]) {
    let named = |field: Field, varied: &Varied| {
        stated.contains(&field) || varied.iter().any(|(known, _)| *known == field)
    };
    for field in OPEN {
        if named(field, &request.varied) {
            continue;
        }
        let owned = || request.fleet.owned.keys().cloned().collect::<Vec<_>>();
        let values = match field {
            Field::Gpu if !request.fleet.owned.is_empty() => owned(),
            field => all(field).unwrap_or_default(),
        };
        request.varied.push((field, values));
        request.open.push(field);
    }
    // Formats that no kernel of such a model multiplies are no choice.
    if let Some(model) = request.base.model.record() {
        let known = weight_formats(model);
        for (_, values) in request
            .varied
            .iter_mut()
            .filter(|(field, values)| *field == Field::Weights && values.len() == Dtype::ALL.len())
        {
            values.retain(|id| Dtype::from_id(id).is_some_and(|dtype| known.contains(&dtype)));
        }
    }
    request.varied.sort_by_key(|(field, _)| VARIES.iter().position(|known| known == field));
}

impl Request {
    /// Every combination of what is open that a replica could be, with one replica each.
    pub fn layouts(&self) -> Vec<Scenario> {
        let mut layouts = vec![Scenario { replicas: 1, ..self.base.clone() }];
        for (field, values) in &self.varied {
            let with = |scenario: Scenario| {
                values.iter().filter_map(move |text| set(&scenario, field.input(), text))
            };
            layouts =
                layouts.into_iter().flat_map(with).filter(|scenario| self.is_sensible(scenario)).collect();
        }
        layouts.into_iter().filter_map(|scenario| self.sized(scenario)).collect()
    }

    /// Leaves out what only repeats another layout or is refused in any case: checks say the rest, by name.
    fn is_sensible(&self, scenario: &Scenario) -> bool {
        let open = |field: Field| self.open.contains(&field);
        let stage = scenario.tp.saturating_mul(scenario.dp);
        let domain = catalog().gpu(&scenario.gpu).map_or(u32::MAX, |gpu| gpu.link.domain);
        let experts = scenario.has_experts();
        // What several machines exchange over a network was not measured: they are for who asks for them.
        let degrees = [(Field::Tp, scenario.tp), (Field::Pp, scenario.pp), (Field::Dp, scenario.dp)];
        let wide = degrees.iter().any(|(field, degree)| open(*field) && *degree > 1);
        let within = !wide || scenario.gpus_per_replica() <= u64::from(domain);
        let dp = experts || scenario.dp == 1 || !open(Field::Dp);
        // Experts are sharded whole over all of a stage, or not at all, unless somebody says otherwise.
        let ep = scenario.ep == 1 || (experts && scenario.ep == stage) || !open(Field::Ep);
        within && dp && ep
    }

    /// With the replicas that make the GPUs asked for, and the price that holds; none where those do not divide.
    fn sized(&self, mut scenario: Scenario) -> Option<Scenario> {
        if let Some(gpus) = self.gpus {
            let each = scenario.gpus_per_replica();
            scenario.replicas = u32::try_from(u64::from(gpus) / each.max(1)).ok()?;
            if u64::from(scenario.replicas) * each != u64::from(gpus) || scenario.replicas == 0 {
                return None;
            }
        }
        // Nothing is accepted where nothing is drafted.
        if scenario.workload.drafts.drafted == 0 && self.values(Field::Drafted).is_some() {
            scenario.workload.drafts.accepted = 0.0;
        }
        let own = self.fleet.prices.get(&scenario.gpu);
        scenario.overrides.price = own.map(|price| price.dollars).or(scenario.overrides.price);
        Some(scenario)
    }
}

/// The same with one input at another value.
fn set(scenario: &Scenario, input: &Input, text: &str) -> Option<Scenario> {
    let mut draft = Draft { link: Link::new(scenario.clone()), gpus: None };
    input.set(&mut draft, text).ok()?;
    Some(draft.link.scenario)
}
