package wire

import (
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

func TestWireNames(t *testing.T) {
	long := strings.Repeat("x", 70)
	n := NewToolNames([]llm.Tool{{Name: "read"}, {Name: long + "1"}, {Name: long + "2"}, {Name: "a.b"}, {Name: "a_b"}})
	seen := map[string]bool{}
	for _, name := range []string{"read", long + "1", long + "2", "a.b", "a_b"} {
		wire := n.ToWire(name)
		if seen[wire] || len(wire) > 64 || llm.SafeName(wire) != wire || n.FromWire(wire) != name {
			t.Errorf("%s became %s, and %s again", name, wire, n.FromWire(wire))
		}
		seen[wire] = true
	}
	if got := n.ToWire("gone." + long); len(got) != 64 {
		t.Errorf("a tool that is not offered: %s", got)
	}
}
