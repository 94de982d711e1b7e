//! Parses one prompt file: front matter, text, placeholders. Returns a usable prompt and its problems; does not read
//! files. The only module that parses YAML.

use super::shipped;
use crate::problem::written::{SpannedName, ValueReader, WrittenKind, WrittenValue};
use crate::problem::{FileProblem, capped};
use rawr_core::boundary::{Boundaries, Boundary};
use rawr_core::policy::Tier;
use rawr_core::prompt::{Placeholder, PromptName, scan};
use rawr_core::rewrite::{BYTES_PER_TOKEN, estimate};
use rawr_core::units::Tokens;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The contents of a prompt file without the front matter.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedPrompt {
    /// The text, trimmed.
    pub text: String,
    /// The front matter as JSON, if there is any.
    pub front_matter: Option<Map<String, Value>>,
    /// The front matter of the packet request; empty for other prompts.
    pub packet: PacketFrontMatter,
    /// Problems that do not prevent its use.
    pub problems: Vec<FileProblem>,
}

/// The front matter of the packet request, which configures when to compact and the packets. The configuration's own
/// keys override it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PacketFrontMatter {
    /// The file, for messages.
    pub file: Option<PathBuf>,
    /// The span of each value, by its key.
    pub spans: BTreeMap<&'static str, Range<usize>>,
    /// The threshold of tier early, in percent.
    pub early: Option<u8>,
    /// The threshold of tier ready, in percent.
    pub ready: Option<u8>,
    /// The threshold of tier asap, in percent.
    pub asap: Option<u8>,
    /// The threshold of tier emergency, in percent.
    pub emergency: Option<u8>,
    /// One of these boundaries must be present.
    pub requires_any_boundary: Option<Boundaries>,
    /// How many characters of the agent's last message a packet by rawr quotes.
    pub max_tail_chars: Option<usize>,
    /// The keys whose values cannot be read.
    pub unread: BTreeSet<&'static str>,
    /// The file cannot be read and may hold other values than these.
    pub unreadable: bool,
}

impl PacketFrontMatter {
    /// The threshold of this tier, in percent.
    pub const fn threshold(&self, tier: Tier) -> Option<u8> {
        match tier {
            Tier::Early => self.early,
            Tier::Ready => self.ready,
            Tier::Asap => self.asap,
            Tier::Emergency => self.emergency,
        }
    }

    /// That of a file that cannot be used, where these are its last valid values.
    pub(super) fn of_unusable(self, source: Option<&str>, file: &Path) -> Self {
        let now = source.and_then(|source| Self::read(source, file));
        let (file, spans) = (Some(file.to_owned()), BTreeMap::new());
        // How much a packet quotes makes nothing stricter.
        let rules = |values: &Self| Self {
            file: None,
            spans: BTreeMap::new(),
            max_tail_chars: None,
            ..values.clone()
        };
        let unreadable = now.is_none_or(|now| rules(&now) != rules(&self));
        Self { file, spans, unreadable, ..self }
    }

    /// The front matter alone, whatever the text is.
    fn read(source: &str, file: &Path) -> Option<Self> {
        let mut packet = Self::default();
        let Some(yaml) = split(source).ok()?.front_matter else { return Some(packet) };
        let table = from_yaml(source, &yaml).ok()?;
        let mut reader = ValueReader { file: Some(file), problems: &mut Vec::new() };
        read_front_matter(PromptName::AutoCompact, &mut packet, &mut reader, "", &table);
        Some(packet)
    }
}

