//! The two agents: how each is started and resumed, where its input box is, and what its model was sent.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rawr_tests::Terminal;
use rawr_tests::mock_responses::RequestPurpose;
use rustix::process::Pid;
use serde_json::Value;

use super::plan::{AgentKind, Plan, RawrPart, SUMMARY};
use super::record::{Heard, Part, since_1970};
use crate::live::claude_mod::fixture::ModFixture;
use crate::live::codex::fixture::LiveFixture;
use crate::processes::with_environment;

/// High enough for a picker, and as wide as a person's.
const SIZE: (u16, u16) = (60, 120);

/// How rawr marks what it says in the person's role.
const MARKS: [&str; 3] = ["[rawr:", "<continuation_packet>", "Write the continuation packet"];

pub enum Agent {
    Claude(ModFixture),
    Codex { fixture: LiveFixture, preflight: bool },
}

impl Agent {
    /// With the model, home, repository and configuration of a plan. `alone`: without rawr.
    pub fn new(plan: &Plan, alone: bool) -> Self {
        let script = plan.script.clone();
        let agent = match plan.kind {
            AgentKind::Claude => {
                let fixture = ModFixture::new(script).configured(&plan.settings);
                if plan.compacts_early {
                    let settings = fixture.home.path().join(".claude/settings.json");
                    fs::write(settings, r#"{"autoCompactWindow": 100000}"#).unwrap();
                }
                let fixture =
                    if alone { fixture.with_variable("RAWR_HOOKS", "off") } else { fixture };
                Self::Claude(fixture)
            }
            AgentKind::Codex => {
                let fixture = LiveFixture::new(script);
                // The fixture's own has another preset.
                let mut settings = plan.settings.clone();
                if alone {
                    settings.push_str("[features]\nrawr_auto_compaction = false\n");
                }
                fs::write(fixture.home.path().join("rawr.toml"), settings).unwrap();
                Self::Codex { fixture, preflight: plan.preflight }
            }
        };
        let repository = agent.repository();
        for (name, content) in plan.pieces.iter().filter_map(|piece| piece.file.as_ref()) {
            fs::write(repository.join(name), format!("{content}\n")).unwrap();
        }
        agent
    }

    fn repository(&self) -> &Path {
        match self {
            Self::Claude(fixture) => fixture.repository.path(),
            Self::Codex { fixture, .. } => fixture.repository.path(),
        }
    }

    pub fn home(&self) -> &Path {
        match self {
            Self::Claude(fixture) => fixture.home.path(),
            Self::Codex { fixture, .. } => fixture.home.path(),
        }
    }

    pub fn start(&self, resumed: Option<&str>) -> Terminal {
        let command = match (self, resumed) {
            (Self::Claude(fixture), None) => fixture.command(&[]),
            (Self::Claude(fixture), Some(session)) => fixture.command(&["--resume", session]),
            (Self::Codex { fixture, preflight }, resumed) => {
                let options: &[&str] = if *preflight { &["--preflight"] } else { &[] };
                let arguments = resumed.map(|session| ["resume", session]);
                let arguments = arguments.as_ref().map_or(&[][..], |arguments| &arguments[..]);
                fixture.rawr_codex_with(options, arguments)
            }
        };
        Terminal::that_answers(&command, SIZE.0, SIZE.1)
    }

    /// Where the screen says how to open a session that runs in the background: that.
    pub fn attach(&self, screen: &str) -> Option<Terminal> {
        let Self::Claude(fixture) = self else { return None };
        let (_, rest) = screen.split_once("`claude attach ")?;
        let (id, _) = rest.split_once('`')?;
        Some(Terminal::that_answers(&fixture.bare_command(&["attach", id]), SIZE.0, SIZE.1))
    }

    /// What stands in the input box, if there is one.
    pub fn input_box(&self, screen: &str) -> Option<String> {
        match self {
            Self::Claude(_) => claude_box(screen),
            Self::Codex { .. } => codex_box(screen),
        }
    }

    /// The screen says that the agent works.
    pub fn looks_busy(&self, screen: &str) -> bool {
        screen.contains("esc to interrupt") || screen.contains("Compacting conversation")
    }

    pub fn is_answering(&self) -> bool {
        match self {
            Self::Claude(fixture) => fixture.model.is_answering(),
            Self::Codex { fixture, .. } => fixture.model.is_answering(),
        }
    }

    pub fn count_of_requests(&self) -> usize {
        match self {
            Self::Claude(fixture) => fixture.model.requests().len(),
            Self::Codex { fixture, .. } => fixture.model.requests().len(),
        }
    }

    pub fn heard(&self) -> Vec<Heard> {
        match self {
            Self::Claude(fixture) => {
                let all = fixture.model.requests();
                all.iter()
                    .map(|request| Heard {
                        at: since_1970(request.arrived),
                        session: claude_session(&request.body),
                        is_compaction: request.purpose != RequestPurpose::Turn,
                        is_turn: request.purpose == RequestPurpose::Turn
                            && has_tools(&request.body),
                        parts: request.history().iter().flat_map(claude_parts).collect(),
                        body: request.body.to_string(),
                    })
                    .collect()
            }
            Self::Codex { fixture, .. } => {
                let all = fixture.model.requests();
                all.iter()
                    .map(|request| Heard {
                        at: since_1970(request.arrived),
                        session: text_at(&request.body, "prompt_cache_key"),
                        is_compaction: request.purpose != RequestPurpose::Turn,
                        // Some models get their tools in another way.
                        is_turn: request.purpose == RequestPurpose::Turn
                            && !request.asks_for_title(),
                        parts: request.input().iter().flat_map(codex_parts).collect(),
                        body: request.body.to_string(),
                    })
                    .collect()
            }
        }
    }

    /// The messages of people that stand in Codex's stored sessions: one whose turn is interrupted at once is in no request.
    pub fn stored(&self) -> Vec<String> {
        let Self::Codex { fixture, .. } = self else { return Vec::new() };
        let files = files_in(&fixture.home.path().join("sessions"));
        let texts = files.iter().filter_map(|path| fs::read_to_string(path).ok());
        // A handoff quotes messages.
        let is_persons = |line: &&str| line.contains(r#""role":"user""#) && !line.contains("[rawr");
        texts
            .flat_map(|text| text.lines().filter(is_persons).map(str::to_owned).collect::<Vec<_>>())
            .collect()
    }

    /// The ids of all sessions on disk, the one that was written last first.
    pub fn sessions(&self) -> Vec<String> {
        let (folder, is_codex) = match self {
            Self::Claude(fixture) => (fixture.home.path().join(".claude/projects"), false),
            Self::Codex { fixture, .. } => (fixture.home.path().join("sessions"), true),
        };
        let mut found: Vec<(SystemTime, String)> = files_in(&folder)
            .into_iter()
            .filter(|path| path.extension().is_some_and(|it| it == "jsonl"))
            .filter_map(|path| {
                let name = path.file_stem()?.to_str()?;
                // Codex's files end in the id; those of Claude Code's sub-agents have none.
                let id = name.get(name.len().checked_sub(36)?..)?.to_owned();
                let has_message = fs::read_to_string(&path).ok()?.contains(r#""role":"user""#);
                let written = path.metadata().ok()?.modified().ok()?;
                (has_message && (is_codex || name.len() == 36)).then_some((written, id))
            })
            .collect();
        found.sort();
        found.into_iter().rev().map(|(_, id)| id).collect()
    }

    /// All that rawr has recorded, in order of time.
    pub fn events(&self) -> Vec<Value> {
        let mut events: Vec<Value> = files_in(&self.home().join("rawr/auto_compaction"))
            .into_iter()
            .filter(|path| path.ends_with("events.jsonl"))
            .filter_map(|path| fs::read_to_string(path).ok())
            .flat_map(|text| {
                text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect::<Vec<_>>()
            })
            .collect();
        events.sort_by_key(|event: &Value| (event["at"].as_u64(), event["id"].as_u64()));
        events
    }

    /// Every process of this run.
    pub fn processes(&self) -> Vec<(Pid, String)> {
        with_environment(&self.home().display().to_string())
    }

    /// Those of rawr that are started for a session.
    pub fn rawr_processes(&self, part: RawrPart) -> Vec<Pid> {
        let is_bridge = |line: &str| match self {
            Self::Claude(_) => line.contains("rawr claude-mod"),
            Self::Codex { .. } => line.contains(" attach ") && line.contains("--beside"),
        };
        let is_sidecar = |line: &str| line.contains("rawr serve");
        let fits = |line: &str| match part {
            RawrPart::Bridge => is_bridge(line),
            RawrPart::Sidecar => is_sidecar(line),
            RawrPart::Both => is_bridge(line) || is_sidecar(line),
        };
        let all = self.processes().into_iter();
        all.filter(|(_, line)| fits(line)).map(|(pid, _)| pid).collect()
    }

    /// Whether a process is the agent's own program.
    pub fn is_agent(&self, line: &str) -> bool {
        match self {
            Self::Claude(_) => line.contains("/claude") && !line.contains("rawr "),
            Self::Codex { .. } => line.contains("bin/codex") && !line.contains("rawr "),
        }
    }

    /// What rawr wrote beside its events.
    pub fn logs(&self) -> String {
        let is_log = |path: &PathBuf| path.extension().is_some_and(|it| it == "log");
        let logs = files_in(&self.home().join("rawr")).into_iter().filter(is_log);
        logs.map(|path| fs::read_to_string(path).unwrap_or_default()).collect()
    }
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path => files.push(path),
            }
        }
    }
    files
}

