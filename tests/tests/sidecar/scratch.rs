//! Scratch files through the real sidecar: appended notes stay, nothing is written outside of the thread's folder, and
//! concurrent notes do not mix.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use crate::fixture::{SECRET, mode};
use rawr_protocol::methods::{
    ScratchAppend, ScratchChanged, ScratchList, ScratchPath, ScratchRead, ThreadOpen,
};
use rawr_protocol::{
    ErrorCode, Role, ScratchAppendParams, ScratchAppendResult, ScratchFile, ScratchListParams,
    ScratchPathParams, ScratchReadParams, ScratchReadResult, SessionSource,
};
use rawr_tests::sidecar::Failure;
use rawr_tests::{LaunchOptions, StandIn, TestHome, TestSidecar};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

const FILE: &str = ".scratch/agent-ada-0530e13b.scratch.md";

/// One agent's thread with its own home.
struct ScratchFixture {
    home: TestHome,
    sidecar: TestSidecar,
}

impl ScratchFixture {
    fn new() -> Self {
        Self::configured("")
    }

    fn configured(toml: &str) -> Self {
        let home = TestHome::new();
        home.configure(toml);
        let sidecar = TestSidecar::start(&home);
        let mut lab = Self { home, sidecar };
        let work = lab.home.work();
        lab.open("ada", &work);
        lab
    }

    /// The thread of an agent has the agent's name.
    fn open(&mut self, agent: &str, cwd: &Path) {
        open(&self.home, &mut self.sidecar, agent, cwd);
    }

    fn path(&self, path: &str) -> PathBuf {
        self.home.work().join(path)
    }

    fn text(&self) -> String {
        fs::read_to_string(self.path(FILE)).unwrap()
    }

    fn append(&mut self, text: &str) -> ScratchAppendResult {
        self.sidecar.call::<ScratchAppend>(&appending("ada", text))
    }

    fn read(&mut self, max_bytes: Option<u64>) -> ScratchReadResult {
        self.sidecar.call::<ScratchRead>(&ScratchReadParams { thread_id: "ada".into(), max_bytes })
    }

    fn list(&mut self) -> Vec<ScratchFile> {
        self.sidecar.call::<ScratchList>(&ScratchListParams { thread_id: "ada".into() }).files
    }

    fn exists(&mut self) -> bool {
        self.sidecar.call::<ScratchPath>(&ScratchPathParams { thread_id: "ada".into() }).exists
    }
}

fn open(home: &TestHome, sidecar: &mut TestSidecar, agent: &str, cwd: &Path) {
    let mut opening = StandIn::new(agent).opening(home, Role::Owner);
    opening.cwd = cwd.display().to_string();
    opening.session_source = Some(SessionSource::Subagent { name: agent.to_owned() });
    sidecar.call::<ThreadOpen>(&opening);
}

fn appending(agent: &str, text: &str) -> ScratchAppendParams {
    ScratchAppendParams { thread_id: agent.to_owned(), text: text.to_owned() }
}

