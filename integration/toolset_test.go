package integration

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/integration/fakeide"
	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// TestToolsOfATurn lets the model think inside its calls. Its provider has no embeddings, so
// the filter leaves nothing out.
// Over ten model calls the tools are the same bytes, and the thoughts are in no
// frame, no request and no file of the agent.
func TestToolsOfATurn(t *testing.T) {
	const thought = "ONLY-A-THOUGHT"
	var script []fakemodel.Reply
	for i := range 9 {
		input := map[string]any{"_tafc_think": thought, "path": fmt.Sprintf("f%d.txt", i), "_tafc_think_more": []any{thought}}
		script = append(script, fakemodel.Answer(fakemodel.Call(fmt.Sprintf("toolu_%d", i), "read", input)))
	}
	p := fakemodel.NewAnthropic(t, append(script, fakemodel.Answer(fakemodel.Say("Read.")))...)
	e := (&ide{caps: fakeide.CanAll()}).begin(t, start{env: p.Env(), config: `
[log]
level = "debug"
file = "debug.log"
[agent.tool_filter]
enabled = true
top_k = 2
[tools.tafc]
enabled = true
complexity_threshold = 0
`})
	e.exitChecked = true // debug lines on stderr
	for i := range 9 {
		e.file(fmt.Sprintf("f%d.txt", i), fmt.Sprintf("line %d\n", i))
	}
	s := e.session()
	e.prompt(s, "please delete the directory build")
	first := p.ToolBytes(0)
	if all := strings.Join(first, "\n"); !strings.Contains(all, `"delete_path"`) || !strings.Contains(all, `"web_scrape"`) || strings.Count(all,
		`"_tafc_think":`) != len(first) {
		t.Errorf("the model is offered %s", all)
	}
	for i := range p.Requests() {
		if got := p.ToolBytes(i); !slices.Equal(got, first) {
			t.Errorf("request %d has other tools:\n%s", i, got)
		}
	}
	if n := len(p.Requests()); n != 10 {
		t.Errorf("%d requests", n)
	}
	if last := p.Requests()[9]; !strings.Contains(last, "line 8") {
		t.Errorf("the calls did not run:\n%s", last)
	}

	// A call with only thoughts is skipped.
	p.Then(
		fakemodel.Answer(fakemodel.Call("toolu_a", "read", map[string]any{"_tafc_think": thought}),
			fakemodel.Call("toolu_b", "list_directory", map[string]any{"_tafc_think": thought, "path": "."}),
			fakemodel.Call("toolu_c", "read", `{"_tafc_think": "`+thought+"\n"+thought+`", "path": "f1.txt"}`)),
		fakemodel.Answer(fakemodel.Call("toolu_d", "diagnostics", map[string]any{"path": "f1.txt", "_tafc_think": thought})),
		fakemodel.Answer(fakemodel.Say("Done.")))
	e.prompt(s, "please remove the folder build too")
	second := p.Requests()[11]
	for _, want := range []string{"This call contained only thoughts", "[file] f1.txt", "line 1"} {
		if !strings.Contains(second, want) {
			t.Errorf("the model did not get %q:\n%s", want, second)
		}
	}
	if log := auditLog(t, e.home); strings.Contains(log, `"input":{}`) || strings.Count(log, `"tool":"read"`) != 10 {
		t.Errorf("the skipped call is on record, or another is not:\n%s", log)
	}
	if got := p.ToolBytes(10); !slices.Equal(got, first) {
		t.Errorf("a prompt that needs the same tools has others:\n%s", got)
	}
	if got := p.ToolBytes(12); !slices.Equal(got, first) {
		t.Errorf("after the call of diagnostics:\n%s", got)
	}

	for _, body := range p.Requests() {
		if strings.Contains(body, thought) {
			t.Errorf("the model gets its thought back:\n%s", body)
		}
	}
	for _, f := range e.agentFrames() {
		if strings.Contains(f.line, thought) {
			t.Errorf("a frame shows the thought: %s", f.line)
		}
	}
	e.prompt(s, "/status")
	if text := e.Text(s); !strings.Contains(text, "Filter: top_k=2, always_on=17, embeddings=0") || !strings.Contains(text, "(Unfiltered: ") {
		t.Errorf("/status says %s", text)
	}
	files := 0
	err := filepath.WalkDir(e.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte(thought)) {
			t.Errorf("%s has the thought", path)
		}
		return err
	})
	if err != nil || files < 12 {
		t.Errorf("%d files, %v", files, err)
	}
	if strings.Contains(e.stderr.String(), thought) {
		t.Error("stderr has the thought")
	}
}

// TestDependencies makes a tool wait for another. It is hidden and refused without
// an effect, offered after the other has completed, and hidden again after /clear.
func TestDependencies(t *testing.T) {
	p := fakemodel.NewAnthropic(t,
		fakemodel.Answer(fakemodel.Call("toolu_1", "write", map[string]any{"path": "new.txt", "content": "new\n"})),
		fakemodel.Answer(fakemodel.Call("toolu_2", "read", map[string]any{"path": "a.txt"})),
		fakemodel.Answer(fakemodel.Call("toolu_3", "write", map[string]any{"path": "new.txt", "content": "new\n"})),
		fakemodel.Answer(fakemodel.Say("Written.")))
	config := `
[tools.dependencies]
enabled = true
[tools.dependencies.rules.write]
requires = ["read"]
[tools.dependencies.rules.find_path]
requires = ["list_directory"]
[tools.dependencies.rules.list_directory]
requires = ["find_path"]
`
	root := home(t)
	e := (&ide{caps: fakeide.CanAll()}).begin(t, start{env: p.Env(), config: config, root: root})
	e.file("a.txt", "a\n")
	s := e.session()
	e.prompt(s, "go on")
	has := func(n int, tool string) bool {
		return slices.ContainsFunc(p.ToolBytes(n), func(s string) bool { return strings.Contains(s, `"name":"`+tool+`"`) })
	}
	if has(0, "write") || has(1, "write") || !has(2, "write") || !has(0, "find_path") {
		t.Errorf("write is offered in request 0: %v, 1: %v, 2: %v; find_path: %v", has(0, "write"), has(1, "write"), has(2, "write"), has(0, "find_path"))
	}
	if before, after := p.ToolBytes(1), p.ToolBytes(2); !slices.Equal(after[:len(before)], before) || len(after) != len(before)+1 {
		t.Errorf("write does not come after the others:\n%s", after)
	}
	if body := p.Requests()[1]; !strings.Contains(body, "write is not available yet: these tools must complete first: read") {
		t.Errorf("the model got %s", body)
	}
	if text := e.Text(s); !strings.Contains(text, "find_path, list_directory require each other in a cycle") {
		t.Errorf("no warning of the circle: %s", text)
	}
	p.Then(fakemodel.Answer(fakemodel.Say("Yes.")), fakemodel.Answer(fakemodel.Say("No.")))
	e.prompt(s, "and again")
	if !has(4, "write") {
		t.Error("write is hidden again in the next turn")
	}
	e.prompt(s, "/clear")
	e.prompt(s, "and now")
	if has(5, "write") {
		t.Error("write is offered after /clear")
	}
}
