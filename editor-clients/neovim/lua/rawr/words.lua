--- Texts about threads, banners and decisions, the same as in the CLI. Pure.

local labels = require('rawr.labels')

local M = {}

---@type table<rawr.GateOutcome, string>
local MARK = { pass = '✓', fail = '✗', bypassed = '⤳', not_reached = '–' }

--- Control characters, including two-byte ones, and marks that change the writing direction.
local HARMFUL = { '%c', '\xc2[\x80-\x9f]', '\xe2\x80[\xaa-\xae]', '\xe2\x81[\xa6-\xa9]' }

--- One line without control characters, because texts may be untrusted.
---@param text string
---@return string
function M.one_line(text)
  text = text:gsub('%s+', ' ')
  for _, harmful in ipairs(HARMFUL) do
    text = text:gsub(harmful, '\u{fffd}')
  end
  return text
end

--- Cuts a text to a width on the screen.
---@param text string
---@param width integer
---@return string
function M.cut(text, width)
  if vim.api.nvim_strwidth(text) <= width then
    return text
  end
  local kept, used = {}, 1
  for _, character in ipairs(vim.fn.split(text, '\\zs')) do
    used = used + vim.api.nvim_strwidth(character)
    if used > width then
      break
    end
    table.insert(kept, character)
  end
  return table.concat(kept) .. '…'
end

--- The least that is left of a thread's name.
M.SHORTEST_NAME = 12

--- A message in one line of this width, because Neovim waits for a key after a longer one. Cuts the thread's name, then
--- the text, never the hint.
---@param width integer
---@param name? string of the thread
---@param text string
---@param hint? string what to do next
---@return string
function M.message(width, name, text, hint)
  local tail = hint and ': ' .. hint or ''
  text = M.one_line(text)
  local function whole()
    return 'rawr: ' .. (name and name .. ': ' or '') .. text
  end
  local room = width - vim.api.nvim_strwidth(tail)
  if name then
    local excess = math.max(vim.api.nvim_strwidth(whole()) - room, 0)
    name = M.cut(name, math.max(vim.api.nvim_strwidth(name) - excess, M.SHORTEST_NAME))
  end
  return M.cut(whole(), room) .. tail
end

--- Wraps a text to a width, between words.
---@param text string
---@param width integer
---@return string[]
function M.wrapped(text, width)
  local lines = {}
  for _, paragraph in ipairs(vim.split(text, '\n', { plain = true })) do
    local line = ''
    for word in M.one_line(paragraph):gmatch('%S+') do
      local longer = line == '' and word or line .. ' ' .. word
      if line ~= '' and vim.api.nvim_strwidth(longer) > width then
        table.insert(lines, line)
        longer = word
      end
      line = longer
    end
    table.insert(lines, line)
  end
  return lines
end

---@param value integer
---@return string
function M.number(value)
  local digits = tostring(value)
  local first = #digits % 3
  local groups = first > 0 and { digits:sub(1, first) } or {}
  for at = first + 1, #digits, 3 do
    table.insert(groups, digits:sub(at, at + 2))
  end
  return table.concat(groups, ',')
end

---@param at_ms integer
---@param now_ms integer
---@return string
function M.ago(at_ms, now_ms)
  local seconds = math.floor(math.max(now_ms - at_ms, 0) / 1000)
  if seconds < 10 then
    return 'just now'
  elseif seconds < 60 then
    return seconds .. ' s ago'
  elseif seconds < 3600 then
    return math.floor(seconds / 60) .. ' min ago'
  elseif seconds < 172800 then
    return math.floor(seconds / 3600) .. ' h ago'
  end
  return math.floor(seconds / 86400) .. ' days ago'
end

--- The percentage left and the tier.
---@param percent? integer
---@param tier? rawr.Tier
---@return string
function M.pressure(percent, tier)
  return percent and ('%d%% left · %s'):format(percent, tier and labels.Tier[tier] or 'ok')
    or 'usage unknown'
end

--- What happens without an answer, and when.
---@param heads_up rawr.HeadsUp
---@param now_ms integer
---@return string?
function M.deadline(heads_up, now_ms)
  if not heads_up.deadlineAtMs or not heads_up.deadlineLabel then
    return nil
  end
  local seconds = math.floor(math.max(heads_up.deadlineAtMs - now_ms, 0) / 1000)
  local left = seconds < 120 and seconds .. ' s' or math.floor(seconds / 60) .. ' min'
  return ('%s %s.'):format(M.one_line(heads_up.deadlineLabel), left)
