//! Folders and links: prompts in other folders, in folders that are created later, and after a checkout.

use super::{NAME, expect_silence, expect_text, file, folder, shell, start, text, write};
use rawr_protocol::methods::{ConfigChanged, PromptChanged};
use rawr_tests::{TestHome, TestSidecar};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;

#[test]
fn a_folder_may_be_created_later() {
    let home = TestHome::new();
    let elsewhere = home.path().join("my/prompts/short.md");
    home.configure("[rawr_auto_compaction.prompts]\ncompact = \"../my/prompts/short.md\"\n");
    let mut sidecar = TestSidecar::start(&home);
    sidecar.allow::<rawr_protocol::methods::LogMessage>();
    let shipped = text(&mut sidecar);
    sidecar.take_notes();
    fs::create_dir_all(elsewhere.parent().unwrap()).unwrap();
    write(&elsewhere, "Short.\n");
    expect_text(&mut sidecar, "Short.");
    fs::remove_dir_all(home.path().join("my")).unwrap();
    let changed = sidecar.expect::<PromptChanged>();
    assert_eq!(
        changed.problems.len(),
        1,
        "the last valid text is used, and the problem is reported: {changed:?}"
    );
    assert_eq!(text(&mut sidecar), "Short.");
    assert_ne!(shipped, "Short.");
    shell(&home.path(), "mkdir -p my/prompts; echo Shorter. > my/prompts/short.md");
    expect_text(&mut sidecar, "Shorter.");
    sidecar.leave();
}

#[test]
fn the_prompt_folder_may_be_replaced() {
    let home = TestHome::new();
    let mut sidecar = TestSidecar::start(&home);
    let shipped = text(&mut sidecar);
    write(&file(&home), "First.\n");
    expect_text(&mut sidecar, "First.");
    fs::rename(folder(&home), home.path().join("away")).unwrap();
    expect_text(&mut sidecar, &shipped);
    // The packet request's front matter was from a file, which is gone.
    sidecar.expect::<ConfigChanged>();
    write(&home.path().join("away/compact.md"), "Another.\n");
    expect_silence(&mut sidecar);
    fs::create_dir(folder(&home)).unwrap();
    write(&file(&home), "Second.\n");
    expect_text(&mut sidecar, "Second.");
    fs::remove_dir_all(folder(&home)).unwrap();
    fs::rename(home.path().join("away"), folder(&home)).unwrap();
    expect_text(&mut sidecar, "Another.");
    sidecar.expect::<ConfigChanged>();
    write(&file(&home), "Third.\n");
    expect_text(&mut sidecar, "Third.");
    expect_silence(&mut sidecar);
    sidecar.leave();
}

/// As people keep their dotfiles.
#[test]
fn a_file_may_be_a_link_into_a_repository() {
    let home = TestHome::new();
    let dotfiles = home.work().join("dotfiles");
    fs::create_dir(&dotfiles).unwrap();
    let mut sidecar = start(&home);
    write(&dotfiles.join("mine.md"), "Linked.\n");
    fs::remove_file(file(&home)).unwrap();
    symlink(dotfiles.join("mine.md"), file(&home)).unwrap();
    expect_text(&mut sidecar, "Linked.");
    write(&dotfiles.join("mine.md"), "In place.\n");
    expect_text(&mut sidecar, "In place.");
    shell(&dotfiles, "echo Renamed over. > new; mv new mine.md");
    expect_text(&mut sidecar, "Renamed over.");
    shell(&dotfiles, "echo Another one. > other.md");
    expect_silence(&mut sidecar);
    shell(&folder(&home), "ln -sfn ../../work/dotfiles/other.md compact.md");
    expect_text(&mut sidecar, "Another one.");
    write(&dotfiles.join("mine.md"), "Not linked.\n");
    expect_silence(&mut sidecar);
    write(&dotfiles.join("other.md"), "In place again.\n");
    expect_text(&mut sidecar, "In place again.");
    expect_silence(&mut sidecar);
    sidecar.leave();
}

#[test]
fn a_folder_may_be_a_link() {
    let home = TestHome::new();
    let work = home.work();
    shell(&work, "mkdir -p one two; echo Of one. > one/compact.md; echo Of two. > two/compact.md");
    symlink(work.join("one"), folder(&home)).unwrap();
    let mut sidecar = start(&home);
    assert_eq!(text(&mut sidecar), "Of one.");
    write(&work.join("one/compact.md"), "Of one, in place.\n");
    expect_text(&mut sidecar, "Of one, in place.");
    // Both folders have the other prompts, or else they would be reported as missing.
    shell(&work, "cp one/* two/; cp one/.seeded two/; echo Of two. > two/compact.md");
    expect_silence(&mut sidecar);
    shell(&work, "ln -s ../work/two ../home/new; mv -T ../home/new ../home/auto-compact");
    expect_text(&mut sidecar, "Of two.");
    write(&work.join("two/compact.md"), "Of two, in place.\n");
    expect_text(&mut sidecar, "Of two, in place.");
    expect_silence(&mut sidecar);
    sidecar.leave();
}

#[test]
fn a_checkout_may_replace_the_whole_folder() {
    let home = TestHome::new();
    let mut sidecar = start(&home);
    let git = "git -c user.name=t -c user.email=t@example.org -c core.autocrlf=false";
    shell(&folder(&home), &format!("git init -q -b main; git add .; {git} commit -qm shipped"));
    let edit = "for name in compact summary-prefix; do echo \"Mine, $name.\" > $name.md; done";
    shell(&folder(&home), edit);
    told(&mut sidecar);
    shell(&folder(&home), &format!("git checkout -q -b mine; {git} commit -qam mine"));
    expect_silence(&mut sidecar);
    shell(&folder(&home), "git checkout -q main");
    told(&mut sidecar);
    shell(&folder(&home), "git checkout -q mine");
    told(&mut sidecar);
    assert_eq!(text(&mut sidecar), "Mine, compact.");
    expect_silence(&mut sidecar);
    sidecar.leave();
}

/// Two prompts, each once.
fn told(sidecar: &mut TestSidecar) {
    let mut name = || sidecar.expect::<PromptChanged>().name;
    let names = BTreeSet::from([name(), name()]);
    assert_eq!(names, BTreeSet::from([NAME.to_owned(), "summary-prefix".to_owned()]));
}

#[test]
fn decision_prompts_and_configured_paths_are_watched() {
    let home = TestHome::new();
    let mut sidecar = start(&home);
    write(&home.path().join("strict.md"), "Be strict.\n");
    write(&home.path().join("short.md"), "Short.\n");
    home.configure(
        "[rawr_auto_compaction.prompts]\ncompact = \"../short.md\"\n\
         [rawr_auto_compaction.policy.ready]\ndecision_prompt_path = \"../strict.md\"\n",
    );
    expect_text(&mut sidecar, "Short.");
    sidecar.expect::<ConfigChanged>();
    write(&home.path().join("short.md"), "Shorter.\n");
    expect_text(&mut sidecar, "Shorter.");
    write(&home.path().join("strict.md"), "Be stricter.\n");
    let first = sidecar.expect::<PromptChanged>();
    assert_eq!(first.name, "../strict.md");
    write(&home.path().join("strict.md"), "Be strictest.\n");
    let second = sidecar.expect::<PromptChanged>();
    assert_ne!((first.version, first.name), (second.version, second.name));
    expect_silence(&mut sidecar);
    sidecar.leave();
}
