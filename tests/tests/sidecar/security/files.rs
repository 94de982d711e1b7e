//! Files of a project that are none: the service neither waits for them nor reads them whole.

use rawr_protocol::Role;
use rawr_protocol::ThreadListParams;
use rawr_protocol::methods::{ThreadList, ThreadOpen};
use rawr_tests::{Home, Sidecar, StandIn};
use std::fs::File;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

/// A thread in a folder with such a `.rawr.toml` opens all the same, and what is wrong is told by its name.
fn check(spoil: impl Fn(&Path), told: &str) {
    let home = Home::new();
    spoil(&home.work().join(".rawr.toml"));
    let mut sidecar = Sidecar::start(&home);
    sidecar.call::<ThreadOpen>(&StandIn::new("t1").opening(&home, Role::Owner));
    sidecar.call::<ThreadList>(&ThreadListParams {});
    let notes = format!("{:?}", sidecar.take_notes());
    assert!(notes.contains(told), "{told:?} in {notes}");
    assert!(sidecar.peak_memory() < 200 << 20, "{} bytes", sidecar.peak_memory());
    sidecar.leave();
}

#[test]
fn a_pipe_that_nobody_writes_to_keeps_nobody_waiting() {
    let pipe = |path: &Path| {
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    check(pipe, "not a file");
}

#[test]
fn a_device_without_an_end_is_not_read() {
    check(|path| symlink("/dev/zero", path).unwrap(), "not a file");
}

#[test]
fn a_file_of_gigabytes_is_not_read() {
    check(|path| File::create(path).unwrap().set_len(8 << 30).unwrap(), "larger than 256 KiB");
}

#[test]
fn a_secret_that_a_link_leads_to_is_not_told() {
    let home = Home::new();
    let secret = home.path().join("secret");
    std::fs::write(&secret, "the-secret-words = [\n").unwrap();
    check(|path| symlink(&secret, path).unwrap(), ".rawr.toml");
    let mut sidecar = Sidecar::start(&home);
    symlink(&secret, home.work().join(".rawr.toml")).unwrap();
    sidecar.call::<ThreadOpen>(&StandIn::new("t1").opening(&home, Role::Owner));
    let log = std::fs::read_to_string(home.events("t1")).unwrap();
    assert!(!log.contains("the-secret-words"), "{log}");
    sidecar.take_notes();
    sidecar.leave();
}
