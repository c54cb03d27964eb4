package transcript_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// turnOf returns the events of a turn.
func turnOf(n int) []transcript.Event {
	text := func(s string) []acp.ContentBlock { return []acp.ContentBlock{acp.TextBlock(s)} }
	id := fmt.Sprint(n)
	events := []transcript.Event{
		transcript.Prompt{MessageID: id, Content: text("do " + id)},
		transcript.Setting{ID: "mode", Value: id},
		transcript.Block{MessageID: "a" + id, Block: llm.Block{Text: "did " + id}},
		transcript.Answer{Model: "m"},
		transcript.TurnEnd{Reason: acp.StopEndTurn},
	}
	if n%3 == 0 {
		events = append([]transcript.Event{transcript.Preamble{Content: text("before " + id)}}, events...)
	}
	return events
}

// command returns the events of a command that the user typed, with those that it
// records.
func command(events ...transcript.Event) []transcript.Event {
	prompt := transcript.Prompt{MessageID: "c", NoModel: true, Content: []acp.ContentBlock{acp.TextBlock("/x")}}
	return slices.Concat([]transcript.Event{prompt}, events,
		[]transcript.Event{transcript.Note{MessageID: "n", Text: "done"}, transcript.TurnEnd{Reason: acp.StopEndTurn}})
}

// After any rewinds and redos the history is that before the turn, or that before the
// rewind.
func TestRandomRewinds(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	var log []transcript.Event
	before := map[string][]llm.Message{} // by the id of the turn's prompt
	last := 0
	type done struct {
		id      string
		history []llm.Message
	}
	var undone []done
	record := func(byCommand bool, e transcript.Event) {
		if byCommand {
			log = append(log, command(e)...)
		} else {
			log = append(log, e)
		}
	}
	for i := range 500 {
		turns := transcript.Turns(log)
		switch k := r.IntN(10); {
		case k < 5 || len(turns) == 0:
			last++
			before[fmt.Sprint(last)] = transcript.History(log)
			log, undone = append(log, turnOf(last)...), nil
		case k == 5:
			log = append(log, command()...)
		case k == 6:
			log, undone = append(log, command(transcript.Cleared{})...), nil
		case k == 7 && len(undone) > 0:
			d := undone[len(undone)-1]
			undone = undone[:len(undone)-1]
			record(r.IntN(2) == 0, transcript.Rewound{ID: d.id, Mode: transcript.RewindBoth, Redo: true})
			if diff := cmp.Diff(d.history, transcript.History(log)); diff != "" {
				t.Fatalf("step %d: redo (-want +got)\n%s", i, diff)
			}
		default:
			to := turns[r.IntN(len(turns))]
			e := transcript.Rewound{ID: fmt.Sprint("r", i), MessageID: to.MessageID, Turn: to.Number, Mode: transcript.RewindConversation}
			undone = append(undone, done{e.ID, transcript.History(log)})
			record(r.IntN(2) == 0, e)
			if diff := cmp.Diff(before[to.MessageID], transcript.History(log)); diff != "" {
				t.Fatalf("step %d: rewind to before turn %d (-want +got)\n%s", i, to.Number, diff)
			}
		}
		if got := transcript.LastTurnNumber(log); got != last {
			t.Fatalf("step %d: the last turn is %d, want %d", i, got, last)
		}
		if got, ok := transcript.LastRedoable(log); ok != (len(undone) > 0) || ok && got.ID != undone[len(undone)-1].id {
			t.Fatalf("step %d: redoable is %v %v, want %v", i, got, ok, undone)
		}
	}
}

// A replay shows the turns that count, with the settings of the others.
func TestReplayWithoutRewoundTurns(t *testing.T) {
	log := slices.Concat(turnOf(1), turnOf(2), command(transcript.Rewound{ID: "r", MessageID: "2", Turn: 2, Mode: transcript.RewindBoth}))
	var got []string
	err := transcript.Replay(log, acp.ClientCapabilities{}, func(u acp.SessionUpdate) error {
		switch u := u.(type) {
		case acp.MessageChunk:
			got = append(got, *u.Content.Text)
		case acp.ModeUpdate:
			got = append(got, "mode "+u.CurrentModeID)
		}
		return nil
	})
	if want := []string{"do 1", "mode 1", "did 1", "mode 2", "/x", "done"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}
