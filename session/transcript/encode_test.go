package transcript

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/acp"
)

// attachments returns a prompt in which every field that may be large is set.
func attachments(text, data string) Prompt {
	blob := data
	return Prompt{MessageID: "6f1c", Instead: `"6f1c#"`, Content: []acp.ContentBlock{
		acp.TextBlock(`look at "6f1c"`),
		{Type: "image", Data: data, MIMEType: "image/png"},
		{Type: "resource", Resource: &acp.Resource{URI: "file:///a", MIMEType: "text/plain", Text: &text}},
		{Type: "resource", Resource: &acp.Resource{URI: "file:///b", Blob: &blob}},
	}}
}

// Decoding restores every event, whether large or small.
func TestEncodeEvent(t *testing.T) {
	odd := "\x00\x1f\"\\\n\t\r\u2028 ☃ 🎉 </script>"
	for name, e := range map[string]Event{
		"small":            attachments(odd, "QUJD"),
		"large":            attachments(strings.Repeat(odd, largeAttachment), strings.Repeat("QUJD", largeAttachment)),
		"large text alone": attachments(strings.Repeat(odd, largeAttachment), "QUJD"),
		"no id":            Prompt{Content: attachments("", strings.Repeat("QUJD", largeAttachment)).Content},
		"another event":    Note{MessageID: "m", Text: odd},
	} {
		t.Run(name, func(t *testing.T) {
			before, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			data, err := Encode(e)
			if err != nil || !json.Valid(data) {
				t.Fatalf("%v: %.300s", err, data)
			}
			got, err := Decode(e.Kind(), data)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(e, got); diff != "" {
				t.Errorf("(-want +got)\n%.2000s", diff)
			}
			if after, _ := json.Marshal(e); string(after) != string(before) {
				t.Error("the event was changed")
			}
		})
	}
}

func BenchmarkEncodeEvent(b *testing.B) {
	e := attachments(strings.Repeat("a line of a log, with \"quotes\"\n", 1<<19), "QUJD")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Encode(e); err != nil {
			b.Fatal(err)
		}
	}
}
