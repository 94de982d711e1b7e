//! One sample or more of every payload, as it is on the wire. Data only.

use rawr_protocol::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// A payload on the wire, and how its type reads and writes it.
pub struct Sample {
    pub name: &'static str,
    pub wire: Value,
    pub round_trip: fn(&Value) -> Result<Value, serde_json::Error>,
}

fn round_trip<T: Serialize + DeserializeOwned>(wire: &Value) -> Result<Value, serde_json::Error> {
    serde_json::to_value(read_params::<T>(Some(&wire.to_string()))?)
}

macro_rules! samples {
    ($($type:ident $wire:tt)+) => {
        vec![$(Sample { name: stringify!($type), wire: json!($wire), round_trip: round_trip::<$type> }),+]
    };
}

pub fn all() -> Vec<Sample> {
    let session = [lifecycle(), observed(), signals(), asked(), actions(), decided()];
    let stored = [written(), files(), kept(), replayed()];
    session.into_iter().chain(stored).flatten().collect()
}

fn lifecycle() -> Vec<Sample> {
    samples! {
        InitializeParams {
            "processId": 4711, "clientInfo": { "name": "Neovim", "version": "0.11.4" },
            "capabilities": { "general": { "positionEncodings": ["utf-8", "utf-16"] } },
            "workspaceFolders": [{ "uri": "file:///w", "name": "w" }], "rootUri": "file:///w", "trace": "off",
            "initializationOptions": { "home": "/h", "configFile": "/h/rawr.toml", "promptDir": "/h/p",
                "config": { "rawr_auto_compaction": { "mode": "ask" } } },
        }
        InitializeResult {
            "capabilities": { "positionEncoding": "utf-16", "experimental": { "rawr": { "protocolVersion": 1 } } },
            "serverInfo": { "name": "rawr", "version": "0.1.0" },
        }
        Empty {}
        CancelParams { "id": 7 }
        CancelParams { "id": "a7" }
        LogTraceParams { "message": "shutdown (3) took 0.1 ms", "verbose": "thread t1" }
        SetTraceParams { "value": "verbose" }
        ProgressParams { "token": "r1", "value": { "kind": "begin", "title": "Replaying", "cancellable": true,
            "percentage": 0 } }
        ProgressParams { "token": 7, "value": { "kind": "report", "message": "1 of 2 sessions", "percentage": 50 } }
        ProgressParams { "token": 7, "value": { "kind": "end" } }
        LogMessageParams { "type": 2, "message": "config.toml has problems" }
    }
}

