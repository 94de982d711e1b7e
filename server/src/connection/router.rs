//! From a method's name to its handler, through jsonrpsee's method table. A panic ends only the request that caused it.

use futures::FutureExt;
use futures::future::BoxFuture;
use jsonrpsee::Extensions;
use jsonrpsee::core::server::{ConnectionId, MethodCallback, MethodResponse, Methods};
use jsonrpsee::types::{ErrorObjectOwned, Id, Params};
use rawr_protocol::{ErrorCode, ErrorData};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// The table of methods.
#[derive(Clone)]
pub struct Router {
    methods: Methods,
}

impl std::fmt::Debug for Router {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Router").finish_non_exhaustive()
    }
}

/// An answer, or the work that leads to one. Work that does not wait is done at once and answered in order.
pub enum Dispatched {
    /// The answer.
    Done(MethodResponse),
    /// The work. It may be dropped to cancel the request.
    Working(BoxFuture<'static, MethodResponse>),
}

impl Router {
    /// A router to these methods.
    pub fn new(methods: impl Into<Methods>) -> Self {
        Self { methods: methods.into() }
    }

    /// The name of a method as it was registered, so that logs never contain text of the client.
    pub fn name_of(&self, method: &str) -> &'static str {
        self.methods.method_with_name(method).map_or("unknown", |(name, _)| name)
    }

    /// Calls a method. `params` is JSON. Unknown methods are answered with an error.
    pub fn dispatch(&self, method: &str, id: Id<'static>, params: Option<&str>) -> Dispatched {
        let params = Params::new(params);
        match self.methods.method(method) {
            Some(MethodCallback::Sync(handler)) => {
                let call = || handler(id.clone(), params, usize::MAX, Extensions::new());
                Dispatched::Done(
                    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| panic_answer(id)),
                )
            }
            Some(MethodCallback::Async(handler)) => {
                let handler = Arc::clone(handler);
                let params = params.into_owned();
                let work = async move {
                    let call = async {
                        handler(id.clone(), params, ConnectionId(0), usize::MAX, Extensions::new())
                            .await
                    };
                    AssertUnwindSafe(call).catch_unwind().await.unwrap_or_else(|_| panic_answer(id))
                };
                let mut work = work.boxed();
                match (&mut work).now_or_never() {
                    Some(response) => Dispatched::Done(response),
                    None => Dispatched::Working(work),
                }
            }
            Some(MethodCallback::Subscription(_) | MethodCallback::Unsubscription(_)) | None => {
                let hint = "rawr --help and openrpc.json name all methods";
                Dispatched::Done(error(
                    id,
                    ErrorCode::MethodNotFound,
                    format!("there is no method `{method}`"),
                    hint,
                ))
            }
        }
    }
}

fn panic_answer(id: Id<'_>) -> MethodResponse {
    let hint = "this is a bug in rawr; see the log. Other requests are not affected";
    error(id, ErrorCode::InternalError, "internal error".to_owned(), hint)
}

pub fn error(id: Id<'_>, code: ErrorCode, message: String, hint: &str) -> MethodResponse {
    let data = ErrorData { hint: hint.to_owned(), ..ErrorData::default() };
    MethodResponse::error(id, ErrorObjectOwned::owned(code.code(), message, Some(data)))
}
