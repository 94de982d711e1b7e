--- `nvim --clean -l spec/bench.lua [TIMES]`: measures the cost of opening a prompt, without assertions. Measures the CPU time of
--- Neovim's process until the sidecar's first message about the file; each figure is the median of TIMES runs.
--- RAWR_UNDER_TEST names the binary.

local plugin = vim.fs.dirname(vim.fs.dirname(assert(vim.uv.fs_realpath(debug.getinfo(1, 'S').source:sub(2)))))
package.path = plugin .. '/?.lua;' .. package.path
local lab = require('spec.lab')

local ONE = [[
  local how, path = vim.env.BENCH_HOW, vim.env.BENCH_FILE
  if vim.env.BENCH_LSP == '1' then
    -- As with a client for another language.
    local other = vim.lsp.start({ name = 'other', cmd = { vim.env.BENCH_RAWR, 'serve' } })
    vim.wait(5000, function() return vim.lsp.get_client_by_id(other).initialized end, 5)
  end
  -- Loaded by any Markdown file.
  vim.cmd.edit(vim.fn.tempname() .. '.md')
  local function ms()
    local usage = vim.uv.getrusage()
    return (usage.utime.sec + usage.stime.sec) * 1000 + (usage.utime.usec + usage.stime.usec) / 1000
  end
  collectgarbage()
  local before, told, opened = ms(), false, 0
  vim.api.nvim_create_autocmd('DiagnosticChanged', { once = true, callback = function()
    told = ms()
  end })
  vim.cmd.edit(path)
  opened = ms() - before
  if how == 'bare' then
    vim.lsp.start({ name = 'bare', cmd = { vim.env.BENCH_RAWR, 'serve' } })
  end
  if how ~= 'plain' then
    vim.wait(5000, function() return told end, 5)
  end
  io.stderr:write(('%f %f\n'):format((told or ms()) - before, opened))
  vim.cmd('qall!')
]]

local home = lab.home()
lab.write(home.path .. '/one.lua', ONE)
lab.write(home.path .. '/auto-compact/handoff.md', '{packet} {author} {autor}\n')

--- `plain`: without the plugin; `bare`: only Neovim's LSP client; `rawr`: with the plugin.
---@param how string
---@param has_lsp string
---@return number spent, number opened
local function run(how, has_lsp)
  local rawr = ('lua vim.g.rawr = { cmd = %s, home = %q }'):format(
    vim.inspect({ lab.RAWR, 'serve' }),
    home.path
  )
  local command = { vim.v.progpath, '--clean', '--headless', '-i', 'NONE', '-n', '--cmd', rawr }
  if how == 'rawr' then
    vim.list_extend(command, { '--cmd', 'set rtp^=' .. plugin })
  end
  vim.list_extend(command, { '-c', ('autocmd VimEnter * ++nested luafile %s/one.lua'):format(home.path) })
  local bench = { BENCH_HOW = how, BENCH_LSP = has_lsp, BENCH_RAWR = lab.RAWR }
  bench.BENCH_FILE = home.path .. '/auto-compact/handoff.md'
  local env = vim.tbl_extend('force', home.env, bench)
  local done = vim.system(command, { env = env, cwd = home.work, text = true, timeout = 30000 }):wait()
  local spent, opened = done.stderr:match('([%d.]+) ([%d.]+)\n$')
  return assert(tonumber(spent), done.stderr), assert(tonumber(opened))
end

---@param values number[]
---@return number
local function median(values)
  table.sort(values)
  return values[math.ceil(#values / 2)]
end

for _, has_lsp in ipairs({ '1', '0' }) do
  local all = {}
  for _ = 1, tonumber(arg[1]) or 15 do
    for _, how in ipairs({ 'plain', 'bare', 'rawr' }) do
      local spent, opened = run(how, has_lsp)
      all[how] = all[how] or { {}, {} }
      table.insert(all[how][1], spent)
      table.insert(all[how][2], opened)
    end
  end
  io.write(has_lsp == '1' and 'another client was in use:\n' or 'no client was in use:\n')
  for _, how in ipairs({ 'plain', 'bare', 'rawr' }) do
    io.write(
      ('  %-5s %6.1f ms, of them %5.1f ms in :edit\n'):format(how, median(all[how][1]), median(all[how][2]))
    )
  end
end
