package provider

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
	"github.com/zeph-acp/zeph-acp/session/llm/textcalls"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

var update = flag.Bool("update", false, "write testdata/recorded.txt")

// recordedTools are the tools that the recorded models were offered, as far as they called any.
func recordedTools() (tools []llm.Tool) {
	for _, name := range strings.Fields("bash bash_output bash_stop compress_context create_directory edit find_path grep list_directory memory_save " +
		"memory_search read sub_agent update_plan write") {
		tools = append(tools, llm.Tool{Name: name, Schema: json.RawMessage(`{"type":"object"}`)})
	}
	return tools
}

// TestRecorded reads answers of real models, as llama.cpp and LiteLLM sent them: NAME.resp is a body, and NAME.json its
// path and status. recorded.txt tells what they mean with native tools.
func TestRecorded(t *testing.T) {
	archive, err := zip.OpenReader("testdata/recorded.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	read := func(name string) []byte {
		f, err := archive.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		data, err := io.ReadAll(f)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	byPath := map[string]string{"/v1/chat/completions": "chat", "/v1/responses": "responses", "/v1/messages": "messages"}
	var got strings.Builder
	for _, f := range archive.File {
		name, ok := strings.CutSuffix(f.Name, ".resp")
		if !ok {
			continue
		}
		var about struct {
			Path   string
			Status int
		}
		if err := json.Unmarshal(read(name+".json"), &about); err != nil {
			t.Fatal(err)
		}
		if about.Status != http.StatusOK {
			continue
		}
		p, body := protocols[byPath[about.Path]], read(f.Name)
		whole := readRecorded(t, p, bytes.NewReader(body))
		if len(body) < 64<<10 {
			if bytewise := readRecorded(t, p, iotest.OneByteReader(bytes.NewReader(body))); bytewise != whole {
				t.Errorf("%s\n got %s\nwant %s", name, bytewise, whole)
			}
		}
		if len(whole) > 400 {
			whole = whole[:300] + " … " + whole[len(whole)-90:]
		}
		fmt.Fprintf(&got, "%s: %s\n", name, strings.ToValidUTF8(strings.ReplaceAll(whole, "\n", `\n`), ""))
	}
	if *update {
		if err := os.WriteFile("testdata/recorded.txt", []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := string(llmtest.Golden(t, "recorded.txt"))
	if diff := cmp.Diff(strings.Split(strings.ReplaceAll(want, "\r\n", "\n"), "\n"), strings.Split(got.String(), "\n")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// readRecorded returns the transcript of a body, without usage.
func readRecorded(t *testing.T, p protocol, body io.Reader) string {
	res := &http.Response{Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(body)}
	m := &chunked{answer: p.begin()}
	var fault error
	for chunk, err := range wire.JSONOrSSE(res) {
		if fault = err; err != nil {
			break
		}
		m.chunks = append(m.chunks, string(chunk))
	}
	req := llm.Request{Messages: []llm.Message{llmtest.UserText("hi")}, Tools: recordedTools()}
	events, err := llmtest.Collect(textcalls.Auto(m, new(textcalls.ToolUse)), t.Context(), req)
	var kept []llm.Event
	for _, ev := range events {
		if ev.Notice != "" {
			ev.Notice = "text"
		}
		if ev.Usage == nil {
			kept = append(kept, ev)
		}
	}
	if err == nil {
		err = fault
	}
	return llmtest.Transcript(kept, err)
}
