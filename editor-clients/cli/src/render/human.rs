//! Renders a session as a transcript: messages, commands, usage, and the verdicts about compaction. Colors are always written;
//! the output stream removes them if they are disabled.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{self, Write};

use anstyle::Style;
use rawr_protocol::{
    CompactionStatus, CompactionUpdateNotification, Decision, Entrance, FateStatus, GateResult,
    MessageType, Outcome, PacketGetResult, Phase, PlanStep, Purpose, StepStatus,
    ThreadChangedNotification, Tier, TurnStatus,
};

use super::decisions::{GATE, mark, style};
use super::palette::{BAD, BOLD, DIM, GOOD, OURS, WARN, WIDTH, paint};
use super::text::{bytes, number, sentence, shortened, wrapped};
use super::threads::tier_style;
use super::{Detail, TerminalWidth};
use crate::render::banner::{BANNER, BANNER_EDGES, banner};
use rawr_host::event::{InjectedText, LeftMessage, NextSteps, NoticeLevel, SessionEvent};
use rawr_host::host::{HostEvent, HostThread};
use rawr_host::session_files::SessionFiles;
use rawr_host::text::{one_line, sanitize_terminal};

/// The renderer's state.
#[derive(Debug)]
pub(super) struct TranscriptRenderer {
    is_live: bool,
    columns: TerminalWidth,
    detail: Detail,
    /// The current activity, for the live line.
    status: Option<String>,
    is_drawn: bool,
    frame: usize,
    meter: Option<(u8, Option<Tier>)>,
    phase: Option<Phase>,
    plan: Vec<PlanStep>,
    /// Turns whose message is shown as a packet.
    packet_turns: HashSet<String>,
}

/// Below this width the terminal wraps the lines.
const NARROWEST: usize = 16;
/// How many lines of a message from rawr are shown.
const MESSAGE_LINES: usize = 6;
const FRAMES: [&str; 8] = ["⠋", "⠙", "⠸", "⢰", "⣠", "⣄", "⡆", "⠇"];
const CLEAR_LINE: &str = "\r\u{1b}[2K";

impl TranscriptRenderer {
    pub(super) fn new(is_live: bool, columns: TerminalWidth, detail: Detail) -> Self {
        Self {
            is_live,
            columns,
            detail,
            status: None,
            is_drawn: false,
            frame: 0,
            meter: None,
            phase: None,
            plan: Vec::new(),
            packet_turns: HashSet::new(),
        }
    }

    /// The width between the edges of a frame.
    fn within(&self, most: usize, edges: usize) -> usize {
        let columns = (self.columns)().unwrap_or(usize::MAX);
        most.min(columns.saturating_sub(edges)).max(NARROWEST)
    }

    fn beside_a_bar(&self) -> usize {
        self.within(WIDTH, "  │ ".chars().count())
    }

    pub(super) fn keep_still(&mut self) {
        self.is_live = false;
    }

    pub(super) fn is_live(&self) -> bool {
        self.is_live && self.status.is_some()
    }

    pub(super) fn tick(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.frame = (self.frame + 1) % FRAMES.len();
        self.draw(out)
    }

    pub(super) fn show(&mut self, shown: &SessionEvent<'_>, out: &mut dyn Write) -> io::Result<()> {
        let lines = self.lines(shown);
        if self.is_drawn {
            out.write_all(CLEAR_LINE.as_bytes())?;
            self.is_drawn = false;
        }
        for line in lines {
            writeln!(out, "{line}")?;
        }
        self.draw(out)
    }

    fn draw(&mut self, out: &mut dyn Write) -> io::Result<()> {
        // Do not draw over an answer that is being typed.
        let is_moving = self.is_live && self.phase != Some(Phase::AwaitingApproval);
        let Some(status) = self.status.as_ref().filter(|_| is_moving) else { return Ok(()) };
        self.is_drawn = true;
        let frame = paint(OURS, FRAMES[self.frame]);
        write!(out, "{CLEAR_LINE}{frame} {}", paint(DIM, status))
    }

