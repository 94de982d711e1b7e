//! Folds the events of one thread into its figures. The thread's state is folded beside them, so that the core says what
//! an event means and nothing is derived a second time.

use super::resume::{CommandHistory, EndedTurn, Resumed, Resuming};
use super::{
    CommandCounts, CompactionRun, CompactionStart, CompactionTokens, PacketFacts, PhaseTime,
    RunEnding, ThreadStats,
};
use rawr_core::coverage;
use rawr_core::event::{
    Assessed, Choice, CompactionOrigin, CompactionReportStatus, Ending, Entrance, HostAction,
    JudgeReply, Outcome, Packet, Phase, Responded, SequenceEnded, SequenceStarted, ThreadOpened,
    Trigger, TurnOrigin,
};
use rawr_core::packet::resume_state;
use rawr_core::policy::{PacketAuthor, Tier};
use rawr_core::thread::sequence::Sequence;
use rawr_core::thread::{Session, Turn};
use rawr_core::units::{SequenceId, ThreadId, Timestamp};
use rawr_core::{Event, Record, Thread};
use rawr_records::read::LineCounts;

/// The note of the guard that a snooze sets.
const SNOOZED: &str = "snoozed";

/// The figures of one thread so far.
#[derive(Debug)]
pub struct StatsFold {
    thread: Thread,
    since: Timestamp,
    stats: ThreadStats,
    /// Where the runs begin that count; `None` before the first event that counts.
    counts_from: Option<usize>,
    /// How the sequence comes about that is about to start.
    start: Option<CompactionStart>,
    /// The judge was asked about a proposal.
    judges_proposal: bool,
    /// A guard of a snooze was set, and the person's answer follows.
    snoozes: bool,
    /// The run of the running sequence.
    running: Option<usize>,
    /// The run of the newest compaction.
    compacted: Option<usize>,
    phase: Option<OpenPhase>,
    resuming: Option<Resuming>,
    commands: CommandHistory,
}

/// The phase that a sequence is in.
#[derive(Debug)]
struct OpenPhase {
    sequence: SequenceId,
    run: Option<usize>,
    phase: Phase,
    since: Timestamp,
    /// The clock was set back or the host restarted, so its length is not known.
    is_interrupted: bool,
}

impl StatsFold {
    /// A thread without events. Only what happens from `since` on is counted; what came before is followed, because the
    /// rest depends on it.
    pub fn new(thread: ThreadId, since: Timestamp) -> Self {
        Self {
            stats: empty(thread.clone()),
            thread: Thread::new(thread),
            since,
            counts_from: None,
            start: None,
            judges_proposal: false,
            snoozes: false,
            running: None,
            compacted: None,
            phase: None,
            resuming: None,
            commands: CommandHistory::default(),
        }
    }

    /// Adds the next record of the log.
    pub fn record(&mut self, record: &Record) {
        if self.counts_from.is_none() && record.at >= self.since {
            self.counts_from = Some(self.stats.runs.len());
            self.stats =
                ThreadStats { runs: std::mem::take(&mut self.stats.runs), ..empty(self.id()) };
        }
        if self.counts_from.is_some() {
            let (first, last) = self.stats.spans.unwrap_or((record.at, record.at));
            self.stats.spans = Some((first, last.max(record.at)));
        }
        let is_interrupted = record.at < self.thread.updated_at
            || matches!(&record.event, Event::ThreadOpened(opened) if !runs_by_hooks(opened));
        if let Some(open) = &mut self.phase {
            open.is_interrupted |= is_interrupted;
        }
        let proposed = self.is_proposed();
        let (turns, failed) = (self.thread.turns_ended, self.thread.decided.judged.failures);
        let was_measured = self.is_measured();
        self.before(record);
        self.thread.apply(record);
        self.stats.turns += self.thread.turns_ended.saturating_sub(turns);
        self.stats.judge.failed += self.thread.decided.judged.failures.saturating_sub(failed);
        if proposed && !self.is_proposed() {
            self.proposal_is_over(&record.event);
        }
        match &record.event {
            Event::CompactionReported(it) if it.status == CompactionReportStatus::Completed => {
                self.compaction_completed(record.at);
            }
            _ if self.is_measured() && !was_measured => self.measured(),
            _ => {}
        }
        self.resume(&record.event);
        self.follow_phase(record);
    }

