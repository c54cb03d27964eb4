package integration

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// TestCachedSearches runs the same searches and reads twice. By the audit log, each repeated
// search comes from the result cache until a file changes.
func TestCachedSearches(t *testing.T) {
	read := map[string]any{"path": "d/a.go"}
	find, grep := map[string]any{"pattern": "*.go"}, map[string]any{"pattern": "needle", "path": "d"}
	p := fakemodel.NewAnthropic(t,
		fakemodel.Answer(fakemodel.Call("c1", "find_path", find)), fakemodel.Answer(fakemodel.Call("c2", "find_path", find)),
		fakemodel.Answer(fakemodel.Call("c3", "grep", grep)), fakemodel.Answer(fakemodel.Call("c4", "grep", grep)),
		fakemodel.Answer(fakemodel.Call("r1", "read", read)), fakemodel.Answer(fakemodel.Call("r2", "read", read)),
		fakemodel.Answer(fakemodel.Call("c5", "write", map[string]any{"path": "d/b.go", "content": "needle\n"})),
		fakemodel.Answer(fakemodel.Call("c6", "grep", grep)), fakemodel.Answer(fakemodel.Say("Done.")))
	e := (&ide{}).begin(t, start{env: p.Env()})
	e.file("d/a.go", "needle\n")
	e.file("d/b.go", "x\n")
	written := time.Now()
	s := e.session()
	eventually(t, 10*time.Second, "file times old enough to show a change", func() bool { return time.Since(written) > 2500*time.Millisecond })
	e.prompt(s, "look")
	var got []string
	for line := range strings.Lines(auditLog(t, e.home)) {
		var entry struct {
			Tool   string
			Cached bool
		}
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatal(err)
		}
		if entry.Cached {
			entry.Tool += " cached"
		}
		got = append(got, entry.Tool)
	}
	if want := []string{"find_path", "find_path cached", "grep", "grep cached", "read", "read cached", "write", "grep"}; !slices.Equal(got, want) {
		t.Errorf("recorded %q, want %q", got, want)
	}
}
