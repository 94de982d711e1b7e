//! A model that says what is written down: no network, no key, the same every time.

use rawr_protocol::HistoryRole;

use super::history::Item;
use super::model::{Model, Reply, Want};

/// What is answered to what. The first scene that fits counts.
#[derive(Debug, Clone, Default)]
pub struct Script {
    pub scenes: Vec<Scene>,
}

/// Answers in order, one for each sampling request after the user's latest message.
#[derive(Debug, Clone)]
pub struct Scene {
    pub cue: Cue,
    pub replies: Vec<Reply>,
}

/// What a scene answers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cue {
    /// These words in the user's latest message.
    Words(&'static str),
    /// The request for a summary.
    Summary,
    /// Any message.
    Anything,
}

impl Model for Script {
    fn name(&self) -> &str {
        "scripted"
    }

    async fn sample(&mut self, history: &[Item], want: Want<'_>) -> Result<Reply, String> {
        let (message, at) = match want {
            Want::Step => latest_message(history),
            Want::Summary { .. } => (String::new(), 0),
        };
        let fits = |scene: &&Scene| match (scene.cue, want) {
            (Cue::Summary, Want::Summary { .. }) | (Cue::Anything, Want::Step) => true,
            (Cue::Words(words), Want::Step) => message.contains(words),
            _ => false,
        };
        let scene = self.scenes.iter().find(fits).ok_or("the script has no scene for this")?;
        let reply = scene.replies.get(at).cloned();
        reply.ok_or_else(|| format!("the script's scene {:?} ends here", scene.cue))
    }
}

/// The user's latest item and how many answers it has had. An item alone: after a compaction others stand right
/// before it.
fn latest_message(history: &[Item]) -> (String, usize) {
    let end = history.iter().rposition(|item| item.role == HistoryRole::User);
    let end = end.map_or(0, |at| at + 1);
    let (before, after) = history.split_at(end);
    let message = before.last().map_or_else(String::new, |item| item.text.clone());
    let answers = after.iter().filter(|item| item.role == HistoryRole::Assistant).count();
    (message, answers)
}
