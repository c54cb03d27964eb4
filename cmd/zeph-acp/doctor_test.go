package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/doctor"
)

// modelServer returns the address of a server that lists one model to the right key, by
// the protocols of Anthropic and Ollama.
func modelServer(t *testing.T) string {
	mux := http.NewServeMux()
	reply := func(w http.ResponseWriter, status int, body string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		w.Write([]byte(body))
	}
	mux.HandleFunc("/v1/models", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Api-Key") != "the-right-key" {
			reply(w, http.StatusUnauthorized, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`)
			return
		}
		reply(w, http.StatusOK, `{"data":[{"type":"model","id":"claude-test","display_name":"Test"}],"has_more":false}`)
	})
	mux.HandleFunc("/api/tags", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, `{"models":[{"name":"qwen3:8b"}]}`)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

// TestFindingsText shows the report without a terminal, and in two widths of one.
func TestFindingsText(t *testing.T) {
	found := []doctor.Finding{{State: doctor.Warning, Check: "model", Text: "no model is connected: only calls of your own work",
		Fix: "run zeph-acp login, or set a key in the environment"}}
	const end = "\n0 ok, 1 warning, 0 failures\n"
	for columns, want := range map[int]string{
		0: "warning  model  no model is connected: only calls of your own work\n                → run zeph-acp login, or set a key in the environment\n",
		60: "warning  model  no model is connected: only calls of your\n                own work\n" +
			"                → run zeph-acp login, or set a key in the\n                  environment\n",
		40: "warning  model\n  no model is connected: only calls of\n  your own work\n  → run zeph-acp login, or set a key in\n    the environment\n",
	} {
		if got := findingsText(found, columns); got != want+end {
			t.Errorf("%d columns: got\n%swant\n%s", columns, got, want+end)
		}
		for line := range strings.Lines(want) {
			if columns > 0 && len([]rune(line)) > columns+1 {
				t.Errorf("%d columns: %q is too wide", columns, line)
			}
		}
	}
}
