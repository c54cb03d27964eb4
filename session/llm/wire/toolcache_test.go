package wire

import (
	"reflect"
	"testing"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

func TestToolCache(t *testing.T) {
	var last ToolCache[ToolNames]
	made := 0
	newNames := func(tools []llm.Tool) ToolNames { made++; return NewToolNames(tools) }
	for i, step := range []struct {
		key   string
		names []string
		made  int // so far
	}{
		{"", []string{"read"}, 1},
		{"", []string{"read"}, 1},
		{"", []string{"read", "a.b"}, 2},
		{"", []string{"a.b", "read"}, 3},
		{"", []string{"a.b", "a_b"}, 4},
		{"other", []string{"a.b", "a_b"}, 5},
		{"other", nil, 6},
	} {
		var tools []llm.Tool
		for _, name := range step.names {
			tools = append(tools, llm.Tool{Name: name})
		}
		got := last.Get(step.key, tools, newNames)
		if want := NewToolNames(tools); !reflect.DeepEqual(got, want) || made != step.made {
			t.Errorf("step %d: %v, made %d times, want %v and %d", i, got, made, want, step.made)
		}
	}
}
