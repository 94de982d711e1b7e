--- `rawr://packet`: a thread's continuation packet in a buffer. `:RawrHandOver` hands it over; writing the buffer does nothing,
--- because `:wall` and 'autowrite' also write. The buffer stays modified, so that Neovim does not discard it silently.

local banner_text = require('rawr.banner_text')
local client = require('rawr.client')
local live = require('rawr.live')
local threads = require('rawr.threads')
local words = require('rawr.words')

local M = {}

---@param buffer integer
---@param text string
local function fill(buffer, text)
  if not vim.api.nvim_buf_is_valid(buffer) then
    return
  end
  local levels = vim.bo[buffer].undolevels
  vim.bo[buffer].undolevels = -1
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split(text, '\n', { plain = true }))
  vim.bo[buffer].undolevels = levels
  vim.bo[buffer].modified = false
end

--- The packet, or a draft if there is none yet.
---@param buffer integer
---@param thread rawr.ThreadSummary
local function load(buffer, thread)
  client.on_thread(thread, 'rawr/thread/get', {}, function(details)
    if not vim.api.nvim_buf_is_valid(buffer) then
      return
    end
    vim.b[buffer].rawr_sequence = details.sequenceId
    local function draft()
      client.on_thread(thread, 'rawr/packet/build', { author = 'watcher' }, function(answer)
        fill(buffer, answer.packet)
        client.say('There is no packet yet: this is a draft by rawr.')
      end)
    end
    client.on_thread(thread, 'rawr/packet/get', { sequenceId = details.sequenceId }, function(answer)
      fill(buffer, answer.packet)
    end, draft)
  end)
end

--- Answers with the packet in the buffer.
---@param buffer integer
---@param thread rawr.ThreadSummary
local function hand_over(buffer, thread)
  local text = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n')
  local tick = vim.api.nvim_buf_get_changedtick(buffer)
  local more = { packet = text, sequenceId = vim.b[buffer].rawr_sequence }
  live.respond(thread, 'edit_packet', more, function()
    if vim.api.nvim_buf_is_valid(buffer) then
      vim.b[buffer].rawr_handed_over = more.sequenceId
    end
    if vim.api.nvim_buf_is_valid(buffer) and vim.api.nvim_buf_get_changedtick(buffer) == tick then
      vim.bo[buffer].modified = false
    end
  end)
end

local SEPARATOR = ' · '

--- Whether the packet can be handed over, how, and until when.
---@param buffer integer
---@param thread_id string
---@return string
local function state_of(buffer, thread_id)
  local sequence, banner = vim.b[buffer].rawr_sequence, threads.banner(live.threads, thread_id)
  if sequence and vim.b[buffer].rawr_handed_over == sequence then
    return 'This packet was handed over'
  elseif
    banner
    and (not sequence or banner.heads_up.sequenceId == sequence)
    and banner_text.offered(banner, 'edit_packet')
  then
    local parts = { ':RawrHandOver hands it over, :w does not' }
    table.insert(parts, words.deadline(banner.heads_up, live.now()))
    return table.concat(parts, SEPARATOR)
  elseif not sequence then
    return 'No compaction is pending: this packet cannot be handed over'
  elseif vim.bo[buffer].modified then
    return 'Too late: this compaction is over, and your text was not handed over'
  end
  return 'The packet of a past compaction'
end

--- What the window says above a packet. A narrow one has less of the thread's name.
---@param thread_id string
---@return string
function M.hint(thread_id)
  local hint = state_of(vim.api.nvim_get_current_buf(), thread_id)
  local room = vim.api.nvim_win_get_width(0) - vim.api.nvim_strwidth(SEPARATOR .. hint)
  if room < words.SHORTEST_NAME then
    return hint
  end
  return words.cut(live.name(thread_id), room) .. SEPARATOR .. hint
end

---@param buffer integer
---@param thread_id string
local function show_hint(buffer, thread_id)
  local quoted = thread_id:gsub("[%%'}]", '')
  local hint = ([[%%{v:lua.require'rawr.packet'.hint('%s')}]]):format(quoted)
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    vim.api.nvim_set_option_value('winbar', hint, { scope = 'local', win = window })
  end
end

--- For `BufReadCmd`.
---@param buffer integer
---@param thread_id string
function M.read(buffer, thread_id)
  vim.bo[buffer].buftype = 'acwrite'
  vim.bo[buffer].swapfile = false
  vim.bo[buffer].filetype = 'markdown'
  require('rawr.choose').thread(thread_id, function(thread)
    if not vim.api.nvim_buf_is_valid(buffer) then
      return
    end
    local group = vim.api.nvim_create_augroup('rawr.packet.' .. buffer, { clear = true })
    show_hint(buffer, thread.threadId)
    vim.api.nvim_create_autocmd('BufWinEnter', {
      group = group,
      buffer = buffer,
      callback = function()
        show_hint(buffer, thread.threadId)
      end,
    })
    vim.api.nvim_create_autocmd('BufWriteCmd', {
      group = group,
      buffer = buffer,
      callback = function()
        client.say('Not handed over: use :RawrHandOver.')
      end,
    })
    vim.api.nvim_buf_create_user_command(buffer, 'RawrHandOver', function()
      hand_over(buffer, thread)
    end, { desc = 'hand this packet over to the agent' })
    load(buffer, thread)
  end)
end

--- Another packet was written: an unmodified buffer shows it.
---@param news rawr.PacketChangedNotification
function M.changed(news)
  local buffer = vim.fn.bufnr('^rawr://packet/' .. news.threadId .. '$')
  local row = live.threads.rows[news.threadId]
  if news.change == 'outdated' or buffer < 0 or not row then
    return
  end
  if vim.api.nvim_buf_is_loaded(buffer) and not vim.bo[buffer].modified then
    load(buffer, row.thread)
  end
end

---@param thread rawr.ThreadSummary
function M.open(thread)
  local name = 'rawr://packet/' .. thread.threadId
  require('rawr.banner').hide(thread.threadId)
  local window = vim.fn.bufwinid(name)
  if window > 0 then
    vim.api.nvim_set_current_win(window)
  else
    vim.cmd('botright split ' .. vim.fn.fnameescape(name))
  end
end

return M
