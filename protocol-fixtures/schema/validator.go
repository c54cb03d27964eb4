package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
)

// Validator checks the frames of one connection, in their order on each side.
// It may be used concurrently.
type Validator struct {
	editions []edition

	mu           sync.Mutex
	openRequests map[string]string // methods of the client's requests that are not answered, by the id's JSON
	declared     map[string]any    // the capabilities of the client
	is2          bool              // the agent has answered with version 2
	shown2       shown2            // by version 2
}

// kind selects the check of a frame.
type kind struct {
	key     string // as in file.types
	update  string // of a session/update
	content string // of a tool call: a type that a capability asks for; usually empty
}

// capabilities are the paths of the client capabilities that ask for kinds of updates, and
// types of content, from newer editions.
var capabilities = map[string][]string{
	"notice":                   {"session", "notices"},
	"compaction_update":        {"session", "compaction"},
	"compaction_summary_chunk": {"session", "compaction"},
	"subagent_update":          {"subagents"},
	"session_message":          {"subagents"},
	"session_message_chunk":    {"subagents"},
	"session":                  {"subagents"},
	"plan_update":              {"plan"},
	"plan_removed":             {"plan"},
}

// removed are client methods that no edition has any longer.
var removed = []string{"session/set_model"}

// frame is a line of the wire.
type frame struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  *string         `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
}

// Frame checks a line of the agent. It only remembers a line of the client, which
// may be malformed. side is "client" or "agent".
func (v *Validator) Frame(side string, line []byte) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if side == "client" {
		v.remember(line)
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields() // an envelope has no others
	var f frame
	if err := dec.Decode(&f); err != nil {
		return fmt.Errorf("schema: not a frame: %w", err)
	}
	if f.JSONRPC != "2.0" {
		return errors.New(`schema: jsonrpc is not "2.0"`)
	}
	if f.Method == nil {
		return v.response(f)
	}
	k := kind{key: *f.Method + " Notification"}
	if f.ID != nil {
		k.key = *f.Method + " Request"
	}
	if f.Result != nil || f.Error != nil {
		return errors.New("schema: a request with a result or an error")
	}
	if *f.Method == "session/update" {
		var p struct {
			Update struct {
				Kind    string          `json:"sessionUpdate"`
				Content json.RawMessage `json:"content"`
			} `json:"update"`
		}
		if err := json.Unmarshal(f.Params, &p); err != nil {
			return fmt.Errorf("schema: %w", err)
		}
		k.update = p.Update.Kind
		var content []struct{ Type string }
		_ = json.Unmarshal(p.Update.Content, &content) // other updates have one block
		for _, c := range content {
			if capabilities[c.Type] != nil {
				k.content = c.Type
			}
		}
		if k.update == "plan" && v.declares("plan") {
			return errors.New("schema: the update plan, but the client declared plan operations")
		}
		if v.is2 {
			if err := v.shown2.update(f.Params); err != nil {
				return fmt.Errorf("rules of version 2: %w", err)
			}
		}
	}
	return v.check(k, f.Params)
}

// remember stores the facts by which later frames of the agent are checked.
func (v *Validator) remember(line []byte) {
	var f frame
	_ = json.Unmarshal(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")), &f) // a malformed frame is read in part
	if f.Method == nil || f.ID == nil {
		return
	}
	v.openRequests[string(plainjson.Canonical(f.ID))] = *f.Method
	v.shown2.request(string(plainjson.Canonical(f.ID)), *f.Method, f.Params)
	if *f.Method == "initialize" {
		var p struct {
			Capabilities map[string]any `json:"clientCapabilities"`
		}
		_ = json.Unmarshal(f.Params, &p)
		v.declared = p.Capabilities
	}
}

// response checks a response to a request of the client.
func (v *Validator) response(f frame) error {
	if f.ID == nil || (f.Result == nil) == (f.Error == nil) {
		return errors.New("schema: a response needs an id, and either a result or an error")
	}
	id := string(plainjson.Canonical(f.ID))
	if id == "null" && f.Error != nil { // the answer to a malformed line
		return v.check(kind{key: "Error"}, f.Error)
	}
	method, ok := v.openRequests[id]
	delete(v.openRequests, id)
	v.shown2.response(id)
	switch {
	case !ok:
		return fmt.Errorf("schema: a response to %s, but the client has no open request of that id", id)
	case f.Error != nil:
		return v.check(kind{key: "Error"}, f.Error)
	case method == "initialize" && versionOf(f.Result) == 2:
		var err error
		if v.editions, err = version2(); err != nil {
			return fmt.Errorf("schema of version 2: %w", err)
		}
		v.is2 = true
	case strings.HasPrefix(method, "_") || slices.Contains(removed, method):
		return nil // no edition has its result
	}
	if v.is2 && hasModes(f.Result) { // the schema allows further members
		return fmt.Errorf("schema: the result of %s has modes, which only version 1 has", method)
	}
	return v.check(kind{key: method + " Response"}, f.Result)
}

// check validates data by every edition.
func (v *Validator) check(k kind, data []byte) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	for _, e := range v.editions {
		i := slices.IndexFunc(e, func(f *file) bool { return f.has(k) })
		if i < 0 && !v.askedFor(k) {
			return fmt.Errorf("schema: %s knows no %s, and the client did not ask for it", e[0].name, strings.TrimSpace(k.key+" "+k.update))
		}
		if i < 0 {
			continue
		}
		if err := e[i].types[k.key].Validate(doc); err != nil {
			return fmt.Errorf("schema: %s, by %s: %w", k.key, e[i].name, err)
		}
	}
	return nil
}

// askedFor reports whether the client asked for a kind of frame: by a capability, or by a
// request that only some editions have.
func (v *Validator) askedFor(k kind) bool {
	if strings.HasSuffix(k.key, " Response") {
		return slices.ContainsFunc(v.editions, func(e edition) bool {
			return slices.ContainsFunc(e, func(f *file) bool { return f.has(k) })
		})
	}
	for _, name := range []string{k.update, k.content} {
		if path := capabilities[name]; path != nil && v.declares(path...) {
			return true
		}
	}
	return false
}

// declares reports whether the client has the capability at a path.
func (v *Validator) declares(path ...string) bool {
	at := any(v.declared)
	for _, key := range path {
		m, _ := at.(map[string]any)
		at = m[key]
	}
	_, ok := at.(map[string]any)
	return ok
}
