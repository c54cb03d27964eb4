package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestOpenCalls(t *testing.T) {
	var c openCalls
	a, b := answer{result: json.RawMessage(`"a"`)}, answer{result: json.RawMessage(`"b"`)}
	if c.settle(1, a) {
		t.Error("an answer before its call")
	}
	first, answered := c.add()
	second, never := c.add()
	if !c.settle(first, a) || c.settle(first, b) {
		t.Error("the first answer to a call counts, and no other")
	}
	if got := <-answered; string(got.result) != string(a.result) {
		t.Errorf("got %s", got.result)
	}
	c.forget(second)
	if c.settle(second, b) || len(never) > 0 {
		t.Error("a late answer was kept")
	}
	if len(c.waiting) > 0 {
		t.Error("a call is still open")
	}
}

func BenchmarkCall(b *testing.B) {
	text, _ := json.Marshal(strings.Repeat("\tif err != nil { return \"größer\" }\n", 1<<20/42))
	for name, content := range map[string]string{"short": `"a"`, "a file of 1 MiB": string(text)} {
		b.Run(name, func(b *testing.B) {
			w := serve(b, newServer(b, &fakeSessions{turn: func(ctx context.Context, c *Client, _ []ContentBlock) (StopReason, error) {
				for {
					if _, err := c.ReadTextFile(ctx, "s1", "/w/a"); err != nil {
						return "", err
					}
				}
			}}))
			w.send(open)
			w.read()
			w.send(promptFrame("1"))
			w.read()
			b.ReportAllocs()
			for id := 1; b.Loop(); id++ {
				w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"content":%s}}`, id, content))
				w.read()
			}
			w.send(cancel)
		})
	}
}

// An answer may have further members that are null, and [] for {}.
func TestAnswerForms(t *testing.T) {
	for line, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":null,"params":null,"result":{"content":"a"},"error":null}`: "a, <nil>",
		`{"id":1.0,"result":{"content":"a"}}`:                                                        "a, <nil>",
		`{"jsonrpc":"2.0","id":1,"method":null,"result":null,"error":{"code":1,"message":"locked"}}`: ", fs/read_text_file: locked (1)",
		`{"jsonrpc":"2.0","id":1,"result":[]}`:                                                       ", fs/read_text_file: malformed result: no content",
	} {
		got := make(chan string, 1)
		w := serve(t, newServer(t, &fakeSessions{turn: func(ctx context.Context, c *Client, _ []ContentBlock) (StopReason, error) {
			text, err := c.ReadTextFile(ctx, "s1", "/w/a")
			got <- fmt.Sprintf("%s, %v", text, err)
			return StopEndTurn, nil
		}}))
		w.send(open)
		w.read()
		w.send(promptFrame("1"))
		w.read()
		w.send(line)
		if got := <-got; got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

// The reason of a client's error is in its message, in data.details, or nowhere.
func TestReasonOf(t *testing.T) {
	for fault, want := range map[string]string{
		`{"code":-32603,"message":"disk full"}`:                                        "disk full",
		`{"code":-32603,"message":"Internal error","data":{"details":"EACCES: /w/a"}}`: "Internal error: EACCES: /w/a",
		`{"code":-32603,"message":"it failed: EACCES","data":{"details":"EACCES"}}`:    "it failed: EACCES",
		`{"code":-32603,"message":"Internal error","data":{"details":{"errno":13}}}`:   "Internal error",
		`{"code":-32603,"message":"Internal error","data":"a text"}`:                   "Internal error",
		`{"code":-32603,"message":"Internal error","data":null}`:                       "Internal error",
		`{"code":-32000,"data":{"details":"no such terminal"}}`:                        "no such terminal",
		`{"code":-32000}`: "error -32000",
	} {
		if got := reasonOf(answerOf(nil, json.RawMessage(fault)).fault); got != want {
			t.Errorf("%s: %q, want %q", fault, got, want)
		}
	}
}

// The text of a malformed result has no code, since the client did not send one.
func TestClientErrorText(t *testing.T) {
	for want, e := range map[string]*ClientError{
		"fs/read_text_file: locked (-32603)":                      {Method: "fs/read_text_file", Code: -32603, Message: "locked"},
		"fs/read_text_file: content: must be a string, not array": {Method: "fs/read_text_file", Message: "content: must be a string, not array"},
	} {
		if e.Error() != want {
			t.Errorf("got %q, want %q", e.Error(), want)
		}
	}
}

// An error with the code 0 is a refusal and not a malformed result.
func TestClientErrorWithoutCode(t *testing.T) {
	err := openCall{method: "fs/read_text_file"}.decode(answerOf(nil, json.RawMessage(`{"code":0,"message":"locked"}`)), nil)
	refused, ok := errors.AsType[*ClientError](err)
	if !ok || refused.Code == 0 || refused.Message != "locked" {
		t.Errorf("got %v, want a refusal with a code", err)
	}
}
