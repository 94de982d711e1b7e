//! Errors as the wire has them: a code, a sentence, and `data` that names the field, the thread or the file, and what
//! to do.

use jsonrpsee::types::ErrorObjectOwned;
use rawr_protocol::{ErrorCode, ErrorData};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RpcError {
    pub code: ErrorCode,
    pub message: String,
    /// Boxed: an error is rare, and every answer has room for one.
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

    /// Params that do not fit. A field that is missing is named by the sentence only.
    pub fn bad_params(path: &str, error: &serde_json::Error) -> Self {
        let message = error.to_string();
        let missing =
            message.strip_prefix("missing field `").and_then(|rest| rest.split('`').next());
        let field = match (path, missing) {
            (".", missing) => missing.map(str::to_owned),
            (path, None) => Some(path.to_owned()),
            (path, Some(missing)) => Some(format!("{path}.{missing}")),
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
