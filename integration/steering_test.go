package integration

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// TestSteeringDocumented plays the frames of docs/chat.md: what the page shows is sent
// and answered.
func TestSteeringDocumented(t *testing.T) {
	playDocument(t, "chat.md", `_session/steering`, func(fakemodel.Request) fakemodel.Reply {
		return fakemodel.Answer(fakemodel.Say("Done."))
	})
}

// playDocument plays the first block of frames on a page that contains a text. Requests are
// sent together, in a session of this test, and their answers compared.
func playDocument(t *testing.T, page, contains string, choose func(fakemodel.Request) fakemodel.Reply) {
	t.Helper()
	text := readText(t, "docs/"+page)
	var frames []string
	for _, block := range regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(text, -1) {
		if frames == nil && strings.Contains(block[1], contains) {
			frames = strings.Split(strings.TrimSpace(block[1]), "\n")
		}
	}
	if frames == nil {
		t.Fatalf("%s has no frames with %s", page, contains)
	}
	p := fakemodel.NewAnthropic(t)
	p.Choose = choose
	a := connect(t, start{env: p.Env()})
	s := a.open()
	var answers []string
	for _, f := range frames {
		f = strings.ReplaceAll(f, "8f3a12c4", s)
		if strings.Contains(f, `"method"`) {
			a.send(f + "\n")
		} else {
			answers = append(answers, f)
		}
	}
	for _, want := range answers {
		var frame struct{ ID, Result json.RawMessage }
		if err := json.Unmarshal([]byte(want), &frame); err != nil {
			t.Fatalf("%v: %s", err, want)
		}
		if got := a.answer(string(frame.ID)); string(got.Result) != string(frame.Result) {
			t.Errorf("got %s, the page has %s", got.line, want)
		}
	}
}

// TestSteeringRace adds texts before, during and after the last tool call, two at once, and
// together with a cancel. The model sees each text exactly once in its turn, or the answer says
// that no model sees it. No text is in a later turn.
func TestSteeringRace(t *testing.T) {
	p := fakemodel.NewAnthropic(t)
	began := make(chan struct{}, 1)
	p.Choose = func(r fakemodel.Request) fakemodel.Reply {
		select {
		case began <- struct{}{}:
		default:
		}
		if strings.HasPrefix(r.Last(), "turn ") {
			return fakemodel.Answer(fakemodel.Call(fmt.Sprint("toolu_", len(p.Requests())), "read", map[string]any{"path": "a.txt"}))
		}
		return fakemodel.Answer(fakemodel.Say("Done."))
	}
	a := launch(t, start{env: p.Env()})
	a.file("a.txt", "text\n")
	a.initialize()
	s := a.open()
	for turn := range 60 {
		id := func(name string) string { return fmt.Sprintf(`"%s %d"`, name, turn) }
		guard := `,"_meta":{"steering":{"idleBehavior":"promptRequired"}}}`
		steer := func(name string) {
			params := fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":"%s of %d."}]`, s, name, turn)
			a.request(id(name), "_session/steering", params+guard)
		}
		a.request(id("turn"), "session/prompt", promptParams(s, fmt.Sprint("turn ", turn)))
		steer("first")
		if turn%3 == 0 { // the model has begun
			<-began
		}
		steer("second")
		steer("third")
		if turn%4 == 0 {
			a.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`+"\n", s))
		}
		steer("fourth")
		var ended struct{ StopReason string }
		if err := json.Unmarshal(a.answer(id("turn")).Result, &ended); err != nil {
			t.Fatal(err)
		}
		outcomes := map[string]string{}
		for _, name := range []string{"first", "second", "third", "fourth"} {
			var r struct{ Outcome string }
			if err := json.Unmarshal(a.answer(id(name)).Result, &r); err != nil {
				t.Fatal(err)
			}
			outcomes[fmt.Sprintf("%s of %d.", name, turn)] = r.Outcome
		}
		a.runTurn(s, fmt.Sprint("after ", turn))
		all := p.Requests()
		for text, outcome := range outcomes {
			want := 0
			if outcome == "injected" {
				want = 1
			}
			if got := strings.Count(all[len(all)-1], text); got != want {
				t.Errorf("turn %d (%s): %s was %s, and the conversation has it %d times", turn, ended.StopReason, text, outcome, got)
			}
		}
	}
}
