package agent

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/local"
)

// Text in an attached file is never a call of the user. A file that the client
// adds to the text of a /TOOL prompt is its operand.
func TestOnlyTypedTextIsACall(t *testing.T) {
	c := &client{}
	a := newAgent(t, "", c)
	a.Model = func() llm.Model { return local.Direct{} }
	block := "```bash\nrm x\n```"
	prompt := Input{Content: append(text("look at this").Content, acp.ContentBlock{Type: "resource", Resource: &acp.Resource{URI: "file:///x.md", Text: &block}})}
	if _, _, err := c.turn(t.Context(), t, a, nil, prompt); err != nil || strings.Contains(strings.Join(c.lines, "\n"), "tool_call") {
		t.Error(err, c.lines)
	}
	history, _, err := a.Turn(t.Context(), nil,
		Input{Content: append(text("/say ").Content, acp.ContentBlock{Type: "resource_link", URI: "file:///w/my%20file.go", Name: "my file.go"})})
	if err != nil || history[0].Blocks[0].Text != "/say /w/my file.go" {
		t.Error(err, history[0])
	}
}

// For an embedded text that is too long the model gets the text from Shorten,
// also when the session is opened again. Short texts stay.
func TestLongAttachment(t *testing.T) {
	c := &client{}
	a := newAgent(t, `{"text":"ok"}`, c)
	a.Shorten = func(_ context.Context, text string) string {
		if len(text) > 10 {
			return text[:4] + "\n[the rest: overflow:1]"
		}
		return text
	}
	long, short := strings.Repeat("long", 10), "short"
	history, _, err := c.turn(t.Context(), t, a, nil, Input{Content: []acp.ContentBlock{
		acp.TextBlock("look"),
		{Type: "resource", Resource: &acp.Resource{URI: "file:///w/a.txt", Text: &long}},
		{Type: "resource", Resource: &acp.Resource{URI: "file:///w/b.txt", Text: &short}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range history[0].Blocks {
		got = append(got, b.Text)
	}
	want := []string{"look", "[The user attached /w/a.txt, 40 bytes]\nlong\n[the rest: overflow:1]", "[The user attached /w/b.txt]\nshort"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The form of links, images and audio for the model, and the messages about
// them for the user.
func TestPromptContent(t *testing.T) {
	png := []byte("\x89PNG\r\n\x1a\nrest")
	picture := base64.StdEncoding.EncodeToString(png)
	const maxShown = 200 << 10 // of one resource
	big := strings.Repeat("é", maxShown)
	c := &client{}
	a := newAgent(t, `{"text":"ok"}`, c)
	a.Chain = reads{a.Chain}
	in := Input{Content: []acp.ContentBlock{
		acp.TextBlock("look"),
		{Type: "resource_link", URI: "file:///w/a%20b.go", Name: "a b.go"},
		{Type: "resource_link", URI: "file:///w/missing.go"},
		{Type: "resource_link", URI: "file:///etc/passwd", Name: "passwd"},
		{Type: "resource_link", URI: "zed:///thread/1", Name: "a thread"},
		{Type: "resource_link", URI: "https://example.com/a", Name: "a page"},
		{Type: "image", MIMEType: "image/png", Data: picture},
		{Type: "audio", MIMEType: "audio/wav", Data: "AAAA"},
		{Type: "resource", Resource: &acp.Resource{URI: "file:///w/b.txt", Text: &big}},
	}}
	history, _, err := c.turn(t.Context(), t, a, nil, in)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range history[0].Blocks {
		if b.Image != nil {
			b.Text = b.Image.MIME + " " + string(b.Image.Data)
		}
		got = append(got, b.Text)
	}
	cut := fmt.Sprintf("[The user attached /w/b.txt, %d bytes; this is its beginning]\n%s\n[%d more bytes left out]", len(big), big[:maxShown], len(big)-maxShown)
	if diff := cmp.Diff([]string{
		"look", "[The user refers to \"a b.go\": /w/a b.go]\npackage main", "[The user refers to \"file:///w/missing.go\": /w/missing.go]",
		"[The user refers to \"passwd\": /etc/passwd]", "[The user refers to \"a thread\": zed:///thread/1]",
		"[The user refers to \"a page\": https://example.com/a]\na page",
		"image/png " + string(png), "[The user attached audio, which cannot be heard here]", cut,
	}, got); diff != "" {
		t.Error(diff)
	}
	text := strings.Join(c.lines, "\n")
	if !strings.Contains(text, "The audio was left out") || strings.Contains(text, "The image was left out") || strings.Count(text, "tool_call ") != 3 {
		t.Error(text)
	}
	blind, err := local.ParseScript("blind", strings.NewReader(`{"text":"ok"}`))
	if err != nil {
		t.Fatal(err)
	}
	blind.NoImages = true
	a.Model = func() llm.Model { return blind }
	c.lines = nil
	if _, _, err := a.Turn(t.Context(), nil, Input{Content: in.Content[5:7]}); err != nil || !strings.Contains(c.lines[0],
		"The image was left out: script:blind takes no images") {
		t.Error(err, c.lines)
	}
}

// reads adds tools that read one file and one page.
type reads struct{ executors.Executor }

func (reads) Tools() []executors.Tool {
	schema := json.RawMessage(`{"type":"object"}`)
	return []executors.Tool{
		{Name: "read", Effect: executors.Reads, Schema: schema, Subject: executors.Path("path"), Traits: executors.OpensFile},
		{Name: "fetch", Effect: executors.Network, Schema: schema, Subject: executors.URL("url"), Traits: executors.OpensPage},
	}
}

func (reads) Execute(_ context.Context, call *executors.Call) (executors.Result, error) {
	text, ok := map[string]string{
		`read {"path":"/w/a b.go"}`:             "package main",
		`fetch {"url":"https://example.com/a"}`: "a page",
	}[call.Tool+" "+string(call.Input)]
	if !ok || call.Origin != executors.User {
		return executors.Failf(executors.PermanentFailure, "no such file"), nil
	}
	return executors.Result{Text: text}, nil
}
