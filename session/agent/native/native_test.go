package native_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/permission"
	"github.com/zeph-acp/zeph-acp/executors/permission/answers"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/session/agent/native"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/local"
)

// roots is a workspace that these tools never use.
type roots struct{}

func (roots) Dirs() []string                           { return []string{"/w"} }
func (roots) Resolve(path string) (string, error)      { return path, nil }
func (roots) ResolveEntry(path string) (string, error) { return path, nil }

// asked counts questions and denies every call.
type asked int

func (a *asked) Approve(context.Context, *executors.Call, []permission.Option) (string, error) {
	*a++
	return "reject_once", nil
}

// chain returns the part of a session's chain that checks these calls.
func chain(mode string, a permission.Approver, rules ...permission.Rule) executors.Executor {
	p := &permission.Permission{
		Policy: permission.NewShellPolicyHandle(permission.NewShellPolicy(setting.Default[permission.ShellRules](),
			permission.Config{Permissions: map[string][]permission.Rule{"update_plan": rules}}, "", nil)),
		Roots: roots{}, Mode: func() string { return mode }, Approver: a, Remembered: &answers.Project{},
	}
	return executors.Chain(executors.NewDynExecutor(native.New()), executors.Validate, p.Middleware)
}

// run makes a call as the turn loop does, and collects the events.
func run(t *testing.T, e executors.Executor, input string) (executors.Card, []executors.Event, executors.Result) {
	t.Helper()
	var events []executors.Event
	call := &executors.Call{
		Tool: "update_plan", Input: json.RawMessage(input), Record: &executors.Record{},
		Notify: func(ev executors.Event) { events = append(events, ev) },
	}
	call.Card, call.PrepareErr = e.Prepare(t.Context(), call)
	res, err := e.Execute(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	return call.Card, events, res
}

func TestPlan(t *testing.T) {
	type entry [3]string // content, priority, status
	long := strings.Repeat("é", 301)
	for name, tt := range map[string]struct {
		input, title, text string
		plan               []entry
	}{
		"defaults": {`{"entries":[{"content":"look"}]}`, "Update the plan (1 step)", "Plan updated: 0 of 1 done, next: look",
			[]entry{{"look", "medium", "pending"}}},
		"all given": {`{"entries":[{"content":"a","status":"completed","priority":"low"},{"content":"b"},{"content":"c","status":"in_progress","priority":"high"}]}`,
			"Update the plan (3 steps)", "Plan updated: 1 of 3 done, now: c",
			[]entry{{"a", "low", "completed"}, {"b", "medium", "pending"}, {"c", "high", "in_progress"}}},
		"two at once": {`{"entries":[{"content":"a","status":"in_progress"},{"content":"b","status":"in_progress"}]}`,
			"Update the plan (2 steps)", "Plan updated: 0 of 2 done, now: a",
			[]entry{{"a", "medium", "in_progress"}, {"b", "medium", "in_progress"}}},
		"all done": {`{"entries":[{"content":"a","status":"completed"}]}`, "Update the plan (1 step)", "Plan updated: 1 of 1 done.",
			[]entry{{"a", "medium", "completed"}}},
		"cleared": {`{"entries":[]}`, "Clear the plan", "Plan cleared.", []entry{}},
		"one clean line": {`{"entries":[{"content":" \u001b[1mone\n\ttwo\u202e\u0000three "}]}`, "Update the plan (1 step)",
			"Plan updated: 0 of 1 done, next: [1mone two three", []entry{{"[1mone two three", "medium", "pending"}}},
		"long": {`{"entries":[{"content":"` + long + `"}]}`, "Update the plan (1 step)",
			"Plan updated: 0 of 1 done, next: " + long[:600] + "…", []entry{{long[:600] + "…", "medium", "pending"}}},
	} {
		t.Run(name, func(t *testing.T) {
			card, events, res := run(t, chain("code", nil), tt.input)
			if card.Title != tt.title || card.Kind != executors.KindThink || res.ForModel() != tt.text || res.Failed {
				t.Errorf("%+v\n%+v", card, res)
			}
			plan := &executors.Plan{Entries: []executors.PlanEntry{}}
			for _, e := range tt.plan {
				plan.Entries = append(plan.Entries, executors.PlanEntry{Content: e[0], Priority: e[1], Status: e[2]})
			}
			want := []executors.Event{{Status: executors.InProgress}, {Plan: plan}}
			if diff := cmp.Diff(want, events); diff != "" {
				t.Errorf("events (-want +got)\n%s", diff)
			}
		})
	}
}

func TestUnfitPlan(t *testing.T) {
	many := strings.Repeat(`{"content":"x"},`, 101)
	for name, tt := range map[string]struct{ input, names string }{
		"no entries":       {`{}`, "entries is missing"},
		"null":             {`{"entries":null}`, "entries"},
		"not a list":       {`{"entries":"a"}`, "entries"},
		"no entry":         {`{"entries":[{}]}`, "entries[0].content"},
		"not an object":    {`{"entries":["a"]}`, "entries"},
		"no content":       {`{"entries":[{"status":"pending"}]}`, "entries[0].content is missing"},
		"not text":         {`{"entries":[{"content":1}]}`, "content"},
		"empty content":    {`{"entries":[{"content":"a"},{"content":" \n\u0007"}]}`, "entries[1].content"},
		"unknown status":   {`{"entries":[{"content":"a","status":"done"}]}`, "status"},
		"unknown priority": {`{"entries":[{"content":"a","priority":"urgent"}]}`, "priority"},
		"unknown member":   {`{"entries":[{"summary":"a"}]}`, `"summary"`},
		"too many":         {`{"entries":[` + strings.TrimSuffix(many, ",") + `]}`, "entries"},
	} {
		t.Run(name, func(t *testing.T) {
			_, events, res := run(t, chain("code", nil), tt.input)
			if !res.Failed || !res.Category().Quality() || !strings.Contains(res.ForModel(), tt.names) || len(events) > 0 {
				t.Errorf("events %v, want none; failure must name %s:\n%s", events, tt.names, res.ForModel())
			}
		})
	}
}

func TestPlanPermission(t *testing.T) {
	for name, tt := range map[string]struct {
		mode      string
		rules     []permission.Rule
		allowed   bool
		questions asked
	}{
		"ask":            {mode: "ask", allowed: true},
		"architect":      {mode: "architect", allowed: true},
		"code":           {mode: "code", allowed: true},
		"auto":           {mode: "auto", allowed: true},
		"denied":         {mode: "code", rules: []permission.Rule{{Pattern: "*", Action: permission.Deny}}},
		"denied in part": {mode: "auto", rules: []permission.Rule{{Pattern: "*secret*", Action: permission.Deny}}},
		"asked about":    {mode: "code", rules: []permission.Rule{{Pattern: "*", Action: permission.Ask}}, questions: 1},
	} {
		t.Run(name, func(t *testing.T) {
			var questions asked
			_, events, res := run(t, chain(tt.mode, &questions, tt.rules...), `{"entries":[{"content":"the secret plan"}]}`)
			if res.Failed == tt.allowed || (len(events) > 0) != tt.allowed || questions != tt.questions {
				t.Errorf("%d questions, events %v, result:\n%s", questions, events, res.ForModel())
			}
		})
	}
}

// Plans replace each other, so two in one answer must not run concurrently.
func TestPlansKeepTheirOrder(t *testing.T) {
	for _, tool := range native.New().Tools() {
		if tool.Effect.ReadOnly() {
			t.Errorf("%s runs side by side with itself", tool.Name)
		}
	}
}

func TestPlanTypedByTheUser(t *testing.T) {
	var tools []llm.Tool
	size := 0
	for _, tool := range native.New().Tools() {
		tools = append(tools, llm.Tool{Name: tool.Name, Description: tool.Description, Schema: tool.Schema})
		size += len(tool.Name) + len(tool.Description) + len(tool.Schema)
	}
	if size > 1000 { // of the 6 KiB of all tools
		t.Errorf("the native tools take %d bytes of each prompt", size)
	}
	for prompt, want := range map[string]string{
		"/update_plan {\"entries\": [{\"content\": \"a\"},\n {\"content\": \"b\"}]}": "Update the plan (2 steps)",
		`/update_plan {"entries": []}`: "Clear the plan",
		"/update_plan":                 "Nothing was run: /update_plan needs entries: write JSON.\nUsage: /update_plan {\"entries\": […]}\n  entries (array)",
	} {
		got := ""
		for ev, err := range (local.Direct{}).Stream(t.Context(), llm.Request{
			Messages: []llm.Message{{Role: llm.User, Blocks: []llm.Block{{Text: prompt}}}}, Tools: tools,
		}) {
			if err != nil {
				t.Fatal(err)
			}
			got += ev.Text
			if ev.Call != nil {
				card, _, _ := run(t, chain("code", nil), string(ev.Call.Input))
				got += card.Title
			}
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", prompt, got, want)
		}
	}
}

// compress_context works on the session alone, so no one is asked. It works on
// the conversation that it is called in, and reports its failure to the model.
func TestCompress(t *testing.T) {
	tool, ok := executors.Find(native.New().Tools(), "compress_context")
	if !ok || tool.Phase != executors.PhaseAutonomous || tool.Effect.ReadOnly() || tool.Effect.Has(executors.Idempotent) || !tool.Effect.InternalOnly() {
		t.Errorf("%+v", tool) // it would be cached, repeated, asked about, or run concurrently
	}
	for name, tt := range map[string]struct {
		compress func(context.Context, string) (string, error)
		want     string
		failed   bool
	}{
		"works":                {func(_ context.Context, focus string) (string, error) { return "kept " + focus, nil }, "kept it", false},
		"fails":                {func(context.Context, string) (string, error) { return "", errors.New("no luck") }, "compress_context: no luck", true},
		"without conversation": {nil, "/compact", true},
	} {
		t.Run(name, func(t *testing.T) {
			call := &executors.Call{
				Tool: "compress_context", Input: json.RawMessage(`{"focus":"it"}`), Record: &executors.Record{},
				Notify: func(executors.Event) {}, InTurn: executors.InTurn{Compress: tt.compress},
			}
			e := chain("ask", nil)
			call.Card, call.PrepareErr = e.Prepare(t.Context(), call)
			res, err := e.Execute(t.Context(), call)
			if err != nil || res.Failed != tt.failed || !strings.Contains(res.ForModel(), tt.want) || tt.failed && !strings.Contains(res.ForModel(),
				"Nothing was lost") {
				t.Errorf("%v: %+v", err, res)
			}
		})
	}
}
