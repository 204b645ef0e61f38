-- Fencewright for Neovim 0.11 or later: put this file into ~/.config/nvim/lsp/, and
-- `vim.lsp.enable('fencewright')` into init.lua.
vim.filetype.add({ extension = { fw = "fw" } })

return {
  cmd = { "fencewright", "lsp" },
  filetypes = { "fw" },
  root_markers = { ".git" },
  init_options = { model = "tso" },
}
