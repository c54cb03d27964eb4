package integration

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"
)

// exportedSession returns an exported session with that many prompts.
func exportedSession(id, cwd string, prompts int) string {
	events := make([]string, prompts)
	for n := range events {
		text := fmt.Sprintf("prompt %d: %s", n, strings.Repeat("some words ", 50))
		events[n] = fmt.Sprintf(`{"time":"2026-01-01T00:00:00Z","kind":"prompt","data":{"messageId":"m%d","content":[{"type":"text","text":%q}]}}`, n, text)
	}
	return fmt.Sprintf(`{"version":1,"sessionId":%q,"cwd":%q,"title":"title of %s","events":[%s]}`, id, cwd, id, strings.Join(events, ","))
}

// storeEarlierSessions turns the database of a home into one of the first version, by undoing
// the later migrations.
func storeEarlierSessions(t *testing.T, home string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(home, "zeph.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var later string // shadow tables of words are dropped with it
	err = db.QueryRow(`SELECT group_concat('DROP TABLE ' || name, '; ') FROM sqlite_schema WHERE type = 'table'
		AND name NOT IN ('sessions', 'events', 'leases') AND name NOT GLOB 'sqlite_*' AND name NOT GLOB 'words_*'`).Scan(&later)
	if err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{later, "PRAGMA user_version = 1", "VACUUM"} {
		if _, err := db.Exec(query); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
}

// TestKillCommand kills commands while they write to the database. Afterwards it has
// every session whole, or not at all.
func TestKillCommand(t *testing.T) {
	const prompts = 2000
	template := launch(t, start{})
	importDoc := func(t *testing.T, a *agent, id string, prompts int) {
		t.Helper()
		if out, err := commandIn(a, "sessions", "import", a.file(id+".json", exportedSession(id, a.dir, prompts))).CombinedOutput(); err != nil {
			t.Fatalf("import: %v\n%s", err, out)
		}
	}
	importDoc(t, template, "stored", 50)
	doc := template.file("new.json", exportedSession("new", template.dir, prompts))
	template.stop()

	for name, k := range map[string]struct {
		prepare func(t *testing.T, home string)
		args    []string
	}{
		"migration": {storeEarlierSessions, []string{"sessions", "list"}},
		"import":    {func(*testing.T, string) {}, []string{"sessions", "import", doc}},
	} {
		t.Run(name, func(t *testing.T) {
			rng := newRand(t)
			killed := func(t *testing.T, took time.Duration) time.Duration {
				a := &agent{t: t, home: filepath.Join(t.TempDir(), "zeph"), dir: template.dir}
				a.cmd = commandIn(template)
				a.cmd.Env = append(a.cmd.Env, "ZEPH_HOME="+a.home)
				if err := os.CopyFS(a.home, os.DirFS(template.home)); err != nil {
					t.Fatal(err)
				}
				k.prepare(t, a.home)
				took = killedCommand(t, a, took, rng, k.args...)
				a.hasWhole("stored", 50)
				if a.imported("new") {
					a.hasWhole("new", prompts)
				}
				importDoc(t, a, "other", 1) // the database can be written
				a.hasWhole("other", 1)
				return took
			}
			took := killed(t, 0)
			for n := range extent(3, 40) {
				t.Run(fmt.Sprint(n), func(t *testing.T) { killed(t, took) })
			}
		})
	}
}

// killedCommand runs a command and kills it at a random moment before took has
// passed; 0 lets it end. It returns how long the command ran.
func killedCommand(t *testing.T, a *agent, took time.Duration, rng *rand.Rand, args ...string) time.Duration {
	t.Helper()
	cmd := commandIn(a, args...)
	began := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if took > 0 {
		time.Sleep(time.Duration(rng.Int64N(int64(took)))) // a random moment
		_ = cmd.Process.Kill()                             // it may have ended
	}
	if err := cmd.Wait(); err != nil && took == 0 {
		t.Fatalf("%q: %v", args, err)
	}
	return time.Since(began)
}

// imported reports whether the database has a session.
func (a *agent) imported(id string) bool {
	a.t.Helper()
	out, err := commandIn(a, "sessions", "list").CombinedOutput()
	if err != nil {
		a.t.Fatalf("sessions list: %v\n%s", err, out)
	}
	return strings.Contains(string(out), "title of "+id)
}

// hasWhole checks that the database has a session with that many prompts. An import
// also adds the labels of the session.
func (a *agent) hasWhole(id string, prompts int) {
	a.t.Helper()
	out, err := commandIn(a, "sessions", "export", id).Output()
	var doc struct{ Events []struct{ Kind string } }
	if err == nil {
		err = json.Unmarshal(out, &doc)
	}
	has := 0
	for _, e := range doc.Events {
		if e.Kind == "prompt" {
			has++
		}
	}
	if err != nil || has != prompts {
		a.t.Errorf("session %s has %d prompts, want %d: %v\n%.500s", id, has, prompts, err, out)
	}
}