    fn lines(&mut self, shown: &SessionEvent<'_>) -> Vec<String> {
        match shown {
            SessionEvent::Session { host, .. } => session(host),
            SessionEvent::SidecarRestarted { error, pending } => vec![paint(
                WARN,
                &format!("! {error}; it was restarted with {pending} pending actions"),
            )],
            SessionEvent::UserMessage { text, .. } => said("›", BOLD, text),
            SessionEvent::InputHeld { text, .. } => {
                let text = one_line(text, WIDTH);
                vec![paint(DIM, &format!("  held until the handoff: {text}"))]
            }
            SessionEvent::MessageLeft { text, fate: LeftMessage::Kept } => {
                let text = one_line(text, WIDTH);
                vec![paint(DIM, &format!("  sent when you continue: {text}"))]
            }
            SessionEvent::MessageLeft { text, fate: LeftMessage::NotSent } => {
                said("not sent:", WARN, text)
            }
            SessionEvent::MessageLeft { text, fate: LeftMessage::Unknown } => {
                said("perhaps not sent, look when you continue:", WARN, text)
            }
            SessionEvent::Injected { purpose, injected } => self.injected(*purpose, injected),
            SessionEvent::Handoff(injected) => {
                self.told_by_rawr("hands the packet back", injected.text)
            }
            SessionEvent::Host(event) => self.host_event(event),
            SessionEvent::ThreadChanged(changed) => self.thread_changed(changed),
            SessionEvent::Verdict(decided) => self.verdict(&decided.decision),
            SessionEvent::HeadsUp(heads_up) => {
                let width = self.within(BANNER, BANNER_EDGES);
                banner(heads_up, width).iter().map(|line| paint(OURS, line)).collect()
            }
            SessionEvent::Packet(packet) => packet_lines(packet, self.beside_a_bar()),
            SessionEvent::Compaction(update) => compaction(update),
            SessionEvent::PromptChanged(changed) if changed.problems.is_empty() => {
                vec![paint(DIM, &format!("  prompt {} was edited and is now used", changed.name))]
            }
            SessionEvent::PromptChanged(changed) => vec![paint(
                WARN,
                &format!("! prompt {} has problems: `rawr doctor` shows them", changed.name),
            )],
            SessionEvent::ConfigChanged(changed) if changed.problems.is_empty() => {
                vec![paint(DIM, "  the configuration was edited and is now used")]
            }
            SessionEvent::ConfigChanged(_) => {
                vec![paint(WARN, "! the configuration has problems: `rawr doctor` shows them")]
            }
            SessionEvent::Log(said) => match said.level {
                MessageType::Error | MessageType::Warning => {
                    notice(NoticeLevel::Warning, &said.message)
                }
                MessageType::Info | MessageType::Log => Vec::new(),
            },
            SessionEvent::Notice { level, message } => notice(*level, message),
            SessionEvent::Saved(saved) if self.detail == Detail::Full => saved_lines(saved),
            SessionEvent::Saved(_) => Vec::new(),
            SessionEvent::NextSteps(steps) => next_steps(steps),
        }
    }

    fn injected(&mut self, purpose: Purpose, injected: &InjectedText<'_>) -> Vec<String> {
        let what = match purpose {
            Purpose::HeadsUp => "gives notice",
            Purpose::ScratchWrite => "asks for working notes",
            Purpose::PacketRequest => {
                self.packet_turns.extend(injected.turn_id.map(str::to_owned));
                "asks for the continuation packet"
            }
            Purpose::Handoff => "hands the packet back",
            Purpose::Notice => "tells the agent that nothing was compacted",
        };
        self.told_by_rawr(what, injected.text)
    }

    fn told_by_rawr(&self, what: &str, text: &str) -> Vec<String> {
        let mut lines = vec![String::new(), paint(OURS, &format!("› rawr {what}"))];
        if self.detail == Detail::Full {
            let text = shortened(text, self.beside_a_bar(), MESSAGE_LINES);
            lines.extend(text.iter().map(|line| paint(DIM, &format!("  │ {line}"))));
        }
        lines
    }

