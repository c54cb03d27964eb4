package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue/cataloguetest"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/executors/permission/approval"
	"github.com/zeph-acp/zeph-acp/executors/process"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// fixture is a session whose hooks are shell scripts.
type fixture struct {
	*Session
	dir  string
	desk *approval.Desk

	mu     sync.Mutex
	warned []string
	audit  []*executors.Record // of runs without a call
	// confirms is the answer of the user to a prompt's question.
	confirms bool
}

// open starts a session with hooks of the user, and of the project if there are any.
func open(t testing.TB, user, project string) *fixture {
	t.Helper()
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("there is no /bin/sh here:", err)
	}
	f := &fixture{dir: t.TempDir()}
	f.desk = &approval.Desk{Ask: func(context.Context, approval.Question) approval.Answer { return approval.Once }}
	source := func(name, text string, project bool) Source {
		return Source{Name: name, Project: project, Read: func() ([]byte, error) {
			if text == "" {
				return nil, fs.ErrNotExist
			}
			return []byte(text), nil
		}}
	}
	f.Session = New(Options{
		Config: setting.Default[Config](), Session: "s1", Dir: f.dir,
		Sources: []Source{source("hooks.json", user, false), source(".zeph/hooks.json", project, true)},
		Desk:    f.desk, Env: func() []string { return []string{"PATH=" + os.Getenv("PATH")} },
		Shell: func(command string) (string, []string, error) { return "/bin/sh", []string{"-c", command}, nil },
		Script: func(path string) (string, error) {
			data, err := os.ReadFile(path)
			return string(data), err
		},
		Mask: func(text string) string { return strings.ReplaceAll(text, "hunter2", "***") },
		Mode: func() string { return "code" }, Model: func() string { return "m" }, NewID: func() string { return "id" },
		Warn: func(text string) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.warned = append(f.warned, text)
		},
		Confirm: func(context.Context, string, string) bool { return f.confirms },
		Audit:   func(next executors.Executor) executors.Executor { return kept{next, f} },
	})
	f.Ready(t.Context())
	return f
}

// kept keeps the records of runs without a call.
type kept struct {
	executors.Executor
	f *fixture
}

func (k kept) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	k.f.audit = append(k.f.audit, call.Record)
	return k.Executor.Execute(ctx, call)
}

// fileOf returns the JSON of one hook.
func fileOf(event Event, matcher, command string) string {
	data, _ := json.Marshal(map[string]any{"hooks": map[Event]any{event: []any{map[string]any{
		"matcher": matcher, "hooks": []any{map[string]any{"type": "command", "command": command, "timeout": 20}},
	}}}})
	return string(data)
}

// says returns a command that writes a reply.
func says(reply string) string { return "cat >/dev/null; printf '%s' '" + reply + "'" }

// tool is an executor that runs every call.
type tool struct {
	runner
	ran  int
	asks []string
}

func newTool() *tool {
	t := &tool{}
	t.runner = func(_ context.Context, call *executors.Call) (executors.Result, error) {
		t.ran++
		t.asks = call.Ask
		return executors.Result{Text: "done"}, nil
	}
	return t
}

func call(name, input string) *executors.Call {
	return &executors.Call{ID: "c1", Tool: name, Spec: cataloguetest.Spec(name), Input: json.RawMessage(input), Record: &executors.Record{}}
}

