package integration

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/integration/browser"
	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

var shots = flag.String("shots", "", "keep pictures of the pages in this directory")

// writtenSession is a session that a test writes down, with its lines of the audit log.
type writtenSession struct {
	at     time.Time
	events []map[string]any
	audit  []map[string]any
	calls  int
	spent  float64
}

// event adds an event some seconds after the last one.
func (s *writtenSession) event(kind string, data map[string]any) {
	s.at = s.at.Add(3 * time.Second)
	s.events = append(s.events, map[string]any{"time": s.at.Format(time.RFC3339Nano), "kind": kind, "data": data})
}

func (s *writtenSession) prompt(text string) {
	s.event("prompt", map[string]any{"messageId": fmt.Sprint("p", len(s.events)), "content": []any{map[string]any{"type": "text", "text": text}}})
}

// says is an answer of the model with its tokens and what they cost.
func (s *writtenSession) says(text string, input, cached, output int) {
	if text != "" {
		s.event("block", map[string]any{"messageId": fmt.Sprint("m", len(s.events)), "block": map[string]any{"text": text}})
	}
	s.spent += float64(input-cached)*3e-6 + float64(output)*15e-6
	s.event("answer", map[string]any{"model": "claude:sonnet", "usage": map[string]any{"input": input, "cacheRead": cached, "output": output},
		"shown": map[string]any{"sessionUpdate": "usage_update", "used": input, "size": 200000, "cost": map[string]any{"amount": s.spent, "currency": "USD"}}})
}

// call is a tool call, with the members of its line of the log.
func (s *writtenSession) call(title, kind, output string, diffs []any, line map[string]any) {
	s.calls++
	id, began := fmt.Sprintf("call-%d", s.calls), s.at
	s.event("tool_call", map[string]any{"shown": map[string]any{"sessionUpdate": "tool_call", "toolCallId": id, "title": title, "kind": kind,
		"status": "pending"}})
	status := "completed"
	if line["result"] != "success" {
		status = "failed"
	}
	content := diffs
	if output != "" {
		content = append(content, map[string]any{"type": "content", "content": map[string]any{"type": "text", "text": output}})
	}
	s.event("tool_result", map[string]any{"result": map[string]any{"id": id, "text": output},
		"shown": map[string]any{"sessionUpdate": "tool_call_update", "toolCallId": id, "status": status, "content": content}})
	for key, value := range map[string]any{"timestamp": began.Format("2006-01-02T15:04:05.000Z07:00"), "tool_call_id": id, "tool": "bash", "session": "told-1",
		"origin": "model", "phase": "executor", "attempt": 1, "exit_code": nil, "truncated": false, "duration_ms": 840, "bytes_before": len(output),
		"bytes_after": len(output)} {
		if _, ok := line[key]; !ok {
			line[key] = value
		}
	}
	s.audit = append(s.audit, line)
}

func (s *writtenSession) ends(reason string) { s.event("turn_end", map[string]any{"reason": reason}) }

// hostile is a text that tries to be more than a text.
const hostile = "</pre></details><script>document.title='owned'</script><img src=https://evil.example/x onerror=alert(1)>" +
	"<style>body{display:none}</style><a href=\"javascript:alert(1)\">click</a> &lt;b&gt; \x1b[31mred\x1b[0m\x1b]0;title\a \u202egnp.exe\u202c \x00 " +
	"![x](https://evil.example/y)\n"

// fakeToken has the form of a key of GitHub.
var fakeToken = "ghp_" + "x7Kq2mVb9LwTzR4nYc1DsJf8HgPaE3uWo6Mi"

