//! What the classifiers would start on labeled turn ends that they have not learned from, session by session.

use crate::learn::{Example, HeadRelation, LinearModel, Settings, train_dense};
use crate::sentences::{Sentence, SentenceKind};
use crate::vectors::{LabeledTurn, PhaseEnd};
use crate::{Data, Projects};
use anyhow::{Context as _, Result};
use rawr_core::policy::{Policy, Preset};
use rawr_core::words::claim::{self, ClaimSigns};
use rawr_core::words::model::{Combination, logistic, softmax};
use rawr_core::words::phase::{self, INPUTS, TURN_INPUTS, TurnFacts};
use rawr_core::words::{Probability, next};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::num::NonZero;

const FOLDS: usize = 5;
/// The weight of a single sentence, or a message of an agent, that the project wrote.
const SENTENCE_WEIGHT: f64 = 0.8;
/// The weight of a sentence from an English pattern of agents, of which there are many more.
const ENGLISH_CLAIM_WEIGHT: f64 = 0.5;
/// The weight of a conversation piece that the project wrote. The person's next message in a real turn weighs 1.
const PIECE_WEIGHT: f64 = 0.8;
/// The weight of what an agent said at the end of a real turn. There are many more written messages than real turns.
const REAL_CLAIM_WEIGHT: f64 = 2.0;

/// The weight of a turn end in a session of a host; one in a chat weighs 1. Chats flow from one request into the next,
/// and rawr is not made for them.
const HOST_WEIGHT: f64 = 4.0;

pub struct Models {
    pub claim: LinearModel<2>,
    pub next: LinearModel<3>,
    pub phase: Combination<INPUTS>,
    /// Without the next message.
    pub turn: Combination<TURN_INPUTS>,
}

/// What is predicted of one turn end.
#[derive(Debug, Clone, Copy)]
pub struct Prediction {
    pub claim: [f64; 2],
    pub next: [f64; 3],
    pub phase: f64,
    /// With the next message unknown; `None` where something keeps the turn from confirming itself.
    pub by_itself: Option<f64>,
    /// Whether the sidecar proposes: for words of the agent, or for a fact.
    pub is_proposed: bool,
}

/// All of a session's turns are in one fold.
fn session_fold(turn: &LabeledTurn, folds: usize) -> usize {
    (turn.session.wrapping_mul(0x9e37_79b1) >> 16) as usize % folds
}

/// All of a project's turns are in one fold: how much a model is to be trusted on people and agents that it has not
/// heard can only be learned where it has not heard them.
fn project_fold(turn: &LabeledTurn, projects: &Projects, folds: usize) -> usize {
    let name = projects.get(&turn.session).filter(|_| !turn.is_written);
    let digest = |name: &str| {
        let hash = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        (name.bytes().fold(0x811c_9dc5, hash) >> 8) as usize
    };
    name.map_or_else(|| session_fold(turn, folds), |project| digest(&project.name) % folds)
}

/// For each turn, the one before it in its session, whose next message is this turn's own. Only labeled turns have one.
fn turns_before(turns: &[&LabeledTurn]) -> Vec<Option<usize>> {
    let is_real = |turn: &&LabeledTurn| !turn.is_written;
    let all = turns.iter().enumerate().filter(|(_, turn)| is_real(turn));
    let known: BTreeMap<_, _> = all.map(|(at, turn)| ((turn.session, turn.turn), at)).collect();
    let before = |turn: &&LabeledTurn| known.get(&(turn.session, turn.turn.checked_sub(1)?));
    turns.iter().map(|turn| before(turn).copied().filter(|_| is_real(turn))).collect()
}

fn signs(turn: &LabeledTurn) -> ClaimSigns {
    ClaimSigns::of(turn.features.claim.traits.iter().copied())
}

/// Whether nothing keeps the turn from confirming itself: it claims to be done and asks nothing, no check failed, and no
/// step of a plan is open.
fn may_confirm_itself(turn: &LabeledTurn, claim: f64) -> bool {
    let TurnFacts { tests_failed, plan_open, interrupted, .. } = turn.facts;
    let claims = Probability::of(logistic(claim)) >= claim::HEARD_FROM;
    claims && !signs(turn).asks && !tests_failed && !plan_open && !interrupted
}

