package agent

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// A compaction keeps the files that were changed, across digests, each once and the latest last.
func TestChangedFilesStay(t *testing.T) {
	c := &client{}
	a, _ := compacting(t, &fakeModel{window: 100_000, output: 100}, c)
	a.Chain = fileTools{a.Chain}
	var history []llm.Message
	call := func(tool, input string) {
		one := llm.ToolCall{ID: fmt.Sprint("c", len(history)), Name: tool, Input: json.RawMessage(input)}
		history = append(history, llm.Message{Role: llm.Assistant, Blocks: []llm.Block{{Call: &one}}},
			llm.Message{Role: llm.User, Blocks: []llm.Block{{Result: &llm.ToolResult{ID: one.ID, Text: "ok"}}}})
	}
	compact := func(want ...string) {
		t.Helper()
		history = append(history, llm.Message{Role: llm.User, Blocks: []llm.Block{{Text: "on"}}})
		var err error
		if history, err = a.Compact(t.Context(), history, ""); err != nil {
			t.Fatal(err)
		}
		d, _ := transcript.ReadDigest(history)
		if diff := cmp.Diff(want, d.Files); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
	history = append(history, llm.Message{Role: llm.User, Blocks: []llm.Block{{Text: "begin"}}})
	call("change", `{"path":"a.go"}`)
	call("look", `{"path":"read.go"}`)
	call("change", `{"path":"b\nc.go"}`)
	call("change", `{"path":5}`)
	call("change", `broken`)
	compact("a.go", "b c.go")
	call("change", `{"path":"a.go"}`)
	compact("b c.go", "a.go")
	for i := range 2 * maxChangedFiles {
		call("change", fmt.Sprintf(`{"path":"%d.go"}`, i))
	}
	var last []string
	for i := range maxChangedFiles {
		last = append(last, fmt.Sprintf("%d.go", maxChangedFiles+i))
	}
	compact(last...)
}

// fileTools also has a tool that reads a file and one that changes it.
type fileTools struct{ executors.Executor }

func (f fileTools) Tools() []executors.Tool {
	return append(f.Executor.Tools(),
		executors.Tool{Name: "look", Effect: executors.Reads, Subject: executors.Path("path")},
		executors.Tool{Name: "change", Effect: executors.Mutates, Subject: executors.Path("path")})
}
