-- CodeCompanion: add this to its setup.
require("codecompanion").setup({
  adapters = { acp = { zeph = function()
    return require("codecompanion.adapters").extend("goose", {
      name = "zeph", formatted_name = "Zeph", commands = { default = { COMMAND } },
    })
  end } },
  interactions = { chat = { adapter = "zeph" } },
})

-- avante: or add this to its setup.
require("avante").setup({
  provider = "zeph",
  acp_providers = { zeph = { command = COMMAND, args = {}, env = {} } },
})