fn claim_model(
    turns: &[&LabeledTurn],
    sentences: &[Sentence],
    projects: &Projects,
) -> LinearModel<2> {
    let is_narrow = |turn: &LabeledTurn| {
        !turn.is_written && projects.get(&turn.session).is_some_and(|of| of.is_narrow)
    };
    let truth = |is: bool| if is { 1.0 } else { 0.0 };
    let real = turns.iter().map(|turn| Example {
        features: turn.features.claim.clone(),
        truth: [truth(turn.says_done), truth(turn.announces)],
        known: [true, !is_narrow(turn)],
        weight: if turn.is_written { PIECE_WEIGHT } else { REAL_CLAIM_WEIGHT },
    });
    let written = sentences.iter().filter(|s| s.kind.is_agents()).map(|sentence| Example {
        features: sentence.hashes(),
        truth: [
            truth(matches!(sentence.kind, SentenceKind::Done | SentenceKind::DoneAndAnnounces)),
            truth(matches!(
                sentence.kind,
                SentenceKind::Announces | SentenceKind::DoneAndAnnounces
            )),
        ],
        known: [true; 2],
        weight: if sentence.language == "en" { ENGLISH_CLAIM_WEIGHT } else { SENTENCE_WEIGHT },
    });
    let examples: Vec<_> = real.chain(written).collect();
    let settings = Settings { epochs: 12, rate: 0.15, decay: 0.001 };
    LinearModel::train(claim::ROWS, HeadRelation::Independent, &examples, settings)
}

/// With the log-odds of the claim before each turn's next message.
fn next_model(
    turns: &[&LabeledTurn],
    claims: &[[f64; 2]],
    sentences: &[Sentence],
) -> LinearModel<3> {
    let one_of = |right: usize| std::array::from_fn(|at| if at == right { 1.0 } else { 0.0 });
    let real = turns.iter().zip(claims).map(|(turn, claim)| Example {
        features: turn.features.next_hashes(claim[0]),
        truth: one_of(turn.next),
        known: [true; 3],
        weight: PIECE_WEIGHT.powi(i32::from(turn.is_written)),
    });
    let written = sentences.iter().filter(|s| !s.kind.is_agents()).map(|sentence| Example {
        features: sentence.hashes(),
        truth: one_of(match sentence.kind {
            SentenceKind::New => 0,
            SentenceKind::Close => 1,
            _ => 2,
        }),
        known: [true; 3],
        weight: SENTENCE_WEIGHT,
    });
    let examples: Vec<_> = real.chain(written).collect();
    let settings = Settings { epochs: 6, rate: 0.02, decay: 0.001 };
    LinearModel::train(next::ROWS, HeadRelation::OneOf, &examples, settings)
}

