package trust

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue/cataloguetest"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// tool has a tool of each sort, and returns a prepared result.
type tool struct{ result executors.Result }

func (tool) Tools() []executors.Tool {
	return append(cataloguetest.Known(), executors.Tool{Name: "crm__get", Server: "crm"},
		executors.Tool{Name: "wiki__get", Server: "wiki", Effect: executors.Reads})
}

func (tool) Prepare(context.Context, *executors.Call) (executors.Card, error) {
	return executors.Card{}, nil
}

func (t tool) Execute(context.Context, *executors.Call) (executors.Result, error) {
	return t.result, nil
}

// run calls a tool, given as "TOOL" or "TOOL ARGUMENT", and returns the decision of
// the gate.
func run(t *testing.T, levels *Trust, text string, result executors.Result) executors.Decision {
	t.Helper()
	name, arg, _ := strings.Cut(text, " ")
	call := &executors.Call{Tool: name, Record: &executors.Record{}}
	switch name {
	case "fetch", "http_head":
		call.Card.URL = arg
	case "load_skill":
		call.Input, _ = json.Marshal(map[string]string{"name": arg})
	}
	res, err := executors.Chain(tool{result}, levels.Link()).Execute(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	verdicts := call.Record.Verdicts
	if len(verdicts) == 0 {
		return ""
	}
	v := verdicts[0]
	if v.Decision == executors.Deny && !strings.Contains(res.ForModel(), "denied by policy") || v.Gate != Name || v.Rule == "" || v.Reason == "" {
		t.Errorf("%s: verdict %+v, result %q", text, v, res.ForModel())
	}
	return v.Decision
}

// TestLevels makes a call of a subject at each level, and then other calls in the
// same turn and in the next.
func TestLevels(t *testing.T) {
	const ok, ask, deny = executors.Decision(""), executors.Ask, executors.Deny
	all := []string{"read", "update_plan", "write", "bash", "fetch https://example.com", "load_skill mine", "crm__get"}
	for _, tt := range []struct {
		subject, call string
		level         Level
		first         executors.Decision
		after         []executors.Decision // of all
	}{
		{"server:wiki", "wiki__get", Trusted, ok, []executors.Decision{ok, ok, ok, ok, ok, ok, ok}},
		{"server:wiki", "wiki__get", Provisional, ok, []executors.Decision{ok, ok, ok, ok, ok, ok, ok}},
		{"server:wiki", "wiki__get", Untrusted, ask, []executors.Decision{ok, ok, deny, deny, deny, deny, deny}},
		{"server:wiki", "wiki__get", Blocked, deny, []executors.Decision{ok, ok, ok, ok, ok, ok, ok}},
		{"skill:other", "load_skill other", Untrusted, ask, []executors.Decision{ok, ok, deny, deny, deny, deny, deny}},
		{"skill:other", "load_skill other", Blocked, deny, []executors.Decision{ok, ok, ok, ok, ok, ok, ok}},
		{"content", "fetch https://example.com", Provisional, ok, []executors.Decision{ok, ok, ok, ok, ok, ok, ok}},
		{"content", "http_head https://example.com", Untrusted, ok, []executors.Decision{ok, ok, deny, deny, deny, deny, deny}},
		{"content", "fetch https://example.com", Untrusted, ok, []executors.Decision{ok, ok, deny, deny, deny, deny, deny}},
		{"tool:bash", "bash", Untrusted, ask, []executors.Decision{ok, ok, ok, ask, ok, ok, ok}},
		{"tool:bash", "bash", Blocked, deny, []executors.Decision{ok, ok, ok, deny, ok, ok, ok}},
	} {
		levels := New(setting.Default[Config]())
		levels.Set(tt.subject, tt.level)
		levels.Begin()
		if got := run(t, levels, tt.call, executors.Result{Text: "x"}); got != tt.first {
			t.Errorf("%s = %s: %q, want %q", tt.subject, tt.level, got, tt.first)
		}
		turn := slices.Clone(levels.readThisTurn)
		for i, call := range all {
			levels.readThisTurn = slices.Clone(turn) // each call alone
			if got := run(t, levels, call, executors.Result{Text: "x"}); got != tt.after[i] {
				t.Errorf("%s = %s, then %s: %q, want %q", tt.subject, tt.level, call, got, tt.after[i])
			}
		}
		levels.Begin()
		if got := run(t, levels, "write", executors.Result{}); got != ok {
			t.Errorf("%s = %s, the next turn: %q", tt.subject, tt.level, got)
		}
	}
}

// A call that did not run, or loaded nothing, is no source.
func TestNoSource(t *testing.T) {
	for call, result := range map[string]executors.Result{
		"wiki__get":        executors.Failf(executors.ConfirmationRequired, "no answer"),
		"load_skill other": executors.Failf(executors.InvalidParameters, "no such skill"),
	} {
		levels := New(setting.Default[Config]())
		levels.Set("server:wiki", Untrusted)
		levels.Set("skill:other", Untrusted)
		run(t, levels, call, result)
		if got := run(t, levels, "write", executors.Result{}); got != "" {
			t.Errorf("after %s: %q", call, got)
		}
	}
}

// TestLevel checks the level that rules see.
func TestLevel(t *testing.T) {
	cfg := setting.Default[Config]()
	cfg.Levels = map[string]Level{"tool:write": Provisional}
	levels := New(cfg)
	levels.Entry = func(server string) bool { return server == "crm" }
	level := func(call executors.Call) string { return levels.Level(&call).String() }
	if got := level(executors.Call{Tool: "read"}); got != "trusted" {
		t.Errorf("read: %s", got)
	}
	if got := level(executors.Call{Tool: "write"}); got != "provisional" {
		t.Errorf("write: %s", got)
	}
	for server, want := range map[string]string{"crm": "trusted", "wiki": "provisional"} {
		if got := level(executors.Call{Tool: "x", Spec: executors.Tool{Server: server}}); got != want {
			t.Errorf("server %s: %s", server, got)
		}
	}
	levels.Set("skill:odd", Untrusted)
	if got := level(executors.Call{Tool: "invoke_skill", Spec: cataloguetest.Spec("invoke_skill"), Input: json.RawMessage(`{"name":"odd"}`)}); got != "untrusted" {
		t.Errorf("a skill: %s", got)
	}
	run(t, levels, "load_skill odd", executors.Result{})
	if got := level(executors.Call{Tool: "read"}); got != "untrusted" {
		t.Errorf("read after the skill: %s", got)
	}
	levels.Begin()
	levels.ReadServer("wiki")
	if got := level(executors.Call{Tool: "read"}); got != "provisional" {
		t.Errorf("read after a prompt of a server: %s", got)
	}
	levels.Begin()
	levels.ReadSkill("odd")
	if got := run(t, levels, "write", executors.Result{}); got != executors.Deny {
		t.Errorf("write in an invoked skill: %q", got)
	}
	levels.Set("skill:odd", Blocked)
	if got := run(t, levels, "read", executors.Result{}); got != executors.Deny {
		t.Errorf("read after a skill that is now blocked: %q", got)
	}
}

func TestCommand(t *testing.T) {
	var saved, forgotten []string
	cfg := setting.Default[Config]()
	cfg.Levels = map[string]Level{"tool:write": Untrusted}
	levels := New(cfg)
	levels.Save = func(raw json.RawMessage) { saved = append(saved, string(raw)) }
	levels.Forget = func(subject string) { forgotten = append(forgotten, subject) }
	levels.BlockTool("bash", "8 of 10 calls failed")
	for _, tt := range []struct{ rest, want string }{
		{"", "- `content`: provisional (the configuration)\n- `server:crm`: provisional (the configuration)\n- `tool:bash`: blocked (8 of 10 calls failed)\n- " +
			"`tool:write`: untrusted (the configuration)\n- other skills: trusted; other tools: trusted\n"},
		{"set server:crm trusted", "`server:crm` is now trusted."},
		{"set write provisional", "`tool:write` is now provisional."},
		{"set bassh blocked", "`tool:bassh` is now blocked. This session has no tool of that name."},
		{"reset bassh", "`tool:bassh` is now trusted again."},
		{"set server:cmr blocked", "`server:cmr` is now blocked. This session has no MCP server of that name."},
		{"reset server:cmr", "is now provisional again."},
		{"list", "- `server:crm`: trusted (set by /trust)\n"},
		{"reset bash", "`tool:bash` is now trusted again."},
		{"reset write", "`tool:write` is now untrusted again."},
		{"set bash high", `Nothing was changed: "high" is not one of blocked, untrusted, provisional, trusted.`},
		{"set page:x trusted", `Nothing was changed: "page" is not one of tool, server, skill.`},
		{"reset server:", "Nothing was changed: "},
		{"forget bash", "Nothing was changed. "},
	} {
		if got := levels.Command(tt.rest, []string{"crm"}, []string{"bash", "write"}); !strings.Contains(got, tt.want) {
			t.Errorf("/trust %s: %s\nwant %s", tt.rest, got, tt.want)
		}
	}
	if want := []string{"write", "bassh", "bassh", "bash", "write"}; !slices.Equal(forgotten, want) {
		t.Errorf("forgotten %q", forgotten)
	}
	if want := `{"set":{"server:crm":"trusted"}}`; saved[len(saved)-1] != want {
		t.Errorf("saved %s", saved[len(saved)-1])
	}
	next := New(cfg)
	next.Restore(json.RawMessage(saved[2]))
	next.Restore(json.RawMessage(`{"set":{"tool:x":"odd"}}`))
	next.Restore(nil)
	want := []string{"Trust: tool:bash blocked (8 of 10 calls failed; `/trust reset tool:bash` ends it), server:crm trusted, tool:write provisional"}
	if diff := cmp.Diff(want, next.Status()); diff != "" {
		t.Error(diff)
	}
	next.LowerOnly = true
	if got := next.Command("set server:crm trusted", []string{"crm"}, nil); !strings.Contains(got, "cannot be more than provisional") {
		t.Errorf("an administrator's level was raised: %s", got)
	}
	if got := next.LevelOf("server:crm"); got != Provisional {
		t.Errorf("a stored level above an administrator's: %s", got)
	}
	if got := next.Command("set server:crm blocked", []string{"crm"}, nil); got != "`server:crm` is now blocked." {
		t.Errorf("a lower level: %s", got)
	}
	off := New(Config{})
	if off.Link() != nil || off.Status() != nil || !strings.Contains(off.Command("set bash blocked", nil, nil), "no effect") {
		t.Error("a gate that is off")
	}
}

func TestConfig(t *testing.T) {
	if wrong := setting.Check(setting.Default[Config]()); len(wrong) > 0 {
		t.Errorf("setting.Check(setting.Default[Config]()): got %v, want none", wrong)
	}
	if wrong := setting.Check(Config{Levels: map[string]Level{"bash": Trusted}}); wrong["levels"] == "" {
		t.Error("a subject without its kind is accepted")
	}
	ours := Config{Enabled: true, Skills: Trusted, Servers: Untrusted, Content: Provisional, Levels: map[string]Level{"tool:bash": Untrusted}}
	got, ignored := setting.Tighten(ours,
		Config{Skills: Blocked, Servers: Trusted, Content: Untrusted, Levels: map[string]Level{"tool:bash": Trusted, "tool:write": Blocked}},
		setting.Paths[Config]()...)
	want := Config{Enabled: true, Skills: Blocked, Servers: Untrusted, Content: Untrusted, Levels: map[string]Level{"tool:bash": Untrusted, "tool:write": Blocked}}
	if diff := cmp.Diff(want, got); diff != "" || !slices.Equal(ignored, []string{"enabled", "levels", "servers"}) {
		t.Errorf("ignored %v\n%s", ignored, diff)
	}
	if len(ours.Levels) != 1 {
		t.Error("Tighten changed the user's map")
	}
}
