//! A disk whose syncs hang: a shim before the C library's `fdatasync`, which waits for as long as a file is there.
//! Other writes are not affected.

use std::{ffi::OsString, fs, path::Path, process::Command};

use anyhow::{Context, Result, ensure};

/// A shim for files whose path holds what `SLOW_SYNC_OF` says.
const SHIM: &str = r#"
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int fdatasync(int fd) {
    const char *of = getenv("SLOW_SYNC_OF"), *hold = getenv("SLOW_SYNC_WHILE");
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length < 0 ? 0 : length] = 0;
    while (of && hold && strstr(path, of) && access(hold, F_OK) == 0) usleep(1000);
    return (int)syscall(SYS_fdatasync, fd);
}
"#;

/// What a process is started with, so that its syncs below a folder of this name hang while `hold` is there.
pub fn environment(folder: &Path, of: &str, hold: &Path) -> Result<[(&'static str, OsString); 3]> {
    let (source, shim) = (folder.join("slow_sync.c"), folder.join("slow_sync.so"));
    fs::write(&source, SHIM)?;
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .args([&shim, &source])
        .output()
        .context("no C compiler: install `cc`")?;
    ensure!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    Ok([
        ("LD_PRELOAD", shim.into()),
        ("SLOW_SYNC_OF", format!("/{of}/").into()),
        ("SLOW_SYNC_WHILE", hold.into()),
    ])
}
