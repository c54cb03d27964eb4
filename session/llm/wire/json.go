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

// Decode parses JSON leniently: a member of an unexpected type is skipped.
func Decode(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	if _, odd := errors.AsType[*json.UnmarshalTypeError](err); odd {
		return nil
	}
	return err
}
