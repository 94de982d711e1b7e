--- The highlight groups, each linked to one of Neovim unless the user or the color scheme defines it.

local M = {}

local LINKS = {
  RawrBanner = 'NormalFloat',
  RawrBannerBorder = 'DiagnosticWarn',
  RawrBannerTitle = 'DiagnosticWarn',
  RawrKey = 'Special',
  RawrOk = 'DiagnosticOk',
  RawrEarly = 'DiagnosticInfo',
  RawrReady = 'DiagnosticWarn',
  RawrAsap = 'DiagnosticWarn',
  RawrEmergency = 'DiagnosticError',
}

function M.define()
  for name, link in pairs(LINKS) do
    vim.api.nvim_set_hl(0, name, { link = link, default = true })
  end
end

return M