/// Trains on all of `turns`. What a later model learns from an earlier one is predicted by folds, so that it learns
/// how much to trust it.
pub fn train(turns: &[&LabeledTurn], sentences: &[Sentence], projects: &Projects) -> Models {
    let mut claims = vec![[0.0; 2]; turns.len()];
    let mut nexts = vec![[0.0; 3]; turns.len()];
    let part = |inside: &dyn Fn(usize) -> bool| -> Vec<usize> {
        (0..turns.len())
            .filter(|at| inside(project_fold(turns[*at], projects, FOLDS + 2)))
            .collect()
    };
    let of = |list: &[usize]| -> Vec<&LabeledTurn> { list.iter().map(|at| turns[*at]).collect() };
    for held in 0..FOLDS + 2 {
        let model = claim_model(&of(&part(&|fold| fold != held)), sentences, projects);
        for at in part(&|fold| fold == held) {
            claims[at] = model.score(&turns[at].features.claim);
        }
    }
    for held in 0..FOLDS + 2 {
        let train = part(&|fold| fold != held);
        let known: Vec<_> = train.iter().map(|at| claims[*at]).collect();
        let model = next_model(&of(&train), &known, sentences);
        for at in part(&|fold| fold == held) {
            nexts[at] = softmax(model.score(&turns[at].features.next_hashes(claims[at][0])));
        }
    }
    // Only real turns have facts.
    let dense: Vec<_> = (0..turns.len())
        .filter(|at| !turns[*at].is_written)
        .map(|at| {
            let facts = turns[at].facts;
            let ended = if turns[at].end == PhaseEnd::Yes { 1.0 } else { 0.0 };
            let topic = turns[at].features.topic;
            let weight = if turns[at].is_of_host { HOST_WEIGHT } else { 1.0 };
            (phase::inputs(claims[at][0], claims[at][1], nexts[at], topic, facts), ended, weight)
        })
        .collect();
    let before = turns_before(turns);
    let claimed: Vec<_> = (0..turns.len())
        .filter(|at| turns[*at].is_of_host && !turns[*at].is_written)
        .filter(|at| may_confirm_itself(turns[*at], claims[*at][0]))
        .map(|at| {
            let closes = before[at].map_or(0.0, |before| nexts[before][1]);
            let ended = if turns[at].end == PhaseEnd::Yes { 1.0 } else { 0.0 };
            let inputs = phase::turn_inputs(turns[at].facts.committed, closes, signs(turns[at]));
            (inputs, ended, 1.0)
        })
        .collect();
    Models {
        turn: train_dense(&claimed),
        claim: claim_model(turns, sentences, projects),
        next: next_model(turns, &claims, sentences),
        phase: train_dense(&dense),
    }
}

impl Models {
    fn next_message(&self, turn: &LabeledTurn) -> ([f64; 2], [f64; 3]) {
        let claim = self.claim.score(&turn.features.claim);
        (claim, softmax(self.next.score(&turn.features.next_hashes(claim[0]))))
    }

    /// `before` is the turn before it in its session.
    pub fn predict(&self, turn: &LabeledTurn, before: Option<&LabeledTurn>) -> Prediction {
        let (claim, next) = self.next_message(turn);
        let closes = before.map_or(0.0, |before| self.next_message(before).1[1]);
        let by_itself = phase::turn_inputs(turn.facts.committed, closes, signs(turn));
        let by_itself = may_confirm_itself(turn, claim[0]).then(|| self.turn.share(by_itself));
        let inputs = phase::inputs(claim[0], claim[1], next, turn.features.topic, turn.facts);
        let phase = self.phase.share(inputs);
        let claim = claim.map(logistic);
        let TurnFacts { committed, plan_finished, .. } = turn.facts;
        let is_proposed = claim.iter().any(|share| Probability::of(*share) >= claim::POSSIBLE_FROM)
            || committed
            || plan_finished;
        Prediction { claim, next, phase, by_itself, is_proposed }
    }
}

