package session

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// An idle session of version 2 sends nothing for a day.
// Statements 422.
func TestIdleSessionIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := steered{began: make(chan string, 1), end: make(chan struct{}, 1)}
		a.end <- struct{}{}
		s := newSessions(a)
		in, toAgent := io.Pipe()
		fromAgent, out := io.Pipe()
		server := &acp.Server{Config: setting.Default[acp.Config](), Sessions: s, Ready: func() error { return nil }, Log: s.Log}
		server.Config.Protocol = acp.ProtocolAuto
		go func() { out.CloseWithError(server.Serve(t.Context(), in, out)) }()
		lines := make(chan string, 100)
		go func() {
			defer close(lines)
			for r := bufio.NewReader(fromAgent); ; {
				line, err := r.ReadString('\n')
				if err != nil {
					return
				}
				lines <- line
			}
		}()
		send := func(id int, method, params string) {
			fmt.Fprintf(toAgent, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params)
			synctest.Wait()
		}
		send(1, "initialize", `{"protocolVersion":2,"info":{"name":"x","version":"1"}}`)
		send(2, "session/new", fmt.Sprintf(`{"cwd":%q}`, t.TempDir()))
		send(3, "session/prompt", `{"sessionId":"s1","prompt":[{"type":"text","text":"hi"}]}`)
		time.Sleep(time.Minute)
		synctest.Wait()
		var before string
		for len(lines) > 0 {
			before += <-lines
		}
		if !strings.Contains(before, `"id":2,"result"`) || !strings.Contains(before, `"id":3,`) {
			t.Fatalf("the agent sent %s", before)
		}
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		for len(lines) > 0 {
			t.Errorf("an idle session sent %s", <-lines)
		}
		toAgent.Close()
		for range lines {
		}
	})
}
