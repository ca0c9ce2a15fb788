//! Dollars over a time: `$40/h`, `$7000 a month`, `monthly budget of $5k`.

use super::tokens::ARTICLES;
use super::{AmountUnit, FILLERS, Parsed, Words};
use crate::config::{Field, Issue, excerpt};
use crate::units::{Dollars, HOURS_PER_MONTH, count, significant};

/// Digits of an amount that is converted.
const DIGITS: i32 = 6;
/// Words between `monthly` and its amount.
const SPENDING: [&str; 4] = ["bill", "spend", "spending", "total"];
/// Words before a noun that make it a period: `$7000 every month`.
/// What may stand before the slash of `budget/month`.
const OF_COSTS: [&str; 6] = ["", "budget", "cost", "costs", "spend", "total"];
/// Words for a time that has no fixed length here, or starts no day of its own.
const OTHER_TIMES: [&str; 8] =
    ["biweekly", "decade", "fortnight", "night", "quarter", "quarterly", "shift", "weekend"];

/// A time over which dollars are spent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Period {
    name: &'static str,
    hours: f64,
}

const HOUR: Period = Period { name: "hour", hours: 1.0 };
/// Each with its nouns and adverbs. A month is a twelfth of a year of 365 days.
const PERIODS: [(Period, &[&str], &[&str]); 5] = [
    (HOUR, &["h", "hr", "hour"], &["hourly"]),
    (Period { name: "day", hours: 24.0 }, &["d", "day"], &["daily"]),
    (Period { name: "week", hours: 168.0 }, &["w", "wk", "week"], &["weekly"]),
    (Period { name: "month", hours: HOURS_PER_MONTH }, &["mo", "mon", "mth", "month"], &["monthly"]),
    (
        Period { name: "year", hours: 12.0 * HOURS_PER_MONTH },
        &["y", "yr", "year", "annum"],
        &["yearly", "annual", "annually", "p.a", "pa"],
    ),
];

impl Period {
    /// `month` of `/month`.
    pub fn of_noun(noun: &str) -> Option<Self> {
        PERIODS.into_iter().find(|(_, nouns, _)| nouns.contains(&noun)).map(|(period, ..)| period)
    }

    fn of_adverb(word: &str) -> Option<Self> {
        PERIODS.into_iter().find(|(.., adverbs)| adverbs.contains(&word)).map(|(period, ..)| period)
    }

    /// `/month`, `budget/month`, `monthly`.
    fn of_word(word: &str) -> Option<Self> {
        let of_costs = || {
            let (what, noun) = word.split_once(['/', '-'])?;
            (OF_COSTS.contains(&what) || what == "per").then(|| Self::of_noun(noun))?
        };
        Self::of_adverb(word).or_else(of_costs)
    }

    /// `/gpu-month`, `/gpu/month`, `/month/gpu`.
    fn of_gpu(word: &str) -> Option<Self> {
        let noun = word.strip_prefix("/gpu").and_then(|rest| rest.strip_prefix(['-', '/']));
        noun.and_then(Self::of_noun).or_else(|| Self::of_word(word.strip_suffix("/gpu")?))
    }

    /// The dollars per hour of this many in a period, with a note if they had to be converted.
    fn hourly(self, dollars: f64, parsed: &mut Parsed) -> f64 {
        if self == HOUR {
            return dollars;
        }
        let Self { name, hours } = self;
        let each = Dollars(dollars / hours).print();
        let text =
            format!("${} a {name} is {each} per hour, with {} hours a {name}", count(dollars), count(hours));
        let note = Issue::note(Field::Vary, text);
        if !parsed.issues.contains(&note) {
            parsed.issues.push(note);
        }
        significant(dollars / hours, DIGITS)
    }
}

/// The period that follows an amount: `/month`, `a month`, `monthly`, `budget per month`.
pub fn after(words: &mut Words) -> Option<Period> {
    let from = words.at;
    words.next_if(&["budget", "total"]);
    let direct = words.next_as(Period::of_word);
    let noun = |words: &mut Words| {
        words.next_if(&["for"]);
        words.next_if(&ARTICLES).then_some(())?;
        words.next_as(Period::of_noun)
    };
    let found = direct.or_else(|| noun(words));
    if found.is_none() {
        words.at = from;
    }
    found
}

/// Whether a lost word names a time, so that an amount without one may be over it.
pub fn is_time(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    let noun = word.rsplit('/').next().unwrap_or_default();
    let one = noun.strip_suffix('s').unwrap_or(noun);
    let is_noun = |noun: &str| noun.len() > 2 && Period::of_noun(noun).is_some();
    Period::of_word(&word).is_some() || is_noun(one) || OTHER_TIMES.contains(&one)
}

