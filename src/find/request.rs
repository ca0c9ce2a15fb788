//! A plan request as JSON: a scenario by input names, plus what may vary and the fleet.

use serde_json::{Map, Value};

use super::Fleet;
use super::layouts::{self, Varied};
use super::ranking_cost::RankedBy;
use super::{prices, varied};
use crate::config::catalog::catalog;
use crate::config::inputs::{self, FormGroup, InputKind};
use crate::config::link::{BY_GPU, Link, SearchSpace, VARIES, real, repeated, ungrouped, unknown_name};
use crate::config::measured::given;
use crate::config::{Field, Issue, Load, Scenario, Start, Workload, check, excerpt, json};
use crate::units::counted;

/// Default number of plans.
const PLANS: usize = 5;
const MOST_PLANS: usize = 100;
/// Fields of a request that are not inputs of a scenario.
const OWN: [Field; 7] = [
    Field::Vary,
    Field::Owned,
    Field::BudgetGpus,
    Field::BudgetDollars,
    Field::Prices,
    Field::Plans,
    Field::Day,
];

/// A scenario with its open inputs.
#[derive(Debug, Clone)]
pub struct Request {
    /// Applies to all plans unless varied.
    pub base: Scenario,
    /// Inputs with the values to try, as written in links.
    pub varied: Varied,
    /// Total GPUs, if the request fixes them.
    pub gpus: Option<u32>,
    pub fleet: Fleet,
    /// Number of best plans to show, in addition to the best of each GPU.
    pub plans: usize,
    /// Inputs that vary because they were not stated.
    pub open: Vec<Field>,
    /// The visitor's measured runs, which calibrate the plans.
    pub runs: Vec<Scenario>,
}

impl Request {
    /// Reads `{"model": "llama-3.3-70b-instruct", "rate": 20, "slo_tpot": 30, "vary": {"weights": ["fp8", "nvfp4"]}, ...}`.
    ///
    /// `gpu`, `engine`, `tp`, `pp`, `dp`, `ep` and `gpus` are open unless stated in the scenario or `vary`; all
    /// other inputs have defaults. If there is no request, the issues hold at least one error.
    pub fn from_json(text: &str) -> (Option<Self>, Vec<Issue>) {
        let object = match json::parse(text) {
            Ok(Value::Object(object)) => object,
            Ok(_) => return (None, vec![Issue::error(Field::Link, "a request is a JSON object in braces")]),
            Err(fault) => return (None, vec![Issue::error(Field::Link, fault)]),
        };
        let mut issues = repeated(text);
        let (request, found) = Self::from_object(object);
        let sound = issues.is_empty();
        issues.extend(found);
        (request.filter(|_| sound), issues)
    }

