package integration

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// contextValues are the files that put a value into a context, with what leaves no other way.
var contextValues = map[string]string{
	"executors/links/trace/trace.go":     "a span belongs to all work below it, as in the libraries of OpenTelemetry",
	"executors/tools/mcp/call.go":        "the SDK hands a server's question to a handler with the context of the call alone",
	"executors/tools/mcp/remote.go":      "an http.RoundTripper has the request's context alone",
	"session/llm/google/token.go":        "golang.org/x/oauth2 takes its HTTP client from the context",
	"executors/tools/mcp/oauth/renew.go": "golang.org/x/oauth2 takes its HTTP client from the context",
}

// TestContextValues checks that contexts carry cancellation and no data, but for the files above. What a
// call needs is in executors.Call.
func TestContextValues(t *testing.T) {
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		rel := filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator)))
		switch {
		case err != nil:
			return err
		case d.IsDir() && (rel == "integration" || strings.HasPrefix(d.Name(), ".") && path != ".."):
			return fs.SkipDir
		case d.IsDir(), !strings.HasSuffix(path, ".go"), strings.HasSuffix(path, "_test.go"):
			return nil
		}
		source, err := os.ReadFile(path)
		if has := bytes.Contains(source, []byte("context.WithValue(")); has != (contextValues[rel] != "") {
			t.Errorf("%s puts a value into a context: %t, want %t", rel, has, !has)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
