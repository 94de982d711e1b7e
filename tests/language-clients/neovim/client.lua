-- Neovim's own language client. It knows which server to start and which files to open, and nothing else.
-- Run as `nvim --clean --headless -l client.lua SERVER ARGUMENT… -- FILE…`; prints one JSON object a file.

local LIMIT = 20000
local SLIP = "é 🦀 {nothing_like_it}"

local command, files = {}, {}
local into = command
for _, argument in ipairs(_G.arg) do
  if argument == "--" then
    into = files
  else
    table.insert(into, argument)
  end
end

local function wait_for(what, condition)
  assert(vim.wait(LIMIT, condition, 5), "no " .. what .. " came")
end

-- What came of the newest text of a buffer, as Neovim shows it.
local told = {}
local publish = vim.lsp.handlers["textDocument/publishDiagnostics"]
vim.lsp.handlers["textDocument/publishDiagnostics"] = function(err, result, ctx, config)
  publish(err, result, ctx, config)
  told[result.uri] = result.version
end

local function ask(buffer, method, params)
  local answers = assert(vim.lsp.buf_request_sync(buffer, method, params, LIMIT), "no answer to " .. method)
  local _, answer = next(answers)
  assert(answer and not answer.error and not answer.err, vim.inspect(answer))
  return answer.result
end

local function problems(buffer)
  return vim.tbl_map(function(diagnostic)
    return { diagnostic.code, diagnostic.lnum, diagnostic.col, diagnostic.end_col }
  end, vim.diagnostic.get(buffer))
end

local function wait_told(buffer, uri)
  wait_for("diagnostics", function()
    return told[uri] == vim.lsp.util.buf_versions[buffer]
  end)
end

local function lenses(buffer)
  vim.lsp.codelens.refresh({ bufnr = buffer })
  wait_for("code lens", function()
    return #vim.lsp.codelens.get(buffer) > 0
  end)
  return vim.tbl_map(function(lens)
    return lens.command.title
  end, vim.lsp.codelens.get(buffer))
end

-- The first placeholder, as a place of the protocol.
local function first_placeholder(buffer, client)
  for row, line in ipairs(vim.api.nvim_buf_get_lines(buffer, 0, -1, false)) do
    local column = line:find("{%a[%w_]*}")
    if column then
      vim.api.nvim_win_set_cursor(0, { row, column })
      return vim.lsp.util.make_position_params(0, client.offset_encoding)
    end
  end
end

local function look_at(file)
  vim.cmd.edit(vim.fn.fnameescape(file))
  local buffer = vim.api.nvim_get_current_buf()
  local uri = vim.uri_from_bufnr(buffer)
  local id = assert(vim.lsp.start({ name = "server", cmd = command, root_dir = vim.fn.getcwd() }))
  local client = vim.lsp.get_client_by_id(id)
  wait_for("server", function()
    return client.initialized
  end)
  wait_told(buffer, uri)
  local seen = { file = file, encoding = client.offset_encoding, clean = problems(buffer), lenses = lenses(buffer) }
  local place = first_placeholder(buffer, client)
  if place then
    seen.hover = ask(buffer, "textDocument/hover", place).contents.value
    seen.labels = vim.tbl_map(function(item)
      return item.label
    end, ask(buffer, "textDocument/completion", place))
  end
  local last = vim.api.nvim_buf_line_count(buffer)
  vim.api.nvim_buf_set_lines(buffer, last, last, false, { SLIP })
  wait_told(buffer, uri)
  seen.last = last
  seen.slip = problems(buffer)
  return seen
end

local ok, failure = pcall(function()
  for _, file in ipairs(files) do
    io.write(vim.json.encode(look_at(file)), "\n")
  end
end)
for _, client in ipairs(vim.lsp.get_clients()) do
  client.stop()
end
vim.wait(LIMIT, function()
  return #vim.lsp.get_clients() == 0
end, 5)
if not ok then
  io.stderr:write(tostring(failure), "\n")
  os.exit(1)
end
os.exit(0)
