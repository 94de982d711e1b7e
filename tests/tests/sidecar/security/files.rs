//! Special files in a project: the sidecar neither blocks on them nor reads them completely.

use rawr_protocol::Role;
use rawr_protocol::ThreadListParams;
use rawr_protocol::methods::{ThreadList, ThreadOpen};
use rawr_tests::{StandIn, TestHome, TestSidecar};
use std::fs::File;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

/// A thread in a folder with such a `.rawr.toml` can be opened, and the problem is reported with the file's name.
fn check(spoil: impl Fn(&Path), told: &str) {
    let home = TestHome::new();
    spoil(&home.work().join(".rawr.toml"));
    let mut sidecar = TestSidecar::start(&home);
    sidecar.call::<ThreadOpen>(&StandIn::new("t1").opening(&home, Role::Owner));
    sidecar.call::<ThreadList>(&ThreadListParams {});
    let notes = format!("{:?}", sidecar.take_notes());
    assert!(notes.contains(told), "{told:?} in {notes}");
    assert!(sidecar.peak_memory() < 200 << 20, "{} bytes", sidecar.peak_memory());
    sidecar.leave();
}

#[test]
fn a_pipe_without_a_writer_does_not_block() {
    let pipe = |path: &Path| {
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    check(pipe, "not a file");
}

#[test]
fn an_endless_device_is_not_read() {
    check(|path| symlink("/dev/zero", path).unwrap(), "not a file");
}

#[test]
fn a_file_of_gigabytes_is_not_read() {
    check(|path| File::create(path).unwrap().set_len(8 << 30).unwrap(), "larger than 256 KiB");
}

#[test]
fn the_target_of_a_link_is_not_quoted() {
    let home = TestHome::new();
    let secret = home.path().join("secret");
    std::fs::write(&secret, "the-secret-words = [\n").unwrap();
    check(|path| symlink(&secret, path).unwrap(), ".rawr.toml");
    let mut sidecar = TestSidecar::start(&home);
    symlink(&secret, home.work().join(".rawr.toml")).unwrap();
    sidecar.call::<ThreadOpen>(&StandIn::new("t1").opening(&home, Role::Owner));
    let log = std::fs::read_to_string(home.events("t1")).unwrap();
    assert!(!log.contains("the-secret-words"), "{log}");
    sidecar.discard_and_leave();
}
