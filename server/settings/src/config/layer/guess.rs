//! What names and tables that cannot be read were probably meant for. It only ever makes rawr stricter.

use super::{LayerReader, SettingValue, models, replacement};
use crate::config::keys::ConfigKey;
use crate::config::models::ModelPattern;
use crate::config::table::{is_table, key, keys, names_in, tables};
use crate::problem::written::{SpannedName, WrittenKind, WrittenValue, nearest};
use std::ops::Range;
use std::rc::Rc;

/// Names that people give to the switch for all of rawr.
const SWITCHES: [&str; 5] =
    ["auto_compaction", "enable", "enabled", "rawr", "rawr_auto_compaction"];

impl LayerReader<'_> {
    /// No key of this table can be read.
    pub(super) fn unread(&mut self, table: &str, span: Option<&Range<usize>>) {
        let below = |key: &&'static ConfigKey| {
            key.path.strip_prefix(table).is_some_and(|rest| rest.starts_with('.'))
        };
        for key in keys().filter(below) {
            if self.may_set(key.path) {
                self.add(key, &SettingValue::Unread, span);
            }
        }
    }

    /// Takes an unknown name for what was probably meant by it, in its own table or else anywhere.
    pub(super) fn guess(&mut self, path: &str, name: &SpannedName, written: &WrittenValue) {
        // A client's settings may have whole paths as names.
        if let Some((table, last)) = name.text.rsplit_once('.').filter(|_| path.is_empty()) {
            let path = if is_table(table) { table } else { "" };
            let name = SpannedName { text: last.to_owned(), span: name.span.clone() };
            return self.guess(path, &name, written);
        }
        let in_table = |name: &str| match path {
            "" => name.to_owned(),
            path => format!("{path}.{name}"),
        };
        let meant = replacement(path, &name.text);
        let meant = meant.or_else(|| self.nearest(&name.text, names_in(path)));
        let here = [Some(in_table(&name.text)), meant.map(in_table)].into_iter().flatten();
        match &written.what {
            WrittenKind::Table(entries) => self.guess_table(path, name, here, entries),
            _ => self.guess_key(name, here, written),
        }
    }

    fn guess_table(
        &mut self,
        path: &str,
        name: &SpannedName,
        here: impl Iterator<Item = String>,
        entries: &[(SpannedName, WrittenValue)],
    ) {
        let is_named =
            |table: &str| table.strip_suffix(&name.text).is_some_and(|rest| rest.ends_with('.'));
        let of_name = tables().map(|table| table.path.to_owned()).find(|table| is_named(table));
        let known = here.filter(|path| is_table(path)).chain(of_name).next();
        let outer = self.model.clone();
        // The name of a model with a dot, without quotes.
        let dotted = outer.as_ref().filter(|_| known.is_none() && path == models::OURS);
        let dotted = dotted.map(|pattern| format!("{}.{}", pattern.text(), name.text));
        let inner = match &dotted {
            Some(_) => models::OURS.to_owned(),
            None => known.unwrap_or_default(),
        };
        if let Some(dotted) = dotted {
            self.model = Some(Rc::new(ModelPattern::of(&dotted)));
        }
        for (name, written) in entries {
            if written.what != WrittenKind::Nothing {
                self.guess(&inner, name, written);
            }
        }
        self.model = outer;
    }

    fn guess_key(
        &mut self,
        name: &SpannedName,
        mut here: impl Iterator<Item = String>,
        written: &WrittenValue,
    ) {
        let named = |name: &str| keys().filter(|key| key.name() == name).collect::<Vec<_>>();
        let mut candidates =
            here.find_map(|path| key(&path)).map_or_else(|| named(&name.text), |key| vec![key]);
        if candidates.is_empty() {
            let known = keys().map(ConfigKey::name);
            candidates = self.nearest(&name.text, known).map(named).unwrap_or_default();
        }
        if SWITCHES.contains(&name.text.as_str()) {
            candidates.extend(key("features.rawr_auto_compaction"));
        }
        candidates.retain(|key| self.may_set(key.path));
        for key in candidates {
            let reported = self.reader.problems.len();
            let value = self.value(key, written);
            self.reader.problems.truncate(reported);
            let value = value.map_or(SettingValue::Unread, SettingValue::Probably);
            self.add(key, &value, written.span.as_ref());
        }
    }

    /// A text with many unknown names does not have them from typos, and comparing is slow.
    fn nearest(
        &mut self,
        name: &str,
        known: impl IntoIterator<Item = &'static str>,
    ) -> Option<&'static str> {
        const MOST_GUESSED: usize = 100;
        self.guesses += 1;
        if self.guesses > MOST_GUESSED { None } else { nearest(name, known) }
    }
}
