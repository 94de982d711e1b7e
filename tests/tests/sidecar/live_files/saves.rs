//! The ways in which editors save a file. Each of them is one reload.

use super::{expect_silence, expect_text, file, folder, shell, start, text, write};
use rawr_tests::TestHome;
use std::fs::{self, File};
use std::io::{Seek, Write};
use std::path::Path;
use std::time::Duration;

fn check(save: impl Fn(&Path, &str)) {
    let home = TestHome::new();
    let mut sidecar = start(&home);
    for turn in 0..3 {
        let wanted = format!("Summarise, {turn}.\nIn two lines.\n");
        save(&file(&home), &wanted);
        expect_text(&mut sidecar, wanted.trim_end());
        expect_silence(&mut sidecar);
    }
    sidecar.leave();
}

#[test]
fn written_in_place() {
    check(write);
}

#[test]
fn written_in_place_in_several_writes() {
    check(|file, text| {
        let mut file = File::create(file).unwrap();
        for line in text.split_inclusive('\n') {
            file.write_all(line.as_bytes()).unwrap();
            std::thread::sleep(Duration::from_millis(30));
        }
    });
}

#[test]
fn without_a_final_newline() {
    check(|file, text| write(file, text.trim_end()));
}

#[test]
fn another_file_renamed_over() {
    check(|file, text| {
        let other = file.with_extension("tmp");
        write(&other, text);
        fs::rename(other, file).unwrap();
    });
}

/// The end of writing is not reported.
#[test]
fn written_in_place_and_kept_open() {
    let home = TestHome::new();
    let mut sidecar = start(&home);
    let mut open = File::create(file(&home)).unwrap();
    for wanted in ["Sum up.\n", "Sum up.\nIn two lines.\n"] {
        open.set_len(0).unwrap();
        open.rewind().unwrap();
        open.write_all(wanted.as_bytes()).unwrap();
        expect_text(&mut sidecar, wanted.trim_end());
    }
    expect_silence(&mut sidecar);
    sidecar.leave();
}

/// By path, so that the file is neither opened nor closed.
#[test]
fn truncated_by_path() {
    let home = TestHome::new();
    let mut sidecar = start(&home);
    write(&file(&home), "Sum up.\nIn two lines.\n");
    expect_text(&mut sidecar, "Sum up.\nIn two lines.");
    shell(&folder(&home), "perl -e 'truncate(q(compact.md), 8) or die'");
    expect_text(&mut sidecar, "Sum up.");
    expect_silence(&mut sidecar);
    sidecar.leave();
}

/// Vim with `backup`: renames the file away and writes a new one.
#[test]
fn renamed_away_and_written_again() {
    check(|file, text| {
        let backup = file.with_extension("md~");
        fs::rename(file, &backup).unwrap();
        std::thread::sleep(Duration::from_millis(20));
        write(file, text);
        fs::remove_file(backup).unwrap();
    });
}

#[test]
fn deleted_and_written_again() {
    check(|file, text| {
        fs::remove_file(file).unwrap();
        write(file, text);
    });
}

/// Writes another file and renames it over the original.
#[test]
fn by_sed_in_place() {
    check(|file, text| {
        let line = text.lines().next().unwrap();
        let script = format!("sed -i -e '2,$d' -e 's/.*/{line}\\nIn two lines./' compact.md");
        shell(file.parent().unwrap(), &script);
    });
}

#[test]
fn a_save_without_changes_is_not_reported() {
    let home = TestHome::new();
    let mut sidecar = start(&home);
    write(&file(&home), "Sum up.\n");
    expect_text(&mut sidecar, "Sum up.");
    write(&file(&home), "Sum up.\n");
    expect_silence(&mut sidecar);
    sidecar.leave();
}

#[test]
fn a_deleted_file_is_replaced_by_the_shipped_text() {
    let home = TestHome::new();
    let mut sidecar = start(&home);
    let shipped = text(&mut sidecar);
    write(&file(&home), "Sum up.\n");
    expect_text(&mut sidecar, "Sum up.");
    fs::remove_file(file(&home)).unwrap();
    expect_text(&mut sidecar, &shipped);
    write(&file(&home), "Sum up again.\n");
    expect_text(&mut sidecar, "Sum up again.");
    sidecar.leave();
}

#[test]
fn other_files_of_the_folder_are_ignored() {
    let home = TestHome::new();
    let mut sidecar = start(&home);
    write(&folder(&home).join("notes.md"), "Mine.\n");
    write(&folder(&home).join(".compact.md.swp"), "b0VIM");
    expect_silence(&mut sidecar);
    sidecar.leave();
}

#[test]
fn a_thousand_saves_are_a_thousand_complete_reloads() {
    let home = TestHome::new();
    let mut sidecar = start(&home);
    let body = "Keep what was decided.\n".repeat(40);
    for turn in 0..1000 {
        let wanted = format!("Summary {turn}.\n{body}");
        write(&file(&home), &wanted);
        let changed = sidecar.expect::<rawr_protocol::methods::PromptChanged>();
        assert_eq!(changed.problems, []);
        assert_eq!(text(&mut sidecar), wanted.trim_end());
    }
    expect_silence(&mut sidecar);
    sidecar.leave();
}
