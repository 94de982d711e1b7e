//! The fixture: a real Codex with a repository and a scripted model, and its events as text.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where it stopped")]

use expect_test::Expect;
use rawr_host::host::codex::{Codex, CodexSettings};
use rawr_host::host::{AgentHost, CompactionOrder, HostEvent};
use rawr_tests::codex::{CodexHome, CodexTestConfig, binary};
use rawr_tests::mock_responses::TurnScript;
use rawr_tests::{MockModel, Repository};

pub struct AdapterFixture {
    pub codex: Codex,
    pub model: MockModel,
    pub repository: Repository,
    /// Turn ids in the order of their appearance; texts name turns by their place in it.
    turns: Vec<String>,
    seen: Vec<String>,
    _home: CodexHome,
}

impl AdapterFixture {
    pub async fn new(script: TurnScript) -> Self {
        Self::configured(script, &CodexTestConfig::default()).await
    }

    pub async fn configured(script: TurnScript, config: &CodexTestConfig) -> Self {
        let model = MockModel::start(script);
        let repository = Repository::new();
        let home = CodexHome::new(&model, config);
        let codex = Codex::start(&settings(&home, &repository)).await.unwrap();
        Self { codex, model, repository, turns: Vec::new(), seen: Vec::new(), _home: home }
    }

    /// Reads on until `last` holds of an event.
    pub async fn until(&mut self, last: impl Fn(&HostEvent) -> bool) {
        loop {
            let event = self.codex.next_event().await;
            self.see(&event);
            if last(&event) {
                return;
            }
        }
    }

    /// Gives up every wait as soon as anything else can run.
    pub async fn until_turn_ends_impatiently(&mut self) {
        loop {
            tokio::select! {
                biased;
                event = self.codex.next_event() => {
                    self.see(&event);
                    if matches!(event, HostEvent::TurnCompleted { .. }) {
                        return;
                    }
                }
                () = tokio::task::yield_now() => {}
            }
        }
    }

    pub async fn until_turn_ends(&mut self) {
        self.until(|event| matches!(event, HostEvent::TurnCompleted { .. })).await;
    }

    pub async fn turn(&mut self, text: &str) {
        self.codex.start_turn(&[text]).await.unwrap();
        self.until_turn_ends().await;
    }

    pub async fn compaction(&mut self) {
        self.codex.compact(&CompactionOrder::default()).await.unwrap();
        self.until_turn_ends().await;
    }

    /// Lets the command that waits for it end.
    pub fn go(&self) {
        std::fs::write(self.repository.path().join("go"), "").unwrap();
    }

    /// The process that Codex runs as.
    pub fn process_id(&self) -> u32 {
        self.codex.process_id().unwrap()
    }

    /// Compares what was seen since the last check.
    pub fn check_events(&mut self, expected: Expect) {
        let seen = std::mem::take(&mut self.seen);
        expected.assert_eq(&(seen.join("\n") + "\n"));
    }

    pub fn forget_events(&mut self) {
        self.seen.clear();
    }

    fn see(&mut self, event: &HostEvent) {
        let repository = self.repository.path().display().to_string();
        let text = self.text(event).replace(&repository, "$REPO");
        self.seen.push(text);
    }

    fn text(&mut self, event: &HostEvent) -> String {
        match event {
            HostEvent::TurnStarted { turn_id, kind } => {
                format!("{} started: {kind:?}", self.turn_number(turn_id))
            }
            HostEvent::AgentMessage { turn_id, text } => {
                format!("{} says: {text}", self.turn_number(turn_id))
            }
            HostEvent::Usage { turn_id, usage, context_window, needs_follow_up } => format!(
                "{} uses {} of {context_window:?}, goes on: {needs_follow_up}",
                self.turn_number(turn_id),
                usage.context_tokens
            ),
            HostEvent::UsageEstimated { turn_id, .. } => {
                format!("{} estimates its usage", self.turn_number(turn_id))
            }
            HostEvent::PlanUpdated { turn_id, steps, explanation, .. } => {
                let steps: Vec<_> =
                    steps.iter().map(|step| format!("{} {}", step.step, step.status)).collect();
                format!(
                    "{} plans: {} ({explanation:?})",
                    self.turn_number(turn_id),
                    steps.join(", ")
                )
            }
            HostEvent::ToolStarted { turn_id, call_id, name } => {
                format!("{} calls {name} as {call_id}", self.turn_number(turn_id))
            }
            HostEvent::ToolFinished { turn_id, call_id } => {
                format!("{} has {call_id}", self.turn_number(turn_id))
            }
            HostEvent::CommandFinished { turn_id, command, exit_code, cwd, .. } => {
                // The shell is the user's own, so that its path differs from machine to machine.
                let command =
                    command.split_once(" -lc ").map_or(command.as_str(), |(_, command)| command);
                format!("{} ran in {cwd}, to {exit_code}: {command}", self.turn_number(turn_id))
            }
            HostEvent::ReviewEntered { turn_id } => {
                format!("{} reviews", self.turn_number(turn_id))
            }
            HostEvent::ReviewLeft { turn_id } => {
                format!("{} has reviewed", self.turn_number(turn_id))
            }
            HostEvent::TurnCompleted { turn_id, status, last_agent_message, error, .. } => {
                let error = error.as_ref().map(|_| ", with an error").unwrap_or_default();
                let said = last_agent_message.as_deref().unwrap_or("nothing");
                format!("{} {status}{error}, last said: {said}", self.turn_number(turn_id))
            }
            HostEvent::CompactionStarted { turn_id, origin } => {
                format!("{} compacts for {origin}", self.turn_number(turn_id))
            }
            HostEvent::CompactionCompleted { turn_id, origin, tokens_after } => {
                let estimate = if tokens_after.is_some() { "an estimate" } else { "no estimate" };
                format!("{} has compacted for {origin}, with {estimate}", self.turn_number(turn_id))
            }
            HostEvent::CompactionFailed { turn_id, origin, .. } => {
                format!("{} has not compacted for {origin}", self.turn_number(turn_id))
            }
            HostEvent::Answered { request_id, answer } => {
                format!("{request_id} answered: {answer:?}")
            }
            HostEvent::UserMessage { text, .. } => format!("user: {text}"),
            HostEvent::TitleChanged { title } => format!("title: {title:?}"),
            HostEvent::AsksPerson | HostEvent::CompactionDeclined => "asks its person".to_owned(),
            HostEvent::MessagesTakenBack => "messages taken back".to_owned(),
            HostEvent::Notice(text) => format!("notice: {text}"),
            HostEvent::Gone { reason } => format!("gone: {reason}"),
        }
    }

    fn turn_number(&mut self, turn_id: &str) -> String {
        let known = self.turns.iter().position(|turn| turn == turn_id);
        let at = known.unwrap_or_else(|| {
            self.turns.push(turn_id.to_owned());
            self.turns.len() - 1
        });
        format!("turn {}", at + 1)
    }
}

pub fn settings(home: &CodexHome, repository: &Repository) -> CodexSettings {
    let mut settings = CodexSettings::new(binary(), repository.path().to_owned());
    settings.environment =
        home.environment().into_iter().map(|(key, value)| (key.into(), value.into())).collect();
    settings
}