    fn host_event(&mut self, event: &HostEvent) -> Vec<String> {
        match event {
            HostEvent::TurnStarted { .. } => {
                self.status.get_or_insert_with(|| "working…".to_owned());
                Vec::new()
            }
            HostEvent::AgentMessage { turn_id, .. } if self.packet_turns.contains(turn_id) => {
                Vec::new()
            }
            HostEvent::AgentMessage { text, .. } => said("•", Style::new(), text),
            HostEvent::PlanUpdated { steps, .. } => self.plan_updated(steps),
            HostEvent::CommandFinished { command, exit_code, .. } => {
                self.command_line(command, *exit_code)
            }
            HostEvent::TurnCompleted { status, .. } => {
                self.status = self.phase.and_then(status_of);
                match status {
                    TurnStatus::Interrupted => vec![paint(WARN, "  the turn was interrupted")],
                    TurnStatus::Completed | TurnStatus::Failed => Vec::new(),
                }
            }
            HostEvent::ReviewEntered { .. } => vec![paint(DIM, "  review mode: no compaction")],
            HostEvent::ReviewLeft { .. } => vec![paint(DIM, "  review mode ended")],
            HostEvent::Notice(message) => notice(NoticeLevel::Info, message),
            HostEvent::Gone { reason } => notice(NoticeLevel::Error, reason),
            // Reported by the driver as a user message.
            HostEvent::UserMessage { .. }
            | HostEvent::Usage { .. }
            | HostEvent::UsageEstimated { .. }
            | HostEvent::Answered { .. }
            | HostEvent::AsksPerson
            | HostEvent::CompactionDeclined
            | HostEvent::MessagesTakenBack
            | HostEvent::TitleChanged { .. }
            | HostEvent::ToolStarted { .. }
            | HostEvent::ToolFinished { .. }
            | HostEvent::CompactionStarted { .. }
            | HostEvent::CompactionCompleted { .. }
            | HostEvent::CompactionFailed { .. } => Vec::new(),
        }
    }

    /// A new plan in full; otherwise its changed steps.
    fn plan_updated(&mut self, steps: &[PlanStep]) -> Vec<String> {
        let before = std::mem::replace(&mut self.plan, steps.to_vec());
        let is_same = before.len() == steps.len()
            && before.iter().zip(steps).all(|(old, new)| old.step == new.step);
        let mut lines = vec![String::new(), "• Plan".to_owned()];
        let changed = |at: usize, step: &PlanStep| !is_same || before[at].status != step.status;
        let steps = steps.iter().enumerate().filter(|(at, step)| changed(*at, step));
        lines.extend(steps.map(|(_, step)| plan_step(step)));
        lines
    }

    fn thread_changed(&mut self, changed: &ThreadChangedNotification) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(percent) = changed.percent_remaining
            && self.meter.replace((percent, changed.tier)) != Some((percent, changed.tier))
        {
            lines.push(meter(percent, changed.tier));
        }
        let before = self.phase.replace(changed.phase);
        if before != Some(changed.phase) {
            let fate = changed.last_fate.as_ref();
            let withdrawn = fate.filter(|fate| {
                before == Some(Phase::Proposed) && fate.status == FateStatus::CalledOff
            });
            lines.extend(withdrawn.map(|fate| quiet(&format!("the proposal was {}", fate.text))));
            if changed.phase != Phase::AwaitingPacket {
                // Later messages in the same turn are not packets.
                self.packet_turns.clear();
            }
            self.status = status_of(changed.phase);
            lines.extend(changed.proposal.as_ref().map(|proposal| quiet(&proposal.text)));
            if let Some(status) = self.status.as_ref().filter(|_| !self.is_live) {
                lines.push(format!("  {status}"));
            }
        }
        lines
    }
}

