//! The path of the scratch file, in which an agent keeps working notes.

use crate::units::{ThreadId, stable_hash};

/// The built-in template of the scratch file's path, relative to the thread's folder.
pub const DEFAULT_TEMPLATE: &str = ".scratch/agent-{agentName}.scratch.md";

/// Names for agents that have none. The order is part of every stored thread's file name: only ever append.
const NAMES: [&str; 16] = [
    "amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron", "iris", "juniper",
    "kestrel", "linden", "maple", "nova", "onyx", "pine",
];

/// The sub-agent's name, sanitized, or a name from the list, and a part that only the thread's id tells: a file in a
/// repository cannot pass for the notes of an agent, and threads in one folder share none.
pub fn agent_name(thread: &ThreadId, agent: Option<&str>) -> String {
    let hash = stable_hash(thread.as_str());
    let sanitized = agent.map(sanitize).filter(|name| !name.is_empty());
    let name = sanitized.unwrap_or_else(|| {
        let pick = usize::try_from(hash % NAMES.len() as u64).unwrap_or(0);
        NAMES[pick].to_owned()
    });
    format!("{name}-{:08x}", hash as u32)
}

/// The path, relative to the thread's folder. A template that leaves the folder is replaced by the default.
pub fn file(template: &str, thread: &ThreadId, agent: Option<&str>) -> String {
    let template = if stays_inside(template) { template } else { DEFAULT_TEMPLATE };
    let name = agent_name(thread, agent);
    template.replace("{agentName}", &name).replace("{agent_name}", &name)
}

/// Whether the path is relative and never goes through a parent, on any platform.
pub fn stays_inside(template: &str) -> bool {
    let absolute = template.starts_with(['/', '\\', '~']) || template.contains([':', '\0', '\n']);
    let mut parts = template.split(['/', '\\']);
    !template.trim().is_empty()
        && !absolute
        && !template.ends_with(['/', '\\'])
        && parts.all(|part| part != "..")
}

fn sanitize(agent: &str) -> String {
    let dashed: String = agent
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .collect();
    let mut name = dashed.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-");
    name.truncate(40);
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(template: &str, agent: Option<&str>, expected: &str) {
        let thread = ThreadId::new("01a1fc61-5420");
        let hash = format!("{:08x}", stable_hash(thread.as_str()) as u32);
        assert_eq!(file(template, &thread, agent), expected.replace("HASH", &hash));
    }

    // rule: scratch.name
    #[test]
    fn a_sub_agents_name_is_sanitized() {
        check(
            DEFAULT_TEMPLATE,
            Some("Code Reviewer/../x"),
            ".scratch/agent-code-reviewer-x-HASH.scratch.md",
        );
    }

    // rule: scratch.name
    #[test]
    fn a_thread_without_identity_always_gets_the_same_name() {
        check(DEFAULT_TEMPLATE, None, ".scratch/agent-onyx-HASH.scratch.md");
        check(DEFAULT_TEMPLATE, Some("///"), ".scratch/agent-onyx-HASH.scratch.md");
    }

    // rule: scratch.name
    #[test]
    fn no_two_threads_share_a_file() {
        let files = (0..100).map(|thread| {
            file(DEFAULT_TEMPLATE, &ThreadId::new(format!("t{thread}")), Some("explorer"))
        });
        assert_eq!(files.collect::<std::collections::BTreeSet<_>>().len(), 100);
    }

    // rule: scratch.inside-the-folder
    #[test]
    fn absolute_and_parent_paths_are_replaced_by_the_default() {
        for template in
            ["/etc/passwd", "../up.md", "a/../../b", "C:\\x", "~/x", "", "notes/", "a\0b"]
        {
            check(template, Some("a"), ".scratch/agent-a-HASH.scratch.md");
        }
        check("notes/{agent_name}.md", Some("a"), "notes/a-HASH.md");
    }
}
