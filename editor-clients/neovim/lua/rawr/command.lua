--- `:Rawr`: its subcommands and their completion.

local choose = require('rawr.choose')
local client = require('rawr.client')
local live = require('rawr.live')
local names = require('rawr.names')
local threads = require('rawr.threads')
local words = require('rawr.words')

local M = {}

---@class rawr.Command
---@field about string
---@field run fun(thread: string?, rest: string[])
---@field follows? string[] what may follow it
---@field names_thread? boolean whether a thread's name may follow it without `thread=`

---@param text string
---@param hint? string
local function refuse(text, hint)
  client.announce(text, { hint = hint, level = vim.log.levels.ERROR })
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

--- A subcommand about one thread, which is resolved first.
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
    local lines = { words.pressure(summary.percentRemaining, summary.tier) }
    vim.list_extend(lines, words.facts(details, live.now()))
    require('rawr.float').open(live.name(summary.threadId), lines)
  end)
end

--- The sequence that a command about the thread answers.
---@param thread rawr.ThreadSummary
---@return string?
local function sequence_of(thread)
  local row = live.threads.rows[thread.threadId]
  return row and row.sequence
end

---@param thread rawr.ThreadSummary
local function compact(thread)
  live.respond(thread, 'compact_now', { sequenceId = sequence_of(thread) })
end

---@param thread rawr.ThreadSummary
---@param rest string[]
local function snooze(thread, rest)
  local until_ = M.how_long(rest[1] or '1')
  if not until_ or #rest > 1 then
    return refuse('use a number of turns as in 3, or minutes as in 20m')
  end
  live.respond(thread, 'snooze', { turns = until_.turns, minutes = until_.minutes })
end

---@param thread rawr.ThreadSummary
---@param rest string[]
local function guard(thread, rest)
  local what = rest[1] or 'released'
  if what == 'clear' then
    return client.on_thread(thread, 'rawr/guard/clear', { guardId = rest[2] }, function(answer)
      client.say(('%s cleared.'):format(words.counted(answer.cleared, 'guard')))
    end)
  end
  local until_ = GUARDS[what] or M.how_long(what)
  if not until_ then
    return refuse(('use next-commit, tests-pass, released, 3 or 20m, not `%s`'):format(what))
  end
  local note = #rest > 1 and table.concat(rest, ' ', 2) or nil
  client.on_thread(thread, 'rawr/guard/set', { ['until'] = until_, note = note }, function(answer)
    client.say(
      ('Guard %s: no compaction %s, except in an emergency.'):format(answer.guardId, words.until_end(until_))
    )
  end)
end

---@param thread rawr.ThreadSummary
---@param text string
local function pin(thread, text)
  local signal = { kind = 'directive', text = text, pinned = true }
  client.on_thread(thread, 'rawr/signal/report', { signal = signal }, function()
    client.say('Pinned: it is kept verbatim across every compaction.')
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

--- A subcommand that takes a text, or asks for it.
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
      client.say(('the agent has written no notes yet: %s'):format(answer.scratchFile))
    end
  end)
end

local function prompts()
  client.request('rawr/prompt/list', {}, function(answer)
    local options = {
      prompt = 'Which prompt?',
      kind = 'rawr-prompt',
      format_item = function(prompt)
        local wrong = #prompt.problems > 0 and ' · ' .. words.counted(#prompt.problems, 'problem') or ''
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
  status = { about = 'the state of a thread', run = on_thread(status), names_thread = true },
  threads = {
    about = 'all threads, live',
    run = function()
      require('rawr.board').open()
    end,
  },
  explain = {
    about = 'why a compaction happened, or why none did',
    run = on_thread(function(thread)
      require('rawr.explain').open(thread)
    end),
    names_thread = true,
  },
  compact = {
    about = 'compact as soon as the agent is idle, or approve the pending compaction',
    run = on_thread(compact),
    names_thread = true,
  },
  approve = {
    about = 'approve the pending compaction',
    run = on_thread(function(thread)
      live.respond(thread, 'approve', { sequenceId = sequence_of(thread) })
    end),
    names_thread = true,
  },
  cancel = {
    about = 'cancel the compaction',
    run = on_thread(function(thread)
      live.respond(thread, 'cancel', { sequenceId = sequence_of(thread) })
    end),
    names_thread = true,
  },
  snooze = { about = 'postpone compaction', run = on_thread(snooze), follows = { '1', '3', '20m' } },
  guard = {
    about = 'block compaction until a condition is met',
    run = on_thread(guard),
    follows = { 'next-commit', 'tests-pass', 'released', '3', '20m', 'clear' },
  },
  pin = {
    about = 'keep an instruction verbatim across every compaction',
    run = with_text('Keep verbatim: ', pin),
  },
  mark = {
    about = 'mark the end of a phase of work',
    run = with_text('Name of the phase that ends here: ', mark),
  },
  scratch = { about = "the agent's working notes", run = on_thread(scratch), names_thread = true },
  packet = {
    about = 'the continuation packet; :RawrHandOver in it hands it over',
    run = on_thread(function(thread)
      require('rawr.packet').open(thread)
    end),
    names_thread = true,
  },
  prompts = { about = 'open one of the prompts', run = prompts },
  banner = {
    about = 'focus the banner, to respond with a key',
    run = function()
      client.start()
      require('rawr.banner').focus()
    end,
  },
  choose = { about = 'answer the banner from a list', run = on_thread(choose.answer), names_thread = true },
  log = { about = "the sidecar's log", run = log },
  start = {
    about = 'start watching',
    run = function()
      client.start()
    end,
  },
  stop = {
    about = 'stop the sidecar',
    run = function()
      client.stop()
    end,
  },
  restart = { about = 'restart the sidecar', run = client.restart },
}

--- The thread of `thread=NAME`, and the other arguments. Pure.
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

--- `:Rawr NAME`: the thread of this name.
---@param arguments string[]
local function open_thread(arguments)
  local function unknown()
    refuse(('no subcommand or thread is called `%s`'):format(arguments[1]), 'see `:help :Rawr`')
  end
  if #arguments > 1 then
    return unknown()
  end
  choose.thread(arguments[1], require('rawr.board').open_thread, unknown)
end

---@param arguments string[]
function M.run(arguments)
  if #arguments == 0 then
    return require('rawr.board').open()
  end
  local command = M.COMMANDS[arguments[1]]
  if not command then
    return open_thread(arguments)
  end
  local thread, rest = M.parse(vim.list_slice(arguments, 2))
  if command.names_thread and not thread then
    thread = table.remove(rest, 1)
  end
  command.run(thread, rest)
end

--- Completions at the cursor.
---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local before = vim.split(line:sub(1, #line - #lead), '%s+', { trimempty = true })
  local candidates = {}
  local function add_threads(prefix)
    for _, row in ipairs(threads.sorted(live.threads)) do
      table.insert(candidates, prefix .. names.handle(live.threads, row.thread))
    end
  end
  if #before == 1 then
    candidates = vim.tbl_keys(M.COMMANDS)
    add_threads('')
  else
    local command = M.COMMANDS[before[2] or '']
    if command and #before == 2 then
      add_threads(command.names_thread and '' or 'thread=')
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
