package session

import (
	"path/filepath"
	"testing"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// A client's key finds its message in another process too, and no longer once a rewind has removed the
// message.
// Statements 268, 276, 283.
func TestKeysAreStored(t *testing.T) {
	path, dir := filepath.Join(t.TempDir(), "zeph.db"), t.TempDir()
	w := connect(t, path, `{"text":"a"}`+"\n\n"+`{"text":"b"}`, `{}`)
	id := w.open(dir)
	inserted := ""
	run := func(w *wire, text, key string) {
		t.Helper()
		sess, err := w.all.Find(id)
		if err != nil {
			t.Fatal(err)
		}
		p := acp.Prompt{Content: []acp.ContentBlock{acp.TextBlock(text)}, Key: key, Inserted: func(message string, joined bool) {
			if got, ok := sess.MessageID(key); key != "" && (!ok || got != message || joined) {
				t.Errorf("at the insertion of %q the key finds %q", message, got)
			}
			inserted = message
		}}
		turn := sess.Begin(t.Context(), p)
		defer turn.End()
		if _, err := turn.Run(p); err != nil {
			t.Fatal(err)
		}
	}
	run(w, "first", "K")
	first := inserted
	run(w, "second", "L")

	other := connect(t, path, `{"text":"b"}`, `{}`)
	other.want("load", other.call("session/load", `{"sessionId":"`+id+`","cwd":"`+dir+`","mcpServers":[]}`), "configOptions")
	sess, err := other.all.Find(id)
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := sess.MessageID("K"); !ok || got != first {
		t.Errorf("in another process K finds %q, %v; want %q", got, ok, first)
	}
	if _, ok := sess.MessageID("k"); ok {
		t.Error("keys ignore their case")
	}
	mine := sess.(*Session)
	rewound, err := mine.planRewind(t.Context(), func(of transcript.Turn) bool { return of.MessageID == inserted }, "conversation")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mine.carryOut(t.Context(), rewound, false); err != nil {
		t.Fatal(err)
	}
	if _, ok := sess.MessageID("L"); ok {
		t.Error("after the rewind, L still finds its message")
	}
	if got, _ := sess.MessageID("K"); got != first {
		t.Errorf("after the rewind of the second prompt, K finds %q", got)
	}
}
