package oracle

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/protocol-fixtures/machine"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
)

// recorder is a server that keeps the bodies of the requests.
type recorder struct {
	URL    string
	mu     sync.Mutex
	bodies [][]byte
}

// record runs a recorder that answers in turn, and repeats the last answer.
func record(t *testing.T, answers ...http.HandlerFunc) *recorder {
	r := &recorder{}
	s := llmtest.Serve(t, func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			t.Error(err)
		}
		r.mu.Lock()
		r.bodies = append(r.bodies, body)
		n := len(r.bodies)
		r.mu.Unlock()
		answers[min(n, len(answers))-1](w, req)
	})
	r.URL = s.URL
	return r
}

// roundTrip decodes a request as a T, and returns an error unless the T encodes to the
// same JSON. The members in apart are ignored, since the SDK adds them outside of T.
func roundTrip[T any](body []byte, apart ...string) error {
	var sent map[string]any
	if err := json.Unmarshal(body, &sent); err != nil {
		return fmt.Errorf("%w in %s", err, body)
	}
	maps.DeleteFunc(sent, func(name string, _ any) bool { return slices.Contains(apart, name) })
	inner, err := json.Marshal(sent)
	if err != nil {
		return err
	}
	var decoded T
	if err := json.Unmarshal(inner, &decoded); err != nil {
		return fmt.Errorf("the SDK cannot decode it: %w\n%s", err, body)
	}
	encoded, err := json.Marshal(decoded)
	if err != nil {
		return fmt.Errorf("the SDK cannot encode it: %w\n%s", err, body)
	}
	var official map[string]any
	if err := json.Unmarshal(encoded, &official); err != nil {
		return err
	}
	if diff := cmp.Diff(official, sent); diff != "" {
		return fmt.Errorf("another request (-SDK +ours)\n%s", diff)
	}
	return nil
}

// stringLists returns the lists of strings in a test of a module.
func stringLists(t *testing.T, module, file string) [][]string {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), filepath.Join(machine.ModuleDir(t, module), file), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var lists [][]string
	ast.Inspect(tree, func(n ast.Node) bool {
		list, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		var texts []string
		for _, e := range list.Elts {
			if l, ok := e.(*ast.BasicLit); ok && l.Kind == token.STRING {
				text, err := strconv.Unquote(l.Value)
				if err != nil {
					t.Fatal(err)
				}
				texts = append(texts, text)
			}
		}
		if len(texts) > 0 && len(texts) == len(list.Elts) {
			lists = append(lists, texts)
		}
		return true
	})
	return lists
}

// histories are conversations with all kinds of messages, by name. Opaque blocks are of
// the model of that name, with this data.
func histories(model string, thoughts ...string) map[string][]llm.Message {
	var opaque []llm.Block
	for _, data := range thoughts {
		opaque = append(opaque, llm.Block{Thought: "hm", Opaque: &llm.Opaque{Provider: model, Data: json.RawMessage(data)}})
	}
	call := func(id, name, input string) llm.Block {
		return llm.Block{Call: &llm.ToolCall{ID: id, Name: name, Input: json.RawMessage(input)}}
	}
	result := func(id, text string, failed bool) llm.Block {
		return llm.Block{Result: &llm.ToolResult{ID: id, Text: text, Failed: failed}}
	}
	user := func(blocks ...llm.Block) llm.Message { return llm.Message{Role: llm.User, Blocks: blocks} }
	answer := func(blocks ...llm.Block) llm.Message { return llm.Message{Role: llm.Assistant, Blocks: blocks} }
	text := func(s string) llm.Block { return llm.Block{Text: s} }
	hello := user(text("hello <b>ä</b> \u2028 \x00"))
	return map[string][]llm.Message{
		"prompt": {hello},
		"image":  {user(text("look"), llmtest.Picture(3)), answer(text("nice")), user(llmtest.Picture(3))},
		"call": {hello, answer(text("I read."), call("c", "read", `{"path":"a","n":12345678901234567890,"deep":{"x":[1,null,true]}}`)),
			user(result("c", "text", false))},
		"calls": {hello, answer(call("c1", "read", `{}`), call("c2", "no.such", `"{oops"`)),
			user(result("c2", "", true), result("c1", "ok", false), text("faster"))},
		"result is missing": {hello, answer(call("c", "list", `{}`)), user(text("again"))},
		"same id twice": {hello, answer(call("c", "list", `{}`)), user(result("c", "a", false)), answer(call("c", "list", `{}`)),
			user(result("c", "b", false))},
		"thoughts": {hello, answer(slices.Concat(opaque, []llm.Block{text("so"), call("c", "read", `{"path":"a"}`)})...), user(result("c", "x", false)),
			answer(text("done")), user(text("thanks"))},
		"thoughts at end": {hello, answer(slices.Concat([]llm.Block{text("so")}, opaque)...), user(text("thanks"))},
		"others' thoughts": {hello, answer(llm.Block{Thought: "t", Opaque: &llm.Opaque{Provider: "else:m", Data: json.RawMessage(`{"a":1}`)}}, text("so")),
			user(text("more"))},
		"prompts in a row":    {hello, user(text("and")), user(llmtest.Picture(2))},
		"answers in a row":    {hello, answer(text("a")), answer(text("b")), user(text("c"))},
		"empty":               {},
		"odd names and ids":   {hello, answer(call("c 1/ü", "read file!", `{}`)), user(result("c 1/ü", "x", false))},
		"a long conversation": llmtest.Conversation(30),
	}
}