    /// The figures.
    pub fn finish(mut self, lines: LineCounts) -> ThreadStats {
        match self.counts_from {
            Some(from) => drop(self.stats.runs.drain(..from)),
            None => self.stats = empty(self.id()),
        }
        if !self.commands.is_recorded {
            self.stats.runs.iter_mut().for_each(|run| run.commands = None);
        }
        let Session { cwd, host, agent, .. } = self.thread.session;
        ThreadStats { cwd, host: host.name, agent, lines, ..self.stats }
    }

    fn id(&self) -> ThreadId {
        self.thread.id.clone()
    }

    fn is_proposed(&self) -> bool {
        self.thread.proposal().is_some() || self.judges_proposal && self.thread.judging().is_some()
    }

    fn is_measured(&self) -> bool {
        self.thread.compactions.last.as_ref().is_some_and(|last| last.measured)
    }

    fn run(&mut self, run: Option<usize>) -> Option<&mut CompactionRun> {
        self.stats.runs.get_mut(run?)
    }

    /// Counts what depends on the state before the event.
    fn before(&mut self, record: &Record) {
        let snoozes = std::mem::take(&mut self.snoozes);
        match &record.event {
            Event::Assessed(assessed) => self.assessed(assessed),
            Event::SequenceStarted(started) => self.started(started, record.at),
            Event::ActionIssued(issued) => match &issued.kind {
                HostAction::Judge { .. } => self.stats.judge.asked += 1,
                kind if kind.hands_over() => {
                    let begins = |run| Resuming::new(run, issued.action.clone());
                    self.resuming = self.running.map(begins);
                }
                _ => {}
            },
            Event::JudgmentAnswered(answered) => match answered.answer {
                JudgeReply::Says { should_compact: true, .. } => self.stats.judge.yes += 1,
                JudgeReply::Says { should_compact: false, .. } => self.stats.judge.no += 1,
                // The core counts those, because after a deadline there is no answer.
                JudgeReply::Failed { .. } => {}
            },
            Event::PacketTaken(taken) => self.packet(&taken.packet),
            Event::GuardSet(set) if set.note.as_deref() == Some(SNOOZED) => {
                self.snoozes = true;
                self.stats.answers.snoozed += 1;
            }
            Event::Responded(responded) => self.responded(responded, snoozes),
            Event::CommandFinished(finished) => {
                self.commands.is_recorded = true;
                if finished.check.is_none() {
                    let run = self.compacted.and_then(|run| self.stats.runs.get_mut(run));
                    let counts = run.and_then(|run| run.commands.as_mut());
                    self.commands.ran(&finished.command, self.thread.turns_ended, counts);
                }
            }
            Event::SequenceEnded(ended) => self.ended(ended),
            _ => {}
        }
    }

    fn assessed(&mut self, assessed: &Assessed) {
        let proposed = self.is_proposed();
        self.judges_proposal = proposed && assessed.outcome == Outcome::Judge;
        self.stats.judge.vetoes += u32::from(assessed.vetoed);
        if assessed.confirm.is_some() {
            self.stats.proposals.made += 1;
            self.stats.proposals.overtaken += u32::from(proposed);
        }
        if !matches!(assessed.outcome, Outcome::Compact | Outcome::Ask) {
            return;
        }
        let is_emergency = assessed.tier == Some(Tier::Emergency);
        let start = match assessed.entrance {
            Entrance::Inline => CompactionStart::BuiltIn,
            // A person asked.
            Entrance::TurnComplete if assessed.turn.is_none() => match proposed {
                true => CompactionStart::Approval,
                false => CompactionStart::Person,
            },
            _ if is_emergency => CompactionStart::Emergency,
            Entrance::Preflight if proposed => match self.thread.held.is_empty() {
                true => CompactionStart::Silence,
                false => CompactionStart::Message,
            },
            // Something was deferred, and the line that tells what is damaged.
            Entrance::Preflight
                if self.thread.stage.waiting().is_none() && self.thread.judging().is_none() =>
            {
                CompactionStart::NotRecorded
            }
            Entrance::Preflight | Entrance::TurnComplete | Entrance::MidTurn => {
                CompactionStart::Boundary
            }
        };
        self.start = Some(start);
    }

