package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config/toml"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// ownVariables are the ZEPH_ variables that stand for no key.
var ownVariables = []string{"ZEPH_HOME", "ZEPH_CONFIG", "ZEPH_MODEL"}

// SecretPrefix begins the variables with secrets for skills, which set no key.
const SecretPrefix = "ZEPH_SECRET_"

// variable returns the environment variable that overrides the key at a path.
func variable(path string) string {
	return "ZEPH_" + strings.ToUpper(strings.ReplaceAll(path, ".", "_"))
}

// settable returns the values that a variable can set, scalars and arrays of scalars, by path.
func settable(c *Config) map[string]reflect.Value {
	all := map[string]reflect.Value{}
	setting.Walk(reflect.ValueOf(c).Elem(), "", func(path string, _ setting.Field, v reflect.Value) {
		if toml.IsLeaf(v.Type()) && v.CanSet() && !strings.Contains(path, "[") { // no element of a list or map
			all[path] = v
		}
	})
	return all
}

// applyEnvironment sets the keys whose variable is set. It warns of unknown
// variables that begin with ZEPH_.
func (l *Loaded) applyEnvironment(env environment) toml.Mistakes {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(env)), func(name string) bool {
		return !strings.HasPrefix(name, "ZEPH_") || slices.Contains(ownVariables, name)
	})
	if len(names) == 0 { // as in most environments: collecting the names of all keys takes 3 % of the start
		return nil
	}
	var mistakes toml.Mistakes
	known := slices.Clone(ownVariables)
	for _, path := range slices.Sorted(maps.Keys(settable(&l.Config))) {
		name := variable(path)
		known = append(known, name)
		if value, ok := env[name]; ok {
			mistakes = append(mistakes, l.override(path, value, name)...)
		}
	}
	for _, name := range names {
		if !strings.HasPrefix(name, SecretPrefix) && !slices.Contains(known, name) {
			hint := ""
			if n := toml.Nearest(name, known); n != "" {
				hint = fmt.Sprintf(" (did you mean %s?)", n)
			}
			l.Warnings = append(l.Warnings, fmt.Sprintf("environment variable %s sets no key%s", toml.Printable(name), hint))
		}
	}
	return mistakes
}
