package integration

import (
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"testing"
	"time"
)

// importInto imports an exported session.
func (l *benchAgent) importInto(doc string) {
	l.b.Helper()
	l.call("_zeph/session/import", `{"session":`+doc+`}`)
}

// BenchmarkLoadLarge measures session/load of a session with 20,000 events.
func BenchmarkLoadLarge(b *testing.B) {
	doc, cwd := largeSession(b, "large", 20_000)
	l := newBenchAgent(b, "")
	l.initialize()
	l.importInto(doc)
	for b.Loop() {
		l.call("session/load", fmt.Sprintf(`{"sessionId":"large","cwd":%q,"mcpServers":[]}`, cwd))
		b.StopTimer()
		l.call("session/close", `{"sessionId":"large"}`)
		b.StartTimer()
	}
	b.ReportMetric(memoryMiB(b, l, "VmHWM"), "MiB-peak")
}

// BenchmarkListLarge measures a page of session/list, from the first to the last,
// and the command "sessions list", with 10,000 stored sessions.
func BenchmarkListLarge(b *testing.B) {
	const sessions = 10_000
	l := newBenchAgent(b, "")
	l.initialize()
	for n := range sessions {
		l.importInto(exportedSession(fmt.Sprintf("s%05d", n), l.dir, 2))
	}
	b.Run("page", func(b *testing.B) {
		params := "{}"
		for b.Loop() {
			var p page
			if err := json.Unmarshal(l.call("session/list", params), &p); err != nil {
				b.Fatal(err)
			}
			if params = "{}"; p.NextCursor != nil {
				params = `{"cursor":` + quote(*p.NextCursor) + `}`
			}
		}
	})
	b.Run("command", func(b *testing.B) {
		var took time.Duration
		for b.Loop() {
			cmd := exec.Command(binary, "sessions", "list")
			cmd.Env, cmd.Stdout = l.cmd.Env, io.Discard
			began := time.Now()
			if err := cmd.Run(); err != nil {
				b.Fatal(err)
			}
			took += time.Since(began)
		}
		b.ReportMetric(float64(took.Microseconds())/float64(b.N)/(sessions/100)/1000, "ms/page")
	})
}
