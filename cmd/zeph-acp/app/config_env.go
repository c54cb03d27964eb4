package app

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// ownVariables are those of ours that are no keys.
var ownVariables = []string{"ZEPH_HOME", "ZEPH_CONFIG", "ZEPH_MODEL"}

// variable is the environment variable that overrides the key of that path.
func variable(path string) string {
	return "ZEPH_" + strings.ToUpper(strings.ReplaceAll(path, ".", "_"))
}

// overridable lists the paths of the keys that one variable can hold: scalars
// and arrays of them.
func overridable(t reflect.Type, above string) []string {
	var paths []string
	for _, f := range fieldsOf(t) {
		path := dotted(above, f.key)
		switch {
		case isLeaf(f.typ):
			paths = append(paths, path)
		case f.typ.Kind() == reflect.Struct:
			paths = append(paths, overridable(f.typ, path)...)
		}
	}
	return paths
}

// isLeaf reports whether values of the type have no keys of their own.
func isLeaf(t reflect.Type) bool {
	return isText(t) || isScalar(t) || t.Kind() == reflect.Slice && (isText(t.Elem()) || isScalar(t.Elem()))
}

// settable finds the value of an overridable path.
func settable(v reflect.Value, path string) (reflect.Value, bool) {
	key, rest, deeper := strings.Cut(path, ".")
	for _, f := range fieldsOf(v.Type()) {
		switch {
		case f.key != key:
		case !deeper:
			return v.FieldByIndex(f.index), isLeaf(f.typ)
		case f.typ.Kind() == reflect.Struct:
			return settable(v.FieldByIndex(f.index), rest)
		}
	}
	return reflect.Value{}, false
}

// applyEnvironment sets the keys whose variable is set, and warns of variables
// that look like ours and are not.
func (l *Loaded) applyEnvironment(env map[string]string) Mistakes {
	var mistakes Mistakes
	known := slices.Clone(ownVariables)
	for _, path := range overridable(reflect.TypeFor[Config](), "") {
		name := variable(path)
		known = append(known, name)
		if value, ok := env[name]; ok {
			mistakes = append(mistakes, l.override(path, value, name)...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if strings.HasPrefix(name, "ZEPH_") && !slices.Contains(known, name) {
			hint := ""
			if n := nearest(name, known); n != "" {
				hint = fmt.Sprintf(" (did you mean %s?)", n)
			}
			l.Warnings = append(l.Warnings, fmt.Sprintf("environment variable %s sets no key%s", printable(name), hint))
		}
	}
	return mistakes
}

// valueNode reads the text of a variable as a value for the type: strings as
// they are, lists separated by commas or as a TOML array, the rest as in TOML.
func valueNode(t reflect.Type, text string) (*node, bool) {
	text = strings.TrimSpace(text)
	if want(t).fits(unstable.String) {
		return &node{kind: unstable.String, text: text}, true
	}
	if t.Kind() == reflect.Slice && !strings.HasPrefix(text, "[") {
		list := &node{kind: unstable.Array}
		for item := range strings.SplitSeq(text, ",") {
			if item = strings.TrimSpace(item); item == "" {
				continue
			}
			n, ok := valueNode(t.Elem(), item)
			if !ok {
				return nil, false
			}
			list.items = append(list.items, n)
		}
		return list, true
	}
	root, mistakes := parse([]byte("value = " + text))
	if len(mistakes) > 0 || len(root.keys) != 1 {
		return nil, false
	}
	n := root.child("value")
	n.line = 0
	return n, true
}
