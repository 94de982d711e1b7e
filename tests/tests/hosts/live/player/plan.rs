//! What a player will do, and how the model will answer: all of it decided by the seed, before anything runs.

use std::time::Duration;

use rawr_tests::Dice;
use rawr_tests::mock_responses::{TurnReply, TurnScript, http_error, reply};

use crate::fixture::PACKET;

/// The agent that is played with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentKind {
    Claude,
    Codex,
}

/// In every summary of the model.
pub const SUMMARY: &str = "A summary by the model.";

/// A text that the player types, with words that no other has.
#[derive(Debug, Clone)]
pub struct Piece {
    pub number: usize,
    pub text: String,
    /// A file that the text mentions, and what is in it.
    pub file: Option<(String, String)>,
}

impl Piece {
    pub fn first_word(&self) -> String {
        format!("m{:02}a", self.number)
    }

    pub fn last_word(&self) -> String {
        format!("m{:02}z", self.number)
    }
}

/// By its index among the pieces.
pub type PieceId = usize;

#[derive(Debug, Clone, Copy)]
pub enum Pause {
    Ms(u64),
    /// Until the agent has nothing to do.
    UntilQuiet,
}

/// Which of rawr's processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RawrPart {
    /// `rawr claude-mod`, or Codex's driver.
    Bridge,
    Sidecar,
    Both,
}

