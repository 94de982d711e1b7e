//! The app-server's life, tied to those that it is there for: this process, which becomes the shell, and whatever it starts, the
//! driver and Codex, hold the end of a pipe. Once all of them are gone without having tidied up, the app-server is ended.

use std::os::fd::{AsFd, IntoRawFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::io::{FdFlags, fcntl_setfd};

/// Its arguments: the app-server's process, and the folder, which whoever tidies up removes. By then the number may be another
/// program's.
const WAIT_FOR_ALL: &str = r#"
trap '' INT QUIT HUP TERM
read -r never
if [ -d "$2" ]; then
  kill "$1" 2>/dev/null
  rm -rf "$2"
fi
"#;

/// To be called after the app-server is started, which must not hold on to itself, and before everybody else.
pub(super) fn tie(server: &Child, folder: &Path) -> std::io::Result<()> {
    let (theirs, ours) = std::io::pipe()?;
    let mut waiting = Command::new("/bin/sh");
    waiting.arg("-c").arg(WAIT_FOR_ALL).arg("rawr codex").arg(server.id().to_string()).arg(folder);
    waiting.stdin(theirs).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    waiting.spawn()?;
    fcntl_setfd(ours.as_fd(), FdFlags::empty())?;
    // Open for as long as this process is, and handed on from here.
    let _ = ours.into_raw_fd();
    Ok(())
}
