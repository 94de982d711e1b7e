//! Which errors are worth a retry, and how long to pause before it. It neither waits nor counts.

use super::JudgeError;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};
use std::time::{Duration, SystemTime};

const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(8);

/// `None` if the same request would fail again. Pauses have no jitter, because sidecars ask rarely.
pub(super) fn pause(error: &JudgeError, requests_so_far: u32) -> Option<Duration> {
    let asked_for = match error {
        JudgeError::BrokenOff { .. } => None,
        // Also answered with 429, but waiting does not help.
        JudgeError::Status { code: Some(code), .. } if code == "insufficient_quota" => return None,
        JudgeError::Status { status: 429 | 500..=599, retry_after, .. } => *retry_after,
        _ => return None,
    };
    Some(asked_for.unwrap_or_else(|| by_schedule(requests_so_far)))
}

/// Half a second, doubled with each request.
fn by_schedule(requests_so_far: u32) -> Duration {
    let doubled = 2_u32.saturating_pow(requests_so_far.saturating_sub(1));
    FIRST_PAUSE.saturating_mul(doubled).min(LONGEST_PAUSE)
}

/// Parses `Retry-After` as seconds or as a date. A date is relative to the endpoint's own clock if it sends a `Date`.
pub(super) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name| headers.get(name)?.to_str().ok().map(str::trim);
    let date = |text| httpdate::parse_http_date(text).ok();
    let asked_for = text(RETRY_AFTER)?;
    if let Ok(seconds) = asked_for.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let now = text(DATE).and_then(date).unwrap_or(now);
    date(asked_for).map(|then| then.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "Sun, 06 Nov 1994 08:49:37 GMT";

    fn check_header(headers: &[(&'static str, &str)], expected: Option<u64>) {
        let headers =
            headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        let found = retry_after(&headers.collect(), httpdate::parse_http_date(NOW).unwrap());
        assert_eq!(found, expected.map(Duration::from_secs));
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        check_header(&[], None);
        check_header(&[("retry-after", " 7 ")], Some(7));
        check_header(&[("retry-after", "Sun, 06 Nov 1994 08:49:40 GMT")], Some(3));
        check_header(&[("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT")], Some(0));
        for nonsense in ["", "soon", "-1", "1.5"] {
            check_header(&[("retry-after", nonsense)], None);
        }
    }

    #[test]
    fn a_date_is_relative_to_the_endpoints_clock() {
        let date = ("date", "Mon, 01 Jan 2035 00:00:00 GMT");
        check_header(&[date, ("retry-after", "Mon, 01 Jan 2035 00:00:05 GMT")], Some(5));
    }

    fn status(status: u16, code: Option<&str>, retry_after: Option<u64>) -> JudgeError {
        JudgeError::Status {
            status,
            code: code.map(str::to_owned),
            message: String::new(),
            retry_after: retry_after.map(Duration::from_secs),
        }
    }

    fn check_pause(error: &JudgeError, requests_so_far: u32, expected: Option<u64>) {
        let expected = expected.map(Duration::from_millis);
        assert_eq!(pause(error, requests_so_far), expected, "{error:?} {requests_so_far}");
    }

    #[test]
    fn pauses_double_up_to_the_longest() {
        for (requests, millis) in
            [(1, 500), (2, 1000), (3, 2000), (5, 8000), (6, 8000), (u32::MAX, 8000)]
        {
            check_pause(&status(503, None, None), requests, Some(millis));
        }
    }

    #[test]
    fn retry_after_overrides_the_schedule() {
        check_pause(&status(429, None, Some(0)), 3, Some(0));
        check_pause(&status(500, None, Some(20)), 1, Some(20_000));
    }

    #[test]
    fn only_temporary_errors_are_retried() {
        let broken = JudgeError::BrokenOff { endpoint: String::new(), detail: String::new() };
        check_pause(&broken, 1, Some(500));
        check_pause(&status(429, Some("rate_limit_exceeded"), None), 1, Some(500));
        check_pause(&status(429, Some("insufficient_quota"), None), 1, None);
        for refused in [400, 401, 403, 404, 422] {
            check_pause(&status(refused, None, Some(1)), 1, None);
        }
        for never in [JudgeError::NoModel, JudgeError::Empty] {
            check_pause(&never, 1, None);
        }
    }
}
