//! What a run measures: every case, how much of it, and the pass that checks every reply before anything is timed.

use std::{path::PathBuf, thread, time::Duration};

use anyhow::{Context, Result, ensure};

use crate::{
    durable, heard,
    home::BenchHome,
    lab::{BenchCase, Lab},
    load, many, records,
    report::{COPY_TO_ITS_END, Cells, IDLE_HOOK, Measure, Report, Row},
    saved,
    servers::{Roster, ServerSession, Subject},
    size, soak,
    stats::quantile,
    store,
    system::{Pinned, cpu_seconds, private_mb, resident_mb, threads},
    tokens, typed, words,
};

const WINDOWS: [(u64, &str); 2] = [(64, "window 64"), (1024, "window 1024")];
const SETTLE: Duration = Duration::from_millis(100);

/// The size of each measurement.
#[derive(Debug, Clone, Copy)]
pub struct Amount {
    pub rounds: usize,
    pub starts: usize,
    verified: u64,
    warm_up: u64,
    sequential: u64,
    pipelined: u64,
    turns: u64,
    saves: u64,
    /// In the home of the table of stored ones.
    threads: u64,
    pub soak: Duration,
    appends: u64,
    events: u64,
    /// The most texts whose tokens are counted.
    texts: usize,
    /// How often each message is heard.
    messages: u64,
    sessions: usize,
    retries: u32,
    patience: Duration,
}

impl Amount {
    /// Enough for meaningful numbers.
    pub fn full() -> Self {
        Self {
            rounds: 5,
            starts: 20,
            verified: 2_000,
            warm_up: 2_000,
            sequential: 20_000,
            pipelined: 100_000,
            turns: 300,
            saves: 200,
            threads: 1_000,
            soak: Duration::from_secs(60),
            appends: 200_000,
            events: 1_000_000,
            texts: usize::MAX,
            messages: 20_000,
            sessions: 600,
            retries: 3,
            patience: Duration::from_secs(120),
        }
    }

    /// Enough to see that everything works.
    pub fn quick() -> Self {
        Self {
            rounds: 1,
            starts: 2,
            verified: 500,
            warm_up: 50,
            sequential: 200,
            pipelined: 2_000,
            turns: 10,
            saves: 5,
            threads: 20,
            soak: Duration::from_secs(1),
            appends: 2_000,
            events: 20_000,
            texts: 1,
            messages: 20,
            sessions: 4,
            retries: 0,
            patience: Duration::ZERO,
        }
    }
}

/// Who takes part.
#[derive(Debug)]
pub struct BenchSelection {
    /// Names of servers, `store`, `tokens`, `words`, `records`, `size` or `soak`; everyone when empty.
    pub only: Vec<String>,
    pub rawr: Option<PathBuf>,
}

/// A whole run. `told` receives progress messages for the user.
pub fn run(choice: &BenchSelection, amount: Amount, told: &dyn Fn(String)) -> Result<Report> {
    let roster = Roster::call(&choice.only, choice.rawr.as_deref());
    let mut report = Report { absent: roster.absent, ..Report::default() };
    let mut subjects = Vec::new();
    for subject in roster.present {
        told(format!("reading replies of {}", subject.name));
        match verified(&subject, amount) {
            Ok(row) => {
                report.rows.push(row);
                subjects.push(subject);
            }
            Err(error) => report.failed.push((subject.name, format!("{error:#}"))),
        }
    }
    let home = used_home(&subjects)?;
    let mut lab = Lab::new(amount.retries, amount.patience);
    let starts = &mut starts(&subjects, home.as_ref());
    let round = |what: &'static str, all| {
        move |round| told(format!("{what}, round {} of {all}", round + 1))
    };
    report.rows.extend(lab.run(starts, amount.starts, round("starts", amount.starts))?);
    let rawr = subjects.iter().find(|subject| subject.is_rawr());
    let crowded = rawr.map(|rawr| many::stored(rawr, amount.threads)).transpose()?;
    let mut cases = loads(&subjects, amount);
    let chosen = |what| choice.only.is_empty() || choice.only.iter().any(|name| name == what);
    if chosen("store") {
        let log = store::GeneratedLog::generate(amount.events)?;
        cases.push(in_process(Measure::Append, store::APPEND, move || {
            store::append(amount.appends)
        }));
        cases.push(in_process(Measure::Replay, store::REPLAY, move || log.replay()));
    }
    if chosen("tokens") {
        cases.push(in_process(Measure::Count, tokens::COUNT, move || tokens::count(amount.texts)));
        cases.push(in_process(Measure::Grow, tokens::GROW, move || tokens::grow(amount.texts)));
    }
    if chosen("words") {
        cases.push(in_process(Measure::Hear, words::HEAR, move || words::read(amount.messages)));
    }
    if chosen("records") {
        let records = records::GeneratedRecords::generate(amount.sessions)?;
        cases.push(in_process(Measure::Records, records::RECORDS, move || records.replay()));
    }
    if let (Some(rawr), Some(home)) = (rawr, &crowded) {
        cases.extend(crowds(rawr, home, amount));
        cases.extend(saves(rawr, amount));
    }
    report.rows.extend(lab.run(&mut cases, amount.rounds, round("load", amount.rounds))?);
    if chosen("size") {
        let roster = Roster::call(&["rawr".to_owned()], choice.rawr.as_deref());
        if let Some(rawr) = roster.present.first() {
            report.rows.extend(size::of(rawr.program())?);
        }
    }
    if chosen("soak") {
        told("soak".to_owned());
        report.rows.extend(soaked(choice, amount.soak)?);
    }
    report.foreign = lab.foreign();
    let found = !(report.rows.is_empty() && report.absent.is_empty() && report.failed.is_empty());
    ensure!(found, "nothing is called {}", choice.only.join(" or "));
    Ok(report)
}

