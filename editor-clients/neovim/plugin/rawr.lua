--- Loaded at startup: the command, the mappings, and autocommands for rawr's files.

if vim.g.loaded_rawr then
  return
end
vim.g.loaded_rawr = true

if vim.fn.has('nvim-0.10') == 0 then
  vim.api.nvim_echo({ { 'rawr needs Neovim 0.10 or newer', 'ErrorMsg' } }, true, {})
  return
end

vim.api.nvim_create_user_command('Rawr', function(call)
  require('rawr.command').run(call.fargs)
end, {
  nargs = '*',
  desc = 'Watch coding agents whose context rawr manages, and respond',
  complete = function(lead, line)
    return require('rawr.command').complete(lead, line)
  end,
})

for _, name in ipairs({
  'approve',
  'banner',
  'cancel',
  'choose',
  'compact',
  'explain',
  'packet',
  'snooze',
  'threads',
}) do
  vim.keymap.set('n', ('<Plug>(rawr-%s)'):format(name), function()
    require('rawr.command').run({ name })
  end, { desc = ':Rawr ' .. name })
end

local group = vim.api.nvim_create_augroup('rawr', { clear = true })

---@param buffer integer
local function attach(buffer)
  if not require('rawr.files').is_buffer_ours(buffer) then
    return
  end
  -- Deferred, so that the file is drawn first.
  vim.schedule(function()
    if vim.api.nvim_buf_is_loaded(buffer) then
      require('rawr.client').attach(buffer)
    end
  end)
end

vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufNewFile', 'BufFilePost' }, {
  group = group,
  -- As in `rawr.files`, which is not loaded for other files.
  pattern = { '*/auto-compact/*.md', 'rawr.toml', '.rawr.toml', 'config.toml' },
  desc = 'Attach the sidecar to prompts and configuration of rawr',
  callback = function(event)
    attach(event.buf)
  end,
})

vim.api.nvim_create_autocmd('BufReadCmd', {
  group = group,
  pattern = 'rawr://*',
  desc = 'Open a view or a text of rawr',
  callback = function(event)
    require('rawr.served').read(event.buf, event.match)
  end,
})

local function watch_if_wanted()
  local options = vim.g.rawr
  if type(options) == 'function' then
    options = options()
  end
  if type(options) == 'table' and options.autostart then
    vim.schedule(function()
      require('rawr').start()
    end)
  end
end

if vim.v.vim_did_enter == 1 then
  watch_if_wanted()
  -- A package manager may load the plugin after files are open.
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buffer) then
      attach(buffer)
    end
  end
else
  vim.api.nvim_create_autocmd('VimEnter', {
    group = group,
    desc = 'Watch from the start, where that is wanted',
    callback = watch_if_wanted,
  })
end
