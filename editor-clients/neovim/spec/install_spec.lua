--- The installation as README.md says, from this repository and from its mirror.

local lab = require('spec.lab')

---@param folder string
---@param ... string
---@return string
local function git(folder, ...)
  local command = { 'git', '-C', folder, '-c', 'user.name=test', '-c', 'user.email=test@example.org', ... }
  local done = vim.system(command, { text = true }):wait()
  assert(done.code == 0, table.concat(command, ' ') .. ': ' .. done.stderr)
  return vim.trim(done.stdout)
end

--- The code block after this line of README.md.
---@param heading string
---@return string
local function block(heading)
  local readme = lab.read(lab.PLUGIN .. '/README.md')
  local at = assert(select(2, readme:find('\n' .. heading, 1, true)), heading)
  return assert(readme:match('```%a+\n(.-)```', at))
end

describe('the plugin', function()
  local home, repository, mirror

  --- A repository of the state under test, with the plugin where it is in this one.
  setup(function()
    home = lab.home()
    repository, mirror = home.path .. '/repository', home.path .. '/mirror'
    vim.fn.mkdir(repository .. '/editor-clients', 'p')
    vim.fn.system({ 'cp', '-R', lab.PLUGIN, repository .. '/editor-clients/neovim' })
    for _, license in ipairs({ 'LICENSE-APACHE', 'LICENSE-MIT' }) do
      vim.fn.system({ 'cp', lab.PLUGIN .. '/../../' .. license, repository })
    end
    git(repository, 'init', '-q', '-b', 'main')
    git(repository, 'add', '.')
    git(repository, 'commit', '-q', '-m', 'all')
    local identity = { 'GIT_AUTHOR_NAME', 'GIT_AUTHOR_EMAIL', 'GIT_COMMITTER_NAME', 'GIT_COMMITTER_EMAIL' }
    for _, name in ipairs(identity) do
      vim.env[name] = home.env[name]
    end
    local script = repository .. '/editor-clients/neovim/scripts/mirror'
    local first = vim.fn.system({ script, 'plugin' })
    assert.equal(0, vim.v.shell_error, first)
    assert.equal(first, vim.fn.system({ script, 'plugin' }))
    git(home.path, 'clone', '-q', '-b', 'plugin', 'file://' .. repository, mirror)
  end)

  --- What a new Neovim with this init.lua says about the plugin.
  ---@param init string
  ---@param state string
  ---@return string
  local function look(init, state)
    local folder = home.path .. '/' .. state
    local check = [[
      local ok, why = pcall(vim.cmd, 'silent help rawr-start')
      io.stderr:write(('command %d, loaded %s, help %s\n'):format(
        vim.fn.exists(':Rawr'), tostring(vim.g.loaded_rawr), ok and 'found' or why))
      vim.cmd('qall!')
    ]]
    lab.write(folder .. '/config/nvim/init.lua', init)
    lab.write(folder .. '/check.lua', check)
    local env = vim.tbl_extend('force', home.env, {
      XDG_CONFIG_HOME = folder .. '/config',
      XDG_DATA_HOME = folder .. '/data',
      XDG_STATE_HOME = folder .. '/state',
      XDG_CACHE_HOME = folder .. '/cache',
    })
    local command = { vim.v.progpath, '--headless', '-i', 'NONE' }
    vim.list_extend(command, { '-c', ('autocmd VimEnter * ++nested luafile %s/check.lua'):format(folder) })
    return vim.system(command, { env = env, cwd = home.work, text = true, timeout = 60000 }):wait().stderr
  end

  local GOOD = 'command 2, loaded true, help found'

  it('has a mirror with what users need', function()
    local files = vim.split(git(mirror, 'ls-files'), '\n')
    for _, file in ipairs({
      'plugin/rawr.lua',
      'lua/rawr/init.lua',
      'doc/rawr.txt',
      'lsp/rawr.lua',
      'LICENSE-MIT',
      'pictures/neovim-banner.svg',
    }) do
      assert.truthy(vim.list_contains(files, file), file)
    end
    for _, file in ipairs(files) do
      assert.falsy(file:find('^spec/') or file:find('^scripts/'), file)
    end
  end)

  it('gets a new commit in its mirror for a change', function()
    local script = repository .. '/editor-clients/neovim/scripts/mirror'
    local before = git(repository, 'rev-parse', 'plugin')
    lab.write(repository .. '/editor-clients/neovim/README.md', 'changed\n')
    git(repository, 'commit', '-q', '-a', '-m', 'change it')
    local after = vim.trim(vim.fn.system({ script, 'plugin' }))
    assert.equal(before, git(repository, 'rev-parse', after .. '^'))
    assert.equal('changed', git(repository, 'show', 'plugin:README.md'))
  end)

  it('is installed by hand', function()
    local data = home.path .. '/hand/home'
    local env = vim.tbl_extend('force', home.env, { HOME = data, XDG_DATA_HOME = data .. '/.local/share' })
    local steps = block('By hand'):gsub('nvim %-%-headless', vim.v.progpath .. ' --headless')
    local done = vim.system({ 'sh', '-ec', steps }, { env = env, cwd = repository, text = true }):wait()
    assert.equal(0, done.code, done.stderr)
    vim.fn.mkdir(home.path .. '/hand/data', 'p')
    vim.uv.fs_symlink(data .. '/.local/share/nvim', home.path .. '/hand/data/nvim')
    local said = look('', 'hand')
    assert.truthy(said:find(GOOD, 1, true), said)
  end)

  it('is installed as a package from a mirror', function()
    local pack = home.path .. '/package/data/nvim/site/pack/rawr/start/rawr'
    vim.fn.mkdir(vim.fs.dirname(pack), 'p')
    git(home.path, 'clone', '-q', 'file://' .. mirror, pack)
    local said = look(("vim.cmd('helptags %s/doc')"):format(pack), 'package')
    assert.truthy(said:find(GOOD, 1, true), said)
  end)

  if vim.fn.has('nvim-0.12') == 1 then
    -- The question would never be answered.
    local UNASKED = 'local add = vim.pack.add\nvim.pack.add = function(all, options)\n'
      .. "  add(all, vim.tbl_extend('force', options or {}, { confirm = false }))\nend\n"

    it('is installed by vim.pack from this repository', function()
      local snippet = block('vim.pack'):gsub('REPOSITORY', 'file://' .. repository)
      local said = look(UNASKED .. snippet, 'pack')
      assert.truthy(said:find(GOOD, 1, true), said)
    end)

    it('is installed by vim.pack from a mirror', function()
      local said = look(UNASKED .. ("vim.pack.add({ 'file://%s' })"):format(mirror), 'pack-mirror')
      assert.truthy(said:find(GOOD, 1, true), said)
    end)
  end
end)
