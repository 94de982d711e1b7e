//! The agent that called a hook, as the driver sees it: its events are in its transcript, and it goes on when the hook answers.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use rawr_host::host::{
    AgentHost, CompactionOrder, HookedAgent, HostAccess, HostError, HostEvent, HostThread,
    ModelQuestion, RecordedOutcome, ThreadOrigin, TurnKind,
};
use rawr_protocol::{
    Action, CommandLine, CompactionOrigin, Host, HostCapabilities, PendingAction, Phase, Purpose,
    Signal, TokenUsage, TurnStatus,
};

use super::input::HookInput;
use super::open::{AwaitedReply, PendingRequest};
use super::transcript::{LastTurn, TranscriptSummary};
use crate::args::HookArgs;
use crate::commands::common::now_ms;

/// What the driver has said in this hook.
#[derive(Debug, Default)]
pub(super) struct HookTalk {
    pub(super) phase: Option<Phase>,
    /// Why a sequence started, for the user.
    pub(super) reason: Option<String>,
    pub(super) text: Option<HookText>,
    /// The packet is ready, and the user compacts next.
    pub(super) is_saved: bool,
    /// What went wrong meanwhile.
    pub(super) warnings: Vec<String>,
}

/// A text for the agent.
#[derive(Debug)]
pub(super) enum HookText {
    /// Continues the turn.
    GoOn(String),
    /// Comes before the next message.
    Handoff(String),
}

/// The agent and the reporter of one hook share it.
#[derive(Debug, Clone, Default)]
pub(super) struct SharedTalk(Arc<Mutex<HookTalk>>);

impl SharedTalk {
    pub(super) fn get(&self) -> MutexGuard<'_, HookTalk> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a hook does, in order.
enum Step {
    Report(HostEvent),
    /// Reports a compaction that ended, after its start unless another hook has reported that for this origin.
    ReportCompaction {
        begun: Option<CompactionOrigin>,
    },
    /// Leaves this for the next hook.
    Leave(AwaitedReply),
}

pub(super) struct Agent {
    thread: HostThread,
    steps: VecDeque<Step>,
    /// The agent's answer to what the hook before asked of it, if it has answered.
    answer: Option<Option<String>>,
    turn_id: String,
    takes: TakenText,
    open: PendingRequest,
    talk: SharedTalk,
}

/// Which text for the agent fits into a hook's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TakenText {
    Turn,
    Handoff,
    None,
}

impl Agent {
    /// `may_ask`: the agent may be asked for a packet. Otherwise events are only recorded.
    pub(super) fn new(
        args: &HookArgs,
        input: &HookInput,
        last_turn: LastTurn,
        may_ask: bool,
        open: PendingRequest,
        talk: SharedTalk,
    ) -> anyhow::Result<Self> {
        let summary = TranscriptSummary::of(args, &last_turn);
        let thread = thread(args, input, summary.as_ref(), may_ask)?;
        let turn_id = format!("hook-{}-{}", now_ms(), std::process::id());
        let (mut takes, mut answer) = (TakenText::None, None);
        let awaited = open.read();
        let said = input.last_assistant_message.clone();
        let steps = match args.event.as_str() {
            "Stop" => {
                if may_ask {
                    takes = TakenText::Turn;
                }
                if may_ask && input.is_continued() && awaited == Some(AwaitedReply::Answer) {
                    answer = Some(said.or_else(|| last_turn.said().map(str::to_owned)));
                    Vec::new()
                } else {
                    // No hook was called when the user went on.
                    let declined = awaited == Some(AwaitedReply::Compaction);
                    let declined = declined.then_some(HostEvent::CompactionDeclined);
                    let turn = turn(&turn_id, &input.cwd, last_turn, summary.as_ref(), said);
                    declined.into_iter().chain(turn).map(Step::Report).collect()
                }
            }
            "PreCompact" => {
                let by_person = input.is_by_person();
                let (turn_id, origin) = (turn_id.clone(), origin(by_person));
                let started = HostEvent::CompactionStarted { turn_id, origin };
                let left = AwaitedReply::HostCompaction { by_person };
                vec![Step::Report(started), Step::Leave(left)]
            }
            "SessionStart" => {
                takes = TakenText::Handoff;
                let begun = match awaited {
                    Some(AwaitedReply::HostCompaction { by_person }) => Some(origin(by_person)),
                    _ => None,
                };
                vec![Step::ReportCompaction { begun }, Step::Leave(AwaitedReply::Measurement)]
            }
            // The user has sent a message.
            _ => vec![
                Step::Report(HostEvent::CompactionDeclined),
                Step::Leave(AwaitedReply::TurnsEnd),
            ],
        };
        Ok(Self { thread, steps: steps.into(), answer, turn_id, takes, open, talk })
    }
}

