package headless

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/acp"
)

// The wait for a prompt ends when the session is idle and no other prompt is on its way. A prompt that arrives after the
// idle state is work of its own.
func TestWorkEnds(t *testing.T) {
	const (
		inserted = `{"sessionUpdate":"user_message","messageId":"m"}`
		running  = `{"sessionUpdate":"state_update","state":"running"}`
		asks     = `{"sessionUpdate":"state_update","state":"requires_action"}`
		idle     = `{"sessionUpdate":"state_update","state":"idle","stopReason":"end_turn"}`
		failed   = `{"sessionUpdate":"state_update","state":"idle","stopReason":"error","error":{"code":-32603,"message":"boom"}}`
		present  = `{"sessionUpdate":"state_update","state":"idle"}`
		sent     = "sent"     // another prompt
		answered = "answered" // one of the prompts
	)
	for name, tt := range map[string]struct {
		events []string // after the prompt was sent; the wait ends with the last one
		want   ending
	}{
		"a turn":                 {[]string{present, inserted, answered, running, asks, running, idle}, ending{stop: acp.StopEndTurn}},
		"a failure":              {[]string{inserted, answered, running, failed}, ending{}},
		"idle before the answer": {[]string{inserted, running, idle, answered}, ending{stop: acp.StopEndTurn}},
		"work of the agent before it": {
			[]string{idle, inserted, answered, running, idle}, ending{stop: acp.StopEndTurn},
		},
		"a text that joins": {
			[]string{inserted, answered, running, sent, inserted, answered, idle}, ending{stop: acp.StopEndTurn},
		},
		"a text after the end": {
			[]string{inserted, answered, running, sent, idle, inserted, answered, running, failed}, ending{},
		},
		"a text that is refused": {
			[]string{inserted, answered, running, sent, idle, answered}, ending{stop: acp.StopEndTurn},
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := newVersion2(&client{Turn: &Turn{View: NoView{}}})
			done := make(chan struct{})
			v.unanswered, v.done = 1, done
			for i, e := range tt.events {
				select {
				case <-done:
					t.Fatalf("the wait ended before event %d, %s", i, e)
				default:
				}
				switch e {
				case sent:
					v.unanswered++
				case answered:
					v.answered()
				default:
					v.update(json.RawMessage(`{"sessionId":"s","update":` + e + `}`))
				}
			}
			select {
			case <-done:
			default:
				t.Fatal("the wait has not ended")
			}
			if v.ended.stop != tt.want.stop || (v.ended.err != nil) != (tt.want.stop == "") {
				t.Errorf("it ended with %+v, want %+v", v.ended, tt.want)
			}
		})
	}
}

// The answer to a field has its type, and a person can type a number in place of a choice.
func TestFormFields(t *testing.T) {
	const schema = `{"type":"object","required":["a"],"properties":{
		"z":{"type":"string","enum":["x","y"],"enumNames":["X it","Y it"]},
		"a":{"type":"integer","title":"How many?","default":3},
		"b":{"type":"boolean"},"n":{"type":"number"},"o":{"type":"string","oneOf":[{"const":"p","title":"P it"}]},
		"l":{"type":"array","items":{"type":"string","enum":["x","y"]}},"t":{"type":"array","items":{"anyOf":[{"const":"u","title":"U it"}]}},
		"s":{"type":"string"}}}`
	var texts, hints, possible []string
	fields := map[string]field{}
	for _, f := range fieldsOf(json.RawMessage(schema)) {
		texts, hints, possible = append(texts, f.text()), append(hints, f.hint()), append(possible, f.possible())
		fields[f.name] = f
	}
	wantTexts := []string{"z\n  1  X it\n  2  Y it", "How many?", "b", "n", "o\n  1  P it", "l\n  1  x\n  2  y", "t\n  1  U it", "s"}
	wantHints := []string{
		"1-2, Enter for none: ", "a number, Enter for 3: ", "y, n, Enter for none: ", "a number, Enter for none: ", "1-1, Enter for none: ",
		"numbers from 1 to 2, Enter for none: ", "numbers from 1 to 1, Enter for none: ", "an answer, Enter for none: ",
	}
	wantPossible := []string{
		"a number from 1 to 2", "a whole number", "y for yes, or n for no", "a number", "the number 1",
		"a number from 1 to 2, or several with commas between", "the number 1", "an answer",
	}
	if diff := cmp.Diff(wantTexts, texts) + cmp.Diff(wantHints, hints) + cmp.Diff(wantPossible, possible); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, tt := range []struct {
		field, line string
		want        any // nil means that the line is refused
	}{
		{"z", "2", "y"}, {"z", "x", "x"}, {"z", "3", nil}, {"a", "", 3.0}, {"a", "12", int64(12)}, {"a", "1.5", nil}, {"b", "Yes", true}, {"b", "n", false},
		{"b", "maybe", nil}, {"n", "1.5", 1.5}, {"o", "1", "p"}, {"l", "1, y", []string{"x", "y"}}, {"l", "9", nil},
		{"t", "1", []string{"u"}}, {"s", "free 1", "free 1"},
	} {
		got, ok := fields[tt.field].value(tt.line)
		if ok != (tt.want != nil) || ok && !cmp.Equal(got, tt.want) {
			t.Errorf("%s: %q is %v, %v, want %v", tt.field, tt.line, got, ok, tt.want)
		}
	}
}