    /// Reads a request, like [`Self::from_json`], from JSON that is already parsed.
    pub fn from_object(mut object: Map<String, Value>) -> (Option<Self>, Vec<Issue>) {
        let mut issues = Vec::new();
        object.retain(|_, value| !value.is_null());
        let mut taken = |field: Field| object.remove(field.id());
        let mut fleet =
            Fleet::read([Field::Owned, Field::BudgetGpus, Field::BudgetDollars].map(&mut taken), &mut issues);
        let priced = taken(Field::Prices);
        let measured = taken(Field::Measured);
        let plans = taken(Field::Plans).map_or(Some(PLANS), |value| plans(&value, &mut issues));
        let varied =
            taken(Field::Vary).map_or_else(Varied::default, |value| varied::read(&value, &mut issues));
        object.retain(|name, _| {
            let is_known = inputs::by_name(name).is_some();
            issues.extend((!is_known).then(|| match name == Field::Day.id() {
                // Read before, where it is answered.
                true => Issue::error(
                    Field::Day,
                    "a `day` needs several searches, and only a single one can run here: give a `rate`",
                ),
                false => unknown_name(name, &OWN),
            }));
            is_known
        });
        fleet.bought = varied
            .iter()
            .filter(|(field, _)| matches!(field, Field::Gpu | Field::PrefillGpu))
            .flat_map(|(_, ids)| ids.clone())
            .collect();
        let stated: Vec<Field> =
            object.keys().filter_map(|name| Some(inputs::by_name(name)?.field)).collect();
        for (field, _) in varied.iter().filter(|(field, _)| stated.contains(field)) {
            let text = format!("`{}` is fixed and varied: give one of the two", field.id());
            issues.push(Issue::error(*field, text));
        }
        let (base, found) = Link::from_value(&Value::Object(object));
        let base = base.map(|link| link.scenario);
        issues.extend(found);
        if let Some(base) = &base {
            let named = [
                (Field::Gpu, Some(&base.gpu)),
                (Field::Engine, Some(&base.engine)),
                (Field::PrefillGpu, base.prefill.gpu.as_ref()),
            ];
            let named = named.into_iter().filter(|(field, _)| stated.contains(field));
            issues.extend(named.filter_map(|(field, id)| layouts::unknown(field, id?)));
        }
        let (Some(base), Some(plans)) = (base, plans) else { return (None, issues) };
        let all = base.parallel.gpus().saturating_mul(base.replicas);
        let gpus = stated.contains(&Field::Gpus).then_some(all);
        let runs = measured.map_or_else(Vec::new, |given| runs(&given, &base, &mut issues));
        let mut request = Self { base, varied, gpus, fleet, plans, open: Vec::new(), runs };
        layouts::open(&mut request, &stated);
        let prefill =
            request.values(Field::PrefillGpu).into_iter().flatten().chain(&request.base.prefill.gpu);
        let types: Vec<String> = request.types().iter().chain(prefill).cloned().collect();
        let overhead = request.base.overrides.power_overhead.unwrap_or(1.0);
        request.fleet.prices = prices::read(priced, &types, overhead, &mut issues);
        issues.extend(no_load(&request.base.workload, &stated));
        issues.extend(keeps_up(&mut request.base.workload));
        // Limits that cannot apply to these requests decide nothing, not even what plans are ranked by.
        if let (Some(setup), found) = check(&request.base, catalog())
            && setup.workload.slos != request.base.workload.slos
        {
            request.base.workload.slos = setup.workload.slos;
            issues.extend(found.into_iter().filter(|issue| issue.field == Field::SloTpot));
        }
        contradictions(&request, &mut issues);
        if !issues.iter().any(Issue::is_error) {
            issues.extend(of_load(&request));
        }
        let sound = !issues.iter().any(Issue::is_error);
        (sound.then_some(request), issues)
    }

    /// The GPUs to try.
    pub fn types(&self) -> &[String] {
        self.values(Field::Gpu).unwrap_or(std::slice::from_ref(&self.base.gpu))
    }

    /// The values to try for an input; `None` if it does not vary.
    pub fn values(&self, field: Field) -> Option<&[String]> {
        self.varied.iter().find(|(known, _)| *known == field).map(|(_, values)| values.as_slice())
    }
}

