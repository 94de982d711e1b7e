--- Threads and decisions as lines of a buffer, each with its fold and its subject. Pure.

local labels = require('rawr.labels')
local status = require('rawr.status')
local words = require('rawr.words')

local M = {}

---@class rawr.Line
---@field text string
---@field fold string for 'foldexpr'
---@field group? string the highlight group of the line
---@field thread? string
---@field decision? string

---@class rawr.Details
---@field thread rawr.ThreadGetResult
---@field decisions rawr.Decision[] the latest last

---@param at_ms integer
---@param now_ms integer
---@return string
local function clock(at_ms, now_ms)
  local format = now_ms - at_ms < 86400000 and '%H:%M:%S' or '%Y-%m-%d'
  return os.date(format, math.floor(at_ms / 1000)) --[[@as string]]
end

---@param lines rawr.Line[]
---@param decisions rawr.Decision[]
---@param thread string
---@param now_ms integer
function M.decisions(lines, decisions, thread, now_ms)
  for at = #decisions, 1, -1 do
    local decision = decisions[at]
    local group = decision.outcome == 'nothing' and 'Comment' or 'Special'
    local text = ('  %s  %s'):format(clock(decision.atMs, now_ms), words.decided(decision))
    local id = decision.decisionId
    table.insert(lines, { text = text, fold = '>1', group = group, thread = thread, decision = id })
    for _, gate in ipairs(words.gates(decision)) do
      local failed = vim.startswith(gate, '✗') and 'DiagnosticError' or nil
      table.insert(
        lines,
        { text = '      ' .. gate, fold = '1', group = failed, thread = thread, decision = id }
      )
    end
  end
end

--- A thread's heading, with its details below if it is expanded.
---@param lines rawr.Line[]
---@param row rawr.Row
---@param name string
---@param is_open boolean
---@param details? rawr.Details
---@param now_ms integer
function M.thread(lines, row, name, is_open, details, now_ms)
  local thread = row.thread
  local id = thread.threadId
  local heading = ('%s %s  %s'):format(
    is_open and '▾' or '▸',
    name,
    words.pressure(thread.percentRemaining, thread.tier)
  )
  if thread.phase ~= 'idle' then
    heading = heading .. ' · ' .. (labels.Phase[thread.phase] or thread.phase)
  end
  local group = thread.tier and status.GROUP[thread.tier] or 'Title'
  table.insert(lines, { text = heading, fold = '0', group = group, thread = id })
  if not is_open then
    return
  end
  if not details then
    table.insert(lines, { text = '  …', fold = '0', group = 'Comment', thread = id })
    return
  end
  for _, fact in ipairs(words.facts(details.thread, now_ms)) do
    table.insert(lines, { text = '  ' .. fact, fold = '0', thread = id })
  end
  if #details.decisions > 0 then
    table.insert(lines, { text = '  decisions', fold = '0', group = 'Title', thread = id })
    M.decisions(lines, details.decisions, id, now_ms)
  end
end

return M
