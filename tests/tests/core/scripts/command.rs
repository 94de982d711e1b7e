//! Parses a line of a script into an input of the core. Events are written in their stored form, so that older scripts
//! need no change when the core adds a field.

use crate::scripts::player::Player;
use rawr_core::Input;
use rawr_core::event::{Choice, EndpointLimit, Event, JudgeReply, JudgeUsage, JudgmentAnswered};
use rawr_core::machine::{InputKind, Response, ShellCommand};
use rawr_core::units::{ActionId, InputId, JudgeRequestId, SequenceId, SignalId, Tokens, TurnId};
use serde_json::{Value, json};

/// A parsed line: words, `name=value` options, and the text after the first quotation mark.
pub struct ParsedLine<'l> {
    words: Vec<&'l str>,
    text: Option<String>,
}

impl<'l> ParsedLine<'l> {
    fn read(line: &'l str) -> Self {
        let (head, text) = match line.split_once('"') {
            Some((head, rest)) => (head, Some(rest)),
            None => (line, None),
        };
        let text = text.map(|text| {
            let text = text
                .strip_suffix('"')
                .unwrap_or_else(|| panic!("a text must end its line: {line}"));
            text.replace("\\n", "\n")
        });
        Self { words: head.split_whitespace().collect(), text }
    }

    fn has(&self, word: &str) -> bool {
        self.words.contains(&word)
    }

    fn option(&self, name: &str) -> Option<&'l str> {
        self.words.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.option(name).map(|value| value.parse().unwrap())
    }

    /// `t1`, `t2` and so on name turns, at any position.
    fn turn(&self) -> Option<&'l str> {
        let named = |word: &&str| word.strip_prefix('t').is_some_and(|n| n.parse::<u32>().is_ok());
        self.words[1..].iter().copied().find(|word| named(word))
    }

    fn text(&self) -> &str {
        self.text.as_deref().unwrap()
    }

    fn usage(&self) -> Option<Value> {
        self.number("context").map(|context| {
            json!({
                "context": context,
                "input": self.number("input"),
                "cached": self.number("cached"),
                "output": self.number("output"),
                "reasoning": self.number("reasoning"),
            })
        })
    }
}

fn saw(kind: &str, body: &Value) -> Input {
    let event: Event = serde_json::from_value(json!({ kind: body })).unwrap();
    Input::Saw(event)
}

impl Player {
    pub fn input(&self, line: &str) -> Input {
        let line = ParsedLine::read(line);
        match line.words[0] {
            "command" => Input::Command {
                turn: line.turn().map(TurnId::new),
                signal: line.option("signal").map(SignalId::new),
                command: if line.has("words") {
                    ShellCommand::Words(line.text().split('|').map(str::to_owned).collect())
                } else {
                    ShellCommand::Line(line.text().to_owned())
                },
                exit_code: line.option("exit").map_or(0, |code| code.parse().unwrap()),
                cwd: line.option("cwd").map(str::to_owned),
            },
            "submit" => Input::Submitted {
                input: InputId::new(line.words[1]),
                text: line.text().to_owned(),
                kind: if line.has("local") { InputKind::LocalCommand } else { InputKind::Message },
            },
            "respond" => Input::Respond(response(&line)),
            "judged" => Input::Judged(self.judged(&line)),
            "guard" => Input::SetGuard {
                until: serde_json::from_value(until(line.words[1], line.number("n"))).unwrap(),
                note: line.text.clone(),
                by: line.option("by").map(str::to_owned),
            },
            word => {
                let (kind, body) = self
                    .of_a_turn(word, &line)
                    .or_else(|| of_the_work(word, &line))
                    .or_else(|| self.of_the_host(word, &line))
                    .unwrap_or_else(|| panic!("unknown command {word:?}"));
                saw(kind, &body)
            }
        }
    }

