package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config/toml"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/keys"
	"github.com/zeph-acp/zeph-acp/executors/gates/rules"
	"github.com/zeph-acp/zeph-acp/executors/tools/mcp"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// ManagedFile is the configuration of the administrator of a machine. Every key that it
// sets is final: neither the user's file nor the environment, the command line or a
// client changes it. A workspace may still tighten it.
type ManagedFile struct {
	Path string // absolute; empty means that there is none
	// Owner is a user who may own the file in addition to root, for tests; empty
	// means that only root may.
	Owner string
}

// Managed is the table [managed], which only the managed file may have.
type Managed struct {
	// MCPServers, if it is set, lists the only MCP servers that may start, regardless of
	// who configures them. Default: any.
	MCPServers []AllowedServer `toml:"mcp_servers"`
}

// AllowedServer is one entry of [[managed.mcp_servers]]. A server must have its name,
// and its command with the same arguments or its url.
type AllowedServer struct {
	Name    string   `toml:"name"`
	Command string   `toml:"command"`
	Args    []string `toml:"args"`
	AnyArgs bool     `toml:"any_args"` // the arguments of command do not matter
	Env     []string `toml:"env"`      // variables that the entry of a server may set; "*" means any
	URL     string   `toml:"url"`
}

// managed is the managed file as it was read.
type managed struct {
	Managed
	file string   // empty if there is none
	keys []string // the keys that it sets, sorted
	// overruled are the places of the values that it replaces, by key.
	overruled map[string]string
}

// managedDocument is the content of the managed file.
type managedDocument struct {
	Config
	Managed Managed `toml:"managed"`
}

// ruleTables are the tables that the managed file replaces as a whole, with the functions that
// reset them. Their keys depend on each other: a default that the user sets would change the
// meaning of rules.
var ruleTables = []struct {
	path  string
	reset func(*Tools)
}{
	{"tools.policy", func(t *Tools) { t.Policy = setting.Default[rules.Config]() }},
	{"tools.authorization", func(t *Tools) { t.Authorization = setting.Default[rules.Authorization]() }},
}

// applyManaged sets the keys of the managed file over all others.
func (l *Loaded) applyManaged(m ManagedFile) (toml.Mistakes, error) {
	if m.Path == "" {
		return nil, nil
	}
	data, err := readManaged(m)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the managed configuration %s cannot be used: %w", toml.Printable(m.Path), err)
	}
	root, mistakes := toml.Parse(data)
	l.managed = managed{file: m.Path, overruled: map[string]string{}}
	for _, table := range ruleTables {
		if hasTable(root, table.path) {
			table.reset(&l.Config.Tools)
			l.overrule(table.path)
		}
	}
	doc := managedDocument{Config: l.Config}
	d := newDecoder(root)
	d.File = m.Path
	d.Decode(root, reflect.ValueOf(&doc).Elem(), "")
	wrong := setting.Check(doc)
	maps.DeleteFunc(wrong, func(key, _ string) bool { return !d.Set[key] && !d.Set[beforeIndex(key)] })
	d.Validate(wrong)
	l.Config, l.managed.Managed = doc.Config, doc.Managed
	l.Warnings = append(l.Warnings, warnings(d.Warnings.In(m.Path))...)
	l.recordManaged(d)
	return append(mistakes, d.Mistakes...).In(m.Path), nil
}

// recordManaged records the keys that the managed file set, and the values that they replace.
func (l *Loaded) recordManaged(d *toml.Decoder) {
	l.managed.keys = slices.Sorted(maps.Keys(d.Set))
	for _, key := range l.managed.keys {
		l.overrule(key)
		l.origins[key] = fmt.Sprintf("%s:%d", l.managed.file, d.Lines[key])
	}
}

// overrule records that the managed file replaces the values at or below a path.
func (l *Loaded) overrule(path string) {
	maps.DeleteFunc(l.origins, func(key, where string) bool {
		if !setting.Within(key, path) || strings.HasPrefix(where, l.managed.file+":") {
			return false
		}
		l.managed.overruled[key] = where
		return true
	})
}

