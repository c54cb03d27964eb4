// Command loop is the least that an agent can do: it posts the conversation to a
// model, reads the files that the model asks for, and shows each step in a frame.
// It stores nothing, checks nothing and filters nothing. BASE_URL is its model.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

type frame struct {
	ID     json.RawMessage
	Method string
	Params struct{ Cwd string }
}

// message is one of Chat Completions, as far as it is needed.
type message struct {
	Role       string `json:"role"`
	Content    string `json:"content"`
	ToolCalls  []call `json:"tool_calls,omitempty"`
	ToolCallID string `json:"tool_call_id,omitempty"`
}

type call struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type chunk struct {
	Choices []struct {
		Delta struct {
			Content   string
			ToolCalls []call `json:"tool_calls"`
		}
	}
}

func main() {
	in := bufio.NewReader(os.Stdin)
	dir := ""
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var f frame
		if err := json.Unmarshal(line, &f); err != nil {
			fail(err)
		}
		result := `{"protocolVersion":1}`
		switch f.Method {
		case "session/new":
			dir, result = f.Params.Cwd, `{"sessionId":"floor"}`
		case "session/prompt":
			if err := prompt(dir); err != nil {
				fail(err)
			}
			result = `{"stopReason":"end_turn"}`
		}
		fmt.Fprintf(os.Stdout, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", f.ID, result)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "loop:", err)
	os.Exit(1)
}

// prompt runs one turn.
func prompt(dir string) error {
	messages := []message{{Role: "user", Content: "go on"}}
	for {
		answer, err := ask(messages)
		if err != nil {
			return err
		}
		if len(answer.ToolCalls) == 0 {
			show("agent_message_chunk", answer.Content)
			return nil
		}
		messages = append(messages, answer)
		for _, c := range answer.ToolCalls {
			var input struct{ Path string }
			if err := json.Unmarshal([]byte(c.Function.Arguments), &input); err != nil {
				return err
			}
			show("tool_call", input.Path)
			show("tool_call_update", "in_progress")
			text, err := os.ReadFile(filepath.Join(dir, input.Path))
			if err != nil {
				return err
			}
			show("tool_call_update", string(text))
			messages = append(messages, message{Role: "tool", Content: string(text), ToolCallID: c.ID})
		}
	}
}

// ask posts the messages and joins the parts of the answer.
func ask(messages []message) (message, error) {
	answer := message{Role: "assistant"}
	body, err := json.Marshal(map[string]any{"model": "m", "stream": true, "messages": messages})
	if err != nil {
		return answer, err
	}
	res, err := http.Post(os.Getenv("BASE_URL")+"/chat/completions", "application/json", bytes.NewReader(body))
	if err != nil {
		return answer, err
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: {")
		if !ok {
			continue
		}
		var c chunk
		if err := json.Unmarshal([]byte("{"+data), &c); err != nil {
			return answer, err
		}
		for _, choice := range c.Choices {
			answer.Content += choice.Delta.Content
			answer.ToolCalls = append(answer.ToolCalls, choice.Delta.ToolCalls...)
		}
	}
	_, _ = io.Copy(io.Discard, res.Body) // so that the connection is used again
	return answer, lines.Err()
}

// show writes a session update.
func show(kind, text string) {
	line, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "method": "session/update", "params": map[string]any{ // strings and maps of them
		"sessionId": "floor", "update": map[string]any{"sessionUpdate": kind, "content": text},
	}})
	os.Stdout.Write(append(line, '\n'))
}
