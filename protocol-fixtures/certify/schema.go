package certify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/zeph-acp/zeph-acp/protocol-fixtures/schema/editions"
)

// types are the types of one version of the protocol.
type types struct {
	doc  *jsonschema.Schema
	defs map[string]string // names of types, by "METHOD Request", "METHOD Response", "METHOD Notification"; and "Error"

	mu       sync.Mutex
	resolved map[string]*jsonschema.Resolved
}

// schemas returns the types of a version. They are only read when the first frame arrives.
var schemas = map[int]func() (*types, error){
	1: sync.OnceValues(func() (*types, error) { return readTypes(editions.V1) }),
	2: sync.OnceValues(func() (*types, error) { return readTypes(editions.V2) }),
}

func readTypes(name string) (*types, error) {
	data, err := editions.Read(name)
	if err != nil {
		return nil, err
	}
	t := &types{doc: &jsonschema.Schema{}, defs: map[string]string{"Error": "Error"}, resolved: map[string]*jsonschema.Resolved{}}
	if err := json.Unmarshal(data, t.doc); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for def, s := range t.doc.Defs {
		method, _ := s.Extra["x-method"].(string)
		for _, suffix := range []string{"Request", "Response", "Notification"} {
			if method != "" && strings.HasSuffix(def, suffix) {
				t.defs[method+" "+suffix] = def
			}
		}
	}
	return t, nil
}

// has reports whether a version has a type.
func has(version int, key string) bool {
	t, err := schemas[version]()
	return err == nil && t.defs[key] != ""
}

// validate checks data against a type. Data of a type that the version lacks is valid.
func validate(version int, key string, data []byte) error {
	t, err := schemas[version]()
	if err != nil {
		return err
	}
	def := t.defs[key]
	if def == "" {
		return nil
	}
	r, err := t.resolve(def)
	if err != nil {
		return err
	}
	return fits(r, data)
}

// fits checks data against a schema.
func fits(r *jsonschema.Resolved, data []byte) error {
	if len(data) == 0 {
		data = []byte("{}") // absent params
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	var v any
	if err := dec.Decode(&v); err != nil {
		return err
	}
	if err := r.Validate(v); err != nil {
		return errors.New(shorten(err.Error()))
	}
	return nil
}

// resolve returns the schema of a type.
func (t *types) resolve(def string) (*jsonschema.Resolved, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.resolved[def]; r != nil {
		return r, nil
	}
	r, err := (&jsonschema.Schema{Ref: "#/$defs/" + def, Defs: t.doc.Defs}).Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", def, err)
	}
	t.resolved[def] = r
	return r, nil
}

// shorten removes the path through the schema from an error.
func shorten(message string) string {
	for _, sep := range []string{": validating ", "validating "} {
		if i := strings.LastIndex(message, sep); i >= 0 {
			message = message[i+len(sep):]
		}
	}
	_, message, _ = strings.Cut(message, ": ")
	if strings.Contains(message, "did not validate against any of") {
		return "it has none of the allowed forms"
	}
	return clip(strings.ReplaceAll(message, "<invalid reflect.Value>", "the value"), 300)
}

// clip cuts a text to some bytes.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}