impl TranscriptRenderer {
    /// One line. There are many decisions inside a turn, and nearly all of them change nothing.
    fn verdict(&self, decision: &Decision) -> Vec<String> {
        let is_nothing = decision.outcome == Outcome::Nothing;
        if decision.confirm.is_some() {
            // The change of the phase tells of it.
            return Vec::new();
        }
        if decision.proposal_id.is_some() && is_nothing {
            return vec![quiet(&decision.reason)];
        }
        if is_nothing && decision.entrance == Entrance::MidTurn && self.detail == Detail::Brief {
            return Vec::new();
        }
        let mut lines = Vec::new();
        if !is_nothing {
            lines.push(String::new());
        }
        let (style, word) = (style(decision.outcome), decision.outcome.label());
        let reason = sentence(&format!("{word}: {}", one_line(&decision.reason, 2 * WIDTH)));
        let reason = wrapped(&reason, self.within(WIDTH, 2));
        lines.extend(reason.iter().map(|line| paint(style, &format!("  {line}"))));
        if self.detail == Detail::Full {
            lines.extend(decision.gates.iter().map(gate_line));
        }
        lines
    }

    /// A command on at most two lines, so that the last part of a chain is seen.
    fn command_line(&self, command: &str, exit_code: i64) -> Vec<String> {
        let end = match exit_code {
            0 => paint(GOOD, "✓"),
            code => paint(BAD, &format!("✗ exit {code}")),
        };
        let width = self.within(WIDTH - 14, 14);
        let command = one_line(&bare_command(command), 2 * width);
        let mut lines = wrapped(&command, width);
        if lines.len() > 2 {
            lines.truncate(1);
            lines.push("…".to_owned());
        }
        if let Some(last) = lines.last_mut() {
            last.push_str(&format!("  {end}"));
        }
        let marks = std::iter::once("$").chain(std::iter::repeat(" "));
        lines.iter().zip(marks).map(|(line, mark)| format!("{} {line}", paint(DIM, mark))).collect()
    }
}

/// The script of `bash -lc '…'`, which is how Codex runs every command.
fn bare_command(command: &str) -> Cow<'_, str> {
    // A program of the repository may have the same name.
    let is_shell = |program: &str| {
        let (folder, name) = program.rsplit_once('/').unwrap_or(("/bin", program));
        ["/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"].contains(&folder)
            && ["bash", "sh", "zsh"].contains(&name)
    };
    // Other commands are shown as they were run.
    let mut words = command.splitn(3, ' ');
    let is_wrapped = words.next().is_some_and(is_shell)
        && matches!(words.next(), Some("-c" | "-lc"))
        && words.next().is_some();
    match shlex::split(command).filter(|_| is_wrapped).as_deref() {
        Some([_, _, script]) => Cow::Owned(script.clone()),
        _ => Cow::Borrowed(command),
    }
}

fn gate_line(gate: &GateResult) -> String {
    let evidence = one_line(&gate.evidence, WIDTH - 20);
    format!("    {} {:<GATE$} {}", mark(gate.outcome), gate.gate.label(), paint(DIM, &evidence))
}

/// The activity of a sequence, in the live line or printed once.
fn status_of(phase: Phase) -> Option<String> {
    (!phase.is_quiet()).then(|| format!("{}…", phase.label()))
}

/// A proposal and its end are one line each, without a box.
fn quiet(text: &str) -> String {
    paint(DIM, &format!("  {}", one_line(text, 2 * WIDTH)))
}

fn session(host: &HostThread) -> Vec<String> {
    let mut facts = vec![match &host.host.version {
        Some(version) => format!("{} {version}", host.host.name),
        None => host.host.name.clone(),
    }];
    facts.extend(host.model.clone());
    facts.extend(host.context_window.map(|window| format!("{} tokens", number(window))));
    let head = format!("{} {}", paint(BOLD, "rawr"), facts.join(" · "));
    vec![head, paint(DIM, &format!("thread {} in {}", host.thread_id, host.cwd.display()))]
}

