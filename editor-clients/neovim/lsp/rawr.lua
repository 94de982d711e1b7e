--- For `vim.lsp.enable('rawr')` and `vim.lsp.config('rawr', …)`: the one sidecar of the session, for rawr's own files.

local client = require('rawr.client')

---@type vim.lsp.Config
local config = vim.tbl_extend('force', client.config(), {
  filetypes = client.FILETYPES,
  reuse_client = function(other)
    return other.name == 'rawr'
  end,
})

return config
