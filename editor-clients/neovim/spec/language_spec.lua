--- LSP features for prompts and configuration, with the real sidecar.

local lab = require('spec.lab')

--- An unknown placeholder after a two-byte character.
local BROKEN = 'é {packet} {author} {autor}\n'
local COLUMN = #'é {packet} {author} '

describe('a file of rawr', function()
  local home

  before_each(function()
    home = lab.home()
    lab.use(home)
  end)

  after_each(lab.leave)

  it('is recognized by its name, and a prompt also by its folder', function()
    local is_ours = require('rawr.files').is_ours
    vim.fn.mkdir(home.path .. '/auto-compact')
    assert.truthy(is_ours(home.path .. '/rawr.toml'))
    assert.truthy(is_ours(home.work .. '/.rawr.toml'))
    assert.truthy(is_ours(home.path .. '/config.toml'))
    assert.falsy(is_ours(home.work .. '/config.toml'))
    assert.truthy(is_ours(home.path .. '/auto-compact/handoff.md'))
    assert.falsy(is_ours(home.work .. '/auto-compact/handoff.md'))
    assert.falsy(is_ours(home.path .. '/handoff.md'))
    vim.g.rawr = vim.tbl_extend('force', vim.g.rawr, { home = home.work })
    assert.truthy(is_ours(home.work .. '/auto-compact/handoff.md'))
  end)

  ---@param path string
  ---@param text string
  ---@return integer buffer, vim.lsp.Client client
  local function open(path, text)
    lab.write(path, text)
    vim.cmd.edit(path)
    local buffer = vim.api.nvim_get_current_buf()
    local client = lab.wait('the sidecar', function()
      return vim.lsp.get_clients({ name = 'rawr', bufnr = buffer })[1]
    end)
    return buffer, client
  end

  local function diagnostics(buffer, message)
    return lab.wait(message, function()
      return vim.iter(vim.diagnostic.get(buffer)):find(function(told)
        return told.message:find(message, 1, true)
      end)
    end)
  end

  it('shows diagnostics while typing', function()
    local buffer = open(home.path .. '/auto-compact/handoff.md', BROKEN)
    local told = diagnostics(buffer, '{autor}')
    assert.same({ 0, COLUMN, #BROKEN - 1 }, { told.lnum, told.col, told.end_col })
    vim.api.nvim_buf_set_lines(buffer, 0, 0, false, { '# Handoff' })
    lab.wait('the next line', function()
      return diagnostics(buffer, '{autor}').lnum == 1
    end)
    vim.api.nvim_buf_set_lines(buffer, 1, 2, false, { '{packet} {author}' })
    lab.wait('nothing wrong', function()
      return #vim.diagnostic.get(buffer, { severity = vim.diagnostic.severity.ERROR }) == 0
    end)
  end)

  it('shows an unknown key of the configuration', function()
    local buffer = open(home.path .. '/rawr.toml', '[rawr_auto_compaction]\nmod = "ask"\n')
    assert.same({ 1, 0 }, { diagnostics(buffer, 'mod').lnum, diagnostics(buffer, 'mod').col })
  end)

  it('has completion and hover', function()
    local buffer, client = open(home.path .. '/auto-compact/handoff.md', '{packet} {author}\n{\n')
    local function ask(method, line, character)
      local params = { textDocument = vim.lsp.util.make_text_document_params(buffer) }
      params.position = { line = line, character = character }
      local answer
      require('rawr').request(method, params, function(result)
        answer = result
      end)
      return lab.wait(method, function()
        return answer
      end)
    end
    local proposed = ask('textDocument/completion', 1, 1)
    local labels = vim.tbl_map(function(item)
      return item.label
    end, proposed.items or proposed)
    assert.truthy(table.concat(labels, ' '):find('author', 1, true), vim.inspect(labels))
    assert.truthy(ask('textDocument/hover', 0, 3).contents.value ~= '')
    assert.truthy(client.server_capabilities.codeActionProvider)
  end)

  ---@param command table
  local function execute(command)
    require('rawr').request(
      'workspace/executeCommand',
      { command = command.command, arguments = command.arguments }
    )
  end

  it('has a preview that follows changes', function()
    local buffer = open(home.path .. '/auto-compact/handoff.md', 'One. {packet} {author}\n')
    local lens
    vim.lsp.buf_request(buffer, 'textDocument/codeLens', {
      textDocument = vim.lsp.util.make_text_document_params(buffer),
    }, function(_, result)
      lens = result
    end)
    local found = vim.iter(lab.wait('lenses', function()
      return lens
    end))
    local preview = found:find(function(one)
      return one.command.command == 'rawr.previewPrompt'
    end)
    assert.truthy(preview.command.title:find('tokens', 1, true))
    execute(preview.command)
    local shown = lab.wait('the preview', function()
      local number = vim.fn.bufnr('rawr://preview/handoff')
      return number > 0 and number
    end)
    lab.text(shown, 'One.')
    assert.equal(buffer, vim.api.nvim_get_current_buf())
    vim.api.nvim_buf_set_lines(buffer, 0, 1, false, { 'Two. {packet} {author}' })
    lab.text(shown, 'Two.')
  end)

  it('is compared with the shipped text', function()
    local buffer = open(home.path .. '/auto-compact/handoff.md', 'Mine. {packet} {author}\n')
    execute({ command = 'rawr.diffPrompt', arguments = { vim.uri_from_bufnr(buffer) } })
    local diff = lab.wait('what differs', function()
      local number = vim.fn.bufnr('rawr://diff/handoff')
      return number > 0 and number
    end)
    lab.text(diff, '+Mine. {packet} {author}')
    assert.equal('diff', vim.bo[diff].filetype)
    vim.cmd.split('rawr://shipped/handoff')
    lab.text(0, '{packet}')
    assert.falsy(lab.text(0):find('Mine', 1, true))
  end)

  it('shows lenses and hints by the code in the help, which is not deprecated', function()
    local help = lab.read(lab.PLUGIN .. '/doc/rawr.txt')
    local code = assert(help:match('Enable code lenses.->lua\n(.-)\n<'))
    local deprecated, deprecate = {}, vim.deprecate
    vim.deprecate = function(name)
      table.insert(deprecated, name)
    end
    assert(load(code))()
    local buffer = open(home.path .. '/auto-compact/handoff.md', 'One. {packet} {author}\n')
    lab.wait('the hints', function()
      return vim.lsp.inlay_hint.is_enabled({ bufnr = buffer })
    end)
    if vim.lsp.codelens.enable then
      lab.wait('a lens', function()
        return #vim.lsp.codelens.get({ bufnr = buffer }) > 0
      end)
    end
    vim.deprecate = deprecate
    assert.same({}, deprecated)
    vim.api.nvim_clear_autocmds({ event = 'LspAttach' })
  end)

  it('is attached when the plugin is loaded after it was opened', function()
    lab.write(home.path .. '/rawr.toml', '')
    local late = ('vim.g.rawr = { cmd = { %q, "serve" }, home = %q } vim.opt.rtp:prepend(%q)'):format(
      lab.RAWR,
      home.path,
      lab.PLUGIN
    )
    lab.write(home.path .. '/late.lua', late .. [[
      vim.cmd.runtime('plugin/rawr.lua')
      local came = vim.wait(10000, function() return #vim.lsp.get_clients({ bufnr = 0, name = 'rawr' }) == 1 end)
      io.stderr:write('attached: ' .. tostring(came))
      vim.cmd('qall!')
    ]])
    local command = { vim.v.progpath, '--clean', '--headless', '-i', 'NONE', home.path .. '/rawr.toml' }
    vim.list_extend(command, { '-c', ('autocmd VimEnter * luafile %s/late.lua'):format(home.path) })
    local said = vim.system(command, { env = home.env, cwd = home.work, text = true, timeout = 30000 }):wait()
    assert.truthy(said.stderr:find('attached: true', 1, true), said.stderr)
  end)

  it('has the filetype that language servers for TOML and Markdown attach to', function()
    local buffer, client = open(home.path .. '/config.toml', '')
    assert.equal('toml', vim.bo[buffer].filetype)
    assert.equal('toml', client.get_language_id(buffer, vim.bo[buffer].filetype))
    assert.equal('markdown', vim.bo[open(home.path .. '/auto-compact/handoff.md', '')].filetype)
  end)

  if vim.fn.has('nvim-0.11') == 1 then
    it('has one sidecar, also with `vim.lsp.enable`', function()
      vim.lsp.config('rawr', { settings = { mine = true } })
      vim.lsp.enable('rawr')
      vim.cmd.Rawr('start')
      local _, client = open(home.path .. '/rawr.toml', '')
      assert.equal(1, #vim.lsp.get_clients({ name = 'rawr', _uninitialized = true }))
      assert.truthy(client.config.settings.mine)
      vim.lsp.enable('rawr', false)
    end)

    it('has the other language servers of its filetype, too', function()
      local server = { vim.v.progpath, '--clean', '-l', lab.PLUGIN .. '/spec/sidecar.lua', '0' }
      vim.lsp.config('other', { cmd = server, filetypes = { 'toml' } })
      vim.lsp.enable({ 'other', 'rawr' })
      local buffer = open(home.path .. '/rawr.toml', '')
      lab.wait('the other server', function()
        return vim.lsp.get_clients({ name = 'other', bufnr = buffer })[1]
      end)
      -- rawr does not attach to the other files.
      lab.write(home.work .. '/other.toml', '')
      vim.cmd.edit(home.work .. '/other.toml')
      lab.wait('the other server', function()
        return vim.lsp.get_clients({ name = 'other', bufnr = 0 })[1]
      end)
      assert.same({}, vim.lsp.get_clients({ name = 'rawr', bufnr = 0 }))
      vim.lsp.enable({ 'other', 'rawr' }, false)
      for _, client in ipairs(vim.lsp.get_clients({ name = 'other' })) do
        client:stop(true)
      end
    end)
  end
end)

describe('on the screen', function()
  it('a broken prompt shows its problem below the right column', function()
    local home = lab.home()
    local path = home.path .. '/auto-compact/handoff.md'
    lab.write(path, BROKEN)
    local terminal = lab.terminal(home, { '-c', 'lua vim.diagnostic.config({ virtual_text = true })', path })
    local screen = terminal.wait_for('unknown placeholder `{autor}`')
    assert.truthy(screen:find('{autor}', 1, true), screen)
    terminal.type(':lua vim.diagnostic.goto_next({ float = false })\n')
    terminal.type(':lua print("at " .. vim.inspect(vim.api.nvim_win_get_cursor(0)))\n')
    terminal.wait_for(('at { 1, %d }'):format(COLUMN))
    terminal.stop()
  end)
end)
