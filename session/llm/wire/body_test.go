package wire

import (
	"io"
	"net/http"
	"testing"

	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
)

// A body is sent whole, with its length.
func TestPost(t *testing.T) {
	var got *http.Request
	var text []byte
	s := llmtest.Serve(t, func(_ http.ResponseWriter, r *http.Request) {
		got = r
		text, _ = io.ReadAll(r.Body)
	})
	body := Body{[]byte(`{"a":[`)}.Join([][]byte{[]byte("1"), []byte("2")})
	body = append(body, []byte("]}"))
	res, err := NewClient(s.URL).Post(t.Context(), s.URL+"/v1", http.Header{"X-Api-Key": {"k"}}, body)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if string(text) != `{"a":[1,2]}` || got.ContentLength != int64(len(text)) || got.Header.Get("X-Api-Key") != "k" ||
		got.Header.Get("Content-Type") != "application/json" {
		t.Errorf("sent %s with %d bytes and %v", text, got.ContentLength, got.Header)
	}
	for range 2 { // a retry reads it again
		if again, err := io.ReadAll(body.Reader()); err != nil || string(again) != string(text) {
			t.Errorf("read %s, %v", again, err)
		}
	}
}
