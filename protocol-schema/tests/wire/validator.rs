//! A validator for as much of JSON Schema draft-07 as our schema uses; a keyword that it does not know is an error.

use serde_json::Value;

/// Why the value does not fit, or nothing.
pub fn misfit(document: &Value, schema: &Value, value: &Value) -> Option<String> {
    let Some(rules) = schema.as_object() else {
        return (schema != &Value::Bool(true)).then(|| format!("{schema} allows nothing"));
    };
    rules.iter().find_map(|(keyword, rule)| broken(document, schema, keyword, rule, value))
}

fn broken(
    document: &Value,
    schema: &Value,
    keyword: &str,
    rule: &Value,
    value: &Value,
) -> Option<String> {
    let fits = |schema: &&Value| misfit(document, schema, value).is_none();
    let rules = || rule.as_array().into_iter().flatten();
    let ok = match keyword {
        "title" | "description" | "default" | "$schema" | "definitions" => true,
        "enum" => rules().any(|allowed| allowed == value),
        "minLength" => value.as_str().map(|text| text.chars().count() as u64) >= rule.as_u64(),
        // Patterns are of whole texts of one of a few letters; that much is checked where a text is read.
        "pattern" => value.is_string(),
        "$ref" => {
            let target = rule.as_str().and_then(|to| document.pointer(to.strip_prefix('#')?));
            return misfit(document, target.unwrap_or(&Value::Bool(false)), value);
        }
        "allOf" => return rules().find_map(|schema| misfit(document, schema, value)),
        "anyOf" => rules().any(|schema| fits(&schema)),
        "oneOf" => rules().filter(fits).count() == 1,
        "const" => rule == value,
        "type" => match rule.as_str() {
            Some("integer") => value.is_i64() || value.is_u64(),
            Some("string") => value.is_string(),
            Some("boolean") => value.is_boolean(),
            Some("object") => value.is_object(),
            Some("array") => value.is_array(),
            _ => false,
        },
        "minimum" => value.as_i64() >= rule.as_i64(),
        "maximum" => value.as_i64() <= rule.as_i64(),
        "required" => {
            rules().all(|name| name.as_str().is_some_and(|name| value.get(name).is_some()))
        }
        "minItems" => value.as_array().map(|list| list.len() as u64) >= rule.as_u64(),
        "maxItems" => value.as_array().map(|list| list.len() as u64) <= rule.as_u64(),
        "items" => return value.as_array()?.iter().find_map(|entry| misfit(document, rule, entry)),
        "properties" => {
            let fields = rule.as_object()?.iter();
            return fields
                .filter_map(|(name, schema)| Some((name, schema, value.get(name)?)))
                .find_map(|(name, schema, field)| {
                    Some(format!("{name}: {}", misfit(document, schema, field)?))
                });
        }
        "additionalProperties" => {
            let declared = |name: &String| schema["properties"].get(name).is_some();
            let others = value.as_object()?.iter().filter(|(name, _)| !declared(name));
            return others.into_iter().find_map(|(_, field)| misfit(document, rule, field));
        }
        unknown => return Some(format!("the validator does not know {unknown}")),
    };
    (!ok).then(|| format!("{value} breaks {keyword} {rule}"))
}
