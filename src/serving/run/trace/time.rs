//! Dates with a time, as Azure's traces write them.

/// Seconds since 1970 of `2023-11-16 18:15:46.68` (or with a `T`, or a `Z` at the end); none of anything else.
pub fn seconds(text: &str) -> Option<f64> {
    let text = text.trim_end_matches('Z');
    let (date, time) = text.split_once([' ', 'T'])?;
    let [year, month, day] = parts(date, '-')?;
    let [hour, minute, second] = parts(time, ':')?;
    let sound = (1.0..=12.0).contains(&month)
        && (1.0..=31.0).contains(&day)
        && (0.0..24.0).contains(&hour)
        && (0.0..60.0).contains(&minute)
        && (0.0..61.0).contains(&second)
        && (1970.0..10_000.0).contains(&year);
    // Not before all is in range: what is not would overflow.
    let days = sound.then(|| days(year as i64, month as i64, day as i64))?;
    Some(days as f64 * 86_400.0 + hour * 3600.0 + minute * 60.0 + second)
}

fn parts(text: &str, between: char) -> Option<[f64; 3]> {
    let mut parts = text.split(between).map(|part| part.parse().ok());
    let all = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(all)
}

/// Days since 1970-01-01, in the Gregorian calendar. Years begin in March here, so that the leap day is their last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let leap_days = year / 4 - year / 100 + year / 400;
    let of_months = (153 * month + 2) / 5;
    /// Days from the first of March of the year 0 to 1970-01-01.
    const EPOCH: i64 = 719_468;
    365 * year + leap_days + of_months + day - 1 - EPOCH
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
            "2023-01-01",
            "2023-01-01 25:00:00",
            "2023-01-99999999999999999999 00:00:00",
            "yesterday at noon",
            "a-b-c d:e:f",
        ] {
            assert_eq!(seconds(bad), None, "{bad}");
        }
    }
}
