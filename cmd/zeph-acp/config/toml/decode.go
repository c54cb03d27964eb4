package toml

import (
	"cmp"
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// Decoder sets a struct from a tree. It records wrong values and skips them,
// and sets all others, so that one mistake hides no other.
type Decoder struct {
	Set      map[string]bool // paths of the keys that were set
	Lines    map[string]int  // lines of these and of the tables around them
	Mistakes Mistakes
	Warnings Mistakes // about the keys for which Unknown returns a warning
	// File, if not empty, names the document for the elements of arrays that have
	// a method SetPosition.
	File string
	// Partial means that a part of the document could not be parsed. Validate then ignores
	// mistakes about missing keys, which may be in that part.
	Partial bool

	// Unknown, if not nil, is called for a key that the struct does not have.
	// The hint is added to the mistake; a warning replaces it.
	Unknown func(path string, n *Node) (hint, warning string)
}

// NewDecoder returns a Decoder that has decoded nothing.
func NewDecoder() *Decoder { return &Decoder{Set: map[string]bool{}, Lines: map[string]int{}} }

// addMistake records a mistake about the value n.
func (d *Decoder) addMistake(n *Node, path, format string, args ...any) {
	if len(d.Mistakes) < MaxMistakes {
		d.Mistakes = append(d.Mistakes, Mistake{Line: n.Line, Key: path, Text: fmt.Sprintf(format, args...)})
	}
}

// Decode sets v, which must be settable, from n. It reports whether n had no
// mistakes.
func (d *Decoder) Decode(n *Node, v reflect.Value, path string) bool {
	d.Lines[path] = n.Line
	if kind := Want(v.Type()); !kind.Fits(n.Kind) {
		d.addMistake(n, path, "want %s, got %s%s", kind.Name, KindName(n.Kind), kind.hint(n, path))
		return false
	}
	switch {
	case setting.IsText(v.Type()) || isScalar(v.Type()):
		if err := setScalar(v, n.Text); err != nil {
			d.addMistake(n, path, "%v", err)
			return false
		}
		d.Set[path] = true
		return true
	case v.Kind() == reflect.Struct:
		return d.decodeStruct(n, v, path)
	case v.Kind() == reflect.Map:
		return d.decodeMap(n, v, path)
	}
	return d.decodeSlice(n, v, path)
}

// UnknownKey begins the text of a mistake about a key that does not exist.
const UnknownKey = "unknown key"

// decodeStruct decodes the known keys of a table, and reports the unknown ones.
func (d *Decoder) decodeStruct(n *Node, v reflect.Value, path string) bool {
	known := setting.Fields(v.Type())
	right := true
	for _, key := range n.Keys {
		c, at := n.Child(key), setting.Join(path, key)
		i := slices.IndexFunc(known, func(f setting.Field) bool { return f.Key == key })
		if i < 0 {
			hint, warning := "", ""
			if d.Unknown != nil {
				hint, warning = d.Unknown(at, c)
			}
			if warning != "" {
				d.Warnings = append(d.Warnings, Mistake{Line: c.Line, Key: at, Text: warning})
				continue
			}
			d.addMistake(c, at, UnknownKey+"%s", cmp.Or(hint, didYouMean(key, known)))
			right = false
			continue
		}
		right = d.Decode(c, v.FieldByIndex(known[i].Index), at) && right
	}
	return right
}

// decodeMap adds to the map, so that the keys of a default stay.
func (d *Decoder) decodeMap(n *Node, v reflect.Value, path string) bool {
	out := reflect.MakeMap(v.Type())
	for it := v.MapRange(); it.Next(); {
		out.SetMapIndex(it.Key(), it.Value())
	}
	right := true
	for _, key := range n.Keys {
		elem := reflect.New(v.Type().Elem()).Elem()
		right = d.Decode(n.Child(key), elem, setting.Join(path, key)) && right
		out.SetMapIndex(reflect.ValueOf(key).Convert(v.Type().Key()), elem)
	}
	v.Set(out)
	return right
}

// decodeSlice replaces the slice. Elements with mistakes stay, as far as they
// were decoded, so that indexes are the document's. An element that is a table begins with
// its defaults. One that has a method SetPosition gets its
// position, "FILE:LINE".
func (d *Decoder) decodeSlice(n *Node, v reflect.Value, path string) bool {
	out := reflect.MakeSlice(v.Type(), 0, len(n.Items))
	right := true
	for i, item := range n.Items {
		elem := reflect.New(v.Type().Elem()).Elem()
		if elem.Kind() == reflect.Struct && !setting.IsText(elem.Type()) {
			setting.SetDefaults(elem)
		}
		if e, ok := elem.Addr().Interface().(interface{ SetPosition(string) }); ok && d.File != "" {
			e.SetPosition(fmt.Sprintf("%s:%d", d.File, item.Line))
		}
		right = d.Decode(item, elem, fmt.Sprintf("%s[%d]", path, i)) && right
		out = reflect.Append(out, elem)
	}
	v.Set(out)
	d.Set[path] = true
	return right
}

// Expectation describes the TOML values that fit a type.
type Expectation struct {
	Name  string
	kinds []unstable.Kind
}

// Fits reports whether a value of the kind fits.
func (e Expectation) Fits(k unstable.Kind) bool { return slices.Contains(e.kinds, k) }

// hint returns advice on how to write the value that was probably intended.
func (e Expectation) hint(n *Node, path string) string {
	switch {
	case e.Fits(unstable.ArrayTable):
		return fmt.Sprintf(": use [[%s]]", path)
	case e.Fits(unstable.Table) && n.Kind == unstable.ArrayTable:
		return fmt.Sprintf(": use [%s]", path)
	case e.Fits(unstable.Array) && n.Kind == unstable.String:
		return `: put it in brackets, ["…"]`
	case e.Fits(unstable.String) && (n.Kind == unstable.Integer || n.Kind == unstable.Bool || n.Kind == unstable.Float):
		return ": put it in quotes"
	case n.Kind == unstable.String && (n.Text == "true" || n.Text == "false" || numberPattern.MatchString(n.Text)):
		return ": write it without quotes"
	}
	return ""
}

var numberPattern = lazyregexp.New(`^[+-]?[0-9.]+$`)

// Want returns the Expectation for a type. A type that unmarshals itself and has a method
// AcceptsBool may also be true or false.
func Want(t reflect.Type) Expectation {
	if reflect.PointerTo(t).Implements(reflect.TypeFor[interface{ AcceptsBool() }]()) {
		return Expectation{"a string, true or false", []unstable.Kind{unstable.String, unstable.Bool}}
	}
	if setting.IsText(t) {
		return Expectation{"a string", []unstable.Kind{unstable.String}}
	}
	switch t.Kind() {
	case reflect.String:
		return Expectation{"a string", []unstable.Kind{unstable.String}}
	case reflect.Bool:
		return Expectation{"true or false", []unstable.Kind{unstable.Bool}}
	case reflect.Float64:
		return Expectation{"a number", []unstable.Kind{unstable.Float, unstable.Integer}}
	case reflect.Struct, reflect.Map:
		return Expectation{"a table", []unstable.Kind{unstable.Table, unstable.InlineTable}}
	case reflect.Slice:
		if e := t.Elem().Kind(); e == reflect.Struct || e == reflect.Map {
			return Expectation{"an array of tables", []unstable.Kind{unstable.ArrayTable, unstable.Array}}
		}
		return Expectation{"an array of " + elementsName(t.Elem()), []unstable.Kind{unstable.Array}}
	}
	return Expectation{"a whole number", []unstable.Kind{unstable.Integer}}
}

// elementsName returns the name of several values of a type.
func elementsName(t reflect.Type) string {
	if e := Want(t); e.Fits(unstable.String) {
		return "strings"
	} else if e.Fits(unstable.Integer) {
		return "numbers"
	}
	return "values"
}

// isScalar reports whether values of the type are single words of TOML.
func isScalar(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct, reflect.Map, reflect.Slice:
		return false
	}
	return true
}

