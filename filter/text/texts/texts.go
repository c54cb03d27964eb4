// Package texts changes the texts in a Go value, whatever its type: a frame, an event, a result.
//
// Start with [Map]. A field that is added to a type later is covered without further code; a
// field whose texts must stay has the tag `texts:"-"`. The package has no domain.
package texts

import (
	"encoding/json"
	"reflect"
)

// Change is what Map does with texts. Its zero value changes nothing.
type Change struct {
	Text func(string) string                   // each text outside of JSON documents
	JSON func(json.RawMessage) json.RawMessage // each JSON document; its result must be valid JSON
}

// Map returns v with change applied to all its texts, the names and values of maps included. It
// changes a copy, and returns v itself if no text changes. Bytes that are not a JSON document stay.
func Map[T any](v T, change Change) T {
	if change.Text == nil {
		return v
	}
	if mapped, changed := change.apply(reflect.ValueOf(&v).Elem()); changed {
		return mapped.Interface().(T)
	}
	return v
}

var document = reflect.TypeFor[json.RawMessage]()

// apply returns the changed copy of a value, and whether anything changed.
func (c Change) apply(v reflect.Value) (mapped reflect.Value, changed bool) {
	switch v.Kind() {
	case reflect.String:
		text := v.String()
		if out := c.Text(text); out != text {
			return c.copyWith(v, func(to reflect.Value) { to.SetString(out) }), true
		}
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return v, false
		}
		if inner, changed := c.apply(v.Elem()); changed {
			return c.copyWith(v, func(to reflect.Value) { setElem(to, inner) }), true
		}
	case reflect.Slice, reflect.Array:
		return c.applyList(v)
	case reflect.Map:
		return c.applyMap(v)
	case reflect.Struct:
		return c.applyStruct(v)
	}
	return v, false
}

// copyWith returns a copy of v that set has changed.
func (Change) copyWith(v reflect.Value, set func(to reflect.Value)) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	set(out)
	return out
}

// setElem sets what an interface or a pointer holds.
func setElem(to, inner reflect.Value) {
	if to.Kind() == reflect.Interface {
		to.Set(inner)
		return
	}
	p := reflect.New(inner.Type())
	p.Elem().Set(inner)
	to.Set(p)
}

func (c Change) applyList(v reflect.Value) (reflect.Value, bool) {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		if v.Type() != document || v.Len() == 0 || c.JSON == nil {
			return v, false
		}
		was := json.RawMessage(v.Bytes())
		out := c.JSON(was)
		return reflect.ValueOf(out), string(out) != string(was)
	}
	out, copied := v, false
	for i := range v.Len() {
		elem, changed := c.apply(v.Index(i))
		if !changed {
			continue
		}
		if !copied {
			copied = true
			if out = reflect.New(v.Type()).Elem(); v.Kind() == reflect.Slice {
				out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			}
			reflect.Copy(out, v)
		}
		out.Index(i).Set(elem)
	}
	return out, copied
}

func (c Change) applyMap(v reflect.Value) (reflect.Value, bool) {
	out, copied := v, false
	for entries := v.MapRange(); entries.Next(); {
		name, renamed := c.apply(entries.Key())
		elem, changed := c.apply(entries.Value())
		if !renamed && !changed {
			continue
		}
		if !copied {
			copied = true
			out = reflect.MakeMapWithSize(v.Type(), v.Len())
			for all := v.MapRange(); all.Next(); {
				out.SetMapIndex(all.Key(), all.Value())
			}
		}
		if renamed {
			out.SetMapIndex(entries.Key(), reflect.Value{})
		}
		out.SetMapIndex(name, elem)
	}
	return out, copied
}

func (c Change) applyStruct(v reflect.Value) (reflect.Value, bool) {
	out, copied := v, false
	t := v.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() || !holdsTexts(f.Type.Kind()) || f.Tag.Get("texts") == "-" {
			continue
		}
		field, changed := c.apply(v.Field(i))
		if !changed {
			continue
		}
		if !copied {
			copied = true
			out = reflect.New(t).Elem()
			out.Set(v)
		}
		out.Field(i).Set(field)
	}
	return out, copied
}

// holdsTexts reports whether values of a kind may have texts.
func holdsTexts(k reflect.Kind) bool {
	switch k {
	case reflect.String, reflect.Interface, reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map, reflect.Struct:
		return true
	}
	return false
}