    fn proposal_is_over(&mut self, by: &Event) {
        let counts = &mut self.stats.proposals;
        let count = match by {
            Event::Assessed(assessed)
                if matches!(assessed.outcome, Outcome::Compact | Outcome::Ask) =>
            {
                match self.start {
                    Some(CompactionStart::Message) => &mut counts.by_message,
                    Some(CompactionStart::Silence) => &mut counts.by_silence,
                    Some(CompactionStart::Approval) => &mut counts.by_approval,
                    _ => &mut counts.overtaken,
                }
            }
            Event::Assessed(assessed) if assessed.dropped.is_some() => &mut counts.dropped,
            Event::TurnStarted(_) => &mut counts.dropped,
            Event::Responded(_) => &mut counts.stopped,
            _ => &mut counts.overtaken,
        };
        *count += 1;
    }

    fn started(&mut self, started: &SequenceStarted, at: Timestamp) {
        // The sequence only tells of a run that has ended.
        if started.closes {
            self.running = None;
            return;
        }
        if let Some(packet) = &started.late {
            // Hands over for the newest compaction, which came outside of a sequence or too late for its own.
            self.running = self.compacted;
            if let Some(run) = self.run(self.compacted) {
                run.sequence.get_or_insert_with(|| started.sequence.clone());
            }
            self.packet(packet);
            return;
        }
        let fallback = match &started.trigger {
            Trigger::Inline { .. } => CompactionStart::BuiltIn,
            Trigger::Rawr { tier: Tier::Emergency, .. } => CompactionStart::Emergency,
            Trigger::Rawr { .. } => CompactionStart::NotRecorded,
            Trigger::User => CompactionStart::Person,
            Trigger::Host => CompactionStart::Host,
        };
        self.resuming = None;
        self.running = Some(self.stats.runs.len());
        self.stats.runs.push(CompactionRun {
            sequence: Some(started.sequence.clone()),
            tier: started.trigger.tier(),
            inside_turn: started.turn.is_some(),
            ..begun(at, self.start.take().unwrap_or(fallback))
        });
    }

    fn packet(&mut self, packet: &Packet) {
        let facts = PacketFacts::of(packet, &coverage::facts(&self.thread));
        if let Some(run) = self.run(self.running) {
            run.packet = Some(facts);
        }
    }

    fn responded(&mut self, responded: &Responded, snoozes: bool) {
        let answers = &mut self.stats.answers;
        match responded.choice {
            Choice::CompactNow => answers.asked += 1,
            Choice::Approve => answers.approved += 1,
            // The guard of a snooze is counted.
            Choice::Snooze => answers.snoozed += u32::from(!snoozes),
            Choice::Cancel => answers.cancelled += 1,
            Choice::EditPacket => answers.edited += 1,
        }
        if let (Choice::EditPacket, Some(text)) = (responded.choice, &responded.packet) {
            self.packet(&Packet {
                author: PacketAuthor::Person,
                resume: resume_state(text),
                text: text.clone(),
                added: Vec::new(),
            });
        }
    }

    /// Called after the compaction was folded in.
    fn compaction_completed(&mut self, at: Timestamp) {
        let Some(last) = &self.thread.compactions.last else { return };
        let (by, before, after) = (last.origin, last.before, last.after);
        let is_of = |run: &CompactionRun| last.sequence.is_some() && run.sequence == last.sequence;
        let run = self.stats.runs.iter().rposition(is_of).unwrap_or_else(|| {
            let start = match by {
                CompactionOrigin::Host => CompactionStart::Host,
                CompactionOrigin::User => CompactionStart::Person,
                CompactionOrigin::Rawr => CompactionStart::NotRecorded,
            };
            // A turn of the host may be the compaction's own.
            let is_work = |turn: &Turn| turn.is_open() && turn.origin == TurnOrigin::User;
            let inside_turn = self.thread.turns.back().is_some_and(is_work);
            self.stats.runs.push(CompactionRun { inside_turn, ..begun(at, start) });
            self.stats.runs.len() - 1
        });
        self.compacted = Some(run);
        self.resuming = None;
        let Some(run) = self.run(Some(run)) else { return };
        // The built-in compaction may need two.
        let first = run.compaction;
        let before = first.and_then(|first| first.before).or(before);
        run.compaction = Some(CompactionTokens { by, before, after, is_measured: false });
        run.commands = Some(CommandCounts::default());
        if first.is_none() {
            self.commands.compacted(self.thread.turns_ended);
        }
    }

