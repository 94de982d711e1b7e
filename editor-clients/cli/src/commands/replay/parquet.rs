//! Writes the rows of turns as a Parquet file, with the columns and types of their schema.

use std::io::Write;
use std::sync::Arc;

use anyhow::Context;
use parquet::basic::{LogicalType, Repetition, Type as PhysicalType};
use parquet::column::writer::{ColumnWriter, ColumnWriterImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use rawr_protocol::{ReplayTurnRow, TURN_ROW_SCHEMA};
use serde_json::{Map, Value};

/// Rows of a group, which is held in memory until it is written.
const GROUP: usize = 50_000;

/// Writes the rows.
pub(super) fn write(
    to: impl Write + Send,
    mut rows: impl Iterator<Item = ReplayTurnRow>,
) -> anyhow::Result<()> {
    let columns = columns().context("the schema of rows is not flat")?;
    let fields = columns.iter().map(Column::field).collect::<Result<_, _>>()?;
    let schema = Type::group_type_builder("turn").with_fields(fields).build()?;
    let properties = Arc::new(WriterProperties::builder().build());
    let mut file = SerializedFileWriter::new(to, Arc::new(schema), properties)?;
    loop {
        let group = rows.by_ref().take(GROUP).map(serde_json::to_value);
        let group: Vec<_> = group.collect::<Result<_, _>>()?;
        if group.is_empty() {
            break;
        }
        let mut written = file.next_row_group()?;
        for column in &columns {
            let mut writer = written.next_column()?.context("a column has no writer")?;
            let values = group.iter().map(|row| row.get(&column.name).unwrap_or(&Value::Null));
            column.write(writer.untyped(), values)?;
            writer.close()?;
        }
        written.close()?;
    }
    file.close()?;
    Ok(())
}

struct Column {
    name: String,
    kind: PhysicalType,
    is_optional: bool,
}

/// `None` if the schema has anything else than integers, texts, true and false.
fn columns() -> Option<Vec<Column>> {
    let schema: Map<String, Value> = serde_json::from_str(TURN_ROW_SCHEMA).ok()?;
    let column = |(name, about): (&String, &Value)| {
        // `"integer"`, or `["integer", "null"]`.
        let types = about.get("type")?;
        let is_optional = types.is_array();
        let kind = match types.get(0).unwrap_or(types).as_str()? {
            "integer" => PhysicalType::INT64,
            "string" => PhysicalType::BYTE_ARRAY,
            "boolean" => PhysicalType::BOOLEAN,
            _ => return None,
        };
        Some(Column { name: name.clone(), kind, is_optional })
    };
    schema.get("properties")?.as_object()?.iter().map(column).collect()
}

impl Column {
    fn field(&self) -> Result<Arc<Type>, ParquetError> {
        let repetition = if self.is_optional { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let text = (self.kind == PhysicalType::BYTE_ARRAY).then_some(LogicalType::String);
        Type::primitive_type_builder(&self.name, self.kind)
            .with_repetition(repetition)
            .with_logical_type(text)
            .build()
            .map(Arc::new)
    }

    fn write<'v>(
        &self,
        writer: &mut ColumnWriter<'_>,
        values: impl Iterator<Item = &'v Value> + Clone,
    ) -> anyhow::Result<()> {
        let levels: Vec<_> = values.clone().map(|value| i16::from(!value.is_null())).collect();
        let levels = self.is_optional.then_some(levels.as_slice());
        let present = values.filter(|value| !value.is_null());
        match writer {
            ColumnWriter::Int64ColumnWriter(typed) => {
                write_batch(typed, present.map(Value::as_i64), levels)
            }
            ColumnWriter::BoolColumnWriter(typed) => {
                write_batch(typed, present.map(Value::as_bool), levels)
            }
            ColumnWriter::ByteArrayColumnWriter(typed) => {
                write_batch(typed, present.map(|value| value.as_str().map(ByteArray::from)), levels)
            }
            _ => anyhow::bail!("the column `{}` has no type", self.name),
        }
    }
}

fn write_batch<T: DataType>(
    writer: &mut ColumnWriterImpl<'_, T>,
    values: impl Iterator<Item = Option<T::T>>,
    levels: Option<&[i16]>,
) -> anyhow::Result<()> {
    let values: Option<Vec<_>> = values.collect();
    let values = values.context("a value is not of its column's type")?;
    writer.write_batch(&values, levels, None)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;
    use serde_json::json;

    use super::*;

    fn row(turn: u32, dropped: Option<&str>, tokens: Option<u64>) -> ReplayTurnRow {
        let schema: Value = serde_json::from_str(TURN_ROW_SCHEMA).unwrap();
        let properties = schema["properties"].as_object().unwrap();
        let plain = |about: &Value| match about["type"].get(0).unwrap_or(&about["type"]).as_str() {
            Some("integer") => json!(7),
            Some("boolean") => json!(true),
            _ => json!("é"),
        };
        let mut row: Map<_, _> =
            properties.iter().map(|(name, about)| (name.clone(), plain(about))).collect();
        row.insert("turn".to_owned(), json!(turn));
        row.insert("dropped".to_owned(), json!(dropped));
        row.insert("tokens".to_owned(), json!(tokens));
        serde_json::from_value(Value::Object(row)).unwrap()
    }

    fn cell((name, field): (&String, &Field)) -> (String, Value) {
        let value = match field {
            Field::Null => Value::Null,
            Field::Bool(value) => json!(value),
            Field::Long(value) => json!(value),
            Field::Str(value) => json!(value),
            other => panic!("{name} is {other}"),
        };
        (name.clone(), value)
    }

    fn written_and_read(rows: &[ReplayTurnRow]) -> Vec<Value> {
        let file = tempfile::tempfile().unwrap();
        write(&file, rows.iter().cloned()).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let rows = reader.get_row_iter(None).unwrap();
        rows.map(|row| row.unwrap().get_column_iter().map(cell).collect()).collect()
    }

    #[test]
    fn each_row_is_read_as_it_is_printed() {
        let rows = [row(1, None, Some(71_000)), row(2, Some("goes on"), None)];
        let printed: Vec<_> = rows.iter().map(|row| serde_json::to_value(row).unwrap()).collect();
        assert_eq!(written_and_read(&rows), printed);
    }

    #[test]
    fn more_rows_than_a_group_holds_and_none_are_written() {
        let rows = vec![row(1, None, None); GROUP + 1];
        assert_eq!(written_and_read(&rows).len(), GROUP + 1);
        assert!(written_and_read(&[]).is_empty());
    }
}
