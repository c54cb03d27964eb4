package provider

import (
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

func TestSees(t *testing.T) {
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
			if err != nil || llm.Sees(m) != tt.want {
				t.Errorf("Sees: %v", err)
			}
		})
	}
	// If an endpoint refuses images for one model, it does so for the others too.
	m, err := Select(Config{Providers: []Provider{{Type: "claude", Images: "no"}}}, func(string) string { return "" }, nil, "claude:other")
	if err != nil || llm.Sees(m) {
		t.Errorf("another model sees: %v", err)
	}
}

// An image beyond the API's size limit is omitted: otherwise the API would
// refuse every later request too.
func TestTooLargeImage(t *testing.T) {
	c := newAnthropic(Provider{Type: TypeClaude}, func(string) string { return "key" })
	most := c.LargestImage()
	if why := llm.Refuses(c, most); why != "" {
		t.Error(why)
	}
	if why := llm.Refuses(c, most+1); why != "takes images up to 3.8 MiB" {
		t.Error(why)
	}
	history := []llm.Message{{Role: llm.User, Blocks: []llm.Block{{Image: &llm.Image{MIME: "image/png", Data: make([]byte, most+1)}}, {Image: &llm.Image{MIME: "image/png", Data: []byte("x")}}}}}
	got := llm.Shown(c, history)[0].Blocks
	if got[0].Image != nil || !strings.Contains(got[0].Text, "takes images up to") || got[1].Image == nil || history[0].Blocks[0].Image == nil {
		t.Errorf("%+v", got)
	}
}