/// Above the sessions that run in the background. What is typed there starts another one.
pub const SESSION_LIST: &str = "New sessions: ";

/// Between the last two lines across the screen, behind its mark.
fn claude_box(screen: &str) -> Option<String> {
    if screen.contains(SESSION_LIST) {
        return None;
    }
    let lines: Vec<_> = screen.lines().collect();
    let is_border = |at: &usize| lines[*at].starts_with("────");
    let borders: Vec<_> = (0..lines.len()).filter(is_border).collect();
    let [.., top, bottom] = borders[..] else { return None };
    let text = lines[top + 1..bottom].join("\n");
    Some(text.strip_prefix('❯')?.trim().to_owned())
}

/// From the last mark on, without the lines at the foot, which name the conversation.
fn codex_box(screen: &str) -> Option<String> {
    let lines: Vec<_> = screen.lines().map(str::trim_end).collect();
    let last = lines.iter().rposition(|line| !line.is_empty())?;
    let foot = lines[..last].iter().rposition(|line| line.is_empty())?;
    let at = lines[..foot].iter().rposition(|line| line.starts_with('›'))?;
    // Messages in the conversation have the same mark. What follows them is not indented.
    if lines[at + 1..foot].iter().any(|line| !line.is_empty() && !line.starts_with("  ")) {
        return None;
    }
    let text = lines[at..foot].join("\n").trim_start_matches('›').trim().to_owned();
    // A picker marks one of its numbered lines.
    let (number, rest) = text.split_once(". ").unwrap_or_default();
    let is_picker = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (!is_picker || rest.is_empty()).then_some(text)
}

