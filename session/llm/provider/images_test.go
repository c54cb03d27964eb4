package provider

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/anthropic"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
)

func TestAcceptsImages(t *testing.T) {
	for name, tt := range map[string]struct {
		p    Provider
		want bool
	}{
		"claude":      {Provider{Type: "claude"}, true},
		"claude auto": {Provider{Type: "claude", Images: "auto"}, true},
		"claude no":   {Provider{Type: "claude", Images: "no"}, false},
		"claude yes":  {Provider{Type: "claude", Images: "yes"}, true},
		"direct":      {Provider{Type: "direct"}, false},
		"script":      {Provider{Type: "script", Model: "testdata/text.jsonl"}, true},
		"script no":   {Provider{Type: "script", Model: "testdata/text.jsonl", Images: "no"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := Select(Config{Providers: []Provider{tt.p}}, func(string) string { return "" }, nil, "")
			if err != nil || llm.AcceptsImages(m) != tt.want {
				t.Errorf("AcceptsImages: %v", err)
			}
		})
	}
	// If an endpoint refuses images for one model, it does so for the others too.
	m, err := Select(Config{Providers: []Provider{{Type: "claude", Images: "no"}}}, func(string) string { return "" }, nil, "claude:other")
	if err != nil || llm.AcceptsImages(m) {
		t.Errorf("another model sees: %v", err)
	}
}

// An image beyond the API's size limit is omitted: otherwise the API would
// refuse every later request too.
func TestTooLargeImage(t *testing.T) {
	c := anthropic.New(anthropic.Config{Name: "claude", Model: anthropic.DefaultModel, APIKey: func() string { return "key" }})
	most := c.LargestImage()
	if why := llm.ImageRefusal(c, most); why != "" {
		t.Error(why)
	}
	if why := llm.ImageRefusal(c, most+1); why != "takes images up to 3.8 MiB" {
		t.Error(why)
	}
	history := []llm.Message{{Role: llm.User,
		Blocks: []llm.Block{{Image: &llm.Image{MIME: "image/png", Data: make([]byte, most+1)}}, {Image: &llm.Image{MIME: "image/png", Data: []byte("x")}}}}}
	got := llm.WithoutRefusedImages(c, history)[0].Blocks
	if got[0].Image != nil || !strings.Contains(got[0].Text, "takes images up to") || got[1].Image == nil || history[0].Blocks[0].Image == nil {
		t.Errorf("%+v", got)
	}
}

// TestImagesOfResults checks the form in which each provider gets the images of a tool's
// result, and the text that a model without vision gets.
func TestImagesOfResults(t *testing.T) {
	const data = "aW1n" // img
	for dialect, tt := range map[string]struct{ want []string }{
		"claude": {[]string{`{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"seen"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + data + `"}}]}`}},
		"chat": {[]string{`{"role":"tool","content":"seen","tool_call_id":"a"}`,
			`{"role":"user","content":[{"type":"text","text":"[images of tool result 1 above: 1]"},{"type":"image_url","image_url":{"url":"data:image/png;base64,` +
				data + `"}}`, `{"type":"text","text":"and?"}`}},
		"responses": {[]string{`{"type":"function_call_output","call_id":"a","output":"seen"}`,
			`{"type":"input_text","text":"[images of tool result 1 above: 1]"},{"type":"input_image","image_url":"data:image/png;base64,` + data + `"}`}},
		"gemini": {[]string{`{"functionResponse":{"id":"a","name":"look","response":{"output":"seen"},` +
			`"parts":[{"inlineData":{"mimeType":"image/png","data":"` + data + `"}}]}}`,
			`{"text":"and?"}`}},
		"gemini-chat": {[]string{`{"type":"image_url","image_url":{"url":"data:image/png;base64,` + data + `"}}`}},
		"local":       {[]string{`{"type":"image_url","image_url":{"url":"data:image/png;base64,` + data + `"}}`}},
	} {
		for _, blind := range []bool{false, true} {
			body := ""
			s := llmtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
				body = bodyOf(r)
				io.WriteString(w, eventsOf(answered[dialect]))
			})
			p := dialects[dialect].provider
			p.BaseURL = s.URL
			if blind {
				p.Images, tt.want = imagesNo, []string{"not shown: " + p.name()}
			}
			m, err := p.open(func(string) string { return wireKey }, nil)
			if err != nil {
				t.Fatal(err)
			}
			history := []llm.Message{llmtest.UserText("a"),
				{Role: llm.Assistant, Blocks: []llm.Block{{Call: &llm.ToolCall{ID: "a", Name: "look", Input: json.RawMessage(`{}`)}}}},
				{Role: llm.User, Blocks: []llm.Block{{Result: &llm.ToolResult{ID: "a", Text: "seen", Images: []llm.Image{{MIME: "image/png", Data: []byte("img")}}}},
					{Text: "and?"}}}}
			if _, err := llmtest.Collect(m, t.Context(), llm.Request{Messages: history}); err != nil {
				t.Fatal(dialect, err)
			}
			for _, want := range tt.want {
				if !strings.Contains(body, want) {
					t.Errorf("%s, blind %v: no %s in\n%s", dialect, blind, want, body)
				}
			}
			if blind && strings.Contains(body, data) {
				t.Errorf("%s: a model without vision gets %s", dialect, body)
			}
		}
	}
}
