//! Detects secrets by their shape alone: tokens with a known prefix, private key blocks, passwords in URLs.

use super::random::is_wordy;
use super::rules::PUBLIC;
use super::{Detector, RedactScan, SecretSpan, TokenRule, infix, is_word};
use memchr::memmem;
use rawr_core::steps;
use regex::bytes::{Regex, RegexBuilder};
use std::sync::{LazyLock, OnceLock};

pub(super) const LOOKS: [(&str, &str, Detector); 12] = [
    ("bB", "eE", bearer),
    ("y", "J", json_web_token),
    ("-", "B", private_key),
    (":", "/", url_credentials),
    (":", "A", telegram),
    (":", "A", infix::cloud_messaging),
    ("MNO", infix::WORD, infix::discord),
    ("Q", "~", infix::azure),
    (".", "a", infix::terraform),
    ("b", "h", infix::web_hook),
    ("_", "m", infix::maxmind),
    ("0123456789", "|", infix::facebook),
];

const fn rule(
    kind: &'static str,
    prefixes: &'static [&'static str],
    pattern: &'static str,
) -> TokenRule {
    TokenRule { kind, prefixes, pattern }
}

/// Rules that the public list lacks, or whose length it overestimates.
const OWN: [TokenRule; 33] = [
    rule("anthropic-key", &["sk-ant-"], r"sk-ant-[\w-]{16,}"),
    rule("api-key", &["sk-"], r"sk-[\w-]{20,}"),
    rule("gitlab-token", &["glpat-"], r"glpat-[\w-]{18,}(?:\.[0-9a-z]{2}\.?[0-9a-z]{7,10}\b)?"),
    rule("slack-token", &["xapp-"], r"xapp-[\w-]{10,}"),
    rule("slack-token", &["xox"], r"xox[a-z]-[\w-]{10,}"),
    rule("github-token", &["gh"], r"gh[a-z]_[A-Za-z0-9]{30,}"),
    rule("github-token", &["github_pat_"], r"github_pat_[\w-]{22,}"),
    rule("npm-token", &["npm_"], r"npm_[A-Za-z0-9]{30,}"),
    rule("hugging-face-token", &["hf_"], r"hf_[A-Za-z0-9]{30,}"),
    rule("aws-key-id", &["AKIA", "ASIA"], r"A[KS]IA[A-Z0-9]{16,}"),
    rule("google-key", &["AIza"], r"AIza[\w-]{30,}"),
    rule("google-token", &["ya29.", "GOCSPX-", "1//0"], r"(?:ya29\.|GOCSPX-|1//0)[\w-]{20,}"),
    rule("groq-key", &["gsk_"], r"gsk_[A-Za-z0-9]{30,}"),
    rule("xai-key", &["xai-"], r"xai-[A-Za-z0-9]{30,}"),
    rule("replicate-token", &["r8_"], r"r8_[A-Za-z0-9]{30,}"),
    rule("docker-token", &["dckr_pat_"], r"dckr_pat_[\w-]{20,}"),
    rule("stripe-webhook-secret", &["whsec_"], r"whsec_[A-Za-z0-9+/=]{24,}"),
    rule("vault-token", &["hvs."], r"hvs\.[\w-]{20,}"),
    rule("pypi-token", &["pypi-"], r"pypi-[\w-]{50,}"),
    rule("twilio-key", &["SK"], r"SK[0-9a-fA-F]{32}\b"),
    rule("mailgun-key", &["key-"], r"key-[0-9a-f]{32}\b"),
    rule("atlassian-token", &["ATATT3"], r"ATATT3[\w=-]{60,}"),
    rule("supabase-key", &["sbp_", "sb_s"], r"(?:sbp_[0-9a-f]{40}|sb_secret_[\w-]{20,})"),
    rule("netlify-token", &["nf"], r"nf[bcopu]_[A-Za-z0-9]{36,}"),
    rule("tavily-key", &["tvly-"], r"tvly-[\w-]{20,}"),
    rule("langsmith-key", &["lsv2_"], r"lsv2_[a-z]{2}_[0-9a-f]{32}_[0-9a-f]{10}"),
    rule("figma-token", &["figd_"], r"figd_[\w-]{30,}"),
    rule("posthog-key", &["phs_", "phx_"], r"ph[sx]_[A-Za-z0-9]{40,}"),
    rule("cerebras-key", &["csk-"], r"csk-[a-z0-9]{40,}"),
    rule("voyage-key", &["pa-"], r"pa-[\w-]{40,}"),
    rule("new-relic-key", &["NRAK-"], r"NRAK-[A-Z0-9]{20,}"),
    rule("sourcegraph-token", &["sgp_"], r"sgp_(?:(?:[0-9a-fA-F]{16}|local)_)?[0-9a-fA-F]{40}"),
    rule("firebase-token", &["APA91b"], r"APA91b[\w-]{100,}"),
];

