package wire

import (
	"encoding/json"
	"errors"

	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
)

// Elements encodes the elements of a list, with commas between them.
func Elements[T any](list []T) []byte {
	if len(list) == 0 {
		return nil
	}
	data := plainjson.MustMarshal(list)
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
