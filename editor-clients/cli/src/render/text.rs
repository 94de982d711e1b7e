//! Formats text for a terminal: wrapping, shortening, numbers, ages. Pure.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use rawr_host::text::{columns, sanitize_terminal};
use unicode_width::UnicodeWidthChar;

/// Removes styles.
pub fn plain(printed: &str) -> String {
    anstream::adapter::strip_str(printed).to_string()
}

/// Wraps a text to `width` columns, between words if possible.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in sanitize_terminal(text).lines() {
        let mut line = String::new();
        let mut begun = false;
        for word in paragraph.split(' ') {
            if begun && columns(&line) + 1 + columns(word) > width {
                lines.push(std::mem::take(&mut line));
            } else if begun {
                line.push(' ');
            }
            begun = true;
            for letter in word.chars() {
                if columns(&line) + letter.width().unwrap_or(0) > width && !line.is_empty() {
                    lines.push(std::mem::take(&mut line));
                }
                line.push(letter);
            }
        }
        lines.push(line);
    }
    lines
}

/// The first lines, and the number of the others.
pub(super) fn shortened(text: &str, width: usize, most: usize) -> Vec<String> {
    let mut lines = wrapped(text.trim(), width);
    if lines.len() > most {
        let more = lines.len() - (most - 1);
        lines.truncate(most - 1);
        lines.push(format!("… {more} more lines"));
    }
    lines
}

/// An error with its causes, without duplicates, because some errors include their cause.
pub(crate) fn causes(error: &anyhow::Error) -> String {
    let mut told = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if told.is_empty() {
            told = cause;
        } else if !told.contains(&cause) {
            told = format!("{told}: {cause}");
        }
    }
    told
}

/// The text with a capital first letter.
pub(super) fn sentence(text: &str) -> String {
    let mut text = text.to_owned();
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    text
}

/// A number of things, in one of the two words.
pub(crate) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", number(count), if count == 1 { one } else { many })
}

