package filter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/executors/filechange"
	"github.com/zeph-acp/zeph-acp/filter/redact"
)

// failing fails to prepare, and to run, with an error, after it has reported progress.
type failing struct{ err error }

func (f failing) Tools() []executors.Tool { return nil }

func (f failing) Prepare(context.Context, *executors.Call) (executors.Card, error) {
	return executors.Card{}, f.err
}

func (f failing) Execute(_ context.Context, call *executors.Call) (executors.Result, error) {
	call.Notify(executors.Event{Progress: "asks " + fakeKey})
	call.Notify(executors.Event{Plan: &executors.Plan{Entries: []executors.PlanEntry{{Content: fakeKey}}}})
	return executors.FailWith(f.err), f.err
}

// Whatever link or tool a text comes from, it is masked when it leaves the chain: results, errors,
// progress and plans.
func TestGateMasks(t *testing.T) {
	const masked = "[REDACTED:aws key]"
	canceled := fmt.Errorf("stopped at %s: %w", fakeKey, context.Canceled)
	failure := executors.Failuref(executors.InvalidParameters, "no %s", fakeKey).Hint("did you mean %s?", fakeKey).ForUser("No %s.", fakeKey)
	gate := testLink(t).Gate
	for name, tt := range map[string]struct{ err, want error }{
		"failure": {failure, executors.Failuref(executors.InvalidParameters, "no %s", masked).Hint("did you mean %s?", masked).ForUser("No %s.", masked)},
		"error":   {canceled, errors.New("stopped at " + masked + ": context canceled")},
	} {
		t.Run(name, func(t *testing.T) {
			var shown []executors.Event
			call := &executors.Call{Notify: func(ev executors.Event) { shown = append(shown, ev) }}
			link := gate(failing{tt.err})
			_, err := link.Prepare(t.Context(), call)
			if err.Error() != tt.want.Error() || !errors.Is(err, context.Canceled) && name == "error" {
				t.Errorf("Prepare: %v", err)
			}
			res, err := link.Execute(t.Context(), call)
			if err.Error() != tt.want.Error() {
				t.Errorf("Execute: %v", err)
			}
			if want := executors.FailWith(tt.want); name == "failure" && !cmp.Equal(want.Failure, res.Failure) {
				t.Errorf("(-want +got)\n%s", cmp.Diff(want.Failure, res.Failure))
			}
			want := []executors.Event{
				{Progress: "asks " + masked}, {Plan: &executors.Plan{Entries: []executors.PlanEntry{{Content: masked}}}},
			}
			if diff := cmp.Diff(want, shown); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A diff shows masked values, and the text that the filter has masked passes unchanged.
func TestGateMasksDiffs(t *testing.T) {
	const masked = "[REDACTED:aws key]"
	diff := func(text string) []executors.Content {
		return []executors.Content{{Change: &filechange.Change{Path: "/f", Old: &text, New: &text}}}
	}
	in := executors.Result{Text: "id " + fakeKey, Content: diff(fakeKey), Locations: []executors.Location{{Path: "/w/" + fakeKey}}}
	want := executors.Result{
		Text: "id " + masked, Content: diff(masked), Locations: []executors.Location{{Path: "/w/" + masked}},
		Notes: []string{"[security] 1 credential masked: aws key"},
	}
	link := testLink(t)
	link.Filter = link.Filter.Scanning(link.Filter.Scanner().Session())
	got, err := link.Gate(link.Middleware(tool{res: in})).Execute(t.Context(), &executors.Call{})
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v, (-want +got)\n%s", err, d)
	}
}

// prepares returns a card.
type prepares struct {
	failing
	card executors.Card
}

func (p prepares) Prepare(context.Context, *executors.Call) (executors.Card, error) {
	return p.card, nil
}

// A mark does not leave for a file, a web server or an MCP server. Reading and searching for it is fine.
func TestGateRefusesMarks(t *testing.T) {
	for name, tt := range map[string]struct {
		card    executors.Card
		input   string
		refused string
	}{
		"here-document": {executors.Card{Script: command.Parse("cat > .env <<E\nA=[REDACTED:secret]\nE", command.Shell{})}, "{}",
			"line 2 of the command has [REDACTED:secret]"},
		"sed":         {executors.Card{Script: command.Parse("sed -i 's/x/[REDACTED]/' f", command.Shell{})}, "{}", "line 1 of the command has [REDACTED]"},
		"request":     {executors.Card{Script: command.Parse("curl -H 'Authorization: Bearer [REDACTED:authorization]' x.dev", command.Shell{})}, "{}", "line 1"},
		"grep":        {executors.Card{Script: command.Parse("grep -n '[REDACTED:secret]' f", command.Shell{})}, "{}", ""},
		"no mark":     {executors.Card{Script: command.Parse("echo REDACTED > f", command.Shell{})}, "{}", ""},
		"web":         {executors.Card{URL: "https://x.dev/?token=[REDACTED]"}, "{}", "the address has [REDACTED]"},
		"MCP":         {executors.Card{Server: "s"}, `{"body":"[REDACTED:secret]"}`, "the input has [REDACTED:secret]"},
		"a file tool": {executors.Card{}, `{"content":"[REDACTED:secret]"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := testLink(t).Gate(prepares{card: tt.card}).Prepare(t.Context(), &executors.Call{Input: json.RawMessage(tt.input)})
			if got := fmt.Sprint(err); (err == nil) != (tt.refused == "") || !strings.Contains(got, tt.refused) && err != nil {
				t.Errorf("got %v, want %q", err, tt.refused)
			}
		})
	}
}

// BenchmarkGate measures the own time of the gate for a result that the filter has masked.
func BenchmarkGate(b *testing.B) {
	l := &Link{Filter: (&Filter{}).Scanning((&redact.Scanner{}).Session())}
	text := ""
	for i := range 1000 {
		text += fmt.Sprintf("%d func (a *agent) permissionRequest(x int) frame { return y }\n", i)
	}
	inner := tool{res: executors.Result{Text: text, Raw: map[string]any{"stdout": text}}}
	for name, link := range map[string]executors.Executor{"filter": l.Middleware(inner), "filter+gate": l.Gate(l.Middleware(inner))} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := link.Execute(b.Context(), &executors.Call{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
