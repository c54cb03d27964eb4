package diagnostics

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// The full list keeps omitted diagnostics and the rest of long messages.
func TestReportKeepsAll(t *testing.T) {
	dir := t.TempDir()
	roots, err := workspace.New(dir)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("m", 2*maxMessage)
	for name, tt := range map[string]struct {
		messages []string
		most     int
		kept     bool
	}{
		"short":   {[]string{"a", "b"}, 2, false},
		"many":    {[]string{"a", "b", "c"}, 2, true},
		"long":    {[]string{long}, 2, true},
		"nothing": {nil, 2, false},
	} {
		r := &report{roots: roots, target: dir}
		for i, m := range tt.messages {
			r.add([]Diagnostic{{File: "a.go", Line: i + 1, Severity: Error, Message: m}}, dir)
		}
		res := r.result(tt.most, 50_000)
		if (res.Full != nil) != tt.kept {
			t.Errorf("%s: kept %t, want %t\n%s", name, res.Full != nil, tt.kept, res.ForModel())
		}
		if res.Full == nil {
			continue
		}
		all := res.Full.Window(0, res.Full.Size())
		for i, m := range tt.messages {
			if !strings.Contains(all, fmt.Sprintf("a.go:%d: error: %s\n", i+1, m)) {
				t.Errorf("%s: got %.200s, want error %d in it", name, all, i+1)
			}
		}
		_ = res.Full.Close()
	}
}
