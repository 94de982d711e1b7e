--- The connection to the sidecar: start, request, stop. Only this file contains differences between Neovim's versions.

local config = require('rawr.config')
local process = require('rawr.process')

local M = {}

local NAME = 'rawr'
local HAS_11 = vim.fn.has('nvim-0.11') == 1

--- Timeout of an orderly shutdown.
local EXIT_MS = 2000

--- In milliseconds: for the answer to `initialize`, between two questions whether the sidecar still answers, and for each
--- answer.
M.LIMITS = { start = 15000, pause = 5000, answer = 10000 }

local SIGTERM = 15

local UNKNOWN_THREAD = -31001
--- The sequence to answer has ended.
M.NO_SEQUENCE = -31006
--- The sequence was answered, or has gone on.
M.NOT_NOW = -31009
--- Error code of this client: there is no sidecar.
M.NO_SIDECAR = -1
--- As above, and the user knows already.
local TOLD = -2

M.log_file = process.log_file

---@alias rawr.Answer fun(error?: lsp.ResponseError, result?: any)

--- Requests from before the sidecar was ready.
---@type { method: string, params: table, answer: rawr.Answer }[]
local waiting = {}

--- The sidecar is stopping; start another one afterwards.
local ending, wanted = false, false
--- When the sidecar was last restarted automatically.
---@type integer?
local started_again
--- Whether the sidecar answered `initialize`. One that ends earlier would end again.
local was_ready = false
--- Whether the sidecar was ended because it did not answer.
local hung = false
--- The next question whether it answers.
---@type uv.uv_timer_t?
local heartbeat
--- Why the binary cannot be used, until a restart.
---@type string?
local refused

--- A sidecar that ran this long may be restarted automatically again.
local STEADY_MS = 60000

---@param compose fun(): string
---@param level? integer
local function notify(compose, level)
  -- Deferred: inside of an autocommand Neovim turns an error message into an exception with a traceback.
  vim.schedule(function()
    vim.notify(compose(), level or vim.log.levels.INFO, { title = 'rawr' })
  end)
end

--- Answers the user, in full.
---@param text string
---@param level? integer
function M.say(text, level)
  notify(function()
    return 'rawr: ' .. text
  end, level)
end

--- Shows what the user may not expect now, in one line, which needs no key to go on.
---@param text string
---@param more? { thread?: string, hint?: string, level?: integer } the thread's name, and what to do next
function M.announce(text, more)
  more = more or {}
  notify(function()
    return require('rawr.words').message(vim.v.echospace, more.thread, text, more.hint)
  end, more.level)
end

--- Shows an error that was not shown already.
---@param error lsp.ResponseError
function M.complain(error)
  if error.code ~= TOLD then
    M.say(error.message, vim.log.levels.ERROR)
  end
end

--- Methods of a client take the client as an argument since Neovim 0.11.
---@param client vim.lsp.Client
---@param what string
---@param ... any
---@return any
local function call(client, what, ...)
  local run = (client --[[@as any]])[what]
  if HAS_11 then
    return run(client, ...)
  end
  return run(...)
end

--- The sidecar, while it is ready and not stopping.
---@return vim.lsp.Client?
function M.client()
  if ending then
    return nil
  end
  for _, client in ipairs(vim.lsp.get_clients({ name = NAME })) do
    if not call(client, 'is_stopped') then
      return client
    end
  end
end

---@param client vim.lsp.Client
---@param method string
---@param params table
---@param answer rawr.Answer
local function send(client, method, params, answer)
  local handler = function(error, result)
    answer(error, result)
  end
  local sent = call(client, 'request', method, params, handler)
  if not sent then
    answer({ code = M.NO_SIDECAR, message = 'the sidecar has ended: `:Rawr restart`' })
  end
end

---@param message string
local function fail_waiting(message)
  local lost = waiting
  waiting = {}
  for _, one in ipairs(lost) do
    one.answer({ code = TOLD, message = message })
  end
end

--- Ends a sidecar that does not answer. One that was ready is started again.
local function end_hung()
  hung = true
  process.kill(0)
end

