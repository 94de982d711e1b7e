//! What the kernel tells: where a process may run, what CPU time it used, its memory and threads (Linux: /proc).

use std::fs;

use anyhow::{Context, Result};
use rustix::{
    param::clock_ticks_per_second,
    thread::{CpuSet, sched_getaffinity, sched_setaffinity},
};

/// The calling thread, and every process it starts, runs on one core until this is dropped.
pub struct Pinned {
    before: CpuSet,
}

impl Pinned {
    /// Pins to the highest core allowed: interrupts tend to go to the lowest.
    pub fn to_last_core() -> Result<Self> {
        let before = sched_getaffinity(None)?;
        let core = (0..CpuSet::MAX_CPU).rev().find(|core| before.is_set(*core));
        let mut only = CpuSet::new();
        only.set(core.context("no core is allowed")?);
        sched_setaffinity(None, &only)?;
        Ok(Self { before })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        let _ = sched_setaffinity(None, &self.before);
    }
}

/// CPU time of a living process in seconds: the scheduler's own count, summed over its threads.
pub fn cpu_seconds(pid: u32) -> Result<f64> {
    let mut nanoseconds = 0;
    for task in fs::read_dir(format!("/proc/{pid}/task"))? {
        let text = fs::read_to_string(task?.path().join("schedstat"))?;
        let field = text.split_whitespace().next().context("schedstat is empty")?;
        nanoseconds += field.parse::<u64>()?;
    }
    Ok(nanoseconds as f64 / 1e9)
}

/// Resident memory in MB (1e6 bytes).
pub fn resident_mb(pid: u32) -> Result<f64> {
    Ok(status(pid, "VmRSS:")? as f64 * 1024.0 / 1e6)
}

/// Memory of its own that is not a part of a file, in MB.
pub fn private_mb(pid: u32) -> Result<f64> {
    let path = format!("/proc/{pid}/smaps_rollup");
    let private = status_of(&path, "Private_Dirty:")?;
    Ok(private as f64 * 1024.0 / 1e6)
}

/// Forgets this process's highest resident memory, and returns the present one in MB.
pub fn reset_peak_mb() -> Result<f64> {
    fs::write("/proc/self/clear_refs", "5")?;
    resident_mb(std::process::id())
}

/// The highest resident memory of this process since then, in MB.
pub fn peak_mb() -> Result<f64> {
    Ok(status(std::process::id(), "VmHWM:")? as f64 * 1024.0 / 1e6)
}

pub fn threads(pid: u32) -> Result<u64> {
    status(pid, "Threads:")
}

fn status(pid: u32, key: &str) -> Result<u64> {
    status_of(&format!("/proc/{pid}/status"), key)
}

fn status_of(path: &str, key: &str) -> Result<u64> {
    let text = fs::read_to_string(path)?;
    let value = text.lines().find_map(|line| line.strip_prefix(key));
    let value = value.and_then(|rest| rest.split_whitespace().next());
    Ok(value.with_context(|| format!("no {key} in {path}"))?.parse()?)
}

/// CPU seconds that all of the machine spent so far on anything but this process and its finished children.
pub fn foreign_cpu_seconds() -> Result<f64> {
    let hz = clock_ticks_per_second() as f64;
    Ok((machine_ticks()? as f64 - own_ticks()? as f64) / hz)
}

fn machine_ticks() -> Result<u64> {
    let text = fs::read_to_string("/proc/stat")?;
    let total = text.lines().next().context("/proc/stat is empty")?;
    let fields: Vec<u64> = total.split_whitespace().skip(1).flat_map(str::parse).collect();
    // user, nice, system, idle, iowait, irq, softirq, steal; guest time stands in user already.
    Ok([0, 1, 2, 5, 6, 7].iter().filter_map(|at| fields.get(*at)).sum())
}

fn own_ticks() -> Result<u64> {
    let text = fs::read_to_string("/proc/self/stat")?;
    // The name of the program stands in brackets and may hold spaces: count from behind it.
    let (_, fields) = text.rsplit_once(')').context("/proc/self/stat is odd")?;
    Ok(fields.split_whitespace().skip(11).take(4).flat_map(str::parse::<u64>).sum())
}
