package transcript

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/zeph-acp/zeph-acp/acp"
)

func TestTyped(t *testing.T) {
	file := acp.ContentBlock{Type: "resource_link", URI: "file:///w/a.txt"}
	text := acp.TextBlock
	for want, prompt := range map[string][]acp.ContentBlock{
		"look at /w/a.txt, please": {text("look at "), file, text(", please")},
		"/w/a.txt is it used?":     {file, text(" is it used?")},
		"/review /w/a.txt":         {text("/review "), file},
		"/review it":               {file, file, text("/review it")}, // the context of a command
		" /help":                   {file, text(" /help")},
		"/w/a.txt":                 {file},
		"":                         nil,
	} {
		if got := TypedText(prompt); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Some clients write the path of a file into a URI without escapes.
func TestLinkTarget(t *testing.T) {
	for uri, want := range map[string]string{
		"file:///w/a%20b.txt#L1:2": "/w/a b.txt",
		"file:///w/a b.txt":        "/w/a b.txt",
		"file://localhost/w/a.txt": "/w/a.txt",
		"file:///w/100%.txt":       "/w/100%.txt",
		"file:///w/50%zz":          "/w/50%zz",
		"file:///w/C#/a.cs":        "/w/C#/a.cs",
		"file:///w/C#/a.cs#L1:2":   "/w/C#/a.cs",
		"file:///w/C#":             "/w/C#",
		"file:///w/C%23/a#b.txt":   "/w/C#/a#b.txt",
		"file:///w/a.md#install":   "/w/a.md",
		"file:///w/why?.txt":       "/w/why?.txt",
		"file:///w/why?%20b#c.txt": "/w/why? b#c.txt",
		"file:///w/why?#L1":        "/w/why?",
		"file:///w/a.go?symbol=F":  "/w/a.go",
		"file://server/a%":         "file://server/a%",
		"zed:///agent/100%":        "zed:///agent/100%",
		"notes.txt":                "notes.txt",
	} {
		if got := LinkTarget(uri); filepath.ToSlash(got) != want {
			t.Errorf("LinkTarget(%q) = %q, want %q", uri, got, want)
		}
	}
}

// An empty text of a prompt is not replayed.
func TestReplayLeavesOutEmptyText(t *testing.T) {
	content := []acp.ContentBlock{acp.TextBlock(""), acp.TextBlock("hi")}
	var got []string
	err := Replay([]Event{Prompt{MessageID: "m", Content: content}}, acp.ClientCapabilities{}, func(u acp.SessionUpdate) error {
		if c, ok := u.(acp.MessageChunk); ok {
			got = append(got, *c.Content.Text)
		}
		return nil
	})
	if err != nil || !slices.Equal(got, []string{"hi"}) {
		t.Errorf("%q, %v", got, err)
	}
}