/// A key of the packet request's front matter.
#[derive(Debug, Clone, Copy)]
pub struct FrontMatterKey {
    /// The path, with dots.
    pub path: &'static str,
    /// What it means, as a fragment for users.
    pub doc: &'static str,
    read: fn(&mut PacketFrontMatter, &mut ValueReader<'_>, &WrittenValue),
}

macro_rules! threshold {
    ($path:expr, $field:ident) => {
        FrontMatterKey {
            path: $path,
            doc: concat!("percentage of the window below which ", stringify!($field), " starts"),
            read: |packet, reader, written| {
                let percent = reader.number($path, &(0..=100), written);
                packet.$field = percent.and_then(|percent| u8::try_from(percent).ok());
            },
        }
    };
}

/// Front matter of other prompts is ignored.
pub const FRONT_MATTER_KEYS: [FrontMatterKey; 7] = [
    FrontMatterKey {
        path: "version",
        doc: "of the format of the front matter; 0 and 1 are the same",
        read: |_, reader, written| {
            reader.number("version", &(0..=1), written);
        },
    },
    threshold!("trigger.early_percent_remaining_lt", early),
    threshold!("trigger.ready_percent_remaining_lt", ready),
    threshold!("trigger.asap_percent_remaining_lt", asap),
    threshold!("trigger.emergency_percent_remaining_lt", emergency),
    FrontMatterKey {
        path: "trigger.auto_requires_any_boundary",
        doc: "a list; one of these must be present, except in emergency",
        read: |packet, reader, written| {
            let names = Boundary::ALL.map(Boundary::name);
            let words = reader.words("trigger.auto_requires_any_boundary", &names, written);
            let list =
                |words: Vec<&str>| words.into_iter().filter_map(Boundary::from_name).collect();
            packet.requires_any_boundary = words.map(list);
        },
    },
    FrontMatterKey {
        path: "packet.max_tail_chars",
        doc: "how much of the agent's last message a packet built by rawr quotes",
        read: |packet, reader, written| {
            let chars = reader.number("packet.max_tail_chars", &(0..=100_000), written);
            packet.max_tail_chars = chars.and_then(|chars| usize::try_from(chars).ok());
        },
    },
];

/// `Err` with all problems if the file cannot be used.
pub fn parse(
    name: PromptName,
    source: &str,
    file: Option<&Path>,
) -> Result<ParsedPrompt, Vec<FileProblem>> {
    let mut problems = Vec::new();
    let mut reader = ValueReader { file, problems: &mut problems };
    let parts = match split(source) {
        Ok(parts) => parts,
        Err(problem) => {
            reader.report(problem);
            return Err(problems);
        }
    };
    let mut packet = PacketFrontMatter { file: file.map(Path::to_owned), ..Default::default() };
    let mut front_matter = None;
    if let Some(yaml) = parts.front_matter {
        match from_yaml(source, &yaml) {
            Err(problem) => reader.report(problem),
            Ok(table) => {
                read_front_matter(name, &mut packet, &mut reader, "", &table);
                front_matter = Some(as_json(&table));
            }
        }
    }
    let body = parts.body.start..parts.body.start + source[parts.body.clone()].trim_end().len();
    check_text(name, source, body.clone(), &mut reader);
    // An invalid value of front matter keeps the default. After any other error the prompt cannot be used.
    let usable = |problem: &FileProblem| {
        problem.severity != crate::problem::ProblemSeverity::Error
            || VALUE_ERRORS.contains(&problem.code)
    };
    let is_usable = problems.iter().all(usable);
    let problems = capped(problems);
    if is_usable {
        Ok(ParsedPrompt { text: source[body].to_owned(), front_matter, packet, problems })
    } else {
        Err(problems)
    }
}

const VALUE_ERRORS: [&str; 3] = ["wrong-type", "out-of-range", "unknown-value"];

struct PromptParts {
    front_matter: Option<Range<usize>>,
    body: Range<usize>,
}

/// Front matter is enclosed by a first line `---` and the next such line.
fn split(source: &str) -> Result<PromptParts, FileProblem> {
    let start = if source.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut lines = source[start..].split_inclusive('\n');
    let first = lines.next().unwrap_or_default();
    let mut body = start;
    let mut front_matter = None;
    if first.trim_end() == "---" {
        let yaml = start + first.len();
        let mut at = yaml;
        let end = lines.find_map(|line| {
            let begin = at;
            at += line.len();
            matches!(line.trim_end(), "---" | "...").then_some(begin)
        });
        let unclosed = || {
            FileProblem::error("front-matter", "the front matter is not closed")
                .at(start..start + 3)
                .help("close it with a line `---`".to_owned())
        };
        front_matter = Some(yaml..end.ok_or_else(unclosed)?);
        body = at;
    }
    let blank = source[body..].len() - source[body..].trim_start_matches(['\n', '\r']).len();
    Ok(PromptParts { front_matter, body: body + blank..source.len() })
}

fn read_front_matter(
    name: PromptName,
    packet: &mut PacketFrontMatter,
    reader: &mut ValueReader<'_>,
    path: &str,
    table: &[(SpannedName, WrittenValue)],
) {
    let keys: &[FrontMatterKey] =
        if name == PromptName::AutoCompact { &FRONT_MATTER_KEYS } else { &[] };
    for (key, written) in table.iter().filter(|(_, written)| written.what != WrittenKind::Nothing) {
        let full = if path.is_empty() { key.text.clone() } else { format!("{path}.{}", key.text) };
        let below = format!("{full}.");
        if let Some(known) = keys.iter().find(|known| known.path == full) {
            let problems = reader.problems.len();
            (known.read)(packet, reader, written);
            packet.unread.extend((reader.problems.len() > problems).then_some(known.path));
            packet.spans.extend(written.span.clone().map(|span| (known.path, span)));
        } else if keys.iter().any(|known| known.path.starts_with(&below)) {
            match reader.table(&full, written) {
                Some(table) => read_front_matter(name, packet, reader, &full, table),
                None => packet.unread.extend(
                    keys.iter().map(|known| known.path).filter(|path| path.starts_with(&below)),
                ),
            }
        } else {
            let names = keys.iter().flat_map(|known| known.path.split('.'));
            let place = format!("the front matter of {}", name.name());
            let meant = reader.meant(&key.text, names);
            let probably =
                |path: &&str| meant.is_some_and(|meant| path.split('.').any(|part| part == meant));
            packet.unread.extend(keys.iter().map(|known| known.path).filter(probably));
            reader.unknown_key(key, Some(&place), None, meant);
        }
    }
}

fn check_text(name: PromptName, source: &str, body: Range<usize>, reader: &mut ValueReader<'_>) {
    let text = &source[body.clone()];
    if text.trim().is_empty() {
        let help = "delete the file to use the shipped text".to_owned();
        reader
            .report(FileProblem::error("empty-prompt", "the prompt is empty").at(body).help(help));
        return;
    }
    let first_line = body.start..body.start + text.lines().next().unwrap_or_default().len();
    let mut used = Vec::new();
    for found in scan(text) {
        if let Some(placeholder) = declared(name, found.name) {
            used.push(*placeholder);
        } else {
            let names = name.placeholders().iter().map(|known| known.camel);
            let meant = reader.meant(found.name, names);
            let message = format!("unknown placeholder `{{{}}}` in {}", found.name, name.name());
            let span = body.start + found.span.start..body.start + found.span.end;
            let problem = FileProblem::warning("unknown-placeholder", message).at(span);
            reader.report(problem.help(known_names(name)).meant(meant));
        }
    }
    let missing = || name.placeholders().iter().filter(|known| !used.contains(known));
    for needed in missing().filter(|known| known.required) {
        let message = format!("missing placeholder `{{{}}}`", needed.camel);
        let help = format!("it is replaced with {}", needed.meaning);
        let problem = FileProblem::error("missing-placeholder", message).at(first_line.clone());
        reader.report(problem.help(help));
    }
    let in_shipped = |known: &&Placeholder| {
        scan(shipped(name)).any(|found| declared(name, found.name) == Some(*known))
    };
    let wanted = |known: &&Placeholder| !known.required && !known.may_be_empty;
    let left_out: Vec<_> = missing().filter(wanted).filter(in_shipped).collect();
    if !left_out.is_empty() {
        let message = format!("the shipped text also uses {}", in_braces(left_out));
        reader.report(FileProblem::hint("unused-placeholder", message).at(first_line));
    }
    check_length(name, source, body, reader);
}

/// By the estimate that needs no tokenizer. Marks the part over the budget.
fn check_length(name: PromptName, source: &str, body: Range<usize>, reader: &mut ValueReader<'_>) {
    let (tokens, budget) = (estimate(&source[body.clone()]), name.token_budget());
    if tokens <= budget {
        return;
    }
    let limit = usize::try_from(budget).unwrap_or(usize::MAX).saturating_mul(BYTES_PER_TOKEN);
    let beyond = (body.start + limit..body.end).find(|at| source.is_char_boundary(*at));
    let message =
        format!("about {} tokens, but {budget} are enough for {}", Tokens(tokens), name.name());
    let problem = FileProblem::warning("over-budget", message).at(beyond.map(|at| at..body.end));
    reader.report(
        problem.help("shorten it: every token of it takes up the agent's context".to_owned()),
    );
}

fn in_braces<'p>(placeholders: impl IntoIterator<Item = &'p Placeholder>) -> String {
    let names = placeholders.into_iter().map(|known| format!("`{{{}}}`", known.camel));
    names.collect::<Vec<_>>().join(", ")
}

