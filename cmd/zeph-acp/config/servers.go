package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config/toml"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/keys"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/tools/mcp"
)

// serversTable is the array of tables of MCP servers.
const serversTable = "mcp.servers"

// AddServer appends an entry for an MCP server to the configuration file, and
// returns the path of the file. It makes the file if there is none.
func AddServer(o Options, s mcp.Server) (file string, err error) {
	return changeFile(o, func(data []byte) ([]byte, error) {
		if _, found := findServer(data, s.Name); found {
			return nil, fmt.Errorf("there is already a server %q", s.Name)
		}
		return appendTable(data, entryText(s)), nil
	})
}

// appendTable appends the text of a table to a document, after an empty line.
func appendTable(data []byte, table string) []byte {
	if len(data) > 0 && !bytes.HasSuffix(data, []byte("\n")) {
		data = append(data, '\n')
	}
	if len(data) > 0 {
		data = append(data, '\n')
	}
	return append(data, table...)
}

// RemoveServer removes the entry of an MCP server from the configuration file, and
// returns the path of the file.
func RemoveServer(o Options, name string) (file string, err error) {
	return changeFile(o, func(data []byte) ([]byte, error) {
		line, found := findServer(data, name)
		if !found {
			return nil, fmt.Errorf("there is no server %q in it", name)
		}
		lines := strings.SplitAfter(string(data), "\n")
		end := line // the index of the line after the header
		for end < len(lines) {
			header := strings.TrimSpace(lines[end])
			if strings.HasPrefix(header, "[") && !strings.HasPrefix(header, "["+serversTable+".") {
				break
			}
			end++
		}
		for end > line && strings.HasPrefix(strings.TrimSpace(lines[end-1]), "#") { // belongs to the next table
			end--
		}
		rest := slices.Concat(lines[:line-1], lines[end:])
		return []byte(strings.Join(rest, "")), nil
	})
}

// findServer returns the line of the header of a server's entry, 1-based.
func findServer(data []byte, name string) (line int, found bool) {
	root, _ := toml.Parse(data)
	table := root.Child("mcp")
	if table == nil || table.Child("servers") == nil {
		return 0, false
	}
	for _, item := range table.Child("servers").Items {
		if n := item.Child("name"); n != nil && n.Text == name {
			return item.Line, true
		}
	}
	return 0, false
}

// changeFile replaces the configuration file by the text that change returns. A text
// with other mistakes than before is not written.
func changeFile(o Options, change func(data []byte) ([]byte, error)) (string, error) {
	env := newEnvironment(o.Environ)
	file, err := locateForChange(o, env)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(file); err == nil { // a symbolic link is kept
		file = real
	}
	data, err := os.ReadFile(file)
	mode := fs.FileMode(0o600)
	if info, statErr := os.Stat(file); statErr == nil {
		mode = info.Mode()
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return file, err
	}
	changed, err := change(data)
	if err != nil {
		return file, fmt.Errorf("%s: %w", toml.Printable(file), err)
	}
	if before, after := mistakesIn(file, data, env), mistakesIn(file, changed, env); len(after) > len(before) {
		return file, fmt.Errorf("%s was not changed: %w", toml.Printable(file), after[:1])
	}
	if err := keys.MakeDir(filepath.Dir(file)); err != nil {
		return file, err
	}
	return file, keys.ReplaceFile(file, changed, mode)
}

// entryText writes the keys of an entry that differ from the defaults.
func entryText(s mcp.Server) string {
	var b strings.Builder
	key := func(name, value string) { fmt.Fprintf(&b, "%s = %s\n", name, value) }
	text := func(name, value string) {
		if value != "" {
			key(name, executors.TOMLString(value))
		}
	}
	list := func(name string, values []string) {
		if len(values) == 0 {
			return
		}
		quoted := make([]string, len(values))
		for i, v := range values {
			quoted[i] = executors.TOMLString(v)
		}
		key(name, "["+strings.Join(quoted, ", ")+"]")
	}
	table := func(name string, values map[string]string) {
		if len(values) == 0 {
			return
		}
		var pairs []string
		for _, k := range slices.Sorted(maps.Keys(values)) {
			pairs = append(pairs, toml.FormatKey(k)+" = "+executors.TOMLString(values[k]))
		}
		key(name, "{ "+strings.Join(pairs, ", ")+" }")
	}
	b.WriteString("[[" + serversTable + "]]\n")
	text("name", s.Name)
	text("command", s.Command)
	list("args", s.Args)
	table("env", s.Env)
	list("env_from", s.EnvFrom)
	text("url", s.URL)
	text("transport", s.Transport)
	table("headers", s.Headers)
	text("oauth_client_id", s.OAuthClientID)
	text("oauth_secret_from", s.OAuthSecretFrom)
	if s.OAuthPort != 0 {
		key("oauth_port", fmt.Sprint(s.OAuthPort))
	}
	text("trust", s.Trust)
	if !s.Enabled {
		key("enabled", "false")
	}
	return b.String()
}
