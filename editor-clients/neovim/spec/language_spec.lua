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

  it('is detected by its name, and a prompt also by its folder', function()
    local function filetype(path)
      lab.write(path, '')
      return vim.filetype.match({ filename = path })
    end
    assert.equal('toml.rawr', filetype(home.path .. '/rawr.toml'))
    assert.equal('toml.rawr', filetype(home.work .. '/.rawr.toml'))
    assert.equal('toml.rawr', filetype(home.path .. '/config.toml'))
    assert.equal('toml', filetype(home.work .. '/config.toml'))
    assert.equal('markdown.rawr', filetype(home.path .. '/auto-compact/handoff.md'))
    assert.equal('markdown', filetype(home.work .. '/auto-compact/handoff.md'))
    assert.equal('markdown', filetype(home.path .. '/handoff.md'))
    vim.g.rawr = vim.tbl_extend('force', vim.g.rawr, { home = home.work })
    assert.equal('markdown.rawr', filetype(home.work .. '/auto-compact/handoff.md'))
  end)

  it('is still Markdown or TOML for other plugins', function()
    lab.write(home.path .. '/rawr.toml', '')
    vim.cmd.edit(home.path .. '/rawr.toml')
    assert.equal('# %s', vim.bo.commentstring)
    assert.equal('toml', vim.treesitter.language.get_lang(vim.bo.filetype) or 'toml')
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