fn observed() -> Vec<Sample> {
    samples! {
        ThreadOpenParams {
            "threadId": "t1", "cwd": "/w", "role": "owner",
            "host": { "name": "codex", "version": "0.99.0", "capabilities": { "injectTurn": true, "steer": true,
                "sample": false, "queue": false, "compact": true, "compactByPerson": false, "midTurnCompact": false, "injectItems": true,
                "judge": true, "cacheSeconds": 300 } },
            "model": "gpt-5.2-codex", "contextWindow": 272_000, "compactsAboveTokens": 257_600, "baselineTokens": 12_000,
            "sessionSource": { "kind": "user" }, "transcript": { "path": "/c/sessions/rollout-t1.jsonl" },
            "beganAtMs": 1_795_873_351_705_u64, "runningTurn": "u1",
        }
        ThreadOpenParams {
            "threadId": "t2", "cwd": "/w", "role": "observer", "baselineTokens": 0,
            "host": { "name": "x", "capabilities": { "injectTurn": false, "steer": false, "sample": false,
                "queue": false, "compact": false, "compactByPerson": true, "midTurnCompact": false, "injectItems": false, "judge": false } },
            "sessionSource": { "kind": "subagent", "name": "reviewer" },
        }
        ThreadOpenParams {
            "threadId": "t3", "cwd": "/w", "role": "owner", "contextWindow": 1_000_000, "contextWindowAssumed": true,
            "host": { "name": "claude", "capabilities": { "injectTurn": true, "steer": false, "sample": false,
                "queue": false, "compact": true, "compactByPerson": false, "midTurnCompact": false, "injectItems": false, "judge": false } },
            "baselineTokens": 0,
        }
        ThreadOpenResult {
            "threadId": "t1", "phase": "awaiting_packet", "scratchFile": ".scratch/agent-ada.scratch.md",
            "percentRemaining": 61, "owner": true, "heldBefore": { "inputId": "i1", "text": "Now the docs." },
            "pendingActions": [{ "actionId": "a1", "sequenceId": "s1", "kind": "inject_turn",
                "purpose": "packet_request", "text": "Write it. [rawr:s1:packet_request]",
                "marker": "[rawr:s1:packet_request]", "viaSteer": false }],
        }
        ThreadCloseParams { "threadId": "t1" }
        ThreadListParams {}
        ThreadListResult {
            "threads": [{ "threadId": "t1", "cwd": "/w", "phase": "idle", "tier": "ready", "percentRemaining": 70,
                "updatedAtMs": 1_790_000_000_000_i64, "open": true, "running": true, "owner": "cli for codex (process 7)" }],
        }
        ThreadWatchParams {}
        ThreadWatchParams { "threadId": "t1" }
        ThreadWatchParams { "workspaceFolder": "/w" }
        ThreadWatchResult {
            "threads": [{ "threadId": "t1", "cwd": "/w", "phase": "compacting", "tier": "asap", "percentRemaining": 40,
                "updatedAtMs": 1_790_000_000_000_i64, "open": false, "running": true, "owner": "cli for codex (process 7)" }],
        }
        ThreadUnwatchParams { "workspaceFolder": "/w" }
        ThreadUnwatchParams { "threadId": "t1" }
        ThreadGetParams { "threadId": "t1" }
        ThreadGetResult {
            "thread": { "threadId": "t1", "cwd": "/w", "phase": "deferred", "updatedAtMs": 1, "open": false, "running": false },
            "plan": [{ "step": "read", "status": "completed" }, { "step": "write", "status": "in_progress" }],
            "guards": [{ "guardId": "g1", "until": { "kind": "tests_pass" }, "setAtMs": 2 }],
            "directives": [{ "directiveId": "p1", "text": "Never touch main.", "pinned": true, "givenAtMs": 2 }],
            "boundaries": [{ "boundary": "commit", "turnId": "u1", "spentBy": "s1", "label": "research" }],
            "lastCompaction": { "atMs": 3, "origin": "user", "sequenceId": "s0", "trigger": { "kind": "user" },
                "tokensBefore": 9, "tokensAfter": 4 },
            "pendingActions": [{ "actionId": "a1", "sequenceId": "s1", "kind": "sample_packet", "prompt": "p" }],
            "heldInputs": [{ "inputId": "i1", "text": "next" }], "sequenceId": "s1",
            "preCompactRequests": [
                { "purpose": "scratch_write", "author": "agent", "state": "failed", "actionId": "s1.1", "result": "busy" },
                { "purpose": "packet_request", "author": "watcher", "state": "queued" },
            ],
            "compactionAskedFor": true, "turnRunning": true,
            "judgments": { "calls": 3, "failures": 1, "inputTokens": 900, "outputTokens": 60,
                "rateLimits": [{ "name": "x-ratelimit-remaining-requests", "value": "59" }] },
        }
        ThreadChangedNotification {
            "threadId": "t1", "phase": "compacting", "tier": "asap", "percentRemaining": 40, "sequenceId": "s1",
            "guards": [{ "guardId": "g1", "until": { "kind": "turns", "turns": 3 }, "note": "mid-refactor",
                "setAtMs": 5, "setBy": "Neovim" }],
            "lastCompaction": { "atMs": 3, "origin": "host" },
            "headsUp": { "sequenceId": "s1", "stage": "will_compact", "title": "t", "reason": "r", "message": "m",
                "tier": "asap", "percentRemaining": 40, "boundaries": ["commit"],
                "progress": { "step": 3, "of": 4, "label": "compacting" },
                "choices": [{ "choice": "snooze", "label": "Not now" }], "deadlineAtMs": 9,
                "deadlineLabel": "Continues in" },
        }
        ThreadListChangedNotification {
            "threads": [{ "threadId": "t1", "cwd": "/w", "phase": "idle", "updatedAtMs": 1, "open": false, "running": false,
                "owner": "cli for codex (process 7)" }],
            "gone": ["t2"],
        }
        TurnStartedParams {
            "threadId": "t1", "turnId": "u1", "origin": "synthetic", "actionId": "a1", "text": "[rawr:s1:heads_up]",
        }
        TurnUsageParams {
            "threadId": "t1", "turnId": "u1", "contextWindow": 272_000, "compactsAboveTokens": 257_600, "model": "gpt-5.5", "needsFollowUp": true,
            "lastAgentMessage": "m",
            "usage": { "contextTokens": 150_000, "inputTokens": 140_000, "cachedInputTokens": 130_000,
                "outputTokens": 9_000, "reasoningTokens": 1_000, "cacheSeconds": 3_600 },
        }
        TurnUsageParams { "threadId": "t1", "turnId": "u1" }
        TurnUsageResult { "verdict": { "decisionId": "d1", "outcome": "nothing", "reason": "early has no boundary" } }
        TurnUsageResult {}
        TurnCompletedParams {
            "threadId": "t1", "turnId": "u1", "status": "failed", "lastAgentMessage": "m",
            "failure": { "kind": "context_full", "requestTokens": 210_000, "contextWindow": 200_000 },
            "usage": { "contextTokens": 150_000 }, "queuedInputs": 1, "reviewMode": false,
        }
        TurnCompletedResult {
            "verdict": { "decisionId": "d1", "outcome": "compact", "tier": "ready", "percentRemaining": 70,
                "reason": "a commit ended a phase", "sequenceId": "s1" },
        }
        InputSubmitParams { "threadId": "t1", "inputId": "i1", "text": "go on", "kind": "local_command" }
        InputSubmitResult { "disposition": "held" }
        InputQueuedParams { "threadId": "t1" }
        InputQueuedResult { "inputIds": ["i1", "i2"] }
        InputCancelParams { "threadId": "t1", "inputId": "i1" }
        InputCancelResult { "cancelled": true }
        CompactionReportParams {
            "threadId": "t1", "status": "completed", "origin": "rawr", "actionId": "a2", "tokensBefore": 150_000,
            "tokensAfter": 21_000, "error": "none",
        }
    }
}

