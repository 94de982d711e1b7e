//! Unusual repositories and file names.

use super::*;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

#[tokio::test]
async fn without_a_work_tree_there_is_no_state() {
    let lab = RepositoryFixture::with_commit();
    fs::create_dir(lab.path("plain")).unwrap();
    lab.git("plain", &["clone", "--quiet", "--bare", "../r", "bare.git"]);
    lab.git("r", &["clone", "--quiet", "--bare", ".", "nested.git"]);
    lab.write("broken/.git", "gitdir: nowhere");
    fs::create_dir_all(lab.path("empty/.git")).unwrap();
    for folder in ["plain", "plain/bare.git", "r/nested.git", "r/.git", "broken", "empty", "gone"] {
        assert_eq!(observe(&lab.path(folder), &SETTINGS, None, None).await, None, "{folder}");
    }
    assert_eq!(observe(Path::new("."), &SETTINGS, None, None).await, None, "a relative folder");
    assert_eq!(observe(&lab.path("r/a"), &SETTINGS, None, None).await, None, "a file");
}

#[tokio::test]
async fn before_the_first_commit_there_is_only_a_branch() {
    let lab = RepositoryFixture::new();
    lab.write("r/a", "new\n");
    lab.check(
        "r",
        Some("0123456789abcdef0123456789abcdef01234567"),
        expect![[r#"Some("main") at None, 1 dirty: ["a"]"#]],
    )
    .await;
}

#[tokio::test]
async fn without_a_branch_there_is_only_a_commit() {
    let lab = RepositoryFixture::with_commit();
    lab.git("r", &["checkout", "--quiet", "--detach"]);
    lab.check("r", None, expect![[r#"None at Some("HEAD"), 0 dirty: []"#]]).await;
}

#[tokio::test]
async fn a_linked_work_tree_is_its_own() {
    let lab = RepositoryFixture::with_commit();
    lab.git("r", &["worktree", "add", "--quiet", "-b", "side", "../linked"]);
    lab.write("linked/c", "new\n");
    lab.check("linked", None, expect![[r#"Some("side") at Some("HEAD"), 1 dirty: ["c"]"#]]).await;
    lab.check("r", None, expect![[r#"Some("main") at Some("HEAD"), 0 dirty: []"#]]).await;
}

#[tokio::test]
async fn a_work_tree_may_belong_to_a_bare_repository() {
    let lab = RepositoryFixture::with_commit();
    lab.git("r", &["clone", "--quiet", "--bare", ".", "../hub.git"]);
    lab.git("hub.git", &["worktree", "add", "--quiet", "../spoke", "main"]);
    lab.check("spoke", None, expect![[r#"Some("main") at Some("HEAD"), 0 dirty: []"#]]).await;
}

#[tokio::test]
async fn files_inside_a_submodule_are_not_inspected() {
    let lab = RepositoryFixture::with_commit();
    fs::create_dir(lab.path("inner")).unwrap();
    lab.git("inner", &["init", "--quiet", "--initial-branch", "trunk"]);
    lab.commit("inner", "begin");
    lab.git("r", &["submodule", "--quiet", "add", &lab.path("inner").display().to_string(), "sub"]);
    lab.commit("r", "with a submodule");
    lab.write("r/sub/new", "new\n");
    lab.check("r", None, expect![[r#"Some("main") at Some("HEAD"), 0 dirty: []"#]]).await;
    lab.check("r/sub", None, expect![[r#"Some("trunk") at Some("HEAD"), 1 dirty: ["new"]"#]]).await;
    lab.commit("r/sub", "moved on");
    lab.check("r", None, expect![[r#"Some("main") at Some("HEAD"), 1 dirty: ["sub"]"#]]).await;
}

#[tokio::test]
async fn a_folder_inside_and_a_link_to_it_are_the_same_work_tree() {
    let lab = RepositoryFixture::with_commit();
    lab.write("r/deep/er/c", "new\n");
    lab.check("r/deep/er", None, expect![[r#"Some("main") at Some("HEAD"), 1 dirty: ["deep/"]"#]])
        .await;
    std::os::unix::fs::symlink(lab.path("r/deep/er"), lab.path("link")).unwrap();
    lab.check("link", None, expect![[r#"Some("main") at Some("HEAD"), 1 dirty: ["deep/"]"#]]).await;
}

#[tokio::test]
async fn every_name_is_one_line_of_text() {
    let lab = RepositoryFixture::with_commit();
    for name in ["two\nlines", " blanks ", "ünïcødé 🦀", "-rf", "\"quoted\"", "tab\t", "x\u{2028}y"]
    {
        lab.write(&format!("r/{name}"), "new\n");
    }
    fs::write(lab.path("r").join(OsString::from_vec(b"\xff".to_vec())), "").unwrap();
    lab.git("r", &["checkout", "--quiet", "-b", "zweig/ä"]);
    lab.check("r", None, expect![[r#"Some("zweig/ä") at Some("HEAD"), 8 dirty: [" blanks ", "\"quoted\"", "-rf", "tab\\t", "two\\nlines", "x\\u{2028}y", "ünïcødé 🦀", "�"]"#]]).await;
    let since = lab.git("r", &["rev-parse", "HEAD"]);
    lab.commit("r", "odd names");
    lab.check("r", Some(&since), expect![[r#"Some("zweig/ä") at Some("HEAD"), 0 dirty: [], changed: [" blanks ", "\"quoted\"", "-rf", "tab\\t", "two\\nlines", "x\\u{2028}y", "ünïcødé 🦀", "�"]"#]]).await;
}

#[tokio::test]
async fn hashes_may_be_sha_256() {
    let lab = RepositoryFixture { folder: TempDir::new().unwrap() };
    fs::create_dir(lab.path("r")).unwrap();
    lab.git("r", &["init", "--quiet", "--initial-branch", "main", "--object-format", "sha256"]);
    let since = lab.commit("r", "begin");
    lab.write("r/a", "new\n");
    lab.commit("r", "more");
    lab.check(
        "r",
        Some(&since),
        expect![[r#"Some("main") at Some("HEAD"), 0 dirty: [], changed: ["a"]"#]],
    )
    .await;
}
