//! The rows, by place, and the order in which a link writes them.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use super::Input;
use crate::config::ids::ids;

#[macro_use]
mod columns;

mod arrivals;
mod limits;
mod link;
mod load;
mod model;
mod pools;
mod requests;
mod search;
mod system;

/// `Field = ROW`: a variant of [`Field`] and its row. The row after `also` is a second one of its field.
macro_rules! inputs {
    ($($(#[$attribute:meta])* $field:ident = $row:expr,)+ ; also $other:expr) => {
        /// An input of the page, a key of a link, a field of the JSON form: one name for all three.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize, EnumString,
            IntoStaticStr, VariantArray,
        )]
        #[cfg_attr(test, derive(ts_rs::TS))]
        #[serde(rename_all = "snake_case")]
        #[strum(serialize_all = "snake_case")]
        pub enum Field {
            $($(#[$attribute])* $field,)+
        }

        pub static INPUTS: &[Input] = &[$($row,)+ $other];
    };
}

// Also the name in the JSON form, in reports and in the ids of the page's elements.
ids!(Field);

inputs! {
    /// The link or the JSON text as a whole.
    #[default]
    Link = link::LINK,
    Version = link::VERSION,
    Model = model::MODEL,
    Gpu = system::GPU,
    Gpus = system::GPUS,
    Tp = system::TP,
    Pp = system::PP,
    Dp = system::DP,
    Ep = system::EP,
    Engine = system::ENGINE,
    Weights = model::WEIGHTS,
    Kv = model::KV,
    Isl = requests::ISL,
    Osl = requests::OSL,
    Spread = requests::SPREAD,
    LogSpread = requests::LOG_SPREAD,
    Shape = requests::SHAPE,
    Histogram = requests::HISTOGRAM,
    CachedShare = requests::CACHED_SHARE,
    Drafted = requests::DRAFTED,
    Accepted = requests::ACCEPTED,
    /// The kind of load.
    Load = load::LOAD,
    Concurrency = load::CONCURRENCY,
    Rate = load::RATE,
    ConstantRate = load::CONSTANT_RATE,
    Burstiness = arrivals::BURSTINESS,
    Burst = load::BURST,
    Offline = load::OFFLINE,
    Batch = load::BATCH,
    Sessions = load::SESSIONS,
    SessionRate = load::SESSION_RATE,
    MaxInFlight = arrivals::MAX_IN_FLIGHT,
    Turns = arrivals::TURNS,
    Message = arrivals::MESSAGE,
    ThinkTime = arrivals::THINK_TIME,
    HistoryCached = arrivals::HISTORY_CACHED,
    Ramp = arrivals::RAMP,
    Stagger = arrivals::STAGGER,
    Requests = arrivals::REQUESTS,
    SloTtft = limits::SLO_TTFT,
    SloTpot = limits::SLO_TPOT,
    SloE2e = limits::SLO_E2E,
    SloPercentile = limits::SLO_PERCENTILE,
    SloShare = limits::SLO_SHARE,
    TokenBudget = limits::TOKEN_BUDGET,
    MaxSeqs = limits::MAX_SEQS,
    MemoryShare = limits::MEMORY_SHARE,
    Sustained = limits::SUSTAINED,
    PowerCap = limits::POWER_CAP,
    PowerOverhead = limits::POWER_OVERHEAD,
    Price = limits::PRICE,
    PrefillWorkers = pools::PREFILL_WORKERS,
    PrefillGpu = pools::PREFILL_GPU,
    PrefillTp = pools::PREFILL_TP,
    PrefillPp = pools::PREFILL_PP,
    PrefillDp = pools::PREFILL_DP,
    PrefillEp = pools::PREFILL_EP,
    PrefillBudget = pools::PREFILL_BUDGET,
    SendRate = pools::SEND_RATE,
    SendTime = pools::SEND_TIME,
    Data = link::DATA,
    Trace = link::TRACE,
    /// What a search may vary, as the next are.
    Vary = search::VARY,
    Owned = search::OWNED,
    BudgetGpus = search::BUDGET_GPUS,
    BudgetDollars = search::BUDGET_DOLLARS,
    Prices = search::PRICES,
    Plans = search::PLANS,
    Measured = link::MEASURED,
    Compared = link::COMPARED,
    Runs = link::RUNS,
    ; also model::CUSTOM
}