fn declared(name: PromptName, written: &str) -> Option<&'static Placeholder> {
    name.placeholders().iter().find(|known| known.camel == written || known.snake == written)
}

fn known_names(name: PromptName) -> String {
    match name.placeholders() {
        [] => "this prompt has no placeholders".to_owned(),
        known => format!("use one of {}", in_braces(known)),
    }
}

fn as_json(table: &[(SpannedName, WrittenValue)]) -> Map<String, Value> {
    table.iter().map(|(name, written)| (name.text.clone(), Value::from(written))).collect()
}

fn from_yaml(
    source: &str,
    yaml: &Range<usize>,
) -> Result<Vec<(SpannedName, WrittenValue)>, FileProblem> {
    let text = &source[yaml.clone()];
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    // A limit that no real front matter reaches, so that no file can keep the sidecar busy.
    let options = serde_saphyr::options! {
        with_snippet: false,
        // Two levels are enough. Each level takes stack space.
        budget: serde_saphyr::budget! { max_depth: 16 },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: 1000 },
    };
    let parsed: YamlValue =
        serde_saphyr::from_str_with_options(text, options).map_err(|error| {
            let span = error.location().map(|at| span_of(at).unwrap_or_else(|| in_chars(at, text)));
            // An error without a position is reported at the first line.
            let span = span.map_or(yaml.start - 1..yaml.start, |span| shifted(span, yaml.start));
            let message = error.render_with_formatter(&serde_saphyr::UserMessageFormatter);
            let message = message.split(" at line ").next().unwrap_or_default().to_owned();
            FileProblem::error("front-matter", message).at(span)
        })?;
    let mut written = parsed.0;
    shift(&mut written, yaml.start);
    widen(&mut written, &source[..yaml.end]);
    match written.what {
        WrittenKind::Table(table) => Ok(table),
        _ => Err(FileProblem::error(
            "front-matter",
            "the front matter is not a mapping of `key: value`",
        )
        .at(yaml.start..yaml.start + text.trim_end().len())),
    }
}

