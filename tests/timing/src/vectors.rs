//! Labeled turn ends as hashed features. Written by the `vectors` command from sessions, read by the trainer.

use anyhow::{Context as _, Result, bail, ensure};
use rawr_core::words::model::{Features, HASH_BITS, share};
use rawr_core::words::phase::TurnFacts;
use rawr_core::words::{SharedTopic, WorkAtHand, claim, next};
use std::collections::{BTreeMap, BTreeSet};

const MAGIC: &[u8] = b"rawr-timing 6\n";
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
    /// How many pieces of text are left out.
    pub others: u32,
    pub traits: Vec<u32>,
}

impl Hashes {
    /// What each of the texts counts.
    pub fn share(&self) -> f64 {
        share(self.texts.len() + self.others as usize)
    }

    pub fn without_traits(self) -> Self {
        Self { traits: Vec::new(), ..self }
    }

    fn leave_out(&mut self, is_known: &dyn Fn(u32) -> bool) {
        let before = self.texts.len();
        self.texts.retain(|hash| is_known(*hash));
        self.others += (before - self.texts.len()) as u32;
    }
}

impl From<&Features> for Hashes {
    fn from(features: &Features) -> Self {
        let (mut texts, mut traits) = features.hashes();
        texts.sort_unstable();
        traits.sort_unstable();
        Self { texts, others: 0, traits }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabeledTurn {
    /// The project wrote it; else it is of a real session.
    pub is_written: bool,
    /// From a session of Claude Code, Codex or opencode; else from a chat, most of them in editors.
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
    pub features: TurnFeatures,
}

/// What the classifiers read of a turn end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnFeatures {
    pub claim: Hashes,
    /// The next message, without traits; its traits for each of [`CLAIM_STEPS`].
    pub message: Hashes,
    pub relation: [Vec<u32>; 4],
    /// How much of the next message is about the work at hand.
    pub topic: SharedTopic,
}

impl TurnFeatures {
    pub fn of(asked: &[&str], said: &str, next: &str) -> Self {
        let work = WorkAtHand::new(asked, said);
        let steps = CLAIM_STEPS.map(|log_odds| {
            Hashes::from(&next::features(next, &work.clone().with_claim(log_odds)))
        });
        Self {
            claim: Hashes::from(&claim::features(said)),
            // The claim changes the traits alone.
            message: steps[0].clone().without_traits(),
            topic: next::topic(next, &work),
            relation: steps.map(|step| step.traits),
        }
    }

    /// The next message's hashes, given the log-odds of the claim before it.
    pub fn next_hashes(&self, claim: f64) -> Hashes {
        // The borders are those of the features: shares of 0.15, 0.5 and 0.85.
        const BORDERS: [f64; 3] = [-1.734_601_055_388_1, 0.0, 1.734_601_055_388_1];
        let step = BORDERS.iter().filter(|border| claim >= **border).count();
        Hashes { traits: self.relation[step].clone(), ..self.message.clone() }
    }
}

/// Changes when the features change, so that old vectors are not taken for new ones.
pub fn fingerprint() -> u32 {
    const AGENT: &str = "## Summary\n\nAll 12 tests pass now, and `parse()` handles src/main.rs.\n\n- ✅ done\n\nIn short, it works. \
                         The verdict is good: overall speed is fine. Next, \
                         let's update the docs. Shall I commit?";
    const PERSON: &str = "no, it's still not right: \"x\"\n=== FAIL main.rs:3\n\n1. push it, /exit 完成了 次の作業 커밋해줘 corrige camelCase #12\n\
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

/// Leaves out what only few sessions say and no text of the project does: it could tell what a session was about, and
/// nothing can be learned from it for another one.
pub fn without_rare(turns: &mut [LabeledTurn], written: &BTreeSet<u32>) {
    const FEW: usize = 3;
    let mut sessions: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for turn in turns.iter() {
        for hash in turn.features.claim.texts.iter().chain(&turn.features.message.texts) {
            sessions.entry(*hash).or_default().insert(turn.session);
        }
    }
    let is_known = |hash: u32| {
        written.contains(&hash) || sessions.get(&hash).is_some_and(|of| of.len() >= FEW)
    };
    for turn in turns {
        turn.features.claim.leave_out(&is_known);
        turn.features.message.leave_out(&is_known);
    }
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
        let TurnFeatures { claim, message, relation, topic } = &turn.features;
        for message in [claim, message] {
            hashes(&mut out, &message.texts);
            number(&mut out, message.others);
            hashes(&mut out, &message.traits);
        }
        for list in relation {
            hashes(&mut out, list);
        }
        let SharedTopic { words, shared, said, asked } = *topic;
        for count in [words, shared, said, asked] {
            number(&mut out, count);
        }
    }
    out
}

fn hashes(out: &mut Vec<u8>, list: &[u32]) {
    number(out, list.len() as u32);
    let mut before = 0;
    for hash in list {
        number(out, hash - before);
        before = *hash;
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
        next: next_message(flags)?,
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
        features: TurnFeatures {
            claim: read_message(bytes)?,
            message: read_message(bytes)?,
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
        },
    })
}

fn next_message(flags: u8) -> Result<usize> {
    let next = usize::from(flags >> 2 & 3);
    ensure!(next < next::HEADS.len(), "an unknown next message");
    Ok(next)
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

fn read_message(bytes: &mut &[u8]) -> Result<Hashes> {
    Ok(Hashes {
        texts: read_hashes(bytes)?,
        others: read_number(bytes)?,
        traits: read_hashes(bytes)?,
    })
}

fn read_hashes(bytes: &mut &[u8]) -> Result<Vec<u32>> {
    let mut before = 0_u32;
    (0..read_number(bytes)?)
        .map(|_| {
            let next = before.checked_add(read_number(bytes)?);
            before = next.filter(|hash| hash >> HASH_BITS == 0).context("a hash out of range")?;
            Ok(before)
        })
        .collect()
}
