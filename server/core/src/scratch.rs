//! The scratch file's name: where an agent may keep working notes. Nothing is written here.

use crate::units::{ThreadId, stable_hash};

/// The built-in template of the scratch file's path, relative to the thread's folder.
pub const DEFAULT_TEMPLATE: &str = ".scratch/agent-{agentName}.scratch.md";

/// Names for agents that have none. The order is part of every stored thread's file name: only ever append.
const NAMES: [&str; 16] = [
    "amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron", "iris", "juniper",
    "kestrel", "linden", "maple", "nova", "onyx", "pine",
];

/// From the sub-agent's identity where there is one, else the same pick for a thread on every platform and release.
pub fn agent_name(thread: &ThreadId, agent: Option<&str>) -> String {
    let sanitised = agent.map(sanitise).filter(|name| !name.is_empty());
    sanitised.unwrap_or_else(|| {
        let pick = usize::try_from(stable_hash(thread.as_str()) % NAMES.len() as u64).unwrap_or(0);
        NAMES[pick].to_owned()
    })
}

/// The file, relative to the thread's folder. A template that leaves the folder gives way to the default.
pub fn file(template: &str, thread: &ThreadId, agent: Option<&str>) -> String {
    let template = if stays_inside(template) { template } else { DEFAULT_TEMPLATE };
    let name = agent_name(thread, agent);
    template.replace("{agentName}", &name).replace("{agent_name}", &name)
}

/// Neither absolute nor through a parent, on any platform.
pub fn stays_inside(template: &str) -> bool {
    let absolute = template.starts_with(['/', '\\', '~']) || template.contains([':', '\0', '\n']);
    let mut parts = template.split(['/', '\\']);
    !template.trim().is_empty()
        && !absolute
        && !template.ends_with(['/', '\\'])
        && parts.all(|part| part != "..")
}

fn sanitise(agent: &str) -> String {
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
        assert_eq!(file(template, &ThreadId::new("01a1fc61-5420"), agent), expected);
    }

    #[test]
    fn a_sub_agent_gives_its_own_name_sanitised() {
        check(
            DEFAULT_TEMPLATE,
            Some("Code Reviewer/../x"),
            ".scratch/agent-code-reviewer-x.scratch.md",
        );
    }

    #[test]
    fn a_thread_without_identity_always_gets_the_same_name() {
        check(DEFAULT_TEMPLATE, None, ".scratch/agent-onyx.scratch.md");
        check(DEFAULT_TEMPLATE, Some("///"), ".scratch/agent-onyx.scratch.md");
    }

    #[test]
    fn absolute_and_parent_paths_give_way_to_the_default() {
        for template in
            ["/etc/passwd", "../up.md", "a/../../b", "C:\\x", "~/x", "", "notes/", "a\0b"]
        {
            check(template, Some("a"), ".scratch/agent-a.scratch.md");
        }
        check("notes/{agent_name}.md", Some("a"), "notes/a.md");
    }
}
