---@meta rawr.protocol
--- Generated from protocol-schema/schema.json by `nvim -l editor-clients/neovim/spec/types.lua`. The payloads of the protocol.

--- What rawr asks a host to do.
---@class rawr.Action.inject_turn
---@field kind 'inject_turn'
---@field marker string A short part of the text that identifies the turn: `[rawr:<sequenceId>:<purpose>]`.
---@field purpose rawr.Purpose What the text is for.
---@field text string The whole text, marker included.
---@field viaSteer boolean Whether to add it to the running turn instead of starting one.

---@class rawr.Action.compact
---@field interrupt? boolean A running sampling request may be aborted (docs/spec/built-in-compaction.md#interruption).
---@field kind 'compact'
---@field local? boolean Compact without the provider, whose compaction freed too little (docs/spec/built-in-compaction.md#failures).
---@field model? string The model to compact with, if another than the thread's.
---@field packetOnly? boolean The packet takes the place of the host's summary: the host need not write one.
---@field reasoningEffort? string How hard that model is to think.
---@field trigger rawr.CompactionTrigger What led to it, for the host's own records.
---@field verbosity? string How much that model is to write.

---@class rawr.Action.deliver_input
---@field inputId string The input.
---@field items rawr.InputItem[] The messages, in order (docs/spec/sequence.md#messages-that-wait).
---@field kind 'deliver_input'

---@class rawr.Action.judge
---@field context string The user text.
---@field instructions string The system text.
---@field kind 'judge'
---@field outputSchema table<string, any> JSON Schema of the answer.
---@field requestId string The judgment's name, given back with the answer.

---@class rawr.Action.sample_packet
---@field ahead? boolean The compaction is only proposed: do not stop or delay anything for the answer.
---@field kind 'sample_packet'
---@field prompt string What to ask.

---@alias rawr.Action
---| rawr.Action.inject_turn # Give the agent a message of rawr.
---| rawr.Action.compact # Compact the history.
---| rawr.Action.deliver_input # Hand over an input that was held, in one turn of the items given.
---| rawr.Action.judge # Run a judgment outside the transcript; answered by `rawr/judgment/answer`.
---| rawr.Action.sample_packet # Sample a packet from the agent's context without a turn; its text comes with `rawr/action/report`.

--- `rawr/action/perform`: the owner is to perform an action, once however often it is asked (docs/spec/clients.md#actions).
---@class rawr.ActionPerformNotification
---@field action rawr.Action What to do.
---@field actionId string The action's id. It stays the same, even after a crash.
---@field sequenceId string The sequence that the action belongs to.
---@field threadId string The thread.

--- `rawr/action/report`: what became of an action.
---@class rawr.ActionReportParams
---@field actionId string The action.
---@field error? string Why it failed, for people.
---@field status rawr.ActionStatus What became of it.
---@field text? string What it yielded, such as a sampled packet.
---@field threadId string The thread.
---@field turnId? string The turn that it started.

--- What became of an action.
---@alias rawr.ActionStatus
---| 'accepted' # The host has it.
---| 'completed' # The action is done.
---| 'failed' # The action will not be done.

--- What a banner is about.
---@alias rawr.BannerStage
---| 'will_compact' # Compaction comes unless a person stops it.
---| 'awaiting_approval' # Compaction comes only if a person approves.
---| 'recommended' # Compaction is recommended (`mode = "suggest"`).
---| 'tagged' # Compaction would have come (`mode = "tag"`).
---| 'deferred' # Compaction comes before the next message (`turn_complete` is required).

--- A signal that a phase of work may have ended (docs/spec/boundaries.md#kinds).
---@alias rawr.Boundary
---| 'commit' # A commit was made.
---| 'pushed' # Commits were pushed.
---| 'merged' # A branch was merged.
---| 'branch_changed' # Another branch was checked out.
---| 'tests_green' # A check that failed before now passes.
---| 'phase_ended' # A person or a program ended a phase explicitly.
---| 'plan_checkpoint' # A step of the plan was completed.
---| 'plan_update' # The plan changed in another way; weak on its own.
---| 'pr_checkpoint' # A pull request was opened, updated, merged or the like.
---| 'agent_done' # The agent's last message says that it is done.
---| 'topic_shift' # The agent's last message moves on to another subject.
---| 'concluding_thought' # The agent's last message concludes.
---| 'turn_complete' # A turn ended; counts only where a policy names it.

--- A boundary that was seen, and what became of it.
---@class rawr.BoundaryMark
---@field boundary rawr.Boundary Which.
---@field by? string The client that ended the phase.
---@field label? string What a person or a program called the phase that ended here.
---@field spentBy? string The sequence that it started. After that it no longer counts (docs/spec/boundaries.md#identity).
---@field turnId? string The turn that it was seen in.

--- Compactions that are paused because the last ones failed or freed too little. An emergency and a person's own are never paused.
---@class rawr.BreakerHold
---@field endsWhen string What ends the pause, for people: to be read after "when".
---@field heldTier? rawr.Tier The most urgent tier that is paused, and every less urgent one with it; absent for the built-in compaction, which has no tiers.
---@field neededTier? rawr.Tier The tier that is needed now.
---@field reason string Why, for people: a sentence without its capital and its period.
---@field strikes integer How many compactions in a row did not help.
---@field untilMs? integer When one more is tried, Unix milliseconds; absent where only a compaction that helps ends the pause.

--- `$/cancelRequest`: the answer is no longer wanted; there will still be one.
---@class rawr.CancelParams
---@field id rawr.RequestId The request.

--- What is kept before a compaction, without what looks like a key or a token.
---@class rawr.Capsule
---@field atMs integer When, Unix milliseconds.
---@field capsuleId string The capsule's id: the sequence of the compaction, or an id of its own for a compaction that the host began.
---@field contextWindow? integer Size of the context window, in tokens.
---@field cwd string The thread's working directory, absolute.
---@field directives rawr.Directive[] User instructions that were in force.
---@field hasHistory boolean Whether it includes the host's history.
---@field heldInputs rawr.HeldInput[] User inputs that waited for the sequence, in order.
---@field host rawr.CapsuleHost The agent program that owned the transcript.
---@field insideTurnId? string The turn inside which the compaction came.
---@field lastTurnId? string The host's id of the last turn that had ended. The transcript up to and including it is what there was.
---@field model? string The model in use.
---@field packet? rawr.CapsulePacket The continuation packet.
---@field packetAuthor? rawr.PacketAuthor Who wrote the packet that is in it, if there was one.
---@field plan rawr.PlanStep[] The agent's plan.
---@field scratch? rawr.CapsuleScratch The agent's working notes, if there were any.
---@field threadId string The thread that it was taken of.
---@field tokensBefore? integer Tokens in the context at that time.
---@field transcript? rawr.TranscriptPosition Where the host keeps its transcript, and how long it was.
---@field trigger rawr.CompactionTrigger What led to the compaction.
---@field turnsEnded integer How many turns of the user or the host had ended.
---@field workTree? rawr.WorkTree The work tree, as it was last looked at before.

--- `rawr/capsule/attach`: a host without a transcript sends its history before it compacts.
---@class rawr.CapsuleAttachParams
---@field capsuleId string The capsule: the sequence of the compaction that was asked for.
---@field history table<string, any>[] The whole history in the host's own shape, oldest first.
---@field threadId string The thread.

--- Answer to `rawr/capsule/attach`.
---@class rawr.CapsuleAttachResult
---@field redactions integer How many secrets were removed before it was written.

--- `rawr/capsule/get`: everything in a capsule, and what the work tree looks like now.
---@class rawr.CapsuleGetParams
---@field capsuleId string The capsule.
---@field threadId string The thread.
---@field withHistory? boolean Whether to return the host's history as well, if there is one. It may be long.

--- Answer to `rawr/capsule/get`.
---@class rawr.CapsuleGetResult
---@field capsule rawr.Capsule What was kept.
---@field history table<string, any>[] The history in the host's own shape, oldest first; empty unless it was wanted and is there.
---@field workTreeNow? rawr.WorkTree The work tree as it is now; absent where there is none, or where looking is switched off.

--- The agent program that a capsule was taken of.
---@class rawr.CapsuleHost
---@field name string The program's name.
---@field version? string The program's version.

--- `rawr/capsule/list`: the capsules of a thread.
---@class rawr.CapsuleListParams
---@field threadId string The thread.

--- Answer to `rawr/capsule/list`.
---@class rawr.CapsuleListResult
---@field capsules rawr.CapsuleSummary[] Latest first; the latest 20 of a thread are kept.
---@field unread rawr.Unread[] Files among them that cannot be read.

--- A packet as a capsule keeps it.
---@class rawr.CapsulePacket
---@field author rawr.PacketAuthor Who wrote it.
---@field resumeState rawr.ResumeState What the agent was about to do.
---@field text string The packet.

--- Working notes as a capsule keeps them.
---@class rawr.CapsuleScratch
---@field content? string Their text; absent if it is long.
---@field contentHash string A hash to detect changes: FNV-1a of the notes, in 16 hexadecimal digits.
---@field scratchFile string The file, relative to the working directory, with forward slashes.

--- One capsule in short.
---@class rawr.CapsuleSummary
---@field atMs integer When, Unix milliseconds.
---@field capsuleId string The capsule's id: the sequence of the compaction, or an id of its own for a compaction that the host began.
---@field hasHistory boolean Whether it includes the host's history.
---@field packetAuthor? rawr.PacketAuthor Who wrote the packet that is in it, if there was one.
---@field threadId string The thread that it was taken of.
---@field tokensBefore? integer Tokens in the context at that time.
---@field trigger rawr.CompactionTrigger What led to the compaction.

--- What a person can answer.
---@alias rawr.Choice
---| 'compact_now' # Compact, whatever the gates say.
---| 'approve' # Go on.
---| 'snooze' # Not now.
---| 'cancel' # Not at all, this time.
---| 'edit_packet' # Go on with this packet.

--- A command, as the host knows it.
---@alias rawr.CommandLine string|string[]

--- Who started a compaction.
---@alias rawr.CompactionOrigin
---| 'rawr' # rawr.
---| 'host' # The host by itself.
---| 'user' # A person, by the host's own command.

--- A compaction that was proposed at the end of a turn and waits to be confirmed or dropped.
---@class rawr.CompactionProposal
---@field confirm rawr.Confirm What decides about it.
---@field decisionId string The decision that proposed it, for `rawr/decision/explain`.
---@field text string All of it in one sentence for people: "Compaction proposed (commit); your next message decides".

--- `rawr/compaction/report`: the progress of a compaction, started by anyone.
---@class rawr.CompactionReportParams
---@field actionId? string The action that asked for it, if one did.
---@field error? string Why it failed, for people.
---@field origin rawr.CompactionOrigin Who started it.
---@field status rawr.CompactionReportStatus The progress.
---@field threadId string The thread.
---@field tokensAfter? integer Tokens in the context after.
---@field tokensBefore? integer Tokens in the context before.

--- The progress of a compaction, as a host reports it.
---@alias rawr.CompactionReportStatus
---| 'started' # The compaction runs.
---| 'completed' # The history is rewritten.
---| 'failed' # The history is as it was.

--- `rawr/compaction/rewrite`: history in, history out, for hosts without their own (docs/spec/hosts.md#rewriting-a-history). What stays, in this order: the initial context; the newest user messages; the summary; the snapshots.
---@class rawr.CompactionRewriteParams
---@field encoding? string The encoding to count by, as in `rawr/tokens/count`.
---@field items rawr.HistoryItem[] The whole history, in order; every item counts, so none is skipped in reading.
---@field model? string The model whose encoding to count by, as in `rawr/tokens/count`.
---@field recentUserTokens? integer How many tokens of the latest user messages stay word for word; 20,000 if absent. The message that crosses the limit loses its middle, and a mark that is not counted says how much that was. What rawr injected, known by its marker, is no user message and goes.
---@field summary string The summary that takes the history's place, without its prefix. A blank one is refused.

--- Answer to `rawr/compaction/rewrite`.
---@class rawr.CompactionRewriteResult
---@field items rawr.HistoryItem[] The new history, in order.
---@field method string How they were counted, as in the answer to `rawr/tokens/count`.
---@field tokensAfter integer Size of the new one, counted the same way.
---@field tokensBefore integer Size of the old one: its items' texts.

--- The progress of a compaction, as clients are told. The names are those of the Agent Client Protocol.
---@alias rawr.CompactionStatus
---| 'in_progress' # The compaction runs.
---| 'completed' # The history is rewritten.
---| 'failed' # The history is as it was.
---| 'cancelled' # The compaction was stopped before the history was changed.

--- What led to a compaction: recorded before it, attached to it after (docs/spec/sequence.md#audit-trail).
---@class rawr.CompactionTrigger.rawr
---@field boundaries rawr.Boundary[] The boundaries that counted.
---@field entrance rawr.Entrance The entrance that asked.
---@field kind 'rawr'
---@field packetAuthor rawr.PacketAuthor Who was to write the packet.
---@field percentRemaining integer Percent of the context window left.
---@field sequenceId string The sequence.
---@field tier rawr.Tier The tier that held.

---@class rawr.CompactionTrigger.inline
---@field kind 'inline'
---@field percentRemaining integer Percent of the context window left.

---@class rawr.CompactionTrigger.host
---@field kind 'host'

---@class rawr.CompactionTrigger.user
---@field kind 'user'

---@alias rawr.CompactionTrigger
---| rawr.CompactionTrigger.rawr # A decision of rawr.
---| rawr.CompactionTrigger.inline # Built-in inline compaction, used only when rawr is off (docs/spec/built-in-compaction.md).
---| rawr.CompactionTrigger.host # The host by itself.
---| rawr.CompactionTrigger.user # A person.

--- `rawr/compaction/update`: a compaction began or ended.
---@class rawr.CompactionUpdateNotification
---@field error? string Why it failed, for people.
---@field origin rawr.CompactionOrigin Who started it.
---@field sequenceId? string The sequence that it belongs to.
---@field status rawr.CompactionStatus The progress.
---@field threadId string The thread.
---@field tokensAfter? integer Tokens in the context after.
---@field tokensBefore? integer Tokens in the context before.
---@field trigger? rawr.CompactionTrigger What led to it.

--- `rawr/config/changed`: a configuration file was edited.
---@class rawr.ConfigChangedNotification
---@field effective table<string, any> Every key with the value in force, where no project and no model says otherwise. A file that cannot be read as a whole goes on to say what it said before.
---@field problems rawr.Problem[] What is wrong with the files, those of the projects of open threads among them.

--- `rawr/config/get`: the configuration in force.
---@class rawr.ConfigGetParams
---@field threadId? string The thread whose project's file counts too; none if absent.

--- Answer to `rawr/config/get`.
---@class rawr.ConfigGetResult
---@field effective table<string, any> Every key with the value in force, as in the file.
---@field layers string[] Where values came from, the strongest first: files as paths, others by name.
---@field problems rawr.Problem[] What is wrong with the files; the last good values stay in force (docs/spec/clients.md#configuration-files).

--- What decides about a compaction that was proposed at the end of a turn.
---@alias rawr.Confirm
---| 'message' # The next message: it confirms if it opens something new or closes the work, else it drops the proposal.
---| 'idle' # Silence confirms; a message that comes first drops the proposal.
---| 'either' # The next message or silence, whichever comes first.
---| 'turn_end' # The next message closed the work and confirmed. The compaction comes when the turn that carries it out has ended, unless that fails.

--- A verdict with everything that led to it. The same record explains "why" and "why not".
---@class rawr.Decision
---@field atMs integer When, Unix milliseconds.
---@field compaction? rawr.DecisionCompaction What came of the sequence that it started; absent until that has reached its compaction.
---@field confirm? rawr.Confirm For a proposal: what decides about it. Its outcome is `defer`.
---@field decisionId string The decision.
---@field entrance rawr.Entrance The entrance that asked.
---@field fate? rawr.DecisionFate What became of it; absent where nothing was to follow, and of old decisions.
---@field gates rawr.GateResult[] Every gate, in the order in which they run.
---@field judgment? rawr.DecisionJudgment The judge's part in it; absent where no judge was asked.
---@field outcome rawr.Outcome What was decided.
---@field percentRemaining? integer Percent of the context window left.
---@field preCompactRequests? rawr.PreCompactRequest[] What came of each; absent where no sequence followed, and of old decisions.
---@field proposalId? string The proposal that it confirms or drops.
---@field reason string Why, in one sentence for people.
---@field requests? rawr.Purpose[] What the agent is asked for before the compaction, in order.
---@field sequenceId? string The sequence that was started.
---@field tier? rawr.Tier The tier that held; absent above every tier, or while usage is unknown.
---@field trigger? rawr.CompactionTrigger What the compaction is recorded under; absent where none was in sight.
---@field wouldFireIf string[] What would have to change for a compaction, in sentences for people.

--- What came of a decision to compact.
---@class rawr.DecisionCompaction
---@field packetAdded string[] Facts that the packet's author had left out and the check put in, in sentences for people.
---@field packetAuthor? rawr.PacketAuthor Who wrote the packet that was handed over.
---@field status rawr.CompactionStatus How it went, or goes.
---@field tokensAfter? integer Tokens in the context after.
---@field tokensBefore? integer Tokens in the context before.

--- `rawr/decision/explain`: why, or why not?
---@class rawr.DecisionExplainParams
---@field decisionId? string The decision; the latest if absent.
---@field threadId string The thread.

--- Answer to `rawr/decision/explain`.
---@class rawr.DecisionExplainResult
---@field decision rawr.Decision The decision.

--- What became of a decision.
---@class rawr.DecisionFate
---@field atMs integer When that happened, Unix milliseconds.
---@field by? string Who called it off, for people.
---@field decisionId string The decision.
---@field overtakenBy? string The decision that replaced it.
---@field status rawr.FateStatus How far it came.
---@field text string All of it in a few words for people, without the time: "called off by Neovim (snoozed)".

--- A judge's part in a decision.
---@class rawr.DecisionJudgment
---@field error? string Why there is no answer, for people.
---@field reason string Why, in the judge's words; empty without an answer.
---@field requestId? string The question; absent for the heuristic.
---@field shouldCompact? boolean The answer; absent while it is waited for, or where none came that could be used.
---@field source rawr.JudgmentSource Who was asked.

--- `rawr/decision/list`: past decisions.
---@class rawr.DecisionListParams
---@field before? string Only decisions before this one, for the next page.
---@field limit? integer How many to return at most, the latest; all if absent.
---@field threadId string The thread.

--- Answer to `rawr/decision/list`.
---@class rawr.DecisionListResult
---@field decisions rawr.Decision[] Latest last: a page ends where the one that was read before it begins.

--- `rawr/decision/recorded`: a decision was written down.
---@class rawr.DecisionRecordedNotification
---@field decision rawr.Decision The decision.
---@field threadId string The thread.

--- A user instruction that must survive compaction word for word.
---@class rawr.Directive
---@field by? string Who gave it, for people; absent where it was found in a message.
---@field directiveId string The directive's name.
---@field givenAtMs integer When it was given, Unix milliseconds.
---@field pinned boolean Whether it never ages out; of the others, the newest 20 outlive a compaction.
---@field text string The instruction, unchanged.

--- `rawr/directive/clear`: an instruction holds no longer.
---@class rawr.DirectiveClearParams
---@field directiveId string The directive.
---@field threadId string The thread.

--- Answer to `rawr/directive/clear`.
---@class rawr.DirectiveClearResult
---@field cleared boolean Whether it was in force; what is over already needs no clearing.

--- `rawr/directive/list`: the instructions in force.
---@class rawr.DirectiveListParams
---@field threadId string The thread.

--- Answer to `rawr/directive/list`.
---@class rawr.DirectiveListResult
---@field directives rawr.Directive[] Oldest first.

--- What to do with an input.
---@alias rawr.Disposition
---| 'deliver' # Give it to the host.
---| 'held' # Keep it back: a `deliver_input` action will hand it over, once.

--- Nothing to say. Written as `{}`; whatever it is read from is ignored.
---@class rawr.Empty

--- The entrance of a decision (docs/spec/decisions.md#entrances).
---@alias rawr.Entrance
---| 'turn_complete' # A turn ended.
---| 'preflight' # A user input arrived while a compaction was deferred or proposed, or silence confirmed a proposal.
---| 'mid_turn' # Between two sampling requests of one turn.
---| 'inline' # Built-in inline compaction, used only when rawr is off.

--- Why a request failed.
---@alias rawr.ErrorCode
---| '-32700' # `parse_error`: the message is not JSON.
---| '-32600' # `invalid_request`: the message is not a request that can be served now.
---| '-32601' # `method_not_found`: there is no such method.
---| '-32602' # `invalid_params`: the params do not fit the method.
---| '-32603' # `internal_error`: the sidecar failed in a way that it should not.
---| '-32002' # `server_not_initialized`: the first request must be initialize.
---| '-32009' # `busy`: too many requests are in flight.
---| '-32800' # `request_cancelled`: the request was cancelled.
---| '-31001' # `unknown_thread`: no such thread is known here.
---| '-31002' # `not_owner`: only the thread's owner may do this.
---| '-31003' # `owned_elsewhere`: another sidecar owns the thread.
---| '-31004' # `store_failed`: the thread's files cannot be read or written.
---| '-31005' # `unknown_action`: no such action was asked for.
---| '-31006' # `no_sequence`: no such sequence is known here.
---| '-31007' # `unknown_name`: nothing has this name.
---| '-31008' # `judgment_unavailable`: no judge could be asked.
---| '-31009' # `not_now`: the thread's phase does not allow it.

--- The `data` of an error: what it is about, and what to do.
---@class rawr.ErrorData
---@field field? string The field of the params that is to blame, with dots between names.
---@field file? string The file that it is about, absolute.
---@field hint string What to do, as a sentence; empty if there is nothing to say.
---@field threadId? string The thread that it is about.

--- How far a decision came.
---@alias rawr.FateStatus
---| 'waiting' # Waits for a judge, for the next message, or to start.
---| 'running' # The decision's sequence runs.
---| 'carried_out' # The history was compacted and the packet handed back.
---| 'dropped' # Nothing came of it.
---| 'called_off' # A person stopped it.
---| 'failed' # The decision's sequence failed.
---| 'overtaken' # A later decision took its place.

--- A named check on the way to "compact now", in the order in which they run (docs/spec/decisions.md#gates).
---@alias rawr.Gate
---| 'feature' # The feature is on.
---| 'pressure' # The context is known and full enough for a tier.
---| 'origin' # The turn is the user's and no sequence runs.
---| 'mode_of_host' # The host is not in review mode or the like.
---| 'guard' # No guard is active.
---| 'breaker' # The last compactions helped.
---| 'rearm' # Enough was added since the last compaction.
---| 'cooldown' # Enough turns and time passed since the last compaction.
---| 'boundary' # A required and allowed boundary is present and unspent.
---| 'weak_boundary' # There is more than a bare plan update.
---| 'semantic_break' # A plan boundary comes with a semantic break.
---| 'active_work' # No tool runs and the turn finished.
---| 'packet_worth' # There is something to build a packet from.
---| 'confirmation' # The next message, or silence, confirms that a phase ended.
---| 'judgment' # The judge agrees.
---| 'mode' # The configured mode lets compaction go on by itself.

--- The result of a gate.
---@alias rawr.GateOutcome
---| 'pass' # The gate lets the decision through.
---| 'fail' # The gate stops it.
---| 'bypassed' # The gate would have stopped it, but an emergency or a person overrides it.
---| 'not_reached' # The gate was not evaluated.

--- What came of one gate.
---@class rawr.GateResult
---@field evidence string The facts that it went by, for people; empty if it was not reached.
---@field gate rawr.Gate Which gate.
---@field outcome rawr.GateOutcome What came of it.

--- One active guard.
---@class rawr.Guard
---@field guardId string The guard's name.
---@field note? string Why it was set, in the words of its author.
---@field setAtMs integer When it was set, Unix milliseconds.
---@field setBy? string Who set it, for people.
---@field until rawr.Until What ends it.

--- `rawr/guard/clear`: end a guard early.
---@class rawr.GuardClearParams
---@field guardId? string The guard; all of them if absent.
---@field threadId string The thread.

--- Answer to `rawr/guard/clear`.
---@class rawr.GuardClearResult
---@field cleared integer How many ended; 0 if the guard was over already.

--- `rawr/guard/list`: active guards.
---@class rawr.GuardListParams
---@field threadId string The thread.

--- Answer to `rawr/guard/list`.
---@class rawr.GuardListResult
---@field guards rawr.Guard[] Oldest first.

--- `rawr/guard/set`: no compaction until then, except in an emergency (docs/spec/clients.md#guards-and-answers).
---@class rawr.GuardSetParams
---@field note? string Why.
---@field threadId string The thread.
---@field until rawr.Until What ends it.

--- Answer to `rawr/guard/set`.
---@class rawr.GuardSetResult
---@field guardId string The new guard's name.

--- `rawr/handoff/build`: the message that would give this packet back.
---@class rawr.HandoffBuildParams
---@field packet string The packet.
---@field threadId string The thread.

--- Answer to `rawr/handoff/build`.
---@class rawr.HandoffBuildResult
---@field marker string The part that identifies it.
---@field text string The whole message, marker included.

--- The banner of a thread as it stands now: everything to draw, nothing to decide.
---@class rawr.HeadsUp
---@field boundaries rawr.Boundary[] The boundaries that counted.
---@field choices rawr.OfferedChoice[] What a person can answer now, the default first; empty once nothing can be stopped.
---@field deadlineAtMs? integer When the sequence goes on or is called off without an answer, Unix milliseconds; absent if it waits.
---@field deadlineLabel? string What happens at the deadline, to be followed by the time that is left: "Continues on its own in".
---@field message string What happens next, in a sentence or two for people.
---@field percentRemaining? integer Percent of the context window that was left when it came up.
---@field progress? rawr.HeadsUpProgress How far the sequence has come; absent before one runs.
---@field reason string Why, in one sentence for people.
---@field sequenceId string The sequence that runs, or that would; an answer names it.
---@field stage rawr.BannerStage What it is about.
---@field tier? rawr.Tier The tier that held; absent where a person asked for a compaction above every tier.
---@field title string The banner's title.

--- How far a sequence has come.
---@class rawr.HeadsUpProgress
---@field label string What runs now, for people.
---@field of integer How many steps there are.
---@field step integer The step that runs, from 1.

--- A user input that waited.
---@class rawr.HeldInput
---@field inputId string The host's name for it.
---@field text string What it said.

--- One item of a history.
---@class rawr.HistoryItem
---@field id? string The host's id of the item; kept, so that the host can find the item again.
---@field kind? rawr.HistoryKind What it is to a compaction; a message if absent. Without it, the system items before the first other message are the initial context, and a user message that begins with the prefix of summaries is a summary.
---@field role rawr.HistoryRole Who speaks.
---@field text string What.

--- What a history item is to a compaction.
---@alias rawr.HistoryKind
---| 'message' # What was said or done in the conversation.
---| 'initial_context' # What every conversation of this host begins with, in any role; kept.
---| 'snapshot' # A snapshot of the host's state; kept, after the summary.
---| 'summary' # The summary of an earlier compaction; replaced by the new one.

--- Who speaks in a history item.
---@alias rawr.HistoryRole
---| 'system' # Fixed instructions.
---| 'user' # The user, or rawr in an injected turn.
---| 'assistant' # The agent.
---| 'tool' # A tool's output.

--- The agent program that owns a transcript.
---@class rawr.Host
---@field capabilities? rawr.HostCapabilities What it can do; absent means nothing.
---@field name string The program's name, for people; nothing branches on it.
---@field version? string The program's version, for people.

--- What a host can do, probed by its client (docs/spec/clients.md#owner-and-observers). Absent means no.
---@class rawr.HostCapabilities
---@field cacheSeconds? integer For how many seconds its provider keeps a prompt cached at least, counted from the last request; absent where that is unknown.
---@field compact? boolean Compact its own history.
---@field compactByPerson? boolean Only a person can compact, once the packet is there.
---@field injectItems? boolean Put items into the history without a turn.
---@field injectTurn? boolean Start a turn with a text that rawr gives.
---@field judge? boolean Run a judgment with its own model and login.
---@field midTurnCompact? boolean Compact between two sampling requests of a turn.
---@field queue? boolean Hold user inputs back until told.
---@field queueAboveTokens? integer How many tokens the context must have for a compaction before an input that is held back; absent for any number.
---@field queueInPlace? boolean Keep an input that is held back where it was typed, and start no other turn before it. A packet is then sampled.
---@field sample? boolean Run one sampling request outside the transcript.
---@field steer? boolean Add a text to the running turn.

--- rawr's own part of `initialize`.
---@class rawr.InitializationOptions
---@field config? table<string, any> Configuration values that go before every file's, under the file's keys.
---@field configFile? string The configuration file, absolute; `rawr.toml` in the home folder if absent.
---@field home? string The home folder, absolute; docs/spec/recovery.md#files names the default.
---@field promptDir? string The prompt folder, absolute; `auto-compact` in the home folder if absent.

--- `initialize`: the first request, from any LSP client.
---@class rawr.InitializeParams
---@field capabilities? table<string, any> What the client can do, in LSP's words.
---@field clientInfo? rawr.PeerInfo The client, for the log; nothing branches on it.
---@field initializationOptions? rawr.InitializationOptions What only rawr reads.
---@field processId? integer The client's process; the sidecar ends when it does.
---@field rootUri? string The folder that is open, in the words of older clients.
---@field trace? rawr.Trace How much of its work the sidecar tells.
---@field workspaceFolders? rawr.WorkspaceFolder[] The folders that are open.

--- Answer to `initialize`.
---@class rawr.InitializeResult
---@field capabilities table<string, any> What the sidecar can do, in LSP's words; rawr's own under `experimental.rawr`.
---@field serverInfo rawr.PeerInfo The sidecar.

--- `rawr/input/cancel`: a person takes a held input back.
---@class rawr.InputCancelParams
---@field inputId string The input.
---@field threadId string The thread.

--- Answer to `rawr/input/cancel`.
---@class rawr.InputCancelResult
---@field cancelled boolean Whether it was still held; if not, it is delivered or on its way.

--- One item of a delivered input.
---@class rawr.InputItem
---@field role rawr.ItemRole Whose text it is.
---@field text string The text; a person's is unchanged.

--- What sort of input a person sent.
---@alias rawr.InputKind
---| 'message' # A message to the agent.
---| 'local_command' # A command that the host runs without the agent; never held.

--- `rawr/input/queued`: which inputs are held?
---@class rawr.InputQueuedParams
---@field threadId string The thread.

--- Answer to `rawr/input/queued`.
---@class rawr.InputQueuedResult
---@field inputIds string[] Ids of held inputs, in the order in which they will be delivered.

--- `rawr/input/submit`: a person sent something; may the host have it now? (docs/spec/sequence.md#messages-that-wait)
---@class rawr.InputSubmitParams
---@field inputId string The client's name for the input. The same id with the same text is a repeat, unless the host refused to take the message; with another text it is another message.
---@field kind rawr.InputKind What sort of input it is.
---@field text string The input, unchanged.
---@field threadId string The thread.

--- Answer to `rawr/input/submit`.
---@class rawr.InputSubmitResult
---@field disposition rawr.Disposition What to do with it.

--- Whose text an item is.
---@alias rawr.ItemRole
---| 'handoff' # rawr's: the packet and what to do with it.
---| 'notice' # rawr's: a compaction that was announced did not come.
---| 'input' # The person's.

--- `rawr/judgment/answer`: the host's answer to a `judge` action.
---@class rawr.JudgmentAnswerParams
---@field reason string Why, in the model's words.
---@field requestId string The judgment that the action named.
---@field shouldCompact boolean The answer.
---@field threadId string The thread.

--- Answer to `rawr/judgment/answer`.
---@class rawr.JudgmentAnswerResult
---@field accepted boolean Whether it was waited for; a late answer is dropped (docs/spec/judgment.md#one-at-a-time).

--- `rawr/judgment/evaluate`: ask the judge about a given situation (docs/spec/judgment.md).
---@class rawr.JudgmentEvaluateParams
---@field boundariesPresent? rawr.Boundary[] The boundaries to judge by.
---@field lastAgentMessage? string The agent's last message.
---@field percentRemaining integer Percent of the context window left.
---@field requestId? string The caller's name for the judgment; one is made up if absent.
---@field threadId string The thread.
---@field tier rawr.Tier The tier to judge at.
---@field transcriptExcerpt? string The end of the conversation.

--- Answer to `rawr/judgment/evaluate`.
---@class rawr.JudgmentEvaluateResult
---@field reason string Why, in the judge's words.
---@field requestId string The judgment's name.
---@field shouldCompact boolean The answer.
---@field source rawr.JudgmentSource Who judged.
---@field tier rawr.Tier The tier that was judged at.

--- `rawr/judgment/requested`: the judge is asked. The answer follows as `rawr/judgment/result`, unless it comes too late.
---@class rawr.JudgmentRequestedNotification
---@field requestId string The judgment's name.
---@field threadId string The thread.
---@field tier? rawr.Tier The tier that is judged at.

--- `rawr/judgment/result`: what the judge said, or why it said nothing.
---@class rawr.JudgmentResultNotification
---@field error? string Why there is no answer, for people.
---@field reason string Why, in the judge's words; empty without an answer.
---@field requestId string The judgment's name.
---@field shouldCompact? boolean The answer; absent where none came that could be used.
---@field source rawr.JudgmentSource Who judged.
---@field threadId string The thread.
---@field tier? rawr.Tier The tier that was judged at.

--- Who judged.
---@alias rawr.JudgmentSource
---| 'host' # The agent's own host, with its model and login.
---| 'responses' # A model behind a responses endpoint.
---| 'chat' # A model behind a chat completions endpoint.
---| 'heuristic' # Rules, without a model.

--- What judging has cost a thread; kept apart from the thread's own usage.
---@class rawr.JudgmentTotals
---@field calls integer How often a judge was asked.
---@field failures integer How often there was no usable answer.
---@field inputTokens integer Tokens sent, as far as judges tell.
---@field outputTokens integer Tokens received, as far as judges tell.
---@field rateLimits rawr.RateLimit[] The newest rate limits of the judge's endpoint.

--- A compaction that is over.
---@class rawr.LastCompaction
---@field atMs integer When it completed, Unix milliseconds.
---@field origin rawr.CompactionOrigin Who started it.
---@field sequenceId? string The sequence that it belonged to.
---@field tokensAfter? integer Tokens in the context after.
---@field tokensBefore? integer Tokens in the context before.
---@field trigger? rawr.CompactionTrigger What led to it: the audit trail (docs/spec/sequence.md#audit-trail).

--- `window/logMessage`: a line for the log that the client shows.
---@class rawr.LogMessageParams
---@field message string The line.
---@field type rawr.MessageType How bad it is.

--- `$/logTrace`: one piece of the sidecar's work, for a client that asked for it by `$/setTrace` or `initialize`.
---@class rawr.LogTraceParams
---@field message string What was done, and how long it took.
---@field verbose? string The threads, sequences and actions that it concerned, a line each; with the trace `verbose` only.

--- How bad a log line is; a number on the wire, as in LSP.
---@alias rawr.MessageType integer

--- An answer that a person can give now.
---@class rawr.OfferedChoice
---@field choice rawr.Choice The answer.
---@field label string What its button says.

--- What was decided.
---@alias rawr.Outcome
---| 'nothing' # Nothing.
---| 'tag' # Log that a compaction would have happened.
---| 'suggest' # Recommend it to the person.
---| 'ask' # Ask the person.
---| 'judge' # Ask the judge; the sequence goes on or ends with the answer.
---| 'defer' # Compact before the next user input.
---| 'compact' # Compact.

--- Who wrote a packet, or will write it (docs/spec/packet.md#author).
---@alias rawr.PacketAuthor
---| 'agent' # The agent, in a turn asked for this.
---| 'watcher' # rawr, from structured state; always labeled as such.
---| 'person' # A person, by submitting or editing one; never a plan, only a fact about a packet that exists.

--- `rawr/packet/build`: rawr writes a packet from structured state.
---@class rawr.PacketBuildParams
---@field author rawr.PacketAuthor Always `watcher`: only rawr's own packet can be built on request.
---@field threadId string The thread.

--- Answer to `rawr/packet/build`.
---@class rawr.PacketBuildResult
---@field author rawr.PacketAuthor Who wrote it.
---@field checked rawr.PacketCheck What a check of it found.
---@field packet string The packet, labeled as built by rawr (docs/spec/packet.md#author).

--- What happened to a packet.
---@alias rawr.PacketChange
---| 'taken' # The sequence has taken it.
---| 'edited' # A person gave another one.
---| 'outdated' # Work was done since it was written. It is asked for again.

--- `rawr/packet/changed`: the packet of a running sequence changed; `rawr/packet/get` returns it.
---@class rawr.PacketChangedNotification
---@field author rawr.PacketAuthor Who wrote it.
---@field by? string The client at which a person edited it.
---@field change rawr.PacketChange What happened to it.
---@field sequenceId string The sequence that it belongs to.
---@field threadId string The thread.

--- What a check of a packet found.
---@class rawr.PacketCheck
---@field missing string[] Sections that it must have and lacks.
---@field missingFacts string[] Facts about the session that the packet does not name, for people. rawr adds them under a heading when a sequence takes the packet; for a taken packet, these are the added ones.
---@field ok boolean Whether it can be handed over as it is.
---@field redactions integer How many secrets were taken out of it.
---@field tokens integer The packet's size.

--- `rawr/packet/check`: checks a packet.
---@class rawr.PacketCheckParams
---@field packet string The packet.
---@field threadId string The thread.

--- Answer to `rawr/packet/check`.
---@class rawr.PacketCheckResult
---@field checked rawr.PacketCheck What was found.

--- `rawr/packet/get`: the packet of a sequence.
---@class rawr.PacketGetParams
---@field sequenceId? string The sequence that is meant; the latest with a packet if absent.
---@field threadId string The thread.

--- Answer to `rawr/packet/get`.
---@class rawr.PacketGetResult
---@field author rawr.PacketAuthor Who wrote it.
---@field checked rawr.PacketCheck What a check of it found.
---@field packet string The packet.
---@field resumeState rawr.ResumeState What the agent does after the handoff.
---@field sequenceId string The sequence that it belongs to.

--- `rawr/packet/submit`: a person or a host gives the packet that a sequence waits for.
---@class rawr.PacketSubmitParams
---@field packet string The packet.
---@field sequenceId? string The sequence that is meant; the running one if absent.
---@field threadId string The thread.

--- Answer to `rawr/packet/submit`.
---@class rawr.PacketSubmitResult
---@field checked rawr.PacketCheck What a check of it found.
---@field phase rawr.Phase Where the thread stands now.

--- Packets that were asked for while their compactions were only proposed.
---@class rawr.PacketsAhead
---@field asked integer How many were asked for.
---@field unusedTokens integer Tokens of context that were read for the others. Most of them come from the provider's prompt cache.
---@field used integer How many of them were used.

--- A program's name and version.
---@class rawr.PeerInfo
---@field name string The program's name.
---@field version? string The program's version.

--- An action without an end: its fields and its ids.
---@class rawr.PendingAction
---@field actionId string The action's name, as it was when it was first asked for.
---@field issuedAtMs? integer When it was first asked for; a host that may have done it before it was lost looks for it from then on.
---@field sequenceId string The sequence that it belongs to.

--- Where a thread stands in the sequence machine (docs/spec/sequence.md#phases).
---@alias rawr.Phase
---| 'idle' # No sequence runs.
---| 'awaiting_judgment' # A model is asked whether now is a good moment.
---| 'awaiting_approval' # A person is asked.
---| 'deferred' # Compaction waits for the next user input.
---| 'proposed' # A compaction is proposed: it comes if the next message, or silence, confirms that a phase ended.
---| 'awaiting_heads_up' # The heads-up turn was asked for and has not ended.
---| 'awaiting_scratch_write' # The scratch turn was asked for and has not ended.
---| 'awaiting_packet' # The agent is writing its packet.
---| 'awaiting_compaction' # The packet is there, and a person is to type the compaction.
---| 'compacting' # The host is compacting.
---| 'awaiting_handoff' # The handoff was asked for and has not been taken.

--- One step of a plan.
---@class rawr.PlanStep
---@field status rawr.StepStatus How far it has come. An unknown status is read as pending, because only `completed` makes a checkpoint.
---@field step string What is to be done.

--- A place in a text, as in LSP.
---@class rawr.Position
---@field character integer UTF-16 code units from the start of the line.
---@field line integer The line, from 0.

--- Something that the agent is asked for before a compaction, or the packet that rawr writes in its place.
---@class rawr.PreCompactRequest
---@field actionId? string The newest action that asked for it.
---@field author rawr.PacketAuthor Who is to write what it asks for, or wrote it.
---@field purpose rawr.Purpose What is asked for.
---@field result? string What came of it, for people.
---@field state rawr.RequestState How far it has come.

--- A preset of the configuration (docs/spec/confirmation.md).
---@alias rawr.Preset
---| 'calm' # The end of a turn proposes a compaction; the next message, or silence, confirms it.
---| 'spec' # Compacts when a turn ends.

--- One thing wrong with a prompt or a configuration file.
---@class rawr.Problem
---@field code string A stable short name, such as `unknown-key`.
---@field file? string The file, absolute.
---@field help? string What to do about it.
---@field message string What is wrong, as a sentence fragment.
---@field range? rawr.Range Where in the file.
---@field severity rawr.Severity How bad it is.

--- `$/progress`: how far a request is. `begin` comes first and `end` last, before the answer; when the request is cancelled, too.
---@class rawr.ProgressParams
---@field token rawr.ProgressToken The request's `workDoneToken`.
---@field value rawr.WorkDoneProgress How far it is.

--- What a client calls the progress of a request. It chooses one that it uses for nothing else.
---@alias rawr.ProgressToken integer|string

--- `rawr/prompt/changed`: a prompt file was edited.
---@class rawr.PromptChangedNotification
---@field name string The prompt; of a decision prompt its path, as a tier names it.
---@field problems rawr.Problem[] What is wrong with the file.
---@field version string The version in force: still the old one if the new text does not parse.

--- `rawr/prompt/get`: one prompt in full.
---@class rawr.PromptGetParams
---@field name string The prompt's name.

--- Answer to `rawr/prompt/get`.
---@class rawr.PromptGetResult
---@field frontMatter? table<string, any> The front matter, where the prompt has one.
---@field name string The prompt's name.
---@field origin rawr.PromptOrigin Whose text it is.
---@field path? string The prompt's file, absolute; absent for one that is only embedded.
---@field placeholders string[] The placeholders that it may use, without braces, in camelCase.
---@field problems rawr.Problem[] What is wrong with the file.
---@field text string The text in force, without front matter, placeholders unfilled.
---@field version string Changes whenever the text in force does; opaque.

--- `rawr/prompt/list`: the prompts in force.
---@class rawr.PromptListParams

--- Answer to `rawr/prompt/list`.
---@class rawr.PromptListResult
---@field prompts rawr.PromptSummary[] By name.

--- Whose text a prompt is.
---@alias rawr.PromptOrigin
---| 'shipped' # The one that came with rawr.
---| 'user' # The user's.

--- `rawr/prompt/previewChanged`: a prompt that is being edited reads otherwise now.
---@class rawr.PromptPreviewChangedNotification
---@field name string The prompt.
---@field text string The text as it would be sent.
---@field uri string Where the text can be asked for: `rawr://preview/<name>`.

--- `rawr/prompt/preview`: a text that is not saved yet, as it would be sent.
---@class rawr.PromptPreviewParams
---@field name string The name of the prompt that it is to become.
---@field text string The whole file, front matter included.
---@field threadId? string The thread to take values from; example values stand in if absent.

--- Answer to `rawr/prompt/preview`.
---@class rawr.PromptPreviewResult
---@field problems rawr.Problem[] What is wrong with it; ranges are those of the text given.
---@field text string The text as it would be sent.
---@field tokens integer The text's size.

--- `rawr/prompt/render`: a prompt in force with its placeholders filled.
---@class rawr.PromptRenderParams
---@field name string The prompt's name.
---@field threadId? string The thread to take values from.
---@field values? table<string, string> Values by placeholder; they go before the thread's.

--- Answer to `rawr/prompt/render`.
---@class rawr.PromptRenderResult
---@field problems rawr.Problem[] Placeholders without a value, and the like.
---@field text string The text as it would be sent.

--- One prompt in short.
---@class rawr.PromptSummary
---@field name string The name of the prompt's file without the ending, such as `heads-up`.
---@field origin rawr.PromptOrigin Whose text is in force.
---@field path? string The prompt's file, absolute; absent for one that is only embedded.
---@field problems rawr.Problem[] What is wrong with the file; the last good text stays in force (docs/spec/prompts.md#files).
---@field version string Changes whenever the text in force does; opaque.

--- What a turn that rawr asked for is for (docs/spec/sequence.md#order).
---@alias rawr.Purpose
---| 'heads_up' # Tells the agent what is about to happen.
---| 'scratch_write' # Asks the agent to save its working notes.
---| 'packet_request' # Asks the agent for its continuation packet.
---| 'handoff' # Gives the packet back after compaction.
---| 'notice' # Tells the agent that a compaction that was announced did not come. Needs no answer.

--- A part of a text, as in LSP: the end is the first position after it.
---@class rawr.Range
---@field end rawr.Position Where it has ended.
---@field start rawr.Position Where it begins.

--- One limit, in the endpoint's own words.
---@class rawr.RateLimit
---@field name string Which.
---@field value string How much of it is left, or when it is renewed.

--- Where words were found.
---@alias rawr.RecallKind
---| 'packet' # A continuation packet.
---| 'handoff' # A message of rawr's that gave a packet back.
---| 'directive' # A user's instruction.
---| 'scratch' # The agent's working notes.
---| 'user_message' # A user's message.
---| 'agent_message' # An agent's message.
---| 'tool_call' # What an agent ran.
---| 'tool_output' # What came of it.
---| 'summary' # The summary of a compaction.

--- One text in which all words occur.
---@class rawr.RecallPlace
---@field atMs? integer When it was said, Unix milliseconds, as far as the file tells.
---@field file string The file, absolute.
---@field kind rawr.RecallKind What kind of text it is.
---@field line integer The line, from 1.
---@field snippet string The text around the first of the words, on one line; what looks like a key or a token is taken out.
---@field threadId string The thread.

--- `rawr/recall/search`: where were these words said?
---@class rawr.RecallSearchParams
---@field limit? integer The most places to name: 50 if absent, 1000 at most.
---@field threadId? string The thread; all of this home if absent.
---@field words string[] Each must occur in the same text, whatever its case.

--- Answer to `rawr/recall/search`.
---@class rawr.RecallSearchResult
---@field more integer So many older ones were found and are not named.
---@field places rawr.RecallPlace[] Latest first.
---@field unread rawr.Unread[] What could not be searched.

--- The format of a recorded session.
---@alias rawr.RecordFormat
---| 'codex' # A rollout of Codex.
---| 'claude' # A transcript of Claude Code.
---| 'rawr' # The `events.jsonl` of a thread of rawr.

--- A compaction that is in the record.
---@class rawr.ReplayCompaction
---@field at integer When, Unix milliseconds.
---@field by rawr.CompactionOrigin Who started it.
---@field insideTurn boolean Whether the compaction came while the agent worked.
---@field tokensBefore integer Tokens in the context before it.
---@field turn integer The turn, counted from 1.

--- A configuration to replay under.
---@class rawr.ReplayConfiguration.own
---@field kind 'own'

---@class rawr.ReplayConfiguration.file
---@field file string The file, absolute.
---@field kind 'file'

---@class rawr.ReplayConfiguration.preset
---@field kind 'preset'
---@field preset rawr.Preset The preset.

---@alias rawr.ReplayConfiguration
---| rawr.ReplayConfiguration.own # The user's own files.
---| rawr.ReplayConfiguration.file # A file in place of the user's `rawr.toml`.
---| rawr.ReplayConfiguration.preset # A preset without any other key.

--- The context after a sampling request.
---@class rawr.ReplayContextPoint
---@field at integer When, Unix milliseconds.
---@field percent integer Percent of the window left.
---@field percentLeft integer Percent left of what the host fills before it compacts by itself. Decisions use it.
---@field turn integer The turn, counted from 1.

--- One decision.
---@class rawr.ReplayDecision
---@field afterClosing? boolean The compaction after a message that closed the work.
---@field at integer When, Unix milliseconds.
---@field boundaries rawr.Boundary[] The boundaries that counted.
---@field confirms? boolean A message that closes the work confirmed the proposal. It is carried out first.
---@field drops? string Why it drops the proposal before it.
---@field entrance rawr.Entrance The entrance that asked.
---@field outcome rawr.Outcome What was decided.
---@field percent? integer Percent of the context window left.
---@field proposes? boolean Whether the decision only proposes; the next message or silence decides.
---@field reason string Why, in one sentence for people.
---@field stoppedBy? rawr.Gate The only gate that stopped it.
---@field tier? rawr.Tier The tier that held.
---@field tokens? integer Tokens in the context.
---@field turn integer The turn, counted from 1; 0 before the first.
---@field vetoed? boolean Only the judge was against it.

--- What a replay tells of each session.
---@alias rawr.ReplayDetailName
---| 'sums' # No decisions, no turns and no context over time.
---| 'decisions' # The decisions and the turns.
---| 'whole' # All.

--- One record under each configuration.
---@class rawr.ReplayFile
---@field error? string Why it was read only in part, or not at all.
---@field file string The record, absolute.
---@field reports rawr.ReplaySession[] One report for each configuration.

--- How many lines were read, and how many of them tell nothing.
---@class rawr.ReplayLines
---@field lines integer All lines.
---@field malformed integer Lines that are no JSON, or not of the shape that their kind has.
---@field oversized integer Lines that are longer than any message.
---@field unknown integer Lines of an unknown kind.

--- What becomes of the context after a compaction that the replay starts.
---@alias rawr.ReplayOrder
---| 'first' # Compactions are only counted, and the context grows on as it was recorded.
---| 'second' # The context shrinks, so that the next compaction comes later.

--- A file that holds no session of a known format.
---@class rawr.ReplayOtherFile
---@field file string The file, absolute.
---@field lines rawr.ReplayLines What its lines were.

--- What requests cost, in hundredths of the currency of the prices.
---@class rawr.ReplayPrice
---@field cents integer Under the configuration.
---@field recordedCents integer As recorded.
---@field unpriced? string[] Models without a price, whose requests are not in it.

--- `rawr/replay/run`: when would these configurations have compacted in recorded sessions?
---@class rawr.ReplayRunParams
---@field configurations? rawr.ReplayConfiguration[] What to decide by: 8 at most, and the user's own configuration if absent or empty.
---@field detail? rawr.ReplayDetailName What to tell of each session; `sums` if absent.
---@field model? string Only sessions whose last model contains this text, whatever its case.
---@field order? rawr.ReplayOrder What becomes of the context after a compaction; `second` if absent.
---@field paths? string[] Records and folders of records, absolute. The user's own sessions of Codex and Claude Code if absent or empty.
---@field since? integer Only records that were changed since, Unix milliseconds.
---@field window? integer The context window in tokens, at least 1; the recorded one if absent.
---@field workDoneToken? rawr.ProgressToken Where to report progress with `$/progress`; nowhere if absent.

--- Answer to `rawr/replay/run`.
---@class rawr.ReplayRunResult
---@field configurations string[] For people: `your configuration`, the path of a file, or `preset NAME`, in the order in which they were sent.
---@field costs? rawr.ReplayPrice[] What the requests of each of these cost; empty without a `prices.toml` in the home.
---@field files rawr.ReplayFile[] The records in the order of their paths.
---@field isStopped boolean Whether the replay was stopped before the end. Never true here, because a cancelled request gets an error.
---@field order rawr.ReplayOrder What became of the context after a compaction.
---@field others rawr.ReplayOtherFile[] Files that hold no session of a known format.
---@field totals rawr.ReplaySums[] The sums over all sessions, for each configuration.

--- One session under one configuration.
---@class rawr.ReplaySession
---@field activeMs integer Milliseconds in which something happened: pauses above ten minutes are left out.
---@field context rawr.ReplayContextPoint[] The context after each sampling request; with `whole` only.
---@field cwd string The folder that the agent worked in.
---@field decisions rawr.ReplayDecision[] The decisions that rawr would have stored, in order; with `decisions` and `whole` only.
---@field ended? rawr.ReplayTurn[] The turns that ended, in order; with `decisions` and `whole` only.
---@field filesReadAgain integer Files that were read before a recorded compaction and again within five turns after it.
---@field format? rawr.RecordFormat The format of its record; absent if no line showed one.
---@field lines rawr.ReplayLines The session's lines.
---@field model? string The last model.
---@field recorded rawr.ReplayCompaction[] The compactions in the record.
---@field recordedTokens table<string, rawr.ReplayTokens> The tokens of all requests as recorded, by model.
---@field refused integer Inputs that were refused; more than a few mean that the record was misread.
---@field session string The host's id of the session.
---@field spans? integer[] The first and the last time in it, Unix milliseconds.
---@field tokens table<string, rawr.ReplayTokens> The tokens of all requests under this configuration, by model; `unknown` where the record names none.
---@field turns integer How many turns ended.
---@field window integer The context window in tokens that percentages are of.

--- Sums over sessions.
---@class rawr.ReplaySums
---@field activeMs integer Milliseconds in which something happened.
---@field confirmed integer Proposals that a message, silence or a more urgent tier confirmed.
---@field dropped integer Proposals that a message dropped.
---@field filesReadAgain integer Files read again after a recorded compaction.
---@field fires integer Compactions that would have begun.
---@field firesByBoundary table<string, integer> Compactions by boundary; one with two boundaries counts for both.
---@field firesByTier table<string, integer> Compactions by tier; `none` where no tier held.
---@field firesInsideTurn integer Those inside of a turn.
---@field hostCompactions integer Compactions of the host by its own rules.
---@field hostCompactionsInsideTurn integer Those inside of a turn.
---@field hostCompactionsUnforeseen integer Those before which this configuration had begun none in the same session.
---@field lines rawr.ReplayLines Lines of all records.
---@field nearMisses table<string, integer> Decisions that a single gate stopped, by gate.
---@field personCompactions integer Compactions that a person asked for.
---@field proposals integer Proposals.
---@field recordedTokens table<string, rawr.ReplayTokens> The tokens of all requests as recorded, by model.
---@field sessions integer Sessions with at least one turn.
---@field tokens table<string, rawr.ReplayTokens> The tokens of all requests under this configuration, by model; `unknown` where the record names none.
---@field turns integer Turns that ended.
---@field vetoes integer Decisions that only the judge stopped.

--- Tokens of requests, by what a provider charges for them.
---@class rawr.ReplayTokens
---@field cached integer Read from the cache.
---@field input integer Read, neither from the cache nor into it.
---@field output integer Written by the model.
---@field requests integer Requests.
---@field written integer Read and put into the cache for some minutes.
---@field writtenForHour integer Read and put into the cache for an hour.

--- A turn that ended.
---@class rawr.ReplayTurn
---@field activeMs integer Milliseconds of it without pauses above ten minutes.
---@field commands integer Shell commands that finished.
---@field endedAt integer When it ended, Unix milliseconds.
---@field ending rawr.TurnStatus How it ended.
---@field failedCommands integer Those that failed.
---@field filesReadAgain integer Files read again in it after a recorded compaction.
---@field percent? integer Percent left then of what the host fills before it compacts by itself.
---@field requests integer Sampling requests.
---@field startedAt integer When it began, Unix milliseconds.
---@field tokens? integer Tokens in the context after the last request.
---@field tokensRead integer Tokens that requests read since the turn before ended, with those of compactions.
---@field turn integer The turn, counted from 1.

--- A request's id, chosen by who asks.
---@alias rawr.RequestId integer|string

--- How far something has come that the agent is asked for before a compaction.
---@alias rawr.RequestState
---| 'queued' # The agent has not been asked for it yet.
---| 'asked' # The agent was asked and has not answered.
---| 'answered' # The agent has answered, or rawr wrote it.
---| 'failed' # The host refused it, or no answer came.

--- What the agent does after the handoff (docs/spec/handoff.md#content).
---@alias rawr.ResumeState
---| 'working' # The agent was at work and is told to continue.
---| 'waiting_for_user' # The agent had asked the user something.
---| 'done' # The agent had finished.

--- What a client is to a thread (docs/spec/clients.md#owner-and-observers).
---@alias rawr.Role
---| 'owner' # Performs actions; at most one per thread.
---| 'observer' # Watches, and may append what a person decides.

--- `rawr/scratch/append`: add a section to the notes, under a heading that says when; file and folder are made if need be. Nothing that is there is changed.
---@class rawr.ScratchAppendParams
---@field text string What to add: not empty, and at most 65,536 bytes.
---@field threadId string The thread.

--- Answer to `rawr/scratch/append`.
---@class rawr.ScratchAppendResult
---@field bytes integer The file's size now, in bytes.
---@field redactions integer So many secrets were taken out before it was written.
---@field scratchFile string The file, relative to the working directory.

--- `rawr/scratch/changed`: an agent's notes were written to, by the agent or through any client. Told of every thread that is open or watched here.
---@class rawr.ScratchChangedNotification
---@field by? string The client that added to the notes by `rawr/scratch/append`; absent where the agent wrote, or another sidecar's client.
---@field bytes integer The file's size, in bytes.
---@field exists boolean Whether the file is there still.
---@field path string Absolute, as the sidecar's machine writes it.
---@field scratchFile string Relative to the working directory, with forward slashes.
---@field threadId string The thread.

--- One file of notes.
---@class rawr.ScratchFile
---@field bytes integer The file's size, in bytes.
---@field modifiedAtMs integer When it was last written, Unix milliseconds.
---@field scratchFile string Relative to the working directory, with forward slashes.

--- `rawr/scratch/list`: all agents' notes in the thread's working directory.
---@class rawr.ScratchListParams
---@field threadId string The thread.

--- Answer to `rawr/scratch/list`.
---@class rawr.ScratchListResult
---@field files rawr.ScratchFile[] Latest first.

--- `rawr/scratch/path`: where are the agent's notes? (docs/spec/scratch-notes.md#where)
---@class rawr.ScratchPathParams
---@field threadId string The thread.

--- Answer to `rawr/scratch/path`.
---@class rawr.ScratchPathResult
---@field exists boolean Whether the file is there.
---@field path string Absolute, as the sidecar's machine writes it.
---@field scratchFile string Relative to the working directory, with forward slashes: as the agent is told.

--- `rawr/scratch/read`: the notes.
---@class rawr.ScratchReadParams
---@field maxBytes? integer Read at most so many bytes, from the end, where the latest are; the sidecar's own limit if absent. Lines stay whole.
---@field threadId string The thread.

--- Answer to `rawr/scratch/read`.
---@class rawr.ScratchReadResult
---@field redactions integer So many secrets were taken out of the text. The file is as it was.
---@field scratchFile string The file, relative to the working directory.
---@field text string The notes; empty if there is no file.
---@field truncated boolean Whether the beginning was left out.

--- `rawr/sequence/headsUp`: a banner has come up. It says when to make a sound or show a toast; what the banner is from then on is in `headsUp` of `rawr/thread/changed` and `rawr/thread/get`.
---@class rawr.SequenceHeadsUpNotification
---@field boundaries rawr.Boundary[] The boundaries that counted.
---@field choices rawr.Choice[] What a person can answer now, the default first.
---@field deadlineAtMs? integer When the sequence goes on without an answer, Unix milliseconds; absent if it waits.
---@field message string What happens next, in a sentence or two for people.
---@field packetAuthor rawr.PacketAuthor Who is to write the packet.
---@field percentRemaining? integer Percent of the context window left; for people, never for the agent (docs/spec/clients.md#owner-and-observers).
---@field reason string Why, in one sentence for people.
---@field sequenceId string The sequence that runs, or that would.
---@field stage rawr.BannerStage What the banner is about.
---@field threadId string The thread.
---@field tier? rawr.Tier The tier that held; absent where a person asked for a compaction above every tier.
---@field title string The banner's title.

--- `rawr/sequence/respond`: a person's answer, from any client of the thread.
---@class rawr.SequenceRespondParams
---@field choice rawr.Choice The answer.
---@field minutes? integer With `snooze`: for how many minutes.
---@field packet? string With `edit_packet`: the packet as edited.
---@field sequenceId? string The sequence that is answered; the running one if absent.
---@field threadId string The thread.
---@field turns? integer With `snooze`: for how many user turns.

--- Answer to `rawr/sequence/respond`.
---@class rawr.SequenceRespondResult
---@field choice rawr.Choice The answer as it was recorded: `compact_now` approves a compaction that waits for an approval.
---@field phase rawr.Phase Where the thread stands now.

--- `rawr/sequence/responded`: a person answered at another client, so the banner can be removed.
---@class rawr.SequenceRespondedNotification
---@field by? string The client where it was given.
---@field choice rawr.Choice The answer.
---@field sequenceId? string The sequence that was answered; absent where none had begun.
---@field threadId string The thread.

--- Whose conversation a thread is.
---@class rawr.SessionSource.user
---@field kind 'user'

---@class rawr.SessionSource.subagent
---@field kind 'subagent'
---@field name string The sub-agent's name; sanitized before it is used in a file name.

---@alias rawr.SessionSource
---| rawr.SessionSource.user # A person's.
---| rawr.SessionSource.subagent # A sub-agent's.

--- `$/setTrace`: tell more, or less.
---@class rawr.SetTraceParams
---@field value rawr.Trace How much.

--- How bad a problem is.
---@alias rawr.Severity
---| 'error' # The file, or this part of it, is not in force.
---| 'warning' # In force, and likely not what was meant.
---| 'hint' # Could be better.

--- An observation (docs/spec/boundaries.md#signals).
---@class rawr.Signal.plan_updated
---@field explanation? string Why the plan changed.
---@field kind 'plan_updated'
---@field steps rawr.PlanStep[] The whole plan, in order.

---@class rawr.Signal.command_finished
---@field command rawr.CommandLine The command.
---@field cwd? string The folder that it ran in, absolute.
---@field exitCode integer The exit code; 0 is success.
---@field kind 'command_finished'

---@class rawr.Signal.commit
---@field hash? string The commit's hash.
---@field kind 'commit'
---@field subject? string The first line of its message.

---@class rawr.Signal.pr_checkpoint
---@field action string What: opened, updated, merged, …
---@field kind 'pr_checkpoint'
---@field url? string The pull request's address.

---@class rawr.Signal.branch_changed
---@field branch string The branch.
---@field kind 'branch_changed'

---@class rawr.Signal.tool_started
---@field callId string The host's name for the call.
---@field kind 'tool_started'
---@field name? string The tool.

---@class rawr.Signal.tool_finished
---@field callId string The host's name for the call.
---@field kind 'tool_finished'

---@class rawr.Signal.phase_boundary
---@field kind 'phase_boundary'
---@field label string Which phase.

---@class rawr.Signal.user_message
---@field kind 'user_message'
---@field text string The message, unchanged.

---@class rawr.Signal.directive
---@field kind 'directive'
---@field pinned? boolean Whether it never ages out; of the others, the newest 20 outlive a compaction.
---@field text string The instruction, unchanged.

---@class rawr.Signal.title_changed
---@field kind 'title_changed'
---@field title? string The title; absent if the host has none any more.

---@alias rawr.Signal
---| rawr.Signal.plan_updated # The agent set or changed its plan.
---| rawr.Signal.command_finished # A shell command ended.
---| rawr.Signal.commit # A commit was made other than by a reported command.
---| rawr.Signal.pr_checkpoint # Something happened to a pull request.
---| rawr.Signal.branch_changed # Another branch was checked out.
---| rawr.Signal.tool_started # A tool call began; until it ends, work is active.
---| rawr.Signal.tool_finished # A tool call ended, well or not.
---| rawr.Signal.phase_boundary # A person or a program declared that a phase ended. Accepted from every client, not only from the owner. Between turns it is assessed at once.
---| rawr.Signal.user_message # A user's message joined a running turn. From then on the turn counts as the user's. The message that begins a turn is reported with `rawr/turn/started`.
---| rawr.Signal.directive # A user instruction that must survive word for word.
---| rawr.Signal.title_changed # The host gave the conversation another title. It replaces the one that the first message makes.

--- `rawr/signal/report`: something happened that may matter to a decision.
---@class rawr.SignalReportParams
---@field signal rawr.Signal What happened.
---@field signalId? string The host's id of the signal, at most 200 bytes: an item's id, a commit's hash. The same id again is a repeat; another id is another signal, even of the same kind in the same turn. Without an id, a boundary that already counted in its turn does not count again.
---@field threadId string The thread.
---@field turnId? string The turn that it happened in.

--- Answer to `rawr/signal/report`.
---@class rawr.SignalReportResult
---@field boundaries rawr.Boundary[] The boundaries that the signal amounts to; mostly none.

--- Where a plan step stands.
---@alias rawr.StepStatus
---| 'pending' # Not begun.
---| 'in_progress' # Begun.
---| 'completed' # Done; a step that newly gets here is a `plan_checkpoint` (docs/spec/boundaries.md#kinds).

--- `rawr/store/failed`: nothing can be recorded, so no action leaves; told to the owner once until `rawr/store/recovered`, and again where more inputs wait. The host delivers `heldInputs` itself, at once and in this order. When the files are back it says `rawr/input/cancel` for each of them, and repeats the reports that were refused. It goes on carrying out actions that it was asked for before. Should it be asked later to deliver one of these inputs all the same, it delivers the other items only.
---@class rawr.StoreFailedNotification
---@field error string What failed, with the file, and what to do.
---@field heldInputs string[] Ids of user inputs that waited for the sequence, in order.
---@field threadId string The thread.

--- `rawr/store/recovered`: what is said now is recorded again. Actions that were not reported done are asked for once more.
---@class rawr.StoreRecoveredNotification
---@field threadId string The thread.

--- `rawr/thread/changed`: what a status bar shows has changed, or the instructions that stay have.
---@class rawr.ThreadChangedNotification
---@field breaker? rawr.BreakerHold Compactions are paused because the last ones did not help; absent while none are.
---@field guards rawr.Guard[] Active guards.
---@field headsUp? rawr.HeadsUp The banner as it stands now; absent when there is none, and while no process runs the thread.
---@field lastCompaction? rawr.LastCompaction The last compaction, started by anyone.
---@field lastFate? rawr.DecisionFate What became of the last decision from which something was to follow.
---@field percentRemaining? integer Percent of the context window left.
---@field phase rawr.Phase The thread's phase.
---@field proposal? rawr.CompactionProposal The proposed compaction, in the phase `proposed`.
---@field sequenceId? string The sequence that runs.
---@field threadId string The thread.
---@field tier? rawr.Tier The thread's tier; absent above every tier, or while usage is unknown.
---@field title? string The thread's title: the host's, otherwise how its first message begins; absent before there is one.

--- `rawr/thread/close`: the client lets go of the thread.
---@class rawr.ThreadCloseParams
---@field threadId string The thread.

--- `rawr/thread/get`: all that is known of one thread.
---@class rawr.ThreadGetParams
---@field threadId string The thread.

--- Answer to `rawr/thread/get`: the structured state (docs/spec/boundaries.md#structured-state).
---@class rawr.ThreadGetResult
---@field boundaries rawr.BoundaryMark[] Boundaries seen, oldest first.
---@field compactionAskedFor boolean A person asked for a compaction, and it has not begun yet.
---@field directives rawr.Directive[] User instructions that must survive word for word.
---@field guards rawr.Guard[] Active guards.
---@field headsUp? rawr.HeadsUp The banner as it stands now; absent when there is none, and while no process runs the thread.
---@field heldInputs rawr.HeldInput[] User inputs that wait for a sequence, in order.
---@field judgments? rawr.JudgmentTotals What judging has cost; absent while no judge was asked.
---@field lastCompaction? rawr.LastCompaction The last compaction, started by anyone.
---@field packetsAhead? rawr.PacketsAhead Packets asked for ahead of time, and their cost; absent while there were none.
---@field pendingActions rawr.PendingAction[] Actions without an end.
---@field plan rawr.PlanStep[] The agent's plan as last reported.
---@field preCompactRequests? rawr.PreCompactRequest[] What the agent is asked for before the compaction of that sequence, in order.
---@field sequenceId? string The sequence that runs.
---@field thread rawr.ThreadSummary The thread in short.
---@field transcript? string The path of the host's own transcript; absent if it has none.
---@field turnRunning boolean A turn, or a compaction of the host, is running.

--- `rawr/thread/listChanged`: watched threads have come, gone, or are run by another process than before. A client that asked for the list once keeps it current with this.
---@class rawr.ThreadListChangedNotification
---@field gone string[] Ids of threads whose files are gone.
---@field threads rawr.ThreadSummary[] Threads that have come, or whose `owner` is another now, as `rawr/thread/list` gives them.

--- `rawr/thread/list`: all threads in this home.
---@class rawr.ThreadListParams

--- Answer to `rawr/thread/list`.
---@class rawr.ThreadListResult
---@field threads rawr.ThreadSummary[] Latest first.

--- `rawr/thread/open`: a client opens a conversation and declares what its host can do.
---@class rawr.ThreadOpenParams
---@field baselineTokens? integer Tokens of fixed instructions and tools, subtracted from usage and window before a percentage is computed; 0 if absent (docs/spec/tiers.md#percent-left).
---@field beganAtMs? integer When the host began the conversation, in Unix milliseconds. A conversation that goes on under another id keeps it: the new thread takes the directives and guards along (docs/spec/recovery.md).
---@field compactsAboveTokens? integer The host compacts by itself above this many tokens in the context; absent if it does not, or where that is unknown (docs/spec/tiers.md#percent-left).
---@field contextWindow? integer Size of the context window, in tokens.
---@field contextWindowAssumed? boolean Whether that size was looked up by the model's name instead of reported by the host; then nothing is an emergency.
---@field cwd string The conversation's working directory, absolute.
---@field host rawr.Host The agent program that owns the transcript.
---@field model? string The model in use; `rawr/turn/usage` reports another.
---@field role rawr.Role The role that the client wants.
---@field runningTurn? string The turn that is still running. Every other turn without an end is over; an end reported later still counts.
---@field sessionSource? rawr.SessionSource Whose conversation it is. A sub-agent's scratch file has its name (docs/spec/scratch-notes.md#where).
---@field threadId string The host's id of the conversation: at most 200 bytes, never a path.
---@field transcript? rawr.Transcript The host's own transcript, if it has one.

--- Answer to `rawr/thread/open`.
---@class rawr.ThreadOpenResult
---@field heldBefore? rawr.HeldInput A message that waited, or was taken back, when the conversation's last session ended, also under an earlier id (`beganAtMs`). It may not have reached the agent.
---@field owner boolean Whether this client is to perform the thread's actions.
---@field pendingActions rawr.PendingAction[] Actions without an end. Perform them now, under the same ids (docs/spec/clients.md#actions).
---@field percentRemaining? integer Percent of the context window left; absent while usage or window is unknown.
---@field phase rawr.Phase The thread's phase.
---@field scratchFile string The agent's scratch file, relative to the working directory, with forward slashes.
---@field threadId string The thread that is open.

--- One thread in short.
---@class rawr.ThreadSummary
---@field breaker? rawr.BreakerHold Compactions are paused because the last ones did not help; absent while none are.
---@field cwd string The thread's working directory, absolute.
---@field host? string The host's name, such as `codex`.
---@field lastFate? rawr.DecisionFate What became of the last decision from which something was to follow.
---@field open boolean Whether a client of this sidecar has it open, if only to look at it.
---@field owner? string Who performs its actions now, for people; absent if no process does.
---@field percentRemaining? integer Percent of the context window left.
---@field phase rawr.Phase The thread's phase.
---@field proposal? rawr.CompactionProposal The proposed compaction, in the phase `proposed`.
---@field running boolean Whether its agent runs: a process performs its actions now, or its agent calls rawr through hooks and did so in the last hour.
---@field runsByHooks? boolean The agent calls rawr through hooks. Between two of them the thread has no owner, and it is not abandoned.
---@field subAgent? string The name of the sub-agent whose conversation it is; absent for a person's.
---@field threadId string The thread.
---@field tier? rawr.Tier The thread's tier; absent above every tier, or while usage is unknown.
---@field title? string The thread's title: the host's, otherwise how its first message begins; absent before there is one.
---@field updatedAtMs integer When something last happened in it, Unix milliseconds.

--- `rawr/thread/unwatch`: ends the `rawr/thread/watch` with the same params.
---@class rawr.ThreadUnwatchParams
---@field threadId? string As in `rawr/thread/watch`.
---@field workspaceFolder? string As in `rawr/thread/watch`.

--- `rawr/thread/watch`: subscribes to what other sidecars record. With neither field: for every thread of this home, future ones included. A watched thread can be answered like an open one.
---@class rawr.ThreadWatchParams
---@field threadId? string Only this thread. It need not exist yet.
---@field workspaceFolder? string Only threads that work in this folder or below it; absolute.

--- Answer to `rawr/thread/watch`.
---@class rawr.ThreadWatchResult
---@field threads rawr.ThreadSummary[] The watched threads that are running or changed last, latest first. `rawr/thread/list` has all.

--- Urgency by percent of the context window remaining, in rising order (docs/spec/tiers.md#selection).
---@alias rawr.Tier
---| 'early' # Below 85% unless configured.
---| 'ready' # Below 75% unless configured.
---| 'asap' # Below 65% unless configured.
---| 'emergency' # Below 15% unless configured; bypasses boundaries and judgment.

--- Tokens as the host's model reported them. Without `contextTokens` the whole usage is not known.
---@class rawr.TokenUsage
---@field cacheSeconds? integer For how many seconds the provider keeps the prompt of this request cached, where the request told it; the shortest lifetime of its parts.
---@field cachedInputTokens? integer Those of the tokens sent that were served from a cache.
---@field contextTokens integer Tokens in the context window now, from which percentages are computed.
---@field inputTokens? integer Tokens sent.
---@field outputTokens? integer Tokens received.
---@field reasoningTokens? integer Those of the tokens received that are of hidden reasoning.

--- `rawr/tokens/count`: how large is this text?
---@class rawr.TokensCountParams
---@field encoding? string The encoding to count by: `o200k_base`, `o200k_harmony` or `cl100k_base`. Goes before `model`.
---@field model? string The model whose encoding to count by, such as `gpt-5` or `o4-mini`. Of the models of other makers, and where neither names an encoding that is built in, the count is an estimate.
---@field text string The text. One that begins with a text that was counted lately by the same encoding costs no more than what was added: a host may send its whole context again and again.

--- Answer to `rawr/tokens/count`.
---@class rawr.TokensCountResult
---@field method string How they were counted: an encoding's name, which is exact, or `bytes/4` for the estimate. Measured against `o200k_base`, that is 10 to 28% low on large bodies of source code, a third low on lock files and tables, and up to a quarter high on plain English prose.
---@field tokens integer How many. Text that looks like a special token is counted as the text that it is.

--- How much of its work the sidecar tells.
---@alias rawr.Trace
---| 'off' # Nothing.
---| 'messages' # In short.
---| 'verbose' # In full.

--- A host's own record of a conversation.
---@class rawr.Transcript
---@field path string The file, absolute. It need not exist yet.

--- A host's own record of a conversation, up to a moment.
---@class rawr.TranscriptPosition
---@field bytes? integer The file's length in bytes; absent if it did not exist.
---@field path string The file, absolute.

--- `rawr/turn/completed`: a turn ended.
---@class rawr.TurnCompletedParams
---@field failure? rawr.TurnFailure Why it failed, where rawr can do something about it.
---@field lastAgentMessage? string The agent's last message in it.
---@field queuedInputs? integer How many user inputs wait in the host.
---@field reviewMode? boolean Whether the host is in review mode, in which compaction must not happen.
---@field status rawr.TurnStatus How it ended.
---@field threadId string The thread.
---@field turnId string The turn.
---@field usage? rawr.TokenUsage Tokens at its end.

--- Answer to `rawr/turn/completed`.
---@class rawr.TurnCompletedResult
---@field verdict rawr.Verdict What was decided.

--- Why a turn failed.
---@class rawr.TurnFailure.context_full
---@field contextWindow? integer The size of the context window in tokens, where the refusal names it.
---@field kind 'context_full'
---@field requestTokens? integer Tokens of the refused request, by the host's count or estimate. Leave it out where what was added since the last answer is not known.

---@alias rawr.TurnFailure
---| rawr.TurnFailure.context_full # The model refused a request, because it does not fit the context window. rawr compacts once, whatever the reported usage says, and the agent continues (docs/spec/decisions.md#a-refused-conversation).

--- Where a turn came from.
---@alias rawr.TurnOrigin
---| 'user' # A person's input.
---| 'synthetic' # A turn that rawr asked for.
---| 'host' # The host by itself, such as its own compaction.

--- `rawr/turn/started`: a turn began.
---@class rawr.TurnStartedParams
---@field actionId? string The action that asked for the turn, if one did.
---@field origin rawr.TurnOrigin Where the turn came from; only the user's trigger anything (docs/spec/sequence.md#synthetic-turns).
---@field text? string The input. A marker in it identifies an injected turn that the host reports as the user's.
---@field threadId string The thread.
---@field turnId string The host's id of the turn.

--- How a turn ended.
---@alias rawr.TurnStatus
---| 'completed' # The agent finished.
---| 'interrupted' # The user or the host stopped it.
---| 'failed' # The turn failed with an error.

--- `rawr/turn/usage`: a sampling request ended and the turn may go on.
---@class rawr.TurnUsageParams
---@field compactsAboveTokens? integer The host compacts by itself above this many tokens in the context, if that changed.
---@field contextWindow? integer Size of the context window in tokens, if it changed.
---@field lastAgentMessage? string The agent's latest message.
---@field model? string The model in use, if it is not the one that was reported last. From here on the thread goes by that model's configuration.
---@field needsFollowUp? boolean Whether the agent goes on sampling in this turn: the mid-turn entrance (docs/spec/mid-turn.md).
---@field threadId string The thread.
---@field turnId string The turn.
---@field usage? rawr.TokenUsage Tokens after the request; absent if they are not known.

--- Answer to `rawr/turn/usage`.
---@class rawr.TurnUsageResult
---@field verdict? rawr.Verdict What was decided; absent if nothing was to be decided here.

--- A file that could not be read.
---@class rawr.Unread
---@field error string Why, for people.
---@field file string The file, absolute.

--- What ends a guard.
---@class rawr.Until.turns
---@field kind 'turns'
---@field turns integer How many.

---@class rawr.Until.minutes
---@field kind 'minutes'
---@field minutes integer How many.

---@class rawr.Until.next_commit
---@field kind 'next_commit'

---@class rawr.Until.tests_pass
---@field kind 'tests_pass'

---@class rawr.Until.released
---@field kind 'released'

---@alias rawr.Until
---| rawr.Until.turns # A number of user turns.
---| rawr.Until.minutes # A number of minutes.
---| rawr.Until.next_commit # The next commit.
---| rawr.Until.tests_pass # A test run that passes.
---| rawr.Until.released # Only `rawr/guard/clear`.

--- The outcome of an assessment, in short.
---@class rawr.Verdict
---@field confirm? rawr.Confirm For a proposal: what decides about it. Its outcome is `defer`.
---@field decisionId? string The decision, for `rawr/decision/explain`; absent if none was made here, and `reason` says why.
---@field outcome rawr.Outcome What was decided.
---@field percentRemaining? integer Percent of the context window left.
---@field reason string Why, in one sentence for people.
---@field sequenceId? string The sequence that was started.
---@field tier? rawr.Tier The tier that held; absent above every tier, or while usage is unknown.

--- How far a request is.
---@class rawr.WorkDoneProgress.begin
---@field cancellable boolean Whether `$/cancelRequest` ends the work early.
---@field kind 'begin'
---@field percentage? integer How much of it is done.
---@field title string What is being done, for people.

---@class rawr.WorkDoneProgress.report
---@field kind 'report'
---@field message? string How much is done of how much, for people.
---@field percentage? integer How much of it is done; never less than before.

---@class rawr.WorkDoneProgress.end
---@field kind 'end'
---@field message? string How it ended, for people.

---@alias rawr.WorkDoneProgress
---| rawr.WorkDoneProgress.begin # The work begins.
---| rawr.WorkDoneProgress.report # The work goes on.
---| rawr.WorkDoneProgress.end # The work has ended, whatever the answer is.

--- A git work tree at one moment.
---@class rawr.WorkTree
---@field branch? string The branch.
---@field dirty integer How many files differ from the commit.
---@field files string[] The first of those files.
---@field head? string The commit.
---@field seenAtMs? integer When it was looked at, Unix milliseconds; absent means now.

--- A folder that is open in an editor.
---@class rawr.WorkspaceFolder
---@field name string What the editor calls it.
---@field uri string Where it is.
