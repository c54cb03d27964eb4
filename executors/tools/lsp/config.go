package lsp

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/workspace/tighten"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// Config is the table [tools.lsp].
type Config struct {
	// Enabled adds the new diagnostics of language servers to the results of edits.
	// Default true.
	Enabled bool `toml:"enabled"`
	// WaitMS is how long an edit waits for a server, in milliseconds. Default 2000, from
	// 100 to 10000.
	WaitMS int `toml:"wait_ms"`
	// MaxLines is how many lines of diagnostics one edit gets. Default 20, from 3 to 200.
	MaxLines int `toml:"max_lines"`
}

const (
	minWait  = 100
	maxWait  = 10000
	minLines = 3 // the first line, one of a diagnostic, and the one about those left out
	maxLines = 200
)

// Defaults returns the default settings.
func Defaults() Config { return Config{Enabled: true, WaitMS: 2000, MaxLines: 20} }

// Validate returns a message for each wrong key.
func (c Config) Validate() map[string]string {
	wrong := map[string]string{}
	if c.WaitMS < minWait || c.WaitMS > maxWait {
		wrong["wait_ms"] = fmt.Sprintf("must be from %d to %d, is %d", minWait, maxWait, c.WaitMS)
	}
	if c.MaxLines < minLines || c.MaxLines > maxLines {
		wrong["max_lines"] = fmt.Sprintf("must be from %d to %d, is %d", minLines, maxLines, c.MaxLines)
	}
	return wrong
}

// Tighten adopts a repository's lower limits, and lets it switch the servers off.
func (c Config) Tighten(repo Config, keys *tighten.Keys) Config {
	keys.Disable("enabled", &c.Enabled, repo.Enabled)
	tighten.Lower(keys, "wait_ms", &c.WaitMS, repo.WaitMS)
	tighten.Lower(keys, "max_lines", &c.MaxLines, repo.MaxLines)
	return c
}

// Entry is a language server, such as one [[lsp]].
type Entry struct {
	// Name is the name of the server, unique. An entry replaces the built-in one of its
	// name.
	Name string `toml:"name"`
	// Command is the program, looked up in PATH. It speaks on stdin and stdout.
	Command string `toml:"command"`
	// Args are the arguments of Command.
	Args []string `toml:"args"`
	// Extensions are the ends of the names of its files, such as ".go".
	Extensions []string `toml:"extensions"`
	// Language is the LSP language id of its files, such as "go". Default: by the
	// extension.
	Language string `toml:"language"`
	// Markers are files of a project of this server. It starts only below a directory
	// with one of them. Default none: it starts anywhere.
	Markers []string `toml:"markers"`
	// InitOptions are the server's initializationOptions, a JSON object. Default none.
	InitOptions string `toml:"init_options"`
	// Settings answer the server's requests for its configuration, a JSON object.
	// Default none.
	Settings string `toml:"settings"`
	// Enabled uses the server. Default true.
	Enabled bool `toml:"enabled"`

	needsWatch   bool // it does not watch files itself
	quietOnClean bool // it does not report on files without diagnostics
}

// SetDefaults sets the defaults of an entry before it is decoded.
func (e *Entry) SetDefaults() { e.Enabled = true }

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
			wrong[fmt.Sprintf("lsp[%d].%s", i, key)] = text
		}
		if seen[e.Name] && e.Name != "" {
			wrong[fmt.Sprintf("lsp[%d].name", i)] = fmt.Sprintf("%q is the name of another server", e.Name)
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