// TestPreToolUse checks the effect of each answer.
func TestPreToolUse(t *testing.T) {
	for name, tt := range map[string]struct {
		command string
		runs    bool
		ask     string // part of the reason to ask
		text    string // part of the result
		rewrite string
	}{
		"nothing":           {"true", true, "", "done", ""},
		"text":              {"echo hi", true, "", "done", ""},
		"allow":             {says(`{"hookSpecificOutput":{"permissionDecision":"allow"}}`), true, "", "done", ""},
		"exit 2":            {"echo 'use rg' >&2; exit 2", false, "", "a hook of the user denied this call: use rg", ""},
		"exit 2, with JSON": {says(`{"decision":"approve"}`) + "; exit 2", false, "", "it gave no reason", ""},
		"deny": {says(`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no hunter2"}}`),
			false, "", "denied this call: no ***", ""},
		"block":              {says(`{"decision":"block","reason":"old form"}`), false, "", "old form", ""},
		"continue false":     {says(`{"continue":false,"stopReason":"enough"}`), false, "", "enough", ""},
		"ask":                {says(`{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"look at it"}}`), true, "look at it", "done", ""},
		"exit 1":             {"echo broken >&2; exit 1", true, "it failed with exit code 1. broken", "done", ""},
		"a signal":           {"kill -9 $$", true, "it was ended by SIGKILL", "done", ""},
		"no such program":    {"/nonexistent/x", true, "exit code 127", "done", ""},
		"broken JSON":        {"echo '{'", true, "cannot be read", "done", ""},
		"text after JSON":    {"echo '{} {}'", true, "text after the JSON", "done", ""},
		"text before JSON":   {`printf 'loaded\n{"decision":"block"}\n'`, true, "text before the JSON", "done", ""},
		"wrong types":        {says(`{"decision":1}`), true, "cannot be read", "done", ""},
		"unknown decision":   {says(`{"decision":"maybe"}`), true, `"maybe" is unknown`, "done", ""},
		"unknown permission": {says(`{"hookSpecificOutput":{"permissionDecision":"defer"}}`), true, `"defer" is unknown`, "done", ""},
		"another event":      {says(`{"hookSpecificOutput":{"hookEventName":"Stop","permissionDecision":"allow"}}`), true, `the event "Stop"`, "done", ""},
		"too much":           {"head -c 2000000 /dev/zero", true, "more than 1048576 bytes", "done", ""},
		"much on stderr":     {"head -c 2000000 /dev/zero >&2", true, "", "done", ""},
		"context":            {says(`{"hookSpecificOutput":{"additionalContext":"a\nhunter2"}}`), true, "", "done", ""},
		"a new input":        {says(`{"hookSpecificOutput":{"updatedInput":{"command":"ls"}}}`), false, "", "a hook changed the input", `{"command":"ls"}`},
		"the same input":     {says(`{"hookSpecificOutput":{"updatedInput":{"command":"make"}}}`), true, "", "done", ""},
		"a wrong input":      {says(`{"hookSpecificOutput":{"updatedInput":"ls"}}`), true, "cannot be read", "done", ""},
		"a child that stays": {"sleep 1000 & exit 0", true, "", "done", ""},
		"does not read":      {"exec <&-; true", true, "", "done", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t, fileOf(PreToolUse, "Bash", tt.command), "")
			end := newTool()
			c := call("bash", `{"command":"make"}`)
			res, err := f.Middleware(end).Execute(t.Context(), c)
			if err != nil || (end.ran > 0) != tt.runs || !strings.Contains(res.ForModel(), tt.text) || string(c.Rewrite) != tt.rewrite {
				t.Errorf("%v, ran %d times, rewrite %s, result\n%s", err, end.ran, c.Rewrite, res.ForModel())
			}
			if asks := strings.Join(end.asks, "\n"); (asks == "") != (tt.ask == "") || !strings.Contains(asks, tt.ask) {
				t.Errorf("reasons to ask: %q", asks)
			}
			if len(c.Record.Hooks) != 1 || c.Record.Hooks[0].Event != "PreToolUse" || c.Record.Hooks[0].Source != "hooks.json" {
				t.Errorf("recorded %+v, want one PreToolUse of hooks.json", c.Record.Hooks)
			}
			if name == "context" && !cmp.Equal(c.Notes, []string{"[hook] a\n[hook] ***"}) {
				t.Errorf("got the notes %q, want one with a and ***", c.Notes)
			}
			if why, stopped := f.Stopped(); stopped != (name == "continue false") {
				t.Errorf("stopped %t (%q), want %t", stopped, why, name == "continue false")
			}
		})
	}
}

