package store

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// killed returns the path of a database as a killed process leaves it: the whole
// session "s" is in the WAL, ten commits of one event each, and the last commit
// belongs to session "t".
func killed(t *testing.T) string {
	t.Helper()
	from := newPath(t)
	db, _ := openAt(t, from)
	for i := range 10 {
		must(t, db, "s", i == 0, fmt.Sprint(i))
	}
	must(t, db, "t", true, "a", "b")
	path := newPath(t)
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(from + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path+suffix, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

const frameSize = frameHeaderSize + walPageSize

// commits returns the offsets of the ends of the frames that complete a change.
func commits(wal []byte) (ends []int) {
	for end := walHeaderSize + frameSize; end <= len(wal); end += frameSize {
		if header := wal[end-frameSize:]; string(header[4:8]) != "\x00\x00\x00\x00" {
			ends = append(ends, end)
		}
	}
	return ends
}

// The loss of the end of a WAL is named. Nothing is said of a whole one.
func TestLoss(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(wal []byte) []byte
		want   string // part of the warning; empty means no warning
		events int    // of session "s", at least
	}{
		"whole":  {func(b []byte) []byte { return b }, "", 10},
		"no WAL": {func([]byte) []byte { return nil }, "", 0},
		"an earlier generation after the end": {func(b []byte) []byte {
			old := []byte(strings.Repeat("\x01", 2*frameSize+100))
			return append(b, old...)
		}, "", 10},
		"a flipped byte of the header": {func(b []byte) []byte { b[9] ^= 1; return b }, `session s (""), as a whole; session t (""), as a whole.`, 0},
		"a flipped salt of the header": {func(b []byte) []byte { b[17] ^= 1; return b }, `session s (""), as a whole; session t (""), as a whole.`, 0},
		"a flipped byte after six events": {func(b []byte) []byte {
			ends := commits(b)
			b[ends[len(ends)-6]+frameHeaderSize+2000] ^= 0x10
			return b
		}, `. 5 changes at its end are lost: 4 events of session s (""); session t (""), as a whole.`, 6},
		"a flipped salt of a frame": {func(b []byte) []byte {
			ends := commits(b)
			b[ends[len(ends)-3]+9] ^= 1
			return b
		}, `. 2 changes at its end are lost: 1 event of session s (""); session t (""), as a whole.`, 9},
		"a flipped byte in the last frame": {func(b []byte) []byte { b[len(b)-1] ^= 1; return b }, "ends in the middle of a change", 10},
		"a frame of an earlier generation with a new header": {func(b []byte) []byte {
			last := b[len(b)-frameSize:]
			copy(last[frameHeaderSize:], strings.Repeat("\x02", walPageSize))
			return append(b, strings.Repeat("\x01", frameSize)...)
		}, "ends in the middle of a change", 10},
		"cut within a frame":              {func(b []byte) []byte { return b[:len(b)-100] }, "ends in the middle of a change", 10},
		"cut after the header of a frame": {func(b []byte) []byte { return b[:len(b)-walPageSize] }, "ends in the middle of a change", 10},
		"cut within a change":             {func(b []byte) []byte { return b[:len(b)-frameSize] }, "ends in the middle of a change", 10},
		"cut within the header":           {func(b []byte) []byte { return b[:20] }, "ends in the middle of a change", 0},
	} {
		t.Run(name, func(t *testing.T) {
			path := killed(t)
			data, err := os.ReadFile(path + "-wal")
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path+"-wal", tt.change(data), 0o600); err != nil {
				t.Fatal(err)
			}
			db, _ := openAt(t, path)
			if err := db.Open(t.Context()); err != nil {
				t.Fatal(err)
			}
			loss := db.Loss()
			if tt.want == "" && loss != "" || !strings.Contains(loss, tt.want) {
				t.Errorf("Loss: %q, want %q", loss, tt.want)
			}
			if again := db.Loss(); again != "" {
				t.Errorf("Loss repeats %q", again)
			}
			if s, err := db.Session(t.Context(), "s"); err == nil && s.Events < tt.events || err != nil && tt.events > 0 {
				t.Errorf("session: %d events, %v", s.Events, err)
			}
		})
	}
}

// A second DB that opens the file while the first one uses it reports no loss.
func TestNoLossDuringWrite(t *testing.T) {
	path := newPath(t)
	cmd, lines := spawn(t, "append", path, "s", "100000")
	<-lines
	for range 50 {
		<-lines
		db := New(path, Options{})
		if err := db.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
		if loss := db.Loss(); loss != "" {
			t.Errorf("db.Loss(): got %q, want %q", loss, "")
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for range lines {
	}
}

// A writer that was killed leaves no damage: at most, its last change is incomplete.
func TestNoDamageAfterKill(t *testing.T) {
	path := newPath(t)
	random := rand.New(rand.NewPCG(3, 4))
	incomplete := 0
	for round := range 10 {
		cmd, lines := spawn(t, "append", path, fmt.Sprint("round ", round), "100000")
		for range 1 + random.IntN(60) {
			<-lines
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for range lines {
		}
		_ = cmd.Wait()
		db := New(path, Options{})
		t.Cleanup(func() { _ = db.Close() }) // some are closed below
		if err := db.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
		if loss := db.Loss(); strings.Contains(loss, "damaged") {
			t.Errorf("round %d: %s", round, loss)
		} else if loss != "" {
			incomplete++
		}
		if round%2 == 0 { // else the next writer continues this WAL
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("%d incomplete changes", incomplete)
}

// A page of another table, or a damaged one, has no rows of sessions.
func FuzzSessionRows(f *testing.F) {
	f.Add([]byte{0x0d, 0, 0, 0, 1, 0, 0, 0, 0, 10, 12, 1, 9, 0, 15, 15, 17, 15, 1, 9, 8, 's', '/', '[', ']', 't', 5})
	f.Add([]byte{0x0d, 0, 0, 0, 1, 0, 0, 0, 0, 10, 3, 1, 0x81, 0x48, 0}) // a header longer than its row
	f.Add([]byte{0x0d, 0, 0, 0, 1, 0, 0, 0, 0, 10, 3, 1, 0, 0, 0})       // a header shorter than its own size
	f.Fuzz(func(t *testing.T, page []byte) {
		if len(page) < 10 {
			return
		}
		for id, row := range sessionRows(page) {
			if len(id)+len(row.title) > len(page) {
				t.Errorf("%q, %q of %d bytes", id, row.title, len(page))
			}
		}
	})
}
