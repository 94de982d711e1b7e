//! Checks the documentation against the repository: links, files and commands must exist.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use crate::root;
use crate::rules::rules;
use rawr_tests::binary::rawr;
use std::collections::BTreeSet;
use std::iter;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Markdown that is not documentation: prompts, and input of tests.
const NOT_PAGES: [&str; 3] = ["prompts/", "tests/samples/", "tests/bench/data/"];

/// The pages by their path from the root: the book, the top-level pages, and the README of every folder.
fn pages() -> Vec<(String, String)> {
    let files = ["ls-files", "--cached", "--others", "--exclude-standard", "-z", "*.md"];
    let listed = Command::new("git").arg("-C").arg(root()).args(files).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let is_page = |name: &&str| {
        name.ends_with("/README.md") || !NOT_PAGES.iter().any(|start| name.starts_with(start))
    };
    let names = listed.split_terminator('\0').filter(is_page);
    let names = names.filter(|name| root().join(name).is_file());
    names.map(|name| (name.to_owned(), read(name))).collect()
}

/// The lines outside of fenced code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// All texts between `open` and `close` of each line.
fn between(text: &str, open: &str, close: &str) -> Vec<String> {
    let mut found = Vec::new();
    for mut line in prose(text) {
        while let Some((inside, rest)) =
            line.split_once(open).and_then(|(_, rest)| rest.split_once(close))
        {
            found.push(inside.to_owned());
            line = rest;
        }
    }
    found
}

/// The anchors of the headings, as GitHub and mdBook generate them: a repeated one gets a number.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for line in prose(text).filter(|line| line.starts_with('#')) {
        let heading = line.trim_start_matches('#').trim().to_lowercase();
        let letters = heading.chars().filter_map(|letter| match letter {
            ' ' => Some('-'),
            letter if letter.is_alphanumeric() || "-_".contains(letter) => Some(letter),
            _ => None,
        });
        let anchor: String = letters.collect();
        let mut names = iter::once(anchor.clone()).chain((1..).map(|n| format!("{anchor}-{n}")));
        anchors.extend(names.find(|name| !anchors.contains(name)));
    }
    anchors
}

/// What a page links to and shows, in Markdown and HTML, without other sites.
fn links(text: &str) -> Vec<String> {
    let places = [("](", ")"), ("src=\"", "\""), ("srcset=\"", "\""), ("href=\"", "\"")];
    let found = places.into_iter().flat_map(|(open, close)| between(text, open, close));
    found.filter(|link| !link.contains("://") && !link.starts_with("mailto:")).collect()
}

/// The path with `..` resolved.
fn plain(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut plain, part| {
        if part == Component::ParentDir {
            plain.pop();
        } else {
            plain.push(part);
        }
        plain
    })
}

#[test]
fn links_and_anchors_are_found() {
    let page = "# A `b`, c\n[x](y.md#z) ![p](p.svg) <img src=\"q.png\"> [w](https://w)\n```\n[n](n.md)\n```\n# A b c\n## a b c\n";
    assert_eq!(links(page), ["y.md#z", "p.svg", "q.png"]);
    assert_eq!(anchors(page), ["a-b-c", "a-b-c-1", "a-b-c-2"].map(str::to_owned).into());
}

#[test]
fn every_page_of_the_book_is_in_its_summary_and_exists() {
    let named: BTreeSet<_> = between(&read("docs/src/SUMMARY.md"), "](", ")").into_iter().collect();
    let in_the_book = |(path, _): (String, String)| {
        path.strip_prefix("docs/src/").filter(|page| *page != "SUMMARY.md").map(str::to_owned)
    };
    let there: BTreeSet<_> = pages().into_iter().filter_map(in_the_book).collect();
    assert_eq!(named, there);
}

#[test]
fn every_relative_link_resolves() {
    let mut broken = Vec::new();
    let pages = pages();
    assert!(pages.len() > 60, "only {} pages found", pages.len());
    for (page, text) in &pages {
        for link in links(text) {
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = match path {
                "" => PathBuf::from(page),
                path => plain(&Path::new(page).parent().unwrap().join(path)),
            };
            let is_there = root().join(&target).exists();
            if !is_there
                || !anchor.is_empty() && !anchors(&read(target.to_str().unwrap())).contains(anchor)
            {
                broken.push(format!("{page}: {link}"));
            }
        }
    }
    assert!(broken.is_empty(), "broken links: {broken:#?}");
}

