//! The client side of `rawr lease`, the process that owns the app-server. It keeps the app-server running while this process
//! (which becomes the shell), the driver or Codex holds an inherited lock.

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
pub(super) struct AppServerLease {
    process: Child,
    held: File,
}

impl AppServerLease {
    /// Starts the app-server. Call it before starting the processes that share the lock.
    pub(super) fn take(folder: &Path, server: Vec<OsString>) -> anyhow::Result<Self> {
        let held = File::create(folder.join(USERS))?;
        held.lock()?;
        let mut command = rawr_again()?;
        command.arg("lease").arg(folder).arg("--").args(server);
        command.stderr(File::create(folder.join("log"))?);
        let process = command.spawn()?;
        // Processes that are started from here on inherit the lock.
        fcntl_setfd(held.as_fd(), FdFlags::empty())?;
        Ok(Self { process, held })
    }

    pub(super) fn process_id(&self) -> u32 {
        self.process.id()
    }

    /// The exit status of an app-server that ended by itself.
    pub(super) fn ended(&mut self) -> std::io::Result<Option<ExitStatus>> {
        self.process.try_wait()
    }

    /// Releases the lock and waits until the app-server has ended. No other process may hold the lock.
    pub(super) fn give_up(mut self) {
        drop(self.held);
        // Fails if it has already ended.
        let _ = self.process.wait();
    }
}
