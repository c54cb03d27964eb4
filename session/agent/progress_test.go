package agent

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// A server that reads a request for long is reported: in notices again and again, and in a message once. A quick one is not.
func TestProgressOfARequest(t *testing.T) {
	at := func(seconds, done int) llm.Event {
		return llm.Event{Progress: &llm.Progress{Done: done, Total: 9000, Elapsed: time.Duration(seconds) * time.Second}}
	}
	slow := []llm.Event{at(0, 0), at(9, 1000), at(12, 2000), at(20, 3000), at(45, 6000), at(90, 9000), {Text: "Hi."}, {Stop: llm.StopEnd}}
	for name, tt := range map[string]struct {
		events  []llm.Event
		notices bool
		want    string
	}{
		"quick": {[]llm.Event{at(0, 0), at(3, 5000), at(5, 9000), {Text: "Hi."}, {Stop: llm.StopEnd}}, true, "Hi."},
		"notices": {slow, true,
			"[fake:m is reading the request: 2000 of 9000 tokens after 12 s.] [fake:m is reading the request: 6000 of 9000 tokens after 45 s.] Hi."},
		"message": {slow, false, "fake:m is reading the request: 2000 of 9000 tokens after 12 s. Hi."},
	} {
		t.Run(name, func(t *testing.T) {
			var seen []string
			a := newAgent(t, "", &client{})
			a.Notices = tt.notices
			a.Model = func() llm.Model { return scripted(tt.events) }
			a.Send = func(_ context.Context, u acp.SessionUpdate) error {
				switch u := u.(type) {
				case acp.Notice:
					seen = append(seen, fmt.Sprintf("[%s]", u.Title))
				case acp.MessageChunk:
					seen = append(seen, strings.TrimSpace(*u.Content.Text))
				}
				return nil
			}
			history, _, err := a.Turn(t.Context(), nil, text("u"))
			if diff := cmp.Diff(tt.want, strings.Join(seen, " ")); diff != "" || err != nil {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
			if last := history[len(history)-1].Blocks; len(last) != 1 || last[0].Text != "Hi." {
				t.Errorf("the answer in the history is %+v", last)
			}
		})
	}
}

// scripted is a model with one answer.
type scripted []llm.Event

func (scripted) Name() string { return "fake:m" }

func (scripted) Window() int { return 0 }

func (s scripted) Stream(context.Context, llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		for _, ev := range s {
			if !yield(ev, nil) {
				return
			}
		}
	}
}
