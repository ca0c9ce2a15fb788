//! Numbers of a headline as they are shown, wherever that is.

use crate::serving::report::Headline;
use crate::units::{Printed, Seconds, count};

/// The unrounded number, and how it reads. None if there is none: TPOT of a single token, the cost without a price.
pub type Reading = Option<(f64, Printed)>;

fn seconds(value: Seconds) -> Reading {
    Some((value.0, value.print()))
}

fn rate(value: f64, unit: &'static str) -> Reading {
    Some((value, Printed { number: count(value), unit }))
}

pub fn ttft(headline: &Headline) -> Reading {
    seconds(headline.ttft)
}

pub fn tpot(headline: &Headline) -> Reading {
    headline.tpot.and_then(seconds)
}

pub fn e2e(headline: &Headline) -> Reading {
    seconds(headline.e2e)
}

/// Of the whole system, as are the next two.
pub fn output(headline: &Headline) -> Reading {
    rate(headline.output_per_s, "tok/s")
}

/// Prompt and output tokens.
pub fn total(headline: &Headline) -> Reading {
    rate(headline.total_per_s, "tok/s")
}

pub fn requests(headline: &Headline) -> Reading {
    rate(headline.requests_per_s, "/s")
}

pub fn output_per_gpu(headline: &Headline) -> Reading {
    rate(headline.output_per_s_per_gpu, "tok/s")
}

pub fn output_per_user(headline: &Headline) -> Reading {
    headline.output_per_s_per_user.and_then(|value| rate(value, "tok/s"))
}

/// Per million output tokens.
pub fn cost(headline: &Headline) -> Reading {
    headline.dollars_per_million.map(|dollars| (dollars.0, dollars.print()))
}

/// Per replica, as is the next.
pub fn running(headline: &Headline) -> Reading {
    rate(headline.running, "")
}

pub fn waiting(headline: &Headline) -> Reading {
    rate(headline.waiting, "")
}
