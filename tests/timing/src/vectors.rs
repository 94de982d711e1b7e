//! Labelled turn ends as hashed features: no text, and none can be made from them. Written by the `vectors` command
//! from sessions, read by the trainer.

use anyhow::{Context as _, Result, bail, ensure};
use rawr_core::words::model::{Features, HASH_BITS};
use rawr_core::words::phase::TurnFacts;
use rawr_core::words::{SharedTopic, WorkAtHand, claim, next};

const MAGIC: &[u8] = b"rawr-timing 5\n";
/// Log-odds of a claim to be done, one for each step that the features of the next message know.
pub const CLAIM_STEPS: [f64; 4] = [-3.0, -0.5, 0.5, 3.0];

/// Whether a phase of work ended with a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhaseEnd {
    No,
    Weak,
    Yes,
}

/// Hashes of the pieces of text and of the traits of one message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hashes {
    pub texts: Vec<u32>,
    pub traits: Vec<u32>,
}

impl From<&Features> for Hashes {
    fn from(features: &Features) -> Self {
        let (mut texts, mut traits) = features.hashes();
        texts.sort_unstable();
        traits.sort_unstable();
        Self { texts, traits }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabeledTurn {
    /// The project wrote it; else it is of a real session.
    pub is_written: bool,
    /// Of a session of Claude Code, Codex or opencode; else of a chat, most of them in editors.
    pub is_of_host: bool,
    /// The first eight hexadecimal digits of the session's id.
    pub session: u32,
    pub turn: u16,
    pub end: PhaseEnd,
    /// The index of new, close or same.
    pub next: usize,
    pub says_done: bool,
    pub announces: bool,
    pub facts: TurnFacts,
    pub claim: Hashes,
    /// The next message's pieces of text; its traits for each of [`CLAIM_STEPS`].
    pub message: Vec<u32>,
    pub relation: [Vec<u32>; 4],
    /// How much of the next message is about the work at hand.
    pub topic: SharedTopic,
}

impl LabeledTurn {
    /// The next message's hashes, given the log-odds of the claim before it.
    pub fn next_hashes(&self, claim: f64) -> Hashes {
        // The borders are those of the features: shares of 0.15, 0.5 and 0.85.
        const BORDERS: [f64; 3] = [-1.734_601_055_388_1, 0.0, 1.734_601_055_388_1];
        let step = BORDERS.iter().filter(|border| claim >= **border).count();
        Hashes { texts: self.message.clone(), traits: self.relation[step].clone() }
    }
}

/// Changes when the features change, so that old vectors are not taken for new ones.
pub fn fingerprint() -> u32 {
    const AGENT: &str = "## Summary\n\nAll 12 tests pass now, and `parse()` handles src/main.rs.\n\n- ✅ done\n\nNext, \
                         let's update the docs. Shall I commit?";
    const PERSON: &str = "no, it's still not right: \"x\"\n=== FAIL main.rs:3\n\n1. push it, /exit 完成了 camelCase #12\n\
                          Storing a file queried its classes.";
    let work =
        WorkAtHand::new(&["Fix parse() in src/main.rs, and the queries of stored files"], AGENT)
            .with_claim(3.0);
    let (agent, person) = (claim::features(AGENT).hashes(), next::features(PERSON, &work).hashes());
    let hashes = [agent.0, agent.1, person.0, person.1].concat();
    let SharedTopic { words, shared, said, asked } = next::topic(PERSON, &work);
    let all = hashes.into_iter().chain([words, shared, said, asked]);
    all.fold(0x811c_9dc5, |hash, number| (hash ^ number).wrapping_mul(0x0100_0193))
}

pub fn write(turns: &[LabeledTurn]) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.extend(fingerprint().to_le_bytes());
    for turn in turns {
        out.extend(turn.session.to_le_bytes());
        out.extend(turn.turn.to_le_bytes());
        let flags = turn.end as u8
            | (turn.next as u8) << 2
            | u8::from(turn.says_done) << 4
            | u8::from(turn.announces) << 5
            | u8::from(turn.is_of_host) << 6;
        let facts = turn.facts;
        let known = [
            facts.committed,
            facts.tests_passed,
            facts.tests_failed,
            facts.plan_finished,
            facts.plan_open,
            facts.interrupted,
        ];
        let known = known.iter().enumerate().fold(0, |bits, (at, is)| bits | u8::from(*is) << at);
        out.extend([flags, known]);
        for list in [&turn.claim.texts, &turn.claim.traits, &turn.message] {
            hashes(&mut out, list);
        }
        for list in &turn.relation {
            hashes(&mut out, list);
        }
        let SharedTopic { words, shared, said, asked } = turn.topic;
        for count in [words, shared, said, asked] {
            number(&mut out, count);
        }
    }
    out
}

fn hashes(out: &mut Vec<u8>, list: &[u32]) {
    number(out, list.len() as u32);
    let mut before = 0;
    for row in list {
        number(out, row - before);
        before = *row;
    }
}

fn number(out: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

pub fn read(bytes: &[u8]) -> Result<Vec<LabeledTurn>> {
    let mut bytes = bytes.strip_prefix(MAGIC).context("not a file of vectors")?;
    let of = u32::from_le_bytes(take(&mut bytes)?);
    ensure!(
        of == fingerprint(),
        "the vectors were made with other features; make them again (see tests/timing/README.md)"
    );
    let mut turns = Vec::new();
    while !bytes.is_empty() {
        turns.push(turn(&mut bytes)?);
    }
    Ok(turns)
}

fn turn(bytes: &mut &[u8]) -> Result<LabeledTurn> {
    let session = u32::from_le_bytes(take(bytes)?);
    let turn = u16::from_le_bytes(take(bytes)?);
    let [flags, known] = take(bytes)?;
    let is = |bit: u8| known & (1 << bit) != 0;
    Ok(LabeledTurn {
        is_written: false,
        is_of_host: flags & 64 != 0,
        session,
        turn,
        end: match flags & 3 {
            0 => PhaseEnd::No,
            1 => PhaseEnd::Weak,
            2 => PhaseEnd::Yes,
            _ => bail!("an unknown label"),
        },
        next: usize::from(flags >> 2 & 3),
        says_done: flags & 16 != 0,
        announces: flags & 32 != 0,
        facts: TurnFacts {
            committed: is(0),
            tests_passed: is(1),
            tests_failed: is(2),
            plan_finished: is(3),
            plan_open: is(4),
            interrupted: is(5),
        },
        claim: Hashes { texts: read_hashes(bytes)?, traits: read_hashes(bytes)? },
        message: read_hashes(bytes)?,
        relation: [
            read_hashes(bytes)?,
            read_hashes(bytes)?,
            read_hashes(bytes)?,
            read_hashes(bytes)?,
        ],
        topic: SharedTopic {
            words: read_number(bytes)?,
            shared: read_number(bytes)?,
            said: read_number(bytes)?,
            asked: read_number(bytes)?,
        },
    })
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk::<N>().context("the file ends too early")?;
    *bytes = rest;
    Ok(*first)
}

fn read_number(bytes: &mut &[u8]) -> Result<u32> {
    let mut number = 0;
    for shift in (0..35).step_by(7) {
        let [byte] = take(bytes)?;
        number |= u32::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    bail!("a number that does not end")
}

fn read_hashes(bytes: &mut &[u8]) -> Result<Vec<u32>> {
    let mut before = 0;
    (0..read_number(bytes)?)
        .map(|_| {
            before += read_number(bytes)?;
            ensure!(before >> HASH_BITS == 0, "a hash out of range");
            Ok(before)
        })
        .collect()
}
