//! From folders and files to the current prompts.

use super::*;
use std::fs;
use tempfile::TempDir;

/// An empty prompt folder.
struct PromptFolder {
    root: TempDir,
}

impl PromptFolder {
    fn new() -> Self {
        Self { root: tempfile::tempdir().unwrap() }
    }

    fn folder(&self) -> PathBuf {
        self.root.path().join("home/auto-compact")
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    fn open(&self) -> PromptStore {
        PromptStore::open(&self.folder(), &BTreeMap::new())
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.file(name), text).unwrap();
    }
}

fn heads_up(store: &PromptStore) -> (&str, PromptSource) {
    let prompt = store.set().get(PromptName::HeadsUp);
    (&prompt.text, prompt.origin)
}

fn codes(store: &PromptStore) -> Vec<&'static str> {
    store.set().problems().map(|problem| problem.code).collect()
}

// rule: prompt.written-once
// rule: heads-up.prompt-file
// rule: prompt.every-one-used
#[test]
fn the_shipped_files_are_written_for_their_owner_only() {
    let lab = PromptFolder::new();
    let store = lab.open();
    assert_eq!(codes(&store), [""; 0]);
    for name in PromptName::ALL {
        let path = lab.file(&format!("{}.md", name.name()));
        assert_eq!(fs::read_to_string(&path).unwrap(), shipped(name));
        assert_eq!(store.set().get(name).path, Some(path));
        assert_eq!(store.set().get(name).origin, PromptSource::Shipped);
    }
    for (name, expected) in [("", 0o700), ("heads-up.md", 0o600), (".seeded", 0o600)] {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(lab.file(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, expected, "{name}");
    }
    let extra = fs::read_dir(lab.folder()).unwrap().count();
    assert_eq!(extra, PromptName::ALL.len() + 1, "nothing else is left behind");
}

// rule: prompt.written-once
#[test]
fn edits_are_never_overwritten() {
    let lab = PromptFolder::new();
    fs::create_dir_all(lab.folder()).unwrap();
    lab.write("heads-up.md", "Mine, because {reason}.");
    for _ in 0..2 {
        let store = lab.open();
        assert_eq!(heads_up(&store), ("Mine, because {reason}.", PromptSource::User));
        assert_eq!(codes(&store), [""; 0]);
    }
}

#[test]
fn a_deleted_file_stays_deleted_and_the_shipped_text_is_used() {
    let lab = PromptFolder::new();
    lab.open();
    fs::remove_file(lab.file("heads-up.md")).unwrap();
    let store = lab.open();
    assert!(!lab.file("heads-up.md").exists());
    assert_eq!(store.set().get(PromptName::HeadsUp), PromptSet::shipped().get(PromptName::HeadsUp));
}

#[test]
fn processes_that_start_at_once_do_not_conflict() {
    let lab = PromptFolder::new();
    std::thread::scope(|scope| {
        let starts = [(); 8].map(|()| scope.spawn(|| lab.open()));
        for store in starts.map(|start| start.join().unwrap()) {
            assert_eq!(codes(&store), [""; 0]);
            assert_eq!(store.set().prompts(), PromptSet::shipped().prompts());
        }
    });
    fs::remove_file(lab.file("heads-up.md")).unwrap();
    lab.open();
    assert!(!lab.file("heads-up.md").exists());
}

#[test]
fn a_prompt_of_a_later_release_is_written_once() {
    let lab = PromptFolder::new();
    lab.open();
    let list = fs::read_to_string(lab.file(".seeded")).unwrap();
    let without: String = list
        .lines()
        .filter(|line| !line.starts_with("compact.md"))
        .map(|line| format!("{line}\n"))
        .collect();
    lab.write(".seeded", without);
    fs::remove_file(lab.file("compact.md")).unwrap();
    fs::remove_file(lab.file("judgment.md")).unwrap();
    lab.open();
    assert!(lab.file("compact.md").exists() && !lab.file("judgment.md").exists());
}

/// A folder in which an earlier release wrote another text.
fn of_an_earlier_release(old: &str) -> PromptFolder {
    let lab = PromptFolder::new();
    lab.open();
    lab.write("heads-up.md", old);
    let list = fs::read_to_string(lab.file(".seeded")).unwrap();
    lab.write(".seeded", list.replace(&version(shipped(PromptName::HeadsUp)), &version(old)));
    lab
}

// rule: prompt.follows-releases
#[test]
fn an_untouched_copy_of_an_older_shipped_text_is_replaced() {
    let old = "Old, because {reason}.";
    let lab = of_an_earlier_release(old);
    for _ in 0..2 {
        let store = lab.open();
        assert_eq!(heads_up(&store).0, shipped(PromptName::HeadsUp).trim_end());
        assert_eq!(codes(&store), [""; 0]);
    }
    // An older rawr that still runs finds the newer text and its own version in the list.
    lab.write("heads-up.md", old);
    assert_eq!(heads_up(&lab.open()).0, old);
}

// rule: prompt.follows-releases
#[test]
fn an_edited_copy_of_an_older_shipped_text_stays_and_is_named() {
    let lab = of_an_earlier_release("Old, because {reason}.");
    let mine = "Mine, because {reason}.";
    lab.write("heads-up.md", mine);
    let store = lab.open();
    assert_eq!((heads_up(&store).0, codes(&store)), (mine, vec!["shipped-text-changed"]));
}

// rule: prompt.unreadable
#[test]
fn a_folder_that_cannot_be_created_is_reported_once() {
    let lab = PromptFolder::new();
    fs::write(lab.root.path().join("home"), "a file").unwrap();
    let store = lab.open();
    assert_eq!(codes(&store), ["prompt-folder"]);
    assert_eq!(store.set().prompts(), PromptSet::shipped().prompts());
}

// rule: prompt.home-folder
#[test]
fn a_changed_file_is_reloaded_and_named() {
    let lab = PromptFolder::new();
    let mut store = lab.open();
    let before = store.set().clone();
    assert_eq!(store.refresh_if_changed(), []);
    lab.write("heads-up.md", "Mine, because {reason}.");
    assert_eq!(store.refresh_if_changed(), [PromptName::HeadsUp]);
    assert_eq!(store.refresh_if_changed(), []);
    assert_eq!(heads_up(&store), ("Mine, because {reason}.", PromptSource::User));
    assert_ne!(
        store.set().get(PromptName::HeadsUp).version,
        before.get(PromptName::HeadsUp).version
    );
    assert_eq!(
        before.get(PromptName::HeadsUp).origin,
        PromptSource::Shipped,
        "a snapshot does not change"
    );
    fs::remove_file(lab.file("heads-up.md")).unwrap();
    assert_eq!(store.reload(), [PromptName::HeadsUp]);
    assert_eq!(heads_up(&store).1, PromptSource::Shipped);
}

#[test]
fn the_last_valid_text_stays_when_a_file_becomes_invalid() {
    let lab = PromptFolder::new();
    let mut store = lab.open();
    lab.write("heads-up.md", "Good, because {reason}.");
    store.refresh_if_changed();
    for (bad, code) in [
        ("---\na: [\n---\nBad {reason}.".as_bytes(), "front-matter"),
        (b"Bad \xff {reason}.", "not-utf-8"),
        (b"", "empty-prompt"),
        (&vec![b'a'; 300 * 1024], "file-too-large"),
    ] {
        lab.write("heads-up.md", bad);
        assert_eq!(store.refresh_if_changed(), [PromptName::HeadsUp]);
        assert_eq!((heads_up(&store).0, codes(&store)), ("Good, because {reason}.", vec![code]));
    }
    lab.write("heads-up.md", "Good again, because {reason}.");
    store.refresh_if_changed();
    assert_eq!((heads_up(&store).0, codes(&store)), ("Good again, because {reason}.", vec![]));
}

// rule: prompt.embedded
#[test]
fn a_file_that_is_invalid_at_start_leaves_the_embedded_text() {
    let lab = PromptFolder::new();
    lab.open();
    lab.write("handoff.md", "No packet.");
    let store = lab.open();
    let handoff = store.set().get(PromptName::Handoff);
    assert_eq!(handoff.text, PromptSet::shipped().get(PromptName::Handoff).text);
    assert_eq!(
        (handoff.origin, codes(&store)),
        (PromptSource::Shipped, vec!["missing-placeholder", "unused-placeholder"])
    );
    assert_eq!(handoff.path, Some(lab.file("handoff.md")), "the file to repair is named");
}

#[test]
fn a_prompt_may_be_in_another_folder() {
    let lab = PromptFolder::new();
    let mut store = lab.open();
    let other = lab.root.path().join("other.md");
    fs::write(&other, "Other, because {reason}.").unwrap();
    lab.write("mine.md", "Mine, because {reason}.");
    for (path, expected) in [(other.as_path(), "Other"), (Path::new("mine.md"), "Mine")] {
        let paths = BTreeMap::from([(PromptName::HeadsUp, path.to_owned())]);
        assert_eq!(store.use_paths(&paths), [PromptName::HeadsUp]);
        assert!(heads_up(&store).0.starts_with(expected));
        assert_eq!(PromptStore::open(&lab.folder(), &paths).set().prompts(), store.set().prompts());
    }
    let absent = BTreeMap::from([(PromptName::HeadsUp, "absent.md".into())]);
    let store = PromptStore::open(&lab.folder(), &absent);
    assert_eq!((heads_up(&store).1, codes(&store)), (PromptSource::Shipped, vec!["no-file"]));
}

#[test]
fn a_version_depends_only_on_the_text() {
    assert_eq!(version("a"), "af63dc4c8601ec8c");
    let lab = PromptFolder::new();
    let store = lab.open();
    for name in PromptName::ALL {
        assert_eq!(store.set().get(name).version, PromptSet::shipped().get(name).version);
    }
}

#[test]
fn a_missing_decision_prompt_falls_back_to_the_judgment_prompt() {
    let lab = PromptFolder::new();
    let mut store = lab.open();
    lab.write("strict.md", "Say no.");
    store.use_decisions(["strict.md", "gone.md", "judgment.md"].map(str::to_owned));
    let text = |store: &PromptStore, path| store.set().prompts().decision(path).to_owned();
    let judgment = store.set().prompts().text(PromptName::Judgment).to_owned();
    assert_eq!(text(&store, "strict.md"), "Say no.");
    assert_eq!(text(&store, "gone.md"), judgment);
    assert_eq!(text(&store, "judgment.md"), judgment);
    assert_eq!(codes(&store), ["no-file"]);

    lab.write("gone.md", "Say yes, or no.");
    lab.write("strict.md", "");
    store.refresh_if_changed();
    assert_eq!(text(&store, "gone.md"), "Say yes, or no.");
    assert_eq!(text(&store, "strict.md"), "Say no.", "the last valid text stays");
    assert_eq!(codes(&store), ["empty-prompt"]);
}