// Deny comes before ask, and ask before a text, whatever the order of the hooks.
func TestStrongest(t *testing.T) {
	group := func(commands ...string) string {
		var list []any
		for _, c := range commands {
			list = append(list, map[string]any{"type": "command", "command": c})
		}
		data, _ := json.Marshal(map[string]any{"hooks": map[string]any{"PreToolUse": []any{map[string]any{"hooks": list}}}})
		return string(data)
	}
	ask, deny, change := says(`{"decision":"ask","reason":"r"}`), "exit 2", says(`{"hookSpecificOutput":{"updatedInput":{"x":1}}}`)
	for name, tt := range map[string]struct {
		commands []string
		runs     bool
		rewrites bool
	}{
		"ask, deny":             {[]string{ask, deny}, false, false},
		"deny, change":          {[]string{deny, change}, false, false},
		"change, deny":          {[]string{change, deny}, false, false},
		"ask, change":           {[]string{ask, change}, false, true},
		"the same twice":        {[]string{"true", "true"}, true, false},
		"nine, of which 1 asks": {[]string{"true", "true 1", "true 2", "true 3", ask, "true 4", "true 5", "true 6", "true 7"}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			f, end, c := open(t, group(tt.commands...), ""), newTool(), call("read", `{"path":"a"}`)
			if _, err := f.Middleware(end).Execute(t.Context(), c); err != nil || (end.ran > 0) != tt.runs || (c.Rewrite != nil) != tt.rewrites {
				t.Errorf("%v, ran %d times, rewrite %s", err, end.ran, c.Rewrite)
			}
			if name == "the same twice" && len(c.Record.Hooks) != 1 {
				t.Errorf("got %d runs, want 1", len(c.Record.Hooks))
			}
		})
	}
}

// A hook that never accepts its own change ends in a denial.
func TestRewritesEnd(t *testing.T) {
	f, end, c := open(t, fileOf(PreToolUse, "", says(`{"hookSpecificOutput":{"updatedInput":{"n":1}}}`)), ""), newTool(), call("x", `{}`)
	c.Rewrites = maxRewrites
	res, err := f.Middleware(end).Execute(t.Context(), c)
	if err != nil || end.ran > 0 || c.Rewrite != nil || !strings.Contains(res.ForModel(), "again and again") {
		t.Errorf("%v, ran %d times\n%s", err, end.ran, res.ForModel())
	}
}

// A further card of a running call is checked too, and its input cannot change.
func TestFurtherCards(t *testing.T) {
	f := open(t, fileOf(PreToolUse, "WebFetch", `grep -q '"url":"https://b.example"' && exit 2; exit 0`), "")
	var refused error
	inner := runner(func(ctx context.Context, call *executors.Call) (executors.Result, error) {
		refused = call.Admit(ctx, executors.Card{URL: "https://b.example"})
		return executors.Result{}, nil
	})
	c := call("fetch", `{"url":"https://a.example"}`)
	c.Card.URL = "https://a.example"
	if _, err := f.Middleware(inner).Execute(t.Context(), c); err != nil || refused == nil {
		t.Errorf("%v, the redirect was refused: %v", err, refused)
	}
}

