package integration

import (
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// soak is an agent with sessions that run turns of every kind in rounds.
type soak struct {
	*client
	sessions []string

	mu      sync.Mutex
	cancels map[string]string // the kind of update at which a session's turn is cancelled
	loading bool
	text    int // bytes of the updates of all turns
}

// soakKinds are the kinds of turns, by the first word of their prompt. The second
// word is unique.
var soakKinds = []string{"look", "run", "change", "flood", "serve", "stop", "silent", "sleep", "reopen"}

// soakModel answers by the kind of turn: with a tool call, by chance with another
// one that depends on its result, and with a text.
func soakModel(r fakemodel.Request) fakemodel.Reply {
	kind, word, _ := strings.Cut(r.Last(), " ")
	last := r.Messages[len(r.Messages)-1].Content
	result := last[len(last)-1]
	call := func(name string, input map[string]any) fakemodel.Reply {
		return fakemodel.Counted(r.Size/4, fakemodel.Think("thinking of "+word, "c2ln"), fakemodel.Say(strings.Repeat(word+" ", 20)),
			fakemodel.Call("c-"+word+"-"+fmt.Sprint(len(r.Messages)), name, input))
	}
	if result.Type == "tool_result" {
		text := string(result.Content)
		if id := backgroundID.FindString(text); kind == "stop" && id != "" && !strings.Contains(text, "stopped") {
			return call("bash_stop", map[string]any{"id": id})
		}
		if id := overflowID.FindString(text); kind == "flood" && id != "" {
			return call("read_overflow", map[string]any{"id": id, "offset": 5000, "limit": 20})
		}
		return fakemodel.Counted(r.Size/4, fakemodel.Say("Done with "+word+"."))
	}
	switch kind {
	case "look", "reopen":
		return call("read", map[string]any{"path": "a.txt"})
	case "run":
		return call("bash", map[string]any{"command": "echo " + word + "; exit 1"})
	case "change":
		return call("write", map[string]any{"path": "changed.txt", "content": word + "\n"})
	case "flood":
		n := 1_000_000 + 100*len(word)
		return call("bash", map[string]any{"command": fmt.Sprintf("echo %s; seq %d %d", word, n, n+8000)})
	case "serve", "stop":
		return call("bash", map[string]any{"command": "echo serving " + word + "; sleep 600", "background": true})
	case "sleep":
		return call("bash", map[string]any{"command": "sleep 600; echo " + word})
	case "silent":
		return fakemodel.Hang(make(chan struct{}), fakemodel.Say(strings.Repeat("I think about "+word+".\n", 20)))
	}
	return fakemodel.Counted(r.Size/4, fakemodel.Say("They worked.")) // the summary of a compaction
}

var backgroundID = regexp.MustCompile(`\bbg\d+\b`)

// newSoak starts an agent.
func newSoak(t *testing.T, capabilities string, sessions int) *soak {
	p := fakemodel.NewAnthropic(t)
	p.Choose, p.Forget = soakModel, true
	s := &soak{client: &client{}, cancels: map[string]string{}}
	s.update = s.seen
	s.start(t, capabilities, start{
		env: p.Env(), config: fmt.Sprintf("[[llm.providers]]\ntype = \"claude\"\nmodel = \"m\"\nbase_url = %q\ncontext_window = 20000\n", p.URL),
	})
	s.file("a.txt", strings.Repeat("a line of text\n", 20))
	for n := range sessions {
		id := s.open()
		s.sessions = append(s.sessions, id)
		s.call("session/prompt", promptParams(id, fmt.Sprintf("look s%d", n))) // stores it
	}
	return s
}

// seen counts an update, and cancels the turns that wait for it.
func (s *soak) seen(session string, f frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loading || !turnUpdate(f) {
		return
	}
	s.text += len(f.line)
	u, _ := f.update()
	if at := s.cancels[session]; at != "" && (u.Kind == at || u.Status == at) {
		delete(s.cancels, session)
		s.cancel(session)
	}
}

// round runs one turn in each session, all at once.
func (s *soak) round(n int) {
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
		}
		answers[i] = s.begin("session/prompt", promptParams(id, prompts[i]))
	}
	for i, answer := range answers {
		f, ok := s.ended(prompts[i], answer)
		if got := stopReason(f); !ok || got != want[i] {
			s.t.Fatalf("%s ended with %q, want %q: %s\nstderr: %s", prompts[i], got, want[i], f.line, &s.stderr)
		}
	}
}

