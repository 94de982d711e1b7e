//! Drives the agent of one hook: reports what happened since the hook before, and answers with what the sidecar asks of the agent.

use std::io;

use rawr_host::drive::{Drive, PromptQueue, SessionEnd};
use rawr_host::event::{NoticeLevel, Reporter, SessionEvent};
use rawr_host::sidecar::Launch;
use rawr_host::stop::StopRequest;
use rawr_protocol::Phase;
use serde_json::Map;

use super::agent::{Agent, HookTalk, HookText, SharedTalk};
use super::input::{HookAnswer, HookInput};
use super::open::{AwaitedReply, PendingRequest};
use super::transcript::LastTurn;
use crate::args::{HookArgs, HookHost};
use crate::commands::common::CommonOptions;

/// The answer of a hook, and what went wrong meanwhile.
pub(super) struct Driven {
    pub(super) answer: Option<HookAnswer>,
    pub(super) warnings: Vec<String>,
}

pub(super) async fn drive(
    common: &CommonOptions,
    args: &HookArgs,
    input: &HookInput,
    open: &PendingRequest,
    stop: &mut StopRequest,
) -> Result<Driven, anyhow::Error> {
    let said = input.last_assistant_message.as_deref();
    let last_turn = LastTurn::whole(args.host, input.transcript()?, said)?;
    let may_ask = args.headless || !is_headless(args.host, &last_turn);
    let talk = SharedTalk::default();
    let mut reporter = HookReporter { open: open.clone(), talk: talk.clone() };
    let agent = Agent::new(args, input, last_turn, may_ask, open.clone(), talk.clone())?;
    let settings = common.sidecar(Map::new())?;
    let sidecar = settings.launch().await?;
    let drive = Drive::open(agent, settings, sidecar, &mut reporter).await?;
    let result = drive.run(&mut PromptQueue::none(), stop).await?;
    let is_turns_end = args.event == "Stop";
    let HookTalk { text, reason, is_saved, mut warnings, .. } = std::mem::take(&mut *talk.get());
    if result.ended == SessionEnd::Stopped {
        warnings.push("it took too long".to_owned());
    }
    let answer = match text {
        Some(HookText::GoOn(text)) => {
            let told = reason
                .map(|reason| format!("rawr: {reason}. The agent writes its continuation packet."));
            Some(HookAnswer::go_on(text, told))
        }
        Some(HookText::Handoff(text)) => Some(HookAnswer::handoff(text)),
        None if is_saved && is_turns_end => Some(HookAnswer::told(SAVED.to_owned())),
        None => None,
    };
    if is_turns_end && answer.is_none() {
        open.write(None)?;
    }
    Ok(Driven { answer, warnings })
}

const SAVED: &str = "rawr: the continuation packet is there. Type /compact now, and the agent gets it back; go on with \
                     another message, and it is dropped.";

/// Keeps what the hook's answer is made of.
struct HookReporter {
    open: PendingRequest,
    talk: SharedTalk,
}

impl Reporter for HookReporter {
    fn report(&mut self, event: &SessionEvent<'_>) -> io::Result<()> {
        match event {
            SessionEvent::Session { opened, .. } => self.talk.get().phase = Some(opened.phase),
            SessionEvent::ThreadChanged(changed) => {
                let now = Some(changed.phase);
                let before = std::mem::replace(&mut self.talk.get().phase, now);
                if changed.phase == Phase::AwaitingCompaction && before != now {
                    self.talk.get().is_saved = true;
                    self.open.write(Some(&AwaitedReply::Compaction)).map_err(io::Error::other)?;
                }
            }
            SessionEvent::HeadsUp(heads_up) => {
                self.talk.get().reason = Some(heads_up.reason.clone());
            }
            SessionEvent::Notice { level: NoticeLevel::Warning | NoticeLevel::Error, message } => {
                self.talk.get().warnings.push((*message).to_owned());
            }
            _ => {}
        }
        Ok(())
    }
}

/// Whether the run is non-interactive: a script may read its output, and a packet would replace the result.
fn is_headless(host: HookHost, last_turn: &LastTurn) -> bool {
    match host {
        HookHost::Claude => claude_is_headless(|name| std::env::var(name).ok()),
        HookHost::Codex => last_turn.is_headless,
    }
}

/// Whether Claude Code runs without a user. Older releases only report how they were started.
fn claude_is_headless(variable: impl Fn(&str) -> Option<String>) -> bool {
    match variable("CLAUDE_CODE_SESSION_ATTENDED") {
        Some(attended) => attended == "0",
        None => variable("CLAUDE_CODE_ENTRYPOINT").is_some_and(|name| name.starts_with("sdk-")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claude_code_reports_whether_a_user_is_present() {
        for (attended, entrypoint, expected) in [
            (Some("0"), Some("sdk-cli"), true),
            (Some("1"), Some("cli"), false),
            // An editor drives the SDK and shows the session to a user.
            (Some("1"), Some("sdk-ts"), false),
            (None, Some("sdk-py"), true),
            (None, Some("cli"), false),
            (None, None, false),
        ] {
            let variable = |name: &str| {
                let value =
                    if name == "CLAUDE_CODE_SESSION_ATTENDED" { attended } else { entrypoint };
                value.map(str::to_owned)
            };
            assert_eq!(claude_is_headless(variable), expected, "{attended:?} {entrypoint:?}");
        }
    }
}