fn signals() -> Vec<Sample> {
    samples! {
        SignalReportParams {
            "threadId": "t1", "turnId": "u1", "signalId": "u1 c1",
            "signal": { "kind": "plan_updated", "explanation": "done reading",
                "steps": [{ "step": "read", "status": "completed" }, { "step": "write", "status": "pending" }] },
        }
        SignalReportParams {
            "threadId": "t1",
            "signal": { "kind": "command_finished", "command": "git commit -m x", "exitCode": 0, "cwd": "/w" },
        }
        SignalReportParams {
            "threadId": "t1",
            "signal": { "kind": "command_finished", "command": ["git", "commit", "-m", "x"], "exitCode": -1 },
        }
        SignalReportParams { "threadId": "t1", "signal": { "kind": "commit", "hash": "9fceb02", "subject": "Fix" } }
        SignalReportParams {
            "threadId": "t1", "signal": { "kind": "pr_checkpoint", "action": "opened", "url": "https://x/1" },
        }
        SignalReportParams { "threadId": "t1", "signal": { "kind": "branch_changed", "branch": "feature" } }
        SignalReportParams { "threadId": "t1", "signal": { "kind": "tool_started", "callId": "c1", "name": "shell" } }
        SignalReportParams { "threadId": "t1", "signal": { "kind": "tool_finished", "callId": "c1" } }
        SignalReportParams { "threadId": "t1", "signal": { "kind": "phase_boundary", "label": "research" } }
        SignalReportParams { "threadId": "t1", "turnId": "u1", "signal": { "kind": "user_message", "text": "and the docs" } }
        SignalReportParams {
            "threadId": "t1", "signal": { "kind": "directive", "text": "Never touch main.", "pinned": true },
        }
        SignalReportResult { "boundaries": ["plan_checkpoint", "plan_update"] }
    }
}

