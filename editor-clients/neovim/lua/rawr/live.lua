--- Handles the sidecar's notifications: updates the state, the views, and triggers autocommands.

local client = require('rawr.client')
local threads = require('rawr.threads')

local M = {}

--- The current state of threads.
M.threads = threads.new()

--- The modules that draw it. A view is added when it is opened.
---@type table<string, fun(thread_id?: string)>
local views = {}

--- A request for the list is pending; another one is needed after it.
local listing, stale = false, false
--- Pending requests about sequences that started earlier. Until they are answered, a banner may be missing.
local catching_up = { open = 0 }
--- Callbacks that wait for all threads and their banners.
---@type fun()[]
local after_list = {}
--- How many changes of each thread were told: an answer that was asked for before the last one is outdated.
---@type table<string, integer?>
local told = {}
--- Sequences that compacted and wait for the handoff, by thread.
---@type table<string, string?>
local handing_off = {}
--- The folder whose threads are watched; all of the home if absent.
---@type string?
local watched

---@return integer
function M.now()
  local seconds, micros = vim.uv.gettimeofday()
  return math.floor(assert(seconds) * 1000 + micros / 1000)
end

---@param name string
---@param draw fun(thread_id?: string)
function M.view(name, draw)
  views[name] = draw
end

--- What a thread is called.
---@param thread_id string
---@return string
function M.name(thread_id)
  return require('rawr.names').of_id(M.threads, thread_id)
end

---@param thread_id? string all where absent
local function draw(thread_id)
  for _, view in vim.spairs(views) do
    view(thread_id)
  end
  vim.cmd.redrawstatus({ bang = true })
end

---@param name string
---@param data table
local function emit(name, data)
  vim.api.nvim_exec_autocmds('User', { pattern = name, data = data, modeline = false })
end

--- The banner of a sequence that started before this client connected. The banner module is loaded with the first one.
---@param details rawr.ThreadGetResult
local function catch_up(details)
  local thread_id = details.thread.threadId
  local known = threads.banner(M.threads, thread_id)
  threads.show(M.threads, thread_id, details.headsUp)
  if details.headsUp then
    require('rawr.banner').enable()
    if not known then
      emit('RawrHeadsUp', vim.tbl_extend('force', { threadId = thread_id }, details.headsUp))
    end
  end
  draw(thread_id)
end

local function go_on()
  if listing or catching_up.open > 0 then
    return
  end
  local all = after_list
  after_list = {}
  for _, one in ipairs(all) do
    one()
  end
end

--- Delays the callbacks that need all banners until the returned function is called.
---@return fun()
local function hold()
  local of = catching_up
  of.open = of.open + 1
  return function()
    of.open = of.open - 1
    go_on()
  end
end

---@param thread rawr.ThreadSummary
local function request_banner(thread)
  local release, before = hold(), told[thread.threadId]
  client.on_thread(thread, 'rawr/thread/get', {}, function(details)
    if told[thread.threadId] == before then
      catch_up(details)
    end
    release()
  end, function(error)
    client.complain(error)
    release()
  end)
end

---@param all rawr.ThreadSummary[]
local function put(all)
  for _, thread in ipairs(all) do
    threads.put(M.threads, thread, vim.uv.fs_realpath(thread.cwd))
  end
  draw()
end

--- Requests the list of threads and their owners.
---@param done? fun() called once their banners are known, too
function M.list(done)
  table.insert(after_list, done)
  if listing then
    stale = true
    return
  end
  listing = true
  client.request('rawr/thread/list', {}, function(answer)
    listing = false
    if stale then
      stale = false
      return M.list()
    end
    put(answer.threads)
    go_on()
  end, function(error)
    listing, stale, after_list = false, false, {}
    client.complain(error)
  end)
end

--- Whether a thread without a banner is known to have none.
---@return boolean
function M.knows_banners()
  return catching_up.open == 0
end

--- Watches the folder instead of the one before it.
---@param folder? string all threads if absent
---@param done? fun(threads: rawr.ThreadSummary[])
local function watch(folder, done)
  watched = folder
  local release = hold()
  client.request('rawr/thread/watch', { workspaceFolder = folder }, function(answer)
    put(answer.threads)
    for _, thread in ipairs(answer.threads) do
      -- A sequence of a thread that does not run is suspended and needs no answer.
      if thread.phase ~= 'idle' and thread.running then
        request_banner(thread)
      end
    end
    if done then
      done(answer.threads)
    end
    release()
  end, function(error)
    client.complain(error)
    release()
  end)
end

--- The current folder is another one.
local function follow()
  local folder, old = vim.fn.getcwd(-1, -1), watched
  if not old or old == folder or not client.client() then
    return
  end
  client.request('rawr/thread/unwatch', { workspaceFolder = old })
  -- A banner of a thread that is no longer watched would stay.
  M.threads.banners = {}
  watch(folder)
  draw()
end

--- The sidecar is ready and sends notifications.
function M.begin()
  local group = vim.api.nvim_create_augroup('rawr.live', { clear = true })
  -- Not of a window: that would change what is watched with each step from window to window.
  vim.api.nvim_create_autocmd('DirChanged', { group = group, pattern = 'global', callback = follow })
  local folder = require('rawr.config').get().watch == 'folder' and vim.fn.getcwd(-1, -1) or nil
  watch(folder, function(all)
    emit('RawrReady', { threads = all })
  end)
