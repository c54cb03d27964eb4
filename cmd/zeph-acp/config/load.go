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

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config/toml"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/keys"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/session/llm/provider"
)

// Options select the sources of the configuration.
type Options struct {
	File    string            // --config; empty means that the environment decides
	Flags   map[string]string // values of the command line, by key path: "log.level"
	Environ []string          // NAME=VALUE; an empty value counts as unset
	Managed ManagedFile       // the administrator's file
}

// Loaded is a configuration with the origin of its values.
type Loaded struct {
	Config   Config
	Paths    Paths
	File     string   // the file that was read, or that would be if it existed; may be empty
	Found    bool     // File exists
	Warnings []string // for the user, one line each
	// Getenv looks up the environment that the configuration was loaded from.
	Getenv func(name string) string

	managed managed           // the administrator's file
	origins map[string]string // for every key that differs from Defaults, by path
	options Options           // for Reload
	Stamp   Stamp             // of File as it was read
}

// CommandLine is the origin of a key that [Options.Flags] sets.
const CommandLine = "command line"

// Load reads the configuration. The file overrides the defaults, the
// environment the file, the command line the environment, and the managed file all
// of them. It writes nothing.
//
// If the configuration has mistakes, it is not used, and the error is a
// [Mistakes] with all of them.
func Load(o Options) (*Loaded, error) {
	env := newEnvironment(o.Environ)
	l := newLoaded(env)
	l.options = o

	var mistakes toml.Mistakes
	data, err := l.read(o.File, env["ZEPH_CONFIG"])
	if err != nil {
		return nil, err
	}
	if l.Found {
		mistakes = l.applyFile(data)
	}
	mistakes = append(mistakes, l.applyEnvironment(env)...)
	for _, path := range slices.Sorted(maps.Keys(o.Flags)) {
		mistakes = append(mistakes, l.override(path, o.Flags[path], CommandLine)...)
	}
	managedMistakes, err := l.applyManaged(o.Managed)
	if err != nil {
		return nil, err
	}
	mistakes = append(mistakes, managedMistakes...)
	l.Config.inheritOutputLimit(func(path string) bool { return l.origins[path] != "" })
	mistakes = append(mistakes, l.validate(mistakes)...)
	if len(mistakes) == 0 {
		mistakes = l.loadPolicy()
	}
	if len(mistakes) > 0 {
		return nil, mistakes
	}
	for i := range l.Config.LLM.Providers {
		p := &l.Config.LLM.Providers[i]
		p.ToolUse, p.Images = cmp.Or(p.ToolUse, "auto"), cmp.Or(p.Images, "auto") // spell out the default, for Show
	}
	if l.Paths.Data == "" {
		l.Warnings = append(l.Warnings, "no home directory: set HOME or ZEPH_HOME to keep sessions")
	}
	return l, nil
}

// newLoaded returns the default configuration, which an environment does not change yet.
func newLoaded(env environment) *Loaded {
	return &Loaded{Config: setting.Default[Config](), Paths: FindPaths(env.get), Getenv: env.get, origins: map[string]string{}}
}

// Getenv returns a function that looks up an environment, NAME=VALUE.
func Getenv(environ []string) func(name string) string { return newEnvironment(environ).get }

// environment has the variables that are not empty.
type environment map[string]string

func (e environment) get(name string) string { return e[name] }

func newEnvironment(environ []string) environment {
	env := environment{}
	for _, e := range environ {
		if name, value, ok := strings.Cut(e, "="); ok && value != "" {
			env[name] = value
		}
	}
	return env
}

// read reads the configuration file. A file named by the flag or else by the
// environment must exist; the default file is optional.
func (l *Loaded) read(flag, variable string) ([]byte, error) {
	var by string
	l.File, by = locate(flag, variable, l.Paths)
	if l.File == "" {
		return nil, nil
	}
	f, err := os.Open(l.File)
	if by == "" && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var data []byte
	if err == nil {
		defer f.Close()
		if info, err := f.Stat(); err == nil {
			l.Stamp = Stamp{info}
		}
		data, err = keys.ReadBounded(f)
	}
	if err != nil {
		name := toml.Printable(l.File)
		if by != "" {
			name += ", named by " + by
		}
		return nil, fmt.Errorf("reading the configuration %s: %w", name, workspace.Cause(err))
	}
	l.Found = true
	return data, nil
}

