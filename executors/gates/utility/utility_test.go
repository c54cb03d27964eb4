package utility

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue/cataloguetest"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// tool has a tool of each sort. Their results have a prepared size.
type tool struct{ size int }

func (tool) Tools() []executors.Tool {
	return append(cataloguetest.Known(), executors.Tool{Name: "crm__get", Server: "crm"})
}

func (tool) Prepare(context.Context, *executors.Call) (executors.Card, error) {
	return executors.Card{}, nil
}

func (t tool) Execute(context.Context, *executors.Call) (executors.Result, error) {
	return executors.Result{Text: strings.Repeat("x", t.size)}, nil
}

// run makes a call and returns it with its result.
func run(t *testing.T, g *Gate, size int, call executors.Call) (*executors.Record, executors.Result) {
	t.Helper()
	call.Record = &executors.Record{}
	if call.Input == nil {
		call.Input = json.RawMessage(`{}`)
	}
	res, err := executors.Chain(tool{size}, g.Link()).Execute(t.Context(), &call)
	if err != nil {
		t.Fatal(err)
	}
	return call.Record, res
}

func enabled(threshold float64) Config {
	cfg := setting.Default[Config]()
	cfg.Enabled, cfg.Threshold = true, threshold
	return cfg
}

// With a threshold that no score reaches, only the calls that a score may skip are
// skipped.
func TestNeverSkipped(t *testing.T) {
	for name, tt := range map[string]struct {
		call    executors.Call
		skipped bool
	}{
		"a read":             {executors.Call{Tool: "read"}, true},
		"a header of a page": {executors.Call{Tool: "http_head"}, true},
		"a page":             {executors.Call{Tool: "fetch"}, true},
		"a write":            {executors.Call{Tool: "write"}, false},
		"a command":          {executors.Call{Tool: "bash"}, false},
		"memory":             {executors.Call{Tool: "memory_save"}, false},
		"an MCP tool":        {executors.Call{Tool: "crm__get"}, false},
		"a skill":            {executors.Call{Tool: "load_skill"}, false},
		"a skill, invoked":   {executors.Call{Tool: "invoke_skill"}, false},
		"the user's call":    {executors.Call{Tool: "read", Origin: executors.User}, false},
		"the agent's call":   {executors.Call{Tool: "read", Origin: executors.Agent}, true},
		"the user's words":   {executors.Call{Tool: "read", UserWords: "Please use the read tool on a.txt"}, false},
		"other words":        {executors.Call{Tool: "read", UserWords: "Please use the grep tool on a.txt"}, true},
		"an order":           {executors.Call{Tool: "read", UserWords: "Run: cat a.txt"}, false},
		"a span of code":     {executors.Call{Tool: "grep", UserWords: "What is in `ls | head`?"}, false},
		"a plain span":       {executors.Call{Tool: "grep", UserWords: "What is in `main.go`?"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := enabled(100)
			cfg.ExemptTools = nil // the two tools of skills are exempt even so
			record, res := run(t, New(cfg), 0, tt.call)
			if res.Failed != tt.skipped {
				t.Fatalf("result %q, record %+v", res.ForModel(), record)
			}
			if tt.skipped && (record.Verdicts[0].Gate != Name || record.Verdicts[0].Decision != executors.Deny || !strings.Contains(res.ForModel(),
				"was skipped: it would add little")) {
				t.Errorf("verdicts %+v, result %q", record.Verdicts, res.ForModel())
			}
		})
	}
}

