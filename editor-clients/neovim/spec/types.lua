--- `nvim -l spec/types.lua`: generates the LuaCATS types, the labels and the versions from schema.json and Cargo.toml.
--- `--check` only compares.

local here = vim.fs.dirname(vim.fs.normalize(debug.getinfo(1, 'S').source:sub(2)))
local SCHEMA = here .. '/../../../protocol-schema/schema.json'
local TYPES = here .. '/../lua/rawr/protocol.lua'
local LABELS = here .. '/../lua/rawr/labels.lua'
local VERSION = here .. '/../lua/rawr/version.lua'
local CARGO = here .. '/../../../Cargo.toml'
local COMMAND = 'nvim -l editor-clients/neovim/spec/types.lua'

local HEAD = {
  '---@meta rawr.protocol',
  '--- Generated from protocol-schema/schema.json by `' .. COMMAND .. '`. The payloads of the protocol.',
  '',
}

local PLAIN = { string = 'string', integer = 'integer', number = 'number', boolean = 'boolean', null = 'nil' }

---@param text string?
---@return string
local function one_line(text)
  return (text or ''):gsub('%s+', ' ')
end

---@param schema table
---@return string
local function type_of(schema)
  if schema['$ref'] then
    return 'rawr.' .. schema['$ref']:match('[^/]+$')
  elseif schema.allOf then
    return type_of(schema.allOf[1])
  elseif schema.const then
    return ("'%s'"):format(schema.const)
  elseif schema.anyOf then
    return table.concat(vim.tbl_map(type_of, schema.anyOf), '|')
  elseif schema.type == 'array' then
    local item = type_of(schema.items)
    return (item:find('|', 1, true) and '(' .. item .. ')' or item) .. '[]'
  elseif schema.type == 'object' then
    local values = schema.additionalProperties
    return ('table<string, %s>'):format(type(values) == 'table' and type_of(values) or 'any')
  end
  return PLAIN[schema.type] or 'any'
end

---@param lines string[]
---@param name string
---@param schema table
local function class(lines, name, schema)
  table.insert(lines, '---@class ' .. name)
  local required = schema.required or {}
  local fields = vim.tbl_keys(schema.properties or {})
  table.sort(fields)
  for _, field in ipairs(fields) do
    local property = schema.properties[field]
    local mark = vim.list_contains(required, field) and '' or '?'
    local line = ('---@field %s%s %s %s'):format(
      field,
      mark,
      type_of(property),
      one_line(property.description)
    )
    table.insert(lines, vim.trim(line))
  end
end

---@param lines string[]
---@param name string
---@param schema table
local function alias(lines, name, schema)
  local variants = schema.oneOf
  if not variants then
    table.insert(lines, ('---@alias %s %s'):format(name, type_of(schema)))
    return
  end
  local all = {}
  for _, variant in ipairs(variants) do
    if variant.properties then
      local kind = variant.properties.kind.const
      local sub = name .. '.' .. kind
      class(lines, sub, variant)
      table.insert(lines, '')
      table.insert(all, ('---| %s %s'):format(sub, '# ' .. one_line(variant.description)))
    else
      table.insert(all, ("---| '%s' # %s"):format(variant.const, one_line(variant.description)))
    end
  end
  table.insert(lines, '---@alias ' .. name)
  vim.list_extend(lines, all)
end

---@param path string
---@return string
local function read(path)
  local file = assert(io.open(path))
  local text = file:read('*a')
  file:close()
  return text
end

---@return table<string, table>
local function definitions()
  return vim.json.decode(read(SCHEMA)).definitions
end

---@return string
local function types()
  local all = definitions()
  local names = vim.tbl_keys(all)
  table.sort(names)
  local lines = vim.list_slice(HEAD)
  for _, name in ipairs(names) do
    local schema = all[name]
    table.insert(lines, '--- ' .. one_line(schema.description))
    if schema.type == 'object' then
      class(lines, 'rawr.' .. name, schema)
    else
      alias(lines, 'rawr.' .. name, schema)
    end
    table.insert(lines, '')
  end
  return vim.trim(table.concat(lines, '\n')) .. '\n'
end

---@param text string
---@return string
local function quoted(text)
  local quote = text:find("'", 1, true) and '"' or "'"
  return quote .. text .. quote
end

--- A table for each vocabulary whose names have labels.
---@return string
local function labels()
  local all = definitions()
  local names = vim.tbl_keys(all)
  table.sort(names)
  local lines = {
    '--- Generated from protocol-schema/schema.json by `'
      .. COMMAND
      .. '`. What people read for the names of the protocol.',
    '',
    'local M = {}',
    '',
  }
  for _, name in ipairs(names) do
    local variants = all[name].oneOf
    if variants and variants[1].title then
      table.insert(lines, '---@type table<rawr.' .. name .. ', string?>')
      table.insert(lines, 'M.' .. name .. ' = {')
      for _, variant in ipairs(variants) do
        table.insert(lines, ('  %s = %s,'):format(variant.const, quoted(variant.title)))
      end
      table.insert(lines, '}')
      table.insert(lines, '')
    end
  end
  table.insert(lines, 'return M')
  return table.concat(lines, '\n') .. '\n'
end

---@return string
local function versions()
  local lines = {
    '--- Generated from protocol-schema/schema.json and Cargo.toml by `' .. COMMAND .. '`.',
    '',
    'local M = {}',
    '',
    '--- The version of this plugin.',
    ("M.PLUGIN = '%s'"):format(assert(read(CARGO):match('\nversion = "([^"]+)"'))),
    '--- The version of the protocol that it speaks.',
    ('M.PROTOCOL = %d'):format(vim.json.decode(read(SCHEMA))['x-protocolVersion']),
    '',
    'return M',
  }
  return table.concat(lines, '\n') .. '\n'
end

---@param path string
---@param new string
local function put(path, new)
  if not vim.list_contains(arg, '--check') then
    local file = assert(io.open(path, 'w'))
    file:write(new)
    file:close()
    return
  end
  local file = io.open(path)
  local old = file and file:read('*a') or ''
  if file then
    file:close()
  end
  if old ~= new then
    io.stderr:write(vim.fs.basename(path) .. ' is out of date: run ' .. COMMAND .. '\n')
    os.exit(1)
  end
end

put(TYPES, types())
put(LABELS, labels())
put(VERSION, versions())
