//! The layouts a request allows: all combinations of its open inputs.

use super::Request;
use crate::config::DEGREES;
use crate::config::catalog::catalog;
use crate::config::check::{KV_FORMATS, check_engine, check_gpu, weight_formats};
use crate::config::inputs::Input;
use crate::config::link::{Draft, Link, POOLED, VARIES};
use crate::config::{Dtype, Field, Issue, Parallelism, Scenario, Setup, SpecSheet};
use crate::units::Order;

/// Inputs with the values to try, as written in links.
pub type Varied = Vec<(Field, Vec<String>)>;

/// Open unless stated. Formats, scheduler settings and drafts are not: the visitor must allow them.
const OPEN: [Field; 6] = [Field::Gpu, Field::Engine, Field::Tp, Field::Pp, Field::Dp, Field::Ep];

/// Stands for all values.
pub const ALL: &str = "all";

const STAGES: [u32; 3] = [1, 2, 4];

/// All values of an input with a list of values.
pub fn all(field: Field) -> Option<Vec<String>> {
    let texts = |degrees: &[u32]| degrees.iter().map(u32::to_string).collect();
    let ids = |dtypes: &[Dtype]| dtypes.iter().map(|dtype| dtype.id().to_owned()).collect();
    match field {
        Field::Gpu | Field::PrefillGpu => {
            Some(catalog().gpus.gpus.iter().map(|gpu| gpu.id.clone()).collect())
        }
        Field::Engine => Some(catalog().engines.engines.iter().map(|engine| engine.id.clone()).collect()),
        Field::Weights => Some(ids(Dtype::ALL)),
        Field::Kv => Some(ids(&KV_FORMATS)),
        Field::Tp | Field::Dp | Field::PrefillTp => Some(texts(&DEGREES)),
        Field::Pp => Some(texts(&STAGES)),
        // As many as the load requires.
        Field::PrefillWorkers => Some(Vec::new()),
        Field::Ep => Some(texts(&[1, 2, 4, 8, 16, 32, 64, 128])),
        _ => None,
    }
}

/// An issue for an id that no catalog has.
pub fn unknown(field: Field, text: &str) -> Option<Issue> {
    let mut issues = Vec::new();
    match field {
        Field::Gpu | Field::PrefillGpu => drop(check_gpu(text, catalog(), &mut issues)),
        Field::Engine => drop(check_engine(text, catalog(), &mut issues)),
        _ => {}
    }
    issues.pop().map(|issue| Issue { field, ..issue })
}

/// Opens inputs that the request does not state; GPUs are limited to the owned ones, if any.
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
    // Formats without kernels for such a model are not tried.
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
    request.varied.order_by_key(|(field, _)| VARIES.iter().position(|known| known == field));
}

impl Request {
    /// All combinations of open inputs that a replica could have, with one replica each.
    pub fn layouts(&self) -> Vec<Scenario> {
        let mut layouts = vec![Scenario { replicas: 1, ..self.base.clone() }];
        for (field, values) in self.varied.iter().filter(|(field, _)| !POOLED.contains(field)) {
            let with = |scenario: Scenario| {
                values.iter().filter_map(move |text| set(&scenario, field.input(), text))
            };
            layouts =
                layouts.into_iter().flat_map(with).filter(|scenario| self.is_sensible(scenario)).collect();
        }
        layouts.into_iter().filter_map(|scenario| self.sized(scenario)).collect()
    }

    /// Skips layouts that duplicate another or are always refused; the checks report the rest.
    fn is_sensible(&self, scenario: &Scenario) -> bool {
        let open = |field: Field| self.open.contains(&field);
        let Parallelism { tp, pp, dp, ep } = scenario.parallel;
        let domain = catalog().gpu(&scenario.gpu).map_or(u32::MAX, |gpu| gpu.link.domain);
        let experts = scenario.has_experts();
        // Layouts across nodes only on request, because network communication was not measured.
        let degrees = [(Field::Tp, tp), (Field::Pp, pp), (Field::Dp, dp)];
        let wide = degrees.iter().any(|(field, degree)| open(*field) && *degree > 1);
        let within = !wide || scenario.parallel.gpus() <= domain;
        let dp = experts || dp == 1 || !open(Field::Dp);
        // Experts are distributed over the whole stage or not at all, unless stated.
        let ep = ep == 1 || (experts && ep == scenario.parallel.gpus_per_stage()) || !open(Field::Ep);
        within && dp && ep
    }

    /// Whether a layout fills a node and a larger one was not tried, although there may be more GPUs.
    pub(super) fn stays_within(&self, setup: &Setup) -> bool {
        let node = setup.gpu.link.domain;
        let most = [self.fleet.owned(&setup.gpu.id), self.fleet.gpus, self.gpus];
        self.open.contains(&Field::Pp)
            && node > 1
            && setup.parallel.gpus() >= node
            && most.into_iter().flatten().all(|most| most > node)
    }

    /// Sets the replicas for the requested GPUs, and the price; `None` if the GPUs do not divide.
    fn sized(&self, mut scenario: Scenario) -> Option<Scenario> {
        if let Some(gpus) = self.gpus {
            let each = scenario.parallel.gpus();
            scenario.replicas = gpus / each.max(1);
            if scenario.replicas * each != gpus || scenario.replicas == 0 {
                return None;
            }
        }
        // Without drafts nothing is accepted.
        if scenario.workload.drafts.drafted == 0 && self.values(Field::Drafted).is_some() {
            scenario.workload.drafts.accepted = 0.0;
        }
        let price = self.fleet.given_price(&scenario.gpu).or(scenario.overrides.price);
        scenario.overrides.price = price;
        Some(scenario)
    }
}

/// The scenario with one input set to `text`; `None` if the input does not accept it.
pub(super) fn set(scenario: &Scenario, input: &Input, text: &str) -> Option<Scenario> {
    let mut draft = Draft { link: Link::new(scenario.clone()), gpus: None };
    input.set(&mut draft, text).ok()?;
    let changed = draft.link.scenario;
    // Edited figures are those of one GPU.
    let spec = if changed.gpu == scenario.gpu { changed.spec } else { SpecSheet::default() };
    Some(Scenario { spec, ..changed })
}
