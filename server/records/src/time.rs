//! Parses times, and reads the modification time of files.

use rawr_core::units::Timestamp;
use std::path::Path;
use std::time::UNIX_EPOCH;

/// The modification time.
pub fn of_file(path: &Path) -> Option<Timestamp> {
    let since = path.metadata().ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(Timestamp(i64::try_from(since.as_millis()).ok()?))
}

/// `2026-11-21T22:01:30.123Z`, or seconds or milliseconds since 1970. Without a time zone, UTC is assumed.
pub fn parse(text: &str) -> Option<Timestamp> {
    const FIRST_IN_MILLISECONDS: i64 = 100_000_000_000;
    if let Ok(number) = text.parse::<i64>() {
        let is_whole = (1..FIRST_IN_MILLISECONDS * 100).contains(&number);
        let unit = if number < FIRST_IN_MILLISECONDS { 1000 } else { 1 };
        return is_whole.then(|| Timestamp(number * unit));
    }
    let text = text.as_bytes();
    let number = |from: usize, to: usize| {
        text.get(from..to)?.iter().try_fold(0, |number, byte| {
            byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0'))
        })
    };
    let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    if marks.iter().any(|(at, mark)| text.get(*at) != Some(mark)) {
        return None;
    }
    let days = days(number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let seconds = (number(11, 13)? * 60 + number(14, 16)?) * 60 + number(17, 19)?;
    let has_fraction = text.get(19) == Some(&b'.');
    let milliseconds = number(20, 23).filter(|_| has_fraction).unwrap_or(0);
    let zone = text.iter().skip(19).position(|byte| matches!(byte, b'+' | b'-')).map(|at| at + 19);
    let offset = zone.and_then(|at| {
        let minutes = number(at + 1, at + 3)? * 60 + number(at + 4, at + 6)?;
        Some(if text[at] == b'+' { minutes } else { -minutes })
    });
    let seconds = seconds - offset.unwrap_or(0) * 60;
    Some(Timestamp((days * 86_400 + seconds) * 1000 + milliseconds))
}

/// Days since 1970-01-01 of a date of the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years start in March, so that a leap day is the last day of a year.
    let year = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + day_of_year
        - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        let check = |text: &str, expected: Option<i64>| {
            assert_eq!(parse(text).map(|at| at.0), expected, "{text}")
        };
        check("1970-01-01T00:00:00Z", Some(0));
        check("1970-01-01T02:00:01+02:00", Some(1000));
        check("1969-12-31T22:30:00.500-01:30", Some(500));
        check("1793610000", Some(1_793_610_000_000));
        check("1793610000123", Some(1_793_610_000_123));
        check("0", None);
        check("2026-11-21T22:01:30.123Z", Some(1_795_298_490_123));
        check("2000-02-29T12:00:00.5Z", Some(951_825_600_000));
        check("2100-03-01T00:00:00Z", Some(4_107_542_400_000));
        check("yesterday", None);
        check("2026-11-21 22:01:30", None);
        check("ä026-11-21T22:01:30Z", None);
    }
}