// reopen closes a session, with its background commands, and loads it.
func (s *soak) reopen(session string) {
	s.call("session/close", `{"sessionId":`+quote(session)+`}`)
	s.replaying(true)
	s.load(session)
	s.replaying(false)
}

func (s *soak) replaying(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loading = on
}

// held are the resources that an agent holds between two rounds.
type held struct {
	memory      int // KiB, resident
	descriptors int
	processes   int
	files       int // in its home and its directory of temporary files
	stored      int // bytes in the database
	text        int // bytes of all updates so far
}

func (s *soak) holds() held {
	s.t.Helper()
	pid := s.cmd.Process.Pid
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		s.t.Fatal(err)
	}
	h := held{memory: statusKiB(s.t, pid, "VmRSS"), descriptors: len(open), processes: len(children([]int{pid})), stored: stored(s.t, s.home)}
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
	if err := db.QueryRow("SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// goroutines closes all sessions, makes the agent dump its goroutines, which ends
// it, and returns their stacks. It leaves out those of idle connections to the
// model, whose number the transport limits.
func (s *soak) goroutines() (stacks []string) {
	s.t.Helper()
	for _, id := range s.sessions {
		s.call("session/close", `{"sessionId":`+quote(id)+`}`)
	}
	s.allowed = true
	if err := s.cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		s.t.Fatal(err)
	}
	s.waitExit(patience)
	_, dump, _ := strings.Cut(s.stderr.String(), "\ngoroutine ")
	for _, stack := range strings.Split(dump, "\ngoroutine ") {
		if !strings.Contains(stack, "net/http.(*persistConn)") {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}

// TestSoak runs turns of every kind for a long time. The agent holds no more at
// the end than at the beginning, and its database grows with the text.
func TestSoak(t *testing.T) {
	sessions, rounds := pick(3, 27), pick(27, 190)
	for name, capabilities := range map[string]string{"editor": killedClients[0], "alone": killedClients[1]} {
		t.Run(name, func(t *testing.T) {
			first := newSoak(t, capabilities, sessions)
			for n := range len(soakKinds) {
				first.round(n)
			}
			few := first.goroutines()

			s := newSoak(t, capabilities, sessions)
			var all []held
			for n := range rounds {
				s.round(n)
				all = append(all, s.holds())
			}
			tenth := max(rounds/10, len(soakKinds)) // a session runs each kind once in so many rounds
			early, late := mean(all[tenth:2*tenth]), mean(all[rounds-tenth:])
			t.Logf("%d turns in %d sessions; means of the second tenth %+v, of the last %+v, at the end %+v",
				sessions*rounds, sessions, early, late, all[rounds-1])
			for _, f := range []struct {
				name        string
				early, late int
			}{
				{"KiB of resident memory", early.memory, late.memory},
				{"descriptors", early.descriptors, late.descriptors},
				{"processes", early.processes, late.processes},
				{"files", early.files, late.files},
			} {
				if f.late*10 > f.early*11 {
					t.Errorf("%s grow from %d to %d", f.name, f.early, f.late)
				}
			}
			if a, b := growth(all[tenth-1], all[2*tenth-1]), growth(all[rounds-1-tenth], all[rounds-1]); b > 1.1*a {
				t.Errorf("the database grows by %.2f bytes for each byte shown, then by %.2f", a, b)
			}
			if many := s.goroutines(); len(many) > len(few) {
				t.Errorf("%d goroutines without a session after %d turns, %d after %d: %s", len(many), sessions*rounds, len(few), sessions*len(soakKinds), many)
			}
		})
	}
}

// mean returns the mean of samples.
func mean(all []held) (m held) {
	for _, h := range all {
		m.memory += h.memory
		m.descriptors += h.descriptors
		m.processes += h.processes
		m.files += h.files
	}
	n := len(all)
	m.memory, m.descriptors, m.processes, m.files = m.memory/n, m.descriptors/n, m.processes/n, m.files/n
	return m
}

// growth returns by how many bytes the database grew for each byte shown.
func growth(from, to held) float64 {
	return float64(to.stored-from.stored) / float64(to.text-from.text)
}
