--- Asks for a thread or an answer with `vim.ui.select` if it is ambiguous.

local client = require('rawr.client')
local live = require('rawr.live')
local labels = require('rawr.labels')
local names = require('rawr.names')
local threads = require('rawr.threads')
local words = require('rawr.words')

local M = {}

---@param row rawr.Row
---@return string
local function label(row)
  local thread = row.thread
  local folder = vim.fn.fnamemodify(thread.cwd, ':~')
  local ago = words.ago(thread.updatedAtMs, live.now())
  return ('%s  %s · %s · %s'):format(
    live.name(thread.threadId),
    words.pressure(thread.percentRemaining, thread.tier),
    ago,
    folder
  )
end

---@param name? string
---@param done fun(thread: rawr.ThreadSummary)
---@param unknown? fun() instead of a message that there is no such thread
local function among_known(name, done, unknown)
  if name then
    local row, candidates = names.find(live.threads, name)
    if row then
      return done(row.thread)
    elseif unknown and #candidates == 0 then
      return unknown()
    end
    local near = #candidates > 0 and ('`%s` is ambiguous: %s'):format(name, table.concat(candidates, ', '))
    return client.say(near or ('there is no thread `%s`'):format(name), vim.log.levels.ERROR)
  end
  local rows = threads.sorted(live.threads)
  local asking = vim.tbl_filter(function(row)
    return threads.banner(live.threads, row.thread.threadId) ~= nil
  end, rows)
  rows = #asking > 0 and asking or rows
  local first = rows[1]
  if not first then
    return client.say('there is no thread yet: run an agent with rawr first')
  elseif #rows == 1 then
    return done(first.thread)
  end
  vim.ui.select(
    rows,
    { prompt = 'Which thread?', format_item = label, kind = 'rawr-thread' },
    function(chosen)
      if chosen then
        done(chosen.thread)
      end
    end
  )
end

--- The thread with this name, the only one with a banner, the only one, or one that the user selects: of several that ask,
--- none is answered by chance.
---@param name? string
---@param done fun(thread: rawr.ThreadSummary)
---@param unknown? fun() instead of a message that there is no such thread
function M.thread(name, done, unknown)
  local named = next(live.threads.rows) and (not name or names.find(live.threads, name))
  local is_known = named and (name or live.knows_banners())
  if is_known then
    return among_known(name, done, unknown)
  end
  live.list(function()
    among_known(name, done, unknown)
  end)
end

--- Asks for an answer to the banner, or for a request if there is none.
---@param thread rawr.ThreadSummary
function M.answer(thread)
  local banner = threads.banner(live.threads, thread.threadId)
  local choices = banner and banner.heads_up.choices
    or {
      { choice = 'compact_now', label = labels.Choice.compact_now },
      { choice = 'snooze', label = labels.Choice.snooze },
    }
  local title = banner and banner.heads_up.title or 'no compaction is pending'
  local options = {
    prompt = ('%s: %s'):format(live.name(thread.threadId), title),
    kind = 'rawr-choice',
    format_item = function(offered)
      return ('%s: %s'):format(words.one_line(offered.label), words.effect(offered.choice))
    end,
  }
  vim.ui.select(choices, options, function(offered)
    local choice = offered and offered.choice
    if choice == 'edit_packet' then
      require('rawr.packet').open(thread)
    elseif choice then
      local turns = choice == 'snooze' and 1 or nil
      local sequence = banner and banner.heads_up.sequenceId or nil
      live.respond(thread, choice, { turns = turns, sequenceId = sequence })
    end
  end)
end

return M
