//! Secrets that are generated randomly in every run, so that the rules cannot be fitted to one sample.

use super::*;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};

const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const DIGITS: &str = "0123456789";

/// Seeded from the operating system.
struct Draw {
    seed: u64,
    state: u64,
}

impl Draw {
    fn new() -> Self {
        let seed = RandomState::new().hash_one(0) | 1;
        Self { seed, state: seed }
    }

    fn below(&mut self, end: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from((self.state >> 16) % end as u64).unwrap()
    }

    fn text(&mut self, alphabet: &[u8], length: usize) -> String {
        (0..length).map(|_| char::from(alphabet[self.below(alphabet.len())])).collect()
    }
}

/// A token with this prefix.
pub(super) fn key(prefix: &str, length: usize) -> String {
    let alphabet = [UPPER, LOWER, DIGITS].concat();
    format!("{prefix}{}", Draw::new().text(alphabet.as_bytes(), length))
}

/// Each provider's keys: `{N}` is replaced by that many characters of the alphabet, a letter before the number.
/// `h`: hex, `l`: lower case and digits, `u`: upper case and digits, `b`: base62, `w`: base64 of addresses, `d`: digits.
const PROVIDERS: [(&str, &str); 27] = [
    ("twilio", "SK{h32}"),
    ("mailgun", "key-{h32}"),
    ("atlassian", "ATATT3xFfGF0{w180}={u8}"),
    ("azure ad", "{b3}8Q~{w34}"),
    ("terraform", "{b14}.atlasv1.{w67}"),
    ("supabase", "sbp_{h40}"),
    ("supabase secret", "sb_secret_{w31}"),
    ("netlify", "nfp_{b40}"),
    ("tavily", "tvly-{b32}"),
    ("langsmith", "lsv2_pt_{h32}_{h10}"),
    ("figma", "figd_{w40}"),
    ("posthog", "phx_{b43}"),
    ("cerebras", "csk-{l48}"),
    ("voyage", "pa-{w43}"),
    ("new relic", "NRAK-{u27}"),
    ("discord bot", "M{b25}.{b6}.{w38}"),
    ("discord web hook", "https://discord.com/api/webhooks/{d18}/{w68}"),
    ("firebase", "AAAA{w7}:APA91b{w134}"),
    ("signed s3 url", "X-Amz-Signature={h64}"),
    ("ngrok", "ngrok config add-authtoken 2{b26}_{b21}"),
    ("digits", "token={d16}"),
    ("gitlab routable", "glpat-{w27}.01.{l9}"),
    ("sourcegraph", "sgp_{h40}"),
    ("maxmind", "{b6}_{b29}_mmk"),
    ("facebook", "{d16}|{w27}"),
    ("prose", "the password is {b16}"),
    ("passphrase", "password: \"correct horse battery {b4}\""),
];

fn drawn(draw: &mut Draw, form: &str) -> String {
    let mut parts = form.split('{');
    let mut text = parts.next().unwrap().to_owned();
    for part in parts {
        let (what, rest) = part.split_once('}').unwrap();
        let alphabet = match &what[..1] {
            "h" => "0123456789abcdef".to_owned(),
            "l" => [LOWER, DIGITS].concat(),
            "u" => [UPPER, DIGITS].concat(),
            "b" => [UPPER, LOWER, DIGITS].concat(),
            "w" => [UPPER, LOWER, DIGITS, "-_"].concat(),
            _ => DIGITS.to_owned(),
        };
        text += &draw.text(alphabet.as_bytes(), what[1..].parse().unwrap());
        text += rest;
    }
    text
}

