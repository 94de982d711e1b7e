//! The two APIs of judges: how a request is written and where a reply holds the model's text. It must not send anything
//! or interpret the text.

use super::answer::SCHEMA_NAME;
use super::foreign::ForeignText;
use super::{EndpointUsage, JudgeError, JudgeQuestion};
use rawr_core::judgment::OUTPUT_SCHEMA;
use rawr_core::policy::JudgeBackend;
use rawr_storage::redact::redact;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JudgeApi {
    Responses,
    Chat,
}

/// The model's text, unparsed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ModelOutput {
    pub text: String,
    pub usage: Option<EndpointUsage>,
}

impl JudgeApi {
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

    /// The path below the base address.
    pub(super) const fn path(self) -> &'static [&'static str] {
        match self {
            Self::Responses => &["responses"],
            Self::Chat => &["chat", "completions"],
        }
    }

    pub(super) fn body(self, model: &str, effort: Option<&str>, question: &JudgeQuestion) -> Value {
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

    pub(super) fn read(
        self,
        body: &str,
        foreign: ForeignText<'_>,
    ) -> Result<ModelOutput, JudgeError> {
        match self {
            Self::Responses => decode::<ResponsesReply>(body, foreign)?.spoken(foreign),
            Self::Chat => decode::<ChatReply>(body, foreign)?.spoken(foreign),
        }
    }
}

fn decode<'b, T: Deserialize<'b>>(
    body: &'b str,
    foreign: ForeignText<'_>,
) -> Result<T, JudgeError> {
    serde_json::from_str(body)
        .map_err(|error| JudgeError::NotOfTheApi { detail: foreign.told(&error.to_string()) })
}

fn not_of_the_api<T>(detail: &str) -> Result<T, JudgeError> {
    Err(JudgeError::NotOfTheApi { detail: detail.to_owned() })
}

/// The endpoint's error code and message. Some endpoints wrap them, some do not, some send an HTML page.
pub(super) fn complaint(body: &str, foreign: ForeignText<'_>) -> (Option<String>, String) {
    let Ok(value) = serde_json::from_str::<Value>(body) else {
        return (None, foreign.told(body));
    };
    let error = value.get("error").unwrap_or(&value);
    let text = |value: &Value| value.as_str().map(|text| foreign.told(text));
    let code = error.get("code").and_then(text).or_else(|| error.get("type").and_then(text));
    let message = error.get("message").and_then(text).or_else(|| text(error));
    (code, message.unwrap_or_else(|| foreign.told(body)))
}

/// Some gateways report errors with status 200.
fn failed(error: &Value, foreign: ForeignText<'_>) -> JudgeError {
    JudgeError::Failed { message: complaint(&error.to_string(), foreign).1 }
}

/// A usage that cannot be parsed must not fail the judgment.
fn usage(usage: Option<&Value>) -> Option<EndpointUsage> {
    let count = |names: [&str; 2]| names.iter().find_map(|name| usage?.get(name)?.as_u64());
    let input = count(["input_tokens", "prompt_tokens"])?;
    Some(EndpointUsage { input, output: count(["output_tokens", "completion_tokens"])? })
}

#[derive(Deserialize)]
struct ResponsesReply {
    status: Option<String>,
    error: Option<Value>,
    incomplete_details: Option<IncompleteDetails>,
    output: Option<Vec<OutputItem>>,
    usage: Option<Value>,
}

#[derive(Deserialize)]
struct IncompleteDetails {
    reason: Option<String>,
}

#[derive(Deserialize)]
struct OutputItem {
    #[serde(rename = "type")]
    kind: String,
    content: Option<Vec<ContentPart>>,
}

#[derive(Deserialize)]
struct ContentPart {
    text: Option<String>,
    refusal: Option<String>,
}

impl ResponsesReply {
    fn spoken(self, foreign: ForeignText<'_>) -> Result<ModelOutput, JudgeError> {
        if let Some(error) = &self.error {
            return Err(failed(error, foreign));
        }
        let Some(output) = self.output else { return not_of_the_api("missing `output`") };
        if let Some(status) = self.status.filter(|status| status != "completed") {
            let reason = self.incomplete_details.and_then(|details| details.reason);
            return Err(JudgeError::Unfinished { reason: foreign.told(&reason.unwrap_or(status)) });
        }
        // Reasoning is a separate item and not part of the answer.
        let said = output.into_iter().filter(|item| item.kind == "message");
        let mut text = String::new();
        for part in said.flat_map(|item| item.content.unwrap_or_default()) {
            if let Some(refusal) = part.refusal {
                return Err(JudgeError::Refused { text: foreign.told(&refusal) });
            }
            text.push_str(&part.text.unwrap_or_default());
        }
        Ok(ModelOutput { text, usage: usage(self.usage.as_ref()) })
    }
}

#[derive(Deserialize)]
struct ChatReply {
    error: Option<Value>,
    choices: Option<Vec<JudgeChatChoice>>,
    usage: Option<Value>,
}

#[derive(Deserialize)]
struct JudgeChatChoice {
    message: ChatMessage,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct ChatMessage {
    content: Option<String>,
    refusal: Option<String>,
}

impl ChatReply {
    fn spoken(self, foreign: ForeignText<'_>) -> Result<ModelOutput, JudgeError> {
        if let Some(error) = &self.error {
            return Err(failed(error, foreign));
        }
        let Some(choices) = self.choices else { return not_of_the_api("missing `choices`") };
        let choice = choices.into_iter().next().ok_or(JudgeError::Empty)?;
        // Some endpoints send an empty refusal with every answer.
        if let Some(refusal) = choice.message.refusal.filter(|refusal| !refusal.is_empty()) {
            return Err(JudgeError::Refused { text: foreign.told(&refusal) });
        }
        if let Some(reason) = choice.finish_reason.filter(|reason| reason != "stop") {
            return Err(JudgeError::Unfinished { reason: foreign.told(&reason) });
        }
        let content = choice.message.content.unwrap_or_default();
        Ok(ModelOutput { text: unfenced(&content).to_owned(), usage: usage(self.usage.as_ref()) })
    }
}

/// Endpoints that ignore the schema often return JSON in a Markdown fence. Prose around it is not removed.
fn unfenced(text: &str) -> &str {
    let inside = || {
        let rest = text.trim().strip_prefix("```")?.strip_suffix("```")?;
        rest.strip_prefix("json").unwrap_or(rest).strip_prefix(['\n', '\r', ' '])
    };
    inside().unwrap_or(text)
}
