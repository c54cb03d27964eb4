package session

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// killedFiles plays the files of a session whose process was killed after it had restored them
// for a rewind, and before it recorded that.
type killedFiles struct {
	noFiles
	mark     []byte
	complete func()
}

func (f killedFiles) Recover(context.Context) (mark []byte, message string, err error) {
	return f.mark, "", nil
}

func (f killedFiles) Complete() error { f.complete(); return nil }

type toolsWithFiles struct {
	Tools
	files Files
}

func (t toolsWithFiles) Files() Files { return t.files }

// The log has a rewind before the mark of its files is removed: a process that is killed in
// between must find one of them.
func TestRecoveredRewindIsStoredBeforeItsMarkIsRemoved(t *testing.T) {
	w := connect(t, filepath.Join(t.TempDir(), "zeph.db"), "", `{}`)
	id := w.open(t.TempDir())
	w.prompt(id, "/status")
	want := transcript.Rewound{ID: "r", MessageID: "m", Turn: 1, Mode: transcript.RewindFiles}
	mark, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	sess, _ := w.all.find(id)
	completed := false
	sess.tools = toolsWithFiles{files: killedFiles{mark: mark, complete: func() {
		completed = true
		_, events, _, err := w.all.Stored(t.Context(), id)
		if err != nil || !slices.Contains(events, transcript.Event(want)) {
			t.Errorf("stored %v, %v, want %v in it", events, err, want)
		}
	}}}
	sess.recovered = false
	sess.recoverFiles(t.Context())
	if !completed {
		t.Error("the rewind was not completed")
	}
}
