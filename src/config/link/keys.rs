//! The keys of a link, in the order they are written: the one place that says which field a key names,
//! how its value reads and how it prints.

use super::{Link, VERSION, compared, custom, values};
use crate::config::{Dtype, Field, Issue, Load, ModelChoice, Scenario};
use crate::units::decimal;

/// The key whose value may be long.
pub const CUSTOM_MODEL: &str = "x";

/// What a value looks like: for the grammar, and for the JSON form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Id,
    Whole,
    Real,
    Format,
    Lengths,
    Packed,
    /// Other links.
    Links,
}

pub struct Key {
    pub field: Field,
    pub key: &'static str,
    pub kind: Kind,
    /// For the grammar.
    pub meaning: &'static str,
    /// Reads a value into the draft, or says what would be right.
    read: fn(&mut Draft, &str) -> Result<(), String>,
    /// The value as text; none where the scenario holds none.
    pub show: fn(&Link) -> Option<String>,
}

/// A link while its pairs are read.
pub struct Draft {
    pub link: Link,
    /// GPUs in all; the replicas follow once TP and PP are known.
    gpus: Option<u32>,
}

pub fn by_key(key: &str) -> Option<&'static Key> {
    KEYS.iter().find(|entry| entry.key == key)
}

/// The entry of a field's name in the JSON form.
pub fn by_field(id: &str) -> Option<&'static Key> {
    KEYS.iter().find(|entry| entry.field.id() == id && entry.kind != Kind::Links)
}

impl Key {
    /// Whether the JSON form has a text or a number of it.
    pub fn in_json(&self) -> bool {
        !matches!(self.kind, Kind::Packed | Kind::Links)
    }
}

impl Draft {
    pub fn new(link: Link) -> Self {
        Self { link, gpus: None }
    }

    /// One value; an issue beside its field keeps what was typed.
    pub fn read(&mut self, key: &Key, value: &str, issues: &mut Vec<Issue>) {
        if let Err(text) = (key.read)(self, value) {
            // What the link was made with is no part of what it asks: the answer need not be withheld.
            let issue = match key.field {
                Field::Version | Field::Data => Issue::warning(key.field, text),
                _ => Issue::error(key.field, text),
            };
            issues.push(issue.with_given(value));
        }
    }

    pub fn finish(mut self, issues: &mut Vec<Issue>) -> Link {
        let Some(gpus) = self.gpus else { return self.link };
        let scenario = &mut self.link.scenario;
        let replica = scenario.gpus_per_replica();
        // Zero ranks are `check`'s to refuse.
        if let Some(replicas) = u64::from(gpus).checked_div(replica) {
            scenario.replicas = u32::try_from(replicas).unwrap_or(u32::MAX);
            if replicas * replica != u64::from(gpus) {
                let text = format!("{gpus} GPUs do not divide into replicas of {replica} (tp x dp x pp)");
                issues.push(Issue::error(Field::Gpus, text).with_given(gpus.to_string()));
            }
        }
        self.link
    }

    fn scenario(&mut self) -> &mut Scenario {
        &mut self.link.scenario
    }
}

