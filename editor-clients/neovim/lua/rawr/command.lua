--- `:Rawr`: what each word does, and what may follow it.

local choose = require('rawr.choose')
local client = require('rawr.client')
local live = require('rawr.live')
local threads = require('rawr.threads')
local words = require('rawr.words')

local M = {}

---@class rawr.Command
---@field about string
---@field run fun(thread: string?, rest: string[])
---@field follows? string[] what may follow it

---@param text string
local function refuse(text)
  client.say(text, vim.log.levels.ERROR)
end

--- `3`, `3t` or `20m`. Pure.
---@param typed string
---@return rawr.Until?
function M.how_long(typed)
  local digits, unit = typed:match('^(%d+)([tm]?)$')
  local count = math.floor(tonumber(digits) or 0)
  if count == 0 then
    return nil
  elseif unit == 'm' then
    return { kind = 'minutes', minutes = count }
  end
  return { kind = 'turns', turns = count }
end

---@type table<string, rawr.Until?>
local GUARDS = {
  ['next-commit'] = { kind = 'next_commit' },
  ['tests-pass'] = { kind = 'tests_pass' },
  released = { kind = 'released' },
}

--- A row about one thread. The thread is looked for first.
---@param run fun(thread: rawr.ThreadSummary, rest: string[])
---@return fun(thread: string?, rest: string[])
local function on_thread(run)
  return function(name, rest)
    choose.thread(name, function(thread)
      run(thread, rest)
    end)
  end
end

---@param thread rawr.ThreadSummary
local function status(thread)
  client.on_thread(thread, 'rawr/thread/get', {}, function(details)
    threads.put(live.threads, details.thread)
    local summary = details.thread
    local lines =
      { ('%s  %s'):format(summary.threadId, words.pressure(summary.percentRemaining, summary.tier)) }
    vim.list_extend(lines, words.facts(details, live.now()))
    vim.notify(table.concat(lines, '\n'), vim.log.levels.INFO, { title = 'rawr' })
  end)
end

---@param thread rawr.ThreadSummary
local function compact(thread)
  live.respond(thread, thread.phase == 'awaiting_approval' and 'approve' or 'compact_now')
end

---@param thread rawr.ThreadSummary
---@param rest string[]
local function snooze(thread, rest)
  local until_ = M.how_long(rest[1] or '1')
  if not until_ or #rest > 1 then
    return refuse('say a number of turns, or of minutes as in `:Rawr snooze 20m`')
  end
  live.respond(thread, 'snooze', { turns = until_.turns, minutes = until_.minutes })
end

---@param thread rawr.ThreadSummary
---@param rest string[]
local function guard(thread, rest)
  local what = rest[1] or 'released'
  if what == 'clear' then
    return client.on_thread(thread, 'rawr/guard/clear', { guardId = rest[2] }, function(answer)
      client.say(('%d guard(s) cleared.'):format(answer.cleared))
    end)
  end
  local until_ = GUARDS[what] or M.how_long(what)
  if not until_ then
    return refuse(
      ('a guard holds until next-commit, tests-pass or released, or for 3 turns or 20m, not `%s`'):format(
        what
      )
    )
  end
  local note = #rest > 1 and table.concat(rest, ' ', 2) or nil
  client.on_thread(thread, 'rawr/guard/set', { ['until'] = until_, note = note }, function(answer)
    client.say(
      ('Guard %s: no compaction %s, short of an emergency.'):format(answer.guardId, words.until_end(until_))
    )
  end)
end

---@param thread rawr.ThreadSummary
---@param text string
local function pin(thread, text)
  local signal = { kind = 'directive', text = text, pinned = true }
  client.on_thread(thread, 'rawr/signal/report', { signal = signal }, function()
    client.say('Pinned: every handoff repeats it word for word.')
  end)
end

---@param thread rawr.ThreadSummary
---@param label string
local function mark(thread, label)
  local signal = { kind = 'phase_boundary', label = label }
  client.on_thread(thread, 'rawr/signal/report', { signal = signal }, function()
    client.say(('Marked: %s ends here.'):format(label))
  end)
end

--- A row that takes the words behind it, or asks for them.
---@param prompt string
---@param run fun(thread: rawr.ThreadSummary, text: string)
---@return fun(thread: string?, rest: string[])
local function with_text(prompt, run)
  return on_thread(function(thread, rest)
    if #rest > 0 then
      return run(thread, table.concat(rest, ' '))
    end
    vim.ui.input({ prompt = prompt }, function(text)
      if text and vim.trim(text) ~= '' then
        run(thread, vim.trim(text))
      end
    end)
  end)
end

---@param thread rawr.ThreadSummary
local function scratch(thread)
  client.on_thread(thread, 'rawr/scratch/path', {}, function(answer)
    if answer.exists then
      vim.cmd.split(vim.fn.fnameescape(answer.path))
    else
      client.say(('the agent has no notes yet; they would be in %s'):format(answer.scratchFile))
    end
  end)