fn text_at(body: &Value, field: &str) -> String {
    body[field].as_str().unwrap_or_default().to_owned()
}

fn has_tools(body: &Value) -> bool {
    body["tools"].as_array().is_some_and(|tools| !tools.is_empty())
}

/// The last id of the person's.
fn claude_session(body: &Value) -> String {
    const LENGTH: usize = 36;
    let user = text_at(&body["metadata"], "user_id");
    let is_id = |id: &str| {
        let dashes = id.match_indices('-').map(|(at, _)| at);
        dashes.eq([8, 13, 18, 23]) && id.chars().all(|c| c == '-' || c.is_ascii_hexdigit())
    };
    let starts = (0..(user.len() + 1).saturating_sub(LENGTH)).rev();
    let ids = starts.filter_map(|at| user.get(at..at + LENGTH));
    ids.into_iter().find(|id| is_id(id)).unwrap_or_default().to_owned()
}

fn by_person(text: &str) -> Part {
    if text.contains(SUMMARY) {
        return Part::Summary;
    }
    let is_rawr = MARKS.iter().any(|mark| text.contains(mark));
    if is_rawr { Part::Rawr(text.to_owned()) } else { Part::User(text.to_owned()) }
}

fn claude_parts(message: &Value) -> Vec<Part> {
    let texts: Vec<_> = match &message["content"] {
        Value::String(text) => vec![text.as_str()],
        content => {
            let blocks = content.as_array().map_or(&[][..], Vec::as_slice);
            blocks.iter().filter_map(|block| block["text"].as_str()).collect()
        }
    };
    match message["role"].as_str() {
        Some("user") => texts.into_iter().map(by_person).collect(),
        _ => vec![Part::Agent],
    }
}

fn codex_parts(item: &Value) -> Vec<Part> {
    let blocks = item["content"].as_array().map_or(&[][..], Vec::as_slice);
    let texts = blocks.iter().filter_map(|block| block["text"].as_str());
    match (item["role"].as_str(), item["type"].as_str().unwrap_or_default()) {
        (Some("user"), _) => texts.map(by_person).collect(),
        (Some("assistant"), _) => vec![Part::Agent],
        // What the agent did; its results belong to the same turn.
        (None, kind) if kind.ends_with("_call") => vec![Part::Agent],
        _ => Vec::new(),
    }
}