#[async_trait]
impl AgentHost for Agent {
    fn thread(&self) -> &HostThread {
        &self.thread
    }

    fn access(&mut self) -> HostAccess<'_> {
        HostAccess::AtHook(self)
    }

    fn resume_withheld_work(&mut self) {}

    async fn start_turn(&mut self, items: &[&str]) -> Result<String, HostError> {
        if !self.steps.is_empty() {
            return Err(HostError::Busy);
        }
        if self.takes != TakenText::Turn {
            return Err(HostError::Unable { what: "start a turn in this hook" });
        }
        leave(&self.open, &AwaitedReply::Answer)?;
        self.talk.get().text = Some(HookText::GoOn(items.join("\n\n")));
        Ok(format!("{}-asked", self.turn_id))
    }

    async fn steer(&mut self, _text: &str) -> Result<String, HostError> {
        Err(HostError::NoTurn)
    }

    async fn compact(&mut self, _order: &CompactionOrder) -> Result<(), HostError> {
        Err(HostError::Unable { what: "compact in a hook" })
    }

    async fn interrupt(&mut self) -> Result<(), HostError> {
        Err(HostError::NoTurn)
    }

    async fn sample(&mut self, _question: ModelQuestion) -> Result<(), HostError> {
        Err(HostError::Unable { what: "ask its model in a hook" })
    }

    async fn judge(&mut self, _question: ModelQuestion) -> Result<(), HostError> {
        Err(HostError::Unable { what: "ask its model in a hook" })
    }

    /// What the hook before asked of the agent is answered when the next one ends the turn. A turn that ends otherwise was the
    /// user's. Whether a hook that died has handed over, no later one can know.
    async fn recorded_outcome(
        &mut self,
        action: &PendingAction,
    ) -> Result<RecordedOutcome, HostError> {
        match &action.action {
            Action::InjectTurn { purpose, .. } if *purpose != Purpose::Handoff => {}
            _ => return Ok(RecordedOutcome::NotFound),
        }
        let (status, last_agent_message) = match self.answer.take() {
            Some(said) => (TurnStatus::Completed, said),
            None => (TurnStatus::Interrupted, None),
        };
        let turn_id = format!("{}-answered", self.turn_id);
        let by_people = Vec::new();
        Ok(RecordedOutcome::Ended { turn_id, status, last_agent_message, by_people })
    }

    async fn next_event(&mut self) -> HostEvent {
        while let Some(step) = self.steps.pop_front() {
            match step {
                Step::Report(event) => return event,
                Step::ReportCompaction { begun } => {
                    let origin = match self.talk.get().phase {
                        Some(Phase::AwaitingCompaction) => CompactionOrigin::Rawr,
                        _ => begun.unwrap_or(CompactionOrigin::Host),
                    };
                    let (turn_id, tokens_after) = (self.turn_id.clone(), None);
                    let completed =
                        HostEvent::CompactionCompleted { turn_id, origin, tokens_after };
                    if begun.is_some() {
                        return completed;
                    }
                    self.steps.push_front(Step::Report(completed));
                    let turn_id = self.turn_id.clone();
                    return HostEvent::CompactionStarted { turn_id, origin };
                }
                Step::Leave(awaited) => {
                    if let Err(HostError::Gone { reason }) = leave(&self.open, &awaited) {
                        return HostEvent::Gone { reason };
                    }
                }
            }
        }
        std::future::pending().await
    }

    async fn close(self: Box<Self>) {}
}

