//! Parses TOML into a tree with spans. Knows no keys.

use super::FileProblem;
use super::written::{SpannedName, WrittenKind, WrittenValue};
use serde_spanned::Spanned;
use std::ops::Range;
use toml::de::{DeTable, DeValue};

pub fn from_toml(text: &str) -> Result<WrittenValue, FileProblem> {
    match DeTable::parse(text) {
        Ok(table) => Ok(table_of(table.get_ref(), table.span())),
        Err(error) => Err(syntax(&error)),
    }
}

/// What can be read of a text with mistakes, for further problems to be found in it, and the mistakes.
/// A value that a mistake leaves open is empty or absent.
pub fn from_broken_toml(text: &str) -> (WrittenValue, Vec<FileProblem>) {
    let (table, errors) = DeTable::parse_recoverable(text);
    (table_of(table.get_ref(), table.span()), errors.iter().map(syntax).collect())
}

fn syntax(error: &toml::de::Error) -> FileProblem {
    FileProblem::error("syntax", error.message()).at(error.span())
}

fn table_of(table: &DeTable<'_>, span: Range<usize>) -> WrittenValue {
    let entry = |(name, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
        let text = String::from(AsRef::<str>::as_ref(name.get_ref()));
        (SpannedName { text, span: Some(name.span()) }, written(value))
    };
    WrittenValue { what: WrittenKind::Table(table.iter().map(entry).collect()), span: Some(span) }
}

fn written(value: &Spanned<DeValue<'_>>) -> WrittenValue {
    let what = match value.get_ref() {
        DeValue::String(text) => WrittenKind::Text(text.to_string()),
        DeValue::Integer(number) => i128::from_str_radix(number.as_str(), number.radix())
            .map_or(WrittenKind::Other("a number too large"), WrittenKind::Number),
        DeValue::Float(fraction) => {
            WrittenKind::Fraction(fraction.as_str().parse().unwrap_or(f64::NAN))
        }
        DeValue::Boolean(on) => WrittenKind::Switch(*on),
        DeValue::Datetime(_) => WrittenKind::Other("a date"),
        DeValue::Array(list) => WrittenKind::List(list.iter().map(written).collect()),
        DeValue::Table(table) => return table_of(table, value.span()),
    };
    WrittenValue { what, span: Some(value.span()) }
}