    /// The first request after a compaction was reported.
    fn measured(&mut self) {
        let after = self.thread.compactions.last.as_ref().and_then(|last| last.after);
        let run = self.run(self.compacted);
        if let Some(compaction) = run.and_then(|run| run.compaction.as_mut()) {
            (compaction.after, compaction.is_measured) = (after, true);
        }
    }

    fn resume(&mut self, event: &Event) {
        let Some(resuming) = &mut self.resuming else { return };
        let turn = match event {
            Event::TurnCompleted(ended) => self.thread.turn(&ended.turn),
            _ => None,
        };
        let ended = match turn {
            Some(turn) if !turn.is_synthetic() => EndedTurn::OfWork,
            Some(turn) if turn.action.as_ref() == Some(&resuming.handoff) => EndedTurn::OfHandoff,
            Some(_) | None => EndedTurn::Other,
        };
        if let Resumed::With(requests) = resuming.saw(event, ended) {
            let run = resuming.run;
            self.resuming = None;
            if let Some(run) = self.run(Some(run)) {
                run.requests_until_work = requests;
            }
        }
    }

    fn ended(&mut self, ended: &SequenceEnded) {
        let hands_over =
            |running: &Sequence| running.handoff().is_some() && ended.ending == Ending::Completed;
        let handed_over = self.thread.sequence().is_some_and(hands_over);
        if !handed_over {
            self.resuming = None;
        }
        let run = self.running.take();
        if let Some(run) = self.run(run) {
            run.handed_over |= handed_over;
            run.endings.push(RunEnding { ending: ended.ending, reason: ended.reason.clone() });
        }
    }

    /// Takes the time of a phase that is over. A phase in which a sequence gave up was not completed.
    fn follow_phase(&mut self, record: &Record) {
        let now = self.thread.sequence();
        let now = now.map(|running| (&running.id, running.phase(&self.thread)));
        if self.phase.as_ref().map(|open| (&open.sequence, open.phase)) == now {
            return;
        }
        let next = now.map(|(sequence, phase)| OpenPhase {
            sequence: sequence.clone(),
            run: self.running,
            phase,
            since: record.at,
            is_interrupted: false,
        });
        let Some(open) = std::mem::replace(&mut self.phase, next) else { return };
        let goes_on = self.phase.as_ref().is_some_and(|next| next.sequence == open.sequence);
        let is_completed = match &record.event {
            Event::SequenceEnded(ended) => ended.ending == Ending::Completed,
            _ => goes_on,
        };
        if let Some(run) = self.run(open.run.filter(|_| is_completed)) {
            let ms = u64::try_from(record.at.0.saturating_sub(open.since.0)).ok();
            run.was_in(open.phase, ms.filter(|_| !open.is_interrupted));
        }
    }
}

impl CompactionRun {
    /// A phase may come again. Once a part of it is not known, its sum is not.
    fn was_in(&mut self, phase: Phase, ms: Option<u64>) {
        match self.phases.iter_mut().find(|known| known.phase == phase) {
            Some(known) => known.ms = known.ms.zip(ms).map(|(sum, ms)| sum.saturating_add(ms)),
            None => self.phases.push(PhaseTime { phase, ms }),
        }
    }
}

/// With hooks the thread is opened for each of them, and nothing is interrupted.
const fn runs_by_hooks(opened: &ThreadOpened) -> bool {
    opened.host.can.compact_by_person
}

fn begun(at: Timestamp, start: CompactionStart) -> CompactionRun {
    CompactionRun {
        at,
        sequence: None,
        start,
        tier: None,
        inside_turn: false,
        compaction: None,
        packet: None,
        handed_over: false,
        requests_until_work: None,
        commands: None,
        phases: Vec::new(),
        endings: Vec::new(),
    }
}

fn empty(thread: ThreadId) -> ThreadStats {
    ThreadStats {
        thread,
        cwd: String::new(),
        host: String::new(),
        agent: None,
        spans: None,
        turns: 0,
        runs: Vec::new(),
        proposals: Default::default(),
        answers: Default::default(),
        judge: Default::default(),
        lines: LineCounts::default(),
    }
}
