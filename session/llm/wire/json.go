package wire

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Encode returns the JSON of a value: always the same bytes for the same value, without
// HTML escapes. It panics if the value does not encode; the adapters' values always do.
func Encode(v any) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// Elements encodes the elements of a list, with commas between them.
func Elements[T any](list []T) []byte {
	if len(list) == 0 {
		return nil
	}
	data := Encode(list)
	return data[1 : len(data)-1]
}

// Decode parses JSON leniently: a member of an unexpected type is skipped.
func Decode(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	if _, odd := errors.AsType[*json.UnmarshalTypeError](err); odd {
		return nil
	}
	return err
}
