package integration

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/integration/fakeide"
	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// pagedOrKept is in each result that a tool has shortened: how to go on, or a
// reference to all of it.
var pagedOrKept = regexp.MustCompile(`go on with offset \d+|narrow the pattern|find_path with a pattern shows others|read_overflow overflow:`)

// TestShortenedResults has each tool make a result that is too long. Whatever it
// shortens is paged, or has a reference.
func TestShortenedResults(t *testing.T) {
	long := map[string][]modelCall{
		"read":           {{tool: "read", input: map[string]any{"path": "lines"}}, {tool: "read", input: map[string]any{"path": "line"}}},
		"grep":           {{tool: "grep", input: map[string]any{"pattern": "line"}}},
		"find_path":      {{tool: "find_path", input: map[string]any{"pattern": "many/*"}}},
		"list_directory": {{tool: "list_directory", input: map[string]any{"path": "many"}}},
		"bash":           {{tool: "bash", input: map[string]any{"command": "cat lines"}}},
	}
	// Proved in their packages, which can replace the network and the compilers.
	elsewhere := []string{"fetch", "web_scrape", "diagnostics", "read_overflow"}
	// What they return does not grow with what they work on.
	short := []string{"write", "edit", "create_directory", "delete_path", "move_path", "copy_path", "bash_stop", "update_plan", "compress_context"}
	// As bash, or as a text of any length.
	same := []string{"bash_output", "load_skill"}

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
			t.Errorf("%s: nothing shows what becomes of a long result", tool.Name)
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
			t.Errorf("neither paged nor kept: …%s", text[max(0, len(text)-300):])
		}
	}
}
