--- Generated from protocol-schema/schema.json and Cargo.toml by `nvim -l editor-clients/neovim/spec/types.lua`.

local M = {}

--- The version of this plugin.
M.PLUGIN = '0.1.0'
--- The version of the protocol that it speaks.
M.PROTOCOL = 1

return M
