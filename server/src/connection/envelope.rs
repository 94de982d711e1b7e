//! The envelope of a JSON-RPC message: whether it is valid, its kind and its id. Params are not parsed.

use jsonrpsee::types::Id;
use rawr_protocol::{ErrorCode, ErrorData};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// An id that JSON-RPC libraries agree on: a non-negative integer or a string.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum JsonRpcId {
    Number(u64),
    Text(String),
}

impl From<JsonRpcId> for Id<'static> {
    fn from(id: JsonRpcId) -> Self {
        match id {
            JsonRpcId::Number(number) => Self::Number(number),
            JsonRpcId::Text(text) => Self::Str(Cow::Owned(text)),
        }
    }
}

impl From<rawr_protocol::RequestId> for JsonRpcId {
    fn from(id: rawr_protocol::RequestId) -> Self {
        match id {
            rawr_protocol::RequestId::Number(number) => {
                Self::Number(u64::try_from(number).unwrap_or(u64::MAX))
            }
            rawr_protocol::RequestId::Text(text) => Self::Text(text),
        }
    }
}

#[derive(Debug)]
pub enum Envelope<'b> {
    Request {
        id: JsonRpcId,
        method: Cow<'b, str>,
        params: Option<&'b str>,
    },
    Notification {
        method: Cow<'b, str>,
        params: Option<&'b str>,
    },
    /// An answer to a request that the sidecar sent.
    Response {
        id: Option<JsonRpcId>,
        outcome: Result<&'b str, &'b str>,
    },
}

/// A message that cannot be served, with as much of it as could be read.
#[derive(Debug)]
pub struct MalformedMessage {
    /// The id as it was sent, or `null`.
    pub id: String,
    pub code: ErrorCode,
    pub message: String,
    pub hint: &'static str,
}

#[derive(Deserialize)]
#[serde(expecting = "a JSON-RPC message, which is an object")]
struct RawMessage<'b> {
    #[serde(borrow)]
    jsonrpc: Option<Cow<'b, str>>,
    /// An id of `null` still is an id: its sender waits for an answer.
    #[serde(borrow, default, deserialize_with = "even_null")]
    id: Option<&'b RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'b, str>>,
    #[serde(borrow)]
    params: Option<&'b RawValue>,
    /// `null` is a valid result.
    #[serde(borrow, default, deserialize_with = "even_null")]
    result: Option<&'b RawValue>,
    #[serde(borrow)]
    error: Option<&'b RawValue>,
}

fn even_null<'de: 'b, 'b, D: Deserializer<'de>>(json: D) -> Result<Option<&'b RawValue>, D::Error> {
    <&RawValue>::deserialize(json).map(Some)
}

pub fn parse(body: &[u8]) -> Result<Envelope<'_>, MalformedMessage> {
    let malformed = |id: &str, code, message: String, hint| MalformedMessage {
        id: id.to_owned(),
        code,
        message,
        hint,
    };
    if body.trim_ascii_start().first() == Some(&b'[') {
        let message = "batch requests are not supported".to_owned();
        return Err(malformed(
            "null",
            ErrorCode::InvalidRequest,
            message,
            "send one message at a time",
        ));
    }
    let raw: RawMessage<'_> =
        serde_json::from_slice(body).map_err(|error| match error.classify() {
            serde_json::error::Category::Data => malformed(
                "null",
                ErrorCode::InvalidRequest,
                error.to_string(),
                "send a JSON-RPC 2.0 object",
            ),
            _ => malformed("null", ErrorCode::ParseError, error.to_string(), "send JSON in UTF-8"),
        })?;
    let id = raw.id.map(RawValue::get).filter(|id| can_be_repeated(id)).unwrap_or("null");
    if raw.jsonrpc.as_deref() != Some("2.0") {
        let message = "`jsonrpc` is not \"2.0\"".to_owned();
        return Err(malformed(
            id,
            ErrorCode::InvalidRequest,
            message,
            "send a JSON-RPC 2.0 object",
        ));
    }
    let params = raw.params.map(RawValue::get);
    match (raw.id, raw.method) {
        (id, None) if raw.result.is_some() || raw.error.is_some() => {
            let outcome = match (raw.error, raw.result) {
                (Some(error), _) => Err(error.get()),
                (None, result) => Ok(result.map_or("null", RawValue::get)),
            };
            Ok(Envelope::Response { id: id.and_then(request_id), outcome })
        }
        (_, None) => {
            let message = "missing `method`".to_owned();
            Err(malformed(id, ErrorCode::InvalidRequest, message, "name the method"))
        }
        (None, Some(method)) => Ok(Envelope::Notification { method, params }),
        (Some(raw_id), Some(method)) => match request_id(raw_id) {
            Some(id) => Ok(Envelope::Request { id, method, params }),
            None => {
                let message = "`id` is neither a non-negative integer nor a string".to_owned();
                Err(malformed(
                    id,
                    ErrorCode::InvalidRequest,
                    message,
                    "number requests from 0 or 1",
                ))
            }
        },
    }
}

/// Anything but a number, a string or `null` would make our answer as malformed as the request.
fn can_be_repeated(id: &str) -> bool {
    id.starts_with(|first: char| first == '"' || first == '-' || first.is_ascii_digit())
}

fn request_id(raw: &RawValue) -> Option<JsonRpcId> {
    let text = raw.get();
    match text.as_bytes().first() {
        Some(b'"') => serde_json::from_str(text).ok().map(JsonRpcId::Text),
        Some(b'0'..=b'9') => text.parse().ok().map(JsonRpcId::Number),
        _ => None,
    }
}

/// An error answer with an id that jsonrpsee cannot represent.
pub fn error(id: &str, code: ErrorCode, message: &str, hint: &str) -> Box<[u8]> {
    let data = ErrorData { hint: hint.to_owned(), ..ErrorData::default() };
    let error = serde_json::json!({ "code": code.code(), "message": message, "data": data });
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#).into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_null_result_is_a_response() {
        let parsed = parse(br#"{"jsonrpc":"2.0","id":"rawr/2","result":null}"#);
        let Ok(Envelope::Response { id: Some(JsonRpcId::Text(id)), outcome }) = parsed else {
            panic!("not parsed as a response");
        };
        assert_eq!((id.as_str(), outcome), ("rawr/2", Ok("null")));
    }
}