end

--- The sidecar ended: resets the state.
function M.lost()
  M.threads = threads.new()
  handing_off, told, watched = {}, {}, nil
  listing, stale, after_list = false, false, {}
  catching_up = { open = 0 }
  draw()
end

---@type table<string, fun(params: any)?>
local ON = {
  ['rawr/thread/changed'] = function(params)
    told[params.threadId] = (told[params.threadId] or 0) + 1
    -- A pending list may be older than this change.
    stale = stale or listing
    local expired = threads.expired(M.threads, params)
    if expired then
      client.announce('compaction ' .. expired, { thread = M.name(params.threadId) })
    end
    if not threads.changed(M.threads, params, M.now()) then
      M.list()
    end
    if params.headsUp then
      require('rawr.banner').enable()
    end
    emit('RawrChanged', params)
    -- A short phase may not be reported.
    local sequence = handing_off[params.threadId]
    if sequence and params.sequenceId ~= sequence then
      handing_off[params.threadId] = nil
      emit('RawrHandoff', params)
    end
  end,
  ['rawr/thread/listChanged'] = function(params)
    -- A pending list may be older than this change.
    stale = stale or listing
    for _, id in ipairs(params.gone) do
      threads.remove(M.threads, id)
    end
    put(params.threads)
  end,
  ['rawr/sequence/headsUp'] = function(params)
    emit('RawrHeadsUp', params)
  end,
  ['rawr/sequence/responded'] = function(params)
    local answer = require('rawr.labels').Choice[params.choice] or params.choice
    local text = ('answered by %s: %s'):format(params.by or 'another client', answer)
    client.announce(text, { thread = M.name(params.threadId) })
    emit('RawrAnswered', params)
  end,
  ['rawr/decision/recorded'] = function(params)
    emit('RawrDecided', params)
  end,
  ['rawr/compaction/update'] = function(params)
    if params.status == 'in_progress' then
      emit('RawrCompacting', params)
    elseif params.status == 'completed' then
      handing_off[params.threadId] = params.sequenceId
      local figures = require('rawr.words').tokens(params.tokensBefore, params.tokensAfter)
      client.announce('context compacted: ' .. figures, { thread = M.name(params.threadId) })
      emit('RawrCompacted', params)
    else
      local has_failed = params.status == 'failed'
      local text = has_failed and 'the compaction failed' or 'the compaction was canceled'
      client.announce(text .. (params.error and ': ' .. params.error or ''), {
        thread = M.name(params.threadId),
        hint = has_failed and '`:Rawr explain`' or nil,
        level = has_failed and vim.log.levels.ERROR or vim.log.levels.INFO,
      })
      emit('RawrCompactionFailed', params)
    end
  end,
  ['rawr/packet/changed'] = function(params)
    require('rawr.packet').changed(params)
    emit('RawrPacket', params)
  end,
  ['rawr/scratch/changed'] = function(params)
    local buffer = vim.fn.bufnr('^' .. vim.fn.escape(params.path, '*?[]{},\\') .. '$')
    if buffer > 0 and vim.api.nvim_buf_is_loaded(buffer) then
      vim.cmd.checktime(buffer)
    end
    emit('RawrNotes', params)
  end,
  ['rawr/prompt/changed'] = function(params)
    emit('RawrPrompt', params)
  end,
  ['rawr/config/changed'] = function(params)
    emit('RawrConfig', params)
  end,
}

--- The notifications that the client listens to. Those about judgments only redraw.
---@type string[]
M.METHODS = vim.list_extend({ 'rawr/judgment/requested', 'rawr/judgment/result' }, vim.tbl_keys(ON))

---@param method string
---@param params any
function M.note(method, params)
  local on = ON[method]
  if on then
    on(params)
  end
  draw(params.threadId)
end

--- A user's answer, given at any client.
---@param thread rawr.ThreadSummary
---@param choice rawr.Choice
---@param more? { turns?: integer, minutes?: integer, packet?: string, sequenceId?: string }
---@param done? fun(answer: rawr.SequenceRespondResult)
function M.respond(thread, choice, more, done)
  local params = vim.tbl_extend('force', { choice = choice }, more or {})
  client.on_thread(thread, 'rawr/sequence/respond', params, function(answer)
    local until_ = params.turns and { kind = 'turns', turns = params.turns }
      or params.minutes and { kind = 'minutes', minutes = params.minutes }
      or nil
    local effect = thread.running and '' or ' Takes effect when the thread next runs.'
    local text = require('rawr.words').recorded(answer.choice, until_) .. effect
    client.say(M.name(thread.threadId) .. ': ' .. text)
    draw(thread.threadId)
    if done then
      done(answer)
    end
  end, function(error)
    local is_not_now = error.code == client.NOT_NOW
    if is_not_now or error.code == client.NO_SEQUENCE then
      local is_of_sequence = params.sequenceId ~= nil
      return client.say(require('rawr.words').too_late(choice, is_of_sequence, is_not_now))
    end
    client.complain(error)
  end)
end

return M
