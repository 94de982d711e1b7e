//! The table of methods, one entry each. Marker types, the list of methods and the schema are made from it.

use crate::error::ErrorCode;
use crate::*;

/// One method, as data.
#[derive(Debug, Clone, Copy)]
pub struct Method {
    /// The method's name on the wire.
    pub name: &'static str,
    /// Whether it is answered.
    pub kind: MethodKind,
    /// The sender and the receiver.
    pub direction: Direction,
    /// What it is for, in one sentence.
    pub summary: &'static str,
    /// The sections that state its rules; a test checks that they exist.
    pub source: &'static str,
    /// The errors that it may return, besides [`ErrorCode::OF_ANY_REQUEST`].
    pub errors: &'static [ErrorCode],
    #[cfg(feature = "schema")]
    pub(crate) params: SchemaOf,
    #[cfg(feature = "schema")]
    pub(crate) result: Option<SchemaOf>,
}

#[cfg(feature = "schema")]
type SchemaOf = fn(&mut schemars::SchemaGenerator) -> schemars::Schema;

/// Whether a method is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MethodKind {
    /// Exactly once.
    Request,
    /// Never.
    Notification,
}

/// The sender and the receiver of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The client to the sidecar.
    ToServer,
    /// The sidecar to the client.
    ToClient,
}

/// The method of this name.
pub fn find(name: &str) -> Option<&'static Method> {
    METHODS.iter().find(|method| method.name == name)
}