fn span_of(location: serde_saphyr::Location) -> Option<Range<usize>> {
    let start = usize::try_from(location.span().byte_offset()?).ok()?;
    let length = usize::try_from(location.span().byte_len().unwrap_or(0)).ok()?;
    Some(start..start + length)
}

/// For the few errors that report only characters.
fn in_chars(location: serde_saphyr::Location, text: &str) -> Range<usize> {
    let byte_of = |chars: u64| {
        let chars = usize::try_from(chars).unwrap_or(usize::MAX);
        text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at)
    };
    let span = location.span();
    byte_of(span.offset())..byte_of(span.offset() + span.len())
}

const fn shifted(span: Range<usize>, by: usize) -> Range<usize> {
    span.start + by..span.end + by
}

/// Shifts spans from the start of the front matter to the start of the file.
fn shift(written: &mut WrittenValue, by: usize) {
    let moved = |span: &mut Option<Range<usize>>| {
        *span = span.take().map(|span| shifted(span, by));
    };
    moved(&mut written.span);
    match &mut written.what {
        WrittenKind::List(list) => list.iter_mut().for_each(|entry| shift(entry, by)),
        WrittenKind::Table(table) => {
            for (name, value) in table {
                moved(&mut name.span);
                shift(value, by);
            }
        }
        _ => {}
    }
}