// TestParts checks the four parts of the score, and when they end.
func TestParts(t *testing.T) {
	g := New(enabled(-10))
	rule := func(tool, input string, size int) string {
		t.Helper()
		record, _ := run(t, g, size, executors.Call{Tool: tool, Input: json.RawMessage(input)})
		return record.Verdicts[0].Rule + "; " + record.Verdicts[0].Reason
	}
	expect := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	expect(rule("read", `{"path":"a"}`, 48_000), "gain 0.55, cost 0.04, redundancy 0.00, exploration 1.00; the score is 0.73")
	expect(rule("read", `{"path":"a"}`, 0), "gain 0.55, cost 0.96, redundancy 1.00, exploration 0.90; the score is -0.05")
	expect(rule("read", `{"path":"b"}`, 0), "gain 0.55, cost 0.48, redundancy 0.00, exploration 0.80; the score is 0.47")
	expect(rule("grep", `{}`, 0), "gain 0.65, cost 0.04, redundancy 0.00, exploration 1.00; the score is 0.83")
	g.Begin()
	expect(rule("grep", `{}`, 0), "gain 0.65, cost 0.00, redundancy 0.00, exploration 0.90; the score is 0.83")
	run(t, g, 0, executors.Call{Tool: "write"})
	expect(rule("grep", `{}`, 0), "gain 0.65, cost 0.00, redundancy 0.00, exploration 0.80; the score is 0.81")
	g.Reset()
	expect(rule("read", `{"path":"a"}`, 0), "gain 0.55, cost 0.04, redundancy 0.00, exploration 1.00; the score is 0.73")
	cfg := enabled(0)
	cfg.HighGainTools = []string{"crm:_get"}
	if gain := New(cfg).gain(&executors.Call{Tool: "crm__get"}); gain != highGain {
		t.Errorf("gain %v of a tool with high gain", gain)
	}
	for name, want := range map[string]float64{
		"memory_search": 0.8, "bash": 0.6, "read": 0.55, "write": 0.55, "edit": 0.75, "grep": 0.65, "search_code": 0.65, "find_path": 0.65, "list_directory": 0.65,
		"copy_path": 0.75, "create_directory": 0.75, "delete_path": 0.75, "move_path": 0.75, "diagnostics": 0.75, "http_head": otherGain, "fetch": otherGain,
	} {
		if gain := New(cfg).gain(&executors.Call{Tool: name, Spec: cataloguetest.Spec(name)}); math.Abs(gain-want) > 1e-6 {
			t.Errorf("the gain of %s is %v, want %v", name, gain, want)
		}
	}
}

// A repeated call with a large result is skipped, and the model learns why.
func TestRepeated(t *testing.T) {
	g := New(enabled(0))
	call := executors.Call{Tool: "read", Input: json.RawMessage(`{"path":"a"}`)}
	if _, res := run(t, g, 60_000, call); res.Failed {
		t.Fatalf("run(t, g, 60_000, call): got %s, want success", res.ForModel())
	}
	if _, res := run(t, g, 0, call); !strings.Contains(res.ForModel(), "category: policy_blocked") || !strings.Contains(res.ForModel(),
		"made the same call before") {
		t.Errorf("result %q", res.ForModel())
	}
}

// A score that is no number denies the call, also one with effects.
func TestNoScore(t *testing.T) {
	cfg := enabled(0)
	cfg.GainWeight = math.NaN()
	for _, name := range []string{"read", "write"} {
		if _, res := run(t, New(cfg), 0, executors.Call{Tool: name}); !strings.Contains(res.ForModel(), "cannot be estimated") {
			t.Errorf("%s: %q", name, res.ForModel())
		}
	}
}

func TestConfig(t *testing.T) {
	d := setting.Default[Config]()
	if len(d.ExemptTools) > 0 {
		t.Errorf("exempt tools %q, want none: tools that load skills are exempt in any case", d.ExemptTools)
	}
	if wrong := setting.Check(d); d.Enabled || len(wrong) > 0 || New(d).Link() != nil {
		t.Error("the defaults are on or wrong")
	}
	bad := Config{Threshold: math.NaN(), GainWeight: -1, CostWeight: math.NaN(), RedundancyWeight: math.Inf(1), UncertaintyBonus: -0.1}
	if wrong := setting.Check(bad); len(wrong) != 5 {
		t.Errorf("setting.Check(bad): got %v, want 5 of them", wrong)
	}
}
