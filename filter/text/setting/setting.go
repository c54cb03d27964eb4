// Package setting derives from struct tags what the keys of a configuration mean: their
// defaults, the values they accept, and the values that a workspace may set.
//
// Start with [Default], [Check] and [Tighten]; [Describe] writes a key's sentence. A key
// has its knowledge in one place, the tags of its field:
//
//	toml     the key; a field without it, unless it is embedded, is no key
//	doc      one sentence about the key, for people
//	unit     the unit of a number; it begins the sentence
//	zero     the meaning of 0, or of an empty value
//	default  the default; a list is separated by commas, a number may end in KiB, MiB or
//	         GiB, and a table has pairs, "KEY=VALUE KEY=VALUE", that override its own
//	range    the numbers a value, or each element of a list, may have: "1..10", "1..", or
//	         "0|3..10", which is 0 or 3 to 10
//	oneof    the accepted texts, separated by commas; empty is accepted without a default
//	format   the form of a text, or of each element of a list; see formats
//	needs    keys of the table, joined by "&" or "|", without which this one has no effect
//	tighten  the values that a workspace may set; see directions
//
// What no tag can say is a method: Validate returns a message for each wrong key, and
// Tighten of a [Tightener] adopts values. Wrong tags panic.
package setting

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Field is one key of a table.
type Field struct {
	Key   string
	Index []int
	Type  reflect.Type
	Tag   reflect.StructTag
}

// Fields returns the keys of a struct in order. An embedded struct without its own name
// adds its keys to the same table.
func Fields(t reflect.Type) []Field {
	var fields []Field
	for i := range t.NumField() {
		f := t.Field(i)
		switch key, embedded := keyOf(f); {
		case embedded:
			for _, inner := range Fields(f.Type) {
				inner.Index = append([]int{i}, inner.Index...)
				fields = append(fields, inner)
			}
		case key != "":
			fields = append(fields, Field{key, []int{i}, f.Type, f.Tag})
		}
	}
	return fields
}

// keyOf returns the key of a field, "" if it is none. An embedded struct adds its keys to
// the table around it.
func keyOf(f reflect.StructField) (key string, embedded bool) {
	key, _, _ = strings.Cut(f.Tag.Get("toml"), ",")
	if f.Anonymous && key == "" {
		return "", true
	}
	if !f.IsExported() || key == "-" {
		return "", false
	}
	return key, false
}

// IsText reports whether the type unmarshals itself from a string.
func IsText(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// isTable reports whether values of the type are tables with known keys.
func isTable(t reflect.Type) bool { return t.Kind() == reflect.Struct && !IsText(t) }

// Walk calls visit for each key of a struct and of the tables and elements in it, in order.
func Walk(v reflect.Value, path string, visit func(path string, f Field, v reflect.Value)) {
	for _, f := range Fields(v.Type()) {
		value, at := v.FieldByIndex(f.Index), Join(path, f.Key)
		visit(at, f, value)
		walkBelow(value, at, visit)
	}
}

// walkBelow walks through the tables in a value.
func walkBelow(v reflect.Value, path string, visit func(path string, f Field, v reflect.Value)) {
	switch {
	case isTable(v.Type()):
		Walk(v, path, visit)
	case v.Kind() == reflect.Slice && isTable(v.Type().Elem()):
		for i := range v.Len() {
			Walk(v.Index(i), fmt.Sprintf("%s[%d]", path, i), visit)
		}
	case v.Kind() == reflect.Map:
		for _, key := range v.MapKeys() {
			walkBelow(v.MapIndex(key), Join(path, key.String()), visit)
		}
	}
}

// Paths returns the paths of all keys and tables of a struct, except those below an array
// of tables or a table of free names.
func Paths[T any]() []string { return paths(reflect.TypeFor[T](), "") }

func paths(t reflect.Type, above string) (all []string) {
	for _, f := range Fields(t) {
		path := Join(above, f.Key)
		all = append(all, path)
		if isTable(f.Type) {
			all = append(all, paths(f.Type, path)...)
		}
	}
	return all
}

// Join appends a key to a path, without quotes. A key may begin with an index.
func Join(above, key string) string {
	if above == "" || strings.HasPrefix(key, "[") {
		return above + key
	}
	return above + "." + key
}

// Within reports whether the path key equals above or lies below it.
func Within(key, above string) bool {
	rest, ok := strings.CutPrefix(key, above)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// Default returns the default settings of a struct.
func Default[T any]() T {
	var c T
	SetDefaults(reflect.ValueOf(&c).Elem())
	return c
}

// SetDefaults sets the keys of a struct to their defaults.
func SetDefaults(v reflect.Value) { setDefaults(v, nil) }

// setDefaults is SetDefaults with other defaults of some keys.
func setDefaults(v reflect.Value, others map[string]string) {
	for _, m := range membersOf(v.Type()) {
		field := v.Field(m.index)
		switch other, given := others[m.Key]; {
		case m.table:
			setDefaults(field, pairs(m.initial))
		case given:
			set(field, other)
		case m.given:
			set(field, m.initial)
		}
	}
}

// pairs parses "KEY=VALUE KEY=VALUE".
func pairs(text string) map[string]string {
	if text == "" {
		return nil
	}
	m := map[string]string{}
	for pair := range strings.FieldsSeq(text) {
		key, value, _ := strings.Cut(pair, "=")
		m[key] = value
	}
	return m
}

// set sets a value from the text of a tag.
func set(v reflect.Value, text string) {
	var err error
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		err = u.UnmarshalText([]byte(text))
	} else {
		switch v.Kind() {
		case reflect.String:
			v.SetString(text)
		case reflect.Bool:
			v.SetBool(text == "true")
		case reflect.Slice:
			parts := strings.Split(text, ",")
			v.Set(reflect.MakeSlice(v.Type(), len(parts), len(parts)))
			for i, part := range parts {
				set(v.Index(i), part)
			}
		case reflect.Int, reflect.Int64:
			v.SetInt(int64(number(text)))
		default:
			v.SetFloat(number(text))
		}
	}
	if err != nil {
		panic(fmt.Sprintf("default %q: %v", text, err))
	}
}

// number parses a number of a tag.
func number(text string) float64 {
	digits, factor := text, 1.0
	for i, unit := range []string{"KiB", "MiB", "GiB"} {
		if before, ok := strings.CutSuffix(text, unit); ok {
			digits, factor = before, float64(int(1)<<(10*(i+1)))
		}
	}
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		panic(fmt.Sprintf("number %q in a tag: %v", text, err))
	}
	return n * factor
}

// declares reports whether a struct has a method itself, not by an embedded struct.
func declares[T any](v reflect.Value) (method T, ok bool) {
	method, ok = v.Interface().(T)
	if !ok && v.CanAddr() {
		method, ok = v.Addr().Interface().(T)
	}
	if !ok || v.Kind() != reflect.Struct {
		return method, ok
	}
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.Anonymous && reflect.PointerTo(f.Type).Implements(reflect.TypeFor[T]()) {
			return method, false
		}
	}
	return method, true
}

// items returns the elements of a list, and any other value alone.
func items(v reflect.Value) (list []reflect.Value, isList bool) {
	if v.Kind() != reflect.Slice {
		return []reflect.Value{v}, false
	}
	for i := range v.Len() {
		list = append(list, v.Index(i))
	}
	return list, true
}

// Choices returns the texts that a key accepts, in the order of its tag.
func (f Field) Choices() []string {
	text := f.Tag.Get("oneof")
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// choice returns the index of a text in the choices of a key.
func (f Field) choice(v reflect.Value) int { return slices.Index(f.Choices(), v.String()) }
