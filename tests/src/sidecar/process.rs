//! The process of a sidecar: its memory, its limits, signals.

use super::{LIMIT, TestSidecar, must};
use rustix::process::{Pid, Signal};
use std::process::ExitStatus;
use std::thread;
use std::time::{Duration, Instant};

impl TestSidecar {
    pub fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// The most memory that it ever held, in bytes.
    pub fn peak_memory(&self) -> u64 {
        let size = self.status("VmHWM:");
        let kilobytes = size.strip_suffix(" kB").and_then(|size| size.trim().parse().ok());
        kilobytes.map_or_else(|| panic!("no size: {size}"), |size: u64| size * 1024)
    }

    /// From now on no file that it writes grows beyond so many bytes: a disk that is full. `None`: space again.
    /// Its prelude must have made it deaf to `XFSZ`.
    #[cfg(target_os = "linux")]
    pub fn limit_files(&self, bytes: Option<u64>) {
        let limit = rustix::process::Rlimit { current: bytes, maximum: None };
        let set = rustix::process::prlimit(self.pid(), rustix::process::Resource::Fsize, limit);
        must(set, "limit the sidecar's files");
    }

    fn pid(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
    }

    fn send_signal(&self, signal: Signal) {
        let sent = self.pid().map(|pid| rustix::process::kill_process(pid, signal));
        must(sent.unwrap_or(Err(rustix::io::Errno::SRCH)), "send a signal to the sidecar");
    }

    /// Stops the process and waits until it is stopped.
    pub fn pause(&self) {
        self.send_signal(Signal::STOP);
        let give_up_at = Instant::now() + LIMIT;
        while !self.status("State:").starts_with('T') {
            assert!(Instant::now() < give_up_at, "it does not stop");
            thread::sleep(Duration::from_millis(1));
        }
    }

    pub fn resume(&self) {
        self.send_signal(Signal::CONT);
    }

    /// A field of the process's status file.
    fn status(&self, field: &str) -> String {
        let path = format!("/proc/{}/status", self.child.id());
        let status = must(std::fs::read_to_string(path), "read the process's status");
        let line = status.lines().find_map(|line| line.strip_prefix(field));
        line.map_or_else(|| panic!("no {field} in {status}"), |value| value.trim().to_owned())
    }

    /// Kills the process.
    pub fn kill(&mut self) -> ExitStatus {
        drop(self.child.kill());
        self.wait()
    }
}
