package session

import (
	"context"
	"database/sql"
	"errors"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/store"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// TestRenewLease checks that a long turn keeps its lease until it stops, and notices its loss.
func TestRenewLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := slog.New(slog.DiscardHandler)
		db := store.New(filepath.Join(t.TempDir(), "zeph.db"), store.Options{Log: log})
		defer db.Close()
		j := &journal{db: db, holder: "ours", log: log, session: store.Session{ID: "s"}, stored: true}
		acquire := func(holder string) error {
			_, err := db.Acquire(t.Context(), "s", holder)
			return err
		}
		if err := acquire("ours"); err != nil {
			t.Fatal(err)
		}
		var lost []error
		stop := j.renewLease(func(err error) { lost = append(lost, err) })
		time.Sleep(2 * store.LeaseTimeout)
		synctest.Wait()
		if err := acquire("theirs"); err == nil || len(lost) > 0 {
			t.Fatalf("the lease was not renewed: %v, %v", err, lost)
		}
		stop()
		time.Sleep(2 * store.LeaseTimeout)
		if err := acquire("theirs"); err != nil {
			t.Fatalf("the lease was renewed after the turn: %v", err)
		}
		defer j.renewLease(func(err error) { lost = append(lost, err) })()
		time.Sleep(3 * heartbeat)
		synctest.Wait()
		if len(lost) != 1 || !errors.Is(lost[0], store.ErrLeaseLost) {
			t.Errorf("the loss was reported as %v", lost)
		}
	})
}

// If the file of the store is removed during a long turn, the turn continues and the user learns
// that it is not saved.
func TestStoreRemovedDuringALongTurn(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows keeps an open file where it is")
	}
	synctest.Test(t, func(t *testing.T) {
		log, path := slog.New(slog.DiscardHandler), filepath.Join(t.TempDir(), "zeph.db")
		db := store.New(path, store.Options{Log: log})
		defer db.Close()
		var warnings []string
		warn := func(text string) { warnings = append(warnings, text) }
		j := &journal{db: db, holder: "ours", warn: warn, log: log, now: time.Now, session: store.Session{ID: "s"}}
		end, _, err := j.begin(t.Context(), func(err error) { t.Errorf("the turn ended: %v", err) })
		if err != nil {
			t.Fatal(err)
		}
		j.record(transcript.Prompt{MessageID: "m"})
		j.sync()
		for _, suffix := range []string{"", "-wal", "-shm"} {
			if err := os.Remove(path + suffix); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(2 * store.LeaseTimeout)
		synctest.Wait()
		end(transcript.TurnEnd{})
		if len(warnings) != 1 || !strings.Contains(warnings[0], "was deleted by another process") {
			t.Errorf("warned %q", warnings)
		}
	})
}

// A new session has no lease in the store until its first events are stored. A store that is
// locked meanwhile must not end the turn.
func TestNoLeaseBeforeTheFirstEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := slog.New(slog.DiscardHandler)
		db := store.New(filepath.Join(t.TempDir(), "zeph.db"), store.Options{Log: log})
		defer db.Close()
		j := &journal{db: db, holder: "ours", log: log, now: time.Now, session: store.Session{ID: "s"}}
		var lost []error
		end, _, err := j.begin(t.Context(), func(err error) { lost = append(lost, err) })
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * store.LeaseTimeout)
		synctest.Wait()
		if len(lost) > 0 {
			t.Errorf("before the first events the turn lost its lease: %v", lost)
		}
		j.record(transcript.Prompt{MessageID: "m"})
		j.sync()
		var leased *store.LeasedError
		if _, err := db.Acquire(t.Context(), "s", "theirs"); !errors.As(err, &leased) {
			t.Errorf("Acquire during the turn: %v, want a LeasedError", err)
		}
		end(transcript.TurnEnd{})
		if _, err := db.Acquire(t.Context(), "s", "theirs"); err != nil {
			t.Errorf("Acquire after the turn: %v", err)
		}
	})
}

// callingModel calls asked at each call, then answers.
type callingModel struct{ asked func() }

func (callingModel) Name() string { return "script:one" }
func (callingModel) Window() int  { return 0 }

func (m callingModel) Stream(context.Context, llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		m.asked()
		if yield(llm.Event{Text: "an answer"}, nil) {
			yield(llm.Event{Stop: llm.StopEnd}, nil)
		}
	}
}

// The model is asked while the first prompt is stored, and its answer is shown afterwards.
func TestModelIsAskedBeforeThePromptIsStored(t *testing.T) {
	path := filepath.Join(t.TempDir(), "zeph.db")
	w := connect(t, path, "", `{}`)
	if err := w.all.Store.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	other, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	other.SetMaxOpenConns(1)
	execute := func(query string) {
		if _, err := other.ExecContext(t.Context(), query); err != nil {
			t.Errorf("%s: %v", query, err)
		}
	}
	execute("BEGIN IMMEDIATE")
	w.all.Model = func(string) (llm.Model, error) { return callingModel{func() { execute("ROLLBACK") }}, nil }
	id := w.open(t.TempDir())
	w.want("prompt", w.prompt(id, "hi"), "end_turn", "available_commands_update", "agent_message an answer", "session_info_update hi")
	_, events, _, err := w.all.Stored(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(events, isPrompt) {
		t.Errorf("stored %v, want a prompt in it", events)
	}
}

// If the prompt could not be stored while the model was asked, the user is warned before the
// answer.
func TestWarningBeforeTheAnswer(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w := connect(t, filepath.Join(file, "zeph.db"), "", `{"session":{"notices":{}}}`)
	var id string
	storeInBackground := func() {
		sess, _ := w.all.find(id)
		sess.journal.sync()
	}
	w.all.Model = func(string) (llm.Model, error) { return callingModel{storeInBackground}, nil }
	id = w.open(t.TempDir())
	w.want("prompt", w.prompt(id, "hi"), "end_turn")
	begins := func(text string) int {
		return slices.IndexFunc(w.seen, func(update string) bool { return strings.HasPrefix(update, text) })
	}
	warning, answer := begins("notice This session is not being saved"), begins("agent_message an answer")
	if warning < 0 || answer < warning {
		t.Errorf("got %q, want a warning before the answer", w.seen)
	}
}
