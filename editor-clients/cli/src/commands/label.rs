//! `rawr label`: asks a person, turn by turn, whether work ended there, and adds the answers to a file. It shows no decision
//! of rawr, so that an answer is the person's own.

use std::collections::hash_map::RandomState;
use std::fs::{File, OpenOptions};
use std::hash::BuildHasher;
use std::io::{self, BufRead, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

use anyhow::{Context, bail};
use rawr_analysis::replay::{
    LabeledEnd, Labels, NextKind, ReplayDetail, ReplayOrder, ReplayRequest, ReplayResult,
    TurnEndLabel, replay,
};

use super::common::CommonOptions;
use crate::args::LabelArgs;
use crate::render::label::{Question, show};

pub(super) fn run(common: &CommonOptions, args: &LabelArgs) -> anyhow::Result<ExitCode> {
    let home = common.home()?;
    let file = args.to.clone().unwrap_or_else(|| home.dir.join("labels.jsonl"));
    let labels = if file.exists() { Labels::read(&file)? } else { Labels::default() };
    let request = ReplayRequest {
        since: args.since.map(|since| since.before(SystemTime::now())),
        order: ReplayOrder::First,
        detail: ReplayDetail::Texts,
        ..ReplayRequest::new(home, args.paths.clone())
    };
    let result = replay(&request, &AtomicBool::new(false), &|_, _| {})?;
    let questions = questions(&result, &labels, args.sample);
    if questions.is_empty() {
        bail!("no turns without a label; pass other paths, or another file with --to");
    }
    let mut to = open(&file).with_context(|| format!("failed to open {}", file.display()))?;
    let labeled = ask_all(&questions, &mut io::stdin().lock(), &mut anstream::stdout(), &mut to)?;
    let mut out = anstream::stdout();
    writeln!(out, "\n{labeled} labels added to {}", file.display())?;
    writeln!(out, "Compare with them: rawr replay --labels {}", file.display())?;
    Ok(ExitCode::SUCCESS)
}

/// In the order of sessions, or a random sample.
fn questions<'r>(
    result: &'r ReplayResult,
    labels: &Labels,
    sample: Option<u32>,
) -> Vec<Question<'r>> {
    let mut all = Vec::new();
    for report in result.files.iter().filter_map(|file| file.reports.first()) {
        let turns = report.ended.iter().zip(report.ended.iter().skip(1).map(Some).chain([None]));
        for (turn, next) in turns {
            let Some(texts) = &turn.texts else { continue };
            let next = next.and_then(|next| next.texts.as_ref()?.request.as_deref());
            if texts.last_message.is_some() && labels.of(&report.session, turn.turn).is_none() {
                all.push(Question { session: &report.session, turn, texts, next });
            }
        }
    }
    if let Some(sample) = sample {
        let draw = RandomState::new();
        all.sort_by_cached_key(|question| draw.hash_one((question.session, question.turn.turn)));
        all.truncate(sample as usize);
    }
    all
}

/// Private to the user, like all that rawr writes.
fn open(file: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)
}

/// Returns how many labels were added. The end of the input ends it, too.
fn ask_all(
    questions: &[Question<'_>],
    input: &mut impl BufRead,
    out: &mut impl Write,
    to: &mut impl Write,
) -> anyhow::Result<usize> {
    let (mut at, mut labeled) = (0, 0);
    while let Some(question) = questions.get(at) {
        out.write_all(show(question, at + 1, questions.len()).as_bytes())?;
        let ends = "y yes, w weak (a part of it), n no, s skip, b back, q quit";
        let end =
            match ask(&format!("Did a piece of work end here? {ends}: "), "ywnsbq", input, out)? {
                'y' => TurnEndLabel::Yes,
                'w' => TurnEndLabel::Weak,
                'n' => TurnEndLabel::No,
                's' => {
                    at += 1;
                    continue;
                }
                'b' => {
                    at = at.saturating_sub(1);
                    continue;
                }
                _ => break,
            };
        let next = match question.next {
            None => None,
            Some(_) => match ask(
                "The next message is: n new work, c closing, s the same work: ",
                "ncs",
                input,
                out,
            )? {
                'n' => Some(NextKind::New),
                'c' => Some(NextKind::Close),
                's' => Some(NextKind::Same),
                _ => break,
            },
        };
        let session = question.session.to_owned();
        let label = LabeledEnd { session, turn: question.turn.turn, end, next };
        // In one piece, so that a line is never torn.
        to.write_all(format!("{}\n", serde_json::to_string(&label)?).as_bytes())?;
        labeled += 1;
        at += 1;
    }
    Ok(labeled)
}

/// One of these letters; `q` at the end of the input.
fn ask(
    question: &str,
    letters: &str,
    input: &mut impl BufRead,
    out: &mut impl Write,
) -> anyhow::Result<char> {
    loop {
        write!(out, "{question}")?;
        out.flush()?;
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok('q');
        }
        let answer = line.trim().to_lowercase();
        match answer.chars().next().filter(|letter| letters.contains(*letter)) {
            Some(letter) => return Ok(letter),
            None => writeln!(
                out,
                "Answer with one of: {}",
                letters.chars().map(String::from).collect::<Vec<_>>().join(", ")
            )?,
        }
    }
}