/// Whether an article stands before this part, and nothing else between the amount and it: `$7000 a quarter`.
pub fn is_over(amount: usize, words: &Words, from: usize) -> bool {
    amount < from && words.is_joined(amount, from) && words.is_any(from - 1, &ARTICLES)
}

/// An amount of dollars, and its period if one is stated: `$7000/month`, `7000 dollars a month`, `$/h 40`.
fn dollars(words: &mut Words) -> Option<(f64, Option<Period>)> {
    let unit = |word: &str| match AmountUnit::of(word) {
        Some(AmountUnit::Dollars(period)) => Some(period),
        _ => None,
    };
    let before = words.next_as(unit);
    let number = words.number()?;
    Some((number, before.or_else(|| words.next_as(unit))?))
}

/// Reads the rest of a budget after its amount and sets it.
pub fn budget(number: f64, period: Option<Period>, words: &mut Words, parsed: &mut Parsed) -> Option<Field> {
    let period = period.or_else(|| after(words));
    // The rest of `$7000/fortnight`.
    if period.is_none() && words.is_within_word() {
        words.next();
        let phrase = words.phrase(words.at - 1, words.at);
        parsed.refused.push(wanted(&phrase));
        return Some(Field::Vary);
    }
    if period.is_none() {
        parsed.undated = Some(words.at);
        let text = format!(
            "${} is read as per hour: add `a day`, `a month` or `a year` if it is not",
            count(number)
        );
        parsed.issues.push(Issue::note(Field::Vary, text));
    }
    let hourly = period.unwrap_or(HOUR).hourly(number, parsed);
    parsed.find.set(Field::BudgetDollars, &hourly.to_string());
    Some(Field::BudgetDollars)
}

/// `monthly budget of $5000`, `cost per month under $5000`.
pub fn dated(word: &str, words: &mut Words, parsed: &mut Parsed) -> Option<Field> {
    let period = Period::of_word(word).filter(|_| !word.starts_with('/'))?;
    let from = words.at - 1;
    words.next_if(&SPENDING);
    while words.next_if(&FILLERS) {}
    let (number, own) = dollars(words)?;
    let own = own.or_else(|| after(words));
    if own.is_some_and(|own| own != period) {
        parsed.refused.push(wanted(&words.phrase(from, words.at)));
        return Some(Field::Vary);
    }
    budget(number, Some(period), words, parsed)
}

/// The dollars per hour of a GPU: `$2.10/h each`, `2.10 dollars/hour`, `$1500 per GPU-month`.
pub fn price(words: &mut Words, parsed: &mut Parsed) -> Option<f64> {
    let (number, own) = dollars(words)?;
    let of_gpu = |words: &mut Words| {
        let is_each = words.next_if(&["/gpu"]);
        after(words).or_else(|| is_each.then(|| words.next_as(Period::of_noun).unwrap_or(HOUR)))
    };
    let period = own.or_else(|| words.next_as(Period::of_gpu)).or_else(|| of_gpu(words));
    if period.is_none() {
        parsed.undated = Some(words.at);
    }
    words.next_if(&["each"]);
    Some(period.unwrap_or(HOUR).hourly(number, parsed))
}

pub fn wanted(phrase: &str) -> String {
    let phrase = excerpt(phrase);
    format!("`{phrase}`: dollars are per hour, day, week, month or year, as in `$40/h` and `$7000 a month`")
}

