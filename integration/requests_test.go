package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/integration/fakeide"
	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// maxFirst limits the first request of a prompt, in bytes.
const maxFirst = 9 << 10

// samplePrompt is a usual prompt with a model's answers.
type samplePrompt struct {
	name, prompt string
	rounds       [][]fakemodel.Block // the calls of each answer; the last answer is text
	last         string
}

// errands are ten usual prompts on the project of newProject.
func errands() []samplePrompt {
	one := func(name string, input map[string]any) []fakemodel.Block {
		return []fakemodel.Block{fakemodel.Call("c", name, input)}
	}
	type in = map[string]any
	edit := in{"path": "shop/cart.go", "old_string": "sum += i.Price\n", "new_string": "sum += i.Price * i.Count\n"}
	test := one("bash", in{"command": "go test ./..."})
	return []samplePrompt{
		{"hello", "hello", nil, "Hello! What are we working on?"},
		{
			"explain a file",
			"What does shop/cart.go do?",
			[][]fakemodel.Block{one("read", in{"path": "shop/cart.go"})},
			strings.Repeat("It adds up the prices of a cart. ", 10),
		},
		{
			"find a function",
			"Where is Total defined, and who calls it?",
			[][]fakemodel.Block{
				one("grep", in{"pattern": `\bTotal\(`}),
				{fakemodel.Call("c1", "read", in{"path": "shop/cart.go"}), fakemodel.Call("c2", "read", in{"path": "main.go"})},
			},
			"In shop/cart.go; main calls it.",
		},
		{
			"fix a failing test",
			"The tests fail. Fix that.",
			[][]fakemodel.Block{test, one("read", in{"path": "shop/cart.go"}), one("edit", edit), test},
			"Total forgot the counts; the tests pass.",
		},
		{"rename", "Rename Total to Sum.", [][]fakemodel.Block{one("grep", in{"pattern": "Total"}),
			{
				fakemodel.Call("c1", "edit", in{"path": "shop/cart.go", "old_string": "Total(", "new_string": "Sum("}),
				fakemodel.Call("c2", "edit", in{"path": "main.go", "old_string": "Total(", "new_string": "Sum("}),
			},
			test}, "Renamed in two files."},
		{
			"review",
			"Review shop/.",
			[][]fakemodel.Block{
				one("list_directory", in{"path": "shop"}),
				{fakemodel.Call("c1", "read", in{"path": "shop/cart.go"}), fakemodel.Call("c2", "read", in{"path": "shop/cart_test.go"})},
			},
			strings.Repeat("- cart.go: a finding, with its reason and what to do about it.\n", 8),
		},
		{"run the tests", "Run the tests.", [][]fakemodel.Block{test}, "Two tests fail: TestTotal and TestEmpty."},
		{
			"write a file",
			"Write a LICENSE file, MIT.",
			[][]fakemodel.Block{one("write", in{"path": "LICENSE", "content": strings.Repeat("Permission is hereby granted, free of charge, to any person.\n", 17)})},
			"Written.",
		},
		{"five steps", "Add a discount of 10 % from 100 on, with a test.",
			[][]fakemodel.Block{one("update_plan", in{"entries": []in{{"content": "look"}, {"content": "change"}, {"content": "test"}}}),
				one("read", in{"path": "shop/cart.go"}), one("edit", edit),
				one("write", in{"path": "shop/discount_test.go", "content": strings.Repeat("func TestDiscount(t *testing.T) {}\n", 20)}),
				test}, "Done, with a test."},
		{
			"long output",
			"Show me all of the log.",
			[][]fakemodel.Block{one("bash", in{"command": "cat server.log"})},
			"A long log; nothing stands out.",
		},
	}
}