/// A file that moves must be updated on the pages that name it.
#[test]
fn every_file_that_a_page_names_exists() {
    const TOP: [&str; 7] =
        ["server/", "protocol-schema/", "editor-clients/", "tests/", "prompts/", "docs/", ".ci/"];
    let mut missing = Vec::new();
    for (page, text) in pages() {
        for named in between(&text, "`", "`") {
            let is_a_path = TOP.iter().any(|top| named.starts_with(top))
                && !named.contains([' ', '<', '*', '…', '{']);
            let file = named.split("::").next().unwrap();
            if is_a_path && !root().join(file).exists() {
                missing.push(format!("{page}: {named}"));
            }
        }
    }
    assert!(missing.is_empty(), "not found: {missing:#?}");
}

/// The commands that `rawr ARGUMENTS… --help` lists.
fn commands(arguments: &[&str]) -> Vec<String> {
    let output = Command::new(rawr()).args(arguments).arg("--help").output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    // A command's line starts with two spaces and has a description.
    let name = |line: &str| {
        let (name, _) = line.strip_prefix("  ")?.split_once("  ")?;
        let is_name = name.chars().all(|letter| letter.is_ascii_lowercase()) && name != "help";
        (is_name && !name.is_empty()).then(|| name.to_owned())
    };
    help.lines().filter_map(name).collect()
}

#[test]
fn the_page_of_commands_has_a_row_for_each() {
    let page = read("docs/src/commands.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `rawr "));
    let word = |row: &str| row.split([' ', '`']).next().unwrap().to_owned();
    let described: BTreeSet<_> = rows.map(word).collect();
    let there: BTreeSet<_> = commands(&[]).into_iter().collect();
    assert!(there.len() > 20, "{there:?}");
    assert_eq!(described, there);
}

/// Other words are denied in all files, see `words.rs`.
#[test]
fn pages_have_american_spelling() {
    const DENIED: [&str; 5] = ["behaviour", "honour", "licence", "colour", "organis"];
    let mut found = Vec::new();
    for (page, text) in pages() {
        // Generated parts have tests of their own.
        let text = text.split("<!-- generated").enumerate().map(|(at, part)| match at {
            0 => part,
            _ => part.split_once("<!-- end -->").map_or("", |(_, rest)| rest),
        });
        let text = text.collect::<String>().to_lowercase();
        for (number, line) in text.lines().enumerate() {
            // Code is not prose.
            let line = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
            for word in DENIED.iter().filter(|word| line.contains(*word)) {
                found.push(format!("{page}, line {}: {word}", number + 1));
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "node_modules" && name != "target" && !name.starts_with('.') {
            sources(&path, found);
        } else if ["rs", "ts", "lua", "json"].iter().any(|end| name.ends_with(&format!(".{end}"))) {
            found.push(path);
        }
    }
}

/// For each occurrence of `mark`, the text after it up to one of these characters.
fn behind(text: &str, mark: &str, ends: &[char]) -> Vec<String> {
    let rests = text.split(mark).skip(1);
    rests.map(|rest| rest.split(ends).next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn citations_of_the_specification_in_comments_exist() {
    const ENDS: &[char] = &[' ', '\n', '"', '`', ')', ';', ',', ':', '\\'];
    let (mut files, mut broken, mut cited) = (Vec::new(), Vec::new(), 0);
    for folder in ["protocol-schema", "server", "editor-clients"] {
        sources(&root().join(folder), &mut files);
    }
    let rules = rules();
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        let name = file.strip_prefix(root()).unwrap().display();
        for place in behind(&text, "docs/spec/", ENDS) {
            cited += 1;
            let (page, anchor) = place.split_once('#').unwrap_or((&place, ""));
            let target = format!("docs/spec/{}", page.trim_end_matches('.'));
            let is_there = root().join(&target).is_file()
                && (anchor.is_empty() || anchors(&read(&target)).contains(anchor));
            if !is_there {
                broken.push(format!("{name}: docs/spec/{place}"));
            }
        }
        // A comment may break the line in between.
        let joined =
            text.replace("\n/// ", " ").replace("\n    /// ", " ").replace("\n        // ", " ");
        for id in behind(&joined, "(rule `", &['`']) {
            cited += 1;
            if !rules.contains_key(&id) {
                broken.push(format!("{name}: rule {id}"));
            }
        }
    }
    assert!(cited > 100, "only {cited} citations found");
    assert!(broken.is_empty(), "not found: {broken:#?}");
}
