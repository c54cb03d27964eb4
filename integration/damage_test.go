package integration

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// Calls of the models in tests of faults.
var (
	readsFile  = fakemodel.Call("c1", "read", map[string]any{"path": "a.txt"})
	printsLong = fakemodel.Call("c1", "bash", map[string]any{"command": "cat long.txt"})
	printsHuge = fakemodel.Call("c1", "bash", map[string]any{"command": "cat long.txt long.txt long.txt long.txt"})
)

// TestDamage flips bytes of the database and its WAL, and cuts them. Whatever it
// reads, the next agent serves the session as it was, or names the loss, and runs a
// turn. Only a WAL that was cut after a whole change looks undamaged.
func TestDamage(t *testing.T) {
	model := fakemodel.NewAnthropic(t)
	model.Choose = func(fakemodel.Request) fakemodel.Reply { return fakemodel.Answer(fakemodel.Say("I go on.")) }
	files := []damagedFile{storedSession(t, "zeph.db"), storedSession(t, "zeph.db-wal")}
	rng, outcomes := newRand(t), make(chan string, 1000)
	t.Run("rounds", func(t *testing.T) {
		for n := range extent(24, 500) {
			from, cut := files[n%2], n/2%3 == 2
			chance := rand.New(rand.NewPCG(rng.Uint64(), 1))
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				t.Parallel()
				o := from.use(t, model, cut, chance)
				outcomes <- fmt.Sprintf("%s, cut %t: %s", from.name, cut, o)
			})
		}
	})
	close(outcomes)
	count := map[string]int{}
	for o := range outcomes {
		count[o]++
	}
	for _, o := range slices.Sorted(maps.Keys(count)) {
		t.Log(count[o], o)
	}
}

// damagedFile is a file with a stored session. If it is a WAL, the whole session is
// in it.
type damagedFile struct {
	root, name, session string
	live                *shownSession
}

// storedPrompts are the prompts of a stored session.
var storedPrompts = []string{"prompt 0", "prompt 1", "prompt 2", "prompt 3"}

// storedSession stores a session in a file.
func storedSession(t *testing.T, name string) damagedFile {
	p := fakemodel.NewAnthropic(t)
	a := launch(t, start{env: p.Env()})
	a.file("a.txt", "a\n")
	a.initialize()
	f := damagedFile{root: a.root, name: name, session: a.open()}
	for n, text := range storedPrompts {
		p.Then(fakemodel.Answer(readsFile), fakemodel.Answer(fakemodel.Say(strings.Repeat(fmt.Sprintf("a long answer %d ", n), 400))))
		a.runTurn(f.session, text)
	}
	f.live = a.shownTo()
	if name == "zeph.db" {
		a.stop()
		return f
	}
	a.kill()
	<-a.exited
	return f
}

// use damages a copy of the file and uses the session. It returns the outcome.
func (d damagedFile) use(t *testing.T, model *fakemodel.Anthropic, cut bool, rng *rand.Rand) string {
	root, unseen := home(t), false
	for _, name := range []string{"zeph.db", "zeph.db-wal"} {
		data, err := os.ReadFile(filepath.Join(d.root, "zeph", name))
		if err != nil {
			continue // a closed database has no WAL
		}
		if name == d.name {
			data = damaged(data, cut, rng)
			unseen = cut && wholeWAL(data)
		}
		write(t, filepath.Join(root, "zeph", name), string(data))
	}
	a := launch(t, start{root: root, env: model.Env()})
	a.dir = filepath.Join(d.root, "work")
	a.initialize()
	a.request(`"load"`, "session/load", fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, d.session, a.dir))
	loaded := a.answer(`"load"`)
	replay := shownIn(a.agentFrames(), d.session, func(frame) bool { return false })
	session := d.session
	if loaded.Error != nil {
		session = a.open()
	}
	a.request(`"list"`, "session/list", `{}`)
	a.answer(`"list"`)
	a.runTurn(session, "go on")
	a.stop()
	warned := strings.Contains(a.lines(), "Warning: ")
	lost := loaded.Error != nil || len(replay.items) < len(d.live.items)+len(storedPrompts)
	if d.name == "zeph.db-wal" && lost && !warned && !unseen {
		t.Errorf("the user does not read of the loss: %s", loaded.line)
	}
	switch {
	case loaded.Error != nil:
		for _, cause := range []string{"damaged", "unknown session", "newer zeph-acp", "another program", "cannot be used", "the session's directory is"} {
			if strings.Contains(loaded.Error.Message, cause) {
				return "refused: " + cause
			}
		}
		t.Errorf("session/load: %s", loaded.line)
		return "refused"
	case warned:
		return "served with a warning"
	case unseen:
		return "served without the end"
	}
	checkReplay(t, storedPrompts, d.live, replay)
	return "served whole"
}

// wholeWAL reports whether a WAL is empty or ends with a whole change: the header
// of its last frame then has the size of the database.
func wholeWAL(data []byte) bool {
	const header, frame = 32, 24 + 4096
	if len(data) <= header {
		return len(data) == 0 || len(data) == header
	}
	last := len(data) - frame
	return (len(data)-header)%frame == 0 && !bytes.Equal(data[last+4:last+8], make([]byte, 4))
}

// damaged returns data without its end, or with up to four other bytes.
func damaged(data []byte, cut bool, rng *rand.Rand) []byte {
	if cut {
		return data[:rng.IntN(len(data))]
	}
	for range 1 + rng.IntN(4) {
		data[rng.IntN(len(data))] ^= byte(1 + rng.IntN(255))
	}
	return data
}
