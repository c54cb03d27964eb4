package wire

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// IDs rewrites the IDs of the calls of a conversation into the form that an API accepts. They have
// only allowed characters, and no two are equal. The IDs of another provider's calls may satisfy
// neither.
type IDs struct {
	MaxLen int  // characters; 0 means 128
	AsIs   bool // keep any characters and any length: some models read them
	Short  bool // nine letters and digits, as Mistral requires

	used    map[string]bool     // all IDs written so far
	pending map[string][]string // ID of a call of the last answer -> the IDs written for it whose results are missing
}

// StartAnswer begins an assistant message.
func (w *IDs) StartAnswer() { w.pending = map[string][]string{} }

// Call returns the ID to send for a call.
func (w *IDs) Call(id string) string {
	if w.used == nil {
		w.used = map[string]bool{}
	}
	wire := w.write(id, "")
	for n := 2; w.used[wire]; n++ {
		wire = w.write(id, fmt.Sprintf("_%d", n))
	}
	w.used[wire] = true
	w.pending[id] = append(w.pending[id], wire)
	return wire
}

// write returns the ID with an ending that makes it unique.
func (w *IDs) write(id, end string) string {
	switch maxLen := cmp.Or(w.MaxLen, 128); {
	case w.Short:
		sum := sha256.Sum256([]byte(id + end))
		return hex.EncodeToString(sum[:])[:9]
	case w.AsIs && id != "":
		return id + end
	default:
		return shorten(llm.SafeName(id), maxLen-len(end)) + end
	}
}

// Result returns the ID of the call that a result answers. llm.Repair ensures that
// there is one.
func (w *IDs) Result(id string) string {
	if open := w.pending[id]; len(open) > 0 {
		w.pending[id] = open[1:]
		return open[0]
	}
	return llm.SafeName(id)
}
