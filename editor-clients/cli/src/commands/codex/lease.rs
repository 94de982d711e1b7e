//! The process that owns the app-server, seen from `rawr codex`: it lives for as long as this process, which becomes the shell,
//! and what is started from here on, the driver and Codex, hold a lock.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Child, ExitStatus};

use rustix::io::{FdFlags, fcntl_setfd};

use super::rawr_again;
use crate::commands::lease::USERS;

/// A running app-server.
#[derive(Debug)]
pub(super) struct Lease {
    process: Child,
    held: File,
}

impl Lease {
    /// Starts the app-server. To be called before everything else that lives as long as Codex.
    pub(super) fn take(folder: &Path, server: Vec<OsString>) -> anyhow::Result<Self> {
        let held = File::create(folder.join(USERS))?;
        held.lock()?;
        let mut command = rawr_again()?;
        command.arg("lease").arg(folder).arg("--").args(server);
        command.stderr(File::create(folder.join("log"))?);
        let process = command.spawn()?;
        // What is started from here on shares the lock.
        fcntl_setfd(held.as_fd(), FdFlags::empty())?;
        Ok(Self { process, held })
    }

    pub(super) fn process_id(&self) -> u32 {
        self.process.id()
    }

    /// How the app-server ended, if it has ended by itself.
    pub(super) fn ended(&mut self) -> std::io::Result<Option<ExitStatus>> {
        self.process.try_wait()
    }

    /// Ends the app-server, where no other process holds on to it, and waits for that.
    pub(super) fn give_up(mut self) {
        drop(self.held);
        // It may have ended already.
        let _ = self.process.wait();
    }
}
