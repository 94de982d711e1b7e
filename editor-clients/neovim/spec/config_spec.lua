--- The settings.

local config = require('rawr.config')

describe('settings', function()
  after_each(function()
    vim.g.rawr = nil
    config.set(nil)
  end)

  it('have defaults', function()
    assert.same(
      { cmd = { 'rawr', 'serve' }, autostart = false, watch = 'all', heads_up = 'float' },
      config.get()
    )
    assert.same({}, config.problems())
  end)

  it('come from a table or a function, and setup() overrides both', function()
    vim.g.rawr = { watch = 'folder', heads_up = 'off' }
    assert.equal('folder', config.get().watch)
    vim.g.rawr = function()
      return { watch = 'folder', heads_up = 'notify' }
    end
    assert.equal('notify', config.get().heads_up)
    require('rawr').setup({ heads_up = 'off' })
    assert.equal('off', config.get().heads_up)
    assert.equal('folder', config.get().watch)
  end)

  it('that are invalid are reported and replaced by the default', function()
    vim.g.rawr = { cmd = 'rawr', heads_up = 'loud', color = 'red' }
    assert.same({
      '`cmd` cannot be "rawr"',
      'there is no setting `color`',
      '`heads_up` cannot be "loud"',
    }, config.problems())
    assert.same({ 'rawr', 'serve' }, config.get().cmd)
  end)

  it('expand a home folder', function()
    vim.g.rawr = { home = '~/x' }
    assert.equal(vim.fs.normalize('~/x'), config.get().home)
  end)
end)
