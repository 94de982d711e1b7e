//! Traces of the sidecar's work for a client that turns them on: one `$/logTrace` for each request and each deadline,
//! with what was done in it. Built from the spans of the log; contains no user text.

use rawr_protocol::LogTraceParams;
use std::fmt::{Debug, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id};
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::{LookupSpan, Registry, SpanRef};
use tracing_subscriber::reload;

/// Only spans of rawr's own crates.
const OURS: &str = "rawr";
/// The most lines of one request, and the most requests that wait to be sent.
const MOST_LINES: usize = 256;

type LevelSwitch = Box<dyn Fn(LevelFilter) + Send + Sync>;

/// The work since the last notification, and the level of detail.
#[derive(Clone, Default)]
pub struct WorkTrace {
    shared: Arc<TraceState>,
}

#[derive(Default)]
struct TraceState {
    told: Mutex<Vec<LogTraceParams>>,
    is_verbose: AtomicBool,
    /// Until it is set, no spans are recorded.
    switch: OnceLock<LevelSwitch>,
}

impl Debug for WorkTrace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WorkTrace").finish_non_exhaustive()
    }
}

impl WorkTrace {
    /// The tracing layer. Records nothing and costs nothing until [`Self::set`] is called.
    pub fn layer(&self) -> impl Layer<Registry> + use<> {
        let (filter, handle) = reload::Layer::<LevelFilter, Registry>::new(LevelFilter::OFF);
        let switch = move |level| {
            if let Err(error) = handle.modify(|filter| *filter = level) {
                tracing::warn!(%error, "failed to change the trace level");
            }
        };
        // A second layer on the same trace would disable the first one.
        let _ = self.shared.switch.set(Box::new(switch));
        TraceLayer { trace: self.clone() }.with_filter(filter)
    }

    pub fn set(&self, wanted: rawr_protocol::Trace) {
        let level = match wanted {
            rawr_protocol::Trace::Off => LevelFilter::OFF,
            rawr_protocol::Trace::Messages => LevelFilter::INFO,
            rawr_protocol::Trace::Verbose => LevelFilter::DEBUG,
        };
        let is_verbose = wanted == rawr_protocol::Trace::Verbose;
        self.shared.is_verbose.store(is_verbose, Ordering::Relaxed);
        if let Some(switch) = self.shared.switch.get() {
            switch(level);
        }
        if wanted == rawr_protocol::Trace::Off {
            self.told().clear();
        }
    }

    /// The recorded work that has not been sent.
    pub fn take(&self) -> Vec<LogTraceParams> {
        std::mem::take(&mut *self.told())
    }

    fn told(&self) -> MutexGuard<'_, Vec<LogTraceParams>> {
        self.shared.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn record(&self, message: String, lines: &[String]) {
        let is_wanted = self.shared.is_verbose.load(Ordering::Relaxed) && !lines.is_empty();
        let verbose = is_wanted.then(|| lines.join("\n"));
        let mut told = self.told();
        if told.len() < MOST_LINES {
            told.push(LogTraceParams { message, verbose });
        }
    }
}

struct TraceLayer {
    trace: WorkTrace,
}

/// Stored in a root span.
struct TracedWork {
    what: String,
    began: Instant,
    lines: Vec<String>,
}

impl<S: Subscriber + for<'s> LookupSpan<'s>> Layer<S> for TraceLayer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id).filter(|span| is_ours(span.metadata())) else { return };
        let mut said = TraceLine::of(attributes.metadata().name());
        attributes.record(&mut said);
        let depth = span.scope().skip(1).count();
        match root(&span).filter(|_| depth > 0) {
            Some(root) => note(&root, depth, said.text),
            None => span.extensions_mut().insert(TracedWork {
                what: said.text,
                began: Instant::now(),
                lines: Vec::new(),
            }),
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        if !is_ours(event.metadata()) {
            return;
        }
        let mut said = TraceLine::of("");
        event.record(&mut said);
        match context.event_span(event) {
            Some(span) => {
                let depth = span.scope().count();
                if let Some(root) = root(&span) {
                    note(&root, depth, said.text);
                }
            }
            None => self.trace.record(said.text, &[]),
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let work = context.span(&id).and_then(|span| span.extensions_mut().remove::<TracedWork>());
        if let Some(TracedWork { what, began, lines }) = work {
            let took = began.elapsed().as_secs_f64() * 1000.0;
            self.trace.record(format!("{what} took {took:.1} ms"), &lines);
        }
    }
}

fn is_ours(metadata: &Metadata<'_>) -> bool {
    metadata.target().starts_with(OURS)
}

fn root<'s, S: Subscriber + LookupSpan<'s>>(span: &SpanRef<'s, S>) -> Option<SpanRef<'s, S>> {
    span.scope().from_root().next()
}

fn note<'s, S: Subscriber + LookupSpan<'s>>(root: &SpanRef<'s, S>, depth: usize, text: String) {
    if let Some(work) = root.extensions_mut().get_mut::<TracedWork>()
        && work.lines.len() < MOST_LINES
    {
        work.lines.push(format!("{}{text}", "  ".repeat(depth.saturating_sub(1))));
    }
}

/// `name field=value`, one line.
struct TraceLine {
    text: String,
}

impl TraceLine {
    fn of(name: &str) -> Self {
        Self { text: name.to_owned() }
    }
}

impl Visit for TraceLine {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let space = if self.text.is_empty() { "" } else { " " };
        // Writing to a string cannot fail.
        let _ = match field.name() {
            "message" => write!(self.text, "{space}{value:?}"),
            name => write!(self.text, "{space}{name}={value:?}"),
        };
    }
}