/// A link as a request: the configuration's model, load, limits and settings, and the restrictions of its search on the
/// rest.
pub(super) fn stated(link: &Link) -> Map<String, Value> {
    let find = link.find.clone().unwrap_or_default();
    let own = &link.scenario;
    let Value::Object(mut object) = Link::new(own.clone()).to_json() else { return Map::new() };
    object.retain(|name, _| {
        let field = inputs::by_name(name).map(|input| input.field);
        let varies = |field| find.get(field).is_some();
        let is_format = |field| matches!(field, Field::Weights | Field::Kv) && !varies(field);
        field.is_some_and(|field| is_format(field) || !(SearchSpace::chooses(field) || varies(field)))
    });
    let mut vary = Map::new();
    for field in VARIES {
        let texts = find.list(field);
        let is_number = !matches!(field.input().kind(), InputKind::Id | InputKind::Format);
        if texts == [layouts::ALL] {
            vary.insert(field.id().into(), layouts::ALL.into());
            continue;
        }
        let value = |text: &&str| if is_number { number(text) } else { Value::from(*text) };
        if !texts.is_empty() {
            vary.insert(field.id().into(), texts.iter().map(value).collect());
        }
    }
    object.insert(Field::Vary.id().into(), vary.into());
    for field in BY_GPU {
        let list = find.list(field);
        if let ([terms], Field::Prices) = (list.as_slice(), field) {
            object.insert(field.id().into(), Value::from(*terms));
            continue;
        }
        let typed = find.numbers(field).into_iter();
        let mut numbers = Map::new();
        numbers.extend(typed.map(|(gpu, text)| (gpu.to_owned(), number(&text))));
        // The price typed for a GPU is its price wherever it is tried.
        let of_prefill = own.prefill.gpu.as_ref().zip(own.prefill.price);
        for (gpu, price) in own.overrides.price.map(|price| (&own.gpu, price)).into_iter().chain(of_prefill) {
            if field == Field::Prices {
                numbers.entry(gpu).or_insert(price.into());
            }
        }
        if !numbers.is_empty() {
            object.insert(field.id().into(), numbers.into());
        }
    }
    for field in [Field::BudgetGpus, Field::BudgetDollars] {
        object.extend(find.get(field).map(|text| (field.id().to_owned(), number(text))));
    }
    // The measurement in `measured` is compared with the form's configuration; only the link's own runs calibrate.
    object.remove(Field::Measured.id());
    object
}

/// A number if the text parses as one, otherwise the text itself.
pub(super) fn number(text: &str) -> Value {
    match real(&ungrouped(text)) {
        Ok(number) if number.fract() == 0.0 => Value::from(number as i64),
        Ok(number) => Value::from(number),
        Err(_) => Value::from(text),
    }
}

fn plans(value: &Value, issues: &mut Vec<Issue>) -> Option<usize> {
    let known = value.as_u64().filter(|plans| (1..=MOST_PLANS as u64).contains(plans));
    if known.is_none() {
        let text = format!(
            "the number of plans must be between 1 and {MOST_PLANS}, not `{}`",
            excerpt(&value.to_string())
        );
        issues.push(Issue::error(Field::Plans, text));
    }
    known.map(|plans| plans as usize)
}

/// Measured runs: links, or objects with the inputs that differ from the request and `measured`.
fn runs(given: &Value, base: &Scenario, issues: &mut Vec<Issue>) -> Vec<Scenario> {
    let Value::Array(given) = given else {
        let text = "`measured` must be a list of measured runs, each a link or an object with `measured`";
        issues.push(Issue::error(Field::Measured, text));
        return Vec::new();
    };
    let (runs, found) = given::read(given, &Link::new(base.clone()));
    // The other runs are kept, and plans do not depend on these.
    issues.extend(found.into_iter().map(|issue| Issue::warning(issue.field, issue.text)));
    runs
}

/// A warning that the load is the default.
fn no_load(workload: &Workload, stated: &[Field]) -> Option<Issue> {
    let is_stated = stated.iter().any(|field| Load::sizes().contains(field));
    let text = format!(
        "no load is given, so plans are for the default, {}: give `rate`, `concurrency` or `sessions`",
        counted(workload.load.amount(), "client")
    );
    (!is_stated).then(|| Issue::warning(workload.load.size(), text))
}

/// Lets requests arrive at a rate whatever is in flight: a client that holds them back would hide that a plan is too small.
fn keeps_up(workload: &mut Workload) -> Option<Issue> {
    let most = workload.max_in_flight.take_if(|_| workload.load.is_rate())?;
    let text =
        format!("a plan has to keep up with the rate: the limit of {most} requests in flight is ignored");
    Some(Issue::warning(Field::MaxInFlight, text))
}

