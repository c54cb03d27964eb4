package integration

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue"
)

// questionTitles are calls and the beginnings of the titles of questions about them.
var questionTitles = []struct{ tool, input, title, answer string }{
	{"bash", `{"command":"go test ./..."}`, "Run `go test ./...` in ", ""},
	{"read", `{"path":"README.md"}`, "Read README.md", ""},
	{"write", `{"path":"main_test.go","content":"x"}`, "Write main_test.go (+1 −0)", ""},
	{"edit", `{"path":"README.md","old_string":"a","new_string":"b"}`, "Edit README.md (+1 −1)", ""},
	{"edit_notebook", `{"path":"a.ipynb","cell":"#1","source":"x = 2"}`, "Edit a.ipynb (+1 −1)", ""},
	{"find_path", `{"pattern":"*.md"}`, "Find *.md", ""},
	{"list_directory", `{"path":"docs"}`, "List docs/", ""},
	{"create_directory", `{"path":"new"}`, "Create new directory new", ""},
	{"delete_path", `{"path":"docs"}`, "Delete docs and everything in it (2 files, 2 bytes)", ""},
	{"move_path", `{"source":"README.md","destination":"docs/c"}`, "Move README.md → docs/c", ""},
	{"copy_path", `{"source":"README.md","destination":"docs/c"}`, "Copy README.md → docs/c", ""},
	{"grep", `{"pattern":"x"}`, "Search for x", ""},
	{"search_code", `{"query":"main"}`, "Search for main", ""},
	{"fetch", `{"url":"https://docs.example.org"}`, "Fetch docs.example.org", ""},
	{"web_scrape", `{"url":"https://docs.example.org","select":"p"}`, "Fetch docs.example.org", ""},
	{"web_search", `{"query":"range over func"}`, "Search the web for “range over func” with SearXNG", ""},
	{"diagnostics", `{}`, "Run `go build -o /dev/null ./...; go vet -json ./...`", ""},
	{"memory_save", `{"content":"Likes tea."}`, "Save to memory: Likes tea.", "allow_once"},
	{"memory_search", `{"query":"tea"}`, "Search the memory for `tea`", ""},
	{"schedule_periodic", `{"name":"n","cron":"0 0 5 * * *","task":"look"}`, "Schedule n", "allow_once"},
	{"cancel_task", `{"name":"n"}`, "Remove the scheduled task n", ""},
}

// unasked are tools without a question: they only reach what the session has, or ask by themselves.
var unasked = strings.Fields("bash_output bash_stop read_overflow update_plan compress_context ask_user sub_agent load_skill invoke_skill " +
	"schedule_deferred list_tasks exit_plan")

// TestQuestionTitles asks about each tool in a client that shows nothing but the title and the options of a question. A
// person can tell what will happen. Afterwards the call has its own title again.
func TestQuestionTitles(t *testing.T) {
	var config strings.Builder
	config.WriteString("[tools.web_search]\nbackend = \"searxng\"\nurl = \"http://127.0.0.1:1\"\n")
	for _, tt := range questionTitles {
		config.WriteString("[[tools.permissions." + tt.tool + "]]\npattern = \"*\"\naction = \"ask\"\n")
	}
	for _, tool := range catalogue.Tools() {
		if !strings.Contains(config.String(), "."+tool.Name+"]]") && !slices.Contains(unasked, tool.Name) {
			t.Errorf("no title for %s", tool.Name)
		}
	}
	a := launch(t, start{config: config.String()})
	a.request(`"init"`, "initialize", `{"protocolVersion":1,"clientInfo":{"name":"plain","version":"1"},"clientCapabilities":{}}`)
	a.answer(`"init"`)
	for name, text := range map[string]string{"README.md": "a", "docs/a": "1", "docs/b": "2", "go.mod": "module m\n\ngo 1.26\n", "m.go": "package m\n",
		"a.ipynb": `{"cells":[{"cell_type":"code","execution_count":null,"metadata":{},"outputs":[],"source":["x = 1"]}],` +
			`"metadata":{},"nbformat":4,"nbformat_minor":4}`} {
		path := filepath.Join(a.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s := a.open()
	for _, tt := range questionTitles {
		a.request(quote(tt.tool), "session/prompt", promptParams(s, "/"+tt.tool+" "+tt.input))
		q := a.await("the question about "+tt.tool, func(f frame) bool {
			return f.Method == "session/request_permission" && strings.Contains(f.line, `"name":`+quote(tt.tool))
		})
		var p struct {
			ToolCall struct{ ToolCallID, Title string }
			Options  []struct{ Name string }
		}
		if err := json.Unmarshal(q.Params, &p); err != nil {
			t.Fatal(err)
		}
		shown := p.ToolCall.Title
		for _, o := range p.Options {
			shown += "\n- " + o.Name
		}
		if !strings.HasPrefix(p.ToolCall.Title, tt.title) || len(p.Options) < 2 {
			t.Errorf("%s asks\n%s\nwant the title %q", tt.tool, shown, tt.title)
		}
		a.choose(q, cmp.Or(tt.answer, "reject_once"))
		a.ends(quote(tt.tool))
		own := ""
		for _, f := range a.agentFrames() {
			if u, ok := f.update(); ok && u.ToolCallID == p.ToolCall.ToolCallID && u.Title != "" {
				own = u.Title
			}
		}
		if own == "" || strings.HasPrefix(own, "Delete ") || strings.HasPrefix(own, "Run ") {
			t.Errorf("%s ends with the title %q", tt.tool, own)
		}
	}
}
