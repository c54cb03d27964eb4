package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// scene is a session and its picture.
type scene struct {
	look
	model   string            // the model's answers: see docs/client-authors.md
	files   map[string]string // more files of the home directory
	command []string          // runs in the terminal
	steps   []step
}

// step presses keys, waits until the terminal shows a pattern, and takes a frame of it.
type step struct {
	keys    string  // typed as they are, or the name of a key in angle brackets
	shows   string  // a regular expression
	seconds float64 // for which the frame is shown; 0 means no frame
	passes  bool    // the pattern is shown for a moment only: a slow machine misses it, and the frame is missing
}

const (
	stays   = false
	passing = true
)

// project is the directory of the program, in the home directory.
const project = "greeter"

const config = `[[llm.providers]]
name = "script"
type = "script"
model = "model"
context_window = 200000
price = { input = 3.0, output = 15.0 }
default = true
`

const program = `package main

func greet(name string) string {
	return "hi " + name
}

func main() {
	println(greet("world"))
}
`

// conversation is "zeph-acp chat" in a terminal.
var conversation = scene{
	look: look{
		title:   "A conversation with zeph-acp in a terminal",
		columns: 88, rows: 30,
		page: "#1e222a", text: "#d7dae0",
	},
	model: `{"text": "I look at the greeting first."}
{"delay_ms": 900}
{"tool": "read", "input": {"path": "greet.go"}}
{"usage": {"input": 9100, "output": 60}}

{"delay_ms": 900}
{"tool": "edit", "input": {"path": "greet.go", "old_string": "\"hi \"", "new_string": "\"good day, \""}}
{"usage": {"input": 9400, "output": 90}}

{"delay_ms": 900}
{"tool": "bash", "input": {"command": "go run greet.go"}}
{"usage": {"input": 9600, "output": 40}}

{"text": "Done: ` + "`greet.go`" + ` says **good day** now, and the program prints it."}
{"usage": {"input": 9800, "output": 30}}
`,
	command: []string{"sh"},
	steps: []step{
		{"", `\$$`, 0, stays}, // the shell is ready
		{"zeph-acp", `\$ zeph-acp$`, 0.8, stays},
		{"<Enter>", `Type a prompt`, 0.8, stays},
		{"greet people politely, then run it", `run it\n`, 1.2, stays},
		{"<Enter>", `look at the greeting`, 0.8, passing},
		{"", `(?s)read  greet.go.*completed`, 0.8, passing},
		{"", `(?s)Edit greet.go.*Enter`, 3.5, stays},
		{"y", `(?s)Edited greet.go.*completed`, 0.8, passing},
		{"", `(?s)Run .go run.*Enter`, 2.5, stays},
		{"y", `(?s)Done: .*\n› *\n`, 4, stays},
	},
}

// panel returns the scene of the panel in Neovim, with its program and the directories of the plugins.
func panel(editor string, plugins []string) (scene, error) {
	path, err := exec.LookPath(editor)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return scene{}, fmt.Errorf("-editor: %w", err)
	}
	init := ""
	for _, name := range []string{"codecompanion", "plenary"} {
		dir, err := withModule(plugins, name)
		if err != nil {
			return scene{}, err
		}
		init += fmt.Sprintf("vim.opt.rtp:prepend(%q)\n", dir)
	}
	return panelScene(path, init), nil
}

// panelScene is the scene of a Neovim whose configuration begins with the lines init.
func panelScene(path, init string) scene {
	return scene{
		look: look{
			title:   "The panel of zeph-acp in Neovim",
			columns: 100, rows: 30,
			page: "#14161b", text: "#e0e2ea", // the background and foreground of Neovim's default colours
		},
		model: `{"text": "I look at the greeting first."}
{"delay_ms": 900}
{"tool": "read", "input": {"path": "greet.go"}}

{"delay_ms": 900}
{"tool": "edit", "input": {"path": "greet.go", "old_string": "\"hi \"", "new_string": "\"good day, \""}}

{"text": "Done: ` + "`greet.go`" + ` says good day now."}
`,
		files:   map[string]string{"init.lua": init + initLua},
		command: []string{path, "-u", "../init.lua", "greet.go", "-c", "CodeCompanionChat"},
		steps: []step{
			{"", `Welcome to CodeCompanion`, 1, stays},
			{"igreet people politely", `greet people politely`, 1.2, stays},
			{"<Escape>", `\[CodeCompanion\] \d+ *$`, 0, stays}, // the line with INSERT is gone
			{"<Enter>", `look at the greeting`, 0.8, passing},
			{"", `Read: greet.go`, 0.8, passing},
			{"", `g4. - Cancel`, 3, stays},
			{"gv", `g2 Accept`, 3.5, stays},
			{"g2", `(?s)says good day now.*## Me`, 5, stays},
		},
	}
}

// withModule returns the directory with a module of Lua.
func withModule(dirs []string, module string) (string, error) {
	for _, dir := range dirs {
		if _, err := os.Stat(filepath.Join(dir, "lua", module)); err == nil {
			return filepath.Abs(dir)
		}
	}
	return "", fmt.Errorf("-plugins: no directory of %q has lua/%s: name those of CodeCompanion and plenary", strings.Join(dirs, string(os.PathListSeparator)), module)
}

// initLua configures Neovim as docs/editors.md does, without symbols that need a special font.
const initLua = `vim.opt.termguicolors = true
vim.opt.number = true
vim.opt.laststatus = 2
vim.opt.ruler = false
vim.opt.showcmd = false
vim.opt.splitright = true
vim.opt.tabstop = 4
vim.opt.fillchars = { eob = " " }

require("codecompanion").setup({
  adapters = { acp = { zeph = function()
    return require("codecompanion.adapters").extend("goose", {
      name = "zeph", formatted_name = "Zeph", commands = { default = { "zeph-acp" } },
    })
  end } },
  interactions = { chat = { adapter = "zeph" } },
  display = { chat = {
    intro_message = "Welcome to CodeCompanion! Press ? for options",
    icons = { tool_pending = "○ ", tool_in_progress = "○ ", tool_failure = "✗ ", tool_success = "✓ " },
    window = { opts = { number = false } },
  }, diff = { window = { width = 0.8, height = 0.5 } } },
})
`
