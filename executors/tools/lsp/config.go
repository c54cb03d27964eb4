package lsp

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// Config is the table [tools.lsp].
type Config struct {
	Enabled bool `toml:"enabled" default:"true" tighten:"off" doc:"false: no language server starts"`
	WaitMS  int  `toml:"wait_ms" default:"2000" range:"100..10000" tighten:"lower" unit:"milliseconds" doc:"that an edit waits for a server"`
	// MaxLines has room for the first line, a diagnostic, and the line about those left out.
	MaxLines int `toml:"max_lines" default:"20" range:"3..200" tighten:"lower" unit:"lines" doc:"of diagnostics per edit"`
}

// Entry is a language server, such as one [[lsp]]. It replaces the built-in one of its name.
type Entry struct {
	Name        string   `toml:"name" doc:"unique; an entry replaces the built-in server of its name"`
	Command     string   `toml:"command" doc:"a program that speaks on stdin and stdout, looked up in PATH"`
	Args        []string `toml:"args" doc:"its arguments"`
	Extensions  []string `toml:"extensions" doc:"extensions of its files"`
	Language    string   `toml:"language" doc:"the language id of the protocol; default: by the extension"`
	Markers     []string `toml:"markers" doc:"it starts only below a directory with one of these files; default: anywhere"`
	InitOptions string   `toml:"init_options" doc:"its initializationOptions, a JSON object"`
	Settings    string   `toml:"settings" doc:"answers to its requests for the configuration, a JSON object"`
	Enabled     bool     `toml:"enabled" default:"true" doc:"false: not used, such as a built-in one of this name"`

	needsWatch   bool // it does not watch files itself
	quietOnClean bool // it does not report on files without diagnostics
}

// Entries are the entries of the configuration.
type Entries []Entry

// builtin are the servers without an entry. The first one that is installed serves a
// file.
var builtin = Entries{
	{Name: "gopls", Command: "gopls", Extensions: []string{".go"}, Markers: []string{"go.mod", "go.work"},
		InitOptions: `{"diagnosticsDelay":"50ms"}`, needsWatch: true},
	{Name: "rust-analyzer", Command: "rust-analyzer", Extensions: []string{".rs"}, Markers: []string{"Cargo.toml"}},
	{Name: "basedpyright", Command: "basedpyright-langserver", Args: []string{"--stdio"}, Extensions: []string{".py", ".pyi"}},
	{Name: "pyright", Command: "pyright-langserver", Args: []string{"--stdio"}, Extensions: []string{".py", ".pyi"}},
	{
		Name: "typescript-language-server", Command: "typescript-language-server", Args: []string{"--stdio"},
		Extensions: []string{".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"},
		Markers:    []string{"tsconfig.json", "jsconfig.json", "package.json"},
		// It would install packages of types otherwise.
		InitOptions: `{"disableAutomaticTypingAcquisition":true}`, quietOnClean: true,
	},
	{
		Name: "clangd", Command: "clangd", Extensions: []string{".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".m", ".mm"},
		Markers: []string{"compile_commands.json", "compile_flags.txt", ".clangd"},
	},
}

// language returns the LSP language id of a file.
func (e Entry) language(path string) string {
	if e.Language != "" {
		return e.Language
	}
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".rs":
		return "rust"
	case ".py", ".pyi":
		return "python"
	case ".ts", ".mts", ".cts":
		return "typescript"
	case ".tsx":
		return "typescriptreact"
	case ".js", ".mjs", ".cjs":
		return "javascript"
	case ".jsx":
		return "javascriptreact"
	case ".h", ".cc", ".cxx", ".hh", ".hpp":
		return "cpp"
	case ".m":
		return "objective-c"
	case ".mm":
		return "objective-cpp"
	default:
		return strings.TrimPrefix(ext, ".")
	}
}

// serves reports whether the server handles a file.
func (e Entry) serves(path string) bool {
	return slices.ContainsFunc(e.Extensions, func(ext string) bool {
		return len(path) >= len(ext) && strings.EqualFold(path[len(path)-len(ext):], ext)
	})
}

// All returns the entries in order of precedence: first the configuration's, then the
// built-in ones.
func (all Entries) All() Entries {
	out := slices.Clone(all)
	for _, b := range builtin {
		if !slices.ContainsFunc(all, func(e Entry) bool { return e.Name == b.Name }) {
			b.Enabled = true
			out = append(out, b)
		}
	}
	return out
}

var entryName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$`)

// Validate returns a message for each wrong key.
func (all Entries) Validate() map[string]string {
	wrong := map[string]string{}
	seen := map[string]bool{}
	for i, e := range all {
		for key, text := range e.validate() {
			wrong[fmt.Sprintf("[%d].%s", i, key)] = text
		}
		if seen[e.Name] && e.Name != "" {
			wrong[fmt.Sprintf("[%d].name", i)] = fmt.Sprintf("%q is the name of another server", e.Name)
		}
		seen[e.Name] = true
	}
	return wrong
}

// validate returns the mistakes of an entry, by key.
func (e Entry) validate() map[string]string {
	wrong := map[string]string{}
	if !entryName.MatchString(e.Name) {
		wrong["name"] = fmt.Sprintf("%q is not a name of at most 32 letters, digits, dots, dashes and underscores", e.Name)
	}
	if e.Enabled && e.Command == "" {
		wrong["command"] = "is missing"
	}
	if e.Enabled && len(e.Extensions) == 0 {
		wrong["extensions"] = `are missing: the ends of file names, such as [".go"]`
	}
	for _, ext := range e.Extensions {
		if !strings.HasPrefix(ext, ".") || len(ext) < 2 {
			wrong["extensions"] = fmt.Sprintf("%q does not begin with a dot", ext)
		}
	}
	for _, m := range e.Markers {
		if m == "" || m != filepath.Base(m) {
			wrong["markers"] = fmt.Sprintf("%q is not the name of a file", m)
		}
	}
	for key, text := range map[string]string{"init_options": e.InitOptions, "settings": e.Settings} {
		var members map[string]any
		if text != "" && json.Unmarshal([]byte(text), &members) != nil {
			wrong[key] = "is not a JSON object"
		}
	}
	return wrong
}
