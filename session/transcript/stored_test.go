package transcript

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
)

// The types of acp are also the form of the store. Events of databases in use are read, and
// written again byte by byte.
func TestStoredForm(t *testing.T) {
	data, err := os.ReadFile("testdata/stored.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		var stored struct {
			Kind  string
			Event json.RawMessage
		}
		if err := json.Unmarshal(line, &stored); err != nil {
			t.Fatal(err)
		}
		e, err := Decode(stored.Kind, stored.Event)
		if err != nil {
			t.Errorf("%s: %v", stored.Kind, err)
			continue
		}
		again, err := plainjson.Marshal(e)
		if diff := cmp.Diff(string(stored.Event), string(again)); err != nil || diff != "" {
			t.Errorf("%s: %v (-stored +again)\n%s", stored.Kind, err, diff)
		}
	}
}