/// The text without the times in headings.
fn timeless(text: &str) -> String {
    let line = |line: &str| match line.strip_prefix("## ") {
        Some(time) => {
            let shape: String =
                time.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
            assert_eq!(shape, "0000-00-00 00:00 UTC");
            "## TIME\n".to_owned()
        }
        None => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

#[test]
fn each_note_is_appended_as_a_section() {
    let mut lab = ScratchFixture::new();
    assert!(!lab.exists());
    assert_eq!((lab.read(None).text.as_str(), lab.list().len()), ("", 0));
    let first = lab.append("one\n\n- two");
    assert_eq!((first.scratch_file.as_str(), first.redactions), (FILE, 0));
    assert!(lab.exists());
    fs::write(lab.path(FILE), format!("{}by the agent itself", lab.text())).unwrap();
    let before = lab.text();
    let second = lab.append("three\n\n\n");
    assert!(lab.text().starts_with(&before));
    assert_eq!(
        timeless(&lab.text()),
        "## TIME\n\none\n\n- two\nby the agent itself\n\n## TIME\n\nthree\n"
    );
    assert_eq!(second.bytes, lab.text().len() as u64);
    assert_eq!(lab.read(None).text, lab.text());
    lab.sidecar.leave();
}

#[test]
fn clients_of_the_thread_are_notified_of_notes_also_of_the_agents_own() {
    let mut lab = ScratchFixture::new();
    let mut other = TestSidecar::start(&lab.home);
    let opening = StandIn::new("ada").opening(&lab.home, Role::Observer);
    other.call::<ThreadOpen>(&opening);
    let appended = lab.append("one");
    let told = lab.sidecar.wait_for::<ScratchChanged>();
    assert_eq!((told.thread_id.as_str(), told.by.as_deref()), ("ada", Some("test")));
    assert_eq!((told.scratch_file.as_str(), told.bytes), (FILE, appended.bytes));
    assert_eq!(Path::new(&told.path), lab.path(FILE));
    let told = other.wait_for::<ScratchChanged>();
    assert_eq!((told.scratch_file.as_str(), told.bytes), (FILE, appended.bytes));
    assert_eq!((told.by, told.exists), (None, true));
    fs::write(lab.path(FILE), "by the agent itself\n").unwrap();
    for sidecar in [&mut lab.sidecar, &mut other] {
        let told = sidecar.wait_for::<ScratchChanged>();
        assert_eq!((told.by, told.bytes), (None, 20));
    }
    fs::remove_file(lab.path(FILE)).unwrap();
    assert!(!other.wait_for::<ScratchChanged>().exists);
    other.leave();
    lab.sidecar.leave();
}

#[test]
fn the_file_is_private_and_its_folder_has_default_permissions() {
    let home = TestHome::new();
    let launch = LaunchOptions { prelude: Some("umask 027"), ..LaunchOptions::default() };
    let mut sidecar = TestSidecar::launch(&home, &launch);
    open(&home, &mut sidecar, "ada", &home.work());
    sidecar.call::<ScratchAppend>(&appending("ada", "one"));
    assert_eq!(mode(&home.work().join(FILE)), 0o600);
    assert_eq!(mode(&home.work().join(".scratch")), 0o750);
    sidecar.leave();
}

#[test]
fn secrets_are_redacted_and_counted_on_write_and_read() {
    let mut lab = ScratchFixture::new();
    let appended = lab.append(&format!("use {SECRET}, then {SECRET}"));
    assert_eq!(appended.redactions, 2);
    assert!(!lab.text().contains(SECRET));
    assert_eq!(lab.read(None).redactions, 0, "already redacted");
    let by_the_agent = format!("{}and {SECRET}\n", lab.text());
    fs::write(lab.path(FILE), &by_the_agent).unwrap();
    let read = lab.read(None);
    assert_eq!((read.redactions, read.text.contains(SECRET)), (1, false));
    assert_eq!(lab.text(), by_the_agent, "the file is unchanged");
    lab.sidecar.leave();
}

#[test]
fn the_newest_lines_are_read_up_to_the_limit() {
    let mut lab = ScratchFixture::new();
    fs::create_dir(lab.path(".scratch")).unwrap();
    let lines: String = (0..200_000).map(|at| format!("line {at:06}\n")).collect();
    fs::write(lab.path(FILE), &lines).unwrap();
    for (max, many) in [(Some(30), 2), (Some(24), 2), (Some(u64::MAX), 87_381), (None, 87_381)] {
        let read = lab.read(max);
        assert!(read.truncated);
        assert_eq!(read.text, lines[lines.len() - many * 12..], "{max:?}");
    }
    lab.sidecar.leave();
}

#[test]
fn empty_and_too_long_notes_are_refused() {
    let mut lab = ScratchFixture::new();
    let most = 64 << 10;
    for (text, problem) in [
        (String::new(), "the text is empty"),
        (" \n\t\n".to_owned(), "the text is empty"),
        ("x".repeat(most + 1), "a note of 65537 bytes is too long; 65536 are allowed"),
    ] {
        let failure = lab.sidecar.failure::<ScratchAppend>(&appending("ada", &text));
        assert_eq!((failure.code, failure.message.as_str()), (ErrorCode::InvalidParams, problem));
        assert_eq!(failure.data.field.as_deref(), Some("text"));
    }
    assert!(!lab.path(".scratch").exists());
    lab.append(&"x".repeat(most));
    lab.sidecar.leave();
}

#[test]
fn the_list_of_all_agents_notes_starts_with_the_latest() {
    let mut lab = ScratchFixture::new();
    lab.append("one");
    let work = lab.home.work();
    lab.open("bob", &work);
    lab.sidecar.call::<ScratchAppend>(&appending("bob", "two"));
    let hours_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(7200);
    let ada = fs::File::options().append(true).open(lab.path(FILE)).unwrap();
    ada.set_modified(hours_ago).unwrap();
    for other in ["README.md", "agent-x.scratch.md.swp"] {
        fs::write(lab.path(".scratch").join(other), "").unwrap();
    }
    fs::create_dir(lab.path(".scratch/agent-folder.scratch.md")).unwrap();
    symlink("/etc/hostname", lab.path(".scratch/agent-link.scratch.md")).unwrap();
    let files: Vec<_> = lab.list().into_iter().map(|file| file.scratch_file).collect();
    assert!(files[0].starts_with(".scratch/agent-bob-"), "{files:?}");
    assert_eq!(files[1..], [FILE]);
    lab.sidecar.leave();
}

#[test]
fn a_template_needs_no_folder_and_no_name() {
    let toml = "[rawr_auto_compaction]\nscratch_file_template = \"NOTES.md\"\n";
    let mut lab = ScratchFixture::configured(toml);
    fs::write(lab.path("README.md"), "").unwrap();
    assert_eq!(lab.append("one").scratch_file, "NOTES.md");
    let files: Vec<_> = lab.list().into_iter().map(|file| file.scratch_file).collect();
    assert_eq!(files, ["NOTES.md"]);
    lab.sidecar.leave();
    let toml = "[rawr_auto_compaction]\nscratch_file_template = \"./a//b/{agentName}/n.md\"\n";
    let mut lab = ScratchFixture::configured(toml);
    lab.append("one");
    assert!(lab.path("a/b/ada-0530e13b/n.md").exists());
    lab.sidecar.leave();
}

/// With an obstacle in the way, nothing is written, read or listed, and what it leads to is unchanged.
fn check_refused(spoil: impl Fn(&Path, &Path), problem: &str, lists: bool) {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("agent-ada-0530e13b.scratch.md"), "not yours").unwrap();
    let mut lab = ScratchFixture::new();
    spoil(&lab.home.work(), outside.path());
    let told = |failure: Failure, verb: &str| {
        let path = lab.home.work().join(FILE);
        assert_eq!(failure.code, ErrorCode::StoreFailed);
        assert_eq!(failure.message, format!("cannot {verb} {}: {problem}", path.display()));
        assert_eq!(failure.data.file, Some(path.display().to_string()));
    };
    let thread_id = || "ada".to_owned();
    told(lab.sidecar.failure::<ScratchAppend>(&appending("ada", "one")), "append to");
    let reading = ScratchReadParams { thread_id: thread_id(), max_bytes: None };
    told(lab.sidecar.failure::<ScratchRead>(&reading), "read");
    let listing = ScratchListParams { thread_id: thread_id() };
    if lists {
        assert!(lab.list().is_empty());
    } else {
        told(lab.sidecar.failure::<ScratchList>(&listing), "list");
    }
    assert!(!lab.exists());
    let names: Vec<_> = fs::read_dir(outside.path()).unwrap().collect();
    assert_eq!(names.len(), 1, "{names:?}");
    let kept = fs::read_to_string(outside.path().join("agent-ada-0530e13b.scratch.md")).unwrap();
    assert_eq!(kept, "not yours");
    lab.sidecar.leave();
}

const FOLDER_IS_LINK: &str =
    "`.scratch` is a symbolic link; rawr does not write notes through links";
const FILE_IS_LINK: &str =
    "`agent-ada-0530e13b.scratch.md` is a symbolic link; rawr does not write notes through links";

#[test]
fn a_linked_folder_is_refused() {
    check_refused(|work, out| symlink(out, work.join(".scratch")).unwrap(), FOLDER_IS_LINK, false);
    let inside = |work: &Path, _: &Path| {
        fs::create_dir(work.join("notes")).unwrap();
        symlink("notes", work.join(".scratch")).unwrap();
    };
    check_refused(inside, FOLDER_IS_LINK, false);
}

#[test]
fn a_dangling_link_is_refused() {
    let dangling =
        |work: &Path, out: &Path| symlink(out.join("gone"), work.join(".scratch")).unwrap();
    check_refused(dangling, FOLDER_IS_LINK, false);
    let dangling = |work: &Path, out: &Path| {
        fs::create_dir(work.join(".scratch")).unwrap();
        symlink(out.join("gone"), work.join(FILE)).unwrap();
    };
    check_refused(dangling, FILE_IS_LINK, true);
}

#[test]
fn a_linked_file_is_refused() {
    let link = |work: &Path, out: &Path| {
        fs::create_dir(work.join(".scratch")).unwrap();
        symlink(out.join("agent-ada-0530e13b.scratch.md"), work.join(FILE)).unwrap();
    };
    check_refused(link, FILE_IS_LINK, true);
}

#[test]
fn other_file_types_are_refused() {
    let file = |work: &Path, _: &Path| fs::write(work.join(".scratch"), "").unwrap();
    check_refused(file, "Not a directory (os error 20)", false);
    let pipe = |work: &Path, _: &Path| {
        fs::create_dir(work.join(".scratch")).unwrap();
        let made = std::process::Command::new("mkfifo").arg(work.join(FILE)).status();
        assert!(made.unwrap().success());
    };
    check_refused(pipe, "`agent-ada-0530e13b.scratch.md` is not a regular file", true);
}

#[test]
fn a_missing_thread_folder_is_not_created() {
    let mut lab = ScratchFixture::new();
    let gone = lab.home.work().join("gone");
    for (cwd, problem) in [
        (gone.as_path(), "No such file or directory (os error 2)"),
        (Path::new("."), "the thread's folder is not an absolute path"),
        (Path::new(""), "the thread's folder is not an absolute path"),
    ] {
        lab.open("bob", cwd);
        let failure = lab.sidecar.failure::<ScratchAppend>(&appending("bob", "one"));
        assert!(failure.message.ends_with(problem), "{failure:?}");
    }
    assert!(!gone.exists() && !lab.path(".scratch").exists());
    lab.sidecar.leave();
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_replaced_by_a_link_during_a_write_is_not_followed() {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    let mut lab = ScratchFixture::new();
    let outside = tempfile::tempdir().unwrap();
    let (scratch, link) = (lab.path(".scratch"), lab.path("link"));
    lab.append("one");
    symlink(outside.path(), &link).unwrap();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                renameat_with(CWD, &scratch, CWD, &link, RenameFlags::EXCHANGE).unwrap();
            }
        });
        for _ in 0..1000 {
            drop(lab.sidecar.try_call::<ScratchAppend>(&appending("ada", "two")));
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    lab.sidecar.leave();
}

