package executors

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

type echoInput struct {
	Text  string   `json:"text" jsonschema:"description=What to say."`
	Times int      `json:"times,omitempty" jsonschema:"minimum=1"`
	Loud  bool     `json:"loud,omitempty"`
	Tags  []string `json:"tags,omitempty"`
}

func echo(name string) Registry {
	return Registry{Bind(Tool{Name: name, Description: "Says it.", Effect: Reads},
		func(_ context.Context, _ *Call, in *echoInput) (Card, error) {
			return Card{Title: "Echo " + in.Text}, nil
		},
		func(_ context.Context, _ *Call, in *echoInput) (Result, error) { return Result{Text: in.Text}, nil },
	)}
}

func TestSchemaOf(t *testing.T) {
	const want = `{"properties":{"text":{"type":"string","description":"What to say."},"times":{"type":"integer","minimum":1},"loud":{"type":"boolean"},"tags":{"items":{"type":"string"},"type":"array"}},"additionalProperties":false,"type":"object","required":["text"]}`
	if diff := cmp.Diff(want, string(schemaOf(reflect.TypeFor[echoInput]()))); diff != "" {
		t.Error(diff)
	}
}

// Run as the turn loop does: prepare, then execute with that card.
func run(t *testing.T, e Executor, call *Call) (Card, Result) {
	t.Helper()
	card, err := e.Prepare(t.Context(), call)
	call.Card, call.PrepareErr = card, err
	res, err := e.Execute(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	return card, res
}

func TestValidate(t *testing.T) {
	chain := Chain(NewDynExecutor(echo("echo"), echo("echo"), echo("shout")), Validate)
	for name, tt := range map[string]struct {
		tool, input string
		category    Category
		names       string // words that the text must contain
	}{
		"fits":            {"echo", `{"text":"hi"}`, "", "hi"},
		"second part":     {"shout", `{"text":"hi"}`, "", "hi"},
		"missing":         {"echo", `{}`, InvalidParameters, `echo: text is missing`},
		"wrong type":      {"echo", `{"text":5}`, TypeMismatch, `echo: text must be a string, got 5`},
		"wrong item type": {"echo", `{"text":"x","tags":[1]}`, TypeMismatch, `echo: tags[0] must be a string, got 1`},
		"out of range":    {"echo", `{"text":"x","times":0}`, InvalidParameters, `echo: times must be at least 1, got 0`},
		"unknown field":   {"echo", `{"text":"x","loudness":1}`, "", "x\n[ignored unknown parameter \"loudness\"]"},
		"given twice":     {"echo", `{"text":"x","text":"y"}`, InvalidParameters, `echo: "text" is given twice`},
		"array":           {"echo", `[1]`, InvalidParameters, `object`},
		"null":            {"echo", `null`, InvalidParameters, `object`},
		"unknown tool":    {"nope", `{}`, ToolNotFound, `echo, shout`},
	} {
		t.Run(name, func(t *testing.T) {
			_, res := run(t, chain, &Call{Tool: tt.tool, Input: json.RawMessage(tt.input)})
			if res.Category() != tt.category || res.Failed != (tt.category != "") || !strings.Contains(res.ForModel(), tt.names) {
				t.Errorf("got %q %q, want %q naming %s", res.Category(), res.ForModel(), tt.category, tt.names)
			}
		})
	}
}

// Execute checks an input again if it has changed since Prepare, or the tool has.
func TestValidateAfterAChange(t *testing.T) {
	tools := NewDynExecutor(echo("echo"))
	chain := Chain(tools, Validate)
	for name, change := range map[string]func(*Call){
		"no change":         func(*Call) {},
		"another input":     func(call *Call) { call.Input = json.RawMessage(`{"text":5}`) },
		"the same memory":   func(call *Call) { copy(call.Input, `{"next"`) },
		"another schema":    func(*Call) { tools.Set(Registry{Bind(Tool{Name: "echo"}, prepareCount, executeCount)}) },
		"the former schema": func(*Call) { tools.Set(echo("echo")) },
	} {
		tools.Set(echo("echo"))
		call := &Call{Tool: "echo", Input: json.RawMessage(`{"text":"hi"}`)}
		if _, err := chain.Prepare(t.Context(), call); err != nil {
			t.Fatal(err)
		}
		change(call)
		res, err := chain.Execute(t.Context(), call)
		fits := name == "no change" || name == "the former schema"
		if err != nil || res.Failed == fits {
			t.Errorf("%s: %q, %v", name, res.ForModel(), err)
		}
	}
}

type count struct {
	Text int `json:"text"`
}

func prepareCount(context.Context, *Call, *count) (Card, error)   { return Card{}, nil }
func executeCount(context.Context, *Call, *count) (Result, error) { return Result{Text: "1"}, nil }

func TestFailureBlock(t *testing.T) {
	got := Failuref(RateLimited, "too many\nrequests").Hint("Wait.").Result()
	got.Text, got.Notes = "so far\n", []string{"[exit 1]"}
	want := "[tool_error]\ncategory: rate_limited\nerror: too many requests\nsuggestion: Wait.\nretryable: true\nso far\n[exit 1]"
	if diff := cmp.Diff(want, got.ForModel()); diff != "" || !got.Failed || got.Category() != RateLimited {
		t.Errorf("%+v, (-want +got)\n%s", got, diff)
	}
}

func TestFailureIsBounded(t *testing.T) {
	got := Failf(PermanentFailure, "open %s: file name too long", strings.Repeat("é", 1<<20)).ForModel()
	if len(got) > 2*maxSentence || !utf8.ValidString(got) || !strings.Contains(got, "open é") || !strings.Contains(got, "é: file name too long") {
		t.Errorf("%d bytes: %.100s", len(got), got)
	}
}

func TestChainOrder(t *testing.T) {
	var order []string
	link := func(name string) Middleware {
		return func(next Executor) Executor { return &noting{next, name, &order} }
	}
	if _, res := run(t, Chain(echo("echo"), link("a"), link("b")), &Call{Tool: "echo", Input: json.RawMessage(`{"text":"x"}`)}); res.ForModel() != "x" {
		t.Errorf("got %q, want x", res.ForModel())
	}
	if got := strings.Join(order, ""); got != "ab" {
		t.Errorf(`strings.Join(order, ""): got %q, want %q`, got, "ab")
	}
}

type noting struct {
	Executor
	name  string
	order *[]string
}

func (n *noting) Execute(ctx context.Context, call *Call) (Result, error) {
	*n.order = append(*n.order, n.name)
	return n.Executor.Execute(ctx, call)
}

func TestShownRaw(t *testing.T) {
	small := map[string]any{"matches": 3, "<": strings.Repeat("x", 1<<10)}
	if got := ShownRaw(small); fmt.Sprint(got) != fmt.Sprint(small) {
		t.Errorf("got %v", got)
	}
	for name, raw := range map[string]any{
		"long text": map[string]any{"stdout": strings.Repeat("é", 1<<20), "exit_code": 0},
		"long list": map[string]any{"paths": slices.Repeat([]string{strings.Repeat("p", 1<<10)}, 10_000), "exit_code": 0},
	} {
		got, err := json.Marshal(ShownRaw(raw))
		if err != nil || len(got) > maxRaw || !strings.Contains(string(got), `"exit_code":0`) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	for name, raw := range map[string]any{"many members": manyMembers(), "no JSON": func() {}, "nothing": nil} {
		if got := ShownRaw(raw); got != nil {
			t.Errorf("%s: got %T", name, got)
		}
	}
}

func manyMembers() map[string]string {
	m := map[string]string{}
	for i := range 20_000 {
		m[fmt.Sprint("member number ", i)] = "x"
	}
	return m
}

func TestShownInput(t *testing.T) {
	long, _ := json.Marshal(map[string]any{"path": "a", "content": strings.Repeat("é", 1<<20)})
	got := (&Call{Input: long}).ShownInput()
	if len(got) > 2*maxShown || !json.Valid(got) || !strings.Contains(string(got), `"path":"a"`) {
		t.Errorf("%d bytes", len(got))
	}
}

func BenchmarkValidate(b *testing.B) {
	chain := Chain(NewDynExecutor(echo("echo")), Validate)
	b.ReportAllocs()
	for b.Loop() {
		call := &Call{Tool: "echo", Input: json.RawMessage(`{"text":"hi","times":3}`)}
		if _, err := chain.Prepare(b.Context(), call); err != nil {
			b.Fatal(err)
		}
	}
}
