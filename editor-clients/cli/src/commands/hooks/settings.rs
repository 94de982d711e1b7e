//! Adds rawr's hooks to an agent's settings, or removes them. Pure. All other settings keep their text and order.

use std::fmt;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::args::HookHost;

/// A hook to install.
#[derive(Debug, Clone)]
pub(super) struct WantedHook {
    pub(super) event: &'static str,
    /// The matcher of the event; all if absent.
    pub(super) matcher: Option<&'static str>,
    pub(super) command: String,
    /// The timeout in seconds.
    pub(super) timeout: u64,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum SettingsProblem {
    #[error("invalid JSON: {0}; fix it and retry")]
    NotJson(#[from] serde_json::Error),
    #[error("comment on line {line}, which JSON does not allow; remove it and retry")]
    Comment { line: usize },
    #[error("file starts with a byte order mark; save it as UTF-8 without one and retry")]
    ByteOrderMark,
    #[error("duplicate key `{key}`; merge the two and retry")]
    Twice { key: String },
    #[error("`{what}` does not have the format that the agent expects; fix it and retry")]
    OddShape { what: String },
}

/// Adds the hooks. `None` if they are already there.
pub(super) fn install(
    text: Option<&str>,
    host: HookHost,
    wanted: &[WantedHook],
) -> Result<Option<String>, SettingsProblem> {
    edit(text, host, wanted)
}

/// Removes the hooks. `None` if there are none.
pub(super) fn uninstall(
    text: Option<&str>,
    host: HookHost,
) -> Result<Option<String>, SettingsProblem> {
    edit(text, host, &[])
}

/// The options with which rawr's hooks in a file were installed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct InstalledHooks {
    /// The programs, without duplicates. There may be several after an upgrade.
    pub(crate) programs: Vec<String>,
    pub(crate) context_window: Option<u64>,
}

/// Finds the hooks. `None` if there are none.
pub(super) fn installed(
    text: Option<&str>,
    host: HookHost,
) -> Result<Option<InstalledHooks>, SettingsProblem> {
    let (_, hooks) = read(text)?;
    let mut installed = None;
    for (event, groups) in &hooks.0 {
        let groups: Vec<Value> = shaped(groups.get(), &format!("hooks.{event}"))?;
        let hooks = groups.iter().filter_map(|group| group[HOOKS].as_array()).flatten();
        let commands = hooks.filter_map(|hook| hook["command"].as_str());
        for words in commands.filter_map(|command| ours(command, host)) {
            let told = words.windows(2).find(|pair| pair[0] == WINDOW);
            let context_window = told.and_then(|pair| pair[1].parse().ok());
            let installed =
                installed.get_or_insert(InstalledHooks { programs: Vec::new(), context_window });
            if !installed.programs.contains(&words[0]) {
                installed.programs.push(words[0].clone());
            }
        }
    }
    Ok(installed)
}

/// Parses the settings and their hooks.
fn read(text: Option<&str>) -> Result<(OrderedTable, OrderedTable), SettingsProblem> {
    let text = text.filter(|text| !text.trim().is_empty()).unwrap_or("{}");
    if text.starts_with('\u{feff}') {
        return Err(SettingsProblem::ByteOrderMark);
    }
    if let Err(error) = serde_json::from_str::<IgnoredAny>(text) {
        return Err(not_json(text, error));
    }
    let settings: OrderedTable = shaped(text, "{}")?;
    let hooks = match settings.only(HOOKS, HOOKS)? {
        Some(hooks) => shaped(hooks.get(), HOOKS)?,
        None => OrderedTable::default(),
    };
    for (event, _) in &hooks.0 {
        hooks.only(event, &format!("{HOOKS}.{event}"))?;
    }
    Ok((settings, hooks))
}

fn not_json(text: &str, error: serde_json::Error) -> SettingsProblem {
    let line = text.lines().nth(error.line().saturating_sub(1)).unwrap_or_default();
    let at = line.get(error.column().saturating_sub(1)..).unwrap_or_default();
    match ["//", "/*"].iter().any(|comment| at.starts_with(comment)) {
        true => SettingsProblem::Comment { line: error.line() },
        false => SettingsProblem::NotJson(error),
    }
}

const HOOKS: &str = "hooks";

/// The option with the context window in tokens.
pub(super) const WINDOW: &str = "--context-window";

fn edit(
    text: Option<&str>,
    host: HookHost,
    wanted: &[WantedHook],
) -> Result<Option<String>, SettingsProblem> {
    let (mut settings, mut hooks) = read(text)?;
    let before: Value = serde_json::from_str(&settings.printed(0))?;
    let was_empty = settings.get(HOOKS).is_some() && hooks.0.is_empty();
    let mut events: Vec<String> = hooks.0.iter().map(|(event, _)| event.clone()).collect();
    let new = wanted.iter().map(|wanted| wanted.event.to_owned());
    events.extend(new.filter(|event| hooks.get(event).is_none()));
    for event in events {
        let wanted: Vec<_> = wanted.iter().filter(|wanted| wanted.event == event).collect();
        let groups = groups(hooks.get(&event), &event, host, &wanted)?;
        hooks.set(&event, groups)?;
    }
    let stays = was_empty || !hooks.0.is_empty();
    settings.set(HOOKS, stays.then(|| hooks.printed(2)))?;
    let after = settings.printed(0) + "\n";
    let same = serde_json::from_str::<Value>(&after)? == before;
    Ok((!same).then_some(after))
}

/// The groups of one event: those of others, and the hooks to install. `None` if there are none.
fn groups(
    before: Option<&RawValue>,
    event: &str,
    host: HookHost,
    wanted: &[&WantedHook],
) -> Result<Option<String>, SettingsProblem> {
    let mut wanted: Vec<_> = wanted.iter().map(|wanted| wanted.group()).collect();
    let mut groups = Vec::new();
    let what = format!("hooks.{event}");
    let all: Vec<Box<RawValue>> = before.map_or(Ok(Vec::new()), |raw| shaped(raw.get(), &what))?;
    for raw in &all {
        let mut group: Value = serde_json::from_str(raw.get())?;
        if let Some(at) = wanted.iter().position(|wanted| *wanted == group) {
            wanted.remove(at);
            groups.push(raw.get().to_owned());
        } else if take_out(&mut group, host) {
            let is_left = group[HOOKS].as_array().is_some_and(|hooks| !hooks.is_empty());
            groups.extend(is_left.then(|| pretty(&group)).transpose()?);
        } else {
            groups.push(raw.get().to_owned());
        }
    }
    for wanted in wanted {
        groups.push(pretty(&wanted)?);
    }
    if groups.iter().map(String::as_str).eq(all.iter().map(|raw| raw.get())) {
        return Ok(before.map(|raw| raw.get().to_owned()));
    }
    let is_left = !groups.is_empty();
    Ok(is_left.then(|| format!("[\n      {}\n    ]", groups.join(",\n      "))))
}

/// Indents a text by three levels.
fn pretty(group: &Value) -> Result<String, SettingsProblem> {
    Ok(serde_json::to_string_pretty(group)?.replace('\n', "\n      "))
}

/// Whether there were hooks of rawr.
fn take_out(group: &mut Value, host: HookHost) -> bool {
    let Some(hooks) = group.get_mut(HOOKS).and_then(Value::as_array_mut) else { return false };
    let before = hooks.len();
    let is_ours =
        |hook: &Value| hook["command"].as_str().is_some_and(|it| ours(it, host).is_some());
    hooks.retain(|hook| !is_ours(hook));
    hooks.len() < before
}

/// Parses a command that `rawr hooks install` wrote: `PROGRAM [--home DIR] hook EVENT --host HOST …`. The program may have any
/// path and name.
pub(super) fn ours(command: &str, host: HookHost) -> Option<Vec<String>> {
    let words = shlex::split(command)?;
    let rest = match words.get(1..)? {
        [flag, _, rest @ ..] if flag == "--home" => rest,
        rest => rest,
    };
    let is_ours = matches!(
        rest,
        [hook, _, flag, name, ..] if hook == "hook" && flag == "--host" && name == host.name()
    );
    is_ours.then_some(words)
}

impl WantedHook {
    fn group(&self) -> Value {
        let hook = json!({"type": "command", "command": self.command, "timeout": self.timeout});
        let mut group = json!({ "hooks": [hook] });
        if let Some(matcher) = self.matcher {
            group["matcher"] = matcher.into();
        }
        group
    }
}

/// Parses a value whose syntax was checked before.
fn shaped<'t, T: Deserialize<'t>>(text: &'t str, what: &str) -> Result<T, SettingsProblem> {
    serde_json::from_str(text).map_err(|_| SettingsProblem::OddShape { what: what.to_owned() })
}

/// An object that keeps the order of its keys and the text of its values.
#[derive(Debug, Default)]
struct OrderedTable(Vec<(String, Box<RawValue>)>);

impl OrderedTable {
    fn get(&self, key: &str) -> Option<&RawValue> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| &**value)
    }

    /// The value of a key. Fails if the key is duplicated.
    fn only(&self, key: &str, what: &str) -> Result<Option<&RawValue>, SettingsProblem> {
        match self.0.iter().filter(|(name, _)| name == key).count() {
            0 | 1 => Ok(self.get(key)),
            _ => Err(SettingsProblem::Twice { key: what.to_owned() }),
        }
    }

    fn set(&mut self, key: &str, value: Option<String>) -> Result<(), SettingsProblem> {
        let at = self.0.iter().position(|(name, _)| name == key);
        match (at, value) {
            (Some(at), None) => drop(self.0.remove(at)),
            (Some(at), Some(value)) => self.0[at].1 = RawValue::from_string(value)?,
            (None, Some(value)) => {
                self.0.push((key.to_owned(), RawValue::from_string(value)?));
            }
            (None, None) => {}
        }
        Ok(())
    }

    fn printed(&self, indent: usize) -> String {
        if self.0.is_empty() {
            return "{}".to_owned();
        }
        let (outer, inner) = (" ".repeat(indent), " ".repeat(indent + 2));
        let entry = |(key, value): &(String, Box<RawValue>)| {
            format!("{inner}{}: {}", Value::from(key.as_str()), value.get())
        };
        let entries: Vec<_> = self.0.iter().map(entry).collect();
        format!("{{\n{}\n{outer}}}", entries.join(",\n"))
    }
}

impl<'de> Deserialize<'de> for OrderedTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TableVisitor;
        impl<'de> Visitor<'de> for TableVisitor {
            type Value = OrderedTable;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OrderedTable, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(OrderedTable(entries))
            }
        }
        deserializer.deserialize_map(TableVisitor)
    }
}

#[cfg(test)]
mod tests;
