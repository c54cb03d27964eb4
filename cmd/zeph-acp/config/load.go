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
	"github.com/zeph-acp/zeph-acp/session/llm/provider"
)

// Options say where the configuration comes from.
type Options struct {
	File    string            // --config; empty means that the environment decides
	Flags   map[string]string // values of the command line, by key path: "log.level"
	Environ []string          // NAME=VALUE; nil means os.Environ()
}

// Loaded is a configuration and where it comes from.
type Loaded struct {
	Config   Config
	Paths    Paths
	File     string   // the file that was read, or would be; may be empty
	Found    bool     // File was there
	Warnings []string // for the user, one line each
	// Getenv is the environment that the configuration was loaded from.
	Getenv func(name string) string

	origin  map[string]string // of every key that is not as in Defaults, by path
	options Options           // to load it once more
	Stamp   Stamp             // of File as it was read
}

// Load reads the configuration: over the defaults the file, over it the
// environment, over it the command line. It writes nothing.
//
// The error is a [Mistakes] if there is something wrong in the configuration;
// it then holds everything wrong. A configuration with mistakes is never used.
func Load(o Options) (*Loaded, error) {
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	env := environment(o.Environ)
	getenv := func(name string) string { return env[name] }
	l := &Loaded{Config: Defaults(), Paths: FindPaths(getenv), Getenv: getenv, origin: map[string]string{}, options: o}

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
		mistakes = append(mistakes, l.override(path, o.Flags[path], "command line")...)
	}
	mistakes = append(mistakes, l.validate(mistakes)...)
	if len(mistakes) > 0 {
		return nil, mistakes
	}
	for i := range l.Config.LLM.Providers {
		p := &l.Config.LLM.Providers[i]
		p.ToolUse, p.Images = cmp.Or(p.ToolUse, "auto"), cmp.Or(p.Images, "auto") // what no word means, for Show
	}
	if l.Paths.Data == "" {
		l.Warnings = append(l.Warnings, "no home directory: set HOME or ZEPH_HOME to keep sessions")
	}
	return l, nil
}

// environment makes a map of it. An empty variable is as good as none.
func environment(environ []string) map[string]string {
	env := map[string]string{}
	for _, e := range environ {
		if name, value, ok := strings.Cut(e, "="); ok && value != "" {
			env[name] = value
		}
	}
	return env
}

// read reads the file that the flag, else the environment names, which must
// exist, else the one in the usual place, which need not.
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
		if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
			err = pathErr.Err
		}
		if by != "" {
			return nil, fmt.Errorf("reading the configuration %s, named by %s: %w", toml.Printable(l.File), by, err)
		}
		return nil, fmt.Errorf("reading the configuration %s: %w", toml.Printable(l.File), err)
	}
	l.Found = true
	return data, nil
}

// locate returns the file's absolute path and what names it, both empty if there is
// none: the flag, else the environment, else nothing but its usual place.
func locate(flag, variable string, paths Paths) (file, by string) {
	switch {
	case flag != "":
		file, by = flag, "--config"
	case variable != "":
		file, by = variable, "ZEPH_CONFIG"
	default:
		return paths.ConfigFile(), ""
	}
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	return file, by
}

// applyFile sets what the file sets. Values that a package finds wrong are
// mistakes of the file even where an override corrects them.
func (l *Loaded) applyFile(data []byte) toml.Mistakes {
	root, mistakes := toml.Parse(data)
	understood := len(mistakes) == 0
	d := keysDecoder()
	d.Decode(root, reflect.ValueOf(&l.Config).Elem(), "")
	d.Validate(l.Config.validate(), understood)
	mistakes = append(mistakes, d.Mistakes...)
	l.Warnings = append(l.Warnings, warnings(d.Warnings.In(l.File))...)
	for key := range d.Set {
		l.origin[key] = fmt.Sprintf("%s:%d", l.File, d.Lines[key])
	}
	return mistakes.In(l.File)
}

// override sets one key from a text, which comes from where.
func (l *Loaded) override(path, text, where string) toml.Mistakes {
	v, ok := toml.Settable(reflect.ValueOf(&l.Config).Elem(), path)
	if !ok {
		return toml.Mistakes{{Where: where, Key: path, Text: "unknown key"}}
	}
	n, ok := toml.ParseValue(v.Type(), text)
	if !ok {
		return toml.Mistakes{{Where: where, Key: path, Text: "want " + toml.Want(v.Type()).Name}}
	}
	d := keysDecoder()
	d.Decode(n, v, path)
	maps.DeleteFunc(l.origin, func(key, _ string) bool { return strings.HasPrefix(key, path+"[") }) // elements of the list before
	l.origin[path] = where
	return d.Mistakes.In(where)
}

// validate returns wrong values that are not among the mistakes already reported.
func (l *Loaded) validate(told toml.Mistakes) toml.Mistakes {
	var mistakes toml.Mistakes
	wrong := l.Config.validate()
	for _, key := range slices.Sorted(maps.Keys(wrong)) {
		where, ok := l.origin[key]
		if list, _, element := strings.Cut(key, "["); element && !ok && strings.HasSuffix(key, "]") {
			where, ok = l.origin[list]
		}
		if ok && !strings.HasPrefix(where, l.File+":") {
			mistakes = append(mistakes, toml.Mistake{Where: where, Key: key, Text: wrong[key]})
		} else if len(told) == 0 && len(mistakes) == 0 {
			// Wrong only together with what an override set.
			mistakes = append(mistakes, toml.Mistake{Where: cmp.Or(where, "defaults"), Key: key, Text: wrong[key]})
		}
	}
	return mistakes
}

// Keys returns the saved keys of this configuration's providers.
func (l *Loaded) Keys() *keys.Keys {
	return keys.NewKeys(l.Paths.Config, provider.Keys(l.Config.LLM), l.Getenv)
}

// Reload loads the configuration again, from the same places.
func (l *Loaded) Reload() (*Loaded, error) { return Load(l.options) }
