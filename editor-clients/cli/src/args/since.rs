//! How far back a command looks: a span, or a date.

use std::time::{Duration, SystemTime};

/// How far back to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SinceTime {
    /// So many seconds ago.
    Ago(u64),
    /// Milliseconds since 1970.
    At(i64),
}

impl SinceTime {
    /// The time itself. What is further back than the clock's first second is that second.
    pub fn before(self, now: SystemTime) -> SystemTime {
        let at = match self {
            Self::Ago(seconds) => now.checked_sub(Duration::from_secs(seconds)),
            Self::At(ms) => {
                let since = Duration::from_millis(u64::try_from(ms).unwrap_or_default());
                SystemTime::UNIX_EPOCH.checked_add(since)
            }
        };
        at.unwrap_or(SystemTime::UNIX_EPOCH).max(SystemTime::UNIX_EPOCH)
    }
}

/// Parses `12h`, `7d`, `4w` or `2026-11-01`.
pub(super) fn parse_since(text: &str) -> Result<SinceTime, String> {
    if let Some(at) = rawr_analysis::replay::parse_time(&format!("{text}T00:00:00Z")) {
        return Ok(SinceTime::At(at.0));
    }
    let unknown = || "expected a number with h, d or w, or a date such as 2026-11-01".to_owned();
    let unit = text.chars().last().ok_or_else(unknown)?;
    let seconds = match unit {
        'h' => 3600,
        'd' => 86_400,
        'w' => 604_800,
        _ => return Err(unknown()),
    };
    let count: u64 = text[..text.len() - unit.len_utf8()].parse().map_err(|_| unknown())?;
    count.checked_mul(seconds).map(SinceTime::Ago).ok_or_else(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_date_or_a_span() {
        assert_eq!(parse_since("7d"), Ok(SinceTime::Ago(604_800)));
        assert_eq!(parse_since("12h"), Ok(SinceTime::Ago(43_200)));
        assert_eq!(parse_since("1970-01-02"), Ok(SinceTime::At(86_400_000)));
        for wrong in ["", "d", "7", "7m", "-1d", "99999999999999999999w", "yesterday", "7é"] {
            assert!(parse_since(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_span_longer_than_time_begins_with_it() {
        let check = |text: &str, expected: u64| {
            let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
            let at = parse_since(text).unwrap().before(now);
            assert_eq!(at, SystemTime::UNIX_EPOCH + Duration::from_secs(expected), "{text}");
        };
        check("1d", 913_600);
        check("30000000000000w", 0);
        check("1960-01-01", 0);
        check("1970-01-02", 86_400);
    }
}
