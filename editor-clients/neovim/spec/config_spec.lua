--- The settings.

local config = require('rawr.config')

describe('settings', function()
  after_each(function()
    vim.g.rawr = nil
    config.set(nil)
  end)

  it('have defaults', function()
    assert.same({
      cmd = { 'rawr', 'serve' },
      autostart = false,
      watch = 'folder',
      heads_up = 'float',
      banner = { anchor = 'NE', width = 64, timeout = 60 },
    }, config.get())
    assert.same({}, config.problems())
  end)

  it('come from a table or a function, and setup() overrides both', function()
    vim.g.rawr = { watch = 'all', heads_up = 'off' }
    assert.equal('all', config.get().watch)
    vim.g.rawr = function()
      return { watch = 'all', heads_up = 'notify' }
    end
    assert.equal('notify', config.get().heads_up)
    require('rawr').setup({ heads_up = 'off' })
    assert.equal('off', config.get().heads_up)
    assert.equal('all', config.get().watch)
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

  it('of the banner are each replaced by the default if they are invalid', function()
    vim.g.rawr = { banner = { anchor = 'SW', width = 'wide', color = 'red' } }
    assert.same({
      'there is no setting `banner.color`',
      '`banner.width` cannot be "wide"',
    }, config.problems())
    assert.same({ anchor = 'SW', width = 64, timeout = 60 }, config.get().banner)
    vim.g.rawr = { banner = 'big' }
    assert.same({ '`banner` cannot be "big"' }, config.problems())
    assert.equal('NE', config.get().banner.anchor)
  end)

  it('expand a home folder', function()
    vim.g.rawr = { home = '~/x' }
    assert.equal(vim.fs.normalize('~/x'), config.get().home)
  end)
end)
