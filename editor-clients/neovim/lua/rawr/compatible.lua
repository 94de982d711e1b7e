--- Whether a sidecar speaks the protocol of this plugin. Pure.

local version = require('rawr.version')

local M = {}

--- The version of the protocol that a sidecar speaks.
---@param capabilities? table as answered to `initialize`
---@return integer?
function M.protocol(capabilities)
  local found = vim.tbl_get(capabilities or {}, 'experimental', 'rawr', 'protocolVersion')
  return type(found) == 'number' and found --[[@as integer]] or nil
end

--- What to update; nothing if the versions fit.
---@param binary string
---@param result table the answer to `initialize`
---@return string?
function M.problem(binary, result)
  local theirs = M.protocol(result.capabilities)
  if theirs == version.PROTOCOL then
    return nil
  end
  local release = vim.tbl_get(result, 'serverInfo', 'version')
  local name = release and ('%s (version %s)'):format(binary, release) or binary
  local is_newer = theirs and theirs > version.PROTOCOL
  return ('%s speaks %s, but this plugin (version %s) speaks protocol %d: update %s'):format(
    name,
    theirs and 'protocol ' .. theirs or 'no version of the protocol',
    version.PLUGIN,
    version.PROTOCOL,
    is_newer and 'the plugin' or 'the rawr binary'
  )
end

return M