fn asked() -> Vec<Sample> {
    samples! {
        JudgmentEvaluateParams {
            "threadId": "t1", "requestId": "j1", "tier": "early", "percentRemaining": 80,
            "boundariesPresent": ["commit", "topic_shift"], "lastAgentMessage": "m", "transcriptExcerpt": "x",
        }
        JudgmentEvaluateResult {
            "requestId": "j1", "tier": "early", "shouldCompact": false, "reason": "mid-refactor", "source": "host",
        }
        JudgmentAnswerParams { "threadId": "t1", "requestId": "j1", "shouldCompact": true, "reason": "phase over" }
        JudgmentRequestedNotification { "threadId": "t", "requestId": "j-d1", "tier": "ready" }
        JudgmentResultNotification {
            "threadId": "t", "requestId": "j-d1", "tier": "ready", "source": "chat", "shouldCompact": true,
            "reason": "the tests pass",
        }
        JudgmentAnswerResult { "accepted": true }
        PacketBuildParams { "threadId": "t1", "author": "watcher" }
        PacketBuildResult {
            "packet": "# State", "author": "watcher",
            "checked": { "ok": false, "missing": ["next step"], "missingFacts": ["branch: main"], "tokens": 3, "redactions": 1 },
        }
        PacketCheckParams { "threadId": "t1", "packet": "# State" }
        PacketCheckResult { "checked": { "ok": true, "missing": [], "missingFacts": [], "tokens": 3, "redactions": 0 } }
        PacketSubmitParams { "threadId": "t1", "sequenceId": "s1", "packet": "# State" }
        PacketSubmitResult {
            "checked": { "ok": true, "missing": [], "missingFacts": [], "tokens": 3, "redactions": 0 }, "phase": "compacting",
        }
        PacketGetParams { "threadId": "t1", "sequenceId": "s1" }
        PacketGetResult {
            "packet": "# State", "author": "person", "sequenceId": "s1", "resumeState": "waiting_for_user",
            "checked": { "ok": true, "missing": [], "missingFacts": [], "tokens": 3, "redactions": 0 },
        }
        PacketChangedNotification {
            "threadId": "t1", "sequenceId": "s1", "change": "edited", "author": "person", "by": "nvim",
        }
        HandoffBuildParams { "threadId": "t1", "packet": "# State" }
        HandoffBuildResult { "text": "Your packet: … [rawr:s1:handoff]", "marker": "[rawr:s1:handoff]" }
        SequenceRespondParams {
            "threadId": "t1", "choice": "edit_packet", "sequenceId": "s1", "turns": 2, "minutes": 10, "packet": "p",
        }
        SequenceRespondResult { "phase": "awaiting_heads_up", "choice": "approve" }
        SequenceRespondedNotification { "threadId": "t1", "sequenceId": "s1", "choice": "snooze", "by": "nvim" }
        SequenceRespondedNotification { "threadId": "t1", "choice": "compact_now" }
        GuardSetParams { "threadId": "t1", "until": { "kind": "minutes", "minutes": 30 }, "note": "release" }
        GuardSetParams { "threadId": "t1", "until": { "kind": "next_commit" } }
        GuardSetResult { "guardId": "g1" }
        GuardClearParams { "threadId": "t1", "guardId": "g1" }
        GuardClearResult { "cleared": 1 }
        GuardListParams { "threadId": "t1" }
        GuardListResult { "guards": [{ "guardId": "g1", "until": { "kind": "released" }, "setAtMs": 5 }] }
        DirectiveListParams { "threadId": "t1" }
        DirectiveListResult {
            "directives": [{ "directiveId": "p1", "text": "Use tabs.", "pinned": false, "givenAtMs": 5, "by": "Neovim" }],
        }
        DirectiveClearParams { "threadId": "t1", "directiveId": "p1" }
        DirectiveClearResult { "cleared": true }
        TokensCountParams { "text": "hello", "encoding": "o200k_base", "model": "gpt-5" }
        TokensCountResult { "tokens": 2, "method": "bytes/4" }
    }
}