fn soaked(choice: &BenchSelection, time: Duration) -> Result<Vec<Row>> {
    let roster = Roster::call(&["rawr".to_owned()], choice.rawr.as_deref());
    let Some(rawr) = roster.present.first() else { return Ok(Vec::new()) };
    let run = Box::new(move || soak::soak(rawr, time));
    let (measure, servers) = (Measure::Soak, soak::SOAK.to_vec());
    let mut soak = [BenchCase { measure, variant: "a turn a second", servers, run }];
    // Memory is measured and not time, so other busy processes do not matter.
    Lab::new(0, Duration::ZERO).run(&mut soak, 1, |_| {})
}

fn verified(subject: &Subject, amount: Amount) -> Result<Row> {
    let mut session = subject.open()?;
    for (window, _) in WINDOWS {
        load::verify(&mut session, amount.verified, window)?;
    }
    let cells =
        vec![("replies", session.sent as f64), ("requestBytes", session.request.size() as f64)];
    Ok(Row::of(Measure::Verified, "read", subject.name, &[cells]))
}

/// A home as it is after a day's work: seeded, and with a thread in it.
fn used_home(subjects: &[Subject]) -> Result<Option<BenchHome>> {
    let Some(rawr) = subjects.iter().find(|subject| subject.is_rawr()) else { return Ok(None) };
    let mut session = rawr.open()?;
    load::sequential(&mut session, 100)?;
    let ServerSession { link, home, .. } = session;
    drop(link);
    Ok(home)
}

fn starts<'a>(subjects: &'a [Subject], home: Option<&'a BenchHome>) -> Vec<BenchCase<'a>> {
    let mut programs: Vec<&Subject> =
        subjects.iter().filter(|subject| !subject.is_rawr()).collect();
    // The rows of rawr are one program: it starts alike for all of them.
    programs.extend(subjects.iter().find(|subject| subject.is_rawr()));
    let case = |subject: &'a Subject| {
        let home = if subject.is_rawr() { home } else { None };
        BenchCase {
            measure: Measure::Start,
            variant: "free",
            servers: vec![subject.name],
            run: Box::new(move || {
                let start = std::time::Instant::now();
                let link = subject.start(home)?;
                let cells = vec![("ms", start.elapsed().as_secs_f64() * 1e3)];
                drop(link);
                Ok(vec![cells])
            }),
        }
    };
    let mut cases: Vec<_> = programs.into_iter().map(case).collect();
    cases.extend(subjects.iter().find(|subject| subject.name == "copy").map(|copy| BenchCase {
        measure: Measure::Start,
        variant: "free",
        servers: vec![COPY_TO_ITS_END],
        run: Box::new(move || timed_to_end(|| copy.empty_run())),
    }));
    if let (Some(rawr), Some(home)) = (subjects.iter().find(|subject| subject.is_rawr()), home) {
        cases.push(BenchCase {
            measure: Measure::Start,
            variant: "free",
            servers: vec![IDLE_HOOK],
            run: Box::new(move || timed_to_end(|| rawr.idle_hook(home))),
        });
    }
    cases
}

