//! A decision depends only on the conversation's own history, not on other conversations in the same sidecar or on the
//! name of the client. Rules of decisions are tested by the scripts.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

use rawr_tests::sidecar::Note;
use rawr_tests::{LaunchOptions, TestHome, TestSidecar};
use serde_json::{Value, json};
use std::collections::VecDeque;

/// Usage of a window of 100,000, at the end of a turn with a commit.
const READY: u64 = 30_000;
const EMERGENCY: u64 = 92_000;
const RELAXED: u64 = 5_000;

/// The plan of one conversation.
#[derive(Debug, Clone, Copy)]
struct ConversationPlan {
    thread: &'static str,
    /// Contained in all of its texts, and in no text of others.
    word: &'static str,
    /// The usage at the end of each turn, and the answer to the banner then.
    turns: [(u64, &'static str); 3],
}

/// This one is snoozed and compacted later; the other one is compacted at once.
const NEAR: ConversationPlan = ConversationPlan {
    thread: "near",
    word: "magenta",
    turns: [(READY, "snooze"), (RELAXED, ""), (EMERGENCY, "approve")],
};
const FAR: ConversationPlan = ConversationPlan {
    thread: "far",
    word: "cobalt",
    turns: [(READY, "approve"), (READY, "approve"), (RELAXED, "")],
};

/// A conversation, its host, and its notifications.
struct Conversation {
    part: ConversationPlan,
    to_say: VecDeque<(&'static str, Value)>,
    told: String,
    turns: u32,
    answers_banner: &'static str,
}

impl Conversation {
    fn new(part: ConversationPlan, host: &str, home: &TestHome) -> Self {
        let mut conversation = Self {
            part,
            to_say: VecDeque::new(),
            told: String::new(),
            turns: 0,
            answers_banner: "",
        };
        let can = json!({ "injectTurn": true, "compact": true });
        conversation.enqueue(
            "rawr/thread/open",
            json!({
                "cwd": home.work(),
                "role": "owner",
                "host": { "name": host, "capabilities": can },
                "contextWindow": 100_000,
            }),
        );
        conversation
    }

    fn enqueue(&mut self, method: &'static str, mut params: Value) {
        params["threadId"] = json!(self.part.thread);
        self.to_say.push_back((method, params));
    }

    /// A person pins an instruction, and the agent commits at the end of a turn.
    fn works(&mut self, context_tokens: u64) {
        let word = self.part.word;
        let turn = self.next_turn();
        let text = format!("Write the {word} parser. Never touch {word}.rs.");
        let pin = json!({ "kind": "directive", "text": format!("Keep {word}."), "pinned": true });
        let commit = json!({ "kind": "commit", "subject": format!("Add the {word} parser") });
        self.enqueue(
            "rawr/turn/started",
            json!({ "turnId": turn, "origin": "user", "text": text }),
        );
        for signal in [pin, commit] {
            self.enqueue("rawr/signal/report", json!({ "turnId": turn, "signal": signal }));
        }
        self.ends(&turn, &format!("The {word} parser is written."), context_tokens);
    }

    fn next_turn(&mut self) -> String {
        self.turns += 1;
        format!("t{}", self.turns)
    }

    fn ends(&mut self, turn: &str, message: &str, context_tokens: u64) {
        self.enqueue(
            "rawr/turn/completed",
            json!({
                "turnId": turn,
                "status": "completed",
                "lastAgentMessage": message,
                "usage": { "contextTokens": context_tokens },
            }),
        );
    }

    /// A person requests everything that can be shown of it.
    fn is_looked_at(&mut self) {
        for method in [
            "rawr/thread/get",
            "rawr/directive/list",
            "rawr/guard/list",
            "rawr/decision/list",
            "rawr/decision/explain",
            "rawr/packet/get",
        ] {
            self.enqueue(method, json!({}));
        }
        self.enqueue("rawr/packet/build", json!({ "author": "watcher" }));
    }

    fn hears(&mut self, note: &Note) {
        self.note_down(&note.method, &note.params);
        let params = &note.params;
        if note.method == "rawr/sequence/headsUp" && params["stage"] == "awaiting_approval" {
            let sequence = &params["sequenceId"];
            let answer = json!({ "sequenceId": sequence, "choice": self.answers_banner });
            self.enqueue("rawr/sequence/respond", answer);
        }
        if note.method == "rawr/action/perform" {
            self.performs(&params["actionId"], &params["action"]);
        }
    }

    fn performs(&mut self, id: &Value, action: &Value) {
        if action["kind"] == "compact" {
            for (status, after) in [("started", None), ("completed", Some(RELAXED))] {
                let report = json!({
                    "status": status, "origin": "rawr", "actionId": id, "tokensAfter": after,
                });
                self.enqueue("rawr/compaction/report", report);
            }
            self.enqueue("rawr/action/report", json!({ "actionId": id, "status": "completed" }));
            return;
        }
        let turn = self.next_turn();
        let started = json!({ "turnId": turn, "origin": "synthetic", "actionId": id });
        self.enqueue("rawr/turn/started", started);
        let packet = format!(
            "<continuation_packet>\nState: working\nGoal: the {} parser\nNext: its docs\n\
             </continuation_packet>",
            self.part.word
        );
        self.ends(&turn, &packet, RELAXED);
    }

    /// Performs the next step. Returns false if there was none.
    fn speaks(&mut self, sidecar: &mut TestSidecar) -> bool {
        let Some((method, params)) = self.to_say.pop_front() else { return false };
        let answer = sidecar.request(method, &params).unwrap();
        let answer = answer.unwrap_or_else(|failure| json!(failure.message));
        self.note_down(method, &answer);
        true
    }

    fn note_down(&mut self, what: &str, body: &Value) {
        let mut body = body.clone();
        without_times(&mut body);
        self.told.push_str(&format!("{what} {body}\n"));
    }

    fn count(&self, words: &str) -> usize {
        self.told.matches(words).count()
    }
}

/// Times depend on the clock, not on the conversation.
fn without_times(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !name.ends_with("Ms"));
            fields.values_mut().for_each(without_times);
        }
        Value::Array(items) => items.iter_mut().for_each(without_times),
        _ => {}
    }
}