// setScalar sets v from the text of a TOML value of the matching kind.
func setScalar(v reflect.Value, text string) error {
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return u.UnmarshalText([]byte(text))
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		v.SetBool(text == "true")
	case reflect.Float64:
		f, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
		if err != nil {
			return fmt.Errorf("%s is out of range", text)
		}
		v.SetFloat(f)
	default:
		i, err := strconv.ParseInt(text, 0, 64)
		if err != nil || v.OverflowInt(i) {
			return fmt.Errorf("%s is out of range", text)
		}
		v.SetInt(i)
	}
	return nil
}

// didYouMean returns the hint for an unknown key: the most similar known one.
func didYouMean(key string, known []setting.Field) string {
	names := make([]string, len(known))
	for i, f := range known {
		names[i] = f.Key
	}
	if n := Nearest(key, names); n != "" {
		return fmt.Sprintf(" (did you mean %q?)", n)
	}
	if len(names) > 0 && len(names) <= 12 {
		return fmt.Sprintf(" (known: %s)", strings.Join(names, ", "))
	}
	return ""
}

// Validate adds mistakes about decoded values, by path.
func (d *Decoder) Validate(wrong map[string]string) {
	var found Mistakes
	for key, text := range wrong {
		// A mistake that follows from another one in the same array element is
		// not reported.
		element := key
		if i := strings.LastIndexByte(key, ']'); i >= 0 {
			element = key[:i+1]
		}
		if (!d.Partial || d.Set[key]) && !d.hasMistake(element) {
			found = append(found, Mistake{Line: d.LineOf(key), Key: key, Text: text})
		}
	}
	d.Mistakes = append(d.Mistakes, found...)
}

// hasMistake reports whether there is a mistake at or below path.
func (d *Decoder) hasMistake(path string) bool {
	return slices.ContainsFunc(d.Mistakes, func(m Mistake) bool { return setting.Within(m.Key, path) })
}

// Drop removes the elements with mistakes from the slices in v. It records in
// moved the old path of each element that has a new index.
func (d *Decoder) Drop(v reflect.Value, path string, moved map[string]string) {
	switch {
	case v.Kind() == reflect.Struct:
		for _, f := range setting.Fields(v.Type()) {
			d.Drop(v.FieldByIndex(f.Index), setting.Join(path, f.Key), moved)
		}
	case v.Kind() == reflect.Map:
		for it := v.MapRange(); it.Next(); {
			elem := reflect.New(v.Type().Elem()).Elem()
			elem.Set(it.Value())
			d.Drop(elem, setting.Join(path, it.Key().String()), moved)
			v.SetMapIndex(it.Key(), elem)
		}
	case v.Kind() == reflect.Slice:
		kept := reflect.MakeSlice(v.Type(), 0, v.Len())
		for i := range v.Len() {
			old := fmt.Sprintf("%s[%d]", path, i)
			if d.hasMistake(old) {
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

// LineOf returns the line of key, or else of the nearest enclosing table that
// has one, or else 0.
func (d *Decoder) LineOf(key string) int {
	for key != "" {
		if line, ok := d.Lines[key]; ok {
			return line
		}
		key = key[:max(strings.LastIndexAny(key, ".["), 0)]
	}
	return 0
}
