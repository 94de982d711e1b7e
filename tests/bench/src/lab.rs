//! Runs cases interleaved in shuffled rounds, and takes a sample again if other processes disturbed it.

use std::{
    thread,
    time::{Duration, Instant, SystemTime},
};

use anyhow::{Context, Result};

use crate::{
    report::{Cells, Measure, Row},
    stats::{Shuffle, median},
    system::foreign_cpu_seconds,
};

/// A sample counts as disturbed if other processes used more than this many cores.
const DISTURBED: f64 = 0.10;
/// The kernel counts CPU time in ticks of 10 ms, so two of them may be noise.
const TICKS: f64 = 0.02;
const LOOK: Duration = Duration::from_millis(500);

/// Something that is measured in each round. One run gives one sample for each of its servers.
pub struct BenchCase<'a> {
    pub measure: Measure,
    pub variant: &'static str,
    pub servers: Vec<&'static str>,
    pub run: Box<dyn FnMut() -> Result<Vec<Cells>> + 'a>,
}

pub struct Lab {
    order: Shuffle,
    retries: u32,
    /// How long this run may still wait for others to finish.
    patience: Duration,
    foreign: Vec<f64>,
}

impl Lab {
    pub fn new(retries: u32, patience: Duration) -> Self {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let order = Shuffle::seeded(now.as_nanos() as u64);
        Self { order, retries, patience, foreign: Vec::new() }
    }

    /// Runs every case once per round, in a new order each time. The rows are in the order of the cases.
    pub fn run(
        &mut self,
        cases: &mut [BenchCase<'_>],
        rounds: usize,
        mut told: impl FnMut(usize),
    ) -> Result<Vec<Row>> {
        if cases.is_empty() {
            return Ok(Vec::new());
        }
        let mut samples = vec![Vec::new(); cases.len()];
        let mut order: Vec<usize> = (0..cases.len()).collect();
        for round in 0..rounds {
            told(round);
            self.order.shuffle(&mut order);
            for &at in &order {
                let case = &mut cases[at];
                let sample = self.sample(&mut case.run);
                let name = || format!("{} of {}", case.measure.name(), case.servers.join(", "));
                samples[at].push(sample.with_context(name)?);
            }
        }
        let rows = cases.iter().zip(&samples).flat_map(|(case, samples)| rows_of(case, samples));
        Ok(rows.collect())
    }

    /// Cores that others used during the kept samples: middle and worst.
    pub fn foreign(&self) -> Option<(f64, f64)> {
        let mut seen = self.foreign.clone();
        let worst = seen.iter().copied().max_by(f64::total_cmp)?;
        Some((median(&mut seen), worst))
    }

    fn sample(&mut self, run: &mut dyn FnMut() -> Result<Vec<Cells>>) -> Result<Vec<Cells>> {
        let (mut foreign, mut kept) = watched(run)?;
        for _ in 0..self.retries {
            if foreign <= DISTURBED {
                break;
            }
            self.rest();
            let again = watched(run)?;
            if again.0 < foreign {
                (foreign, kept) = again;
            }
        }
        self.foreign.push(foreign);
        Ok(kept)
    }

    /// Waits until other processes are idle, up to the limit.
    fn rest(&mut self) {
        while !self.patience.is_zero() {
            self.patience = self.patience.saturating_sub(LOOK);
            let mut look = || {
                thread::sleep(LOOK);
                Ok(Vec::new())
            };
            if watched(&mut look).is_ok_and(|(foreign, _)| foreign <= DISTURBED) {
                return;
            }
        }
    }
}

/// The sample, and how many cores others used while it was taken.
fn watched(run: &mut dyn FnMut() -> Result<Vec<Cells>>) -> Result<(f64, Vec<Cells>)> {
    let (before, start) = (foreign_cpu_seconds()?, Instant::now());
    let sample = run()?;
    let foreign = (foreign_cpu_seconds()? - before - TICKS).max(0.0);
    Ok((foreign / start.elapsed().as_secs_f64(), sample))
}

fn rows_of(case: &BenchCase<'_>, samples: &[Vec<Cells>]) -> Vec<Row> {
    let row = |(at, server): (usize, &&'static str)| {
        let samples: Vec<Cells> =
            samples.iter().filter_map(|sample| sample.get(at).cloned()).collect();
        Row::of(case.measure, case.variant, *server, &samples)
    };
    case.servers.iter().enumerate().map(row).collect()
}