/// Whether a phrase is about dollars.
pub fn is_money(phrase: &str) -> bool {
    let phrase = phrase.to_ascii_lowercase();
    ["$", "dollar", "usd"].iter().any(|unit| phrase.contains(unit))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{parsed, refused};
    use crate::config::{Field, Issue};

    #[test]
    fn budgets_are_per_hour_whatever_their_period() {
        for (text, hourly, note) in [
            ("$7000 a month", "9.58904", "$7000 a month is $9.59 per hour, with 730 hours a month"),
            ("$10k/month", "13.6986", "$10\u{202f}000 a month is $13.70 per hour, with 730 hours a month"),
            ("$5k/mo", "6.84932", "$5000 a month is $6.85 per hour, with 730 hours a month"),
            ("$5000 monthly", "6.84932", "$5000 a month"),
            ("$5,000 per month", "6.84932", "$5000 a month"),
            ("$5000 / month", "6.84932", "$5000 a month"),
            ("$5000 every month", "6.84932", "$5000 a month"),
            ("$5000 for a month", "6.84932", "$5000 a month"),
            ("$5000 budget per month", "6.84932", "$5000 a month"),
            ("5k USD/month", "6.84932", "$5000 a month"),
            ("5k$/month", "6.84932", "$5000 a month"),
            ("USD 5000 a month", "6.84932", "$5000 a month"),
            ("5000 dollars monthly", "6.84932", "$5000 a month"),
            ("5000 dollars per month", "6.84932", "$5000 a month"),
            ("monthly budget of $5000", "6.84932", "$5000 a month"),
            ("monthly spend under $5000", "6.84932", "$5000 a month"),
            ("budget per month: $5000", "6.84932", "$5000 a month"),
            ("cost per month under $5000", "6.84932", "$5000 a month"),
            ("max $/month 5000", "6.84932", "$5000 a month"),
            ("$240k a year", "27.3973", "$240\u{202f}000 a year is $27.40 per hour, with 8760 hours a year"),
            ("$240k/yr", "27.3973", "$240\u{202f}000 a year"),
            ("$240k p.a.", "27.3973", "$240\u{202f}000 a year"),
            ("$240k per annum", "27.3973", "$240\u{202f}000 a year"),
            ("annual budget of $240k", "27.3973", "$240\u{202f}000 a year"),
            ("$1.5M/year", "171.233", "$1\u{202f}500\u{202f}000 a year"),
            ("$1.5 million a year", "171.233", "$1\u{202f}500\u{202f}000 a year"),
            ("budget $5000/day", "208.333", "$5000 a day is $208.33 per hour, with 24 hours a day"),
            ("$5000 a day", "208.333", "$5000 a day"),
            ("$5000 daily", "208.333", "$5000 a day"),
            ("$500 a week", "2.97619", "$500 a week"),
            ("$40", "40", "$40 is read as per hour"),
        ] {
            for text in [format!("5 rps, {text}"), format!("{text}, 5 rps")] {
                let (link, issues) = parsed(&text);
                assert_eq!(link, format!("v=1&r=5&f=budget_dollars~{hourly}"), "{text}: {issues:?}");
                assert!(issues.len() == 1 && issues[0].text.contains(note), "{text}: {issues:?}");
            }
        }
        for text in ["$40/h", "$40 an hour", "$40 hourly", "$ per hour 40", "40 dollars per hour"] {
            assert_eq!(
                parsed(&format!("5 rps, {text}")),
                ("v=1&r=5&f=budget_dollars~40".into(), vec![]),
                "{text}"
            );
        }
    }

    #[test]
    fn prices_of_gpus_have_periods_too() {
        for text in [
            "h100-sxm at $1460 a month",
            "h100-sxm at $1460/month",
            "h100-sxm at $1460 per GPU-month",
            "h100-sxm at $1460 per GPU month",
            "h100-sxm at $1460 per GPU per month",
            "h100-sxm at $1460 monthly",
        ] {
            let (link, issues) = parsed(&format!("5 rps, {text}"));
            assert_eq!(link, "v=1&r=5&f=gpu~h100-sxm~prices~h100-sxm,2", "{text}");
            let note = "$1460 a month is $2.00 per hour, with 730 hours a month";
            assert_eq!(issues, [Issue::note(Field::Vary, note)], "{text}");
        }
    }

    #[test]
    fn an_amount_is_not_kept_without_its_period() {
        for (text, phrase) in [
            ("$7000/fortnight", "`$7000/fortnight`"),
            ("$7000 a fortnight", "`$7000 a fortnight`"),
            ("$7000 per fortnight", "`$7000/fortnight`"),
            ("7000 dollars per fortnight", "`7000 dollars/fortnight`"),
            ("7000 dollars quarterly", "`quarterly`"),
            ("$7000 a quarter", "`$7000 a quarter`"),
            ("$7000, monthly", "`monthly`"),
            ("$7000 on 8 GPUs every month", "`every month`"),
            ("$7000 for 3 months", "months"),
            ("$5/s", "`$5/s`"),
            ("monthly budget of $7000 a year", "$7000"),
            ("h100-sxm at $1500 a quarter", "`$1500 a quarter`"),
        ] {
            let text = format!("5 rps, {text}");
            let refused = refused(&text);
            assert!(refused.contains(phrase) && refused.contains("month"), "{text}: {refused}");
        }
        assert!(refused("5 rps, $0/month").contains("may be 0"));
        assert!(refused("5 rps, at least $5000/month").contains("is the most to use"));
    }
}
