--- For `vim.lsp.enable('rawr')` and `vim.lsp.config('rawr', …)`: the one sidecar of the session, for rawr's own files.

local client = require('rawr.client')
local files = require('rawr.files')

---@type vim.lsp.Config
local config = vim.tbl_extend('force', client.config(), {
  filetypes = files.FILETYPES,
  root_dir = function(buffer, on_dir)
    if files.is_buffer_ours(buffer) then
      on_dir(assert(vim.uv.cwd()))
    end
  end,
  reuse_client = function(other)
    return other.name == 'rawr'
  end,
})

return config