pub static KEYS: [Key; 27] = [
    Key {
        field: Field::Version,
        key: "v",
        kind: Kind::Whole,
        meaning: "Schema version of the link; 1 where it is left out.",
        read: |draft, text| {
            draft.link.version = values::whole(text)?;
            match draft.link.version {
                0 => Err(format!("there is no link version 0: it was read as version {VERSION}")),
                1..=VERSION => Ok(()),
                newer => Err(format!(
                    "the link is of version {newer}, made by a newer release: it was read as version {VERSION}, \
                     and what that does not know is kept but not used"
                )),
            }
        },
        show: |_| Some(VERSION.to_string()),
    },
    Key {
        field: Field::Model,
        key: "m",
        kind: Kind::Id,
        meaning: "Model, by its id in the catalog.",
        read: |draft, text| {
            draft.scenario().model = ModelChoice::Catalog(values::id(text)?);
            Ok(())
        },
        show: |link| match &link.scenario.model {
            ModelChoice::Catalog(id) => Some(id.clone()),
            ModelChoice::Custom(_) => None,
        },
    },
    Key {
        field: Field::Gpu,
        key: "g",
        kind: Kind::Id,
        meaning: "GPU, by its id in the catalog.",
        read: |draft, text| values::id(text).map(|id| draft.scenario().gpu = id),
        show: |link| Some(link.scenario.gpu.clone()),
    },
    Key {
        field: Field::Gpus,
        key: "n",
        kind: Kind::Whole,
        meaning: "GPUs in all, a multiple of tp x dp x pp: so many replicas serve. One replica where it is left out.",
        read: |draft, text| values::whole(text).map(|gpus| draft.gpus = Some(gpus)),
        show: |link| {
            let scenario = &link.scenario;
            let gpus = scenario.gpus_per_replica().saturating_mul(u64::from(scenario.replicas));
            (scenario.replicas != 1).then(|| gpus.min(u64::from(u32::MAX)).to_string())
        },
    },
    Key {
        field: Field::Tp,
        key: "tp",
        kind: Kind::Whole,
        meaning: "Tensor parallelism: GPUs that share each layer.",
        read: |draft, text| values::whole(text).map(|tp| draft.scenario().tp = tp),
        show: |link| Some(link.scenario.tp.to_string()),
    },
    Key {
        field: Field::Pp,
        key: "pp",
        kind: Kind::Whole,
        meaning: "Pipeline parallelism: stages of layers.",
        read: |draft, text| values::whole(text).map(|pp| draft.scenario().pp = pp),
        show: |link| Some(link.scenario.pp.to_string()),
    },
    Key {
        field: Field::Dp,
        key: "dp",
        kind: Kind::Whole,
        meaning: "Attention data parallelism: groups of tp GPUs that attend to requests of their own.",
        read: |draft, text| values::whole(text).map(|dp| draft.scenario().dp = dp),
        show: |link| Some(link.scenario.dp.to_string()),
    },
    Key {
        field: Field::Ep,
        key: "ep",
        kind: Kind::Whole,
        meaning: "Expert parallelism: GPUs of a stage (tp x dp) that the experts are dealt over.",
        read: |draft, text| values::whole(text).map(|ep| draft.scenario().ep = ep),
        show: |link| Some(link.scenario.ep.to_string()),
    },
    Key {
        field: Field::Engine,
        key: "e",
        kind: Kind::Id,
        meaning: "Serving engine, by its id in the catalog.",
        read: |draft, text| values::id(text).map(|id| draft.scenario().engine = id),
        show: |link| Some(link.scenario.engine.clone()),
    },
    Key {
        field: Field::Weights,
        key: "w",
        kind: Kind::Format,
        meaning: "Format of the linear layers' weights; the published one where it is left out.",
        read: |draft, text| values::dtype(text).map(|dtype| draft.scenario().weights = Some(dtype)),
        show: |link| link.scenario.weights.map(Dtype::id).map(str::to_owned),
    },
    Key {
        field: Field::Kv,
        key: "kv",
        kind: Kind::Format,
        meaning: "Format of the KV cache.",
        read: |draft, text| values::dtype(text).map(|dtype| draft.scenario().kv = dtype),
        show: |link| Some(link.scenario.kv.id().to_owned()),
    },
    Key {
        field: Field::Isl,
        key: "isl",
        kind: Kind::Lengths,
        meaning: "Prompt length in tokens; with `b` also one length a prompt.",
        read: |draft, text| values::lengths(text).map(|isl| draft.scenario().workload.isl = isl),
        show: |link| Some(values::show_lengths(&link.scenario.workload.isl)),
    },
    Key {
        field: Field::Osl,
        key: "osl",
        kind: Kind::Whole,
        meaning: "Output length in tokens.",
        read: |draft, text| values::whole(text).map(|osl| draft.scenario().workload.osl = osl),
        show: |link| Some(link.scenario.workload.osl.to_string()),
    },
    Key {
        field: Field::Spread,
        key: "rr",
        kind: Kind::Real,
        meaning: "Share by which prompts and outputs are longer or shorter, uniformly.",
        read: |draft, text| values::real(text).map(|share| draft.scenario().workload.spread = share),
        show: |link| Some(decimal(link.scenario.workload.spread)),
    },
    Key {
        field: Field::Concurrency,
        key: "c",
        kind: Kind::Whole,
        meaning: "Clients, each sending its next request when the last one ends.",
        read: |draft, text| {
            values::whole(text).map(|size| draft.scenario().workload.load = Load::Concurrency(size))
        },
        show: |link| match link.scenario.workload.load {
            Load::Concurrency(size) => Some(size.to_string()),
            Load::Rate(_) | Load::Batch(_) => None,
        },
    },
    Key {
        field: Field::Rate,
        key: "r",
        kind: Kind::Real,
        meaning: "Requests per second, independent of each other (Poisson), instead of `c`.",
        read: |draft, text| values::real(text).map(|rate| draft.scenario().workload.load = Load::Rate(rate)),
        show: |link| match link.scenario.workload.load {
            Load::Rate(rate) => Some(decimal(rate)),
            Load::Concurrency(_) | Load::Batch(_) => None,
        },
    },
    Key {
        field: Field::Batch,
        key: "b",
        kind: Kind::Whole,
        meaning: "Prompts of one offline batch, instead of `c`.",
        read: |draft, text| {
            values::whole(text).map(|size| draft.scenario().workload.load = Load::Batch(size))
        },
        show: |link| match link.scenario.workload.load {
            Load::Batch(size) => Some(size.to_string()),
            Load::Concurrency(_) | Load::Rate(_) => None,
        },
    },
    Key {
        field: Field::SloTtft,
        key: "st",
        kind: Kind::Real,
        meaning: "TTFT that requests are to keep to, in milliseconds.",
        read: |draft, text| {
            values::real(text).map(|limit| draft.scenario().workload.slos.ttft_ms = Some(limit))
        },
        show: |link| link.scenario.workload.slos.ttft_ms.map(decimal),
    },
    Key {
        field: Field::SloTpot,
        key: "sp",
        kind: Kind::Real,
        meaning: "TPOT that requests are to keep to, in milliseconds.",
        read: |draft, text| {
            values::real(text).map(|limit| draft.scenario().workload.slos.tpot_ms = Some(limit))
        },
        show: |link| link.scenario.workload.slos.tpot_ms.map(decimal),
    },
    Key {
        field: Field::TokenBudget,
        key: "tb",
        kind: Kind::Whole,
        meaning: "Tokens one step of the engine may process.",
        read: |draft, text| {
            values::whole(text).map(|budget| draft.scenario().overrides.token_budget = Some(budget))
        },
        show: |link| link.scenario.overrides.token_budget.map(|budget| budget.to_string()),
    },
    Key {
        field: Field::MaxSeqs,
        key: "ms",
        kind: Kind::Whole,
        meaning: "Sequences the engine runs at once.",
        read: |draft, text| values::whole(text).map(|most| draft.scenario().overrides.max_seqs = Some(most)),
        show: |link| link.scenario.overrides.max_seqs.map(|most| most.to_string()),
    },
    Key {
        field: Field::MemoryShare,
        key: "mem",
        kind: Kind::Real,
        meaning: "Share of the GPU memory the engine takes.",
        read: |draft, text| {
            values::real(text).map(|share| draft.scenario().overrides.memory_share = Some(share))
        },
        show: |link| link.scenario.overrides.memory_share.map(decimal),
    },
    Key {
        field: Field::Sustained,
        key: "clk",
        kind: Kind::Real,
        meaning: "Share of the boost clock held under load.",
        read: |draft, text| {
            values::real(text).map(|share| draft.scenario().overrides.sustained = Some(share))
        },
        show: |link| link.scenario.overrides.sustained.map(decimal),
    },
    Key {
        field: Field::Price,
        key: "usd",
        kind: Kind::Real,
        meaning: "Dollars per GPU and hour.",
        read: |draft, text| values::real(text).map(|price| draft.scenario().overrides.price = Some(price)),
        show: |link| link.scenario.overrides.price.map(decimal),
    },
    Key {
        field: Field::Data,
        key: "d",
        kind: Kind::Id,
        meaning: "Release of data and weights the link was made with.",
        read: |draft, text| values::id(text).map(|release| draft.link.data_release = Some(release)),
        show: |link| link.data_release.clone(),
    },
    Key {
        field: Field::Model,
        key: CUSTOM_MODEL,
        kind: Kind::Packed,
        meaning: "A model of one's own, instead of `m`.",
        read: |draft, text| {
            draft.scenario().model = ModelChoice::Custom(Box::new(custom::decode(text)?));
            Ok(())
        },
        show: |link| match &link.scenario.model {
            ModelChoice::Catalog(_) => None,
            ModelChoice::Custom(model) => Some(custom::encode(model)),
        },
    },
    Key {
        field: Field::Compared,
        key: "vs",
        kind: Kind::Links,
        meaning: "Up to three configurations to set beside it.",
        read: |draft, text| {
            draft.link.compared = compared::decode(text)?;
            Ok(())
        },
        show: |link| (!link.compared.is_empty()).then(|| compared::encode(&link.compared)),
    },
];
