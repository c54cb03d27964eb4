package app

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// maxConfigBytes bounds a configuration file.
const maxConfigBytes = 1 << 20

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

	origin  map[string]string // of every key that is not as in Defaults, by path
	options Options           // to load it once more
	stamp   stamp             // of File as it was read
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
	l := &Loaded{Config: Defaults(), Paths: FindPaths(getenv), origin: map[string]string{}, options: o}

	var mistakes Mistakes
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
			l.stamp = stamp{info}
		}
		data, err = readBounded(f)
	}
	if err != nil {
		if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
			err = pathErr.Err
		}
		if by != "" {
			return nil, fmt.Errorf("reading the configuration %s, named by %s: %w", printable(l.File), by, err)
		}
		return nil, fmt.Errorf("reading the configuration %s: %w", printable(l.File), err)
	}
	l.Found = true
	return data, nil
}

// locate gives the file's absolute path and what names it, both empty if there is
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

func readBounded(r io.Reader) ([]byte, error) {
	var b bytes.Buffer
	if _, err := io.Copy(&b, io.LimitReader(r, maxConfigBytes+1)); err != nil {
		return nil, err
	}
	if b.Len() > maxConfigBytes {
		return nil, fmt.Errorf("larger than %d bytes", maxConfigBytes)
	}
	return b.Bytes(), nil
}

// applyFile sets what the file sets. Values that a package finds wrong are
// mistakes of the file even where an override corrects them.
func (l *Loaded) applyFile(data []byte) Mistakes {
	root, mistakes := parse(data)
	understood := len(mistakes) == 0
	d := newDecoder()
	d.decode(root, reflect.ValueOf(&l.Config).Elem(), "")
	d.validate(&l.Config, understood)
	mistakes = append(mistakes, d.mistakes...)
	l.Warnings = append(l.Warnings, warnings(d.planned.in(l.File))...)
	for key := range d.set {
		l.origin[key] = fmt.Sprintf("%s:%d", l.File, d.lines[key])
	}
	return mistakes.in(l.File)
}

// override sets one key from a text, which comes from where.
func (l *Loaded) override(path, text, where string) Mistakes {
	v, ok := settable(reflect.ValueOf(&l.Config).Elem(), path)
	if !ok {
		return Mistakes{{Where: where, Key: path, Text: "unknown key"}}
	}
	n, ok := valueNode(v.Type(), text)
	if !ok {
		return Mistakes{{Where: where, Key: path, Text: "want " + want(v.Type()).name}}
	}
	d := newDecoder()
	d.decode(n, v, path)
	maps.DeleteFunc(l.origin, func(key, _ string) bool { return strings.HasPrefix(key, path+"[") }) // elements of the list before
	l.origin[path] = where
	return d.mistakes.in(where)
}

// validate finds values that are wrong and not among the mistakes already told.
func (l *Loaded) validate(told Mistakes) Mistakes {
	var mistakes Mistakes
	wrong := l.Config.validate()
	for _, key := range slices.Sorted(maps.Keys(wrong)) {
		where, ok := l.origin[key]
		if list, _, element := strings.Cut(key, "["); element && !ok && strings.HasSuffix(key, "]") {
			where, ok = l.origin[list]
		}
		if ok && !strings.HasPrefix(where, l.File+":") {
			mistakes = append(mistakes, Mistake{Where: where, Key: key, Text: wrong[key]})
		} else if len(told) == 0 && len(mistakes) == 0 {
			// Wrong only together with what an override set.
			mistakes = append(mistakes, Mistake{Where: cmp.Or(where, "defaults"), Key: key, Text: wrong[key]})
		}
	}
	return mistakes
}
