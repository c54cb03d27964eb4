package app

import (
	"cmp"
	"encoding"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2/unstable"
)

// decoder sets a struct from a tree. What is wrong is noted and left out, what
// is right is set, so that one mistake hides no other.
type decoder struct {
	set      map[string]bool // paths of the keys that were set
	lines    map[string]int  // lines of these and of the tables around them
	mistakes Mistakes
	planned  Mistakes // keys that this version does not have; each is a warning
}

func newDecoder() *decoder { return &decoder{set: map[string]bool{}, lines: map[string]int{}} }

func (d *decoder) wrong(n *node, path, format string, args ...any) {
	if len(d.mistakes) < maxMistakes {
		d.mistakes = append(d.mistakes, Mistake{Line: n.line, Key: path, Text: fmt.Sprintf(format, args...)})
	}
}

// decode sets v, which is settable, from n and reports whether all of it was
// right.
func (d *decoder) decode(n *node, v reflect.Value, path string) bool {
	d.lines[path] = n.line
	if kind := want(v.Type()); !kind.fits(n.kind) {
		d.wrong(n, path, "want %s, got %s%s", kind.name, name(n.kind), kind.hint(n, path))
		return false
	}
	switch {
	case isText(v.Type()) || isScalar(v.Type()):
		if err := setScalar(v, n.text); err != nil {
			d.wrong(n, path, "%v", err)
			return false
		}
		d.set[path] = true
		return true
	case v.Kind() == reflect.Struct:
		return d.decodeStruct(n, v, path)
	case v.Kind() == reflect.Map:
		return d.decodeMap(n, v, path)
	}
	return d.decodeSlice(n, v, path)
}

// unknownKey begins the text of a mistake about a key that there is not.
const unknownKey = "unknown key"

func (d *decoder) decodeStruct(n *node, v reflect.Value, path string) bool {
	known := fieldsOf(v.Type())
	right := true
	for _, key := range n.keys {
		c, at := n.child(key), dotted(path, key)
		i := slices.IndexFunc(known, func(f field) bool { return f.key == key })
		if i < 0 {
			hint := renamed(at, c)
			if hint == "" && isPlanned(at) {
				d.planned = append(d.planned, Mistake{Line: c.line, Key: at, Text: notBuilt})
				continue
			}
			d.wrong(c, at, unknownKey+"%s", cmp.Or(hint, didYouMean(key, known)))
			right = false
			continue
		}
		right = d.decode(c, v.FieldByIndex(known[i].index), at) && right
	}
	return right
}

// decodeMap adds to the map, so that the keys of a default stay.
func (d *decoder) decodeMap(n *node, v reflect.Value, path string) bool {
	out := reflect.MakeMap(v.Type())
	for it := v.MapRange(); it.Next(); {
		out.SetMapIndex(it.Key(), it.Value())
	}
	right := true
	for _, key := range n.keys {
		elem := reflect.New(v.Type().Elem()).Elem()
		right = d.decode(n.child(key), elem, dotted(path, key)) && right
		out.SetMapIndex(reflect.ValueOf(key).Convert(v.Type().Key()), elem)
	}
	v.Set(out)
	return right
}

// decodeSlice replaces the slice. Elements with mistakes stay, as far as they
// were understood, so that indexes are the document's.
func (d *decoder) decodeSlice(n *node, v reflect.Value, path string) bool {
	out := reflect.MakeSlice(v.Type(), 0, len(n.items))
	right := true
	for i, item := range n.items {
		elem := reflect.New(v.Type().Elem()).Elem()
		right = d.decode(item, elem, fmt.Sprintf("%s[%d]", path, i)) && right
		out = reflect.Append(out, elem)
	}
	v.Set(out)
	d.set[path] = true
	return right
}

// expectation is what a type takes.
type expectation struct {
	name  string
	kinds []unstable.Kind
}

func (e expectation) fits(k unstable.Kind) bool { return slices.Contains(e.kinds, k) }

// hint tells how to write what was meant.
func (e expectation) hint(n *node, path string) string {
	switch {
	case e.fits(unstable.ArrayTable) && (n.kind == unstable.Table || n.kind == unstable.InlineTable):
		return fmt.Sprintf(": use [[%s]]", path)
	case e.fits(unstable.Table) && n.kind == unstable.ArrayTable:
		return fmt.Sprintf(": use [%s]", path)
	case e.fits(unstable.Array) && n.kind == unstable.String:
		return `: put it in brackets, ["…"]`
	case e.fits(unstable.String) && (n.kind == unstable.Integer || n.kind == unstable.Bool || n.kind == unstable.Float):
		return ": put it in quotes"
	case n.kind == unstable.String && (n.text == "true" || n.text == "false" || number().MatchString(n.text)):
		return ": write it without quotes"
	}
	return ""
}

