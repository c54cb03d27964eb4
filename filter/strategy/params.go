package strategy

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Params are the parameters of a strategy, as a rule sets them.
type Params map[string]any

// Decode decodes the parameters into a struct that holds the defaults. A name
// without a field is an error.
func (p Params) Decode(into any) error { return Decode(p, into) }

// Decode sets fields of a struct to the values of a TOML table. The tag toml names
// the key of a field. An error names the key that has no field, or whose value has
// the wrong type.
func Decode(table map[string]any, into any) error {
	return decodeTable(table, reflect.ValueOf(into).Elem())
}

// decodeTable sets the fields of a struct by their toml tags. An unknown key is an error.
func decodeTable(table map[string]any, into reflect.Value) error {
	fields := reflect.VisibleFields(into.Type())
	for _, key := range slices.Sorted(maps.Keys(table)) {
		i := 0
		for i < len(fields) && !strings.EqualFold(fields[i].Tag.Get("toml"), key) {
			i++
		}
		if i == len(fields) {
			return fmt.Errorf("unknown key %q", key)
		}
		if err := set(into.FieldByIndex(fields[i].Index), table[key]); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

// set sets a field to a value of the TOML decoder.
func set(field reflect.Value, value any) error {
	switch field.Kind() {
	case reflect.Pointer:
		field.Set(reflect.New(field.Type().Elem()))
		return set(field.Elem(), value)
	case reflect.Slice:
		list, ok := value.([]any)
		if !ok {
			return errors.New("want a list")
		}
		field.Set(reflect.MakeSlice(field.Type(), len(list), len(list)))
		for i, v := range list {
			if err := set(field.Index(i), v); err != nil {
				return fmt.Errorf("element %d: %w", i+1, err)
			}
		}
	case reflect.Struct:
		table, ok := value.(map[string]any)
		if !ok {
			return errors.New("want a table")
		}
		return decodeTable(table, field)
	case reflect.Int:
		n, ok := value.(int64)
		if !ok || field.OverflowInt(n) {
			return errors.New("want a whole number")
		}
		field.SetInt(n)
	default: // any, string, bool and map[string]any
		v := reflect.ValueOf(value)
		if !v.Type().AssignableTo(field.Type()) {
			return fmt.Errorf("want a %s", strings.Replace(field.Type().String(), "map[string]interface {}", "table", 1))
		}
		field.Set(v)
	}
	return nil
}