// TestInput checks the input of a hook.
func TestInput(t *testing.T) {
	f := open(t, fileOf(PreToolUse, "Write", "cat > input; pwd >> input; echo $CLAUDE_PROJECT_DIR >> input"), "")
	c := call("write", `{"path":"a.txt","content":"x"}`)
	c.Card.Paths = []string{"/w/a.txt"}
	if _, err := f.Middleware(newTool()).Execute(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(f.dir, "input"))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"session_id":"s1","transcript_path":"","cwd":"` + f.dir + `","permission_mode":"default","hook_event_name":"PreToolUse",` +
		`"tool_name":"Write","tool_input":{"content":"x","file_path":"/w/a.txt"},"tool_use_id":"c1"}` + f.dir + "\n" + f.dir + "\n"
	if diff := cmp.Diff(want, string(data)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	head := call("http_head", `{"url":"https://a.example"}`)
	head.Card.URL = "https://b.example/"
	if got := hookInput(head); !cmp.Equal(got, map[string]any{"url": "https://b.example/"}) {
		t.Errorf("the input of a hook for http_head is %v, want the address that is requested now", got)
	}
	if got := string(fromHookInput(cataloguetest.Spec("write"), map[string]any{"file_path": "/w/b", "content": "y"})); got != `{"content":"y","path":"/w/b"}` {
		t.Errorf("the input of the tool is %s", got)
	}
}

func TestMatchers(t *testing.T) {
	for matcher, want := range map[string]string{
		"": "bash write fetch http_head mcp sub_agent other", "*": "bash write fetch http_head mcp sub_agent other", "Bash": "bash", "bash": "bash",
		"Write|Edit": "write", "Write, Edit": "write", "|": "bash write fetch http_head mcp sub_agent other",
		"mcp__db__.*": "mcp", "db__query": "mcp", "mcp__db__query": "mcp", "WebFetch": "fetch http_head", "http_head": "http_head", "web_scrape": "",
		"Wri.*": "write", "^(Bash|other)$": "bash other", "BASH": "",
		"(": "bash write fetch http_head mcp sub_agent other", "ba": "", "Task": "sub_agent", "sub_agent": "sub_agent", "ba.": "bash",
	} {
		var got []string
		m := newMatcher(PreToolUse, matcher)
		for _, c := range []*executors.Call{call("bash", "{}"), call("write", "{}"), call("fetch", "{}"), call("http_head", "{}"),
			{Tool: "db__query", Spec: executors.Tool{Server: "db"}}, call("sub_agent", "{}"), call("other", "{}")} {
			if name, _, _ := strings.Cut(strings.Replace(c.Tool, "db__query", "mcp", 1), " "); m.fits(namesOf(c)) {
				got = append(got, name)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q matches %q, want %q", matcher, got, want)
		}
	}
}

// A hook of all tools does not run before and after the check of an edit; one that names
// the check does, also if both have the same command.
func TestVerifier(t *testing.T) {
	for matcher, want := range map[string]int{"": 0, "*": 0, "diagnostics": 1, "diag.*": 1, ".*": 1, "(": 1, "*|diagnostics": 1, "Bash": 0} {
		check := call("diagnostics", "{}")
		check.Phase = executors.PhaseVerifier
		s := &Session{files: []*file{{mayRun: true, hooks: []*hook{
			{event: PreToolUse, match: newMatcher(PreToolUse, "*"), command: "true"}, {event: PreToolUse, match: newMatcher(PreToolUse, matcher), command: "true"},
		}}}}
		if got := len(s.hooksForCall(PreToolUse, check)); got != want {
			t.Errorf("%q: %d hooks of the check, want %d", matcher, got, want)
		}
		if got := len(s.hooksForCall(PreToolUse, call("diagnostics", "{}"))); got != 1 {
			t.Errorf("%q: %d hooks of a call, want 1", matcher, got)
		}
	}
}

func TestPostToolUse(t *testing.T) {
	const both = `{"decision":"block","reason":"not formatted","hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"run gofmt"}}`
	f := open(t, fileOf(PostToolUse, "Bash", "cat > input; printf '%s' '"+both+"'"), "")
	c := call("bash", `{"command":"make"}`)
	c.Card.Script = command.Parse("make", command.Shell{Dir: f.dir})
	res, err := f.Middleware(newTool()).Execute(t.Context(), c)
	if want := "done\n[hook] not formatted\n[hook] run gofmt"; err != nil || res.ForModel() != want {
		t.Errorf("%v, result %q, want %q", err, res.ForModel(), want)
	}
	data, _ := os.ReadFile(filepath.Join(f.dir, "input"))
	if !strings.Contains(string(data), `"tool_response":{"interrupted":false,"stderr":"","stdout":"done"}`) {
		t.Errorf("got the input %s, want it with the response of the tool", data)
	}
	failing := runner(func(context.Context, *executors.Call) (executors.Result, error) {
		return executors.Failf(executors.PermanentFailure, "no"), nil
	})
	c = call("bash", `{}`)
	if _, err := f.Middleware(failing).Execute(t.Context(), c); err != nil || len(c.Record.Hooks) > 0 {
		t.Errorf("%v: a hook ran after a failed call", err)
	}
	crashed := open(t, fileOf(PostToolUse, "", "exit 1"), "")
	if res, err := crashed.Middleware(newTool()).Execute(t.Context(), call("bash", "{}")); err != nil || res.ForModel() != "done" || len(crashed.warned) != 1 {
		t.Errorf("%v, %q, warned %q", err, res.ForModel(), crashed.warned)
	}
}

