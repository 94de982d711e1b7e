//! POSIX calls without a safe wrapper in the standard library. All unsafe code of the crate is here.

use std::io;
use std::mem::MaybeUninit;

use tokio::process::Command;

/// Makes the child receive SIGTERM when this process dies, so that no agent keeps working unseen. Only on Linux; elsewhere
/// the child ends when its pipes close.
#[cfg_attr(not(target_os = "linux"), expect(unused_variables, reason = "no such call"))]
pub fn end_with_parent(command: &mut Command) {
    #[cfg(target_os = "linux")]
    before_exec(command, {
        let parent = rustix::process::getpid();
        move || {
            use rustix::process::{Signal, getppid, set_parent_process_death_signal};
            set_parent_process_death_signal(Some(Signal::TERM))?;
            // The parent may have been killed before the call above.
            if getppid() == Some(parent) { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
        }
    });
}

/// Starts the child in its own session and process group: one signal reaches all of its descendants, and without a
/// controlling terminal a program that wants to prompt the user fails at once instead of being stopped.
pub fn in_own_session(command: &mut Command) {
    before_exec(command, || {
        rustix::process::setsid()?;
        Ok(())
    });
}

/// Whether this process was started with the signal ignored, as by `nohup` or a script's `&`.
pub fn is_ignored(signal: libc::c_int) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::uninit();
    #[expect(unsafe_code, reason = "the call only reads the disposition and writes to `action`")]
    unsafe {
        libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) == 0
            && action.assume_init().sa_sigaction == libc::SIG_IGN
    }
}

/// Runs `work` in the child between fork and exec. It must not allocate or take a lock.
fn before_exec(command: &mut Command, work: impl Fn() -> io::Result<()> + Send + Sync + 'static) {
    #[expect(unsafe_code, reason = "the callers only make system calls")]
    unsafe {
        command.pre_exec(work);
    }
}