/// The parser reports only the first character of lists and mappings. Extends them to their last entry.
fn widen(written: &mut WrittenValue, source: &str) {
    let (last, closes) = match &mut written.what {
        WrittenKind::List(list) => {
            list.iter_mut().for_each(|entry| widen(entry, source));
            (list.last().and_then(|entry| entry.span.clone()), ']')
        }
        WrittenKind::Table(table) => {
            table.iter_mut().for_each(|(_, value)| widen(value, source));
            (table.last().and_then(|(_, value)| value.span.clone()), '}')
        }
        _ => return,
    };
    if let (Some(span), Some(last)) = (&mut written.span, last) {
        span.end = span.end.max(last.end);
        let rest = source.get(span.end..).unwrap_or_default();
        let blank = rest.len() - rest.trim_start().len();
        if rest[blank..].starts_with(closes) {
            span.end += blank + 1;
        }
    }
}

/// A YAML value of any kind.
struct YamlValue(WrittenValue);

impl<'de> Deserialize<'de> for YamlValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let what = deserializer.deserialize_any(KindVisitor)?;
        Ok(Self(WrittenValue { what, span: None }))
    }
}

struct KindVisitor;

impl<'de> Visitor<'de> for KindVisitor {
    type Value = WrittenKind;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, on: bool) -> Result<WrittenKind, E> {
        Ok(WrittenKind::Switch(on))
    }

    fn visit_i64<E>(self, number: i64) -> Result<WrittenKind, E> {
        Ok(WrittenKind::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<WrittenKind, E> {
        Ok(WrittenKind::Number(number.into()))
    }

    fn visit_f64<E>(self, fraction: f64) -> Result<WrittenKind, E> {
        Ok(WrittenKind::Fraction(fraction))
    }

    fn visit_str<E>(self, text: &str) -> Result<WrittenKind, E> {
        Ok(WrittenKind::Text(text.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<WrittenKind, E> {
        Ok(WrittenKind::Nothing)
    }

    fn visit_none<E>(self) -> Result<WrittenKind, E> {
        Ok(WrittenKind::Nothing)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<WrittenKind, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<WrittenKind, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = list.next_element::<serde_saphyr::Spanned<YamlValue>>()? {
            entries.push(with_span(entry));
        }
        Ok(WrittenKind::List(entries))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<WrittenKind, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = map.next_key::<serde_saphyr::Spanned<YamlValue>>()? {
            let key = with_span(key);
            let WrittenKind::Text(text) = key.what else {
                return Err(A::Error::custom("a key must be a string"));
            };
            let value = with_span(map.next_value::<serde_saphyr::Spanned<YamlValue>>()?);
            entries.push((SpannedName { text, span: key.span }, value));
        }
        Ok(WrittenKind::Table(entries))
    }
}

fn with_span(spanned: serde_saphyr::Spanned<YamlValue>) -> WrittenValue {
    WrittenValue { what: spanned.value.0.what, span: span_of(spanned.referenced) }
}
