package integration

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// The flags of run reach the model: a text for the system prompt, attachments, a schema for
// the answer, also of a command. The result counts the tokens of both requests.
func TestRunFlagsReachModel(t *testing.T) {
	p := fakemodel.NewAnthropic(t,
		fakemodel.Answer(fakemodel.Say("Two findings.")), fakemodel.Answer(fakemodel.Say("```json\n[]\n```")),
		fakemodel.Answer(fakemodel.Say("[]")),
	)
	a := launch(t, start{env: p.Env()})
	a.file("shot.png", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x00\x00\x00\x00")
	a.file("notes.txt", "Mind the gap.")
	a.file("schema.json", `{"type": "array"}`)
	run := func(args ...string) (r struct {
		Data  json.RawMessage
		Usage struct{ InputTokens, OutputTokens int }
	}) {
		t.Helper()
		args = append([]string{"run", "--json", "--quiet", "--system-append", "Answer in verse.", "--output-schema", "schema.json"}, args...)
		out, err := commandIn(a, args...).Output()
		if err == nil {
			err = json.Unmarshal(out, &r)
		}
		if err != nil || string(r.Data) != "[]" || r.Usage.InputTokens == 0 || r.Usage.OutputTokens == 0 {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
		return r
	}
	two := run("--attach", "shot.png", "--attach", "notes.txt", "look").Usage
	one := run("/review").Usage
	if two.InputTokens != 2*one.InputTokens {
		t.Errorf("%d tokens of two requests, %d of one", two.InputTokens, one.InputTokens)
	}
	const want = `It must fit this JSON Schema:\n{\"type\":\"array\"}`
	for i, request := range p.Requests() {
		system, _, _ := strings.Cut(request, `"messages":`)
		if asked := strings.Count(request, want); !strings.Contains(request, "Answer in verse.") || asked != []int{1, 2, 1}[i] {
			t.Errorf("request %d asks %d times for the schema: %s", i, asked, system)
		}
	}
	first := strings.Join(p.Request(0).History(), "\n")
	if !strings.Contains(first, "user: image") || !strings.Contains(first, "notes.txt") || !strings.Contains(first, "Mind the gap.") {
		t.Errorf("the first request has\n%s", first)
	}
	if last := p.Request(2).Last(); strings.Contains(last, "JSON") {
		t.Errorf("the prompt of the command: %s", last)
	}
}
