//! The two APIs that a judge may speak: what a question looks like and where the answer is in a reply. It must not
//! send anything, nor know what an answer says.

use super::answer::SCHEMA_NAME;
use super::foreign::Foreign;
use super::{JudgeError, JudgeUsage, Question};
use crate::redact::redact;
use rawr_core::judgment::OUTPUT_SCHEMA;
use rawr_core::policy::JudgeBackend;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wire {
    Responses,
    Chat,
}

/// What the model said, before anybody reads it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Spoken {
    pub text: String,
    pub usage: Option<JudgeUsage>,
}

impl Wire {
    pub(super) const fn of(backend: JudgeBackend) -> Option<Self> {
        match backend {
            JudgeBackend::Responses => Some(Self::Responses),
            JudgeBackend::Chat => Some(Self::Chat),
            JudgeBackend::Auto
            | JudgeBackend::Host
            | JudgeBackend::Heuristic
            | JudgeBackend::Off => None,
        }
    }

    /// Below the base address.
    pub(super) const fn path(self) -> &'static [&'static str] {
        match self {
            Self::Responses => &["responses"],
            Self::Chat => &["chat", "completions"],
        }
    }

    pub(super) fn body(self, model: &str, effort: Option<&str>, question: &Question) -> Value {
        let (instructions, context) = (redact(&question.instructions), redact(&question.context));
        let schema = &*OUTPUT_SCHEMA;
        let (mut body, effort) = match self {
            Self::Responses => {
                let said = json!({"type": "input_text", "text": context});
                let format = json!({
                    "type": "json_schema", "name": SCHEMA_NAME, "strict": true, "schema": schema,
                });
                let body = json!({
                    "model": model,
                    "instructions": instructions,
                    "input": [{"role": "user", "content": [said]}],
                    "text": {"format": format},
                    "store": false,
                });
                (body, effort.map(|effort| ("reasoning", json!({"effort": effort}))))
            }
            Self::Chat => {
                let format = json!({"name": SCHEMA_NAME, "strict": true, "schema": schema});
                let body = json!({
                    "model": model,
                    "messages": [
                        {"role": "system", "content": instructions},
                        {"role": "user", "content": context},
                    ],
                    "response_format": {"type": "json_schema", "json_schema": format},
                });
                (body, effort.map(|effort| ("reasoning_effort", json!(effort))))
            }
        };
        if let Some((name, value)) = effort {
            body[name] = value;
        }
        body
    }

    pub(super) fn read(self, body: &str, foreign: Foreign<'_>) -> Result<Spoken, JudgeError> {
        match self {
            Self::Responses => decode::<ResponsesReply>(body, foreign)?.spoken(foreign),
            Self::Chat => decode::<ChatReply>(body, foreign)?.spoken(foreign),
        }
    }
}

fn decode<'b, T: Deserialize<'b>>(body: &'b str, foreign: Foreign<'_>) -> Result<T, JudgeError> {
    serde_json::from_str(body)
        .map_err(|error| JudgeError::NotOfTheApi { detail: foreign.told(&error.to_string()) })
}

fn not_of_the_api<T>(detail: &str) -> Result<T, JudgeError> {
    Err(JudgeError::NotOfTheApi { detail: detail.to_owned() })
}

/// An endpoint's word for what went wrong, and its sentence. Some wrap it, some do not, some send a page.
pub(super) fn complaint(body: &str, foreign: Foreign<'_>) -> (Option<String>, String) {
    let Ok(value) = serde_json::from_str::<Value>(body) else {
        return (None, foreign.told(body));
    };
    let error = value.get("error").unwrap_or(&value);
    let text = |value: &Value| value.as_str().map(|text| foreign.told(text));
    let code = error.get("code").and_then(text).or_else(|| error.get("type").and_then(text));
    let message = error.get("message").and_then(text).or_else(|| text(error));
    (code, message.unwrap_or_else(|| foreign.told(body)))
}