end

local function prompts()
  client.request('rawr/prompt/list', {}, function(answer)
    local options = {
      prompt = 'Which prompt?',
      kind = 'rawr-prompt',
      format_item = function(prompt)
        local wrong = #prompt.problems > 0 and (' · %d problem(s)'):format(#prompt.problems) or ''
        return ('%s  %s%s'):format(prompt.name, prompt.origin, wrong)
      end,
    }
    vim.ui.select(answer.prompts, options, function(prompt)
      if prompt and prompt.path then
        vim.cmd.edit(vim.fn.fnameescape(prompt.path))
      elseif prompt then
        vim.cmd.split(vim.fn.fnameescape('rawr://shipped/' .. prompt.name))
      end
    end)
  end)
end

local function log()
  local path = client.log_file()
  if not vim.uv.fs_stat(path) then
    return client.say('the sidecar has written no log')
  end
  vim.cmd.split(vim.fn.fnameescape(path))
  vim.bo.readonly = true
  vim.cmd.normal({ 'G', bang = true })
end

---@type table<string, rawr.Command?>
M.COMMANDS = {
  status = { about = 'where a thread stands', run = on_thread(status) },
  threads = {
    about = 'all threads, live',
    run = function()
      require('rawr.board').open()
    end,
  },
  explain = {
    about = 'why a compaction came, or why none did',
    run = on_thread(function(thread)
      require('rawr.explain').open(thread)
    end),
  },
  compact = { about = 'compact as soon as the agent is idle, or say yes', run = on_thread(compact) },
  cancel = {
    about = 'call the compaction off',
    run = on_thread(function(thread)
      live.respond(thread, 'cancel')
    end),
  },
  snooze = { about = 'put compaction off', run = on_thread(snooze), follows = { '1', '3', '20m' } },
  guard = {
    about = 'no compaction until something happens',
    run = on_thread(guard),
    follows = { 'next-commit', 'tests-pass', 'released', '3', '20m', 'clear' },
  },
  pin = {
    about = 'an instruction that every handoff repeats word for word',
    run = with_text('Keep word for word: ', pin),
  },
  mark = {
    about = 'a phase of the work ends here',
    run = with_text('The phase that ends here: ', mark),
  },
  scratch = { about = "the agent's working notes", run = on_thread(scratch) },
  packet = {
    about = 'the continuation packet; :RawrHandOver in it hands it over',
    run = on_thread(function(thread)
      require('rawr.packet').open(thread)
    end),
  },
  prompts = { about = 'open one of the prompts', run = prompts },
  banner = {
    about = 'go into the banner, to answer it by a key',
    run = function()
      client.start()
      require('rawr.banner').focus()
    end,
  },
  choose = { about = 'answer the banner from a list', run = on_thread(choose.answer) },
  log = { about = "the sidecar's log", run = log },
  start = {
    about = 'begin to watch',
    run = function()
      client.start()
    end,
  },
  stop = {
    about = 'end the sidecar',
    run = function()
      client.stop()
    end,
  },
  restart = { about = 'end the sidecar and start another', run = client.restart },
}

--- The thread that is named by `thread=NAME`, and the words beside it. Pure.
---@param arguments string[]
---@return string? thread, string[] rest
function M.parse(arguments)
  local thread, rest = nil, {}
  for _, word in ipairs(arguments) do
    local name = #rest == 0 and word:match('^thread=(.+)$')
    if name then
      thread = name
    else
      table.insert(rest, word)
    end
  end
  return thread, rest
end

---@param arguments string[]
function M.run(arguments)
  if #arguments == 0 then
    return require('rawr.board').open()
  end
  local command = M.COMMANDS[arguments[1]]
  if not command then
    local known = vim.tbl_keys(M.COMMANDS)
    table.sort(known)
    return refuse(('`%s` is none of %s'):format(arguments[1], table.concat(known, ', ')))
  end
  command.run(M.parse(vim.list_slice(arguments, 2)))
end

--- Whole words that may stand where the cursor is.
---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local before = vim.split(line:sub(1, #line - #lead), '%s+', { trimempty = true })
  local candidates = {}
  if #before == 1 then
    candidates = vim.tbl_keys(M.COMMANDS)
  else
    local command = M.COMMANDS[before[2] or '']
    if command and #before == 2 then
      for _, row in ipairs(threads.sorted(live.threads)) do
        table.insert(candidates, 'thread=' .. row.thread.threadId)
      end
    end
    local last = before[#before]
    if command and (#before == 2 or vim.startswith(last, 'thread=')) then
      vim.list_extend(candidates, command.follows or {})
    end
  end
  table.sort(candidates)
  return vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, candidates)
end

return M