// hasTable reports whether a document has the table at a path.
func hasTable(n *toml.Node, path string) bool {
	for key := range strings.SplitSeq(path, ".") {
		if n == nil {
			return false
		}
		n = n.Child(key)
	}
	return n != nil
}

// beforeIndex returns the path of the list that an element or its key belongs to.
func beforeIndex(key string) string {
	list, _, _ := strings.Cut(key, "[")
	return list
}

// IsManaged reports whether the managed file sets a key, or a key below it.
func (l *Loaded) IsManaged(key string) bool {
	return slices.ContainsFunc(l.managed.keys, func(set string) bool { return setting.Within(set, key) })
}

// ManagedFile returns the path of the managed file, "" if there is none.
func (l *Loaded) ManagedFile() string { return l.managed.file }

// PermitsConfigured is like Permits for an MCP server of the configuration.
func (l *Loaded) PermitsConfigured(s mcp.Server) string {
	if l.IsManaged("mcp.servers") {
		return ""
	}
	return l.Permits(s)
}

// Permits returns the reason why an MCP server may not start, "" if it may.
func (l *Loaded) Permits(s mcp.Server) string {
	if l.IsManaged("mcp.servers") && slices.ContainsFunc(l.Config.MCP.Servers, func(o mcp.Server) bool { return o.Name == s.Name }) {
		return fmt.Sprintf("%s has a server of that name", toml.Printable(l.managed.file))
	}
	if !l.IsManaged("managed.mcp_servers") {
		return ""
	}
	why := fmt.Sprintf("%s does not list it", toml.Printable(l.managed.file))
	for _, a := range l.managed.MCPServers {
		if a.Name != s.Name {
			continue
		}
		if a.fits(s) {
			return ""
		}
		why = fmt.Sprintf("%s lists a server of that name with another command, url or environment", toml.Printable(l.managed.file))
	}
	return why
}

// fits reports whether an entry for a server is the allowed one.
func (a AllowedServer) fits(s mcp.Server) bool {
	if s.URL != "" {
		return s.Command == "" && a.URL != "" && strings.TrimSuffix(a.URL, "/") == strings.TrimSuffix(s.URL, "/")
	}
	for _, name := range slices.Concat(slices.Collect(maps.Keys(s.Env)), s.EnvFrom) {
		if !slices.Contains(a.Env, name) && !slices.Contains(a.Env, "*") {
			return false
		}
	}
	return a.Command != "" && a.Command == s.Command && (a.AnyArgs || slices.Equal(a.Args, s.Args))
}

// Validate returns a message for each wrong key.
func (m Managed) Validate() map[string]string {
	wrong := map[string]string{}
	for i, a := range m.MCPServers {
		key := fmt.Sprintf("mcp_servers[%d].", i)
		if a.Name == "" {
			wrong[key+"name"] = "is missing"
		}
		if (a.Command == "") == (a.URL == "") {
			wrong[key+"command"] = "an entry has a command or a url"
		}
	}
	return wrong
}

// checkManaged warns of settings that the managed file replaces.
func (l *Loaded) checkManaged(f *Findings) {
	for _, key := range slices.Sorted(maps.Keys(l.managed.overruled)) {
		m := toml.Mistake{Where: l.managed.overruled[key], Key: key, Text: "has no effect: " + l.managed.file + " decides"}
		f.Warnings = append(f.Warnings, m.Error())
	}
}

// readManaged reads the managed file. It must be out of reach of other users, since
// they could otherwise replace it.
func readManaged(m ManagedFile) ([]byte, error) {
	f, err := os.OpenFile(m.Path, os.O_RDONLY|keys.Nonblock, 0)
	if err != nil {
		return nil, cmp.Or(errors.Unwrap(err), err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	if err := protected(f, m.Owner); err != nil {
		return nil, err
	}
	// The directories could be replaced with the file in them.
	real, err := filepath.EvalSymlinks(m.Path)
	if err != nil {
		return nil, err
	}
	for _, path := range []string{m.Path, real} {
		for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
			if err := protectedDir(dir, m.Owner); err != nil {
				return nil, err
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return keys.ReadBounded(f)
}
