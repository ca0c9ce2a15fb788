//! Dollars over a time: `$40/h`, `$7000 a month`, `monthly budget of $5k`.

use super::hardware::TERMS;
use super::{AmountUnit, Parsed, Words};
use crate::config::{Field, Issue, excerpt};
use crate::units::{Dollars, HOURS_PER_MONTH, count, significant};

/// Digits of an amount that is converted.
const DIGITS: i32 = 6;

/// A time over which dollars are spent, its hours, its other nouns, and its adverbs.
type Period = (&'static str, f64, &'static [&'static str], &'static [&'static str]);

const PERIODS: [Period; 5] = [
    ("hour", 1.0, &["h", "hr"], &["hourly"]),
    ("day", 24.0, &[], &["daily"]),
    ("week", 168.0, &[], &["weekly"]),
    ("month", HOURS_PER_MONTH, &["mo"], &["monthly"]),
    ("year", 12.0 * HOURS_PER_MONTH, &["yr", "annum"], &["yearly", "annual", "annually"]),
];

/// The hours of `month`.
pub fn hours(noun: &str) -> Option<f64> {
    let of = |(name, hours, others, _): Period| (name == noun || others.contains(&noun)).then_some(hours);
    PERIODS.into_iter().find_map(of)
}

fn of_adverb(word: &str) -> Option<f64> {
    PERIODS.into_iter().find(|(.., adverbs)| adverbs.contains(&word)).map(|(_, hours, ..)| hours)
}

/// The hours of `/month` or `monthly`.
fn period(word: &str) -> Option<f64> {
    word.strip_prefix('/').and_then(hours).or_else(|| of_adverb(word))
}

/// Whether a word that is not understood names a time, so that an amount without one may be over it.
pub fn is_time(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    let noun = word.rsplit('/').next().unwrap_or_default().trim_end_matches('s');
    of_adverb(&word).is_some() || noun.len() > 2 && hours(noun).is_some() || noun.starts_with("quarter")
}

pub fn wanted(phrase: &str) -> String {
    let phrase = excerpt(phrase);
    format!("`{phrase}`: dollars are per hour, day, week, month or year, as in `$40/h` and `$7000/month`")
}

/// Dollars per hour, with a note if they had to be converted.
fn hourly(dollars: f64, hours: f64, parsed: &mut Parsed) -> f64 {
    let Some((name, ..)) = PERIODS.into_iter().skip(1).find(|(_, of, ..)| *of == hours) else {
        return dollars;
    };
    let each = Dollars(dollars / hours).print();
    let text =
        format!("${} a {name} is {each} per hour, with {} hours a {name}", count(dollars), count(hours));
    parsed.issues.push(Issue::note(Field::Vary, text));
    significant(dollars / hours, DIGITS)
}

/// Sets a budget whose time may follow: `/month`, `monthly`.
pub fn budget(number: f64, hours: Option<f64>, words: &mut Words, parsed: &mut Parsed) -> Field {
    let hours = hours.or_else(|| words.next_as(period)).unwrap_or(1.0);
    let hourly = hourly(number, hours, parsed);
    parsed.find.set(Field::BudgetDollars, &hourly.to_string());
    Field::BudgetDollars
}

/// `monthly budget of $5000`.
pub fn dated(word: &str, words: &mut Words, parsed: &mut Parsed) -> Option<Field> {
    let hours = of_adverb(word)?;
    words.skip();
    let (number, own) = dollars(words)?;
    own.is_none().then(|| budget(number, Some(hours), words, parsed))
}

/// A GPU's price per hour: `$2.10/h each`, `2.10 dollars/hour`, `$1500/GPU-month`.
pub fn price(words: &mut Words, parsed: &mut Parsed) -> Option<f64> {
    let of_gpu = |word: &str| match word.strip_prefix("/gpu")? {
        "" => Some(1.0),
        noun => noun.strip_prefix(['-', '/']).and_then(hours),
    };
    let (number, own) = dollars(words)?;
    let hours = own.or_else(|| words.next_as(|word| period(word).or_else(|| of_gpu(word))));
    words.next_if(&["each"]);
    // Terms such as these add nothing to a stated price.
    words.next_if(&TERMS);
    Some(hourly(number, hours.unwrap_or(1.0), parsed))
}

/// An amount, and the hours that its unit names, as in `dollars/month`.
fn dollars(words: &mut Words) -> Option<(f64, Option<f64>)> {
    let unit = |word: &str| match AmountUnit::of(word) {
        Some(AmountUnit::Dollars(hours)) => Some(hours),
        _ => None,
    };
    let before = words.next_as(unit);
    let number = words.number()?;
    Some((number, before.or_else(|| words.next_as(unit))?))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{link, parsed, refused};
    use crate::config::{Field, Issue};

    #[test]
    fn budgets_are_per_hour_whatever_their_period() {
        for (text, hourly, note) in [
            ("$7000 a month", "9.58904", "$7000 a month is $9.59 per hour, with 730 hours a month"),
            ("$10k/month", "13.6986", "$10\u{202f}000 a month is $13.70 per hour, with 730 hours a month"),
            ("$5k/mo", "6.84932", "$5000 a month"),
            ("$5000 monthly", "6.84932", "$5000 a month"),
            ("$5,000 per month", "6.84932", "$5000 a month"),
            ("USD 5000 a month", "6.84932", "$5000 a month"),
            ("5000 dollars per month", "6.84932", "$5000 a month"),
            ("monthly budget of $5000", "6.84932", "$5000 a month"),
            ("$240k a year", "27.3973", "$240\u{202f}000 a year is $27.40 per hour, with 8760 hours a year"),
            ("$1.5M/year", "171.233", "$1\u{202f}500\u{202f}000 a year"),
            ("annual budget of $240k", "27.3973", "$240\u{202f}000 a year"),
            ("budget $5000/day", "208.333", "$5000 a day is $208.33 per hour, with 24 hours a day"),
            ("$500 a week", "2.97619", "$500 a week"),
        ] {
            for text in [format!("5 rps, {text}"), format!("{text}, 5 rps")] {
                let (link, issues) = parsed(&text);
                assert_eq!(link, format!("v=1&r=5&f=budget_dollars~{hourly}"), "{text}: {issues:?}");
                assert!(issues.len() == 1 && issues[0].text.contains(note), "{text}: {issues:?}");
            }
        }
        for text in ["$40", "$40/h", "$40 an hour", "$40 hourly", "40 dollars per hour", "hourly budget $40"]
        {
            assert_eq!(link(&format!("5 rps, {text}")), "v=1&r=5&f=budget_dollars~40", "{text}");
        }
    }

    #[test]
    fn prices_of_gpus_have_periods_too() {
        for text in ["$1460 a month", "$1460/month", "$1460 per GPU-month", "$1460 monthly"] {
            let (link, issues) = parsed(&format!("5 rps, h100-sxm at {text}"));
            assert_eq!(link, "v=1&r=5&f=gpu~h100-sxm~prices~h100-sxm,2", "{text}");
            let note = "$1460 a month is $2.00 per hour, with 730 hours a month";
            assert_eq!(issues, [Issue::note(Field::Vary, note)], "{text}");
        }
    }

    #[test]
    fn an_amount_is_not_kept_without_its_period() {
        for (text, phrase) in [
            ("$7000/fortnight", "`$7000/fortnight`"),
            ("7000 dollars quarterly", "`quarterly`"),
            ("$7000 on 8 GPUs every month", "`every month`"),
            ("$7000, monthly", "`monthly`"),
            ("$5/s", "`$5/s`"),
            ("monthly budget of $7000 a year", "$7000"),
            ("h100-sxm at $1500, monthly", "`monthly`"),
        ] {
            let refused = refused(&format!("5 rps, {text}"));
            assert!(refused.contains(phrase), "{text}: {refused}");
        }
        assert!(refused("5 rps, $0/month").contains("may be 0"));
        assert!(refused("5 rps, at least $5000/month").contains("is the most to use"));
    }
}
