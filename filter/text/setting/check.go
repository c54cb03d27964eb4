package setting

import (
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// Check returns a message for each wrong key of a struct, by path.
func Check(c any) map[string]string {
	wrong := map[string]string{}
	check(reflect.ValueOf(c), "", wrong)
	return wrong
}

// validator is a struct or list with rules that no tag can say.
type validator interface {
	Validate() map[string]string // the messages by key, relative to the value
}

// check adds the messages about a value at a path.
func check(v reflect.Value, path string, wrong map[string]string) {
	if c, ok := declares[validator](v); ok {
		for key, text := range c.Validate() {
			wrong[Join(path, key)] = text
		}
	}
	switch {
	case isTable(v.Type()):
		for _, m := range membersOf(v.Type()) {
			inner, at := v.Field(m.index), path
			if m.Key != "" {
				at = Join(path, m.Key)
			}
			if m.limited {
				checkTags(m.Field, inner, at, wrong)
			}
			if m.nested {
				check(inner, at, wrong)
			}
		}
	case v.Kind() == reflect.Slice && isTable(v.Type().Elem()):
		for i := range v.Len() {
			check(v.Index(i), fmt.Sprintf("%s[%d]", path, i), wrong)
		}
	case v.Kind() == reflect.Map:
		for _, key := range v.MapKeys() {
			check(v.MapIndex(key), Join(path, key.String()), wrong)
		}
	}
}

// member is a field of a table as check needs it. An embedded one has no key.
type member struct {
	Field
	index   int
	limited bool // its tags limit the values
	nested  bool // it has keys or rules of its own
	table   bool // it has keys of its own
	initial string
	given   bool // initial is its default
}

var members sync.Map // of []member by reflect.Type; each load of the configuration checks twice

// membersOf returns the fields of a table that have a key or are embedded.
func membersOf(t reflect.Type) []member {
	if known, ok := members.Load(t); ok {
		return known.([]member)
	}
	var out []member
	for i := range t.NumField() {
		f := t.Field(i)
		key, embedded := keyOf(f)
		if key == "" && !embedded {
			continue
		}
		m := member{Field: Field{Key: key, Tag: f.Tag}, index: i, table: isTable(f.Type)}
		short, _, _ := strings.Cut(string(f.Tag), ` doc:"`) // the sentence is the last tag, and long
		tags := reflect.StructTag(short)
		for _, tag := range [...]string{"range", "oneof", "format"} {
			m.limited = m.limited || tags.Get(tag) != ""
		}
		m.initial, m.given = tags.Lookup("default")
		switch f.Type.Kind() {
		case reflect.Struct, reflect.Slice, reflect.Map, reflect.Pointer, reflect.Interface:
			m.nested = true
		default:
			m.nested = f.Type.Implements(reflect.TypeFor[validator]()) || reflect.PointerTo(f.Type).Implements(reflect.TypeFor[validator]())
		}
		out = append(out, m)
	}
	members.Store(t, out)
	return out
}

// checkTags adds the message about a value that its tags do not accept.
func checkTags(f Field, v reflect.Value, path string, wrong map[string]string) {
	list, isList := items(v)
	for i, item := range list {
		text := f.fault(item)
		if text == "" {
			continue
		}
		if isList {
			wrong[fmt.Sprintf("%s[%d]", path, i)] = text
		} else {
			wrong[path] = text
		}
	}
}

// fault returns the reason why a value is wrong, "" if it is right.
func (f Field) fault(v reflect.Value) string {
	if text := f.Tag.Get("range"); text != "" {
		if b := boundsOf(text); !b.contain(asFloat(v)) {
			text := fmt.Sprintf("%v %s", v.Interface(), b.fault())
			if zero := f.Tag.Get("zero"); zero != "" {
				text += "; 0: " + zero
			}
			return text
		}
	}
	if choices := f.Choices(); choices != nil && f.choice(v) < 0 {
		if _, hasDefault := f.Tag.Lookup("default"); hasDefault || v.String() != "" {
			return fmt.Sprintf("%q is not one of %s", v.String(), strings.Join(choices, ", "))
		}
	}
	if format := formats[f.Tag.Get("format")]; format != nil {
		return format(v.String())
	}
	return ""
}

// formats return the fault of a text, "" if it has the form.
var formats = map[string]func(string) string{
	"filled": func(s string) string { // not empty or blank
		if strings.TrimSpace(s) == "" {
			return "is empty"
		}
		return ""
	},
	"file": func(s string) string { // any file name, or none
		if strings.ContainsRune(s, 0) {
			return "a file name cannot contain NUL"
		}
		return ""
	},
	"absolute": func(s string) string { // an absolute path, one that begins with ~/, or none
		if s != "" && !isAbsolute(s) {
			return fmt.Sprintf("%q is not an absolute path, nor one that begins with ~/", s)
		}
		return ""
	},
	"directory": func(s string) string { // the same, or the session's own directory
		if s != "" && filepath.Clean(s) == "." || isAbsolute(s) {
			return ""
		}
		return fmt.Sprintf("%q is not an absolute path, nor one that begins with ~/", s)
	},
	FormatModel: nil, // "provider" or "provider:model", which the caller looks up
}

// FormatModel is the format of keys that name a model.
const FormatModel = "model"

// Needs returns the settings without which a key has no effect, and reports whether they are
// there. Is reports whether a key of the same table is true.
func (f Field) Needs(is func(key string) bool) (text string, met bool) {
	tag := f.Tag.Get("needs")
	if tag == "" {
		return "", true
	}
	word, keys := " and ", strings.Split(tag, "&")
	any, all := false, true
	if strings.Contains(tag, "|") {
		word, keys = " or ", strings.Split(tag, "|")
	}
	for i, key := range keys {
		any, all = any || is(key), all && is(key)
		keys[i] = key + " = true"
	}
	return strings.Join(keys, word), all || any && word == " or "
}

// isAbsolute reports whether a path is absolute or begins with the home directory.
func isAbsolute(s string) bool {
	return !strings.ContainsRune(s, 0) && (filepath.IsAbs(s) || s == "~" || strings.HasPrefix(s, "~/"))
}

// bounds are the numbers that a key accepts.
type bounds struct {
	orZero    bool
	low, high float64 // high may be infinite
}

// boundsOf parses a tag "range".
func boundsOf(text string) bounds {
	rest, orZero := strings.CutPrefix(text, "0|")
	low, high, _ := strings.Cut(rest, "..")
	b := bounds{orZero, number(low), math.Inf(1)}
	if high != "" {
		b.high = number(high)
	}
	return b
}

// contain reports whether a number is accepted; NaN and the infinities are not.
func (b bounds) contain(n float64) bool {
	return b.orZero && n == 0 || n >= b.low && n <= b.high && !math.IsInf(n, 0)
}

// fault returns what a number outside of the bounds is not.
func (b bounds) fault() string {
	switch limited := !math.IsInf(b.high, 1); {
	case b.orZero && limited:
		return fmt.Sprintf("is neither 0 nor from %s to %s", digits(b.low), digits(b.high))
	case b.orZero:
		return "is neither 0 nor at least " + digits(b.low)
	case limited:
		return fmt.Sprintf("is not from %s to %s", digits(b.low), digits(b.high))
	}
	return "is less than " + digits(b.low)
}

// digits formats a number of a tag.
func digits(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// asFloat returns the number in a value.
func asFloat(v reflect.Value) float64 {
	switch {
	case v.CanInt():
		return float64(v.Int())
	case v.CanUint():
		return float64(v.Uint())
	}
	return v.Float()
}
