//! What POSIX offers and the standard library has no safe name for. All unsafe code of this program is here.

use std::io;
use std::mem::MaybeUninit;

use tokio::process::Command;

/// The child ends when this process is killed, so that no agent works on unseen. Linux only: elsewhere it is left to its pipes.
#[cfg_attr(not(target_os = "linux"), expect(unused_variables, reason = "no such call"))]
pub fn end_with_parent(command: &mut Command) {
    #[cfg(target_os = "linux")]
    before_exec(command, {
        let parent = rustix::process::getpid();
        move || {
            use rustix::process::{Signal, getppid, set_parent_process_death_signal};
            set_parent_process_death_signal(Some(Signal::TERM))?;
            // It may have been killed before the call above.
            if getppid() == Some(parent) { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
        }
    });
}

/// The child leads a session and a process group of its own: one signal reaches all that it starts, and without a terminal
/// what wants to ask a person fails at once instead of being stopped.
pub fn in_own_session(command: &mut Command) {
    before_exec(command, || {
        rustix::process::setsid()?;
        Ok(())
    });
}

/// Whether this process was started to ignore the signal, as `nohup` and a script's `&` do.
pub fn is_ignored(signal: libc::c_int) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::uninit();
    #[expect(unsafe_code, reason = "it only reads, and writes no more than the one structure")]
    unsafe {
        libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) == 0
            && action.assume_init().sa_sigaction == libc::SIG_IGN
    }
}

/// What the child does last of this program. It must allocate nothing and take no lock.
fn before_exec(command: &mut Command, work: impl Fn() -> io::Result<()> + Send + Sync + 'static) {
    #[expect(unsafe_code, reason = "its callers make system calls and nothing else")]
    unsafe {
        command.pre_exec(work);
    }
}