fn said(mark: &str, style: Style, text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for (at, line) in sanitize_terminal(text.trim()).lines().enumerate() {
        let mark = if at == 0 { mark } else { " " };
        lines.push(format!("{} {}", paint(style, mark), paint(style, line)));
    }
    lines
}

pub fn plan_step(step: &PlanStep) -> String {
    let text = one_line(&step.step, WIDTH);
    match step.status {
        StepStatus::Completed => format!("  {} {}", paint(GOOD, "✓"), paint(DIM, &text)),
        StepStatus::InProgress => format!("  {} {text}", paint(OURS, "▸")),
        StepStatus::Pending => format!("  {} {text}", paint(DIM, "·")),
    }
}

fn meter(percent: u8, tier: Option<Tier>) -> String {
    let (style, word) = tier_style(tier);
    let word = word.map(|word| format!(" · {}", paint(style, word))).unwrap_or_default();
    format!("  context {}{word}", paint(style, &format!("{percent}% left")))
}

fn packet_lines(packet: &PacketGetResult, width: usize) -> Vec<String> {
    let author = packet.author.label();
    let mut facts = vec![format!("{} tokens", number(packet.checked.tokens))];
    if !packet.checked.missing.is_empty() {
        facts.push(format!("lacks {}", packet.checked.missing.join(", ")));
    }
    if packet.checked.redactions > 0 {
        facts.push(format!("{} secrets redacted", packet.checked.redactions));
    }
    let head = format!("• Packet by {author} ({})", facts.join("; "));
    let mut lines = vec![String::new(), head];
    lines.extend(shortened(&packet.packet, width, 14).iter().map(|line| format!("  │ {line}")));
    lines
}

/// The progress of a compaction.
pub fn compaction(update: &CompactionUpdateNotification) -> Vec<String> {
    let error = sanitize_terminal(update.error.as_deref().unwrap_or("no reason was given"));
    match update.status {
        CompactionStatus::InProgress => Vec::new(),
        CompactionStatus::Completed => {
            let size = match (update.tokens_before, update.tokens_after) {
                (Some(before), Some(after)) => {
                    format!(": {} → {} tokens (host's estimate)", number(before), number(after))
                }
                _ => String::new(),
            };
            vec![String::new(), paint(GOOD, &format!("• Context compacted{size}"))]
        }
        CompactionStatus::Failed => {
            vec![paint(BAD, &format!("✗ the compaction failed: {error}; nothing was compacted"))]
        }
        CompactionStatus::Cancelled => {
            vec![paint(WARN, "  the compaction was canceled; nothing was compacted")]
        }
    }
}

fn notice(level: NoticeLevel, message: &str) -> Vec<String> {
    let message = sanitize_terminal(message.trim());
    vec![match level {
        NoticeLevel::Info => paint(DIM, &format!("  {message}")),
        NoticeLevel::Warning => paint(WARN, &format!("! {message}")),
        NoticeLevel::Error => paint(BAD, &format!("✗ {message}")),
    }]
}

fn next_steps(steps: &NextSteps) -> Vec<String> {
    let mut lines = vec![String::new()];
    lines.extend(steps.resume.as_ref().map(|resume| format!("To continue: {resume}")));
    lines.push(paint(DIM, &format!("Why rawr compacted, or did not: {}", steps.explain)));
    lines
}

fn saved_lines(saved: &SessionFiles) -> Vec<String> {
    let folder = saved.folder.display();
    let mut lines = vec![String::new(), format!("saved in {folder}")];
    lines.extend(saved.files.iter().map(|file| {
        let count = file.lines.map(|lines| format!("{lines} lines")).unwrap_or_default();
        let text = format!("  {:<28} {:>10}  {count}", file.name, bytes(file.bytes));
        text.trim_end().to_owned()
    }));
    lines.extend(saved.packet.as_ref().map(|packet| {
        let size = bytes(packet.bytes as u64);
        format!("  {:<28} {size:>10}  in events.jsonl", "the packet")
    }));
    lines
}