fn actions() -> Vec<Sample> {
    samples! {
        StoreFailedNotification {
            "threadId": "t", "error": "cannot write events.jsonl: no space left", "heldInputs": ["i1", "i2"]
        }
        StoreRecoveredNotification { "threadId": "t" }
        ActionPerformNotification {
            "threadId": "t1", "sequenceId": "s1", "actionId": "a1",
            "action": { "kind": "inject_turn", "purpose": "heads_up", "text": "Soon. [rawr:s1:heads_up]",
                "marker": "[rawr:s1:heads_up]", "viaSteer": true },
        }
        ActionPerformNotification {
            "threadId": "t1", "sequenceId": "s1", "actionId": "a2",
            "action": { "kind": "compact", "model": "gpt-5.2", "reasoningEffort": "high", "verbosity": "low",
                "trigger": { "kind": "rawr", "entrance": "mid_turn", "tier": "emergency", "percentRemaining": 9,
                    "boundaries": ["commit"], "packetAuthor": "agent", "sequenceId": "s1" } },
        }
        ActionPerformNotification {
            "threadId": "t1", "sequenceId": "s1", "actionId": "a2",
            "action": { "kind": "compact", "trigger": { "kind": "inline", "percentRemaining": 14 } },
        }
        ActionPerformNotification {
            "threadId": "t1", "sequenceId": "s1", "actionId": "a3",
            "action": { "kind": "deliver_input", "inputId": "i1",
                "items": [{ "role": "handoff", "text": "h" }, { "role": "input", "text": "go on" }] },
        }
        ActionPerformNotification {
            "threadId": "t1", "sequenceId": "s1", "actionId": "a4",
            "action": { "kind": "judge", "requestId": "j1", "instructions": "i", "context": "c",
                "outputSchema": { "type": "object", "required": ["should_compact", "reason"] } },
        }
        ActionPerformNotification {
            "threadId": "t1", "sequenceId": "s1", "actionId": "a5",
            "action": { "kind": "sample_packet", "prompt": "Write it." },
        }
        ActionReportParams {
            "threadId": "t1", "actionId": "a1", "status": "failed", "turnId": "u2", "text": "x", "error": "busy",
        }
    }
}

