package wire

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// wireIDs gives the calls of a conversation IDs that the API takes: of few
// characters, and never the same twice, which other providers do not promise.
type IDs struct {
	used   map[string]bool
	MaxLen int                 // characters; 0 means 128
	AsIs   bool                // any characters, of any number: some models read them
	Short  bool                // nine letters and digits, which is what Mistral takes
	open   map[string][]string // IDs of the last answer's calls -> those written
}

// answer begins an assistant message.
func (w *IDs) StartAnswer() { w.open = map[string][]string{} }

func (w *IDs) Call(id string) string {
	if w.used == nil {
		w.used = map[string]bool{}
	}
	wire := w.write(id, "")
	for n := 2; w.used[wire]; n++ {
		wire = w.write(id, fmt.Sprintf("_%d", n))
	}
	w.used[wire] = true
	w.open[id] = append(w.open[id], wire)
	return wire
}

// write gives an ID that ends so that it differs from others.
func (w *IDs) write(id, end string) string {
	switch most := cmp.Or(w.MaxLen, 128); {
	case w.Short:
		sum := sha256.Sum256([]byte(id + end))
		return hex.EncodeToString(sum[:])[:9]
	case w.AsIs && id != "":
		return id + end
	default:
		return shorten(llm.SafeName(id), most-len(end)) + end
	}
}

// result gives the ID of the call that it answers; Repair made sure of one.
func (w *IDs) Result(id string) string {
	if open := w.open[id]; len(open) > 0 {
		w.open[id] = open[1:]
		return open[0]
	}
	return llm.SafeName(id)
}