// sample returns a session with everything that a page shows.
func sample() *writtenSession {
	s := &writtenSession{at: time.Date(2026, 11, 20, 9, 12, 40, 0, time.UTC)}
	s.prompt("Discounts over 100 % make the total negative. Find the cause, fix it, and add a test.")
	s.event("block", map[string]any{"messageId": "t1",
		"block": map[string]any{"thought": "The total is computed in cart.go. I look there first, then at the tests."}})
	s.says("I look at how the total is computed.", 4200, 0, 180)
	s.event("plan", map[string]any{"entries": []any{
		map[string]any{"content": "Find where discounts are applied", "priority": "high", "status": "completed"},
		map[string]any{"content": "Limit the discount", "priority": "high", "status": "in_progress"},
		map[string]any{"content": "Add a test", "priority": "medium", "status": "pending"}}})
	s.call("Read shop/cart.go", "read", "package shop\n\nfunc (c *Cart) Total() int {\n\treturn c.sum() * (100 - c.Discount) / 100\n}\n", nil,
		map[string]any{"tool": "read", "result": "success", "decision": "allow", "rule": "mode code: reads in the workspace", "duration_ms": 3})
	s.says("", 5100, 4100, 220)
	s.call("Edit shop/cart.go", "edit", "", []any{map[string]any{"type": "diff", "path": "/w/shop/cart.go",
		"oldText": "package shop\n\nfunc (c *Cart) Total() int {\n\treturn c.sum() * (100 - c.Discount) / 100\n}\n",
		"newText": "package shop\n\nfunc (c *Cart) Total() int {\n\tdiscount := min(max(c.Discount, 0), 100)\n\treturn c.sum() * (100 - discount) / 100\n}\n"}},
		map[string]any{"tool": "edit", "result": "success", "decision": "allow", "rule": "the user allowed it", "answer": "allow_once", "duration_ms": 6412,
			"waited_ms": 6400})
	s.call("`go test ./...`", "execute", "ok  \tshop/cart\t0.012s\n[shell] 812 lines -> 1 lines, 99.9% filtered", nil,
		map[string]any{"command": "go test ./...", "result": "success", "decision": "allow", "rule": "default: it only reads", "exit_code": 0, "duration_ms": 4210,
			"bytes_before": 48_213, "bytes_after": 61, "filters": []string{"go-test"}})
	s.says("`Total` used the discount as it was. It is now limited to the range from 0 to 100:\n\n```go\ndiscount := min(max(c.Discount, 0), 100)\n```\n\n## "+
		"What changes\n\nThe tests **pass**. Two things to note:\n\n"+
		"- A negative discount counts as 0.\n- `Cart.Discount` itself *keeps* its value:\n  1. in the store,\n  2. in the [API](https://shop.example/api).\n\n> "+
		"Totals are never negative.\n\n| discount | before | after |\n|---|---:|---:|\n| 50 | 500 | 500 |\n| `150` | -500 | 0 |", 6900, 5000, 410)
	s.ends("end_turn")

	s.prompt("Now remove the old vouchers, and push.")
	s.says("", 7400, 6800, 90)
	s.call("`rm -rf vouchers/old && git push --force`", "execute", "git push --force is blocked.", nil,
		map[string]any{"command": "rm -rf vouchers/old && git push --force", "result": "denied", "error_category": "policy_blocked", "error": "blocked",
			"decision": "deny",
			"rule":     "guard: git push --force", "gates": []any{map[string]any{"gate": "guard", "decision": "deny", "reason": "it rewrites a remote branch"}},
			"duration_ms": 0})
	s.call("`rm -rf vouchers/old`", "execute", "The user rejected this.", nil,
		map[string]any{"command": "rm -rf vouchers/old", "result": "denied", "error_category": "policy_blocked", "decision": "deny",
			"rule": "the user rejected it", "answer": "reject_once", "duration_ms": 12_050, "waited_ms": 12_000})
	s.call("`make lint`", "execute", "shop/cart.go:4: unused variable\nmake: *** [lint] Error 2\n", nil,
		map[string]any{"command": "make lint", "result": "failed", "exit_code": 2, "error_category": "permanent_failure", "decision": "allow",
			"rule": "config.toml: bash make *", "duration_ms": 9120, "bytes_before": 20_480, "bytes_after": 60, "filters": []string{"make"}})
	s.says("I did not push: forced pushes are blocked, and you rejected the removal.", 8300, 7300, 150)
	s.ends("end_turn")

	s.prompt("Show " + hostile + " and the token " + fakeToken)
	s.event("note", map[string]any{"messageId": "n1", "text": "Notice " + hostile})
	s.says("", 9000, 8200, 300)
	s.call("`cat "+strings.Repeat("a-very-long-name/", 20)+"` "+hostile, "execute",
		hostile+"export GITHUB_TOKEN="+fakeToken+"\n"+strings.Repeat("w", 3000)+"\n"+strings.Repeat("line of output\n", 3000), nil,
		map[string]any{"command": "cat x " + hostile + fakeToken, "result": "success", "decision": "allow", "rule": "rule " + hostile, "exit_code": 0,
			"duration_ms": 75_300})
	s.call("Edit "+hostile, "edit", "",
		[]any{map[string]any{"type": "diff", "path": "/w/" + hostile, "oldText": nil, "newText": hostile + strings.Repeat("new\n", 900)}},
		map[string]any{"tool": hostile, "result": "success", "duration_ms": 1})
	s.says("Done. "+hostile+"\n# "+hostile+"\n\n```html\n"+hostile+"```\n\nand `"+hostile[:40]+"`", 12_400, 9000, 1200)
	s.ends("max_tokens")
	return s
}