macro_rules! methods {
    ($(source $source:literal {$(
        #[doc = $summary:literal]
        $kind:ident $((from $sender:ident))? $name:ident = $method:literal ($params:ty)
            $(-> $result:ty)? $(, fails [$($error:ident),+])?;
    )+})+) => {
        $($(methods! { @marker $kind #[doc = $summary] $name = $method ($params) $(-> $result)? })+)+

        /// Every method, in the order of the table.
        pub const METHODS: &[Method] = &[$($(Method {
            name: $method,
            kind: methods!(@kind $kind),
            direction: methods!(@direction $($sender)?),
            summary: $summary.trim_ascii(),
            source: $source,
            errors: &[$($(ErrorCode::$error),+)?],
            #[cfg(feature = "schema")]
            params: |generator| generator.subschema_for::<$params>(),
            #[cfg(feature = "schema")]
            result: methods!(@result $($result)?),
        }),+),+];
    };

    (@marker request #[doc = $summary:literal] $name:ident = $method:literal ($params:ty) -> $result:ty) => {
        #[doc = $summary]
        #[derive(Debug, Clone, Copy)]
        pub enum $name {}

        impl Request for $name {
            type Params = $params;
            type Result = $result;
            const METHOD: &'static str = $method;
        }
    };
    (@marker notification #[doc = $summary:literal] $name:ident = $method:literal ($params:ty)) => {
        #[doc = $summary]
        #[derive(Debug, Clone, Copy)]
        pub enum $name {}

        impl Notification for $name {
            type Params = $params;
            const METHOD: &'static str = $method;
        }
    };

    (@kind request) => { MethodKind::Request };
    (@kind notification) => { MethodKind::Notification };

    (@direction) => { Direction::ToServer };
    (@direction client) => { Direction::ToServer };
    (@direction server) => { Direction::ToClient };

    (@result) => { None };
    (@result $result:ty) => { Some(|generator| generator.subschema_for::<$result>()) };
}

methods! {
    source "LSP 3.17" {
        /// Opens the connection and exchanges capabilities.
        request Initialize = "initialize" (InitializeParams) -> InitializeResult;
        /// The client has read the answer to initialize.
        notification(from client) Initialized = "initialized" (Empty);
        /// Ends all work; only exit may follow.
        request Shutdown = "shutdown" (Empty) -> ();
        /// Ends the sidecar.
        notification(from client) Exit = "exit" (Empty);
        /// Cancels a request.
        notification(from client) CancelRequest = "$/cancelRequest" (CancelParams);
        /// Reports how far a long request is, under the token that it was sent with.
        notification(from server) Progress = "$/progress" (ProgressParams);
        /// Sets how much the sidecar traces with `$/logTrace`.
        notification(from client) SetTrace = "$/setTrace" (SetTraceParams);
        /// Traces a piece of the sidecar's work.
        notification(from server) LogTrace = "$/logTrace" (LogTraceParams);
        /// Writes a line to the client's log.
        notification(from server) LogMessage = "window/logMessage" (LogMessageParams);
    }

    source "docs/spec/clients.md#connection" {
        /// Answers at once, so that a client that asks now and then notices a sidecar that hangs.
        request ConnectionCheck = "rawr/connection/check" (Empty) -> Empty;
    }

    source "docs/spec/clients.md#owner-and-observers" {
        /// Announces a conversation and what its host can do.
        request ThreadOpen = "rawr/thread/open" (ThreadOpenParams) -> ThreadOpenResult,
            fails [OwnedElsewhere, StoreFailed];
        /// Closes a thread for this client.
        request ThreadClose = "rawr/thread/close" (ThreadCloseParams) -> Empty, fails [UnknownThread];
        /// Lists all threads of this home.
        request ThreadList = "rawr/thread/list" (ThreadListParams) -> ThreadListResult, fails [StoreFailed];
        /// Gives all that is known of one thread.
        request ThreadGet = "rawr/thread/get" (ThreadGetParams) -> ThreadGetResult,
            fails [UnknownThread, StoreFailed];
        /// Subscribes to what other sidecars record.
        request ThreadWatch = "rawr/thread/watch" (ThreadWatchParams) -> ThreadWatchResult, fails [StoreFailed];
        /// Ends a subscription.
        request ThreadUnwatch = "rawr/thread/unwatch" (ThreadUnwatchParams) -> Empty;
        /// Reports that what a status bar shows of a thread has changed.
        notification(from server) ThreadChanged = "rawr/thread/changed" (ThreadChangedNotification);
        /// Says which watched threads have come, gone, or are run by another process than before.
        notification(from server) ThreadListChanged = "rawr/thread/listChanged" (ThreadListChangedNotification);
    }

    source "docs/spec/recovery.md#written-before-done" {
        /// Reports that a thread's files cannot be written: its sequence pauses, and the host delivers messages itself.
        notification(from server) StoreFailed = "rawr/store/failed" (StoreFailedNotification);
        /// Reports that they can be written again.
        notification(from server) StoreRecovered = "rawr/store/recovered" (StoreRecoveredNotification);
    }

    source "docs/spec/decisions.md#gates; docs/spec/mid-turn.md#when" {
        /// Reports that the host begins to work on something.
        request TurnStarted = "rawr/turn/started" (TurnStartedParams) -> Empty,
            fails [UnknownThread, NotOwner, StoreFailed];
        /// Reports token usage after a sampling request; the mid-turn entrance.
        request TurnUsage = "rawr/turn/usage" (TurnUsageParams) -> TurnUsageResult,
            fails [UnknownThread, NotOwner, StoreFailed];
        /// Reports the end of a turn and gives the verdict on it.
        request TurnCompleted = "rawr/turn/completed" (TurnCompletedParams) -> TurnCompletedResult,
            fails [UnknownThread, NotOwner, StoreFailed];
    }

    source "docs/spec/boundaries.md#signals" {
        /// Reports an observation that may be a boundary.
        request SignalReport = "rawr/signal/report" (SignalReportParams) -> SignalReportResult,
            fails [UnknownThread, NotOwner, StoreFailed];
    }

    source "docs/spec/sequence.md#messages-that-wait" {
        /// Asks whether the host may have a user's input now.
        request InputSubmit = "rawr/input/submit" (InputSubmitParams) -> InputSubmitResult,
            fails [UnknownThread, NotOwner, StoreFailed];
        /// Lists the inputs that are held.
        request InputQueued = "rawr/input/queued" (InputQueuedParams) -> InputQueuedResult,
            fails [UnknownThread, StoreFailed];
        /// Cancels a held input.
        request InputCancel = "rawr/input/cancel" (InputCancelParams) -> InputCancelResult,
            fails [UnknownThread, StoreFailed];
    }

    source "docs/spec/clients.md#actions" {
        /// Asks the thread's owner to perform an action.
        notification(from server) ActionPerform = "rawr/action/perform" (ActionPerformNotification);
        /// Reports how far an action has come.
        request ActionReport = "rawr/action/report" (ActionReportParams) -> Empty,
            fails [UnknownThread, NotOwner, UnknownAction, StoreFailed];
    }

    source "docs/spec/judgment.md" {
        /// Asks the judge about a given situation.
        request JudgmentEvaluate = "rawr/judgment/evaluate" (JudgmentEvaluateParams) -> JudgmentEvaluateResult,
            fails [UnknownThread, JudgmentUnavailable, NotNow];
        /// Reports that the judge was asked.
        notification(from server) JudgmentRequested = "rawr/judgment/requested" (JudgmentRequestedNotification);
        /// Reports the judge's answer.
        notification(from server) JudgmentResult = "rawr/judgment/result" (JudgmentResultNotification);
        /// Gives the host's answer to a judge action.
        request JudgmentAnswer = "rawr/judgment/answer" (JudgmentAnswerParams) -> JudgmentAnswerResult,
            fails [UnknownThread, NotOwner, StoreFailed];
    }

    source "docs/spec/packet.md; docs/spec/handoff.md" {
        /// Builds a packet from structured state.
        request PacketBuild = "rawr/packet/build" (PacketBuildParams) -> PacketBuildResult,
            fails [UnknownThread, StoreFailed];
        /// Checks a packet.
        request PacketCheck = "rawr/packet/check" (PacketCheckParams) -> PacketCheckResult, fails [UnknownThread];
        /// Gives the packet that a sequence waits for.
        request PacketSubmit = "rawr/packet/submit" (PacketSubmitParams) -> PacketSubmitResult,
            fails [UnknownThread, NoSequence, NotNow, StoreFailed];
        /// Gives the packet of a sequence.
        request PacketGet = "rawr/packet/get" (PacketGetParams) -> PacketGetResult,
            fails [UnknownThread, NoSequence, StoreFailed];
        /// Reports that a packet was taken, edited, or is outdated.
        notification(from server) PacketChanged = "rawr/packet/changed" (PacketChangedNotification);
        /// Builds the message that would give a packet back.
        request HandoffBuild = "rawr/handoff/build" (HandoffBuildParams) -> HandoffBuildResult,
            fails [UnknownThread];
    }

    source "docs/spec/scratch-notes.md" {
        /// Gives the path of the agent's notes.
        request ScratchPath = "rawr/scratch/path" (ScratchPathParams) -> ScratchPathResult, fails [UnknownThread];
        /// Adds to the agent's notes.
        request ScratchAppend = "rawr/scratch/append" (ScratchAppendParams) -> ScratchAppendResult,
            fails [UnknownThread, StoreFailed];
        /// Gives the agent's notes.
        request ScratchRead = "rawr/scratch/read" (ScratchReadParams) -> ScratchReadResult,
            fails [UnknownThread, StoreFailed];
        /// Lists all agents' notes in the thread's working directory.
        request ScratchList = "rawr/scratch/list" (ScratchListParams) -> ScratchListResult,
            fails [UnknownThread, StoreFailed];
        /// Reports that an agent's notes were written.
        notification(from server) ScratchChanged = "rawr/scratch/changed" (ScratchChangedNotification);
    }

    source "docs/spec/prompts.md#files" {
        /// Lists the prompts in force.
        request PromptList = "rawr/prompt/list" (PromptListParams) -> PromptListResult;
        /// Gives one prompt in full.
        request PromptGet = "rawr/prompt/get" (PromptGetParams) -> PromptGetResult, fails [UnknownName];
        /// Fills the placeholders of a prompt in force.
        request PromptRender = "rawr/prompt/render" (PromptRenderParams) -> PromptRenderResult,
            fails [UnknownName, UnknownThread];
        /// Shows how a text that is not saved yet would be sent.
        request PromptPreview = "rawr/prompt/preview" (PromptPreviewParams) -> PromptPreviewResult,
            fails [UnknownName, UnknownThread];
        /// Reports that a prompt file was edited.
        notification(from server) PromptChanged = "rawr/prompt/changed" (PromptChangedNotification);
        /// Sends the rendered text of a prompt that is being edited, to a client that cannot refresh `rawr://` texts.
        notification(from server) PromptPreviewChanged = "rawr/prompt/previewChanged"
            (PromptPreviewChangedNotification);
    }

    source "docs/spec/decisions.md#the-record-of-a-decision" {
        /// Gives a decision with every gate: why, or why not.
        request DecisionExplain = "rawr/decision/explain" (DecisionExplainParams) -> DecisionExplainResult,
            fails [UnknownThread, UnknownName, StoreFailed];
        /// Lists past decisions.
        request DecisionList = "rawr/decision/list" (DecisionListParams) -> DecisionListResult,
            fails [UnknownThread, StoreFailed];
        /// Reports that a decision was stored.
        notification(from server) DecisionRecorded = "rawr/decision/recorded" (DecisionRecordedNotification);
    }

    source "docs/spec/clients.md#guards-and-answers" {
        /// Forbids compaction until something happens.
        request GuardSet = "rawr/guard/set" (GuardSetParams) -> GuardSetResult, fails [UnknownThread, StoreFailed];
        /// Ends a guard early.
        request GuardClear = "rawr/guard/clear" (GuardClearParams) -> GuardClearResult,
            fails [UnknownThread, StoreFailed];
        /// Lists active guards.
        request GuardList = "rawr/guard/list" (GuardListParams) -> GuardListResult,
            fails [UnknownThread, StoreFailed];
    }

    source "docs/spec/boundaries.md#structured-state" {
        /// Lists the instructions that survive a compaction word for word.
        request DirectiveList = "rawr/directive/list" (DirectiveListParams) -> DirectiveListResult,
            fails [UnknownThread, StoreFailed];
        /// Ends an instruction.
        request DirectiveClear = "rawr/directive/clear" (DirectiveClearParams) -> DirectiveClearResult,
            fails [UnknownThread, StoreFailed];
    }

    source "docs/spec/clients.md#guards-and-answers; docs/spec/sequence.md#heads-up" {
        /// Gives a person's answer to the banner.
        request SequenceRespond = "rawr/sequence/respond" (SequenceRespondParams) -> SequenceRespondResult,
            fails [UnknownThread, NoSequence, NotNow, StoreFailed];
        /// Shows the banner.
        notification(from server) SequenceHeadsUp = "rawr/sequence/headsUp" (SequenceHeadsUpNotification);
        /// Reports that a person answered at another client.
        notification(from server) SequenceResponded = "rawr/sequence/responded" (SequenceRespondedNotification);
    }

    source "docs/spec/hosts.md" {
        /// Rewrites a history for a host that cannot.
        request CompactionRewrite = "rawr/compaction/rewrite" (CompactionRewriteParams) -> CompactionRewriteResult;
        /// Reports the progress of a compaction, started by anyone.
        request CompactionReport = "rawr/compaction/report" (CompactionReportParams) -> Empty,
            fails [UnknownThread, NotOwner, UnknownAction, StoreFailed];
        /// Reports that a compaction began or ended.
        notification(from server) CompactionUpdate = "rawr/compaction/update" (CompactionUpdateNotification);
    }

    source "docs/spec/recovery.md#capsules" {
        /// Lists the capsules of a thread, from which a conversation can be restored.
        request CapsuleList = "rawr/capsule/list" (CapsuleListParams) -> CapsuleListResult,
            fails [UnknownThread, StoreFailed];
        /// Gives a capsule.
        request CapsuleGet = "rawr/capsule/get" (CapsuleGetParams) -> CapsuleGetResult,
            fails [UnknownThread, UnknownName, StoreFailed];
        /// Stores the history of a host that has no transcript.
        request CapsuleAttach = "rawr/capsule/attach" (CapsuleAttachParams) -> CapsuleAttachResult,
            fails [UnknownThread, NotOwner, UnknownName, StoreFailed];
        /// Searches what was said.
        request RecallSearch = "rawr/recall/search" (RecallSearchParams) -> RecallSearchResult,
            fails [UnknownThread, StoreFailed];
    }

    source "docs/spec/clients.md#long-requests" {
        /// Replays recorded sessions: when would these configurations have compacted?
        request ReplayRun = "rawr/replay/run" (ReplayRunParams) -> ReplayRunResult;
    }

    source "docs/spec/clients.md#configuration-files" {
        /// Gives the configuration in force.
        request ConfigGet = "rawr/config/get" (ConfigGetParams) -> ConfigGetResult, fails [UnknownThread];
        /// Reports that a configuration file was edited.
        notification(from server) ConfigChanged = "rawr/config/changed" (ConfigChangedNotification);
    }

    source "docs/spec/clients.md" {
        /// Counts the tokens of a text.
        request TokensCount = "rawr/tokens/count" (TokensCountParams) -> TokensCountResult;
    }
}