/// A number with commas between thousands.
pub(crate) fn number(value: u64) -> String {
    let digits = value.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A file size with a unit.
pub(crate) fn bytes(value: u64) -> String {
    match value {
        0..1_000 => format!("{value} B"),
        1_000..1_000_000 => format!("{}.{} kB", value / 1_000, value % 1_000 / 100),
        _ => format!("{}.{} MB", value / 1_000_000, value % 1_000_000 / 100_000),
    }
}

/// How long something took.
pub(crate) fn span(ms: u64) -> String {
    let (large, small) = match ms {
        0..1_000 => return format!("{ms} ms"),
        1_000..60_000 => return format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        60_000..3_600_000 => ((ms / 60_000, "min"), (ms % 60_000 / 1_000, "s")),
        _ => ((ms / 3_600_000, "h"), (ms % 3_600_000 / 60_000, "min")),
    };
    match small {
        (0, _) => format!("{} {}", large.0, large.1),
        (rest, unit) => format!("{} {} {rest} {unit}", large.0, large.1),
    }
}

/// The age of an event; `just now` if the clock was set back.
pub fn ago(at_ms: i64, now_ms: i64) -> String {
    let seconds = now_ms.saturating_sub(at_ms).max(0) / 1_000;
    match seconds {
        0..10 => "just now".to_owned(),
        10..60 => format!("{seconds} s ago"),
        60..3_600 => format!("{} min ago", seconds / 60),
        3_600..172_800 => format!("{} h ago", seconds / 3_600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}

/// The present, and the time zone in which people read clocks.
#[derive(Debug, Clone)]
pub struct LocalNow {
    pub ms: i64,
    pub zone: TimeZone,
}

/// From this age on, the clock time is easier to find again than the age.
const SHOW_CLOCK_MS: i64 = 600_000;
const A_DAY_MS: i64 = 86_400_000;

/// The age of an event, with its clock time if it is not recent, and with its date if it is older than a day.
pub fn when(at_ms: i64, now: &LocalNow) -> String {
    let age = ago(at_ms, now.ms);
    let format = match now.ms.saturating_sub(at_ms) {
        ..SHOW_CLOCK_MS => return age,
        SHOW_CLOCK_MS..A_DAY_MS => "%H:%M",
        A_DAY_MS.. => "%b %-d %H:%M",
    };
    match Timestamp::from_millisecond(at_ms) {
        Ok(at) => format!("{age}, {}", at.to_zoned(now.zone.clone()).strftime(format)),
        Err(_) => age,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rawr_host::text::one_line;

    #[test]
    fn lines_break_between_words_and_long_words_inside() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(wrapped("a\n\n  b", 9), ["a", "", "  b"]);
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(wrapped("日本語の文", 5), ["日本", "語の", "文"]);
        assert_eq!(wrapped("ab 日本 語", 7), ["ab 日本", "語"]);
        assert_eq!(one_line("日本語", 5), "日本…");
        assert_eq!(one_line("日本語", 6), "日本語");
    }

    #[test]
    fn omitted_lines_are_counted() {
        assert_eq!(shortened("a\nb\nc", 9, 3), ["a", "b", "c"]);
        assert_eq!(shortened("a\nb\nc\nd", 9, 3), ["a", "b", "… 2 more lines"]);
        assert_eq!(one_line("echo  a\nb", 20), "echo a b");
        assert_eq!(one_line("abcdef", 4), "abc…");
    }

    #[test]
    fn control_characters_are_replaced() {
        assert_eq!(sanitize_terminal("a\u{1b}[2Jb\r\nc\td\u{202e}"), "a\u{fffd}[2Jb\nc d\u{fffd}");
        assert_eq!(one_line("x\u{7}y", 9), "x\u{fffd}y");
    }

    #[test]
    fn a_repeated_cause_is_shown_once() {
        use anyhow::Context;
        let denied = || std::io::Error::from(std::io::ErrorKind::PermissionDenied);
        let plain = Err::<(), _>(denied()).context("the file cannot be read").unwrap_err();
        assert_eq!(causes(&plain), "the file cannot be read: permission denied");
        #[derive(Debug, thiserror::Error)]
        #[error("the log cannot be read ({0}): look there")]
        struct Quotes(#[source] std::io::Error);
        let quoted = Err::<(), _>(Quotes(denied())).context("nothing is done").unwrap_err();
        assert_eq!(
            causes(&quoted),
            "nothing is done: the log cannot be read (permission denied): look there"
        );
    }

    #[test]
    fn numbers_have_commas() {
        assert_eq!(
            (number(7), number(1234), number(1_234_567)),
            ("7".into(), "1,234".into(), "1,234,567".into())
        );
        assert_eq!((bytes(999), bytes(1_250)), ("999 B".into(), "1.2 kB".into()));
    }

    #[test]
    fn spans_have_two_units_at_most() {
        let check = |ms: u64, words: &str| assert_eq!(span(ms), words);
        check(999, "999 ms");
        check(4_250, "4.2 s");
        check(125_900, "2 min 5 s");
        check(300_500, "5 min");
        check(7_260_000, "2 h 1 min");
    }

    #[test]
    fn older_times_are_shown_with_the_clock() {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let check = |minutes: i64, words: &str| {
            let now = LocalNow { ms: 1_700_000_000_000, zone: zone.clone() };
            assert_eq!(when(now.ms - minutes * 60_000, &now), words);
        };
        check(9, "9 min ago");
        check(16, "16 min ago, 23:57");
        check(150, "2 h ago, 21:43");
        check(1_500, "25 h ago, Nov 13 23:13");
        check(4_400, "3 days ago, Nov 11 22:53");
        let now = LocalNow { ms: 1_700_000_000_000, zone: zone.clone() };
        assert_eq!(when(i64::MIN, &now), ago(i64::MIN, now.ms));
    }

    #[test]
    fn times_are_shown_as_ages() {
        let check = |seconds: i64, words: &str| assert_eq!(ago(0, seconds * 1_000), words);
        check(-5, "just now");
        check(9, "just now");
        check(59, "59 s ago");
        check(125, "2 min ago");
        check(7_200, "2 h ago");
        check(172_800, "2 days ago");
    }
}