#[derive(Debug, Clone, Copy)]
pub enum Move {
    Send(PieceId),
    /// The second after this many milliseconds.
    SendTwo(PieceId, PieceId, u64),
    /// Types the second this many milliseconds after Enter, and leaves it.
    SendAndType(PieceId, PieceId, u64),
    /// Types and leaves it.
    Draft(PieceId),
    Enter,
    Escape,
    EscapeTwice(u64),
    /// Opens a picker with this command and leaves it after this many milliseconds.
    Picker(&'static str, u64),
    /// Chooses another session, so many lines down in the list, after this many milliseconds.
    OtherSession(u64, u64),
    /// Goes back by so many messages.
    Rewind(u64),
    /// `/background`, or the left arrow, and back after this many milliseconds.
    Background(&'static str, u64),
    /// A command that needs nothing else.
    Command(&'static str),
    CtrlC,
    /// Closes the terminal, and resumes the session after this many milliseconds.
    Close(u64),
    /// For this many milliseconds.
    Stop(RawrPart, u64),
    Kill(RawrPart),
}

#[derive(Debug)]
pub struct Plan {
    pub kind: AgentKind,
    pub seed: u64,
    pub pieces: Vec<Piece>,
    pub moves: Vec<(Pause, Move)>,
    pub script: TurnScript,
    /// In rawr's configuration.
    pub settings: String,
    /// Claude Code's own compaction begins early.
    pub compacts_early: bool,
    /// `rawr codex --preflight`.
    pub preflight: bool,
}

/// What a piece says, and what the agent does about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PieceKind {
    Work,
    /// Confirms a proposal.
    Next,
    /// Confirms a proposal, and asks for work.
    NextWork,
    /// Drops a proposal.
    StillOpen,
    Question,
}

impl Plan {
    pub fn new(kind: AgentKind, seed: u64) -> Self {
        let mut planner = Planner::new(kind, seed);
        planner.scenes();
        planner.finish(seed)
    }
}

struct Planner {
    kind: AgentKind,
    dice: Dice,
    pieces: Vec<Piece>,
    moves: Vec<(Pause, Move)>,
    script: TurnScript,
}

impl Planner {
    fn new(kind: AgentKind, seed: u64) -> Self {
        let dice = Dice::new(seed.wrapping_mul(2) + u64::from(kind == AgentKind::Codex));
        Self { kind, dice, pieces: Vec::new(), moves: Vec::new(), script: TurnScript::default() }
    }

    fn scenes(&mut self) {
        if self.dice.chance(40) {
            // Another session, to come back to.
            let hello = self.piece(PieceKind::Question);
            self.add(Pause::Ms(0), Move::Send(hello));
            let command = if self.kind == AgentKind::Claude { "/clear" } else { "/new" };
            self.add(Pause::UntilQuiet, Move::Command(command));
        }
        let mut is_proposed = false;
        for _ in 0..self.dice.between(3, 4) {
            if !is_proposed || self.dice.chance(30) {
                let work = self.piece(PieceKind::Work);
                self.add(Pause::UntilQuiet, Move::Send(work));
                if self.dice.chance(25) {
                    self.mischief();
                }
            }
            let next = self.dice.pick(&[
                (45, PieceKind::NextWork),
                (35, PieceKind::Next),
                (20, PieceKind::StillOpen),
            ]);
            is_proposed = next == PieceKind::NextWork;
            let message = self.piece(next);
            let then = self.dice.between(0, 700);
            let sent = match self.dice.between(1, 100) {
                1..=15 => {
                    let second = self.piece(PieceKind::Question);
                    Move::SendTwo(message, second, then)
                }
                16..=35 => Move::SendAndType(message, self.piece(PieceKind::Question), then),
                _ => Move::Send(message),
            };
            self.add(Pause::UntilQuiet, sent);
            // What rawr makes of the message takes some tenths of a second, and some seconds if it confirms.
            let pause = match self.dice.between(1, 100) {
                1..=40 => self.dice.between(0, 500),
                41..=80 => self.dice.between(500, 3_000),
                _ => self.dice.between(3_000, 6_000),
            };
            let first = self.any_move();
            self.add(Pause::Ms(pause), first);
            for _ in 0..self.dice.between(0, 2) {
                self.mischief();
            }
        }
    }

    fn add(&mut self, pause: Pause, then: Move) {
        self.moves.push((pause, then));
    }

    fn mischief(&mut self) {
        let pause = match self.dice.between(1, 100) {
            1..=50 => Pause::Ms(self.dice.between(0, 600)),
            51..=80 => Pause::Ms(self.dice.between(600, 2_500)),
            _ => Pause::Ms(self.dice.between(2_500, 6_000)),
        };
        let mischief = self.any_move();
        self.add(pause, mischief);
    }

    fn any_move(&mut self) -> Move {
        let part =
            self.dice.pick(&[(4, RawrPart::Bridge), (3, RawrPart::Sidecar), (2, RawrPart::Both)]);
        let claude = u64::from(self.kind == AgentKind::Claude);
        let picker = self.dice.pick(&[(2, "/model"), (2, "/resume"), (2 * claude, "/rewind")]);
        let clear = self.dice.pick(&[(claude, "/clear"), (1 - claude, "/new")]);
        let away = self.dice.pick(&[(1, "/background"), (1, "\x1b[D")]);
        let (short, long) = (self.dice.between(0, 700), self.dice.between(300, 7_000));
        let stopped = self.dice.between(3_000, 10_000);
        let far = self.dice.between(0, 2);
        let choice = self.dice.pick(&[
            (8, Move::Send(0)),
            (4, Move::SendTwo(0, 0, short)),
            (6, Move::SendAndType(0, 0, short)),
            (6, Move::Draft(0)),
            (3, Move::Enter),
            (16, Move::Escape),
            (4, Move::EscapeTwice(short)),
            (7, Move::Picker(picker, long)),
            (8, Move::OtherSession(far, long / 2)),
            (5, Move::Rewind(far + 1)),
            (6 * claude, Move::Background(away, long / 2)),
            (4, Move::Command(clear)),
            (2 * claude, Move::Command("/reload-plugins")),
            (4, Move::Command("/compact")),
            (3, Move::CtrlC),
            (5, Move::Close(long / 2)),
            (6, Move::Stop(part, stopped)),
            (5, Move::Kill(part)),
        ]);
        // The pieces are made for the move that was chosen.
        match choice {
            Move::Send(_) => Move::Send(self.any_piece()),
            Move::SendTwo(_, _, gap) => Move::SendTwo(self.any_piece(), self.any_piece(), gap),
            Move::SendAndType(_, _, gap) => {
                Move::SendAndType(self.any_piece(), self.any_piece(), gap)
            }
            Move::Draft(_) => Move::Draft(self.any_piece()),
            other => other,
        }
    }

    fn any_piece(&mut self) -> PieceId {
        let kind = self.dice.pick(&[
            (3, PieceKind::Work),
            (3, PieceKind::Next),
            (3, PieceKind::NextWork),
            (2, PieceKind::StillOpen),
            (4, PieceKind::Question),
        ]);
        self.piece(kind)
    }

    fn piece(&mut self, kind: PieceKind) -> PieceId {
        let number = self.pieces.len();
        let mut piece = Piece { number, text: String::new(), file: None };
        let (first, last) = (piece.first_word(), piece.last_word());
        if self.dice.chance(25) {
            piece.file = Some((format!("notes{number:02}.md"), format!("CONTENT-OF-{number:02}")));
        }
        let mention =
            piece.file.as_ref().map(|(name, _)| format!(" as in @{name} ,")).unwrap_or_default();
        piece.text = match kind {
            PieceKind::Work => {
                format!("Please write {first} part {number} of the parser{mention} {last}")
            }
            PieceKind::Next => {
                format!("Great, that works. Next: {first} explain the lexer{mention} {last}")
            }
            PieceKind::NextWork => {
                format!("Great, that works. Next: {first} write part {number}{mention} {last}")
            }
            PieceKind::StillOpen => {
                format!("It still fails in the same place: {first} look again{mention} {last}")
            }
            PieceKind::Question => format!("What is {first} in part {number}{mention} {last}"),
        };
        let replies = self.replies(kind, number);
        // After a failure the agent sends several messages as one: the newest counts.
        self.script = std::mem::take(&mut self.script).on_first(&first, replies);
        self.pieces.push(piece);
        number
    }

    fn replies(&mut self, kind: PieceKind, number: usize) -> Vec<TurnReply> {
        if self.dice.chance(6) {
            let error = http_error(self.dice.pick(&[(1, 429), (1, 500)]));
            return vec![self.slowly(error)];
        }
        let commit = format!(
            "printf 'part {number}\\n' >> parser.txt && git add -A && git commit -q -m 'Add part {number}'"
        );
        let replies = match kind {
            PieceKind::Work | PieceKind::NextWork => {
                let mut steps = vec![
                    self.shell(&commit).input_tokens(100_000),
                    reply(&format!("Part {number} is written and committed."))
                        .input_tokens(101_000),
                ];
                if self.dice.chance(30) {
                    steps.insert(0, self.shell("sleep 2").input_tokens(99_000));
                }
                steps
            }
            PieceKind::StillOpen => {
                vec![reply(&format!("I look at part {number}.")).input_tokens(103_000)]
            }
            PieceKind::Next | PieceKind::Question => {
                vec![reply(&format!("This is the answer to {number}.")).input_tokens(24_000)]
            }
        };
        replies.into_iter().map(|reply| self.slowly(reply)).collect()
    }

    fn shell(&self, command: &str) -> TurnReply {
        match self.kind {
            AgentKind::Claude => crate::fixture::claude_shell(command),
            AgentKind::Codex => crate::fixture::codex_shell(command),
        }
    }

    fn slowly(&mut self, reply: TurnReply) -> TurnReply {
        let (short, long) = (self.dice.between(0, 400), self.dice.between(800, 3_000));
        let slow = self.dice.between(4_000, 8_000);
        reply.after(Duration::from_millis(self.dice.pick(&[(65, short), (28, long), (7, slow)])))
    }

    fn finish(mut self, seed: u64) -> Plan {
        let packet =
            if self.dice.chance(6) { http_error(500) } else { reply(PACKET).input_tokens(102_000) };
        // A person has time to do something while it is written.
        let packet = packet.after(Duration::from_millis(self.dice.between(200, 5_000)));
        let continues = self.slowly(reply("I continue.").input_tokens(20_000));
        let summaries: Vec<_> = (0..8)
            .map(|_| {
                let summary = match (self.dice.chance(6), self.kind) {
                    (true, _) => http_error(500),
                    (false, AgentKind::Claude) => reply(&format!("<summary>{SUMMARY}</summary>")),
                    (false, AgentKind::Codex) => reply(SUMMARY),
                };
                self.slowly(summary.input_tokens(103_000))
            })
            .collect();
        // What asks for a packet may quote the person, and what hands it over stands before the person's message.
        let script = self
            .script
            .on_first("Write the continuation packet", [packet.clone()])
            .on_first(":packet_request]", [packet])
            .on("[rawr:", [continues])
            .on_compaction(summaries);
        let claude = self.kind == AgentKind::Claude;
        let preflight = !claude && self.dice.chance(50);
        let mut settings = String::from("[rawr_auto_compaction]\n");
        if !claude && !preflight {
            settings.push_str("idle_seconds = 3\n");
        }
        if self.dice.chance(20) {
            settings.push_str("packet_channel = \"sample\"\n");
        }
        settings.push_str(
            "[rawr_auto_compaction.deadlines]\npacket_seconds = 20\nheads_up_seconds = 20\n\
             compaction_seconds = 20\nhandoff_seconds = 20\n",
        );
        let compacts_early = claude && self.dice.chance(25);
        let Self { kind, pieces, moves, .. } = self;
        Plan { kind, seed, pieces, moves, script, settings, compacts_early, preflight }
    }
}