end

--- The reason and the message of a banner.
---@param heads_up rawr.HeadsUp
---@param width integer
---@return string[]
function M.banner(heads_up, width)
  local facts = {}
  if heads_up.percentRemaining then
    table.insert(facts, heads_up.percentRemaining .. '% left')
  end
  if heads_up.tier then
    table.insert(facts, labels.Tier[heads_up.tier] or heads_up.tier)
  end
  for _, boundary in ipairs(heads_up.boundaries) do
    table.insert(facts, labels.Boundary[boundary] or boundary)
  end
  local lines = M.wrapped(heads_up.reason, width)
  if #facts > 0 then
    vim.list_extend(lines, M.wrapped(table.concat(facts, ' · '), width))
  end
  vim.list_extend(lines, M.wrapped(heads_up.message, width))
  return lines
end

---@param count integer
---@param what string
---@return string
function M.counted(count, what)
  return ('%d %s%s'):format(count, what, count == 1 and '' or 's')
end

---@param until_ rawr.Until
---@return string
function M.until_end(until_)
  if until_.kind == 'turns' then
    return 'for ' .. M.counted(until_.turns or 0, 'turn')
  elseif until_.kind == 'minutes' then
    return 'for ' .. M.counted(until_.minutes or 0, 'minute')
  elseif until_.kind == 'next_commit' then
    return 'until the next commit'
  elseif until_.kind == 'tests_pass' then
    return 'until the tests pass'
  end
  return 'until it is cleared'
end

---@param guard rawr.Guard
---@param now_ms integer
---@return string
function M.guard(guard, now_ms)
  local note = guard.note and (' (%s)'):format(M.one_line(guard.note)) or ''
  local by = guard.setBy and ' by ' .. M.one_line(guard.setBy) or ''
  return ('%s %s%s, set %s%s'):format(
    guard.guardId,
    M.until_end(guard['until']),
    note,
    M.ago(guard.setAtMs, now_ms),
    by
  )
end

--- What an answer does.
---@param choice rawr.Choice
---@return string
function M.effect(choice)
  if choice == 'compact_now' then
    return 'as soon as the agent is idle'
  elseif choice == 'approve' then
    return 'the compaction continues'
  elseif choice == 'snooze' then
    return ('no compaction %s, except in an emergency'):format(M.until_end({ kind = 'turns', turns = 1 }))
  elseif choice == 'cancel' then
    return 'stops this compaction; nothing is compacted'
  end
  return 'opens the packet; nothing is answered yet'
end

--- The confirmation of a response.
---@param choice rawr.Choice
---@param until_? rawr.Until
---@return string
function M.recorded(choice, until_)
  if choice == 'compact_now' then
    return 'Requested: a compaction as soon as the agent is idle.'
  elseif choice == 'approve' then
    return 'Approved: the compaction continues.'
  elseif choice == 'snooze' then
    local end_ = until_ and ' ' .. M.until_end(until_) or ''
    return ('Snoozed: no compaction%s, except in an emergency.'):format(end_)
  elseif choice == 'cancel' then
    return 'Canceled: nothing is compacted.'
  end
  return 'Saved: the compaction continues with this packet.'
end

--- An answer that the sidecar refused, because there is nothing to answer or no longer.
---@param choice rawr.Choice
---@param is_of_sequence boolean
---@param is_not_now boolean the thread is at another step
---@return string
function M.too_late(choice, is_of_sequence, is_not_now)
  if choice == 'compact_now' and is_not_now then
    return 'A compaction is already under way.'
  elseif is_of_sequence then
    return 'This answer came too late: the compaction has ended, or was already answered.'
  end
  return 'There is no compaction to answer right now.'
end

---@param before? integer
---@param after? integer
---@return string
function M.tokens(before, after)
  if before and after then
    return ('%s → %s tokens'):format(M.number(before), M.number(after))
  elseif after then
    return ('→ %s tokens'):format(M.number(after))
  end
  return 'done'
end

---@param compaction rawr.DecisionCompaction
---@return string
function M.compacted_to(compaction)
  if compaction.status == 'in_progress' then
    return 'under way'
  elseif compaction.status == 'completed' then
    return M.tokens(compaction.tokensBefore, compaction.tokensAfter)
  elseif compaction.status == 'failed' then
    return 'failed; nothing was compacted'
  end
  return 'canceled; nothing was compacted'
