package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config/toml"
)

// ownVariables are the ZEPH_ variables that stand for no key.
var ownVariables = []string{"ZEPH_HOME", "ZEPH_CONFIG", "ZEPH_MODEL"}

// SecretPrefix begins the variables with secrets for skills, which set no key.
const SecretPrefix = "ZEPH_SECRET_"

// variable returns the environment variable that overrides the key at a path.
func variable(path string) string {
	return "ZEPH_" + strings.ToUpper(strings.ReplaceAll(path, ".", "_"))
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
	for _, path := range toml.Overridable(reflect.TypeFor[Config](), "") {
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
