package transcript

import (
	"encoding/json"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// attachments returns a prompt in which every field that may be large is set.
func attachments(text, data string) Prompt {
	blob := data
	return Prompt{MessageID: "6f1c", ModelText: `"6f1c#"`, Content: []acp.ContentBlock{
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
		"large":            attachments(strings.Repeat(odd, (64<<10)), strings.Repeat("QUJD", (64<<10))),
		"large text alone": attachments(strings.Repeat(odd, (64<<10)), "QUJD"),
		"no id":            Prompt{Content: attachments("", strings.Repeat("QUJD", (64<<10))).Content},
		"another event":    Note{MessageID: "m", Text: odd},
	} {
		t.Run(name, func(t *testing.T) {
			before, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			data, err := plainjson.Marshal(e)
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

func BenchmarkMarshal(b *testing.B) {
	e := attachments(strings.Repeat("a line of a log, with \"quotes\"\n", 1<<19), "QUJD")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := plainjson.Marshal(e); err != nil {
			b.Fatal(err)
		}
	}
}

// A decoded result holds a long output once: its card and its raw output share it.
func TestDecodeShares(t *testing.T) {
	output := strings.Repeat("a line\n", 1000)
	text := output + "[exit status 1]"
	content := acp.TextBlock(text)
	want := Result{Result: llm.ToolResult{ID: "c", Text: text}, Shown: acp.ToolCall{
		Update:     acp.UpdateToolCallPatch,
		ToolCallID: "t", Status: acp.ToolCompleted, Content: []acp.ToolContent{{Type: "content", Content: &content}},
		RawOutput: map[string]any{"stdout": output, "stderr": "a line\n", "other": strings.Repeat("another\n", 1000), "exit_code": 1.0},
	}}
	data, err := plainjson.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	e, err := Decode(want.Kind(), data)
	if diff := cmp.Diff(Event(want), e); diff != "" || err != nil {
		t.Fatalf("%v, (-want +got)\n%s", err, diff)
	}
	got := e.(Result)
	of := unsafe.StringData(got.Result.Text)
	if unsafe.StringData(*got.Shown.Content[0].Content.Text) != of || unsafe.StringData(got.Shown.RawOutput.(map[string]any)["stdout"].(string)) != of {
		t.Error("the output is held more than once")
	}
}