#[test]
fn notes_of_two_sidecars_do_not_mix() {
    let home = TestHome::new();
    // Two threads share a file whose name has no agent.
    home.configure("[rawr_auto_compaction]\nscratch_file_template = \"NOTES.md\"\n");
    let note = |of: &str, at: usize| format!("{of} {at}\n{}", format!("{of}\n").repeat(4000));
    thread::scope(|scope| {
        for of in ["first", "second"] {
            let home = &home;
            scope.spawn(move || {
                let mut sidecar = TestSidecar::start(home);
                let mut opening = StandIn::new(of).opening(home, Role::Owner);
                opening.session_source = Some(SessionSource::Subagent { name: "ada".to_owned() });
                sidecar.call::<ThreadOpen>(&opening);
                for at in 0..40 {
                    sidecar.call::<ScratchAppend>(&appending(of, &note(of, at)));
                }
                sidecar.leave();
            });
        }
    });
    let text = timeless(&fs::read_to_string(home.work().join("NOTES.md")).unwrap());
    let sections: Vec<_> = text.split("## TIME\n\n").skip(1).map(str::trim_end).collect();
    let mut expected: Vec<_> = ["first", "second"]
        .iter()
        .flat_map(|of| (0..40).map(|at| note(of, at).trim_end().to_owned()))
        .collect();
    let mut sorted = sections.clone();
    sorted.sort_unstable();
    expected.sort_unstable();
    assert_eq!(sorted.len(), expected.len());
    assert!(sorted == expected, "a section is not what was added");
    for of in ["first", "second"] {
        let of_one = sections.iter().filter(|section| section.starts_with(of));
        let numbers: Vec<_> = of_one.map(|section| section.lines().next().unwrap()).collect();
        let in_order: Vec<_> = (0..40).map(|at| format!("{of} {at}")).collect();
        assert_eq!(numbers, in_order);
    }
}