#[test]
fn nearly_every_key_of_each_provider_is_redacted() {
    const SEEDS: [u64; 4] = [4711, 815, 31_337, 271_828];
    let mut missed = Vec::new();
    for (provider, form) in PROVIDERS {
        for seed in SEEDS {
            let mut draw = Draw { seed, state: seed };
            let keys: Vec<_> = (0..100).map(|_| drawn(&mut draw, form)).collect();
            let left: Vec<_> = keys
                .iter()
                .filter(|key| {
                    let redacted = redact(key);
                    // The end of the key must not stay either.
                    !is_redacted(&redacted) || redacted.ends_with(&key[key.len() - 4..])
                })
                .collect();
            if left.len() > 1 {
                missed.push((provider, seed, left.len(), left[0].clone()));
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn a_color_or_an_escape_before_a_key_hides_nothing() {
    // Their beginning is found from their middle.
    const FROM_THE_MIDDLE: [&str; 3] = ["azure ad", "maxmind", "terraform"];
    let forms = PROVIDERS.iter().filter(|(provider, _)| !FROM_THE_MIDDLE.contains(provider));
    let assigned = [("assigned", "API_KEY={b32}"), ("github", "ghp_{b36}")];
    let mut missed = Vec::new();
    let mut draw = Draw::new();
    for (provider, form) in forms.chain(&assigned) {
        for before in [
            "\x1b[32m",
            "\x1b[1;31m",
            "\x1b[0K",
            "\\u001b[31m",
            "\\x1b[0m",
            "\\033[1m",
            "%20",
            "\\n",
        ] {
            let key = drawn(&mut draw, form);
            let text = format!("{before}{key}");
            if redact(&text).ends_with(&key[key.len() - 4..]) {
                missed.push((provider, text));
            }
        }
    }
    // One in a hundred draws has no shape of a key.
    assert!(missed.len() <= 3, "seed {}: {missed:#?}", draw.seed);
    assert_eq!(
        redact("the form[1m, 50%20 of them and farm"),
        "the form[1m, 50%20 of them and farm"
    );
}

const NAMES: [&str; 8] = [
    "password",
    "token",
    "api_key",
    "client_secret",
    "SECRET_KEY_BASE",
    "ENCRYPTION_KEY",
    "DB_PASS",
    "accessToken",
];

/// `NAME` and `VALUE` are replaced.
const FORMS: [&str; 13] = [
    "NAME=VALUE\n",
    "NAME: VALUE\n",
    "{\"NAME\": \"VALUE\", \"a\": 1}",
    "{\\\"NAME\\\":\\\"VALUE\\\"}",
    "NAME = 'VALUE'",
    "https://h/p?NAME=VALUE&x=1",
    "run --NAME VALUE x",
    "NAME := \"VALUE\")",
    "[\"--NAME\", \"VALUE\"]",
    "<NAME>VALUE</NAME>",
    "'NAME' => 'VALUE',",
    "- **NAME:** VALUE",
    "- **NAME**: `VALUE`",
];

#[test]
fn nearly_every_random_value_of_an_ordinary_name_is_redacted() {
    const DRAWS: usize = 2000;
    let alphabets = [
        ("hex", "0123456789abcdef".to_owned()),
        ("base32", format!("{UPPER}234567")),
        ("base64", [UPPER, LOWER, DIGITS, "+/"].concat()),
        ("base64 of addresses", [UPPER, LOWER, DIGITS, "-_"].concat()),
        ("base62", [UPPER, LOWER, DIGITS].concat()),
        ("lower case and digits", [LOWER, DIGITS].concat()),
    ];
    let mut draw = Draw::new();
    for (kind, alphabet) in &alphabets {
        for form in FORMS {
            let mut left = Vec::new();
            for number in 0..DRAWS {
                let length = 20 + draw.below(45);
                let value = draw.text(alphabet.as_bytes(), length);
                let name = NAMES[number % NAMES.len()];
                let text = form.replace("NAME", name).replace("VALUE", &value);
                if redact(&text).contains(&value) {
                    left.push(text);
                }
            }
            assert!(
                left.len() * 100 <= DRAWS,
                "{kind}, seed {}: {} are left, as {:?}",
                draw.seed,
                left.len(),
                left[0]
            );
        }
    }
}

/// As password managers generate them. Some have no digit, or look too much like code.
#[test]
fn most_generated_passwords_with_punctuation_are_redacted() {
    const DRAWS: usize = 2000;
    let alphabet = [UPPER, LOWER, DIGITS, "!@#$%^*()_+-=?:"].concat();
    let mut draw = Draw::new();
    for form in
        ["DB_PASSWORD=VALUE\n", "password: VALUE\n", "PGPASSWORD=VALUE psql", "--password VALUE"]
    {
        let left = (0..DRAWS).filter(|_| {
            let length = 16 + draw.below(9);
            let value = draw.text(alphabet.as_bytes(), length);
            redact(&form.replace("VALUE", &value)).contains(&value)
        });
        let left = left.count();
        assert!(left * 100 <= DRAWS * 15, "{form:?}, seed {}: {left} are left", draw.seed);
    }
}

/// This repository's own prose and code, except for tests and rules, which contain secrets.
#[test]
fn the_repositorys_own_text_is_kept() {
    const WITH_SECRETS: [&str; 2] = ["server/storage/src/redact/", "server/src/judge/foreign.rs"];
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let mut files = Vec::new();
    texts(root, &mut files);
    assert!(files.len() > 200, "{} files", files.len());
    let mut taken = Vec::new();
    for path in files {
        let name = path.strip_prefix(root).unwrap().display().to_string();
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let is_plain = !WITH_SECRETS.iter().any(|known| name.starts_with(known));
        if is_plain && redact_counting(&text).1 > 0 {
            let left = redact(&text).into_owned();
            let line = text.lines().zip(left.lines()).find(|(before, after)| before != after);
            taken.push(format!("{name}: {line:?}"));
        }
    }
    assert_eq!(taken, Vec::<String>::new());
}

fn texts(folder: &Path, found: &mut Vec<PathBuf>) {
    const SOURCES: [&str; 8] = ["rs", "md", "toml", "json", "ts", "lua", "jsonl", "lock"];
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (path, name) = (entry.path(), entry.file_name());
        let is_source =
            !["target", "node_modules", ".git", "tests"].iter().any(|skip| name == *skip);
        if path.is_dir() {
            if is_source {
                texts(&path, found);
            }
        } else if name != "tests.rs"
            && path.extension().is_some_and(|ending| SOURCES.iter().any(|known| ending == *known))
        {
            found.push(path);
        }
    }
}

/// Text that looks random and is not a secret.
#[test]
fn hashes_identifiers_paths_and_images_are_kept() {
    let mut draw = Draw::new();
    for _ in 0..1000 {
        let hex = draw.text(b"0123456789abcdef", 64);
        let base64 = draw.text([UPPER, LOWER, DIGITS, "+/"].concat().as_bytes(), 64);
        for text in [
            format!("commit {}", &hex[..40]),
            format!("checksum = \"{hex}\""),
            format!(
                "id: {}-{}-{}-{}-{}",
                &hex[..8],
                &hex[8..12],
                &hex[12..16],
                &hex[16..20],
                &hex[20..32]
            ),
            format!("\"integrity\": \"sha512-{base64}==\""),
            format!("image@sha256:{hex}"),
            format!("/nix/store/{}-token-1.0/bin", &hex[..32]),
            format!("<img src=\"data:image/png;base64,{base64}\">"),
            format!("etag: W/\"{}\"", &hex[..32]),
        ] {
            assert_eq!(redact(&text), text, "seed {}", draw.seed);
        }
    }
}
