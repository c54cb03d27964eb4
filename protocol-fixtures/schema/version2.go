package schema

import (
	"encoding/json"
	"sync"
)

// version2 returns the editions by which frames are checked once the agent has answered with version 2:
// the one of the crate agent-client-protocol-schema 1.20.0 (of the ACP project, Apache-2.0).
var version2 = sync.OnceValues(func() ([]edition, error) {
	e, err := readEdition(readCopy, "2/schema.json")
	return []edition{e}, err
})

// versionOf returns the version in the result of initialize; 0 if there is none.
func versionOf(result []byte) int {
	var r struct {
		Version int `json:"protocolVersion"`
	}
	_ = json.Unmarshal(result, &r) // otherwise it stays 0
	return r.Version
}

// hasModes reports whether a result has the modes of version 1.
func hasModes(result []byte) bool {
	var r map[string]json.RawMessage
	_ = json.Unmarshal(result, &r) // otherwise it has no members
	return r["modes"] != nil
}
