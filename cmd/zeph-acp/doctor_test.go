package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
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
