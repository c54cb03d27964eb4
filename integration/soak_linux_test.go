package integration

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// soakAgent is an agent with sessions that run turns of every kind in rounds.
type soakAgent struct {
	*client
	sessions []string

	mu      sync.Mutex
	cancels map[string]string // the kind of update at which a session's turn is cancelled
	loading bool
	text    int             // bytes of the updates of all turns
	tasks   map[string]bool // names of scheduled tasks that have not run
	missing []string        // of soakMarks
}

// soakConfig has a type of sub-agents in worktrees, and short conversations.
const soakConfig = `[mcp]
startup_wait_secs = 30
[[agents]]
name = "fixer"
worktree = true
[[llm.providers]]
type = "claude"
model = "m"
base_url = %q
context_window = 20000
`

// model answers a request, and notes the scheduled tasks that run.
func (s *soakAgent) model(r fakemodel.Request) fakemodel.Reply {
	if _, task, ok := strings.Cut(soakPrompt(r), `[Scheduled task "`); ok {
		name, _, _ := strings.Cut(task, `"`)
		s.mu.Lock()
		delete(s.tasks, name)
		s.mu.Unlock()
	}
	return soakModel(r)
}

// newSoak starts an agent.
func newSoak(t *testing.T, capabilities string, sessions int) *soakAgent {
	p := fakemodel.NewAnthropic(t)
	s := &soakAgent{client: &client{}, cancels: map[string]string{}, missing: soakMarks, tasks: map[string]bool{}}
	s.update, s.servers, s.Saves = s.seen, stdioServer(t, "io", "serve"), true
	p.Choose, p.Forget = s.model, true
	root := home(t)
	write(t, filepath.Join(root, "zeph", "hooks.json"), hooksFile(30, hook{"PostToolUse", "Write", hookSays(`{"decision":"block","reason":"Noted."}`)}))
	s.start(t, capabilities, start{root: root, env: p.Env(), config: fmt.Sprintf(soakConfig, p.URL) + fakeServer(t, "push", os.DevNull)})
	s.repository(map[string]string{"a.txt": strings.Repeat("a line of text\n", 20)})
	for n := range sessions {
		id := s.open()
		s.sessions = append(s.sessions, id)
		s.call("session/prompt", promptParams(id, fmt.Sprintf("look s%d", n))) // stores it
	}
	return s
}

// seen counts an update, looks for marks in it, and cancels the turns that wait for it.
func (s *soakAgent) seen(session string, f frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loading || !turnUpdate(f) {
		return
	}
	s.text += len(f.line)
	s.missing = slices.DeleteFunc(slices.Clone(s.missing), func(mark string) bool { return strings.Contains(f.line, mark) })
	u, _ := f.update()
	if at := s.cancels[session]; at != "" && (u.Kind == at || u.Status == at) {
		delete(s.cancels, session)
		s.cancel(session)
	}
}

// round runs one turn in each session, all at once.
func (s *soakAgent) round(n int) {
	s.t.Helper()
	answers, prompts, want := make([]<-chan frame, len(s.sessions)), make([]string, len(s.sessions)), make([]string, len(s.sessions))
	kindOf := func(i int) string { return soakKinds[(i+n)%len(soakKinds)] }
	for i, id := range s.sessions {
		if kindOf(i) == "reopen" {
			s.reopen(id)
		}
	}
	for i, id := range s.sessions {
		kind := kindOf(i)
		prompts[i], want[i] = fmt.Sprintf("%s s%d-r%d", kind, i, n), "end_turn"
		switch kind {
		case "silent", "sleep":
			want[i] = "cancelled"
			s.mu.Lock()
			s.cancels[id] = map[string]string{"silent": "agent_message_chunk", "sleep": "in_progress"}[kind]
			s.mu.Unlock()
		case "remind":
			s.mu.Lock()
			_, word, _ := strings.Cut(prompts[i], " ")
			s.tasks[word] = true
			s.mu.Unlock()
		}
		answers[i] = s.startCall("session/prompt", promptParams(id, prompts[i]))
	}
	for i, answer := range answers {
		f, ok := s.waitAnswer(prompts[i], answer)
		if got := stopReason(f); !ok || got != want[i] {
			s.t.Fatalf("%s ended with %q, want %q: %s\nstderr: %s", prompts[i], got, want[i], f.line, &s.stderr)
		}
	}
	for i, id := range s.sessions {
		if kindOf(i) == "undo" {
			s.undo(id)
		}
	}
}

// undo takes the last turn of a session back, which has changed one file.
func (s *soakAgent) undo(session string) {
	s.t.Helper()
	var all struct {
		Points []struct {
			MessageID string
			Files     int
		}
	}
	if err := json.Unmarshal(s.call("_session/rewind_points", `{"sessionId":`+quote(session)+`}`), &all); err != nil || len(all.Points) == 0 {
		s.t.Fatalf("points to go back to: %+v, %v", all, err)
	}
	last := all.Points[len(all.Points)-1]
	result := s.call("_session/rewind", fmt.Sprintf(`{"sessionId":%q,"messageId":%q}`, session, last.MessageID))
	if last.Files != 1 || !strings.Contains(string(result), `"rewound":true,"files"`) {
		s.t.Fatalf("back to before %+v: %s", last, result)
	}
}

// reopen closes a session, with its background commands, and loads it.
func (s *soakAgent) reopen(session string) {
	s.call("session/close", `{"sessionId":`+quote(session)+`}`)
	s.replaying(true)
	s.load(session)
	s.replaying(false)
}