/// A rule that is compiled when its prefix is first seen.
pub(super) struct TokenShape {
    rule: &'static TokenRule,
    pattern: OnceLock<Option<Regex>>,
}

/// Our own rules come first, so that a token has one kind even if several rules match.
pub(super) static ALL: LazyLock<Vec<TokenShape>> = LazyLock::new(|| {
    let shape = |rule| TokenShape { rule, pattern: OnceLock::new() };
    OWN.iter().chain(&PUBLIC).map(shape).collect()
});

impl TokenShape {
    pub(super) fn first_pairs(&self) -> impl Iterator<Item = (u8, u8)> {
        self.rule.prefixes.iter().filter_map(|prefix| match *prefix.as_bytes() {
            [first, second, ..] => Some((first, second)),
            _ => None,
        })
    }

    /// The token that begins here, up to the end of its word.
    pub(super) fn find(&self, scan: RedactScan<'_>, start: usize) -> Option<SecretSpan> {
        /// No rule needs more bytes to match.
        const ENOUGH: usize = 1024;
        if !self.rule.prefixes.iter().any(|prefix| scan.starts_with(start, prefix.as_bytes())) {
            return None;
        }
        let rest = scan.text.get(start..)?;
        let rest = rest.get(..ENOUGH).unwrap_or(rest);
        let token = self.pattern()?.find(rest)?.as_bytes();
        steps::add(token.len());
        let end = scan.run(start + token.len(), is_word).end;
        is_drawn(scan.text.get(start..end)?)
            .then_some(SecretSpan { kind: self.rule.kind, range: start..end })
    }

    #[cfg(test)]
    pub(super) const fn kind(&self) -> &'static str {
        self.rule.kind
    }

    pub(super) fn pattern(&self) -> Option<&Regex> {
        let compile = || {
            let pattern = format!(r"\A(?:{})", self.rule.pattern);
            RegexBuilder::new(&pattern).unicode(false).build().ok()
        };
        self.pattern.get_or_init(compile).as_ref()
    }
}

/// `Bearer …`. The word is kept, because it tells what was redacted.
fn bearer(scan: RedactScan<'_>, at: usize) -> Option<SecretSpan> {
    const WORD: &[u8] = b"bearer ";
    const AT_LEAST: usize = 16;
    let start = at - 1;
    let word = scan.text.get(start..start + WORD.len())?;
    if !word.eq_ignore_ascii_case(WORD) || !scan.at_word_start(start) {
        return None;
    }
    let token = scan.run(start + WORD.len(), is_bearer);
    let bytes = scan.text.get(token.clone())?;
    (token.len() >= AT_LEAST && is_drawn(bytes))
        .then_some(SecretSpan { kind: "bearer-token", range: token })
}

/// Package names and CSS classes are words. Tokens are not, and nearly all contain a digit.
pub(super) fn is_drawn(token: &[u8]) -> bool {
    token.iter().any(u8::is_ascii_digit) || !is_wordy(token)
}

const fn is_bearer(byte: u8) -> bool {
    is_word(byte) || matches!(byte, b'.' | b'~' | b'+' | b'/' | b'=')
}

/// The number of a bot, a colon, and a key that begins with `AA`.
fn telegram(scan: RedactScan<'_>, at: usize) -> Option<SecretSpan> {
    const KEY: usize = 33;
    const NUMBER: usize = 10;
    let colon = at - 1;
    let number = (0..NUMBER).take_while(|back| {
        colon > scan.floor + back && scan.byte(colon - 1 - back).is_ascii_digit()
    });
    let start = colon - number.count();
    let key = scan.run(at, is_word);
    let is_token = colon - start >= 8 && key.len() >= KEY && scan.starts_with(at, b"AA");
    (is_token && scan.at_word_start(start))
        .then_some(SecretSpan { kind: "telegram-token", range: start..key.end })
}

/// Header, payload and signature, separated by dots. The header is a JSON object, so that it begins with `eyJ`.
fn json_web_token(scan: RedactScan<'_>, at: usize) -> Option<SecretSpan> {
    const AT_LEAST: usize = 8;
    let start = at.checked_sub(2).filter(|start| *start >= scan.floor)?;
    if !scan.text[start..].starts_with(b"eyJ") || !scan.at_word_start(start) {
        return None;
    }
    let mut end = start;
    for part in 0..3 {
        if part > 0 && scan.byte(end) != b'.' {
            return None;
        }
        let run = scan.run(end + usize::from(part > 0), is_word);
        if run.len() < AT_LEAST {
            return None;
        }
        end = run.end;
    }
    Some(SecretSpan { kind: "json-web-token", range: start..end })
}