/// Errors of the model, the load and its limits, whatever the layout.
fn of_load(request: &Request) -> Vec<Issue> {
    let is_varied = |field| request.values(field).is_some();
    let is_of_load = |issue: &Issue| {
        let group = issue.field.input().group();
        let depends = match issue.field {
            // The first depends on the GPU, the second on the engine.
            Field::HostCache | Field::Drafted => true,
            Field::Accepted => is_varied(Field::Drafted),
            field => is_varied(field),
        };
        let is_of = matches!(group, Some(FormGroup::Workload | FormGroup::Slos | FormGroup::Requests))
            || (issue.field == Field::Model && request.base.model.record().is_none());
        issue.is_error() && is_of && !depends
    };
    let errors = |scenario: &Scenario| {
        let (_, mut issues) = check(scenario, catalog());
        issues.retain(is_of_load);
        issues
    };
    let with = |text: &String| layouts::set(&request.base, Field::Accepted.input(), text);
    let tried: Vec<Scenario> = match request.values(Field::Accepted) {
        Some(values) => values.iter().filter_map(with).collect(),
        None => vec![request.base.clone()],
    };
    // If several values are tried, one of them may be valid.
    tried.iter().map(errors).min_by_key(Vec::len).unwrap_or_default()
}

/// Reports contradictions that no fleet or layout can satisfy.
fn contradictions(request: &Request, issues: &mut Vec<Issue>) {
    let Request { base, gpus, fleet, .. } = request;
    if !base.spec.is_empty() && request.types() != [base.gpu.as_str()] {
        let text = "edited figures apply to one GPU: name it as `gpu`, and do not vary GPUs";
        issues.push(Issue::error(Field::Gpu, text));
    }
    if let Load::Batch(_) = base.workload.load {
        let text = "a static batch is not a serving load: give a rate, clients or sessions";
        issues.push(Issue::error(Field::Batch, text));
    }
    if base.workload.slos.limits().next().is_none() {
        let text = match RankedBy::of(&base.workload).is_of_job() {
            true => "without a deadline (`slo_e2e`), plans are ranked by what the whole job costs",
            false => "without a limit on TTFT, TPOT or E2E, every plan that keeps up with the load counts",
        };
        issues.push(Issue::warning(Field::SloTtft, text));
    }
    let Workload { load, start, requests, slos, .. } = &base.workload;
    let of_clients = matches!(load, Load::Concurrency(2..) | Load::Sessions(2..));
    if of_clients && *start == Start::AtOnce && requests.is_none() && slos.limits().next().is_some() {
        let text = "clients start one after another over about four response times (think time included), like \
                    independent users. Each plan's link holds this ramp; set a ramp to change it";
        issues.push(Issue::note(load.size(), text));
    }
    let several = request.values(Field::Gpu).is_some_and(|gpus| gpus.len() > 1);
    let given = &base.overrides;
    let of_one = [
        (Field::Price, given.price),
        (Field::Sustained, given.sustained),
        (Field::PowerCap, given.power_cap),
    ];
    for (field, given) in of_one {
        if several && given.is_some() {
            let hint = if field == Field::Price { ": give `prices` by GPU" } else { ": name one GPU" };
            issues.push(Issue::error(
                field,
                format!("`{}` applies to one GPU, but several are tried{hint}", field.id()),
            ));
        }
    }
    let drafts = request.values(Field::Drafted).is_some_and(|all| all.iter().any(|text| text != "0"));
    if drafts && request.values(Field::Accepted).is_none() && base.workload.drafts.accepted == 0.0 {
        let text = "how many drafted tokens are accepted depends on model and text, and there is no default: give \
                    `accepted`, in tokens per step, as measured or published";
        issues.push(Issue::error(Field::Accepted, text));
    }
    let drafts = request.values(Field::Drafted).is_some() || base.workload.drafts.drafted > 0;
    if request.values(Field::Accepted).is_some() && !drafts {
        issues.push(Issue::error(Field::Accepted, "nothing is drafted: give `drafted` too"));
    }
    let mut refuse = |text: &str| issues.push(Issue::error(Field::PrefillWorkers, text));
    if base.has_pools() {
        refuse("a search chooses the number of prefill workers: give it in `vary`, as numbers or \"all\"");
    }
    if request.pools() && gpus.is_some() {
        refuse("the number of workers follows from the load: give `budget_gpus` instead of `gpus`");
    }
    if request.pools() && matches!(base.workload.load, Load::Offline(_)) {
        refuse("prefill and decode workers need a server: choose a load other than an offline queue");
    }
    fleet.check(*gpus, request.types(), base, issues);
}
