//! Polling, if the operating system does not report changes.

use super::{effective, expect_silence, expect_text, file, folder, polling, text, write};
use rawr_protocol::methods::ConfigChanged;
use rawr_tests::{TestHome, TestSidecar};
use std::fs;

#[test]
fn every_way_of_saving_is_detected() {
    let home = TestHome::new();
    let mut sidecar = TestSidecar::launch(&home, &polling());
    let shipped = text(&mut sidecar);
    write(&file(&home), "In place.\n");
    expect_text(&mut sidecar, "In place.");
    let other = folder(&home).join("new");
    write(&other, "Renamed over.\n");
    fs::rename(other, file(&home)).unwrap();
    expect_text(&mut sidecar, "Renamed over.");
    fs::remove_file(file(&home)).unwrap();
    expect_text(&mut sidecar, &shipped);
    write(&file(&home), "Again.\n");
    expect_text(&mut sidecar, "Again.");
    home.configure("[rawr_auto_compaction]\nmode = \"ask\"\n");
    sidecar.expect::<ConfigChanged>();
    assert_eq!(effective(&mut sidecar, "rawr_auto_compaction.mode"), "ask");
    expect_silence(&mut sidecar);
    sidecar.leave();
}