func TestPrompt(t *testing.T) {
	for name, tt := range map[string]struct {
		command       string
		confirms      bool
		text, blocked string
	}{
		"text":             {"echo the time", false, "[hook] the time", ""},
		"JSON":             {says(`{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"x"}}`), false, "[hook] x", ""},
		"exit 2":           {"echo no secrets >&2; exit 2", false, "", "no secrets"},
		"block":            {says(`{"decision":"block","reason":"hunter2"}`), false, "", "***"},
		"continue false":   {says(`{"continue":false,"stopReason":"stop here"}`), false, "", "stop here"},
		"crash":            {"exit 1", false, "", "The prompt was not sent"},
		"crash, confirmed": {"exit 1", true, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := open(t, fileOf(UserPromptSubmit, "ignored", tt.command), "")
			f.confirms = tt.confirms
			text, blocked, err := f.Prompt(t.Context(), "hello")
			if err != nil || text != tt.text || (blocked == "") != (tt.blocked == "") || !strings.Contains(blocked, tt.blocked) {
				t.Errorf("%v, text %q, blocked %q", err, text, blocked)
			}
			if len(f.audit) != 1 || len(f.audit[0].Hooks) != 1 {
				t.Errorf("got the audit entries %+v, want one with one hook", f.audit)
			}
		})
	}
}

// SessionStart runs before the first prompt of a conversation, by its source.
func TestSessionStart(t *testing.T) {
	f := open(t, fileOf(SessionStart, "startup|clear", `grep -o '"source":"[a-z]*"'`), "")
	for _, want := range []string{`[hook] "source":"startup"`, "", `[hook] "source":"clear"`} {
		if want != "" && len(f.audit) > 0 {
			f.Reset()
		}
		if text, _, err := f.Prompt(t.Context(), "x"); text != want || err != nil {
			t.Errorf("%v, text %q, want %q", err, text, want)
		}
	}
	f.startSource = "resume"
	if text, _, _ := f.Prompt(t.Context(), "x"); text != "" {
		t.Errorf("a resumed session: %q", text)
	}
}

func TestStop(t *testing.T) {
	f := open(t, fileOf(Stop, "", `grep -q '"stop_hook_active":true' || { echo 'run the tests' >&2; exit 2; }`), "")
	if again, err := f.Stop(t.Context(), "done", false); again != "[hook] run the tests" || err != nil {
		t.Errorf("%q, %v", again, err)
	}
	if again, err := f.Stop(t.Context(), "done", true); again != "" || err != nil {
		t.Errorf("%q, %v", again, err)
	}
}

func TestTimeout(t *testing.T) {
	user := strings.Replace(fileOf(PreToolUse, "", "sleep 1000 & sleep 1000"), `"timeout":20`, `"timeout":0.05`, 1)
	f, end := open(t, user, ""), newTool()
	if _, err := f.Middleware(end).Execute(t.Context(), call("x", "{}")); err != nil || len(end.asks) != 1 || !strings.Contains(end.asks[0],
		"did not end within 50ms") {
		t.Errorf("%v, asks %q", err, end.asks)
	}
	slow := open(t, fileOf(PreToolUse, "", "touch began; sleep 1000"), "")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(context.Canceled)
	if _, err := slow.Middleware(end).Execute(ctx, call("x", "{}")); err == nil {
		t.Error("a cancelled turn goes on")
	}
}

