package integration

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/zeph-acp/zeph-acp/integration/fakeide"
	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// pagedOrKept matches the hint in a shortened result: the next page, or a reference
// to the whole text.
var pagedOrKept = regexp.MustCompile(`continue with offset \d+|narrow the pattern|find_path with a pattern shows others|read_overflow overflow:`)

// TestShortenedResults lets each tool return a long result. Each shortened result
// has a next page or a reference.
func TestShortenedResults(t *testing.T) {
	long := map[string][]modelCall{
		"read":           {{tool: "read", input: map[string]any{"path": "lines"}}, {tool: "read", input: map[string]any{"path": "line"}}},
		"grep":           {{tool: "grep", input: map[string]any{"pattern": "line"}}},
		"find_path":      {{tool: "find_path", input: map[string]any{"pattern": "many/*"}}},
		"list_directory": {{tool: "list_directory", input: map[string]any{"path": "many"}}},
		"bash":           {{tool: "bash", input: map[string]any{"command": "cat lines"}}},
	}
	// Tested in their packages, where network and compilers can be replaced.
	elsewhere := []string{"fetch", "web_scrape", "web_search", "diagnostics", "read_overflow"}
	// Their results have a constant size.
	short := []string{"write", "edit", "edit_notebook", "create_directory", "delete_path", "move_path", "copy_path", "bash_stop",
		"update_plan", "compress_context",
		"memory_save", "exit_plan", "schedule_periodic", "schedule_deferred", "cancel_task"}
	// Like bash, or like a text of any length.
	same := []string{"bash_output", "load_skill", "invoke_skill", "sub_agent", "search_code", "memory_search", "list_tasks", "ask_user"}

	known := map[string]bool{}
	for _, names := range [][]string{elsewhere, short, same} {
		for _, name := range names {
			known[name] = true
		}
	}
	out, err := exec.Command(binary, "tools", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var tools []struct{ Name string }
	if err := json.Unmarshal(out, &tools); err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		if !known[tool.Name] && long[tool.Name] == nil {
			t.Errorf("%s: no case has a long result", tool.Name)
		}
	}

	var calls []fakemodel.Reply
	for _, tool := range tools {
		for i, c := range long[tool.Name] {
			calls = append(calls, fakemodel.Answer(fakemodel.Call(fmt.Sprint(tool.Name, i), c.tool, c.input)))
		}
	}
	p := fakemodel.NewAnthropic(t, append(calls, fakemodel.Answer(fakemodel.Say("Done.")))...)
	e := (&ide{}).begin(t, start{env: p.Env()})
	e.file("lines", strings.Repeat("a line of some length, so that few of them are enough\n", 5000))
	e.file("line", strings.Repeat("x", 10_000))
	for i := range 1200 {
		e.file(fmt.Sprintf("many/%d", i), "")
	}
	s := e.session()
	e.prompt(s, "look")
	results := e.Results(s)
	if len(results) != len(calls) {
		t.Fatalf("%d results of %d calls", len(results), len(calls))
	}
	for _, r := range results {
		if text := fakeide.ShownText(r.Content); !pagedOrKept.MatchString(text) {
			t.Errorf("neither a next page nor a reference: …%s", text[max(0, len(text)-300):])
		}
	}
}

// TestHugeOutput runs a command that writes 10 MiB, on this machine and
// in the client's terminal. The frames stay small, the end is kept, and the turn
// goes on.
//
// Statement 112.
func TestHugeOutput(t *testing.T) {
	for name, caps := range map[string]sdk.ClientCapabilities{
		"local": {}, "terminal": fakeide.CanAll(), "streamed": {Meta: map[string]any{"terminal_output": true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fakemodel.NewAnthropic(t,
				fakemodel.Answer(fakemodel.Call("c1", "bash", map[string]any{"command": `head -c 10485760 /dev/zero | tr "\0" "☃" ; echo; echo THE END`})),
				fakemodel.Answer(fakemodel.Say("Done.")))
			e := (&ide{caps: caps}).begin(t, start{env: p.Env()})
			s := e.session()
			e.prompt(s, "run")
			if r := e.Results(s)[0]; *r.Status != sdk.ToolCallStatusCompleted || !strings.Contains(fakeide.ShownText(r.Content), "THE END") {
				t.Errorf("ended %s: %.300s", *r.Status, fakeide.ShownText(r.Content))
			}
			for _, f := range e.agentFrames() {
				if len(f.line) > 1<<20 {
					t.Errorf("a frame of %d bytes: %.200s", len(f.line), f.line)
				}
			}
			if n := len(p.Requests()[1]); n > 2<<20 {
				t.Errorf("the model gets %d bytes", n)
			}
		})
	}
}

// TestBigDiff rewrites a file of 3 MiB. The frames stay small.
func TestBigDiff(t *testing.T) {
	p := fakemodel.NewAnthropic(t,
		fakemodel.Answer(fakemodel.Call("c1", "edit", map[string]any{"path": "big.txt", "old_string": "needle", "new_string": "pin"})),
		fakemodel.Answer(fakemodel.Say("Done.")))
	e := (&ide{}).begin(t, start{env: p.Env()})
	hay := strings.Repeat("hay and more hay\n", 100_000)
	e.file("big.txt", hay+"needle\n"+hay)
	s := e.session()
	e.prompt(s, "edit")
	if got := e.content("big.txt"); got != hay+"pin\n"+hay {
		t.Errorf("the file holds %d bytes", len(got))
	}
	for _, f := range e.agentFrames() {
		if len(f.line) > 1<<20 {
			t.Errorf("a frame of %d bytes: %.200s", len(f.line), f.line)
		}
	}
}
