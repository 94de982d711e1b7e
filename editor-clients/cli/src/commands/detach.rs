//! `rawr detach`: detaches rawr from Codex. Codex itself keeps running.

use std::io::Write;
use std::process::ExitCode;

use anyhow::bail;

use super::common::CommonOptions;
use rawr_host::presence;

pub(super) fn run(common: &CommonOptions) -> anyhow::Result<ExitCode> {
    let present = presence::present(&common.home()?.dir)?;
    let mut out = anstream::stdout().lock();
    for attached in &present {
        let (process, socket) = (attached.process, attached.socket.display());
        if attached.is_here {
            let told = attached.mark_detached();
            end_process(process)?;
            writeln!(out, "process {process} detaches from the Codex at {socket}.")?;
            if let Err(error) = told {
                writeln!(out, "its terminal will not show why: {error}")?;
            }
        } else {
            writeln!(
                out,
                "process {process} of another machine or container is still attached at {socket}: run `rawr detach` there."
            )?;
        }
    }
    if !present.iter().any(|present| present.is_here) {
        bail!("not attached to any Codex session");
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn end_process(process: u32) -> anyhow::Result<()> {
    use rustix::process::{Pid, Signal, kill_process};
    if let Some(process) = i32::try_from(process).ok().and_then(Pid::from_raw) {
        match kill_process(process, Signal::TERM) {
            // Fails if it has just ended.
            Ok(()) | Err(rustix::io::Errno::SRCH) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
