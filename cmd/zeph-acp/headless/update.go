package headless

import "encoding/json"

// Parts returns the session, the kind and the content of a session/update, whose params these are; ok is false if they have
// none.
func Parts(params json.RawMessage) (session, kind string, update json.RawMessage, ok bool) {
	var p struct {
		Session string          `json:"sessionId"`
		Update  json.RawMessage `json:"update"`
	}
	var k struct {
		Kind string `json:"sessionUpdate"`
	}
	ok = json.Unmarshal(params, &p) == nil && json.Unmarshal(p.Update, &k) == nil
	return p.Session, k.Kind, p.Update, ok
}
