--- Generated from protocol-schema/schema.json by `nvim -l editor-clients/neovim/spec/types.lua`. What people read for the names of the protocol.

local M = {}

---@type table<rawr.BannerStage, string?>
M.BannerStage = {
  will_compact = 'Compacting soon',
  awaiting_approval = 'Waiting for your approval',
  recommended = 'Compaction recommended',
  tagged = 'Would compact here',
  deferred = 'Compacting before your next message',
}

---@type table<rawr.Boundary, string?>
M.Boundary = {
  commit = 'commit',
  pushed = 'push',
  merged = 'merge',
  branch_changed = 'branch changed',
  tests_green = 'tests pass again',
  phase_ended = 'phase ended',
  plan_checkpoint = 'plan step done',
  plan_update = 'plan changed',
  pr_checkpoint = 'pull request',
  agent_done = 'agent done',
  topic_shift = 'new topic',
  concluding_thought = 'conclusion',
  turn_complete = 'turn ended',
}

---@type table<rawr.Choice, string?>
M.Choice = {
  compact_now = 'Compact now',
  approve = 'Approve',
  snooze = 'Not now',
  cancel = 'Skip this one',
  edit_packet = 'Edit the packet',
}

---@type table<rawr.CompactionOrigin, string?>
M.CompactionOrigin = {
  rawr = 'by rawr',
  host = 'by the host',
  user = 'by a person',
}

---@type table<rawr.Entrance, string?>
M.Entrance = {
  turn_complete = 'at the end of a turn',
  preflight = 'before the next message',
  mid_turn = 'during a turn',
  inline = 'by the built-in compaction',
}

---@type table<rawr.Gate, string?>
M.Gate = {
  feature = 'Feature enabled',
  pressure = 'Context pressure',
  origin = 'User turn',
  mode_of_host = 'Host mode',
  guard = 'Guards',
  breaker = 'Circuit breaker',
  rearm = 'New content',
  cooldown = 'Cooldown',
  boundary = 'Boundary',
  weak_boundary = 'Strong boundary',
  semantic_break = 'Semantic break',
  active_work = 'No active work',
  packet_worth = 'Packet content',
  confirmation = 'Confirmation',
  judgment = 'Judge',
  mode = 'Mode',
}

---@type table<rawr.GateOutcome, string?>
M.GateOutcome = {
  pass = 'passed',
  fail = 'failed',
  bypassed = 'bypassed',
  not_reached = 'not reached',
}

---@type table<rawr.Outcome, string?>
M.Outcome = {
  nothing = 'no compaction',
  tag = 'would compact',
  suggest = 'compaction recommended',
  ask = 'waiting for your approval',
  judge = 'asking the judge',
  defer = 'compaction deferred',
  compact = 'compaction decided',
}

---@type table<rawr.PacketAuthor, string?>
M.PacketAuthor = {
  agent = 'the agent',
  watcher = 'rawr',
  person = 'a person',
}

---@type table<rawr.Phase, string?>
M.Phase = {
  idle = 'Idle',
  awaiting_judgment = 'Asking the judge',
  awaiting_approval = 'Waiting for your approval',
  deferred = 'Compacting before your next message',
  proposed = 'Compaction proposed',
  awaiting_heads_up = 'Notifying the agent',
  awaiting_scratch_write = "Saving the agent's notes",
  awaiting_packet = 'Writing the packet',
  awaiting_compaction = 'Packet ready: type /compact in the agent',
  compacting = 'Compacting',
  awaiting_handoff = 'Handing the packet back',
}

---@type table<rawr.RequestState, string?>
M.RequestState = {
  queued = 'queued',
  asked = 'asked',
  answered = 'answered',
  failed = 'failed',
}

---@type table<rawr.Tier, string?>
M.Tier = {
  early = 'early',
  ready = 'ready',
  asap = 'asap',
  emergency = 'emergency',
}

return M
