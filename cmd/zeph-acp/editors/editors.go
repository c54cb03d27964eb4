// Package editors describes the editors that start zeph-acp, and writes their
// configuration.
//
// Start with [All]. [Editor.Change] returns the change of an editor's settings file, and
// [Change.Apply] writes it. [Editor.Snippet] returns the code for editors that are
// configured by a program.
//
// It promises that a change keeps every other setting, each comment and the layout. A
// file that cannot be parsed is not changed. A file is replaced atomically, after a copy
// was made. A second change is empty.
//
// Why are Lua and Lisp only printed? A call of a plugin's setup replaces the options of
// another call, so a line that is appended would lose settings of the user.
package editors

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Editor is an editor, or a plugin of one, that can start zeph-acp.
type Editor struct {
	Name  string // as the user types it
	Title string // for people
	Needs string // the plugin that has to be installed in it; empty means none
	Start string // the user's steps from there to the first prompt, as an imperative

	// Of editors with a settings file in JSON.
	file  func(Places) string // the file; empty if there is no home directory
	table string              // the member of the file that holds the agents
	kind  string              // the member "type" of an entry; empty means that entries have no type

	// Of editors that are configured by a program.
	snippet      string              // with COMMAND in place of the quoted command
	snippetPlace func(Places) string // the directory or file that the snippet belongs in

	programs       []string
	installedPaths func(Places) []string // files and directories that show that it is installed
}

// Places are the user's directories, as the editors look for them.
type Places struct {
	System string // of runtime.GOOS
	Home   string // absolute; empty means unknown
	Getenv func(string) string
}

// settings returns the directory of the programs' settings.
func (p Places) settings() string {
	switch {
	case p.Home == "":
		return ""
	case p.System == "darwin":
		return filepath.Join(p.Home, "Library", "Application Support")
	case p.System == "windows" && filepath.IsAbs(p.Getenv("APPDATA")):
		return p.Getenv("APPDATA")
	case p.System == "windows":
		return filepath.Join(p.Home, "AppData", "Roaming")
	}
	return p.xdg()
}

// xdg returns the directory of settings by the XDG specification, which some programs
// follow on every system.
func (p Places) xdg() string {
	if dir := p.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return p.in(".config")
}

// in returns a path in the home directory.
func (p Places) in(names ...string) string {
	if p.Home == "" {
		return ""
	}
	return filepath.Join(append([]string{p.Home}, names...)...)
}

// join returns a path below a directory; empty if the directory is empty.
func join(dir string, names ...string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(append([]string{dir}, names...)...)
}

// zedDir returns the directory of Zed's settings.
func zedDir(p Places) string {
	if p.System == "windows" {
		return join(p.settings(), "Zed")
	}
	return join(p.xdg(), "zed")
}

// nvimDir returns the directory of Neovim's configuration.
func nvimDir(p Places) string {
	if p.System == "windows" {
		return p.in("AppData", "Local", "nvim")
	}
	return join(p.xdg(), "nvim")
}

// codeDir returns the directory of VS Code's settings.
func codeDir(p Places) string { return join(p.settings(), "Code", "User") }

//go:embed neovim.lua
var lua string

//go:embed emacs.el
var lisp string

// All returns the known editors.
func All() []Editor {
	return []Editor{
		{
			Name:           "zed",
			Title:          "Zed",
			Start:          "open the agent panel, and select the agent under the plus sign",
			programs:       []string{"zed", "zeditor"},
			table:          "agent_servers",
			kind:           "custom",
			file:           func(p Places) string { return join(zedDir(p), "settings.json") },
			installedPaths: func(p Places) []string { return []string{zedDir(p)} },
		},
		{
			Name:           "jetbrains",
			Title:          "JetBrains IDEs",
			Needs:          "AI Assistant",
			Start:          "select the agent in AI Chat",
			table:          "agent_servers",
			programs:       []string{"idea", "goland", "pycharm", "webstorm", "clion", "rider", "phpstorm", "rubymine"},
			file:           func(p Places) string { return p.in(".jetbrains", "acp.json") },
			installedPaths: func(p Places) []string { return []string{p.in(".jetbrains"), join(p.settings(), "JetBrains")} },
		},
		{
			Name:           "vscode",
			Title:          "VS Code",
			Needs:          "the extension ACP Client",
			Start:          "select the agent in the view of ACP Client",
			programs:       []string{"code"},
			table:          "acp.agents",
			file:           func(p Places) string { return join(codeDir(p), "settings.json") },
			installedPaths: func(p Places) []string { return []string{codeDir(p)} },
		},
		{
			Name:           "neovim",
			Title:          "Neovim",
			Needs:          "Neovim 0.11 with the plugin CodeCompanion or avante",
			Start:          "restart Neovim, and enter :CodeCompanionChat or :AvanteChat",
			programs:       []string{"nvim"},
			snippet:        lua,
			snippetPlace:   nvimDir,
			installedPaths: func(p Places) []string { return []string{nvimDir(p)} },
		},
		{
			Name:           "emacs",
			Title:          "Emacs",
			Needs:          "Emacs 29.1 with the package agent-shell",
			Start:          "restart Emacs, and enter M-x zeph",
			programs:       []string{"emacs"},
			snippet:        lisp,
			snippetPlace:   emacsInit,
			installedPaths: func(p Places) []string { return []string{p.in(".emacs.d"), p.in(".emacs"), join(p.xdg(), "emacs")} },
		},
	}
}

// emacsInit returns the first existing init file of Emacs, in its order, or the usual one.
// https://www.gnu.org/software/emacs/manual/html_node/emacs/Find-Init.html
func emacsInit(p Places) string {
	for _, file := range []string{p.in(".emacs"), p.in(".emacs.el"), p.in(".emacs.d", "init.el"), join(p.xdg(), "emacs", "init.el")} {
		if _, err := os.Stat(file); file != "" && err == nil {
			return file
		}
	}
	return p.in(".emacs.d", "init.el")
}

// Installed reports whether the editor is on this machine, by its program in PATH or its
// settings.
func (e Editor) Installed(p Places) bool {
	for _, name := range e.programs {
		if _, err := exec.LookPath(name); err == nil {
			return true
		}
	}
	for _, trace := range e.installedPaths(p) {
		if _, err := os.Stat(trace); trace != "" && err == nil {
			return true
		}
	}
	return false
}

// HasFile reports whether the editor has a settings file that Change can change.
func (e Editor) HasFile() bool { return e.file != nil }

// File returns the settings file, or for an editor that is configured by a program the
// place of that program. It is empty if there is no home directory.
func (e Editor) File(p Places) string {
	if e.HasFile() {
		return e.file(p)
	}
	return e.snippetPlace(p)
}

// Snippet returns the code that connects the editor with a command; "" for an editor with
// a settings file.
func (e Editor) Snippet(command string) string {
	quoted := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(command) + `"` // as in Lua and in Emacs Lisp
	return strings.ReplaceAll(e.snippet, "COMMAND", quoted)
}