/// Each turn as predicted by models that have not seen its project, with its people, agents and habits.
pub fn held_out(data: &Data) -> Vec<Prediction> {
    let Data { turns, pieces, sentences, projects } = data;
    let names: BTreeSet<_> = projects.values().map(|project| &project.name).collect();
    let fold_of = |turn: &LabeledTurn| match projects.get(&turn.session) {
        Some(of) => names.iter().position(|known| **known == of.name).unwrap_or_default(),
        None => names.len(),
    };
    let folds: Vec<usize> = turns.iter().map(fold_of).collect();
    let train_without = |held: usize| {
        let others = turns.iter().zip(&folds).filter(|(_, fold)| **fold != held);
        let others: Vec<&LabeledTurn> = others.map(|(turn, _)| turn).chain(pieces).collect();
        train(&others, sentences, projects)
    };
    let held: Vec<usize> = folds.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
    let at_once = std::thread::available_parallelism().map_or(1, NonZero::get);
    let mut models = BTreeMap::new();
    for some in held.chunks(at_once) {
        let trained: Vec<_> = std::thread::scope(|scope| {
            let running: Vec<_> =
                some.iter().map(|held| (*held, scope.spawn(|| train_without(*held)))).collect();
            running.into_iter().map(|(held, model)| (held, model.join())).collect()
        });
        for (held, model) in trained {
            models.insert(held, model.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
    }
    let all: Vec<&LabeledTurn> = turns.iter().collect();
    let before = turns_before(&all);
    let predict = |at: usize| models[&folds[at]].predict(all[at], before[at].map(|at| all[at]));
    (0..turns.len()).map(predict).collect()
}

/// In percent.
fn share(part: usize, of: usize) -> f64 {
    100.0 * part as f64 / of.max(1) as f64
}

/// What would be started where a judge decides the unclear turn ends, at the turn ends of which there are `judgments`:
/// lines of a turn's id and `yes` or `no`, by a reader who saw the judge's prompt and its context, not the label.
pub fn with_a_judge(
    turns: &[LabeledTurn],
    predictions: &[Prediction],
    judgments: &str,
) -> Result<String> {
    let id = |turn: &LabeledTurn| format!("{:08x}:t{}", turn.session, turn.turn);
    let by_id: BTreeMap<_, _> =
        turns.iter().zip(predictions).map(|(turn, told)| (id(turn), (turn, told))).collect();
    let policy = Policy::preset(Preset::Calm);
    let (mut started, mut asked, mut of, mut judged) = ([0; 3], 0, 0, 0);
    for line in judgments.lines() {
        let (id, said) = line.split_once(' ').context("a judgment is an id and yes or no")?;
        let (turn, told) = by_id.get(id).with_context(|| format!("no turn end {id}"))?;
        judged += 1;
        of += usize::from(turn.end == PhaseEnd::Yes);
        let ended = Probability::of(told.phase);
        let is_unclear = policy.is_unclear(ended);
        asked += usize::from(is_unclear);
        let is_clear = ended >= Probability::of_percent(policy.judge_unclear.below);
        if is_clear || (is_unclear && said == "yes") {
            started[turn.end as usize] += 1;
        }
    }
    let all: usize = started.iter().sum();
    let [wrong, weak, hit] = started;
    Ok(format!(
        "\nWith a judge, asked at {asked} of {judged} turn ends: {all} started, {} at a true end, {:.1}% weak, {} false, {} of the true ends found\n",
        part(hit, all),
        share(weak, all),
        part(wrong, all),
        part(hit, of)
    ))
}

/// With its interval.
fn part(part: usize, of: usize) -> String {
    let [low, high] = interval(part, of);
    format!("{:.1}% ({low:.0} to {high:.0})", share(part, of))
}

/// Where 95 of 100 such counts have their true share, in percent: the interval of Wilson.
fn interval(part: usize, of: usize) -> [f64; 2] {
    const Z: f64 = 1.96;
    if of == 0 {
        return [0.0, 100.0];
    }
    let (n, share) = (of as f64, part as f64 / of as f64);
    let (center, all) = (share + Z * Z / (2.0 * n), 1.0 + Z * Z / n);
    let half = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    [center - half, center + half].map(|border| 100.0 * border / all)
}

/// Fewer turn ends measure nothing.
const FEWEST: usize = 60;

/// What would be started from each threshold on, with intervals.
pub fn curve(turns: &[LabeledTurn], predictions: &[Prediction]) -> String {
    if turns.len() < FEWEST {
        return "not measured\n".to_owned();
    }
    let mut out = String::from(
        "| from | started | at a true end | weak | false | true ends found |\n| --- | --- | --- | --- | --- | --- |\n",
    );
    let yes = turns.iter().filter(|turn| turn.end == PhaseEnd::Yes).count();
    for percent in [50, 55, 60, 65, 70, 75] {
        let mut started = [0; 3];
        for (turn, told) in turns.iter().zip(predictions) {
            if Probability::of(told.phase) >= Probability::of_percent(percent) {
                started[turn.end as usize] += 1;
            }
        }
        let all: usize = started.iter().sum();
        let [wrong, weak, hit] = started;
        _ = writeln!(
            out,
            "| {percent}% | {all} | {} | {:.1}% | {} | {} |",
            part(hit, all),
            share(weak, all),
            part(wrong, all),
            part(hit, yes)
        );
    }
    out
}

/// The table of what would be started.
pub fn table(turns: &[LabeledTurn], predictions: &[Prediction]) -> String {
    let mut out = String::from(
        "| what | started | at a true end | weak | false | true ends found |\n| --- | --- | --- | --- | --- | --- |\n",
    );
    let mut row = |name: String, starts: &dyn Fn(&LabeledTurn, &Prediction) -> bool| {
        let started = |end: PhaseEnd| {
            turns.iter().zip(predictions).filter(|(t, p)| t.end == end && starts(t, p)).count()
        };
        let counts = [PhaseEnd::Yes, PhaseEnd::Weak, PhaseEnd::No].map(started);
        let all: usize = counts.iter().sum();
        let yes = turns.iter().filter(|turn| turn.end == PhaseEnd::Yes).count();
        let [hit, weak, wrong] = counts.map(|count| share(count, all));
        let found = share(counts[0], yes);
        _ = writeln!(
            out,
            "| {name} | {all} | {hit:.0}% | {weak:.0}% | {wrong:.0}% | {found:.0}% |"
        );
    };
    row("the claim, if it is heard".to_owned(), &|_, p| {
        Probability::of(p.claim[0]) >= claim::HEARD_FROM
    });
    for least in [0.5, 0.6, 0.7, 0.8] {
        row(format!("next alone, p > {least}"), &|_, p| 1.0 - p.next[2] > least);
    }
    for claimed in [0.3, 0.5, 0.7] {
        for least in [0.4, 0.5, 0.6, 0.7, 0.8] {
            row(format!("claim p > {claimed}, next p > {least}"), &|_, p| {
                p.claim[0] > claimed && 1.0 - p.next[2] > least
            });
        }
    }
    for least in [0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85] {
        row(format!("both and the facts, p > {least}"), &|_, p| p.phase > least);
        row(format!("the same, where rawr proposes, p > {least}"), &|_, p| {
            p.is_proposed && p.phase > least
        });
    }
    for least in [0.65, 0.7, 0.75, 0.8, 0.85] {
        row(format!("commit and claim, by itself, p > {least}"), &|t, p| {
            t.facts.committed && p.by_itself.is_some_and(|share| share > least)
        });
    }
    row("commit and claim, whatever else".to_owned(), &|t, p| {
        t.facts.committed && Probability::of(p.claim[0]) >= claim::HEARD_FROM
    });
    row("claim, no commit, by itself, p > 0.6".to_owned(), &|t, p| {
        !t.facts.committed && p.by_itself.is_some_and(|share| share > 0.6)
    });
    let mut sorted: Vec<_> = turns.iter().zip(predictions).collect();
    sorted.sort_by(|a, b| b.1.phase.total_cmp(&a.1.phase));
    let yes = turns.iter().filter(|turn| turn.end == PhaseEnd::Yes).count();
    let (mut hits, mut wrong, mut best) = (0, 0, (0, 0.0, 0, 0));
    for (at, (turn, told)) in sorted.iter().enumerate() {
        hits += usize::from(turn.end == PhaseEnd::Yes);
        wrong += usize::from(turn.end == PhaseEnd::No);
        if hits * 100 >= (at + 1) * 88 {
            best = (at + 1, told.phase, hits, wrong);
        }
    }
    let (all, least, hits, wrong) = best;
    _ = writeln!(
        out,
        "\nWith 88% at a true end: p > {least:.2}, {all} started, {:.1}% false, {:.1}% of the true ends found",
        share(wrong, all),
        share(hits, yes)
    );
    let right = |good: &dyn Fn(&LabeledTurn, &Prediction) -> bool| {
        let right = turns.iter().zip(predictions).filter(|(t, p)| good(t, p)).count();
        100.0 * right as f64 / turns.len() as f64
    };
    let done = right(&|t, p| (p.claim[0] > 0.5) == t.says_done);
    let announces = right(&|t, p| (p.claim[1] > 0.5) == t.announces);
    let leaves = right(&|t, p| (p.next[2] <= 0.5) == (t.next != 2));
    _ = writeln!(
        out,
        "\nRight of {} held-out turn ends: claims to be done {done:.1}%, announces {announces:.1}%, next is new or close {leaves:.1}%",
        turns.len()
    );
    out
}
