//! The methods: read the params, ask the desk, answer. One file a noun; nothing is decided here.

mod capsule;
mod decision;
mod directive;
mod document;
mod guard;
mod host;
mod judgment;
mod lifecycle;
mod packet;
mod prompt;
mod recall;
mod rewrite;
mod scratch;
mod thread;
mod tokens;

use crate::connection::{Backing, Commit, Ticket};
use crate::desk::{Desk, Past};
use crate::jobs::{Done, Job};
use crate::outbox::Outbox;
use crate::tokens::Tokens;
use crate::trace::Trace;
use crate::watch::Bell;
use crate::wire::Fault;
use crate::workers::{Work, Worked};
use jsonrpsee::RpcModule;
use jsonrpsee::core::RegisterMethodError;
use jsonrpsee::types::ErrorObjectOwned;
use rawr_core::units::{ThreadId, Timestamp};
use rawr_protocol::{ErrorCode, Request, read_params};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What every method works with.
#[derive(Debug)]
pub struct Ctx {
    /// Made by `initialize`: only then it is known where home is.
    desk: OnceLock<Mutex<Desk>>,
    client: OnceLock<String>,
    evaluations: judgment::Evaluations,
    outbox: Outbox,
    trace: Trace,
    bell: Bell,
    home: Option<PathBuf>,
    tokens: Tokens,
    editor: Mutex<document::Editor>,
    /// A prompt or the configuration was taken up anew, and open documents have not heard of it.
    edited: Arc<AtomicBool>,
    /// Decisions that were read for an editor.
    past: Arc<Mutex<Past>>,
    /// Requests whose answer is being read.
    reading: AtomicUsize,
}

impl Ctx {
    pub fn new(outbox: Outbox, trace: Trace, bell: Bell, home: Option<PathBuf>) -> Self {
        let (desk, client, evaluations, tokens) = Default::default();
        let (editor, edited, past, reading) = Default::default();
        Self {
            desk,
            client,
            evaluations,
            outbox,
            trace,
            bell,
            home,
            tokens,
            editor,
            edited,
            past,
            reading,
        }
    }

    /// One method at a time works at the desk. A panic at it poisons nothing: threads are read from disk again.
    fn desk(&self) -> Result<MutexGuard<'_, Desk>, Fault> {
        let desk = self.desk.get().ok_or_else(|| {
            let code = ErrorCode::ServerNotInitialized;
            Fault::new(code, code.message(), "send initialize first")
        })?;
        Ok(desk.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn client(&self) -> &str {
        self.client.get().map_or("a client", String::as_str)
    }

    pub fn distrust_memory(&self) {
        if let Ok(mut desk) = self.desk() {
            desk.distrust_memory();
        }
    }

    pub fn leave(&self) {
        if let Ok(mut desk) = self.desk() {
            desk.leave(now());
            desk.retire_threads(now());
        }
    }
}

impl Backing for Arc<Ctx> {
    fn reads_threads(&self) -> bool {
        self.desk().is_ok_and(|mut desk| desk.is_any_busy() || desk.reads_on_request(now()))
    }

    fn is_busy(&self, thread: &ThreadId) -> bool {
        self.desk().is_ok_and(|desk| desk.is_busy(thread))
    }

    fn begins(&self, ticket: Ticket, thread: Option<&ThreadId>) {
        if let Ok(mut desk) = self.desk() {
            desk.begins(ticket, thread, now());
        }
    }

    fn waits_for(&self) -> Vec<ThreadId> {
        self.desk().map(|desk| desk.waits_for()).unwrap_or_default()
    }

    fn went_on(&self) {
        if let Ok(mut desk) = self.desk() {
            desk.requests_went_on(now());
        }
    }

    fn commit(&self) -> Commit {
        let Ok(mut desk) = self.desk() else { return Commit::default() };
        let mut failed = Vec::new();
        for (tickets, error) in desk.commit() {
            let error = ErrorObjectOwned::from(Fault::from(error));
            failed.extend(tickets.into_iter().map(|ticket| (ticket, error.clone())));
        }
        Commit { failed, unsettled: desk.unsettled() }
    }

    fn works(&self) -> Vec<Work> {
        self.desk().map(|mut desk| desk.take_works()).unwrap_or_default()
    }

    fn worked(&self, worked: Worked) {
        if let Ok(mut desk) = self.desk() {
            desk.worked(worked, now());
        }
    }

    fn is_reading(&self) -> bool {
        self.reading.load(Ordering::Relaxed) > 0
    }

    fn due_in(&self) -> Option<Duration> {
        let now = now();
        let due = self.desk().ok()?.next_deadline(now)?;
        Some(Duration::from_millis(u64::try_from(due.0.saturating_sub(now.0)).unwrap_or(0)))
    }

