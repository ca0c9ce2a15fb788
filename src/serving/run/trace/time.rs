//! Dates with times, as in Azure's and vLLM's traces.

use chrono::{DateTime, Timelike};

/// Seconds since 1970 of `2023-11-16 18:15:46.68`, with a `T` or space, and an offset (`Z`, `+01:00`) or UTC;
/// `None` for anything else.
pub fn seconds(text: &str) -> Option<f64> {
    let date = text.replacen(' ', "T", 1);
    let read = DateTime::parse_from_rfc3339(&date).or_else(|_| DateTime::parse_from_rfc3339(&(date + "Z")));
    let time = read.ok()?.naive_utc();
    // Seconds and their fraction are rounded together.
    let minutes = time.and_utc().timestamp() - i64::from(time.second());
    Some(minutes as f64 + (f64::from(time.second()) + f64::from(time.nanosecond()) / 1e9))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_seconds() {
        assert_eq!(seconds("1970-01-01 00:00:00"), Some(0.0));
        assert_eq!(seconds("2000-03-01T00:00:00Z"), Some(951_868_800.0));
        assert_eq!(seconds("2023-11-16 18:15:46.5"), Some(1_700_158_546.5));
        assert_eq!(seconds("2024-02-29 23:59:59"), Some(1_709_251_199.0));
        for bad in [
            "2023-13-01 00:00:00",
            "2023-02-29 00:00:00",
            "2023-01-01",
            "2023-01-01 25:00:00",
            "2023-01-99999999999999999999 00:00:00",
            "yesterday at noon",
            "a-b-c d:e:f",
        ] {
            assert_eq!(seconds(bad), None, "{bad}");
        }
    }

    #[test]
    fn offsets_are_taken_off() {
        for text in [
            "2000-03-01 00:00:00+00:00",
            "2000-03-01 01:00:00+01:00",
            "2000-02-29T18:30:00.000-05:30",
            "2000-03-01 00:00:00Z",
        ] {
            assert_eq!(seconds(text), Some(951_868_800.0), "{text}");
        }
        assert_eq!(seconds("2000-03-01 00:00:00+25"), None);
    }
}