/// Gateways answer 200 to tell of an error, too.
fn failed(error: &Value, foreign: Foreign<'_>) -> JudgeError {
    JudgeError::Failed { message: complaint(&error.to_string(), foreign).1 }
}

/// A count that cannot be read makes no judgment worthless.
fn usage(usage: Option<&Value>) -> Option<JudgeUsage> {
    let count = |names: [&str; 2]| names.iter().find_map(|name| usage?.get(name)?.as_u64());
    let input = count(["input_tokens", "prompt_tokens"])?;
    Some(JudgeUsage { input, output: count(["output_tokens", "completion_tokens"])? })
}

#[derive(Deserialize)]
struct ResponsesReply {
    status: Option<String>,
    error: Option<Value>,
    incomplete_details: Option<Incomplete>,
    output: Option<Vec<Item>>,
    usage: Option<Value>,
}

#[derive(Deserialize)]
struct Incomplete {
    reason: Option<String>,
}

#[derive(Deserialize)]
struct Item {
    #[serde(rename = "type")]
    kind: String,
    content: Option<Vec<Part>>,
}

#[derive(Deserialize)]
struct Part {
    text: Option<String>,
    refusal: Option<String>,
}

impl ResponsesReply {
    fn spoken(self, foreign: Foreign<'_>) -> Result<Spoken, JudgeError> {
        if let Some(error) = &self.error {
            return Err(failed(error, foreign));
        }
        let Some(output) = self.output else { return not_of_the_api("there is no `output`") };
        if let Some(status) = self.status.filter(|status| status != "completed") {
            let reason = self.incomplete_details.and_then(|details| details.reason);
            return Err(JudgeError::Unfinished { reason: foreign.told(&reason.unwrap_or(status)) });
        }
        // Reasoning is an item of its own and no part of the answer.
        let said = output.into_iter().filter(|item| item.kind == "message");
        let mut text = String::new();
        for part in said.flat_map(|item| item.content.unwrap_or_default()) {
            if let Some(refusal) = part.refusal {
                return Err(JudgeError::Refused { text: foreign.told(&refusal) });
            }
            text.push_str(&part.text.unwrap_or_default());
        }
        Ok(Spoken { text, usage: usage(self.usage.as_ref()) })
    }
}

#[derive(Deserialize)]
struct ChatReply {
    error: Option<Value>,
    choices: Option<Vec<Choice>>,
    usage: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    content: Option<String>,
    refusal: Option<String>,
}

impl ChatReply {
    fn spoken(self, foreign: Foreign<'_>) -> Result<Spoken, JudgeError> {
        if let Some(error) = &self.error {
            return Err(failed(error, foreign));
        }
        let Some(choices) = self.choices else { return not_of_the_api("there are no `choices`") };
        let choice = choices.into_iter().next().ok_or(JudgeError::Empty)?;
        // Some endpoints send an empty refusal along with every answer.
        if let Some(refusal) = choice.message.refusal.filter(|refusal| !refusal.is_empty()) {
            return Err(JudgeError::Refused { text: foreign.told(&refusal) });
        }
        if let Some(reason) = choice.finish_reason.filter(|reason| reason != "stop") {
            return Err(JudgeError::Unfinished { reason: foreign.told(&reason) });
        }
        let content = choice.message.content.unwrap_or_default();
        Ok(Spoken { text: unfenced(&content).to_owned(), usage: usage(self.usage.as_ref()) })
    }
}

/// Endpoints that pass over the schema get JSON in a Markdown fence from many models. Prose around it is not undone.
fn unfenced(text: &str) -> &str {
    let inside = || {
        let rest = text.trim().strip_prefix("```")?.strip_suffix("```")?;
        rest.strip_prefix("json").unwrap_or(rest).strip_prefix(['\n', '\r', ' '])
    };
    inside().unwrap_or(text)
}