end

--- Whether the compaction of a decision has ended.
---@param decision rawr.Decision
---@return boolean
function M.is_over(decision)
  local fate = decision.fate and decision.fate.status
  return fate ~= nil and fate ~= 'waiting' and fate ~= 'running'
end

--- A decision in one line.
---@param decision rawr.Decision
---@return string
function M.decided(decision)
  local fate = decision.fate and ' · ' .. M.one_line(decision.fate.text) or ''
  local outcome, proposed = labels.Outcome[decision.outcome] or decision.outcome, labels.Phase.proposed
  if proposed and decision.confirm then
    -- A proposal is named like its phase.
    outcome = proposed:lower()
  elseif decision.outcome == 'ask' and M.is_over(decision) then
    outcome = 'approval requested'
  end
  return ('%s: %s%s'):format(outcome, M.one_line(decision.reason), fate)
end

--- Every gate with its evidence, and the result.
---@param decision rawr.Decision
---@return string[]
function M.gates(decision)
  local lines, failed = {}, nil
  for _, result in ipairs(decision.gates) do
    local evidence = M.one_line(result.evidence)
    if result.outcome == 'not_reached' and evidence == '' then
      evidence = 'not reached'
    elseif result.outcome == 'bypassed' then
      evidence = evidence .. ' (bypassed)'
    end
    failed = failed or (result.outcome == 'fail' and result.gate or nil)
    local gate = labels.Gate[result.gate] or result.gate
    table.insert(lines, ('%s %-16s %s'):format(MARK[result.outcome] or '?', gate, evidence))
  end
  local judgment = decision.judgment
  if judgment and (judgment.reason ~= '' or judgment.error) then
    table.insert(lines, 'judge: ' .. M.one_line(judgment.error or judgment.reason))
  end
  if failed or not M.is_over(decision) then
    local begin = failed and 'would come if: ' or 'comes if: '
    for _, condition in ipairs(decision.wouldFireIf) do
      table.insert(lines, begin .. M.one_line(condition))
    end
  end
  if decision.compaction then
    table.insert(lines, 'compaction: ' .. M.compacted_to(decision.compaction))
  end
  return lines
end

--- The state of a thread, as named facts.
---@param details rawr.ThreadGetResult
---@param now_ms integer
---@return string[]
function M.facts(details, now_ms)
  local thread, lines = details.thread, {}
  local function fact(name, text)
    table.insert(lines, ('%-10s %s'):format(name, text))
  end
  local sequence = details.sequenceId and ', sequence ' .. details.sequenceId or ''
  fact('thread', M.one_line(thread.threadId))
  fact('folder', M.one_line(thread.cwd))
  fact(
    'run by',
    thread.owner and M.one_line(thread.owner) or thread.runsByHooks and 'its agent, by hooks' or 'no process'
  )
  local phase = (labels.Phase[thread.phase] or thread.phase) .. sequence
  fact('phase', thread.proposal and M.one_line(thread.proposal.text) or phase)
  if details.compactionAskedFor then
    fact('asked for', 'a compaction, as soon as the agent is idle')
  end
  if #details.heldInputs > 0 then
    fact('waiting', M.counted(#details.heldInputs, 'message') .. ' of yours, until the handoff')
  end
  for _, guard in ipairs(details.guards) do
    fact('guard', M.guard(guard, now_ms))
  end
  for _, directive in ipairs(details.directives) do
    fact('kept', M.one_line(directive.text))
  end
  if thread.lastFate then
    local fate = thread.lastFate
    fact('outcome', ('%s, %s'):format(M.one_line(fate.text), M.ago(fate.atMs, now_ms)))
  end
  if thread.breaker then
    fact('paused', M.one_line(thread.breaker.reason))
    fact('', 'compacts again when ' .. M.one_line(thread.breaker.endsWhen))
  end
  local last = details.lastCompaction
  if last then
    fact(
      'compacted',
      ('%s, %s'):format(M.tokens(last.tokensBefore, last.tokensAfter), M.ago(last.atMs, now_ms))
    )
  end
  for _, step in ipairs(details.plan) do
    local mark = step.status == 'completed' and '✓' or step.status == 'in_progress' and '▸' or '·'
    fact('plan', mark .. ' ' .. M.one_line(step.step))
  end
  return lines
end

return M
