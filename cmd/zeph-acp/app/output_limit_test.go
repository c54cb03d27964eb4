package app

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue/cataloguetest"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/ideproxy"
	"github.com/zeph-acp/zeph-acp/session"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/local"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// outputLimits are the limits with which the tests below run: small, the default, and large.
var outputLimits = map[string]int{"max_output_chars = 2000": 2000, "": 50_000, "max_output_chars = 80000": 80_000}

// limitedSession is a session in a directory, whose calls are all allowed.
type limitedSession struct {
	*sessionFeatures
	app *App
}

// chainOf puts the chain of the session around tools.
func (s limitedSession) chainOf(tools executors.Executor) executors.Executor {
	return s.app.chain(s.list, tools)
}

// tools returns the tools of the session.
func (s limitedSession) tools() *executors.DynExecutor {
	return executors.NewDynExecutor(toolsOf(s.list)...)
}

func newLimitedSession(t *testing.T, dir, limit string) limitedSession {
	t.Helper()
	text := "[tools]\n" + limit + "\n[tools.file]\nmax_read_lines = 1000000\nmax_entries = 1000000\nmax_results = 1000000\nmax_matches = 1000000\n" +
		"[[tools.permissions.\"*\"]]\npattern = \"*\"\naction = \"allow\"\n"
	l, err := config.Load(config.Options{File: write(t, t.TempDir(), "config.toml", text), Environ: []string{"HOME=" + t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	a := New(l, slog.New(slog.DiscardHandler))
	a.checking, a.Audit, a.Store = &assumedTools{}, nil, nil
	b, _, err := a.newSessionBuilder(session.Host{
		ID: "s", Client: &acp.Client{}, CWD: dir, Mode: func() string { return "auto" },
		Warn: func(string) {}, Withdraw: func(string) {}, Record: func(...transcript.Event) {}, Stored: func(context.Context) {},
		State: func(string) json.RawMessage { return nil }, Spend: func(llm.Model, llm.Usage) *acp.Cost { return nil },
		Model: func() llm.Model { return local.Direct{} },
	})
	if err != nil {
		t.Fatal(err)
	}
	s := b.features(&ideproxy.Terminals{})
	t.Cleanup(s.Close)
	a.checking = nil
	return limitedSession{s, a}
}

// callIn makes a call of the session s.
func callIn(t *testing.T, chain executors.Executor, tool, input string) executors.Result {
	t.Helper()
	call := &executors.Call{
		ID: "c", Tool: tool, Input: json.RawMessage(input), Session: "s", Caller: "s", Attempt: 1,
		Record: &executors.Record{}, Notify: func(executors.Event) {},
	}
	call.Card, call.PrepareErr = chain.Prepare(t.Context(), call)
	res, err := chain.Execute(t.Context(), call)
	if err != nil {
		t.Fatalf("%s %s: %v", tool, input, err)
	}
	return res
}

// keptLine matches the reference to the full text, which the limit does not count.
var keptLine = regexp.MustCompile(`\n?\[full output: [^\n]*\]$`)

// checkLimit checks the length of a result for models and for people, and that its reference leads to
// the rest.
func checkLimit(t *testing.T, s limitedSession, name string, res executors.Result, limit, least int) {
	t.Helper()
	text := keptLine.ReplaceAllString(res.ForModel(), "")
	if n := utf8.RuneCountInString(text); n > limit || n < least {
		t.Errorf("%s: the model gets %d characters, want from %d to %d: %.200q … %q", name, n, least, limit, text, text[max(0, len(text)-200):])
	}
	if n := utf8.RuneCountInString(keptLine.ReplaceAllString(res.ForPeople(), "")); n > limit {
		t.Errorf("%s: people get %d characters, want %d at most", name, n, limit)
	}
	reference := regexp.MustCompile(`overflow:[0-9a-f-]{36}`).FindString(res.ForModel())
	if cut := text != res.ForModel(); cut != (reference != "") {
		t.Errorf("%s: got the reference %q: %q", name, reference, text[max(0, len(text)-300):])
	}
	if reference != "" {
		in, _ := json.Marshal(map[string]string{"id": reference})
		rest := callIn(t, executors.Chain(find(s.list, "overflow").Tools), "read_overflow", string(in))
		if n := utf8.RuneCountInString(rest.ForModel()); rest.Failed || n > limit || n < min(limit, 1000)/2 {
			t.Errorf("%s: read_overflow returns %d characters, want %d at most: %.200s", name, n, limit, rest.ForModel())
		}
	}
}

// longTools have the description of every tool. Their results are the given one.
type longTools struct {
	tools  []executors.Tool
	result func() executors.Result
}

func (l longTools) Tools() []executors.Tool { return l.tools }

func (l longTools) Prepare(_ context.Context, call *executors.Call) (executors.Card, error) {
	return executors.Card{Title: call.Tool}, nil
}

func (l longTools) Execute(context.Context, *executors.Call) (executors.Result, error) {
	return l.result(), nil
}

// TestOutputLimitOfEveryTool checks that one limit holds for the text of every tool, whatever the tool
// returns, and that a text has as much as the limit allows.
func TestOutputLimitOfEveryTool(t *testing.T) {
	if testing.Short() {
		t.Skip("-short is for the race detector, and this test has a thousand texts on one goroutine: run it without -short")
	}
	for config, limit := range outputLimits {
		s := newLimitedSession(t, t.TempDir(), config)
		results := longResults(limit * 5 / 4)
		tools := s.tools().Tools()
		for _, tool := range append(cataloguetest.Known(), executors.Tool{Name: "srv__tool", Server: "srv", Schema: json.RawMessage(`{"type":"object"}`)}) {
			if _, ok := executors.Find(tools, tool.Name); !ok {
				tool.MaxOutput = 0
				tools = append(tools, tool)
			}
		}
		for name, result := range results {
			chain := s.chainOf(longTools{tools, result})
			for _, tool := range tools {
				name := fmt.Sprintf("%s, %d: %s", tool.Name, limit, name)
				res := callIn(t, chain, tool.Name, sampleInput(t, tool))
				if res.Denied() || res.Category() == executors.InvalidParameters {
					t.Fatalf("%s: the call did not reach the tool: %.500s", name, res.ForModel())
				}
				if tool.Name == "read_overflow" { // its own text is not stored again
					if n := utf8.RuneCountInString(res.ForModel()); n > limit || n < limit*2/3 {
						t.Errorf("%s: got %d characters, want %d at most", name, n, limit)
					}
					continue
				}
				checkLimit(t, s, name, res, limit, limit*2/3)
			}
		}
	}
}

// longResults are results of at least so many characters.
func longResults(chars int) map[string]func() executors.Result {
	var lines strings.Builder
	for i := 0; lines.Len() < chars; i++ {
		fmt.Fprintf(&lines, "line %d\n", i)
	}
	text := lines.String()
	return map[string]func() executors.Result{
		"text":     func() executors.Result { return executors.Result{Text: text} },
		"one line": func() executors.Result { return executors.Result{Text: strings.Repeat("é", chars)} },
		"output of a command": func() executors.Result {
			long, _ := executors.NewSpool(text)
			return executors.Result{Long: long, Failed: true, Notes: []string{"[exit 1]"}, Output: &executors.Output{}}
		},
		"failure": func() executors.Result {
			res := executors.Failuref(executors.PermanentFailure, "%s", strings.Repeat("no ", 3000)).Hint("%s", strings.Repeat("try ", 3000)).Result()
			res.Text = text
			return res
		},
		"notes": func() executors.Result {
			return executors.Result{Text: text, Notes: slices.Repeat([]string{strings.Repeat("note ", 100)}, 1000)}
		},
		"a part of the text": func() executors.Result {
			full, _ := executors.NewSpool(text + text)
			return executors.Result{Text: text, Full: full}
		},
	}
}

// sampleInput returns an input that fits the schema of a tool.
func sampleInput(t *testing.T, tool executors.Tool) string {
	var schema struct {
		Required   []string
		Properties map[string]struct {
			Type any
			Enum []any
		}
	}
	if err := json.Unmarshal(tool.Schema, &schema); err != nil {
		t.Fatalf("%s: %v", tool.Name, err)
	}
	input := map[string]any{}
	for _, name := range schema.Required {
		p := schema.Properties[name]
		switch kind := fmt.Sprint(p.Type); {
		case len(p.Enum) > 0:
			input[name] = p.Enum[0]
		case strings.Contains(kind, "array"):
			input[name] = []any{}
		case strings.Contains(kind, "integer"):
			input[name] = 1
		case strings.Contains(kind, "boolean"):
			input[name] = true
		default:
			input[name] = "x"
		}
	}
	out, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestOutputLimitOfRealTools checks the limit with tools whose own output is long.
func TestOutputLimitOfRealTools(t *testing.T) {
	dir := t.TempDir()
	var lines strings.Builder
	for i := range 40_000 {
		fmt.Fprintf(&lines, "func hit%d() {}\n", i)
	}
	write(t, dir, "long.go", lines.String())
	write(t, dir, "line.txt", strings.Repeat("word ", 100_000))
	names := filepath.Join(dir, "names")
	for i := range 3000 {
		write(t, names, fmt.Sprintf("%04d%s", i, strings.Repeat("n", 90)), "")
	}
	for config, limit := range outputLimits {
		s := newLimitedSession(t, dir, config)
		chain := s.chainOf(s.tools())
		for _, tt := range []struct {
			tool, input string
			short       bool // the text of the tool is shorter than the largest limit
		}{
			{"read", `{"path":"long.go"}`, false},
			{"read", `{"path":"line.txt"}`, true},
			{"read", `{"path":"` + strings.Repeat("missing", 2000) + `"}`, true},
			{"list_directory", `{"path":"names"}`, false},
			{"find_path", `{"pattern":"names/*"}`, false},
			{"grep", `{"pattern":"hit"}`, false},
			{"grep", `{"pattern":"hit","context":3,"path":"long.go"}`, false},
			{"search_code", `{"query":"hit1","max_results":50}`, true},
			{"edit", `{"path":"long.go","old_string":"` + strings.Repeat("no such text ", 2000) + `","new_string":"x"}`, true},
			{"write", `{"path":"names","content":"` + strings.Repeat("x", 300_000) + `"}`, true},
			{"bash", `{"command":"cat long.go"}`, false},
			{"bash", `{"command":"cat long.go; exit 3"}`, false},
			{"bash", `{"command":"cat line.txt >&2"}`, false},
			{"bash", `{"command":"cat long.go","background":true}`, false},
			{"unknown_" + strings.Repeat("x", 5000), `{}`, true},
		} {
			name := fmt.Sprintf("%.40s %.80s, %d", tt.tool, tt.input, limit)
			res := callIn(t, chain, tt.tool, tt.input)
			least := limit * 2 / 3
			if tt.short {
				least = 1
			}
			checkLimit(t, s, name, res, limit, least)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "line.txt")); err != nil {
		t.Error(err)
	}
}
