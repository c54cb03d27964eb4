// Package schema validates frames by the JSON Schemas of the protocol. It is for
// tests only: the binary must not import it.
//
// [Load] finds the schemas, [Validator.Frame] checks the frames of one
// connection. A frame of the agent must be valid by every available edition of the
// protocol: the edition of the module coder/acp-go-sdk, copied to editions/, the edition of the crate
// agent-client-protocol-schema 1.20.0 (of the ACP project, Apache-2.0), and each *.json in the directory that
// ACP_SCHEMA_DIR names. A frame of a kind that an edition lacks is a fault, unless the client asked for that
// kind by a capability.
//
// The embedded editions have two files. schema.unstable.json checks the kinds that schema.json lacks, since
// some became stable later. It does not check kinds that a capability asks for: these changed while they were drafts.
package schema

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/zeph-acp/zeph-acp/protocol-fixtures/schema/editions"
)

// Load returns a validator for one connection. The schemas are read once a
// process; t fails if they are missing.
func Load(t testing.TB) *Validator {
	t.Helper()
	all, err := available()
	if err != nil {
		t.Fatalf("schemas of the protocol: %v", err)
	}
	return &Validator{editions: all, openRequests: map[string]string{}, declared: map[string]any{}}
}

var available = sync.OnceValues(func() ([]edition, error) {
	sdk, err := readEdition(editions.Read, "schema.json", "schema.unstable.json")
	if err != nil {
		return nil, err
	}
	newest, err := readEdition(editions.Read, editions.V1, "1.20.0/schema.unstable.json")
	if err != nil {
		return nil, err
	}
	all := []edition{sdk, newest}
	if more := os.Getenv("ACP_SCHEMA_DIR"); more != "" {
		files, err := filepath.Glob(filepath.Join(more, "*.json"))
		if err != nil || len(files) == 0 {
			return nil, fmt.Errorf("ACP_SCHEMA_DIR: no *.json in %s", more)
		}
		for _, file := range files {
			if strings.HasPrefix(filepath.Base(file), "meta.") {
				continue // names of methods
			}
			e, err := readEdition(os.ReadFile, file)
			if err != nil {
				return nil, err
			}
			all = append(all, e)
		}
	}
	return all, nil
})

// edition is one edition of the protocol. The first file with a kind of frame
// checks it.
type edition []*file

// file is one schema.
type file struct {
	name     string
	types    map[string]*jsonschema.Schema // by "METHOD Request", "METHOD Response", "METHOD Notification"; and "Error"
	updates  map[string]bool               // kinds of session/update
	contents map[string]bool               // types of the content of tool calls
}

// readEdition reads the files of an edition, in the order in which they check.
func readEdition(read func(path string) ([]byte, error), paths ...string) (edition, error) {
	var e edition
	for _, path := range paths {
		data, err := read(path)
		if err != nil {
			return nil, err
		}
		f, err := compile(path, data)
		if err != nil {
			return nil, err
		}
		e = append(e, f)
	}
	return e, nil
}

// variant is one form of an update, or of the content of a tool call.
type variant struct {
	Properties struct {
		Kind constant `json:"sessionUpdate"`
		Type constant `json:"type"`
	} `json:"properties"`
}

type constant struct {
	Const string `json:"const"`
}

// compile compiles the types of a schema.
func compile(path string, data []byte) (*file, error) {
	var doc struct {
		Defs map[string]struct {
			Method string    `json:"x-method"`
			OneOf  []variant `json:"oneOf"`
			AnyOf  []variant `json:"anyOf"` // in version 2
		} `json:"$defs"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	tree, err := jsonschema.UnmarshalJSON(strings.NewReader(string(data)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	c := jsonschema.NewCompiler()
	const url = "acp:///schema.json"
	if err := c.AddResource(url, tree); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f := &file{name: path, types: map[string]*jsonschema.Schema{}, updates: map[string]bool{}, contents: map[string]bool{}}
	for def, d := range doc.Defs {
		key := ""
		for _, suffix := range []string{"Request", "Response", "Notification"} {
			if d.Method != "" && strings.HasSuffix(def, suffix) {
				key = d.Method + " " + suffix
			}
		}
		if def == "Error" {
			key = def
		}
		if key == "" {
			continue
		}
		if f.types[key], err = c.Compile(url + "#/$defs/" + def); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", path, def, err)
		}
	}
	draft := strings.Contains(filepath.Base(path), "unstable")
	for _, u := range append(doc.Defs["SessionUpdate"].OneOf, doc.Defs["SessionUpdate"].AnyOf...) {
		kind := u.Properties.Kind.Const
		f.updates[kind] = !draft || capabilities[kind] == nil
	}
	for _, c := range append(doc.Defs["ToolCallContent"].OneOf, doc.Defs["ToolCallContent"].AnyOf...) {
		f.contents[c.Properties.Type.Const] = true
	}
	if f.types["Error"] == nil || len(f.updates) == 0 {
		return nil, fmt.Errorf("%s: not a schema of the protocol", path)
	}
	return f, nil
}

// has reports whether the schema has a type for the frame.
func (f *file) has(k kind) bool {
	return f.types[k.key] != nil && (k.update == "" || f.updates[k.update]) && (k.content == "" || f.contents[k.content])
}
