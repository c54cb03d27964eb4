package transcript

import (
	"bytes"
	"encoding/json"
)

// MarshalPlain is json.Marshal without HTML escapes, even in the JSON of models.
func MarshalPlain(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