// chained returns lines of the audit log with their hashes.
func chained(lines []map[string]any) string {
	var log bytes.Buffer
	prev := ""
	for _, line := range lines {
		body, err := json.Marshal(line)
		if err != nil {
			panic(err)
		}
		text := string(body[:len(body)-1]) + `,"prev":"` + prev
		prev = fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
		log.WriteString(text + `","hash":"` + prev + "\"}\n")
	}
	return log.String()
}

// stored stores a session, with its log, in a new home, and returns a function that runs a
// command there.
func (s *writtenSession) stored(t *testing.T) (run func(args ...string) string) {
	root := home(t)
	doc, err := json.Marshal(map[string]any{"version": 1, "sessionId": "told-1", "cwd": "/w", "title": "Discounts over 100 % make the total negative",
		"events": s.events})
	if err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(root, "zeph")
	for name, text := range map[string]string{"session.json": string(doc), "audit.jsonl": chained(s.audit)} {
		if err := os.WriteFile(filepath.Join(state, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run = func(args ...string) string {
		t.Helper()
		cmd := exec.Command(binary, args...)
		cmd.Dir = filepath.Join(root, "work")
		cmd.Env = append(os.Environ(), "ZEPH_HOME="+state, "HOME="+filepath.Join(root, "home"), "TZ=UTC")
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%q: %v\n%s", args, err, &stderr)
		}
		return string(out)
	}
	run("sessions", "import", filepath.Join(state, "session.json"))
	return run
}

// TestPagesInBrowser looks at the pages in Chromium, narrow and wide, in both schemes and
// as printed: https://www.w3.org/WAI/WCAG22/quickref/
func TestPagesInBrowser(t *testing.T) {
	b := browser.Open(t)
	run := sample().stored(t)
	for name, text := range map[string]string{"session": run("sessions", "export", "--html", "told-1"), "report": run("audit", "report", "--html")} {
		file := filepath.Join(t.TempDir(), name+".html")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, v := range []browser.View{{Width: 400, Scheme: "light"}, {Width: 400, Scheme: "dark"}, {Width: 1400, Scheme: "light"},
			{Width: 1400, Scheme: "dark"}, {Width: 800, Scheme: "light", Print: true}} {
			t.Run(name+"/"+v.String(), func(t *testing.T) {
				if requests := b.Load(file, v); !slices.Equal(requests, []string{"file://" + file}) {
					t.Errorf("it requests %q", requests)
				}
				if *shots != "" {
					b.Shoot(filepath.Join(*shots, name+"-"+v.String()+".png"))
				}
				if v.Print {
					var hidden int
					b.Eval(`[...document.querySelectorAll("details > :not(summary)")].filter((e) => e.getBoundingClientRect().height === 0).length`, &hidden)
					if hidden > 0 {
						t.Errorf("%d folds are closed in print", hidden)
					}
				}
				for _, fault := range b.Check() {
					t.Error(fault)
				}
				if *shots != "" {
					b.Shoot(filepath.Join(*shots, name+"-"+v.String()+"-open.png"))
				}
				if p := b.Problems(); len(p) > 0 {
					t.Errorf("the browser reports %q", p)
				}
			})
		}
	}
}

// fenced are the blocks of code of a Markdown document.
var fenced = regexp.MustCompile("(?ms)^(> )?(`{3,})[a-z]*$.*?^(> )?`{3,}$")

// tag is one of the elements that colour code.
var tag = regexp.MustCompile(`</?span[^>]*>`)

// TestPagesAreHarmless checks the source of the pages, also where there is no browser.
func TestPagesAreHarmless(t *testing.T) {
	run := sample().stored(t)
	for name, text := range map[string]string{
		"html":     run("sessions", "export", "--html", "told-1"),
		"markdown": run("sessions", "export", "--markdown", "told-1"),
	} {
		source := text
		if name == "markdown" { // inside of fences nothing has an effect
			source = fenced.ReplaceAllString(text, "")
			if strings.Contains(source, "![x]") {
				t.Error("Markdown: a viewer would request an image")
			}
		}
		for _, bad := range []string{"<script", "<img", "<style>body", "<a href=\"java"} {
			if i := strings.Index(source, bad); i >= 0 {
				t.Errorf("%s has %q: %q", name, bad, source[max(0, i-80):min(len(source), i+80)])
			}
		}
		for _, bad := range []string{fakeToken, "\x1b", "\x00", "\u202e"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s has %q", name, bad)
			}
		}
		for _, want := range []string{"lines left out", "The user allowed it once", "min(max(c.Discount, 0), 100)"} {
			if !strings.Contains(tag.ReplaceAllString(text, ""), want) {
				t.Errorf("%s has no %q", name, want)
			}
		}
		if len(text) > 1<<19 {
			t.Errorf("%s has %d bytes", name, len(text))
		}
	}
}

// TestReportIsHarmless checks the source of the report in the same way.
func TestReportIsHarmless(t *testing.T) {
	text := sample().stored(t)("audit", "report", "--html")
	for _, bad := range []string{"<script", "<img", "<style>body", "<a href=\"java", fakeToken, "\x1b", "\x00", "\u202e"} {
		if strings.Contains(text, bad) {
			t.Errorf("it has %q", bad)
		}
	}
	for _, want := range []string{"Denied by the gate guard (it rewrites a remote branch)", "The user rejected it", ">12 s<", "go-test", "badge good\">intact<"} {
		if !strings.Contains(text, want) {
			t.Errorf("it has no %q", want)
		}
	}
}

// TestPageOfTurn exports a session that the binary itself stored: its page shows the
// user's answer from the log.
func TestPageOfTurn(t *testing.T) {
	model := fakemodel.NewAnthropic(t,
		fakemodel.Answer(fakemodel.Call("c1", "write", map[string]any{"path": "a.txt", "content": "hello\n"})), fakemodel.Answer(fakemodel.Say("Written.")))
	a := (&ide{}).begin(t, start{env: model.Env()})
	s := a.session()
	a.prompt(s, "write a file")
	for flag, wants := range map[string][]string{
		"--html":     {"The user allowed it once", ">+hello", "Written.", ">Turn 1<", "badge good"},
		"--markdown": {"The user allowed it once", "\n+hello", "Written.", "## Turn 1", "· success"},
	} {
		status, out := a.subcommand("", "sessions", "export", flag, string(s))
		for _, want := range wants {
			if status != 0 || !strings.Contains(out, want) {
				t.Errorf("%s: status %d, no %q in\n%s", flag, status, want, out)
			}
		}
	}
}

// TestPageOfSubAgents exports a session with a sub-agent and a rewind: the calls of the
// sub-agent are listed, and the turn that no longer counts is marked.
func TestPageOfSubAgents(t *testing.T) {
	model := delegating(t, []task{{Task: "task write 1"}}, marking)
	a := (&ide{}).begin(t, start{env: model.Env(), config: subAgents})
	a.file("mark.sh", `echo "$1" >> marks.txt`)
	s := a.session()
	a.prompt(s, "work")
	a.prompt(s, "/rewind 1 conversation")
	status, text := a.subcommand("", "sessions", "export", "--html", string(s))
	for _, want := range []string{"4 more calls by sub-agents", "sh mark.sh &#39;task write 1, call 3&#39;", "A rewind undid this turn",
		"Rewound: the conversation went back to before turn 1.", ">Command<"} {
		if status != 0 || !strings.Contains(text, want) {
			t.Errorf("status %d, no %q", status, want)
		}
	}
	if *shots != "" {
		file := filepath.Join(*shots, "subagents.html")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		b := browser.Open(t)
		b.Load(file, browser.View{Width: 1000, Scheme: "light"})
		for _, fault := range b.Check() {
			t.Error(fault)
		}
		b.Shoot(filepath.Join(*shots, "subagents.png"))
	}
}
