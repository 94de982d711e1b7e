//! The format of notes, and the names of scratch files.

use super::place::FileEnd;
use super::*;
use std::fs;

fn check_section(before: &str, text: &str, expected: &str) {
    let end = FileEnd { length: before.len() as u64, last: before.bytes().last() };
    let section = text::section(end, text, Timestamp(1_795_269_780_000));
    assert_eq!(format!("{before}{section}"), expected);
}

#[test]
fn a_section_has_a_heading_with_the_time_and_a_final_newline() {
    check_section("", "one\ntwo", "## 2026-11-21 14:03 UTC\n\none\ntwo\n");
    check_section("", "\n\n  - one \n\n", "## 2026-11-21 14:03 UTC\n\n  - one\n");
}

#[test]
fn a_section_begins_after_an_empty_line() {
    check_section("old\n", "new", "old\n\n## 2026-11-21 14:03 UTC\n\nnew\n");
    check_section("old", "new", "old\n\n## 2026-11-21 14:03 UTC\n\nnew\n");
}

fn check_time(at: i64, expected: &str) {
    let end = FileEnd { length: 0, last: None };
    let section = text::section(end, "", Timestamp(at));
    assert_eq!(section.lines().next(), Some(expected), "{at}");
}

#[test]
fn every_day_of_the_calendar_has_its_date() {
    for (at, expected) in [
        (0, "## 1970-01-01 00:00 UTC"),
        (951_782_399_999, "## 2000-02-28 23:59 UTC"),
        (951_782_400_000, "## 2000-02-29 00:00 UTC"),
        (951_868_800_000, "## 2000-03-01 00:00 UTC"),
        (1_735_689_599_999, "## 2024-12-31 23:59 UTC"),
        (1_735_689_600_000, "## 2025-01-01 00:00 UTC"),
        (4_107_542_399_999, "## 2100-02-28 23:59 UTC"),
        (4_107_542_400_000, "## 2100-03-01 00:00 UTC"),
        (-1, "## 1970-01-01 00:00 UTC"),
        (i64::MAX, "## 9999-12-31 23:59 UTC"),
    ] {
        check_time(at, expected);
    }
}

fn check_newest(text: &str, most: u64, expected: &str, truncated: bool) {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(&file, text).unwrap();
    let newest = text::newest(file.reopen().unwrap(), most).unwrap();
    assert_eq!(newest, (expected.to_owned(), truncated), "{text:?} to {most}");
}

#[test]
fn the_newest_part_is_whole_lines() {
    check_newest("", 10, "", false);
    check_newest("one\ntwo\n", 8, "one\ntwo\n", false);
    check_newest("one\ntwo\n", 7, "two\n", true);
    check_newest("one\ntwo\n", 4, "two\n", true);
    check_newest("one\ntwo", 3, "two", true);
}

#[test]
fn of_a_single_line_that_is_too_long_the_end_is_kept() {
    check_newest("one\ntwo\n", 3, "wo\n", true);
    check_newest("one\nüüü", 3, "ü", true);
    check_newest("one\n", 0, "", true);
}

fn check_names(template: &str, names: &[&str], others: &[&str]) {
    for name in names {
        assert!(is_notes(template, name), "{template} {name}");
    }
    for name in others {
        assert!(!is_notes(template, name), "{template} {name}");
    }
}

#[test]
fn scratch_files_are_recognized_by_the_template() {
    let others = ["agent-.scratch.md", "agent-scratch.md", "README.md", "agent-a.scratch.md.bak"];
    for template in ["agent-{agentName}.scratch.md", "agent-{agent_name}.scratch.md"] {
        check_names(template, &["agent-a.scratch.md", "agent-b-c.scratch.md"], &others);
    }
    check_names("notes.md", &["notes.md"], &["README.md", "notes.md.md"]);
}