impl HookedAgent for Agent {
    fn hand_over(&mut self, text: &str) -> Result<(), HostError> {
        if self.takes != TakenText::Handoff {
            return Err(HostError::Unable { what: "hand over in this hook" });
        }
        self.talk.get().text = Some(HookText::Handoff(text.to_owned()));
        Ok(())
    }
}

fn leave(open: &PendingRequest, awaited: &AwaitedReply) -> Result<(), HostError> {
    open.write(Some(awaited)).map_err(|error| HostError::Gone { reason: format!("{error:#}") })
}

fn thread(
    args: &HookArgs,
    input: &HookInput,
    summary: Option<&TranscriptSummary>,
    may_ask: bool,
) -> anyhow::Result<HostThread> {
    let capabilities = HostCapabilities {
        inject_turn: true,
        steer: false,
        sample: false,
        queue: false,
        queue_in_place: false,
        queue_above_tokens: None,
        compact: may_ask,
        compact_by_person: true,
        judge: false,
        mid_turn_compact: false,
        inject_items: false,
        // No process waits for the silence between two hooks.
        cache_seconds: None,
    };
    Ok(HostThread {
        thread_id: input.session_id.clone(),
        origin: ThreadOrigin::Person,
        cwd: PathBuf::from(&input.cwd),
        host: Host { name: args.host.name().to_owned(), version: None, capabilities },
        model: input.model.clone().or_else(|| summary?.model.clone()),
        context_window: summary.map(|summary| summary.context_window),
        context_window_assumed: summary.is_some_and(|summary| summary.is_assumed),
        compacts_above_tokens: summary.and_then(|summary| summary.compacts_above_tokens),
        baseline_tokens: summary.map_or(0, |summary| summary.baseline_tokens),
        transcript: Some(input.transcript()?.to_owned()),
        began_at_ms: None,
    })
}

/// The events of a complete turn of the user.
fn turn(
    turn_id: &str,
    cwd: &str,
    last_turn: LastTurn,
    summary: Option<&TranscriptSummary>,
    said: Option<String>,
) -> Vec<HostEvent> {
    let LastTurn { prompt, signals, .. } = last_turn;
    let kind = TurnKind::Person { text: prompt.unwrap_or_default() };
    let mut events = vec![HostEvent::TurnStarted { turn_id: turn_id.to_owned(), kind }];
    let signals = signals.into_iter().enumerate();
    events.extend(signals.filter_map(|(at, signal)| work(turn_id, cwd, at.to_string(), signal)));
    if let Some(summary) = summary {
        events.push(HostEvent::Usage {
            turn_id: turn_id.to_owned(),
            usage: TokenUsage {
                context_tokens: summary.context_tokens,
                input_tokens: None,
                cached_input_tokens: None,
                output_tokens: None,
                reasoning_tokens: None,
                cache_seconds: None,
            },
            context_window: None,
            needs_follow_up: false,
        });
    }
    events.push(HostEvent::TurnCompleted {
        turn_id: turn_id.to_owned(),
        status: TurnStatus::Completed,
        last_agent_message: said,
        error: None,
        overflow: None,
    });
    events
}

/// What a signal of a transcript reports. Others are not read from transcripts.
fn work(turn_id: &str, cwd: &str, call_id: String, signal: Signal) -> Option<HostEvent> {
    let turn_id = turn_id.to_owned();
    match signal {
        Signal::CommandFinished { command, exit_code, cwd: within } => {
            let command = match command {
                CommandLine::Line(line) => line,
                CommandLine::Words(words) => {
                    let quoted = shlex::try_join(words.iter().map(String::as_str));
                    quoted.unwrap_or_else(|_| words.join(" "))
                }
            };
            let cwd = within.unwrap_or_else(|| cwd.to_owned());
            Some(HostEvent::CommandFinished { turn_id, call_id, command, exit_code, cwd })
        }
        Signal::PlanUpdated { steps, explanation } => {
            Some(HostEvent::PlanUpdated { turn_id, call_id: Some(call_id), steps, explanation })
        }
        _ => None,
    }
}

const fn origin(by_person: bool) -> CompactionOrigin {
    if by_person { CompactionOrigin::User } else { CompactionOrigin::Host }
}