/// Runs the conversations in alternation until all have ended.
fn play(sidecar: &mut TestSidecar, conversations: &mut [Conversation]) {
    loop {
        let mut is_over = true;
        for at in 0..conversations.len() {
            is_over &= !conversations[at].speaks(sidecar);
            for note in sidecar.take_notes() {
                let thread = note.params["threadId"].as_str();
                let of_it =
                    conversations.iter_mut().find(|known| Some(known.part.thread) == thread);
                of_it.unwrap_or_else(|| panic!("no conversation of {note:?}")).hears(&note);
            }
        }
        if is_over && conversations.iter().all(|conversation| conversation.to_say.is_empty()) {
            return;
        }
    }
}

/// The notifications of each conversation, in a new home.
fn told(client: &str, host: &str, cast: &[ConversationPlan]) -> Vec<Conversation> {
    let home = TestHome::new();
    home.configure("[rawr_auto_compaction]\nmode = \"ask\"\n");
    let mut sidecar = TestSidecar::spawn(&home, &LaunchOptions::default());
    sidecar.greet(client);
    let open = |part: &ConversationPlan| Conversation::new(*part, host, &home);
    let mut conversations: Vec<_> = cast.iter().map(open).collect();
    for turn in 0..3 {
        for conversation in &mut conversations {
            let (context_tokens, answer) = conversation.part.turns[turn];
            conversation.answers_banner = answer;
            conversation.works(context_tokens);
            conversation.is_looked_at();
        }
        play(&mut sidecar, &mut conversations);
    }
    let process = format!("process {}", sidecar.process_id());
    sidecar.leave();
    let folder = home.work().display().to_string();
    for conversation in &mut conversations {
        let told = conversation.told.replace(&folder, "<folder>").replace(&process, "<process>");
        conversation.told = told.replace(client, "<client>").replace(host, "<host>");
    }
    conversations
}

fn first_difference<'t>(one: &'t str, other: &'t str) -> Option<(&'t str, &'t str)> {
    let longer = one.lines().count().max(other.lines().count());
    let line = |of: &'t str, at| of.lines().nth(at).unwrap_or("nothing");
    (0..longer).map(|at| (line(one, at), line(other, at))).find(|(one, other)| one != other)
}

// rule: built-in.one-conversation
#[test]
fn a_conversation_is_not_affected_by_another() {
    let both = told("client-1", "host-1", &[NEAR, FAR]);
    for (beside, part) in both.iter().zip([NEAR, FAR]) {
        let alone = told("client-1", "host-1", &[part]);
        let difference = first_difference(&alone[0].told, &beside.told);
        assert_eq!(difference, None, "{}: alone and with the other", beside.part.thread);
    }
    // Each has texts that could have leaked into the other.
    let [near, far] = &both[..] else { panic!("two conversations") };
    for (one, other) in [(near, far), (far, near)] {
        assert_eq!(one.count(other.part.word), 0, "{} in {}", other.part.word, one.told);
        assert!(one.count(&format!("Keep {}.", one.part.word)) > 0, "{}", one.told);
        assert!(one.count(&format!("Goal: the {} parser", one.part.word)) > 0, "{}", one.told);
    }
    assert!(near.count(r#""guards":[{"#) > 0, "{}", near.told);
    assert_eq!(far.count(r#""guards":[{"#), 0, "{}", far.told);
}

// rule: decision.core-decides
// rule: client.any-name
#[test]
fn the_same_reports_lead_to_the_same_actions_for_any_client() {
    let [first, others @ ..] =
        [("rawr-cli", "codex"), ("vscode", "claude-code"), ("nvim", "embedded"), ("x-1", "y-1")]
            .map(|(client, host)| told(client, host, &[NEAR, FAR]));
    for conversation in &first {
        assert!(conversation.count(r#""kind":"compact""#) > 0, "{}", conversation.told);
    }
    for other in others {
        for (one, other) in first.iter().zip(&other) {
            assert_eq!(first_difference(&one.told, &other.told), None, "{}", one.part.thread);
        }
    }
}
