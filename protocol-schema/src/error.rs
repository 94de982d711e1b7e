//! Error codes and the `data` that goes with them. Which error a method gives is decided by the sidecar; which it may give stands in the method table.

use serde::{Deserialize, Serialize};
use std::fmt;

/// One line a code, so that the table is the definition.
macro_rules! codes {
    ($($variant:ident = $code:literal, $name:literal, $message:literal;)+) => {
        /// Why a request failed. JSON-RPC's and LSP's codes where they fit, ours outside -32768..-32000.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ErrorCode {$(
            #[doc = concat!("`", $name, "`: ", $message, ".")]
            $variant,
        )+}

        impl ErrorCode {
            /// Every code, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The number on the wire.
            pub const fn code(self) -> i32 {
                match self {$(Self::$variant => $code,)+}
            }

            /// A stable short name, for machine-readable output and logs.
            pub const fn name(self) -> &'static str {
                match self {$(Self::$variant => $name,)+}
            }

            /// The `message` of an error that has nothing more exact to say; a sentence fragment.
            pub const fn message(self) -> &'static str {
                match self {$(Self::$variant => $message,)+}
            }

            /// The code that has this number on the wire.
            pub fn from_code(code: i32) -> Option<Self> {
                match code {
                    $($code => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    };
}

codes! {
    ParseError = -32700, "parse_error", "the message is not JSON";
    InvalidRequest = -32600, "invalid_request", "the message is not a request that can be served now";
    MethodNotFound = -32601, "method_not_found", "there is no such method";
    InvalidParams = -32602, "invalid_params", "the params do not fit the method";
    InternalError = -32603, "internal_error", "the sidecar failed in a way that it should not";
    ServerNotInitialized = -32002, "server_not_initialized", "the first request must be initialize";
    Busy = -32009, "busy", "too many requests are in flight";
    RequestCancelled = -32800, "request_cancelled", "the request was cancelled";
    UnknownThread = -31001, "unknown_thread", "no such thread is known here";
    NotOwner = -31002, "not_owner", "only the thread's owner may do this";
    OwnedElsewhere = -31003, "owned_elsewhere", "another sidecar owns the thread";
    StoreFailed = -31004, "store_failed", "the thread's files cannot be read or written";
    UnknownAction = -31005, "unknown_action", "no such action was asked for";
    NoSequence = -31006, "no_sequence", "no such sequence is known here";
    UnknownName = -31007, "unknown_name", "nothing has this name";
    JudgmentUnavailable = -31008, "judgment_unavailable", "no judge could be asked";
    NotNow = -31009, "not_now", "the thread's phase does not allow it";
}

impl ErrorCode {
    /// What any request may fail with, beside what its line in the method table names.
    pub const OF_ANY_REQUEST: &'static [Self] = &[
        Self::InvalidRequest,
        Self::InvalidParams,
        Self::InternalError,
        Self::ServerNotInitialized,
        Self::Busy,
        Self::RequestCancelled,
    ];
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

/// The `data` of an error: what it is about, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ErrorData {
    /// The field of the params that is to blame, with dots between names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The thread that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// The file that it is about, absolute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// What to do, as a sentence; empty if there is nothing to say.
    #[serde(default, deserialize_with = "crate::lenient::or_default")]
    pub hint: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_distinct_and_found_again() {
        for code in ErrorCode::ALL {
            assert_eq!(ErrorCode::from_code(code.code()), Some(*code));
        }
        assert_eq!(ErrorCode::from_code(0), None);
    }

    #[test]
    fn ours_are_outside_the_range_that_json_rpc_reserves() {
        let ours = ErrorCode::ALL.iter().skip_while(|code| **code != ErrorCode::UnknownThread);
        assert_eq!(ours.clone().count(), 9);
        assert!(ours.into_iter().all(|code| !(-32768..=-32000).contains(&code.code())));
    }
}