// locate returns the file's absolute path and the flag or variable that named
// it. Without either, the path is the default one and by is empty; both are
// empty if there is no home directory.
func locate(flag, variable string, paths Paths) (file, by string) {
	switch {
	case flag != "":
		file, by = flag, "--config"
	case variable != "":
		file, by = variable, "ZEPH_CONFIG"
	default:
		return paths.configFile(), ""
	}
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	return file, by
}

// locateForChange returns the path of the file that a command changes.
func locateForChange(o Options, env environment) (string, error) {
	file, _ := locate(o.File, env["ZEPH_CONFIG"], FindPaths(env.get))
	if file == "" {
		return "", errors.New("no home directory: set HOME or ZEPH_HOME, or name a file with --config")
	}
	return file, nil
}

// applyFile sets the keys in the file. Values that a package rejects are
// mistakes of the file even where an override replaces them.
func (l *Loaded) applyFile(data []byte) toml.Mistakes {
	root, mistakes := toml.Parse(data)
	d := newDecoder(root)
	d.File, d.Partial = l.File, len(mistakes) > 0
	d.Decode(root, reflect.ValueOf(&l.Config).Elem(), "")
	d.Validate(check(l.Config))
	mistakes = append(mistakes, d.Mistakes...)
	l.Warnings = append(l.Warnings, warnings(d.Warnings.In(l.File))...)
	for key := range d.Set {
		l.origins[key] = fmt.Sprintf("%s:%d", l.File, d.Lines[key])
	}
	return mistakes.In(l.File)
}

// override sets one key from a text; where names its source.
func (l *Loaded) override(path, text, where string) toml.Mistakes {
	v, ok := settable(&l.Config)[path]
	if !ok {
		return toml.Mistakes{{Where: where, Key: path, Text: "unknown key"}}
	}
	n, ok := toml.ParseValue(v.Type(), text)
	if !ok {
		return toml.Mistakes{{Where: where, Key: path, Text: "want " + toml.Want(v.Type()).Name}}
	}
	d := newDecoder(n)
	d.Decode(n, v, path)
	maps.DeleteFunc(l.origins, func(key, _ string) bool { return strings.HasPrefix(key, path+"[") }) // elements of the replaced list
	l.origins[path] = where
	return d.Mistakes.In(where)
}

// check returns the mistakes in the values of c, by path: those that its parts find, and the examples
// of permission rules that contradict their rule.
func check(c Config) map[string]string {
	wrong := setting.Check(c)
	for key, text := range c.Tools.WrongExamples(catalogue.Known) {
		wrong["tools."+key] = text
	}
	return wrong
}

// validate returns the wrong values that were not reported yet.
func (l *Loaded) validate(reported toml.Mistakes) toml.Mistakes {
	var mistakes toml.Mistakes
	wrong := check(l.Config)
	for _, key := range slices.Sorted(maps.Keys(wrong)) {
		where, ok := l.origins[key]
		if list, _, element := strings.Cut(key, "["); element && !ok && strings.HasSuffix(key, "]") {
			where, ok = l.origins[list]
		}
		switch {
		case ok && l.managed.file != "" && strings.HasPrefix(where, l.managed.file+":"): // applyManaged reported it
		case ok && !strings.HasPrefix(where, l.File+":"):
			mistakes = append(mistakes, toml.Mistake{Where: where, Key: key, Text: wrong[key]})
		case len(reported) == 0 && len(mistakes) == 0:
			// The value is wrong only together with an override.
			mistakes = append(mistakes, toml.Mistake{Where: cmp.Or(where, "defaults"), Key: key, Text: wrong[key]})
		}
	}
	return mistakes
}

// Keys returns the saved keys of this configuration's providers.
func (l *Loaded) Keys() *keys.Keys {
	return keys.NewKeys(l.Paths.Config, provider.Keys(l.Config.LLM), l.Getenv)
}

// Logins returns the saved logins at MCP servers.
func (l *Loaded) Logins() *keys.Logins { return keys.NewLogins(l.Paths.Config) }

// Reload loads the configuration again, from the same sources.
func (l *Loaded) Reload() (*Loaded, error) { return Load(l.options) }
