package provider

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
	"github.com/zeph-acp/zeph-acp/session/llm/openai"
)

// A request that is too long must become shorter, whatever other feature the
// message names.
func TestTooLongLosesNoImages(t *testing.T) {
	const message = "The decoder prompt (length 9000) is longer than the maximum model length of 8192. Make sure that `max_model_len` is no smaller than the " +
		"number of text tokens plus multimodal tokens."
	requests := 0
	s := llmtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		requests++
		refuse(w, r, message)
	})
	m := openai.New(openai.Config{Type: openai.ServerCompatible, Model: "m", BaseURL: s.URL})
	_, err := llmtest.Collect(m, t.Context(),
		llm.Request{Messages: []llm.Message{{Role: llm.User, Blocks: []llm.Block{{Image: &llm.Image{MIME: "image/png", Data: []byte("hi")}}}}}})
	if e, ok := err.(*llm.Error); !ok || !e.TooLong || requests != 1 || !m.AcceptsImages() {
		t.Errorf("%v after %d requests, sees %v", err, requests, m.AcceptsImages())
	}
}

// A feature whose removal did not help is sent again.
func TestFeatureWasNotTheReason(t *testing.T) {
	s := llmtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		body := bodyOf(r)
		if strings.Contains(body, `"content":null`) {
			refuse(w, r, "messages[1]: content must be a string")
			return
		}
		if !strings.Contains(body, "image_url") {
			refuse(w, r, "no image")
			return
		}
		io.WriteString(w, eventsOf(saysText("Hi")+"\n"+chatEnd))
	})
	m := openai.New(openai.Config{Type: openai.ServerCompatible, Model: "m", BaseURL: s.URL})
	history := []llm.Message{llmtest.UserText("a"),
		{Role: llm.Assistant, Blocks: []llm.Block{{Call: &llm.ToolCall{ID: "a", Name: "list", Input: json.RawMessage(`{}`)}}}},
		{Role: llm.User, Blocks: []llm.Block{{Result: &llm.ToolResult{ID: "a", Text: "c"}}, {Text: "d"}, {Image: &llm.Image{MIME: "image/png", Data: []byte("hi")}}}}}
	if _, err := llmtest.Collect(m, t.Context(), llm.Request{Messages: history}); err != nil || !m.AcceptsImages() {
		t.Errorf("%v, sees %v", err, m.AcceptsImages())
	}
}

// If two concurrent requests are refused, both are sent again.
func TestFeatureRefusedTwiceAtOnce(t *testing.T) {
	for dialect, tt := range map[string]struct {
		refused        func(body string) bool
		message, other string // message for this request and for the other one
	}{
		"local": {func(body string) bool { return strings.Contains(body, "stream_options") },
			"stream_options is not permitted", saysText("Hi") + "\n" + chatEnd},
		"claude": {func(body string) bool { return !strings.Contains(body, `"thinking":" "`) },
			"thinking is enabled but reasoning_content is missing", claudeText("Hi") + "\n" + `{"type":"message_stop"}`},
	} {
		var both sync.WaitGroup
		both.Add(2)
		s := llmtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
			if tt.refused(bodyOf(r)) {
				both.Done()
				both.Wait()
				refuse(w, r, tt.message)
				return
			}
			io.WriteString(w, eventsOf(tt.other))
		})
		p := dialects[dialect].provider
		p.BaseURL = s.URL
		m, err := p.open(func(string) string { return wireKey }, nil)
		if err != nil {
			t.Fatal(err)
		}
		history := []llm.Message{llmtest.UserText("a"),
			{Role: llm.Assistant, Blocks: []llm.Block{{Call: &llm.ToolCall{ID: "a", Name: "list", Input: json.RawMessage(`{}`)}}}}}
		var asking sync.WaitGroup
		for range 2 {
			asking.Go(func() {
				if _, err := llmtest.Collect(m, t.Context(), llm.Request{Messages: history}); err != nil {
					t.Errorf("%s: %v", dialect, err)
				}
			})
		}
		asking.Wait()
	}
}

func refuse(w http.ResponseWriter, r *http.Request, message string) {
	llmtest.Status(400, `{"error":{"message":`+inJSON(message)+`}}`)(w, r)
}