fn timed_to_end(run: impl FnOnce() -> Result<()>) -> Result<Vec<Cells>> {
    let start = std::time::Instant::now();
    run()?;
    Ok(vec![vec![("ms", start.elapsed().as_secs_f64() * 1e3)]])
}

fn loads(subjects: &[Subject], amount: Amount) -> Vec<BenchCase<'_>> {
    let mut cases = Vec::new();
    for variant in ["pinned", "free"] {
        cases.extend(subjects.iter().map(|subject| BenchCase {
            measure: Measure::RoundTrip,
            variant,
            servers: vec![subject.name],
            run: Box::new(move || Ok(vec![round_trip(subject, amount, variant == "pinned")?])),
        }));
    }
    for (window, variant) in WINDOWS {
        cases.extend(subjects.iter().map(|subject| BenchCase {
            measure: Measure::Pipelined,
            variant,
            servers: vec![subject.name],
            run: Box::new(move || Ok(vec![pipelined(subject, amount, window)?])),
        }));
    }
    cases.extend(subjects.iter().find(|subject| subject.is_rawr()).map(|subject| BenchCase {
        measure: Measure::Durable,
        variant: "in turn",
        servers: durable::SERVERS.to_vec(),
        run: Box::new(move || durable::completed(subject, amount.turns)),
    }));
    cases
}

fn crowds<'a>(rawr: &'a Subject, home: &'a BenchHome, amount: Amount) -> Vec<BenchCase<'a>> {
    let case = |measure, servers: &[&'static str], run| BenchCase {
        measure,
        variant: "free",
        servers: servers.to_vec(),
        run,
    };
    vec![
        case(
            Measure::Heard,
            heard::SERVERS,
            Box::new(move || heard::changes(rawr, amount.turns)) as Box<_>,
        ),
        case(Measure::Typed, typed::SERVERS, Box::new(move || typed::turns(rawr, amount.turns))),
        case(Measure::Stored, many::STORED, Box::new(move || many::start(rawr, home))),
        case(Measure::Live, many::LIVE, Box::new(move || many::live(rawr, amount.sequential))),
    ]
}

fn saves(rawr: &Subject, amount: Amount) -> impl Iterator<Item = BenchCase<'_>> {
    saved::Way::ALL.into_iter().map(move |way| BenchCase {
        measure: Measure::Saved,
        variant: way.name(),
        servers: saved::SERVERS.to_vec(),
        run: Box::new(move || saved::saves(rawr, way, amount.saves)),
    })
}

fn in_process<'a>(
    measure: Measure,
    servers: &[&'static str],
    run: impl FnMut() -> Result<Vec<Cells>> + 'a,
) -> BenchCase<'a> {
    BenchCase { measure, variant: "in process", servers: servers.to_vec(), run: Box::new(run) }
}

fn round_trip(subject: &Subject, amount: Amount, pinned: bool) -> Result<Cells> {
    let _pinned = pinned.then(Pinned::to_last_core).transpose()?;
    let mut session = subject.open()?;
    load::sequential(&mut session, amount.warm_up)?;
    let pid = session.link.pid();
    let before = cpu_seconds(pid)?;
    let mut micros = load::sequential(&mut session, amount.sequential)?;
    let cpu = (cpu_seconds(pid)? - before) * 1e6 / amount.sequential as f64;
    let (p50, p99) = (quantile(&mut micros, 0.5), quantile(&mut micros, 0.99));
    Ok(vec![("p50Us", p50), ("p99Us", p99), ("cpuUs", cpu)])
}

fn pipelined(subject: &Subject, amount: Amount, window: u64) -> Result<Cells> {
    let mut session = subject.open().context("not ready")?;
    let pid = session.link.pid();
    thread::sleep(SETTLE);
    let idle = (resident_mb(pid)?, private_mb(pid)?, threads(pid)?);
    load::pipelined(&mut session, amount.warm_up, window)?;
    let before = cpu_seconds(pid)?;
    let seconds = load::pipelined(&mut session, amount.pipelined, window)?;
    let cpu = (cpu_seconds(pid)? - before) * 1e6 / amount.pipelined as f64;
    Ok(vec![
        ("kPerS", amount.pipelined as f64 / seconds / 1e3),
        ("cpuUs", cpu),
        ("idleMb", idle.0),
        ("privateMb", idle.1),
        ("afterMb", resident_mb(pid)?),
        ("threads", idle.2 as f64),
        ("threadsAfter", threads(pid)? as f64),
    ])
}
