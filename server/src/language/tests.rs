//! Cases are small texts with marks: `⟦` and `⟧` around a place, `|` at the cursor. Each is tried with both line ends, with
//! a byte order mark and without, and its places in both encodings.

mod places;
mod typing;

use super::world::File;
use super::*;
use crate::config::{Home, Unsaved, UserSources};
use crate::prompts::PacketFrontMatter;
use rawr_core::prompt::PromptName;
use std::path::Path;

pub const RAWR: Kind = Kind::Config(File::Rawr);

/// A home that holds nothing but what the test puts there.
pub fn world(home: &Path) -> World {
    let folder = home.join("auto-compact");
    let path = |name: PromptName| (name, folder.join(format!("{}.md", name.name())));
    let files = UserSources {
        home: Home::at(home),
        overrides: None,
        prompts: PromptName::ALL.map(path).to_vec(),
        decisions: Vec::new(),
        front_matter: PacketFrontMatter::default(),
        prompt_folder: folder,
    };
    World { files, unsaved: Unsaved::new() }
}

pub fn path_of(kind: Kind, world: &World) -> PathBuf {
    match kind {
        Kind::Prompt(name) => world.files.prompts[name as usize].1.clone(),
        Kind::Decision => world.files.prompt_folder.join("mine.md"),
        Kind::Config(File::Rawr) => world.files.home.rawr_toml(),
        Kind::Config(File::Codex) => world.files.home.codex_toml(),
        Kind::Config(File::Project) => world.files.home.dir.join("project/.rawr.toml"),
    }
}

/// Puts the text into the world as an editor does, and works on it.
pub fn with<T>(kind: Kind, text: &str, work: impl FnOnce(&Doc<'_>, &World) -> T) -> T {
    let home = tempfile::tempdir().unwrap();
    let mut world = world(home.path());
    std::fs::create_dir(&world.files.prompt_folder).unwrap();
    for name in ["judgment.md", "here.md"] {
        std::fs::write(world.files.prompt_folder.join(name), "Judge.").unwrap();
    }
    let path = path_of(kind, &world);
    world.unsaved.insert(path.clone(), text.to_owned());
    if kind == Kind::Prompt(PromptName::AutoCompact)
        && let Ok(parsed) = crate::prompts::parse(PromptName::AutoCompact, text, Some(&path))
    {
        world.files.front_matter = parsed.packet;
    }
    work(&Doc { kind, path: &path, text }, &world)
}

/// The text in all the ways in which an editor may hold it.
pub fn variants(marked: &str) -> impl Iterator<Item = String> {
    let windows = marked.replace('\n', "\r\n");
    [marked.to_owned(), windows].into_iter().flat_map(|text| [format!("\u{feff}{text}"), text])
}

/// Takes the marks out. Inner places come after the outer ones that begin where they do.
pub fn unmarked(marked: &str) -> (String, Vec<Range<usize>>) {
    let (mut text, mut open, mut spans) = (String::new(), Vec::new(), Vec::new());
    for character in marked.chars() {
        match character {
            '⟦' => open.push(text.len()),
            '⟧' => {
                let start: usize = open.pop().unwrap();
                spans.push(start..text.len());
            }
            other => text.push(other),
        }
    }
    spans.sort_by_key(|span: &Range<usize>| (span.start, span.end));
    (text, spans)
}

/// What stands at the cursor's place, without the cursor.
pub fn cursor(text: &str) -> (String, usize) {
    let at = text.find('|').unwrap();
    (text.replacen('|', "", 1), at)
}