--- Asks now and then whether it still answers: one that hangs would show old states for ever.
---@param client vim.lsp.Client
local function watch(client)
  local timer = assert(vim.uv.new_timer())
  heartbeat = timer
  local function stop()
    if heartbeat == timer then
      heartbeat = nil
    end
    if not timer:is_closing() then
      timer:close()
    end
  end
  local function ask()
    if heartbeat ~= timer or call(client, 'is_stopped') then
      return stop()
    end
    timer:start(
      M.LIMITS.answer,
      0,
      vim.schedule_wrap(function()
        local is_current = heartbeat == timer
        stop()
        if is_current and not ending then
          end_hung()
        end
      end)
    )
    call(client, 'request', 'rawr/connection/check', vim.empty_dict(), function()
      stop()
      if not ending and not call(client, 'is_stopped') then
        watch(client)
      end
    end)
  end
  timer:start(M.LIMITS.pause, 0, vim.schedule_wrap(ask))
end

--- Ends a sidecar that does not answer its first request.
local function limit_start()
  local id = process.id()
  vim.defer_fn(function()
    if id and id == process.id() and not was_ready and not ending then
      end_hung()
    end
  end, M.LIMITS.start)
end

---@param client vim.lsp.Client
---@param result table
local function ready(client, result)
  was_ready = true
  watch(client)
  local problem = require('rawr.compatible').problem(result)
  if problem then
    M.say(problem .. ', then `:Rawr restart`', vim.log.levels.ERROR)
    fail_waiting(problem)
    M.stop()
    refused = problem
    return
  end
  require('rawr.live').begin()
  local asked = waiting
  waiting = {}
  for _, one in ipairs(asked) do
    send(client, one.method, one.params, one.answer)
  end
end

--- Restarts it and attaches the open files of rawr.
local function start_with_buffers()
  M.start()
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buffer) and require('rawr.files').is_buffer_ours(buffer) then
      M.attach(buffer)
    end
  end
end

---@param code integer
---@param signal integer
local function ended(code, signal)
  local exit = process.take_exit() or { code = code, signal = signal }
  -- Neovim stops a client with an exit code of 0 or this signal.
  local is_orderly = exit.code == 0 and (exit.signal == 0 or exit.signal == SIGTERM)
  local was_asked = ending or (was_ready and is_orderly) or vim.v.exiting ~= vim.NIL
  local may_start_again, did_hang = was_ready, hung
  ending, was_ready, hung, heartbeat = false, false, false, nil
  require('rawr.live').lost()
  if wanted then
    wanted = false
    return start_with_buffers()
  end
  fail_waiting('the sidecar has ended')
  if was_asked then
    return
  end
  local how = exit.signal == 0 and 'code ' .. exit.code or 'signal ' .. exit.signal
  local why = did_hang and 'the sidecar did not answer and was ended'
    or ('the sidecar ended (%s)'):format(how)
  if not may_start_again then
    M.announce(why, { hint = 'see `:checkhealth rawr`', level = vim.log.levels.ERROR })
  elseif started_again and vim.uv.now() - started_again < STEADY_MS then
    M.announce(why .. ' again', { hint = 'see `:Rawr log`', level = vim.log.levels.ERROR })
  else
    started_again = vim.uv.now()
    M.announce(why .. '; it was restarted', { level = vim.log.levels.WARN })
    start_with_buffers()
  end
end

--- The configuration for `vim.lsp.start` and `vim.lsp.config`.
---@return vim.lsp.ClientConfig
function M.config()
  local handlers = {}
  for _, method in ipairs(require('rawr.live').METHODS) do
    handlers[method] = function(_, params)
      if not ending then
        require('rawr.live').note(method, params)
      end
    end
  end
  handlers['workspace/textDocumentContent/refresh'] = function(_, params)
    require('rawr.served').refresh(params.uri)
    -- Answer with an empty value, because not every sidecar accepts `null`.
    return vim.empty_dict()
  end
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  local content = { workspace = { textDocumentContent = { dynamicRegistration = false } } }
  capabilities = vim.tbl_deep_extend('force', capabilities, content)
  return {
    name = NAME,
    cmd = process.start,
    root_dir = vim.uv.cwd(),
    capabilities = capabilities,
    init_options = { home = config.get().home } --[[@as table]],
    handlers = handlers,
    on_init = ready,
    on_exit = vim.schedule_wrap(ended),
    -- Otherwise Neovim exits before the sidecar has received `exit`. Renamed in Neovim 0.12.
    flags = { exit_timeout = EXIT_MS },
    exit_timeout = EXIT_MS,
  }
