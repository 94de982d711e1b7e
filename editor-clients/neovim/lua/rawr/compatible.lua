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

--- The version of a sidecar.
---@param result table the answer to `initialize`
---@return string
function M.release(result)
  return vim.tbl_get(result, 'serverInfo', 'version') or 'unknown'
end

--- What to update; nothing if the versions fit.
---@param result table the answer to `initialize`
---@return string?
function M.problem(result)
  local theirs = M.protocol(result.capabilities)
  if theirs == version.PROTOCOL then
    return nil
  end
  local is_newer = theirs and theirs > version.PROTOCOL
  local text = is_newer and 'version %s is newer than this plugin supports: update the plugin'
    or 'version %s is too old for this plugin: update rawr'
  return text:format(M.release(result))
end

return M
