//! An inspection writes nothing, waits for no lock and runs no program that the repository configures.

use super::*;

fn look<'s>(lab: &RepositoryFixture, git: PathBuf, settings: &'s RepoObservation) -> RepoProbe<'s> {
    RepoProbe { git, gt: None, cwd: lab.path("r"), settings }
}

#[tokio::test]
async fn the_index_is_not_written_and_its_lock_is_not_needed() {
    let lab = RepositoryFixture::with_commit();
    // Git would refresh the index, because the time of this file has changed.
    let touched = fs::File::options().write(true).open(lab.path("r/a")).unwrap();
    touched.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(1)).unwrap();
    let index = lab.path("r/.git/index");
    let read = || (fs::read(&index).unwrap(), fs::metadata(&index).unwrap().modified().unwrap());
    let before = read();
    lab.check("r", None, expect![[r#"Some("main") at Some("HEAD"), 0 dirty: []"#]]).await;
    lab.write("r/.git/index.lock", "another process's");
    lab.check("r", None, expect![[r#"Some("main") at Some("HEAD"), 0 dirty: []"#]]).await;
    assert_eq!(fs::read(lab.path("r/.git/index.lock")).unwrap(), b"another process's");
    assert_eq!(read(), before);
    fs::remove_file(lab.path("r/.git/index.lock")).unwrap();
    lab.git("r", &["status"]);
    assert_ne!(read(), before, "the test would see a refresh");
}

#[tokio::test]
async fn configured_programs_do_not_run() {
    let lab = RepositoryFixture::with_commit();
    let ran = lab.path("ran");
    let evil = lab.script("evil", &format!("echo \"$0 $*\" >> '{}'; cat", ran.display()));
    let evil = evil.display().to_string();
    let since = lab.git("r", &["rev-parse", "HEAD"]);
    lab.write("r/c", "new\n");
    lab.commit("r", "c");
    for (key, value) in [
        ("core.fsmonitor", evil.as_str()),
        ("core.pager", &evil),
        ("pager.status", &evil),
        ("diff.external", &evil),
        ("filter.evil.clean", &evil),
        ("filter.evil.required", "true"),
        ("filter.e.v.i.l.process", &evil),
        ("filter.e.v.i.l.required", "true"),
        ("diff.evil.textconv", &evil),
        ("diff.evil.command", &evil),
        ("alias.status", &format!("!{evil}")),
        ("core.hooksPath", &lab.path("hooks").display().to_string()),
    ] {
        lab.git("r", &["config", key, value]);
    }
    for hook in ["post-index-change", "fsmonitor-watchman", "reference-transaction"] {
        lab.script(&format!("hooks/{hook}"), &format!("echo hook >> '{}'", ran.display()));
    }
    lab.write("r/.git/info/attributes", "a filter=evil diff=evil\nb filter=e.v.i.l diff=evil\n");
    lab.write("r/a", "two\n");
    lab.write("r/b", "two\n");
    let seen = observe(&lab.path("r"), &SETTINGS, Some(&since), None).await.unwrap().repo;
    assert_eq!((seen.files, seen.changed), (vec!["a".into(), "b".into()], vec!["c".into()]));
    assert!(!ran.exists(), "{}", fs::read_to_string(&ran).unwrap());
    lab.git(
        "r",
        &["-c", "filter.e.v.i.l.process=", "-c", "filter.e.v.i.l.required=false", "diff", "--stat"],
    );
    assert!(ran.exists(), "another git command runs them");
}

#[tokio::test]
async fn a_filter_that_cannot_be_disabled_prevents_the_inspection() {
    let lab = RepositoryFixture::with_commit();
    lab.git("r", &["config", "filter.a=b.clean", "cat"]);
    lab.check("r", None, expect!["nothing"]).await;
}

#[test]
fn git_variables_of_another_repository_are_removed() {
    let program = Program::new(Path::new("/git"), Path::new("/"), Instant::now());
    let shown = program.environment();
    for name in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_CONFIG_PARAMETERS"] {
        assert!(shown.contains(&(name.to_owned(), None)), "{name}: {shown:?}");
    }
    let locks = ("GIT_OPTIONAL_LOCKS".to_owned(), Some("0".to_owned()));
    assert!(shown.contains(&locks), "{shown:?}");
}

/// Whether a process runs. A zombie does not.
fn runs(id: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", id.trim())).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, state)| !state.starts_with(['Z', 'X']))
}

async fn ends(id: &str) -> bool {
    for _ in 0..200 {
        if !runs(id) {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    false
}

async fn check_killed(what: &str) {
    let lab = RepositoryFixture::with_commit();
    let git = lab.script("git", what);
    let settings = RepoObservation { timeout_seconds: 3, ..SETTINGS };
    assert_eq!(look(&lab, git, &settings).observe(None, None).await, None);
    let ids = fs::read_to_string(lab.path("r/ids")).unwrap();
    for id in ids.split_whitespace() {
        assert!(ends(id).await, "{what}: {id} of {ids} still runs");
    }
}

#[tokio::test]
async fn a_program_that_times_out_is_killed_with_its_children() {
    let waits = check_killed("sleep 600 & echo $$ $! > ids; wait");
    let leaves = check_killed("sleep 600 & echo $$ $! > ids");
    tokio::join!(waits, leaves);
}

#[tokio::test]
async fn a_cancelled_inspection_ends_its_program() {
    let lab = RepositoryFixture::with_commit();
    let git = lab.script("git", "echo $$ > ids; exec sleep 600");
    let look = look(&lab, git, &SETTINGS);
    let ids = lab.path("r/ids");
    let started = async {
        while !fs::read_to_string(&ids).is_ok_and(|ids| ids.ends_with('\n')) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::select! {
        seen = look.observe(None, None) => panic!("it saw {seen:?}"),
        () = started => {}
    }
    assert!(ends(&fs::read_to_string(&ids).unwrap()).await);
}

#[tokio::test]
async fn an_endless_list_is_read_up_to_the_limit() {
    let lab = RepositoryFixture::with_commit();
    let entry = format!("? {}", "a".repeat(61));
    let endless = format!(
        "case \"$*\" in *config*) exit 1;; esac\n\
         printf '# branch.oid (initial)\\0# branch.head main\\0'\n\
         yes '{entry}' | tr '\\n' '\\0'"
    );
    let git = lab.script("git", &endless);
    let seen = look(&lab, git, &SETTINGS).observe(None, None).await.unwrap().repo;
    assert_eq!((seen.branch.as_deref(), seen.files.len()), (Some("main"), MOST_FILES));
    assert_eq!(seen.dirty as usize, (LIST_LIMIT - 42) / 64);
}

#[tokio::test]
async fn invalid_output_of_git_is_ignored() {
    let lab = RepositoryFixture::with_commit();
    for says in ["echo hello", "exit 0", "exit 1", "printf '1 x\\0u\\0?\\0'"] {
        let git = lab.script("git", says);
        assert_eq!(look(&lab, git, &SETTINGS).observe(None, None).await, None, "{says}");
    }
    assert_eq!(look(&lab, lab.path("gone"), &SETTINGS).observe(None, None).await, None);
}

#[test]
fn programs_are_found_in_absolute_folders_only() {
    let lab = RepositoryFixture::new();
    let git = lab.script("bin/git", "");
    lab.write("plain/git", "");
    fs::create_dir_all(lab.path("folder/git")).unwrap();
    let here = format!("{}/", lab.folder.path().display());
    let found = |path: &str| find("git", OsStr::new(&path.replace("HERE/", &here)));
    assert_eq!(found("bin:HERE/plain:HERE/folder::HERE/gone:HERE/bin"), Some(git));
    for path in ["", ".", "bin", "HERE/plain", "HERE/folder"] {
        assert_eq!(found(path), None, "{path}");
    }
}