func (s *soakAgent) replaying(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loading = on
}

// heldResources are the resources that an agent holds between two rounds.
type heldResources struct {
	memory      int // KiB, resident
	descriptors int
	processes   int
	files       int // in its home and its directory of temporary files
	stored      int // bytes in the database
	text        int // bytes of all updates so far
}

func (s *soakAgent) holds() heldResources {
	s.t.Helper()
	pid := s.cmd.Process.Pid
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		s.t.Fatal(err)
	}
	h := heldResources{memory: statusKiB(s.t, pid, "VmRSS"), descriptors: len(open), processes: len(children([]int{pid})), stored: stored(s.t, s.home)}
	for _, dir := range []string{s.home, filepath.Join(s.root, "tmp"), filepath.Join(s.root, "home")} {
		err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
			if d != nil && d.Name() == "zeph-rewind" { // grows up to a limit of turns, which its package tests
				return filepath.SkipDir
			}
			if err == nil && !d.IsDir() {
				h.files++
			}
			return nil // it may be gone
		})
		if err != nil {
			s.t.Fatal(err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	h.text = s.text
	return h
}

// stored returns the bytes in use in the database below a home.
func stored(t testing.TB, home string) int {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(home, "zeph.db")+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var n int
	if err := db.QueryRow("SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size").Scan(&n); err !=
		nil {
		t.Fatal(err)
	}
	return n
}

// goroutines closes all sessions, makes the agent dump its goroutines, which ends
// it, and returns their stacks. It leaves out idle connections to the model, whose
// number the transport limits, and goroutines of the Go runtime, which starts some of
// them late. The scheduler's stack, "goroutine 0", is in the dump only if the signal
// reaches an idle thread.
func (s *soakAgent) goroutines() (stacks []string) {
	s.t.Helper()
	left, since := -1, time.Now() // the number of tasks that have not run
	for ; left != 0; time.Sleep(10 * time.Millisecond) {
		s.mu.Lock()
		names := slices.Sorted(maps.Keys(s.tasks))
		s.mu.Unlock()
		if len(names) != left {
			left, since = len(names), time.Now()
		}
		if time.Since(since) > patience {
			s.t.Fatalf("scheduled tasks that did not run: %q", names)
		}
	}
	for _, id := range s.sessions {
		s.call("session/close", `{"sessionId":`+quote(id)+`}`)
	}
	s.exitChecked = true
	if err := s.cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		s.t.Fatal(err)
	}
	s.waitExit(patience)
	_, dump, _ := strings.Cut(s.stderr.String(), "\ngoroutine ")
	for _, stack := range strings.Split(dump, "\ngoroutine ") {
		if !strings.HasPrefix(stack, "0 ") && !strings.Contains(stack, "net/http.(*persistConn)") && !strings.Contains(stack, "\ncreated by runtime.") {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}

// TestSoak runs turns of every kind for a long time. The agent holds no more at
// the end than at the beginning, and its database grows with the text.
func TestSoak(t *testing.T) {
	sessions, rounds := extent(3, 50), extent(45, 200)
	for name, capabilities := range map[string]string{"editor": killedClients[0], "alone": killedClients[1]} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := newSoak(t, capabilities, sessions)
			for n := range len(soakKinds) {
				first.round(n)
			}
			few := first.goroutines()
			if len(first.missing) > 0 {
				t.Errorf("no turn shows %q", first.missing)
			}

			s := newSoak(t, capabilities, sessions)
			var all []heldResources
			for n := range rounds {
				s.round(n)
				all = append(all, s.holds())
			}
			tenth := max(rounds/10, len(soakKinds)) // a session runs each kind once in so many rounds
			t.Logf("%d turns in %d sessions; at the end %+v", sessions*rounds, sessions, all[rounds-1])
			for _, f := range []struct {
				name string
				of   func(heldResources) int
			}{
				{"KiB of resident memory", func(h heldResources) int { return h.memory }},
				{"descriptors", func(h heldResources) int { return h.descriptors }},
				{"processes", func(h heldResources) int { return h.processes }},
				{"files", func(h heldResources) int { return h.files }},
			} {
				early, late := mean(all[tenth:2*tenth], f.of), mean(all[rounds-tenth:], f.of)
				t.Logf("mean %s: %.1f in the second tenth, %.1f in the last", f.name, early, late)
				if late > 1.1*early {
					t.Errorf("%s grow from %.1f to %.1f", f.name, early, late)
				}
			}
			if a, b := growth(all[tenth-1], all[2*tenth-1]), growth(all[rounds-1-tenth], all[rounds-1]); b > 1.1*a {
				t.Errorf("the database grows by %.2f bytes for each byte shown, then by %.2f", a, b)
			}
			many := slices.DeleteFunc(s.goroutines(), func(stack string) bool { // about to end, or to wait
				return strings.Contains(strings.SplitN(stack, "\n", 2)[0], "[runnable")
			})
			if len(many) > len(few) {
				t.Errorf("%d goroutines without a session after %d turns, %d after %d: %s", len(many), sessions*rounds, len(few), sessions*len(soakKinds), many)
			}
		})
	}
}

// mean returns the mean of one figure of samples.
func mean(all []heldResources, of func(heldResources) int) float64 {
	sum := 0
	for _, h := range all {
		sum += of(h)
	}
	return float64(sum) / float64(len(all))
}

// growth returns by how many bytes the database grew for each byte shown.
func growth(from, to heldResources) float64 {
	return float64(to.stored-from.stored) / float64(to.text-from.text)
}