    fn is_idle_for_the_first_time(&self) -> bool {
        self.desk().is_ok_and(|desk| !desk.is_live())
    }

    fn tick(&self) {
        if let Ok(mut desk) = self.desk() {
            // Not before the client has its answer to `initialize`: it costs more than that.
            desk.go_live();
            desk.tick(now());
        }
        document::files_changed(self);
    }

    fn rung(&self) {
        if let Ok(mut desk) = self.desk() {
            let rung = self.bell.take();
            desk.heard_of_edits(&rung, now());
            desk.follow(rung, now());
        }
        document::files_changed(self);
    }

    fn jobs(&self) -> Vec<Job> {
        self.desk().map(|mut desk| desk.take_jobs()).unwrap_or_default()
    }

    fn done(&self, done: Done) {
        if let Ok(mut desk) = self.desk() {
            desk.done(done, now());
        }
    }

    fn notified(&self, method: &str, params: Option<&str>) -> bool {
        document::notified(self, method, params)
    }

    fn answered(&self, id: &str, outcome: Result<&str, &str>) {
        document::answered(self, id, outcome);
    }
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// Reads what may take its time, while others are served. Once begun it is answered, also where the input ends meanwhile.
async fn aside<T: Send + 'static>(
    ctx: &Ctx,
    read: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Fault> {
    struct Reading<'c>(&'c AtomicUsize);
    impl Drop for Reading<'_> {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
    }
    ctx.reading.fetch_add(1, Ordering::Relaxed);
    let _reading = Reading(&ctx.reading);
    tokio::task::spawn_blocking(read)
        .await
        .map_err(|error| Fault::new(ErrorCode::InternalError, error.to_string(), "try again"))
}

type Module = RpcModule<Arc<Ctx>>;

/// All methods. Fails only where two have one name.
pub fn module(ctx: Arc<Ctx>) -> Result<Module, RegisterMethodError> {
    let mut module = RpcModule::new(ctx);
    lifecycle::register(&mut module)?;
    thread::register(&mut module)?;
    host::register(&mut module)?;
    guard::register(&mut module)?;
    directive::register(&mut module)?;
    decision::register(&mut module)?;
    judgment::register(&mut module)?;
    packet::register(&mut module)?;
    scratch::register(&mut module)?;
    capsule::register(&mut module)?;
    recall::register(&mut module)?;
    prompt::register(&mut module)?;
    rewrite::register(&mut module)?;
    tokens::register(&mut module)?;
    document::register(&mut module)?;
    Ok(module)
}

/// Reads once more, slowly, to be able to name the field.
fn bad_params<M: Request>(params: Option<&str>) -> Fault {
    let nothing = |text: &&str| {
        matches!(text.split_whitespace().collect::<String>().as_str(), "" | "null" | "[]")
    };
    let text = params.filter(|text| !nothing(text)).unwrap_or("{}");
    let mut json = serde_json::Deserializer::from_str(text);
    match serde_path_to_error::deserialize::<_, M::Params>(&mut json) {
        Ok(_) => Fault::new(
            ErrorCode::InvalidParams,
            "the params go on behind their end",
            "send one object",
        ),
        Err(error) => Fault::bad_params(&error.path().to_string(), &error.into_inner()),
    }
}

fn on<M: Request + 'static>(
    module: &mut Module,
    handler: fn(&Ctx, M::Params) -> Result<M::Result, Fault>,
) -> Result<(), RegisterMethodError>
where
    M::Result: Clone + 'static,
{
    module.register_method(
        M::METHOD,
        move |params, ctx, _| -> Result<M::Result, ErrorObjectOwned> {
            let params =
                read_params(params.as_str()).map_err(|_| bad_params::<M>(params.as_str()))?;
            Ok(handler(ctx, params)?)
        },
    )?;
    Ok(())
}

/// The same for a method that waits for something, while others are served. The client may cancel it: it is dropped
/// where it waits. What it records at the desk after it has waited, no request answers for.
fn on_async<M: Request + 'static, Work>(
    module: &mut Module,
    handler: fn(Arc<Ctx>, M::Params) -> Work,
) -> Result<(), RegisterMethodError>
where
    M::Params: Send,
    M::Result: Clone + 'static,
    Work: Future<Output = Result<M::Result, Fault>> + Send + 'static,
{
    module.register_async_method(M::METHOD, move |params, ctx, _| async move {
        let params = read_params(params.as_str()).map_err(|_| bad_params::<M>(params.as_str()))?;
        handler(Arc::clone(&ctx), params).await.map_err(ErrorObjectOwned::from)
    })?;
    Ok(())
}

#[cfg(test)]
mod tests;