end

--- The configuration with the user's `vim.lsp.config`, if that exists.
---@return vim.lsp.ClientConfig
local function resolved()
  local of_user = vim.lsp.config --[[@as table<string, table?>?]]
  local own = of_user and of_user[NAME] or M.config()
  -- `vim.lsp.start` takes no function, which `vim.lsp.enable` does.
  local root = type(own.root_dir) == 'string' and own.root_dir or vim.uv.cwd()
  return vim.tbl_extend('force', own, { root_dir = root }) --[[@as vim.lsp.ClientConfig]]
end

---@return boolean
local function can_start()
  if refused then
    M.say(refused .. ', then `:Rawr restart`', vim.log.levels.ERROR)
    return false
  end
  local binary = config.get().cmd[1] or ''
  if vim.fn.executable(binary) == 1 then
    return true
  end
  local more = { hint = 'see `:checkhealth rawr`', level = vim.log.levels.ERROR }
  M.announce('failed to run ' .. binary, more)
  return false
end

---@param client vim.lsp.Client
---@return boolean
local function is_ours(client)
  return client.name == NAME and not call(client, 'is_stopped')
end

--- Attaches the sidecar to a buffer, for diagnostics, completion and other LSP features.
---@param buffer integer
function M.attach(buffer)
  if not refused and can_start() then
    vim.lsp.start(resolved(), { bufnr = buffer, reuse_client = is_ours })
  end
end

--- Starts the one sidecar of this Neovim. It attaches no buffer, so no text is sent.
---@return boolean # whether there is one
function M.start()
  if M.is_running() then
    return true
  elseif ending then
    wanted = true
    return true
  elseif not can_start() then
    return false
  elseif HAS_11 then
    vim.lsp.start(resolved(), { attach = false, reuse_client = is_ours })
  else
    (vim.lsp --[[@as any]]).start_client(resolved())
  end
  limit_start()
  return true
end

--- True also while it is starting.
---@return boolean
function M.is_running()
  if ending then
    return false
  end
  for _, client in ipairs(vim.lsp.get_clients({ name = NAME, _uninitialized = true })) do
    if not call(client, 'is_stopped') then
      return true
    end
  end
  return false
end

function M.stop()
  refused = nil
  for _, client in ipairs(vim.lsp.get_clients({ name = NAME, _uninitialized = true })) do
    if not ending and not call(client, 'is_stopped') then
      ending = true
      call(client, 'stop')
      -- An orderly end takes an answer.
      process.kill(was_ready and EXIT_MS or 0)
    end
  end
end

--- Restarts the sidecar.
function M.restart()
  started_again = nil
  M.stop()
  M.start()
end

--- Sends a request and starts the sidecar if necessary. Shows an error unless the caller handles it.
---@param method string
---@param params table
---@param answer? fun(result: any)
---@param failed? fun(error: lsp.ResponseError)
function M.request(method, params, answer, failed)
  local function done(error, result)
    if not error then
      return answer and answer(result)
    elseif failed then
      return failed(error)
    end
    M.complain(error)
  end
  params = next(params) and params or vim.empty_dict()
  local client = M.client()
  if client then
    return send(client, method, params, done)
  end
  if ending and not wanted then
    return done({ code = M.NO_SIDECAR, message = 'the sidecar is stopping' })
  elseif M.start() then
    table.insert(waiting, { method = method, params = params, answer = done })
  elseif failed then
    failed({ code = TOLD, message = 'there is no sidecar' })
  end
end

--- Sends a request about a thread. Opens the thread first, because the sidecar unloads idle threads.
---@param thread rawr.ThreadSummary
---@param method string
---@param params table
---@param answer? fun(result: any)
---@param failed? fun(error: lsp.ResponseError)
function M.on_thread(thread, method, params, answer, failed)
  params.threadId = thread.threadId
  M.request(method, params, answer, function(error)
    if error.code ~= UNKNOWN_THREAD then
      if failed then
        return failed(error)
      end
      return M.complain(error)
    end
    local open =
      { threadId = thread.threadId, cwd = thread.cwd, role = 'observer', host = { name = 'neovim' } }
    M.request('rawr/thread/open', open, function()
      M.request(method, params, answer, failed)
      M.request('rawr/thread/close', { threadId = thread.threadId })
    end, failed)
  end)
end

return M