var number = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[+-]?[0-9.]+$`) })

// want tells what a value of the type is written as.
func want(t reflect.Type) expectation {
	if isText(t) {
		return expectation{"a string", []unstable.Kind{unstable.String}}
	}
	switch t.Kind() {
	case reflect.String:
		return expectation{"a string", []unstable.Kind{unstable.String}}
	case reflect.Bool:
		return expectation{"true or false", []unstable.Kind{unstable.Bool}}
	case reflect.Float32, reflect.Float64:
		return expectation{"a number", []unstable.Kind{unstable.Float, unstable.Integer}}
	case reflect.Struct, reflect.Map:
		return expectation{"a table", []unstable.Kind{unstable.Table, unstable.InlineTable}}
	case reflect.Slice:
		if e := t.Elem().Kind(); e == reflect.Struct || e == reflect.Map {
			return expectation{"an array of tables", []unstable.Kind{unstable.ArrayTable, unstable.Array}}
		}
		return expectation{"an array of " + plural(t.Elem()), []unstable.Kind{unstable.Array}}
	}
	return expectation{"a whole number", []unstable.Kind{unstable.Integer}}
}

func plural(t reflect.Type) string {
	if e := want(t); e.fits(unstable.String) {
		return "strings"
	} else if e.fits(unstable.Integer) {
		return "numbers"
	}
	return "values"
}

// isScalar reports whether values of the type are one word of TOML.
func isScalar(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct, reflect.Map, reflect.Slice:
		return false
	}
	return true
}

// isText reports whether the type reads itself from a string.
func isText(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// setScalar sets v from the text of a TOML value of the right kind.
func setScalar(v reflect.Value, text string) error {
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return u.UnmarshalText([]byte(text))
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		v.SetBool(text == "true")
	case reflect.Float32, reflect.Float64:
		f, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
		if err != nil || v.OverflowFloat(f) {
			return fmt.Errorf("%s is out of range", text)
		}
		v.SetFloat(f)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		i, err := strconv.ParseUint(strings.TrimPrefix(text, "+"), 0, 64)
		if err != nil || v.OverflowUint(i) {
			return fmt.Errorf("%s is out of range", text)
		}
		v.SetUint(i)
	default:
		i, err := strconv.ParseInt(text, 0, 64)
		if err != nil || v.OverflowInt(i) {
			return fmt.Errorf("%s is out of range", text)
		}
		v.SetInt(i)
	}
	return nil
}

// field is one key of a table.
type field struct {
	key   string
	index []int
	typ   reflect.Type
}

// fieldsOf lists the keys of a struct in order; embedded structs without a name
// of their own share its table.
func fieldsOf(t reflect.Type) []field {
	var fields []field
	for i := range t.NumField() {
		f := t.Field(i)
		key, _, _ := strings.Cut(f.Tag.Get("toml"), ",")
		switch {
		case f.Anonymous && key == "":
			for _, inner := range fieldsOf(f.Type) {
				inner.index = append([]int{i}, inner.index...)
				fields = append(fields, inner)
			}
		case f.IsExported() && key != "" && key != "-":
			fields = append(fields, field{key, []int{i}, f.Type})
		}
	}
	return fields
}

// didYouMean is the hint to an unknown key among the known ones.
func didYouMean(key string, known []field) string {
	names := make([]string, len(known))
	for i, f := range known {
		names[i] = f.key
	}
	if n := nearest(key, names); n != "" {
		return fmt.Sprintf(" (did you mean %q?)", n)
	}
	if len(names) > 0 && len(names) <= 12 {
		return fmt.Sprintf(" (known: %s)", strings.Join(names, ", "))
	}
	return ""
}

// dotted appends a key to a path, as it is: so do the packages in what their
// Validate and Tighten give.
func dotted(above, key string) string {
	if above == "" {
		return key
	}
	return above + "." + key
}

// within reports whether the path key is above, or lies in it.
func within(key, above string) bool {
	rest, ok := strings.CutPrefix(key, above)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// validate adds what the packages find wrong with the values of c, which was
// decoded. If not all of the document was understood, a key that seems to be
// missing may be there.
func (d *decoder) validate(c *Config, understood bool) {
	var found Mistakes
	for key, text := range c.validate() {
		// What follows from a mistake in the same element of an array is none
		// of its own.
		element := key
		if i := strings.LastIndexByte(key, ']'); i >= 0 {
			element = key[:i+1]
		}
		if (understood || d.set[key]) && !d.mistaken(element) {
			found = append(found, Mistake{Line: d.lineOf(key), Key: key, Text: text})
		}
	}
	d.mistakes = append(d.mistakes, found...)
}

// mistaken reports whether there is a mistake in what path names.
func (d *decoder) mistaken(path string) bool {
	return slices.ContainsFunc(d.mistakes, func(m Mistake) bool { return within(m.Key, path) })
}

// drop takes the elements with mistakes out of the slices in v. It notes in moved
// where an element was that is now at another index.
func (d *decoder) drop(v reflect.Value, path string, moved map[string]string) {
	switch {
	case v.Kind() == reflect.Struct:
		for _, f := range fieldsOf(v.Type()) {
			d.drop(v.FieldByIndex(f.index), dotted(path, f.key), moved)
		}
	case v.Kind() == reflect.Map:
		for it := v.MapRange(); it.Next(); {
			elem := reflect.New(v.Type().Elem()).Elem()
			elem.Set(it.Value())
			d.drop(elem, dotted(path, it.Key().String()), moved)
			v.SetMapIndex(it.Key(), elem)
		}
	case v.Kind() == reflect.Slice:
		kept := reflect.MakeSlice(v.Type(), 0, v.Len())
		for i := range v.Len() {
			old := fmt.Sprintf("%s[%d]", path, i)
			if d.mistaken(old) {
				continue
			}
			if kept.Len() < i {
				moved[fmt.Sprintf("%s[%d]", path, kept.Len())] = old
			}
			kept = reflect.Append(kept, v.Index(i))
		}
		v.Set(kept)
	}
}

// lineOf gives the line of key, else of the nearest table around it that has
// one, else 0.
func (d *decoder) lineOf(key string) int {
	for key != "" {
		if line, ok := d.lines[key]; ok {
			return line
		}
		key = key[:max(strings.LastIndexAny(key, ".["), 0)]
	}
	return 0
}
