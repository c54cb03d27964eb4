package schema

import (
	"encoding/json"
	"sync"

	"github.com/zeph-acp/zeph-acp/protocol-fixtures/schema/editions"
)

// version2 returns the editions by which frames are checked once the agent has answered with version 2.
var version2 = sync.OnceValues(func() ([]edition, error) {
	e, err := readEdition(editions.Read, editions.V2)
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