    fn of_a_turn(&self, word: &str, line: &ParsedLine<'_>) -> Option<(&'static str, Value)> {
        Some(match word {
            "start" => (
                "turn_started",
                json!({
                    "turn": line.turn(),
                    "origin": line.option("origin").unwrap_or("user"),
                    "action": line.option("action").map(|n| self.action(n)),
                    "text": line.text,
                }),
            ),
            "joins" => ("user_message", json!({ "turn": line.turn(), "text": line.text })),
            "usage" => (
                "usage_reported",
                json!({
                    "turn": line.turn(),
                    "usage": line.usage(),
                    "window": line.number("window"),
                    "compacts_above": line.number("compacts-above"),
                    "cache_seconds": line.number("cache"),
                    "model": line.option("model"),
                    "needs_follow_up": line.has("follow-up"),
                    "last_message": line.text,
                }),
            ),
            "end" => (
                "turn_completed",
                json!({
                    "turn": line.turn(),
                    "status": line.option("status").unwrap_or("completed"),
                    "overflow": line.has("too-long").then(|| {
                        json!({"size": line.number("size"), "window": line.number("window")})
                    }),
                    "last_message": line.text,
                    "usage": line.usage(),
                    "queued_inputs": line.number("queued").unwrap_or(0),
                    "review_mode": line.has("review"),
                }),
            ),
            _ => return None,
        })
    }

    fn of_the_host(&self, word: &str, line: &ParsedLine<'_>) -> Option<(&'static str, Value)> {
        let failed = line.has("failed");
        let (text, error) =
            if failed { (None, line.text.as_ref()) } else { (line.text.as_ref(), None) };
        Some(match word {
            "open" => ("thread_opened", opened(line)),
            "close" => ("thread_closed", json!({})),
            "action" => (
                "action_reported",
                json!({
                    "action": self.action(line.words[1]),
                    "status": line.words[2],
                    "turn": line.turn(),
                    "text": text,
                    "error": error,
                }),
            ),
            "compaction" => (
                "compaction_reported",
                json!({
                    "status": line.words[1],
                    "origin": line.option("by").unwrap_or("rawr"),
                    "action": line.option("action").map(|n| self.action(n)),
                    "tokens_before": line.number("before"),
                    "tokens_after": line.number("after"),
                    "error": line.text,
                }),
            ),
            "unsubmit" => ("input_cancelled", json!({ "input": line.words[1] })),
            "unguard" => ("guard_cleared", json!({ "guard": line.words[1] })),
            _ => return None,
        })
    }

    /// Answers the open question, or another one by id.
    fn judged(&self, line: &ParsedLine<'_>) -> JudgmentAnswered {
        let open = self.machine.thread().judging().map(|open| open.request.clone());
        let named = line.option("request").map(JudgeRequestId::new);
        let text = line.text().to_owned();
        JudgmentAnswered {
            request: named.or(open).unwrap_or_else(|| JudgeRequestId::new("not-requested")),
            source: serde_json::from_value(json!(line.option("by").unwrap_or("host"))).unwrap(),
            answer: match line.words[1] {
                "yes" => JudgeReply::Says { should_compact: true, reason: text },
                "no" => JudgeReply::Says { should_compact: false, reason: text },
                "failed" => JudgeReply::Failed { error: text },
                other => panic!("unknown judgment {other:?}"),
            },
            usage: line.number("input").map(|input| JudgeUsage {
                input: Tokens(input),
                output: Tokens(line.number("output").unwrap_or(0)),
            }),
            rate_limits: line.option("limit").and_then(|limit| limit.split_once(':')).map_or_else(
                Vec::new,
                |(name, value)| {
                    vec![EndpointLimit { name: name.to_owned(), value: value.to_owned() }]
                },
            ),
        }
    }

    /// By number, newest first. Any other name is an id.
    fn action(&self, number: &str) -> ActionId {
        let thread = self.machine.thread();
        let found = thread
            .actions
            .iter()
            .rev()
            .find(|issued| issued.id.as_str().rsplit('.').next() == Some(number));
        found.map_or_else(|| ActionId::new(number), |issued| issued.id.clone())
    }
}

