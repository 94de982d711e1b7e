//! Errors of the wire format: a code, a message, and `data` with the field, the thread or the file, and a hint.

use super::json_path::path_of;
use jsonrpsee::types::ErrorObjectOwned;
use rawr_protocol::{ErrorCode, ErrorData};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RpcError {
    pub code: ErrorCode,
    pub message: String,
    /// Boxed to keep results small, because errors are rare.
    pub data: Box<ErrorData>,
}

impl RpcError {
    pub fn new(code: ErrorCode, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: Box::new(ErrorData { hint: hint.into(), ..ErrorData::default() }),
        }
    }

    pub fn bad_field(field: &str, message: impl Into<String>) -> Self {
        let mut answer = Self::new(ErrorCode::InvalidParams, message, format!("correct `{field}`"));
        answer.data.field = Some(field.to_owned());
        answer
    }

    /// Invalid params, which are this text. A missing field is named only in the message.
    pub fn bad_params(text: &str, error: &serde_json::Error) -> Self {
        let message = error.to_string();
        let missing =
            message.strip_prefix("missing field `").and_then(|rest| rest.split('`').next());
        let field = match (path_of(error, text), missing) {
            (None, missing) => missing.map(str::to_owned),
            (path, None) => path,
            (Some(path), Some(missing)) => Some(format!("{path}.{missing}")),
        };
        let mut answer =
            Self::new(ErrorCode::InvalidParams, message, "see the method's params in schema.json");
        answer.data.field = field;
        answer
    }
}

impl From<RpcError> for ErrorObjectOwned {
    fn from(answer: RpcError) -> Self {
        Self::owned(answer.code.code(), answer.message, Some(answer.data))
    }
}
