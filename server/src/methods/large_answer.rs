//! Results that may be large. They are serialized where they are made, so that the connection only copies bytes, and not
//! beyond a limit, so that they take no more memory than that.

use serde::Serialize;
use serde_json::value::RawValue;
use std::io;
use std::marker::PhantomData;

/// A result of type `R`, as JSON.
pub struct SerializedResult<R> {
    json: Box<RawValue>,
    of: PhantomData<fn() -> R>,
}

/// Why a result is not sent.
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    #[error("the result is larger than {limit} bytes")]
    TooLarge { limit: usize },
    #[error("failed to serialize the result: {0}")]
    Json(#[from] serde_json::Error),
}

impl<R: Serialize> SerializedResult<R> {
    /// Fails if it takes more bytes than the limit.
    pub fn within(limit: usize, result: &R) -> Result<Self, AnswerError> {
        let mut json = BoundedBytes { bytes: Vec::new(), limit, is_full: false };
        let written = serde_json::to_writer(&mut json, result);
        if json.is_full {
            return Err(AnswerError::TooLarge { limit });
        }
        written?;
        Ok(Self { json: serde_json::from_slice(&json.bytes)?, of: PhantomData })
    }

    pub fn into_json(self) -> Box<RawValue> {
        self.json
    }
}

struct BoundedBytes {
    bytes: Vec<u8>,
    limit: usize,
    /// Something did not fit.
    is_full: bool,
}

impl io::Write for BoundedBytes {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + more.len() > self.limit {
            self.is_full = true;
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(more);
        Ok(more.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_serialized_up_to_the_limit() {
        // Quotes count.
        let fits = SerializedResult::within(5, &"abc").map(SerializedResult::into_json);
        assert_eq!(fits.unwrap().get(), "\"abc\"");
        let error = SerializedResult::within(4, &"abc").map(|_| ()).unwrap_err();
        assert_eq!(error.to_string(), "the result is larger than 4 bytes");
    }
}
