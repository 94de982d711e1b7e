//! Detects secrets in options of a command line: `--token …`, `curl -u user:…`, `mysql -p…`.

use super::super::value::{SecretOrigin, is_bare, is_secret, quote_at, skip_blanks};
use super::super::{RedactScan, SecretSpan, is_word};
use super::next_item;
use rawr_core::steps;

/// How many bytes of a line before a value are searched for its command or option.
const LOOK_BACK: usize = 200;

/// `--token …` and `"--token", "…"`; also `ngrok … add-authtoken …`, `login … password …` of a `.netrc`, and `ENV TOKEN …` of a Dockerfile.
pub(super) fn value_of_option(
    scan: RedactScan<'_>,
    name_start: usize,
    name_end: usize,
) -> Option<usize> {
    let start = skip_blanks(scan, name_end);
    let value = if start > name_end { start } else { next_item(scan, name_end)? };
    let before = line_before(scan, name_start);
    let word = before.rsplit(|byte| !is_word(*byte)).next().unwrap_or_default();
    let of_netrc = || {
        let mut words = before.rsplit(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        word.is_empty() && words.nth(1) == Some(b"login")
    };
    let is_variable = || {
        let command = before[..before.len() - word.len()].trim_ascii();
        [&b"ENV"[..], b"setenv", b"setx"].contains(&command)
    };
    let of_ngrok = || word.ends_with(b"auth") && before.windows(5).any(|part| part == b"ngrok");
    (word.starts_with(b"--") || of_netrc() || is_variable() || of_ngrok()).then_some(value)
}

/// `curl -u user:password`. The user and group of a container are numbers or words instead.
pub(super) fn user_option(scan: RedactScan<'_>, at: usize) -> Option<SecretSpan> {
    let start = skip_blanks(scan, at + 1);
    if start == at + 1 || !matches!(scan.byte_before(at - 1), b' ' | b'\t') {
        return None;
    }
    let start = quote_at(scan, start).map_or(start, |(_, open)| open);
    let user = scan.run(start, |byte| is_bare(byte) && byte != b'/');
    let password = scan.run(user.end + 1, |byte| is_bare(byte) && byte != b'/');
    let value = scan.text.get(password.clone())?;
    let is_number = value.iter().all(u8::is_ascii_digit);
    let whole = scan.byte(user.end) == b':' && !user.is_empty() && value.len() >= 6;
    (whole && !is_number && is_secret(value, SecretOrigin::Password))
        .then_some(SecretSpan { kind: "password", range: user.start..password.end })
}

/// A one-letter option with a password as its value.
struct PasswordOption {
    letter: u8,
    programs: &'static [&'static [u8]],
    /// The command that takes it, if only one of several does.
    command: Option<&'static [u8]>,
    /// Accepts `-p …` in addition to `-p…`.
    may_be_apart: bool,
}

const PASSWORD_OPTIONS: [PasswordOption; 4] = [
    PasswordOption {
        letter: b'p',
        programs: &[b"mysql", b"mysqldump", b"mysqladmin", b"mariadb"],
        command: None,
        may_be_apart: false,
    },
    PasswordOption { letter: b'p', programs: &[b"sshpass"], command: None, may_be_apart: true },
    PasswordOption {
        letter: b'p',
        programs: &[b"docker", b"podman", b"buildah", b"skopeo", b"helm", b"oc"],
        command: Some(b"login"),
        may_be_apart: true,
    },
    PasswordOption { letter: b'a', programs: &[b"redis-cli"], command: None, may_be_apart: true },
];

/// `mysql -p…`, `sshpass -p …`, `redis-cli -a …`.
pub(super) fn password_option(scan: RedactScan<'_>, at: usize) -> Option<SecretSpan> {
    if !matches!(scan.byte_before(at - 1), b' ' | b'\t') {
        return None;
    }
    let apart = skip_blanks(scan, at + 1);
    let start = quote_at(scan, apart).map_or(apart, |(_, open)| open);
    let range = scan.run(start, |byte| is_bare(byte) && byte != b'/');
    let is_value = range.len() >= 3 && !matches!(scan.byte(range.start), b'$' | b'-');
    let is_apart = apart > at + 1;
    let takes_it = |option: &PasswordOption| {
        option.letter == scan.byte(at)
            && (option.may_be_apart || !is_apart)
            && runs(scan, at, option.programs)
            && option.command.is_none_or(|command| runs(scan, at, &[command]))
    };
    (is_value && PASSWORD_OPTIONS.iter().any(takes_it))
        .then_some(SecretSpan { kind: "password", range })
}

/// Whether one of these is a word of the command before `at`.
fn runs(scan: RedactScan<'_>, at: usize, programs: &[&[u8]]) -> bool {
    let line = line_before(scan, at);
    let command = line.rsplit(|byte| matches!(byte, b';' | b'|' | b'&')).next().unwrap_or_default();
    command.split(|byte| !is_word(*byte)).any(|word| programs.contains(&word))
}

/// The line before a position, without redacted parts, which end with a `]` in every pass.
fn line_before<'t>(scan: RedactScan<'t>, at: usize) -> &'t [u8] {
    let from = at.saturating_sub(LOOK_BACK).max(scan.floor);
    let before = scan.text.get(from..at).unwrap_or_default();
    steps::add(before.len());
    before.rsplit(|byte| matches!(byte, b'\n' | b']')).next().unwrap_or_default()
}
