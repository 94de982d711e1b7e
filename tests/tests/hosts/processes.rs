//! The processes of a session on a terminal, found in `/proc`.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

use rawr_tests::wait_until;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};

/// Every process that runs, with its session and its command line.
fn running() -> impl Iterator<Item = (Pid, u32, String)> {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = all.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    numbers.filter_map(|number| {
        let read = |file: &str| std::fs::read_to_string(format!("/proc/{number}/{file}")).ok();
        let (line, stat) = (read("cmdline")?.replace('\0', " "), read("stat")?);
        let mut after_name = stat.rsplit_once(") ")?.1.split(' ');
        let is_dead = after_name.next()? == "Z";
        let session = after_name.nth(2)?.parse().ok()?;
        (!is_dead).then_some((Pid::from_raw(number)?, session, line))
    })
}

/// Those of one session whose command line holds all of `words`.
pub fn processes(session: u32, words: &[&str]) -> Vec<Pid> {
    let fits = |line: &str| words.iter().all(|word| line.contains(word));
    running().filter(|(_, of, line)| *of == session && fits(line)).map(|(pid, ..)| pid).collect()
}

/// Those whose command line holds this.
pub fn with_words(words: &str) -> Vec<Pid> {
    running().filter(|(.., line)| line.contains(words)).map(|(pid, ..)| pid).collect()
}

/// Those that were started with this in their environment, whatever terminal they are on.
pub fn with_environment(words: &str) -> Vec<(Pid, String)> {
    let fits = |pid: &Pid| {
        let path = format!("/proc/{}/environ", pid.as_raw_nonzero());
        std::fs::read(path).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(words))
    };
    running().filter(|(pid, ..)| fits(pid)).map(|(pid, _, line)| (pid, line)).collect()
}

pub fn kill(process: Pid) {
    kill_process(process, Signal::KILL).unwrap();
    wait_until("its death", || test_kill_process(process).is_err() || is_zombie(process));
}

/// Whether a stopped process has yet to receive this signal.
pub fn has_pending(process: Pid, signal: Signal) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let pending = status.lines().find_map(|line| line.strip_prefix("ShdPnd:")).unwrap();
    let pending = u64::from_str_radix(pending.trim(), 16).unwrap();
    pending & (1 << (signal.as_raw() - 1)) != 0
}

fn is_zombie(process: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.contains(") Z")
}
