package login

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
)

// A server that does not answer keeps no key from being stored, and the message says what happened.
func TestHangingServer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "config.toml")
	text := fmt.Sprintf("[[llm.providers]]\nname = \"slow\"\ntype = \"openai\"\nbase_url = %q\napi_key_env = \"SLOW_KEY\"\nmodel = \"m\"\n", server.URL)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := config.Load(config.Options{File: file, Environ: []string{"HOME=" + t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	unchecked, refused := checkKey(ctx, l, &providerKey{env: "SLOW_KEY", providers: []string{"slow"}}, "sk-1")
	if refused != nil || unchecked == nil || unchecked.Error() != "slow does not answer" {
		t.Errorf("got %v, %v", unchecked, refused)
	}
}
