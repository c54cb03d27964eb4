// Package plainjson reads and writes JSON without changing it: no HTML escapes, which make text with < and &
// six times as long, and no rounded numbers.
package plainjson

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Marshal is json.Marshal without HTML escapes, even in a json.RawMessage.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// MustMarshal is Marshal for values that always encode, such as strings and what [Decode] returns. It panics
// if one does not.
func MustMarshal(v any) []byte {
	data, err := Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

var errTrailing = errors.New("text after the JSON value")

// Decode parses one JSON value. Its numbers are json.Number, as written.
func Decode(data []byte) (v any, err error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err = dec.Decode(&v); err == nil && dec.More() {
		err = errTrailing
	}
	return v, err
}

// Canonical returns the one spelling of a JSON value: compact, with sorted members and minimal escapes. It returns
// text that is not JSON unchanged.
func Canonical(data []byte) []byte {
	v, err := Decode(data)
	if err != nil {
		return data
	}
	return MustMarshal(v)
}