fn decided() -> Vec<Sample> {
    samples! {
        Decision {
            "decisionId": "d1", "outcome": "compact", "tier": "ready", "percentRemaining": 70, "reason": "r",
            "sequenceId": "s1", "atMs": 7, "entrance": "turn_complete",
            "trigger": { "kind": "rawr", "entrance": "turn_complete", "tier": "ready", "percentRemaining": 70,
                "boundaries": ["commit"], "packetAuthor": "watcher", "sequenceId": "s1" },
            "gates": [{ "gate": "feature", "outcome": "pass", "evidence": "on" },
                { "gate": "guard", "outcome": "bypassed", "evidence": "g1" },
                { "gate": "mode", "outcome": "not_reached", "evidence": "" }],
            "wouldFireIf": ["a commit is made"],
            "judgment": { "requestId": "j-d1", "source": "host", "shouldCompact": true, "reason": "phase over" },
            "compaction": { "status": "completed", "tokensBefore": 9, "tokensAfter": 4, "packetAuthor": "agent",
                "packetAdded": ["Branch: main"] },
        }
        DecisionExplainParams { "threadId": "t1", "decisionId": "d1" }
        DecisionExplainResult {
            "decision": { "decisionId": "d1", "outcome": "nothing", "reason": "r", "atMs": 7, "entrance": "preflight",
                "trigger": { "kind": "host" }, "gates": [], "wouldFireIf": [] },
        }
        DecisionListParams { "threadId": "t1", "limit": 20, "before": "d9" }
        DecisionListResult {
            "decisions": [{ "decisionId": "d1", "outcome": "judge", "reason": "r", "atMs": 7, "entrance": "inline",
                "gates": [{ "gate": "pressure", "outcome": "fail", "evidence": "91% left" }], "wouldFireIf": [],
                "judgment": { "requestId": "j-d1", "source": "chat", "reason": "", "error": "timed out" },
                "compaction": { "status": "in_progress", "packetAdded": [] } }],
        }
        DecisionRecordedNotification {
            "threadId": "t1",
            "decision": { "decisionId": "d2", "outcome": "defer", "reason": "r", "atMs": 7, "entrance": "preflight",
                "confirm": "either", "proposalId": "d1", "gates": [], "wouldFireIf": [] },
        }
        SequenceHeadsUpNotification {
            "threadId": "t1", "sequenceId": "s1", "stage": "awaiting_approval", "title": "t", "message": "m",
            "tier": "asap", "percentRemaining": 50, "reason": "r", "boundaries": ["agent_done"], "packetAuthor": "agent",
            "choices": ["approve", "snooze", "cancel", "edit_packet", "compact_now"], "deadlineAtMs": 9,
        }
        CompactionUpdateNotification {
            "threadId": "t1", "sequenceId": "s1", "status": "in_progress", "origin": "rawr",
            "trigger": { "kind": "user" }, "tokensBefore": 9, "tokensAfter": 4, "error": "none",
        }
        ErrorData { "field": "guards.0", "threadId": "t1", "file": "/h/rawr.toml", "hint": "Open the thread first." }
    }
}

fn written() -> Vec<Sample> {
    samples! {
        CompactionRewriteParams {
            "items": [
                { "role": "system", "text": "s" }, { "role": "user", "text": "u", "id": "1" },
                { "role": "tool", "kind": "snapshot", "text": "" },
            ],
            "summary": "so far", "recentUserTokens": 20_000, "encoding": "o200k_base", "model": "gpt-5",
        }
        CompactionRewriteResult {
            "items": [{ "role": "user", "kind": "summary", "text": "a" }, { "role": "tool", "text": "t" }],
            "tokensBefore": 9, "tokensAfter": 4, "method": "o200k_base",
        }
        ScratchPathParams { "threadId": "t1" }
        ScratchPathResult { "scratchFile": ".scratch/a.md", "path": "/w/.scratch/a.md", "exists": false }
        ScratchAppendParams { "threadId": "t1", "text": "note" }
        ScratchAppendResult { "scratchFile": ".scratch/a.md", "bytes": 5, "redactions": 1 }
        ScratchReadParams { "threadId": "t1", "maxBytes": 4096 }
        ScratchReadResult { "scratchFile": ".scratch/a.md", "text": "note\n", "truncated": false, "redactions": 0 }
        ScratchListParams { "threadId": "t1" }
        ScratchChangedNotification {
            "threadId": "t1", "scratchFile": ".scratch/a.md", "path": "/w/.scratch/a.md", "exists": true, "bytes": 5, "by": "nvim",
        }
        ScratchListResult { "files": [{ "scratchFile": ".scratch/a.md", "bytes": 5, "modifiedAtMs": 3 }] }
    }
}

