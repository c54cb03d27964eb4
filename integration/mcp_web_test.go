package integration

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/zeph-acp/zeph-acp/integration/fakemcp"
)

// hang sends nothing until the client leaves, which the library notices once the body
// is read.
func hang(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

// stall sends the beginning of an answer, and nothing more until the client leaves.
func stall(w http.ResponseWriter, r *http.Request, kind, begin string) {
	w.Header().Set("Content-Type", kind)
	_, _ = io.WriteString(w, begin)
	_ = http.NewResponseController(w).Flush()
	hang(w, r)
}

// flood sends an answer without an end.
func flood(w http.ResponseWriter, kind, begin string) {
	w.Header().Set("Content-Type", kind)
	_, err := io.WriteString(w, begin)
	for mib := strings.Repeat("x", 1<<20); err == nil; {
		_, err = io.WriteString(w, mib)
	}
}

// onCall is a server whose calls are answered by bad.
func onCall(bad http.HandlerFunc) http.HandlerFunc {
	good := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return fakemcp.Server() }, nil)
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if r.Body = io.NopCloser(bytes.NewReader(body)); bytes.Contains(body, []byte(`"tools/call"`)) {
			bad(w, r)
			return
		}
		good.ServeHTTP(w, r)
	}
}

// TestHostileWebMCPServers runs servers on the web with bad habits in one session.
// None is reached through another's address, and the neighbour works.
func TestHostileWebMCPServers(t *testing.T) {
	t.Parallel()
	var reached atomic.Int32
	secret := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	t.Cleanup(secret.Close)
	for _, tt := range []struct {
		name, transport string
		serve           http.HandlerFunc
		want            string // of a call, or of the state if the server is never ready
		ready           bool
	}{
		{"redirect", "http", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, secret.URL, http.StatusTemporaryRedirect)
		}, "may not be contacted", false},
		{"redirectcall", "http", onCall(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, secret.URL, http.StatusTemporaryRedirect)
		}), "may not be contacted", true},
		{"endpoint", "sse", func(w http.ResponseWriter, r *http.Request) {
			stall(w, r, "text/event-stream", "event: endpoint\ndata: "+secret.URL+"/x\n\n")
		}, "`endpoint`: failed", false},
		{"unauthorized", "http", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }, "Unauthorized", false},
		{"page", "http", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "<html>welcome</html>")
		}, "text/html", false},
		{"hang", "http", hang, "starting", false},
		{"stall", "sse", func(w http.ResponseWriter, r *http.Request) { stall(w, r, "text/event-stream", ": hello\n\n") }, "starting", false},
		{"hangcall", "http", onCall(hang), "did not answer in time", true},
		{
			"stallcall",
			"http",
			onCall(func(w http.ResponseWriter, r *http.Request) { stall(w, r, "text/event-stream", ": hello\n\n") }),
			"did not answer in time",
			true,
		},
		{"halfcall", "http", onCall(func(w http.ResponseWriter, r *http.Request) {
			stall(w, r, "application/json", `{"jsonrpc":"2.0","id":`)
		}), "did not answer in time", true},
		{"flood", "http", func(w http.ResponseWriter, _ *http.Request) { flood(w, "application/json", `{"jsonrpc":"`) }, "more than 8 MiB", false},
		{
			"floodcall",
			"http",
			onCall(func(w http.ResponseWriter, _ *http.Request) { flood(w, "application/json", `{"jsonrpc":"`) }),
			"more than 8 MiB",
			true,
		},
		{"floodevent", "http", onCall(func(w http.ResponseWriter, _ *http.Request) { flood(w, "text/event-stream", "data: ") }), "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(tt.serve)
			t.Cleanup(server.Close)
			t.Cleanup(server.CloseClientConnections)
			a := launch(t, start{config: strings.Replace(allowMCP, "= 60", "= 2", 1) + mcpTable(t, "good", "serve") +
				fmt.Sprintf("[[mcp.servers]]\nname = %q\nurl = %q\ntransport = %q\ntimeout_secs = 2\n", tt.name, server.URL, tt.transport)})
			a.initialize()
			s := a.open()
			a.turnOf(s, "/bash true")
			a.untilReady(s, "good")
			got := ""
			if tt.ready {
				a.untilReady(s, tt.name)
				got = a.turnOf(s, "/"+tt.name+`__echo {"message":"hi"}`)
				a.checkContains(got, `"status":"failed"`)
			} else {
				got = a.turnOf(s, "/mcp")
			}
			a.checkContains(got, tt.want)
			a.checkContains(a.turnOf(s, `/good__echo {"message":"hi"}`), "Echo: hi")
			if peak := statusKiB(t, a.cmd.Process.Pid, "VmHWM") >> 10; peak >= 100 && !raceEnabled() {
				t.Errorf("the agent took %d MiB", peak)
			}
			if n := reached.Load(); n > 0 {
				t.Errorf("%d requests to an address of another server", n)
			}
		})
	}
}