fn opened(line: &ParsedLine<'_>) -> Value {
    let mut can = json!({ "inject_turn": !line.has("cannot-inject"), "compact": !line.has("cannot-compact") });
    for able in line.option("can").into_iter().flat_map(|list| list.split(',')) {
        can[able] = json!(true);
    }
    can["cache_seconds"] = json!(line.number("cache"));
    can["queue_above_tokens"] = json!(line.number("queue-above"));
    json!({
        "cwd": "/repo",
        "host": { "name": "script", "can": can },
        "model": line.option("model"),
        "window": line.number("window"),
        "window_is_assumed": line.has("assumed"),
        "compacts_above": line.number("compacts-above"),
        "baseline": line.number("baseline").unwrap_or(0),
        "agent": line.option("agent"),
        "running_turn": line.option("running"),
    })
}

fn of_the_work(word: &str, line: &ParsedLine<'_>) -> Option<(&'static str, Value)> {
    let turn = line.turn();
    Some(match word {
        "plan" => (
            "plan_updated",
            json!({ "turn": turn, "steps": steps(line.text()), "explanation": line.option("because") }),
        ),
        "commit" => (
            "commit_made",
            json!({ "turn": turn, "signal": line.option("signal"), "hash": line.option("hash"), "subject": line.text }),
        ),
        "pr" => (
            "pr_checkpoint",
            json!({ "turn": turn, "action": line.option("action").unwrap_or("create"), "url": line.text }),
        ),
        "branch" => ("branch_changed", json!({ "branch": line.words[1] })),
        "phase" => {
            ("phase_ended", json!({ "turn": turn, "label": line.text, "by": line.option("by") }))
        }
        "directive" => {
            ("directive_given", json!({ "text": line.text, "pinned": line.has("pinned") }))
        }
        "undirective" => ("directive_cleared", json!({ "directive": line.words[1] })),
        "repo" => (
            "repo_observed",
            json!({ "repo": {
                "branch": line.option("branch"),
                "head": line.option("head"),
                "dirty": line.number("dirty").unwrap_or(0),
                "files": line.option("files").map(|list| list.split(',').collect::<Vec<_>>()).unwrap_or_default(),
                "changed": line.option("changed").map(|list| list.split(',').collect::<Vec<_>>()).unwrap_or_default(),
                "stack": line.text,
            }, "committed": line.option("committed") }),
        ),
        "tool-start" => {
            ("tool_started", json!({ "call": line.words[1], "name": line.option("name") }))
        }
        "tool-end" => ("tool_finished", json!({ "call": line.words[1] })),
        _ => return None,
    })
}

fn steps(text: &str) -> Value {
    let step = |step: &str| {
        let status = match &step[..1] {
            "x" => "completed",
            ">" => "in_progress",
            _ => "pending",
        };
        json!({ "step": &step[1..], "status": status })
    };
    text.split(", ").filter(|step| !step.is_empty()).map(step).collect()
}

fn until(kind: &str, n: Option<u64>) -> Value {
    match n {
        Some(n) => json!({ kind: n }),
        None => json!(kind),
    }
}

fn response(line: &ParsedLine<'_>) -> Response {
    Response {
        choice: match line.words[1] {
            "compact_now" => Choice::CompactNow,
            "approve" => Choice::Approve,
            "snooze" => Choice::Snooze,
            "cancel" => Choice::Cancel,
            "edit_packet" => Choice::EditPacket,
            other => panic!("unknown choice {other:?}"),
        },
        sequence: line.option("sequence").map(SequenceId::new),
        turns: line.option("turns").map(|n| n.parse().unwrap()),
        minutes: line.option("minutes").map(|n| n.parse().unwrap()),
        packet: line.text.clone(),
        by: Some("nvim".to_owned()),
    }
}
