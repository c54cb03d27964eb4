package mcp

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	goodTool  = `{"name":"good","description":"Works.","inputSchema":{"type":"object"}}`
	wrongTool = `{"name":"wrong","inputSchema":{"type":"object"},"annotations":"none"}`
)

// checkRepaired checks that a list has the good tool, and the wrong one with its mistake.
func checkRepaired(t *testing.T, raw []byte) {
	t.Helper()
	var list sdk.ListToolsResult
	if err := json.Unmarshal(raw, &list); err != nil || len(list.Tools) != 2 || list.NextCursor != "more" {
		t.Fatalf("the list is %s (%v), want two tools and a cursor", raw, err)
	}
	if got := newTool(Server{Name: "s"}, list.Tools[0]); got.name != "good" || got.problem != "" {
		t.Errorf("the good tool is %+v", got)
	}
	const want = "its definition cannot be read: annotations must be object, got string"
	if got := newTool(Server{Name: "s"}, list.Tools[1]); got.name != "wrong" || got.problem != want {
		t.Errorf("the other tool is %q with the problem %q, want wrong and %q", got.name, got.problem, want)
	}
}

// A malformed definition leaves out its tool alone.
func TestRepairResult(t *testing.T) {
	repaired, _ := repairResult(json.RawMessage(`{"tools":[` + goodTool + `,` + wrongTool + `],"nextCursor":"more"}`))
	checkRepaired(t, repaired)
	for _, same := range []string{
		`{"tools":[` + goodTool + `]}`, `{"tools":[null]}`, `{"tools":{"a":` + wrongTool + `}}`, `{"tools":5}`, `{"tools":null}`, `{}`, `[]`, `5`, ``,
		`{"content":[{"type":"text","text":"\"tools\""}],"structuredContent":{"tools":[5]}}`,
	} {
		if got, ok := repairResult(json.RawMessage(same)); ok {
			t.Errorf("repairResult(%s) = %s, want nothing to repair", same, got)
		}
	}
	for _, odd := range []string{`5`, `"x"`, `[]`, `{"name":5}`} {
		var list sdk.ListToolsResult
		repaired, _ := repairResult(json.RawMessage(`{"tools":[` + odd + `]}`))
		if err := json.Unmarshal(repaired, &list); err != nil || len(list.Tools) != 1 || list.Tools[0].Name != "" {
			t.Errorf("a list of %s: %v, %v; want a tool without a name", odd, list.Tools, err)
		}
	}
}

// Lists of servers on the web are repaired in both forms of a response.
func TestRepairResponse(t *testing.T) {
	message := `{"jsonrpc":"2.0","id":7,"result":{"tools":[` + goodTool + `,` + wrongTool + `],"nextCursor":"more"}}`
	const before, after = ": hello\n\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\nevent: message\n", "\n\ndata: last"
	for kind, body := range map[string]string{"application/json": message, "text/event-stream": before + "data:" + message + after} {
		res := &http.Response{Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(iotest.OneByteReader(strings.NewReader(body)))}
		repairResponse(res)
		got, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		text := string(got)
		if kind == "text/event-stream" {
			rest, ok := strings.CutPrefix(text, before+"data:")
			rest, whole := strings.CutSuffix(rest, after)
			if !ok || !whole {
				t.Errorf("the events are %q", text)
			}
			text = rest
		}
		var answer struct {
			ID     int
			Result json.RawMessage
		}
		if err := json.Unmarshal([]byte(text), &answer); err != nil || answer.ID != 7 {
			t.Errorf("%s: %s (%v), want the response to request 7", kind, text, err)
		}
		checkRepaired(t, answer.Result)
	}
}

// A message is repaired even if that does not change its length.
func TestRepairMessageOfEqualLength(t *testing.T) {
	long := strings.Repeat("x", 300) // left out, so that a repair makes the message shorter
	message := func(n int) string {
		wrong := `{"name":"wrong","description":"` + long[:n] + `","inputSchema":{"type":"object"},"annotations":"none"}`
		return `{"id":7,"jsonrpc":"2.0","result":{"nextCursor":"more","tools":[` + goodTool + `,` + wrong + `]}}`
	}
	equal := false
	for n := range long {
		got, ok := repairMessage([]byte(message(n)))
		if !ok {
			t.Fatalf("%s was not repaired", message(n))
		}
		equal = equal || len(got) == len(message(n))
		var answer struct{ Result json.RawMessage }
		if err := json.Unmarshal(got, &answer); err != nil {
			t.Fatal(err)
		}
		checkRepaired(t, answer.Result)
	}
	if !equal {
		t.Error("no repair kept the length")
	}
}

// A line that is too long for a message passes in pieces.
func TestRepairedEventsLongLine(t *testing.T) {
	body := "data: " + strings.Repeat("x", 2*maxBody) + "\n"
	r := &repairedEvents{ReadCloser: io.NopCloser(nil), lines: bufio.NewReader(strings.NewReader(body))}
	if got, err := io.ReadAll(r); string(got) != body || err != nil {
		t.Errorf("%d bytes, %v; want the %d bytes of the line", len(got), err, len(body))
	}
}