const MARK: &[u8] = b"-----";

/// A PEM block, even if truncated or in a string with `\n` for its newlines.
fn private_key(scan: RedactScan<'_>, at: usize) -> Option<SecretSpan> {
    const KEY_MATERIAL: usize = 24;
    let at = at.checked_sub(MARK.len()).filter(|at| *at >= scan.floor)?;
    let label = scan.run(at + MARK.len(), |byte| byte.is_ascii_uppercase() || byte == b' ');
    let body = label.end + MARK.len();
    let header = scan.text.get(at..body)?;
    let is_key = header.windows(11).any(|part| part == b"PRIVATE KEY");
    if !is_key || !header.starts_with(b"-----BEGIN ") || !header.ends_with(MARK) {
        return None;
    }
    if let Some(end) = end_of_block(scan, body) {
        let block = scan.text.get(body..end)?;
        let is_material = |run: &[u8]| run.len() >= KEY_MATERIAL && !is_wordy(run);
        let holds_key = block.split(|byte| !is_base64(*byte)).any(is_material);
        return holds_key.then_some(SecretSpan { kind: "private-key", range: at..end });
    }
    let mut end = body;
    let (mut run, mut longest) = (0_usize, 0_usize);
    while is_key_block(scan.byte(end)) && !scan.starts_with(end, MARK) {
        run = if is_base64(scan.byte(end)) { run + 1 } else { 0 };
        longest = longest.max(run);
        end += 1;
    }
    steps::add(end - body);
    if !scan.starts_with(end, MARK) {
        // A truncated block may be followed by another secret whose beginning looks like base64.
        end = scan.run(end, is_glued).end;
    }
    (longest >= KEY_MATERIAL).then_some(SecretSpan { kind: "private-key", range: at..end })
}

/// The position after the end marker of a block. The lines in between may be quoted in any way.
fn end_of_block(scan: RedactScan<'_>, body: usize) -> Option<usize> {
    let rest = scan.text.get(body..)?;
    let mark = memmem::find(rest, MARK).unwrap_or(rest.len());
    steps::add(mark);
    if !scan.starts_with(body + mark, b"-----END ") {
        return None;
    }
    let label =
        scan.run(body + mark + MARK.len(), |byte| byte.is_ascii_uppercase() || byte == b' ');
    scan.starts_with(label.end, MARK).then_some(label.end + MARK.len())
}

const fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// Base64, PEM headers (`Proc-Type: 4,ENCRYPTED`) and escaped newlines. A quote ends a string of code.
const fn is_key_block(byte: u8) -> bool {
    is_base64(byte) || matches!(byte, b'\n' | b'\r' | b' ' | b'\t' | b'\\' | b':' | b',' | b'-')
}

/// Continues the word that a block ends in. Quotes and brackets end it.
const fn is_glued(byte: u8) -> bool {
    is_user_info(byte) && !matches!(byte, b'(' | b')' | b';') || matches!(byte, b'@' | b'/')
}

/// `scheme://user:password@host`. The user is redacted, too: it is often the token, and nothing between the detected
/// position and the secret may be skipped.
fn url_credentials(scan: RedactScan<'_>, at: usize) -> Option<SecretSpan> {
    /// A token instead of the user.
    const AT_LEAST: usize = 16;
    let at = at - 1;
    if !scan.starts_with(at, b"://") || !scan.byte_before(at).is_ascii_alphanumeric() {
        return None;
    }
    let user = scan.run(at + 3, |byte| is_user_info(byte) && byte != b':');
    let password = scan.run(user.end + 1, is_user_info);
    let whole = scan.byte(user.end) == b':' && scan.byte(password.end) == b'@';
    // `$PASSWORD` is a variable and not a secret.
    if whole && !password.is_empty() && scan.byte(password.start) != b'$' {
        return Some(SecretSpan { kind: "url-credentials", range: user.start..password.end });
    }
    let bytes = scan.text.get(user.clone())?;
    let is_token = scan.byte(user.end) == b'@'
        && bytes.len() >= AT_LEAST
        && bytes.iter().any(u8::is_ascii_digit)
        && !is_wordy(bytes);
    is_token.then_some(SecretSpan { kind: "url-credentials", range: user })
}

const fn is_user_info(byte: u8) -> bool {
    byte.is_ascii_graphic()
        && !matches!(
            byte,
            b'@' | b'/' | b'\\' | b'"' | b'\'' | b'`' | b'[' | b']' | b'<' | b'>' | b'{' | b'}'
        )
}