fn files() -> Vec<Sample> {
    samples! {
        PromptListParams {}
        PromptListResult {
            "prompts": [{ "name": "heads-up", "path": "/h/auto-compact/heads-up.md", "origin": "user", "version": "1f",
                "problems": [{ "code": "unknown-placeholder", "severity": "error", "message": "m" }] }],
        }
        PromptGetParams { "name": "heads-up" }
        PromptGetResult {
            "name": "auto-compact", "path": "/h/auto-compact/auto-compact.md", "origin": "shipped", "version": "1f",
            "text": "Write {scratchFile}", "frontMatter": { "version": 1 }, "placeholders": ["scratchFile"],
            "problems": [{ "code": "c", "severity": "hint", "message": "m", "file": "/h/x.md", "help": "h",
                "range": { "start": { "line": 0, "character": 4 }, "end": { "line": 0, "character": 9 } } }],
        }
        PromptRenderParams { "name": "heads-up", "threadId": "t1", "values": { "tier": "asap" } }
        PromptRenderResult { "text": "t", "problems": [] }
        PromptPreviewParams { "name": "heads-up", "text": "t", "threadId": "t1" }
        PromptPreviewResult { "text": "t", "tokens": 1, "problems": [] }
        PromptChangedNotification { "name": "heads-up", "version": "2a", "problems": [] }
        PromptPreviewChangedNotification {
            "name": "heads-up", "uri": "rawr://preview/heads-up", "text": "We compact now."
        }
        ConfigGetParams { "threadId": "t1" }
        ConfigGetResult {
            "effective": { "features": { "rawr_auto_compaction": true } }, "layers": ["/h/rawr.toml", "built-in"],
            "problems": [{ "code": "unknown-key", "severity": "warning", "message": "m" }],
        }
        ConfigChangedNotification { "problems": [], "effective": {} }
    }
}

fn kept() -> Vec<Sample> {
    samples! {
        CapsuleListParams { "threadId": "t1" }
        CapsuleListResult {
            "capsules": [{ "capsuleId": "s1", "threadId": "t1", "atMs": 7, "trigger": { "kind": "user" },
                "tokensBefore": 150_000, "packetAuthor": "agent", "hasHistory": true }],
            "unread": [{ "file": "/h/s2.json", "error": "format 9, this release reads up to 1" }],
        }
        CapsuleGetParams { "threadId": "t1", "capsuleId": "s1", "withHistory": true }
        CapsuleGetResult {
            "capsule": { "capsuleId": "s1", "threadId": "t1", "atMs": 7, "hasHistory": true,
                "trigger": { "kind": "inline", "percentRemaining": 9 }, "tokensBefore": 150_000, "packetAuthor": "person",
                "host": { "name": "codex", "version": "0.99.0" },
                "cwd": "/w", "model": "m", "contextWindow": 190_000, "lastTurnId": "u4", "insideTurnId": "u5",
                "transcript": { "path": "/c/sessions/rollout-t1.jsonl", "bytes": 4096 }, "turnsEnded": 4,
                "packet": { "author": "person", "resumeState": "working", "text": "Goal" },
                "scratch": { "scratchFile": ".scratch/agent-ada.scratch.md", "contentHash": "cbf29ce484222325",
                    "content": "" },
                "plan": [{ "step": "write", "status": "in_progress" }],
                "directives": [{ "directiveId": "p1", "text": "Never on main.", "pinned": true, "givenAtMs": 1 }],
                "workTree": { "branch": "main", "head": "abc", "dirty": 1, "files": ["a.txt"], "seenAtMs": 6 },
                "heldInputs": [{ "inputId": "i1", "text": "and the docs" }] },
            "history": [{ "kind": "user", "text": "write the parser" }],
            "workTreeNow": { "head": "def", "dirty": 0, "files": [] },
        }
        CapsuleAttachParams {
            "threadId": "t1", "capsuleId": "s1", "history": [{ "kind": "user", "text": "write the parser" }],
        }
        CapsuleAttachResult { "redactions": 2 }
        RecallSearchParams { "words": ["retry", "budget"], "threadId": "t1", "limit": 20 }
        RecallSearchResult {
            "places": [{ "threadId": "t1", "kind": "agent_message", "file": "/c/sessions/rollout-t1.jsonl", "line": 17,
                "atMs": 7, "snippet": "… the retry budget is three …" }],
            "more": 4, "unread": [{ "file": "/w/notes.md", "error": "permission denied" }],
        }
    }
}

