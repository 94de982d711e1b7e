--- The text of the banner, with the places of its keys. Pure.

local words = require('rawr.words')

local M = {}

--- The keys in the banner and their choices.
M.KEYS = {
  { key = 'a', choice = 'approve' },
  { key = 'c', choice = 'compact_now' },
  { key = 's', choice = 'snooze' },
  { key = 'x', choice = 'cancel' },
  { key = 'p', choice = 'edit_packet' },
}

local SEPARATOR = ' · '

---@class rawr.KeyMark
---@field row integer # from 0
---@field from integer # in bytes, from 0
---@field to integer

---@param banner rawr.Banner
---@param choice rawr.Choice
---@return rawr.OfferedChoice?
function M.offered(banner, choice)
  for _, one in ipairs(banner.heads_up.choices) do
    if one.choice == choice then
      return one
    end
  end
end

---@param banner rawr.Banner
---@return { key: string, label: string }[]
local function answers(banner)
  local all = {}
  for _, one in ipairs(M.KEYS) do
    local choice = M.offered(banner, one.choice)
    if choice then
      table.insert(all, { key = one.key, label = words.one_line(choice.label) })
    end
  end
  return vim.list_extend(all, { { key = 'e', label = 'Explain' }, { key = 'q', label = 'Hide' } })
end

--- The keys and their labels; a key is never apart from its label.
---@param lines string[]
---@param banner rawr.Banner
---@param width integer
---@return rawr.KeyMark[]
local function add_keys(lines, banner, width)
  local marks, line = {}, ''
  for _, one in ipairs(answers(banner)) do
    local text = one.key .. ' ' .. one.label
    if line ~= '' and vim.api.nvim_strwidth(line .. SEPARATOR .. text) > width then
      table.insert(lines, line)
      line = ''
    end
    line = line == '' and line or line .. SEPARATOR
    table.insert(marks, { row = #lines, from = #line, to = #line + #one.key })
    line = line .. text
  end
  table.insert(lines, line)
  return marks
end

---@param banner rawr.Banner
---@param name string
---@param others integer
---@param now_ms integer
---@param width integer
---@return string[] lines, rawr.KeyMark[] marks
function M.lines(banner, name, others, now_ms, width)
  local heads_up = banner.heads_up
  local lines = { name }
  vim.list_extend(lines, words.banner(heads_up, width))
  table.insert(lines, words.deadline(heads_up, now_ms))
  if others > 0 then
    table.insert(lines, ('And %d more: `:Rawr threads`.'):format(others))
  end
  table.insert(lines, '')
  table.insert(lines, 'CTRL-W w or `:Rawr banner`, then:')
  return lines, add_keys(lines, banner, width)
end

--- What takes the place of a banner under the cursor whose compaction has ended.
---@param name string
---@return string[] lines, rawr.KeyMark[] marks
function M.over(name)
  local lines = { name, 'This compaction is over.', '' }
  table.insert(lines, 'e Explain' .. SEPARATOR .. 'q Hide')
  local second = #('e Explain' .. SEPARATOR)
  return lines, { { row = 3, from = 0, to = 1 }, { row = 3, from = second, to = second + 1 } }
end

--- The banner in one line of this width.
---@param banner rawr.Banner
---@param name string
---@param width integer
---@return string
function M.short(banner, name, width)
  return words.message(width, name, banner.heads_up.title, '`:Rawr banner`')
end

return M
