package transcript

import (
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// A replay shows a compaction once, in the form that the client supports.
func TestCompactionReplayed(t *testing.T) {
	head := Digest{Summary: "s"}.Message()
	events := []Event{
		Prompt{Content: []acp.ContentBlock{acp.TextBlock("a")}},
		Compaction{ID: "1", Strategy: Triggered, Head: &head, Replaced: 1, Summary: "s", MessageID: "m", Before: 9, After: 3},
		Compaction{ID: "2", Strategy: Manual, Head: &head, Replaced: 1, Summary: "s"},
		Compaction{Summary: "of an earlier version"},
		Compaction{Strategy: Aged, Shortened: []Shortened{{Message: 1, ID: "c", Text: "t"}}, Before: 9, After: 3},
	}
	for name, tt := range map[string]struct {
		caps acp.ClientCapabilities
		want string
	}{
		"compaction_update": {acp.ClientCapabilities{Compaction: true}, "1 completed, 2 completed"},
		"a message":         {acp.ClientCapabilities{}, "m: Compacted the conversation (triggered): older messages are a summary, and about 9 tokens are now 3.\n\n"},
	} {
		var got []string
		err := Replay(events, tt.caps, func(u acp.SessionUpdate) error {
			switch u := u.(type) {
			case acp.CompactionUpdate:
				got = append(got, u.CompactionID+" "+string(u.Status))
			case acp.MessageChunk:
				if u.Update == acp.UpdateAgentMessage {
					got = append(got, u.MessageID+": "+*u.Content.Text)
				}
			}
			return nil
		})
		if all := strings.Join(got, ", "); err != nil || all != tt.want {
			t.Errorf("%s: %v\n%s", name, err, all)
		}
	}
}

// An import rejects a compaction that this program could not have made.
func TestUnsoundCompaction(t *testing.T) {
	for name, data := range map[string]string{
		"strategy":     `{"strategy":"mine"}`,
		"negative":     `{"replaced":-1}`,
		"prompt stays": `{"replaced":1,"prompt":2}`,
		"no digest":    `{"head":{"role":"user","blocks":[{"text":"hi"}]}}`,
		"no user":      `{"head":{"role":"assistant","blocks":[{"text":"[The plan, as it is now]\nx"}]}}`,
		"message":      `{"shortened":[{"message":-1}]}`,
	} {
		if e, err := Decode("compaction", []byte(data)); err == nil {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

// In a log of an earlier version, a summary replaces the whole history.
func TestEarlierCompaction(t *testing.T) {
	history := History([]Event{
		Prompt{Content: []acp.ContentBlock{acp.TextBlock("a")}}, Block{Block: llm.Block{Text: "b"}}, Answer{}, TurnEnd{Reason: acp.StopEndTurn},
		Prompt{NoModel: true}, Compaction{Summary: "s"}, TurnEnd{Reason: acp.StopEndTurn},
		Prompt{Content: []acp.ContentBlock{acp.TextBlock("c")}},
	})
	if len(history) != 2 || SummaryOf(history) != "s" || history[1].Blocks[0].Text != "c" {
		t.Errorf("%+v", history)
	}
}