// The project's hooks run only after an approval, which covers the scripts that they
// name.
func TestProject(t *testing.T) {
	command := `"$CLAUDE_PROJECT_DIR"/check.sh; sh ./other.sh`
	f := open(t, "", fileOf(PreToolUse, "", command))
	script := func(text string) {
		t.Helper()
		for _, name := range []string{"check.sh", "other.sh"} {
			if err := os.WriteFile(filepath.Join(f.dir, name), []byte(text), 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
	runs := func() (asks []string, ran int) {
		t.Helper()
		end, c := newTool(), call("x", "{}")
		if _, err := f.Middleware(end).Execute(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		return end.asks, len(c.Record.Hooks)
	}
	script("#!/bin/sh\nexit 0\n")
	answer, questions := approval.No, []approval.Question{}
	f.desk.Ask = func(_ context.Context, q approval.Question) approval.Answer {
		questions = append(questions, q)
		return answer
	}
	f.Ready(t.Context())
	if asks, ran := runs(); ran > 0 || len(asks) > 0 || len(questions) != 1 || !strings.Contains(questions[0].Text, "check.sh; sh ./other.sh") {
		t.Errorf("rejected: %d runs, asks %q, questions %+v", ran, asks, questions)
	}
	answer = approval.Once
	script("#!/bin/sh\nexit 0 # approved\n")
	f.Ready(t.Context())
	if asks, ran := runs(); ran != 1 || len(asks) > 0 || len(questions) != 2 {
		t.Errorf("approved: %d runs, asks %q, %d questions", ran, asks, len(questions))
	}
	if list := f.List(); !strings.Contains(list, "`.zeph/hooks.json`, approved") {
		t.Errorf("got the list %s, want the file in it as approved", list)
	}
	script("#!/bin/sh\ntouch PWNED\n")
	asks, _ := runs()
	if _, err := os.Stat(filepath.Join(f.dir, "PWNED")); err == nil || len(asks) != 1 || !strings.Contains(asks[0], "has changed since your approval") {
		t.Errorf("changed during the turn: asks %q", asks)
	}
	f.desk.Ask = nil
	f.Ready(t.Context())
	if asks, ran := runs(); ran > 0 || len(asks) > 0 {
		t.Errorf("changed, without a user: %d runs, asks %q", ran, asks)
	}
}

// TestFiles checks files that cannot be read, or only in part.
func TestFiles(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		asks bool   // each call is asked about
		note string // part of the warning
	}{
		"empty":           {" ", false, ""},
		"other keys":      {`{"permissions":{"allow":["x"]},"hooks":null}`, false, ""},
		"broken":          {`{"hooks":`, true, "hooks.json: it cannot be read"},
		"wrong type":      {`{"hooks":[]}`, true, "hooks.json: hooks: "},
		"wrong group":     {`{"hooks":{"PreToolUse":{}}}`, true, "hooks.PreToolUse"},
		"other events":    {`{"hooks":{"Notification":[],"PreCompact":[]}}`, false, "not run: Notification, PreCompact"},
		"another type":    {`{"hooks":{"PreToolUse":[{"hooks":[{"type":"prompt","prompt":"x"}]}]}}`, true, ""},
		"without command": {`{"hooks":{"PreToolUse":[{"hooks":[{"type":"command"}]}]}}`, true, ""},
		"too many": {`{"hooks":{"Stop":[{"hooks":[` + strings.Repeat(`{"type":"command","command":"x"},`,
			maxHooks) + `{"type":"command","command":"x"}]}]}}`, true, "more than 256"},
		"switched off": {`{"disableAllHooks":true,"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"exit 2"}]}]}}`, false, ""},
	} {
		f, end := open(t, tt.text, ""), newTool()
		_, err := f.Middleware(end).Execute(t.Context(), call("x", "{}"))
		if err != nil || end.ran != 1 || (len(end.asks) > 0) != tt.asks {
			t.Errorf("%s: %v, ran %d times, asks %q", name, err, end.ran, end.asks)
		}
		if warned := strings.Join(f.warned, "\n"); (warned == "") != (tt.note == "") || !strings.Contains(warned, tt.note) {
			t.Errorf("%s: warned %q, want %q", name, warned, tt.note)
		}
	}
	for _, command := range []string{strings.Repeat("x", maxCommand+1), strings.Repeat("cd a ", maxCommand/5)} {
		if f := open(t, "", fileOf(PreToolUse, "", command)); f.hasHooks() || len(f.warned) != 1 || !strings.Contains(f.warned[0], "more than") {
			t.Errorf("%.20q: warned %q, want one warning of a limit and no hooks", command, f.warned)
		}
	}
	f, end := open(t, "", `{"hooks":`), newTool()
	if _, err := f.Middleware(end).Execute(t.Context(), call("x", "{}")); err != nil || len(end.asks) > 0 || len(f.warned) != 1 {
		t.Errorf("a broken file of the project: %v, asks %q, warned %q", err, end.asks, f.warned)
	}
}

// The approval covers each file of the project that a command names.
func TestScripts(t *testing.T) {
	f := open(t, "", "")
	if err := os.MkdirAll(filepath.Join(f.dir, "sub/deep"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.sh", "sub/b.sh", "sub/deep/c.sh", "sub/d e.sh"} {
		if err := os.WriteFile(filepath.Join(f.dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for command, want := range map[string]string{
		"./a.sh": "a.sh", "sh a.sh": "a.sh", "sh 'a.sh' x": "a.sh", "x=1 sh ./sub/../a.sh|cat": "a.sh", `"$CLAUDE_PROJECT_DIR"/sub/b.sh`: "sub/b.sh",
		"${ZEPH_PROJECT_DIR}/a.sh": "a.sh", f.dir + "/a.sh": "a.sh", "cd sub && ./b.sh": "sub/b.sh", "cd sub; cd deep; sh c.sh": "sub/deep/c.sh",
		`cd "$CLAUDE_PROJECT_DIR/sub" && (sh b.sh)`: "sub/b.sh", "gofmt -w": "", "./'sub/d e.sh'": "sub/d e.sh", `sh sub/d\ e.sh`: "sub/d e.sh",
		`sh $'a.\x73h'`: "a.sh",
		`./a.s""h`:      "a.sh", `./a.s?`: "a.sh", "sh {a,b}.sh": "a.sh", "bash -c 'sh a\".\"sh'": "a.sh", "cd sub; . ./d*": "sub/d e.sh", "sh <'./a''.sh'": "a.sh",
		"../a.sh": "", "/etc/passwd": "",
	} {
		got := f.scripts(&file{hooks: []*hook{{command: command}}})
		if want != "" {
			want = filepath.Join(f.dir, want) + " " + want
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}

func TestConfig(t *testing.T) {
	if wrong := setting.Check(setting.Default[Config]()); len(wrong) > 0 {
		t.Errorf("setting.Check(setting.Default[Config]()): got %v, want none", wrong)
	}
	for _, c := range []Config{{TimeoutSecs: 0}, {TimeoutSecs: 3601}} {
		if len(setting.Check(c)) == 0 {
			t.Errorf("%+v is valid", c)
		}
	}
	off := open(t, fileOf(PreToolUse, "", "exit 2"), "")
	off.options.Enabled = false
	off.files = nil
	off.Ready(t.Context())
	if end := newTool(); off.hasHooks() {
		t.Error("hooks run although they are off")
	} else if _, err := off.Middleware(end).Execute(t.Context(), call("x", "{}")); err != nil || end.ran != 1 {
		t.Error(err)
	}
}

// A call that is only checked names the hooks that would run.
func TestChecked(t *testing.T) {
	f, end, c := open(t, fileOf(PreToolUse, "", "exit 2"), ""), newTool(), call("x", "{}")
	var skipped []string
	c.Skipped = func(what string) { skipped = append(skipped, what) }
	if _, err := f.Middleware(end).Execute(t.Context(), c); err != nil || end.ran != 1 || !cmp.Equal(skipped, []string{"the hook `exit 2` of hooks.json"}) {
		t.Errorf("%v, ran %d times, skipped %q", err, end.ran, skipped)
	}
	after := open(t, fileOf(PostToolUse, "", "touch PWNED"), "")
	after.options.Checking = true
	if _, err := after.Middleware(end).Execute(t.Context(), call("x", "{}")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(after.dir, "PWNED")); err == nil {
		t.Error("a hook ran after a call without effect")
	}
}

// FuzzReply checks that no answer of a hook allows more than no answer.
func FuzzReply(f *testing.F) {
	for _, text := range []string{`{"decision":"approve"}`, `{"continue":false}`, `{"hookSpecificOutput":{"permissionDecision":"ask","updatedInput":{"a":1}}}`,
		`{}`, `{`, `null`} {
		f.Add(text)
	}
	zero := 0
	f.Fuzz(func(t *testing.T, text string) {
		for _, event := range events {
			if a := parseAnswer(event, output{stdout: text}, executors.HookRun{ExitCode: &zero}); a.decision == executors.Allow {
				t.Errorf("%s: %q allows", event, text)
			}
		}
	})
}

func BenchmarkNoHooks(b *testing.B) {
	f, c := open(b, "", ""), call("bash", `{"command":"ls"}`)
	link := f.Middleware(runner(func(context.Context, *executors.Call) (executors.Result, error) { return executors.Result{}, nil }))
	b.ReportAllocs()
	for b.Loop() {
		_, _ = link.Execute(b.Context(), c)
	}
}

// BenchmarkProcess measures the process of BenchmarkHook alone.
func BenchmarkProcess(b *testing.B) {
	f := open(b, "", "")
	for b.Loop() {
		p, err := process.StartPiped(process.Program{Path: "/bin/sh", Args: []string{"-c", "exit 0"}, Dir: f.dir})
		if err != nil {
			b.Fatal(err)
		}
		<-p.Done()
		p.End(0)
		p.Release()
	}
}

// BenchmarkHook measures one hook that runs no program of its own.
func BenchmarkHook(b *testing.B) {
	f := open(b, fileOf(PreToolUse, "", "exit 0"), "")
	link := f.Middleware(runner(func(context.Context, *executors.Call) (executors.Result, error) { return executors.Result{}, nil }))
	b.ReportAllocs()
	for b.Loop() {
		_, _ = link.Execute(b.Context(), call("bash", `{"command":"ls"}`))
	}
}

// TestPlugin checks that the hooks of a plug-in have its variables, do not run once it has changed, and switch off no other hooks.
func TestPlugin(t *testing.T) {
	f := open(t, "", "")
	changed := error(nil)
	out := filepath.Join(f.dir, "out")
	plugin := func(root string) Source {
		text := strings.Replace(fileOf(PreToolUse, "Bash", `echo "$ROOT" >> `+out), "{", `{"disableAllHooks":true,"hooks2":{},`, 1)
		return Source{
			Name: "the plug-in " + root, Read: func() ([]byte, error) { return []byte(text), nil },
			Env: func() []string { return []string{"ROOT=" + root} }, Check: func() error { return changed },
		}
	}
	f.options.Sources = []Source{plugin("/a"), plugin("/b")}
	f.Ready(t.Context())
	run := func() *tool {
		next := newTool()
		link := f.Middleware(next)
		if _, err := link.Execute(t.Context(), call("bash", `{"command":"x"}`)); err != nil {
			t.Fatal(err)
		}
		return next
	}
	if next := run(); next.ran != 1 || len(next.asks) > 0 {
		t.Errorf("the call ran %d times and asks %q", next.ran, next.asks)
	}
	data, err := os.ReadFile(out)
	if got := string(data); err != nil || !strings.Contains(got, "/a\n") || !strings.Contains(got, "/b\n") {
		t.Errorf("the hooks wrote %q, %v", got, err)
	}
	changed = errors.New("the plug-in has changed")
	if next := run(); !strings.Contains(strings.Join(next.asks, " "), "the plug-in has changed") {
		t.Errorf("the call asks %q", next.asks)
	}
	if again, _ := os.ReadFile(out); string(again) != string(data) {
		t.Error("a hook of a changed plug-in ran")
	}
	if len(f.warned) > 0 {
		t.Errorf("warnings: %q", f.warned)
	}
}
