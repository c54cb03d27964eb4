package config

import (
	_ "embed" // examples.toml
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config/toml"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/keys"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// examples are tables that the defaults lack, such as providers, as comments. A test makes
// them from the documentation.
//
//go:embed examples.toml
var examples string

// initialConfig returns a configuration that changes nothing: all keys with their defaults
// and sentences, and the examples, as comments.
func initialConfig() string {
	first, rest, _ := strings.Cut(examples, "\n\n")
	var b strings.Builder
	b.WriteString("# The configuration of zeph-acp. Each key has its default here, or is an example: remove the\n" +
		"# \"# \" before those that you want to change. \"zeph-acp config check\" names mistakes.\n\n" + first + "\n")
	writeTables(&b, reflect.ValueOf(setting.Default[Config]()), "")
	return b.String() + "\n" + rest
}

// writeTables writes the tables at and below a path, with their keys as comments.
func writeTables(b *strings.Builder, v reflect.Value, path string) {
	if lines := keysOf(v); lines != "" {
		fmt.Fprintf(b, "\n[%s]\n%s", path, commented(lines))
	}
	for _, f := range setting.Fields(v.Type()) {
		if f.Type.Kind() == reflect.Struct && !toml.IsLeaf(f.Type) {
			writeTables(b, v.FieldByIndex(f.Index), setting.Join(path, f.Key))
		}
	}
}

// commented returns lines as comments. Empty lines stay.
func commented(lines string) string {
	var b strings.Builder
	for line := range strings.Lines(lines) {
		if line != "\n" {
			b.WriteString("# ")
		}
		b.WriteString(line)
	}
	return b.String()
}

// keysOf returns a line for each key of a table, with its sentence.
func keysOf(v reflect.Value) string {
	var lines [][2]string
	for _, f := range setting.Fields(v.Type()) {
		if toml.IsLeaf(f.Type) {
			lines = append(lines, [2]string{f.Key + " = " + literal(v.FieldByIndex(f.Index)), f.Describe()})
		}
	}
	return align(lines)
}

// align writes settings and their comments. Long settings do not widen the column.
func align(lines [][2]string) string {
	const most = 60
	width := 0
	for _, l := range lines {
		if n := len(l[0]); n <= most && l[1] != "" {
			width = max(width, n)
		}
	}
	var b strings.Builder
	for _, l := range lines {
		if l[1] == "" {
			b.WriteString(l[0] + "\n")
			continue
		}
		fmt.Fprintf(&b, "%-*s # %s\n", width, l[0], l[1])
	}
	return b.String()
}

// Init writes an initial configuration file to the path that the options
// select, and returns that path. It returns an error if the file exists.
func Init(o Options) (file string, err error) {
	if file, err = locateForChange(o, newEnvironment(o.Environ)); err != nil {
		return "", err
	}
	if err = keys.MakeDir(filepath.Dir(file)); err == nil {
		err = keys.CreateFile(file, []byte(initialConfig()), 0o600)
	}
	if errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("%s already exists and was not changed", toml.Printable(file))
	}
	if err != nil {
		return "", fmt.Errorf("writing the configuration: %w", err)
	}
	return file, nil
}
