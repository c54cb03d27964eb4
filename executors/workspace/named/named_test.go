package named

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzNamed checks that no input takes long or has a relative path.
func FuzzNamed(f *testing.F) {
	f.Add(`{"a":["b","c"],"command":"git","args":["push"],"x":"{\"y\":\"~/z%2e\"}"}`)
	f.Add(`"` + strings.Repeat("{a,b}/%25*", 100) + `"`)
	f.Fuzz(func(t *testing.T, input string) {
		for _, path := range Find(json.RawMessage(input), Session{Dirs: []string{"/w"}, Home: "/home/u"}).Paths {
			if !filepath.IsAbs(path) {
				t.Errorf("%q is not absolute", path)
			}
		}
		Commands(json.RawMessage(input))
	})
}

func BenchmarkFind(b *testing.B) {
	b.ReportAllocs()
	input := json.RawMessage(`{"path":"src/main.go","old":"` + strings.Repeat("some text of a file, ", 500) + `","limit":5}`)
	for b.Loop() {
		Find(input, Session{Dirs: []string{"/w", "/x"}, Home: "/home/u"})
	}
}
