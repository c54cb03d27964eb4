package wire

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Marshal encodes a request: always the same bytes for the same request, without HTML
// escapes.
func Marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// MustMarshal is Marshal of a value that always encodes.
func MustMarshal(v any) []byte {
	data, err := Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

// Elements encodes the elements of a list, with commas between them.
func Elements[T any](list []T) []byte {
	if len(list) == 0 {
		return nil
	}
	data := MustMarshal(list)
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