fn replayed() -> Vec<Sample> {
    let tokens = json!({ "m": { "requests": 2, "input": 20, "cached": 130_000, "written": 7_000, "writtenForHour": 0,
        "output": 900 } });
    let sums = json!({ "sessions": 1, "turns": 4, "activeMs": 60_000, "proposals": 2, "confirmed": 1, "dropped": 1,
        "fires": 1, "firesInsideTurn": 0, "firesByTier": { "asap": 1 }, "firesByBoundary": { "agent_done": 1 },
        "vetoes": 0, "nearMisses": { "rearm": 1 }, "hostCompactions": 1, "hostCompactionsInsideTurn": 1,
        "hostCompactionsUnforeseen": 0, "personCompactions": 0, "filesReadAgain": 1,
        "tokens": tokens, "recordedTokens": tokens,
        "lines": { "lines": 32, "unknown": 0, "malformed": 1, "oversized": 0 } });
    let session = json!({ "session": "s", "cwd": "/w", "format": "claude", "model": "m", "window": 200_000,
        "spans": [1, 9], "activeMs": 8, "turns": 1,
        "lines": { "lines": 32, "unknown": 0, "malformed": 1, "oversized": 0 },
        "ended": [{ "turn": 1, "startedAt": 1, "endedAt": 8, "activeMs": 7, "ending": "completed", "requests": 2,
            "commands": 1, "failedCommands": 1, "filesReadAgain": 0, "tokensRead": 137_020,
            "tokens": 71_000, "percent": 65 }],
        "decisions": [
            { "at": 8, "turn": 1, "entrance": "turn_complete", "outcome": "defer", "tier": "ready", "percent": 65,
                "tokens": 71_000, "boundaries": ["agent_done"], "reason": "r", "proposes": true },
            { "at": 9, "turn": 1, "entrance": "preflight", "outcome": "nothing", "boundaries": [], "reason": "r",
                "drops": "the message goes on", "vetoed": true, "stoppedBy": "rearm" },
        ],
        "context": [{ "at": 2, "turn": 1, "percent": 80, "percentLeft": 79 }],
        "recorded": [{ "at": 9, "turn": 1, "by": "host", "tokensBefore": 90_000, "insideTurn": true }],
        "filesReadAgain": 0, "tokens": tokens, "recordedTokens": tokens, "refused": 0 });
    samples! {
        ReplayRunParams {}
        ReplayRunParams {
            "paths": ["/c/sessions"], "since": 1_790_000_000_000_i64, "model": "gpt", "order": "first", "window": 200_000,
            "configurations": [{ "kind": "own" }, { "kind": "file", "file": "/w/other.toml" },
                { "kind": "preset", "preset": "spec" }],
            "detail": "decisions", "workDoneToken": "r1",
        }
        ReplayRunResult {
            "configurations": ["your configuration"], "order": "second", "totals": [sums],
            "costs": [{ "cents": 85, "recordedCents": 85, "unpriced": ["n"] }],
            "files": [{ "file": "/c/a.jsonl", "reports": [session] },
                { "file": "/c/b.jsonl", "reports": [], "error": "permission denied" }],
            "others": [{ "file": "/c/c.jsonl",
                "lines": { "lines": 1, "unknown": 0, "malformed": 1, "oversized": 0 } }],
            "isStopped": false,
        }
    }
}