// newProject creates a small project, and a go command with the output of a larger
// one.
func newProject(t *testing.T, root string) {
	t.Helper()
	for name, text := range map[string]string{
		"AGENTS.md": "# Rules\n\n- Table tests.\n- `go test ./...` before each commit.\n",
		"go.mod":    "module shop.example\n\ngo 1.26\n",
		"main.go":   "package main\n\nimport \"shop.example/shop\"\n\nfunc main() { println(shop.Total(nil)) }\n",
		"shop/cart.go": "// Package shop sells.\npackage shop\n\n" + strings.Repeat("// Item is sold by the piece.\n",
			20) + "type Item struct{ Price, Count int }\n\n// Total adds up.\nfunc Total(items []Item) (sum int) {\n\tfor _, i := range items {\n\t\tsum += " +
			"i.Price\n\t}\n\treturn sum\n}\n",
		"shop/cart_test.go": "package shop\n\nimport \"testing\"\n\n" + strings.Repeat("func TestTotal(t *testing.T) { t.Log(Total(nil)) }\n", 20),
		"server.log":        strings.Repeat("12:00:00 INFO request served path=/cart status=200 bytes=5120\n", 5000),
	} {
		write(t, filepath.Join(root, "work", name), text)
	}
	var out strings.Builder
	for i := range 120 {
		fmt.Fprintf(&out, "=== RUN   TestPart%d\n--- PASS: TestPart%d (0.00s)\n", i, i)
	}
	out.WriteString("=== RUN   TestTotal\n    cart_test.go:9: Total = 3, want 6\n--- FAIL: TestTotal (0.00s)\nFAIL\nFAIL\tshop.example/shop\t0.004s\nFAIL\n")
	write(t, filepath.Join(root, "home", "bin", "go"), "#!/bin/sh\ncat <<'END'\n"+out.String()+"END\nexit 1\n")
	if err := os.Chmod(filepath.Join(root, "home", "bin", "go"), 0o700); err != nil {
		t.Fatal(err)
	}
}

// cachedRequest is a request in the provider's cache order.
type cachedRequest struct {
	tools, system, messages []byte
}

// sentOf removes the cache marks, which move and are not text.
func sentOf(t *testing.T, body string) cachedRequest {
	t.Helper()
	var r struct{ Tools, System, Messages any }
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		t.Fatal(err)
	}
	text := func(v any) []byte {
		b, err := json.Marshal(unmarked(v))
		if err != nil {
			t.Fatal(err)
		}
		return bytes.TrimSuffix(b, []byte("]"))
	}
	return cachedRequest{text(r.Tools), text(r.System), text(r.Messages)}
}

func unmarked(v any) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "cache_control")
		for k := range v {
			v[k] = unmarked(v[k])
		}
	case []any:
		for i := range v {
			v[i] = unmarked(v[i])
		}
	}
	return v
}

// all returns the text in the order in which the provider reads it.
func (s cachedRequest) all() []byte { return bytes.Join([][]byte{s.tools, s.system, s.messages}, nil) }

// TestBytesSent logs the table of docs/benchmarks.md: the bytes sent for ten usual
// prompts, and the part that the provider had read before. Each request begins with
// the previous request, byte for byte.
func TestBytesSent(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell script in the place of go")
	}
	var table strings.Builder
	table.WriteString("| prompt | calls | tools | system | messages, first → last call | total sent | read from the cache |\n|---|---|---|---|---|---|---|\n")
	for _, e := range errands() {
		p := fakemodel.NewAnthropic(t)
		for _, calls := range e.rounds {
			p.Then(fakemodel.Answer(calls...))
		}
		p.Then(fakemodel.Answer(fakemodel.Say(e.last)))
		root := home(t)
		newProject(t, root)
		c := (&ide{caps: fakeide.CanAll()}).begin(t,
			start{root: root, config: "[agent]\nmode = \"auto\"\n",
				env: append(p.Env(), "PATH="+filepath.Join(root, "home", "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))})
		c.prompt(c.session(), e.prompt)

		var requests []cachedRequest
		total, cached := 0, 0
		for i, body := range p.Requests() {
			s := sentOf(t, body)
			if i > 0 {
				before := requests[i-1].all()
				if !bytes.HasPrefix(s.all(), before) {
					t.Errorf("%s: request %d does not begin with the previous one:\n%s\n%s", e.name, i, before, s.all())
				}
				cached += len(before)
			}
			total += len(s.all())
			requests = append(requests, s)
		}
		if len(requests) != len(e.rounds)+1 {
			t.Fatalf("%s: %d requests, want %d", e.name, len(requests), len(e.rounds)+1)
		}
		first, last := requests[0], requests[len(requests)-1]
		if n := len(p.Requests()[0]); n > maxFirst {
			t.Errorf("%s: the first request takes %d bytes, more than %d", e.name, n, maxFirst)
		}
		messages := fmt.Sprint(len(first.messages))
		if len(requests) > 1 {
			messages += fmt.Sprintf(" → %d", len(last.messages))
		}
		fmt.Fprintf(&table, "| %s | %d | %d | %d | %s | %d | %d (%d %%) |\n", e.name, len(requests), len(first.tools), len(first.system), messages, total, cached,
			cached*100/total)
	}
	t.Logf("bytes:\n%s", &table)
}
