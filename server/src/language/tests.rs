//! Cases are small texts with marks: `⟦` and `⟧` around a range, `|` at the cursor. Each is tried with both line
//! endings, with and without a byte order mark, and in both position encodings.

mod places;
mod typing;

use super::world::ConfigFile;
use super::*;
use rawr_core::prompt::PromptName;
use rawr_settings::config::{Home, UnsavedTexts, UserSources};
use rawr_settings::prompts::PacketFrontMatter;
use std::path::Path;

pub const RAWR: DocumentKind = DocumentKind::Config(ConfigFile::Rawr);

/// A home that contains only what the test adds.
pub fn world(home: &Path) -> LanguageContext {
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
    LanguageContext { files, unsaved: UnsavedTexts::new() }
}

pub fn path_of(kind: DocumentKind, world: &LanguageContext) -> PathBuf {
    match kind {
        DocumentKind::Prompt(name) => world.files.prompts[name as usize].1.clone(),
        DocumentKind::Decision => world.files.prompt_folder.join("mine.md"),
        DocumentKind::Config(ConfigFile::Rawr) => world.files.home.rawr_toml(),
        DocumentKind::Config(ConfigFile::Host) => world.files.home.host_toml(),
        DocumentKind::Config(ConfigFile::Project) => {
            world.files.home.dir.join("project/.rawr.toml")
        }
    }
}

/// Opens the text as an editor does, and runs `work` on it.
pub fn with<T>(
    kind: DocumentKind,
    text: &str,
    work: impl FnOnce(&Doc<'_>, &LanguageContext) -> T,
) -> T {
    let home = tempfile::tempdir().unwrap();
    let mut world = world(home.path());
    std::fs::create_dir(&world.files.prompt_folder).unwrap();
    for name in ["judgment.md", "here.md"] {
        std::fs::write(world.files.prompt_folder.join(name), "Judge.").unwrap();
    }
    let path = path_of(kind, &world);
    world.unsaved.insert(path.clone(), text.to_owned());
    if kind == DocumentKind::Prompt(PromptName::AutoCompact)
        && let Ok(parsed) =
            rawr_settings::prompts::parse(PromptName::AutoCompact, text, Some(&path))
    {
        world.files.front_matter = parsed.packet;
    }
    work(&Doc { kind, path: &path, text }, &world)
}

/// The text in all variants that an editor may hold.
pub fn variants(marked: &str) -> impl Iterator<Item = String> {
    let windows = marked.replace('\n', "\r\n");
    [marked.to_owned(), windows].into_iter().flat_map(|text| [format!("\u{feff}{text}"), text])
}

/// Removes the marks. Nested ranges follow outer ones that begin at the same position.
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

/// The text without the cursor mark, and the cursor's position.
pub fn cursor(text: &str) -> (String, usize) {
    let at = text.find('|').unwrap();
    (text.replacen('|', "", 1), at)
}
