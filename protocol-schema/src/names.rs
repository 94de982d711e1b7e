//! The closed vocabularies of the wire: snake_case names that several payloads share.

/// One line a name, so that the table of a vocabulary is its definition. A name that people read has its label beside
/// it:
/// clients translate labels and have no words of their own.
macro_rules! names {
    (@labels $name:ident $($variant:ident),+) => {};
    // A vocabulary has a label for each of its names or for none: anything else does not compile.
    (@labels $name:ident $($variant:ident $label:literal),+) => {
        impl $name {
            /// The words that people read, the same in every client.
            pub const fn label(self) -> &'static str {
                match self {$(Self::$variant => $label,)+}
            }
        }
    };

    ($(
        $(#[$about:meta])*
        pub enum $name:ident {$(
            $(#[$doc:meta])*
            $variant:ident = $wire:literal $(=> $label:literal)?,
        )+}
    )+) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum $name {$(
            $(#[$doc])*
            #[serde(rename = $wire)]
            $(#[cfg_attr(feature = "schema", schemars(title = $label))])?
            $variant,
        )+}

        impl $name {
            /// Every value, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name on the wire.
            pub const fn as_str(self) -> &'static str {
                match self {$(Self::$variant => $wire,)+}
            }

            /// The value that has this name on the wire.
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($wire => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        names! { @labels $name $($variant $($label)?),+ }
    )+};
}
pub(crate) use names;

names! {
    /// Urgency by percent of the context window remaining, in rising order (docs/spec/tiers.md#selection).
    pub enum Tier {
        /// Below 85% unless configured.
        Early = "early" => "early",
        /// Below 75% unless configured.
        Ready = "ready" => "ready",
        /// Below 65% unless configured.
        Asap = "asap" => "asap",
        /// Below 15% unless configured; bypasses boundaries and judgment.
        Emergency = "emergency" => "emergency",
    }

    /// A signal that a phase of work may have ended (docs/spec/boundaries.md#kinds).
    pub enum Boundary {
        /// A commit was made.
        Commit = "commit" => "commit",
        /// Commits were pushed.
        Pushed = "pushed" => "push",
        /// A branch was merged.
        Merged = "merged" => "merge",
        /// Another branch was checked out.
        BranchChanged = "branch_changed" => "branch changed",
        /// A check that failed before now passes.
        TestsGreen = "tests_green" => "tests pass again",
        /// A person or a program ended a phase explicitly.
        PhaseEnded = "phase_ended" => "phase ended",
        /// A step of the plan was completed.
        PlanCheckpoint = "plan_checkpoint" => "plan step done",
        /// The plan changed in another way; weak on its own.
        PlanUpdate = "plan_update" => "plan changed",
        /// A pull request was opened, updated, merged or the like.
        PrCheckpoint = "pr_checkpoint" => "pull request",
        /// The agent's last message says that it is done.
        AgentDone = "agent_done" => "agent done",
        /// The agent's last message moves on to another subject.
        TopicShift = "topic_shift" => "new topic",
        /// The agent's last message concludes.
        ConcludingThought = "concluding_thought" => "conclusion",
        /// A turn ended; counts only where a policy names it.
        TurnComplete = "turn_complete" => "turn ended",
    }

    /// Where a thread stands in the sequence machine (docs/spec/sequence.md#phases).
    pub enum Phase {
        /// No sequence runs.
        Idle = "idle" => "Idle",
        /// A model is asked whether now is a good moment.
        AwaitingJudgment = "awaiting_judgment" => "Asking the judge",
        /// A person is asked.
        AwaitingApproval = "awaiting_approval" => "Waiting for your approval",
        /// Compaction waits for the next user input.
        Deferred = "deferred" => "Compacting before your next message",
        /// A compaction is proposed: it comes if the next message, or silence, confirms that a phase ended.
        Proposed = "proposed" => "Compaction proposed",
        /// The heads-up turn was asked for and has not ended.
        AwaitingHeadsUp = "awaiting_heads_up" => "Notifying the agent",
        /// The scratch turn was asked for and has not ended.
        AwaitingScratchWrite = "awaiting_scratch_write" => "Saving the agent's notes",
        /// The agent is writing its packet.
        AwaitingPacket = "awaiting_packet" => "Writing the packet",
        /// The packet is there, and a person is to type the compaction.
        AwaitingCompaction = "awaiting_compaction" => "Packet ready: type /compact in the agent",
        /// The host is compacting.
        Compacting = "compacting" => "Compacting",
        /// The handoff was asked for and has not been taken.
        AwaitingHandoff = "awaiting_handoff" => "Handing the packet back",
    }

    /// How far something has come that the agent is asked for before a compaction.
    pub enum RequestState {
        /// The agent has not been asked for it yet.
        Queued = "queued" => "queued",
        /// The agent was asked and has not answered.
        Asked = "asked" => "asked",
        /// The agent has answered, or rawr wrote it.
        Answered = "answered" => "answered",
        /// The host refused it, or no answer came.
        Failed = "failed" => "failed",
    }

    /// A named check on the way to "compact now", in the order in which they run (docs/spec/decisions.md#gates).
    pub enum Gate {
        /// The feature is on.
        Feature = "feature" => "Feature enabled",
        /// The context is known and full enough for a tier.
        Pressure = "pressure" => "Context pressure",
        /// The turn is the user's and no sequence runs.
        Origin = "origin" => "User turn",
        /// The host is not in review mode or the like.
        ModeOfHost = "mode_of_host" => "Host mode",
        /// No guard is active.
        Guard = "guard" => "Guards",
        /// The last compactions helped.
        Breaker = "breaker" => "Circuit breaker",
        /// Enough was added since the last compaction.
        Rearm = "rearm" => "New content",
        /// Enough turns and time passed since the last compaction.
        Cooldown = "cooldown" => "Cooldown",
        /// A required and allowed boundary is present and unspent.
        Boundary = "boundary" => "Boundary",
        /// There is more than a bare plan update.
        WeakBoundary = "weak_boundary" => "Strong boundary",
        /// A plan boundary comes with a semantic break.
        SemanticBreak = "semantic_break" => "Semantic break",
        /// No tool runs and the turn finished.
        ActiveWork = "active_work" => "No active work",
        /// There is something to build a packet from.
        PacketWorth = "packet_worth" => "Packet content",
        /// The next message, or silence, confirms that a phase ended.
        Confirmation = "confirmation" => "Confirmation",
        /// The judge agrees.
        Judgment = "judgment" => "Judge",
        /// The configured mode lets compaction go on by itself.
        Mode = "mode" => "Mode",
    }

    /// The result of a gate.
    pub enum GateOutcome {
        /// The gate lets the decision through.
        Pass = "pass" => "passed",
        /// The gate stops it.
        Fail = "fail" => "failed",
        /// The gate would have stopped it, but an emergency or a person overrides it.
        Bypassed = "bypassed" => "bypassed",
        /// The gate was not evaluated.
        NotReached = "not_reached" => "not reached",
    }

    /// The entrance of a decision (docs/spec/decisions.md#entrances).
    pub enum Entrance {
        /// A turn ended.
        TurnComplete = "turn_complete" => "at the end of a turn",
        /// A user input arrived while a compaction was deferred or proposed, or silence confirmed a proposal.
        Preflight = "preflight" => "before the next message",
        /// Between two sampling requests of one turn.
        MidTurn = "mid_turn" => "during a turn",
        /// Built-in inline compaction, used only when rawr is off.
        Inline = "inline" => "by the built-in compaction",
    }

    /// What a turn that rawr asked for is for (docs/spec/sequence.md#order).
    pub enum Purpose {
        /// Tells the agent what is about to happen.
        HeadsUp = "heads_up",
        /// Asks the agent to save its working notes.
        ScratchWrite = "scratch_write",
        /// Asks the agent for its continuation packet.
        PacketRequest = "packet_request",
        /// Gives the packet back after compaction.
        Handoff = "handoff",
        /// Tells the agent that a compaction that was announced did not come. Needs no answer.
        Notice = "notice",
    }

    /// Who wrote a packet, or will write it (docs/spec/packet.md#author).
    pub enum PacketAuthor {
        /// The agent, in a turn asked for this.
        Agent = "agent" => "the agent",
        /// rawr, from structured state; always labeled as such.
        Watcher = "watcher" => "rawr",
        /// A person, by submitting or editing one; never a plan, only a fact about a packet that exists.
        Person = "person" => "a person",
    }

    /// What the agent does after the handoff (docs/spec/handoff.md#content).
    pub enum ResumeState {
        /// The agent was at work and is told to continue.
        Working = "working",
        /// The agent had asked the user something.
        WaitingForUser = "waiting_for_user",
        /// The agent had finished.
        Done = "done",
    }

    /// Where a plan step stands.
    pub enum StepStatus {
        /// Not begun.
        Pending = "pending",
        /// Begun.
        InProgress = "in_progress",
        /// Done; a step that newly gets here is a `plan_checkpoint` (docs/spec/boundaries.md#kinds).
        Completed = "completed",
    }

    /// Who started a compaction.
    pub enum CompactionOrigin {
        /// rawr.
        Rawr = "rawr" => "by rawr",
        /// The host by itself.
        Host = "host" => "by the host",
        /// A person, by the host's own command.
        User = "user" => "by a person",
    }
}

impl Phase {
    /// Nothing is under way: no compaction is in sight, or it waits for the next message.
    pub const fn is_settled(self) -> bool {
        matches!(self, Self::Idle | Self::Deferred | Self::Proposed)
    }

    /// The phase ends when a person acts, or at a deadline. No message waits for that.
    pub const fn waits_for_person(self) -> bool {
        matches!(self, Self::AwaitingApproval | Self::AwaitingCompaction)
    }

    /// The phase ends with an answer, a report or a deadline, where the process that runs the thread is there.
    pub const fn ends_by_itself(self) -> bool {
        !self.is_settled() && !self.waits_for_person()
    }

    /// A turn that is between two requests waits for its end.
    pub const fn holds_turn(self) -> bool {
        matches!(self, Self::AwaitingJudgment | Self::Compacting | Self::AwaitingHandoff)
    }

    /// No compaction is certain to come.
    pub const fn is_quiet(self) -> bool {
        matches!(self, Self::Idle | Self::Proposed)
    }
}
