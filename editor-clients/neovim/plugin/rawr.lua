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
  desc = 'Watch coding agents whose context rawr looks after, and step in',
  complete = function(lead, line)
    return require('rawr.command').complete(lead, line)
  end,
})

for name, words in pairs({
  banner = { 'banner' },
  threads = { 'threads' },
  choose = { 'choose' },
  snooze = { 'snooze' },
  compact = { 'compact' },
}) do
  vim.keymap.set('n', ('<Plug>(rawr-%s)'):format(name), function()
    require('rawr.command').run(words)
  end, { desc = ':Rawr ' .. name })
end

local group = vim.api.nvim_create_augroup('rawr', { clear = true })

vim.api.nvim_create_autocmd('FileType', {
  group = group,
  pattern = { 'markdown.rawr', 'toml.rawr' },
  desc = 'Attach the sidecar to prompts and configuration of rawr',
  callback = function(event)
    -- Deferred, so that the file is drawn first.
    vim.schedule(function()
      if vim.api.nvim_buf_is_loaded(event.buf) then
        require('rawr.client').attach(event.buf)
      end
    end)
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
else
  vim.api.nvim_create_autocmd('VimEnter', {
    group = group,
    desc = 'Watch from the start, where that is wanted',
    callback = watch_if_wanted,
  })
end
