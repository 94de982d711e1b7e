--- `nvim --clean -l spec/run.lua SPEC…`: runs busted in Neovim.

local plugin = vim.fs.dirname(vim.fs.dirname(assert(vim.uv.fs_realpath(debug.getinfo(1, 'S').source:sub(2)))))
-- Debian's folder of busted.
package.path = plugin .. '/?.lua;/usr/share/lua/5.1/?.lua;/usr/share/lua/5.1/?/init.lua;' .. package.path
for _, folder in ipairs(vim.fn.glob('/usr/lib/*/lua/5.1', true, true)) do
  package.cpath = folder .. '/?.so;' .. package.cpath
end
vim.opt.runtimepath:prepend(plugin)
require('busted.runner')({ standalone = false })
