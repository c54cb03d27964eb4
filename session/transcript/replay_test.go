package transcript

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
)

// replayed returns the message chunks of a replay.
func replayed(t *testing.T, events ...Event) []acp.MessageChunk {
	t.Helper()
	var chunks []acp.MessageChunk
	err := Replay(events, acp.ClientCapabilities{}, func(u acp.SessionUpdate) error {
		if c, ok := u.(acp.MessageChunk); ok {
			chunks = append(chunks, c)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return chunks
}

// A text that is too long for a frame is sent in pieces, cut between
// characters.
func TestReplayLongText(t *testing.T) {
	text := "x" + strings.Repeat("€", maxReplayed) + strings.Repeat("\"\x01", maxReplayed/8)
	chunks := replayed(t, Prompt{MessageID: "u", Content: []acp.ContentBlock{acp.TextBlock(text)}})
	got := ""
	for _, c := range chunks {
		sent, err := plainjson.Marshal(*c.Content.Text)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(sent) - len(`""`); n > maxReplayed || !utf8.ValidString(*c.Content.Text) || c.MessageID != "u" {
			t.Errorf("a piece of %d bytes, of message %q", n, c.MessageID)
		}
		got += *c.Content.Text
	}
	if got != text || len(chunks) < 4 {
		t.Errorf("%d chunks, %d bytes", len(chunks), len(got))
	}
}

// The text of a result fits into a frame, and keeps its end.
func TestFitResult(t *testing.T) {
	if fits := strings.Repeat("語", 200_000); FitResult(fits) != fits {
		t.Error("a text of 200,000 characters is cut")
	}
	for _, part := range []string{"x", "語", "\x01", "\"€\n"} {
		got := FitResult(strings.Repeat(part, 1<<20) + "\n[exit 1]")
		sent, err := plainjson.Marshal(got)
		if err != nil || len(sent) > maxResult || !utf8.ValidString(got) ||
			!strings.Contains(got, " KiB that only the model gets") || !strings.HasSuffix(got, "\n[exit 1]") {
			t.Errorf("%q: %d bytes, %v, want %d at most, with the end: %.100q … %q", part, len(sent), err, maxResult, got, got[len(got)-100:])
		}
	}
}

// An attachment that cannot be shown is replaced by one that can.
func TestReplayAttachments(t *testing.T) {
	large := strings.Repeat("A", maxReplayed+4)
	resource := acp.ContentBlock{Type: "resource", Resource: &acp.Resource{URI: "file:///a", MIMEType: "text/plain", Text: &large}}
	small := acp.ContentBlock{Type: "image", MIMEType: "image/png", Data: "AAAA"}
	for name, tt := range map[string]struct{ block, want acp.ContentBlock }{
		"small image": {small, small},
		"long when sent": {acp.ContentBlock{Type: "resource", Resource: &acp.Resource{URI: "x:y", Text: new(strings.Repeat("\x01", maxReplayed/2))}},
			acp.ContentBlock{Type: "resource_link", URI: "x:y", Name: "x:y"}},
		"large image":         {acp.ContentBlock{Type: "image", MIMEType: "image/png", Data: large}, acp.TextBlock("[image, 512 KiB]")},
		"large resource":      {resource, acp.ContentBlock{Type: "resource_link", URI: "file:///a", Name: "file:///a", MIMEType: "text/plain"}},
		"link without a name": {acp.ContentBlock{Type: "resource_link", URI: "zed:///x"}, acp.ContentBlock{Type: "resource_link", URI: "zed:///x", Name: "zed:///x"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := replayed(t, Prompt{MessageID: "u", Content: []acp.ContentBlock{tt.block}})
			if diff := cmp.Diff([]acp.MessageChunk{{Update: acp.UpdateUserMessage, MessageID: "u", Content: tt.want, Words: true}}, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A warning is shown when a turn begins, and recorded before the prompt.
func TestReplayOrder(t *testing.T) {
	prompt := func(id string) Prompt {
		return Prompt{MessageID: id, Content: []acp.ContentBlock{acp.TextBlock(id)}}
	}
	var got []string
	for _, c := range replayed(t,
		Note{"w1", "warning", true}, prompt("p1"), Note{"n1", "note", false}, TurnEnd{Reason: acp.StopEndTurn},
		Note{"w2", "warning", true}, prompt("p2"), TurnEnd{Reason: acp.StopEndTurn}, Note{"w3", "warning", true},
	) {
		got = append(got, c.MessageID)
	}
	if diff := cmp.Diff([]string{"p1", "w1", "n1", "p2", "w2", "w3"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
