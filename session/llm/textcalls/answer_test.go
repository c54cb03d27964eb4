package textcalls

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
)

// answers is a model that answers with these events and keeps the request.
type answers struct {
	events []llm.Event
	err    error // at the end
	asked  []llm.Request
	read   int // number of consumed events
}

func (*answers) Name() string { return "answers" }

func (*answers) Window() int { return 0 }

func (a *answers) Stream(_ context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	a.asked = append(a.asked, req)
	return func(yield func(llm.Event, error) bool) {
		for _, ev := range a.events {
			a.read++
			if !yield(ev, nil) {
				return
			}
		}
		if a.err != nil {
			yield(llm.Event{}, a.err)
		}
	}
}

// inChunks streams an answer in chunks of n bytes, or more to complete a
// character; 0 means one chunk.
func inChunks(t testing.TB, answer string, n int, stop llm.StopReason) (string, []llm.Event) {
	var events []llm.Event
	for answer != "" {
		end := len(answer)
		if n > 0 && n < end {
			for end = n; end < len(answer) && answer[end]&0xC0 == 0x80; end++ {
			}
		}
		events = append(events, llm.Event{Text: answer[:end]})
		answer = answer[end:]
	}
	m := &answers{events: append(events, llm.Event{Stop: stop})}
	got, err := llmtest.Collect(Wrap(m), t.Context(), llm.Request{Messages: []llm.Message{llmtest.UserText("hi")}, Tools: llmtest.Tools()})
	return llmtest.Transcript(got, err), got
}

func TestTextAnswer(t *testing.T) {
	const end, full = llm.StopEnd, llm.StopMaxTokens
	ls, read := `bash {"command":"ls"}`, `read {"path": "a"}`
	for name, tt := range map[string]struct {
		answer string
		stop   llm.StopReason
		want   string
	}{
		"text":             {"Hello `a` ``b``\n\n~~no~~ fence\n", end, "Hello `a` ``b``\n\n~~no~~ fence\n|end"},
		"nothing":          {"", end, "end"},
		"max_tokens":       {"Hel", full, "Hel|max_tokens"},
		"refusal":          {"No.", llm.StopRefusal, "No.|refusal"},
		"blank lines":      {"\n \n  Hi\n", end, "  Hi\n|end"},
		"only blank":       {"\n \n", end, "end"},
		"bash":             {"I look.\n```bash\nls\n```\n", end, "I look.\n|" + ls + "|tools"},
		"bash alone":       {"\n\n```bash\nls\n```", end, ls + "|tools"},
		"scrape":           {"```scrape\n{\"url\": \"a\"}\n```", end, `web_scrape {"url": "a"}|tools`},
		"tool_call":        {"```tool_call\n{\"tool_id\": \"read\", \"params\": {\"path\": \"a\"}}\n```", end, read + "|tools"},
		"its stop":         {"```bash\nls\n```", llm.StopTools, ls + "|tools"},
		"stop without":     {"Hi", llm.StopTools, "Hi|end"},
		"several":          {"a\n```bash\nls\n```\n\nb\n```bash\nls\n```\n```bash\nls\n```\n", end, "a\n|" + ls + "|\nb\n|" + ls + "|" + ls + "|tools"},
		"other languages":  {"```fish\nls\n```\n```python\nls\n```\n```\nls\n```", end, "```fish\nls\n```\n```python\nls\n```\n```\nls\n```|end"},
		"sh":               {"```sh\nls\n```", end, ls + "|tools"},
		"console":          {"```console\n$ ls\n\n$ pwd\n```", end, `bash {"command":"ls\n\npwd"}|tools`},
		"a session":        {"```console\n$ ls\na.go\n```\n", end, "```console\n$ ls\na.go\n```\n|end"},
		"output":           {"It prints\n```console\na.go\n```\n", end, "It prints\n```console\na.go\n```\n|end"},
		"prompts":          {"```bash\n$ ls\n```", end, ls + "|tools"},
		"its output":       {"```sh\nls\n```\n```console\n$ ls\na.go\n```\n", end, ls + "|tools"},
		"quoted":           {"````md\n```bash\nls\n```\n````\n~~~\n```bash\nls\n```\n~~~\n", end, "````md\n```bash\nls\n```\n````\n~~~\n```bash\nls\n```\n~~~\n|end"},
		"longer":           {"````bash\ncat <<E\n```\nE\n````\n", end, "bash {\"command\":\"cat <<E\\n```\\nE\"}|tools"},
		"inline":           {"```bash ls```\n", end, "```bash ls```\n|end"},
		"in a line":        {"Use ```bash\nls\n", end, "Use ```bash\nls\n|end"},
		"never closed":     {"a\n```bash\nls", end, "a\n|" + ls + "|tools"},
		"cut off":          {"a\n```bash\nls", full, "a\n|bash \"ls\"|tools"},
		"cut off fence":    {"a\n```ba", full, "a\n```ba|max_tokens"},
		"cut off later":    {"```bash\nls\n```\nb\n```bash\nrm", full, ls + "|b\n|bash \"rm\"|tools"},
		"quote never ends": {"```go\n```bash\nls\n", end, "```go\n```bash\nls\n|end"},

		"unknown tool":     {"```tool_call\n{\"tool_id\":\"reed\",\"params\":{}}\n```", end, "reed {}|tools"},
		"bad JSON":         {"```tool_call\n{\"tool_id\": \"read\", \"params\": {oops}}\n```", end, `read "{\"tool_id\": \"read\", \"params\": {oops}}"|tools`},
		"no JSON":          {"```tool_call\nread a\n```", end, `tool_call "read a"|tools`},
		"no command":       {"```bash\n```", end, `bash {"command":""}|tools`},
		"params of a kind": {"```tool_call\n{\"tool_id\":\"read\",\"params\":[1]}\n```", end, `read "{\"tool_id\":\"read\",\"params\":[1]}"|tools`},
		"raw line breaks": {"```tool_call\n{\"tool_id\":\"write\",\"params\":{\"content\":\"a\n\tb\\\"\n\"}}\n```", end,
			`write {"content":"a\u000a\u0009b\"\u000a"}|tools`},
		"JSON in JSON":         {"```tool_call\n{\"name\":\"read\",\"arguments\":\"{\\\"path\\\": \\\"a\\\"}\"}\n```", end, read + "|tools"},
		"a tool not there":     {"```mcp\n{}\n```", end, "```mcp\n{}\n```|end"},
		"Hermes":               {"I look.\n<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}\n</tool_call>", end, "I look.\n|" + read + "|tools"},
		"no fence":             {"tool_call\n{\"tool_id\": \"read\", \"params\": {\"path\": \"a\"}}", end, read + "|tools"},
		"Hermes, two":          {`<tool_call>{"name": "list"}</tool_call> <tool_call>{"name": "list"}</tool_call>`, end, "list {}|list {}|tools"},
		"Hermes, cut off":      {`<tool_call>{"name": "li`, full, "max_tokens"},
		"Hermes, bad":          {`<tool_call>{"name": "list", oops}</tool_call>`, end, `list "{\"name\": \"list\", oops}"|tools`},
		"GLM":                  {"<tool_call>list</tool_call>", end, "list {}|tools"},
		"Hermes, not ended":    {`<tool_call>{"name": "list"}`, end, "list {}|tools"},
		"Hermes, in a line":    {"Write <tool_call> first.\n<tool_calls>", end, "Write <tool_call> first.\n<tool_calls>|end"},
		"JSON block":           {"```json\n{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}\n```", end, read + "|tools"},
		"JSON, no call":        {"```json\n{\"name\": \"read\", \"version\": 1}\n```\n", end, "```json\n{\"name\": \"read\", \"version\": 1}\n```\n|end"},
		"JSON, no tool":        {"```json\n{\"name\": \"x\", \"arguments\": {}}\n```\n", end, "x {}|tools"},
		"JSON, no tool, later": {"So:\n```json\n{\"name\": \"x\", \"arguments\": {}}\n```\n", end, "So:\n```json\n{\"name\": \"x\", \"arguments\": {}}\n```\n|end"},
		"JSON, other":          {"```json\n[1,\n2]\n```\na\n```bash\nls\n```", end, "```json\n[1,\n2]\n```\na\n|" + ls + "|tools"},
		"JSON, not ended":      {"```json\n{\"name\":", end, "```json\n{\"name\":|end"},

		"thought":           {"<think>\nhm ```bash\nrm\n```\n</think>\n\nHi", end, "thought:\nhm ```bash\nrm\n```\n|Hi|end"},
		"thought, calls":    {" <think>hm</think>\n```bash\nls\n```", end, "thought:hm|" + ls + "|tools"},
		"thought, no end":   {"<think>hm </thi", end, "thought:hm </thi|end"},
		"thought, empty":    {"<think>\n\n</think>\n\nHi", end, "thought:\n\n|Hi|end"},
		"thought, late":     {"Hi <think>a</think>\n<think>", end, "Hi <think>a</think>\n<think>|end"},
		"thought, unlikely": {"<thi", end, "<thi|end"},
		"two thoughts":      {"<think>a</think><think>b</think>", end, "thought:a|<think>b</think>|end"},

		"result made up":    {"```bash\nls\n```\nOutput:\na.go\n```bash\nrm a.go\n```\n", end, ls + "|tools"},
		"result in a block": {"```bash\nls\n```\n\nHere is what it prints.\n```\na.go\n```\nSo I delete it:\n```bash\nrm a.go\n```\n", end, ls + "|tools"},
		"result as ours":    {"```bash\nls\n```\n[tool_result 1: bash]\na", end, ls + "|tools"},
		"result of Hermes":  {"<tool_call>{\"name\":\"list\"}</tool_call>\n<tool_response>\na\n</tool_response>", end, "list {}|tools"},
		"user made up":      {"```bash\nls\n```\nUser: thanks\n", end, ls + "|tools"},
		"bold":              {"```bash\nls\n```\n**Output of ls:**\na\n", end, ls + "|tools"},
		"last line":         {"```bash\nls\n```\nOutput:", end, ls + "|tools"},
		"text after":        {"```bash\nls\n```\nThis lists the files.\n", end, ls + "|This lists the files.\n|tools"},
		"code after": {"```bash\nls\n```\nThen I add\n```go\nOutput:\n```\nand\n```bash\nls\n```", end,
			ls + "|Then I add\n```go\nOutput:\n```\nand\n|" + ls + "|tools"},
		"result before calls": {"Output:\n```\na\n```\n```bash\nls\n```", end, "Output:\n```\na\n```\n|" + ls + "|tools"},
		"CRLF":                {"Hi\r\n```bash\r\nls\r\n```\r\nOutput:\r\na", end, "Hi\r\n|" + ls + "|tools"},
		"Unicode":             {"Grüße 日本\n```bash\necho 日本\n```\nÄ", end, "Grüße 日本\n|bash {\"command\":\"echo 日本\"}|Ä|tools"},
	} {
		t.Run(name, func(t *testing.T) {
			for n := range len(tt.answer) + 1 {
				got, _ := inChunks(t, tt.answer, n, tt.stop)
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Fatalf("chunks of %d (-want +got)\n%s", n, diff)
				}
			}
		})
	}
}

// Text that cannot begin a call is passed on before its line ends.
func TestTextAnswerIsRelayed(t *testing.T) {
	for _, chunks := range [][]string{
		{"Hel", "lo ", "`co", "de`"}, {"```go\n", "func ", "x() {", "\n", "\t`"}, {"```js", "on\n", "[\n", "1,", " 2"}, {"    `", "``"}, {"<", "b>"},
	} {
		a := newAnswerReader(llm.Request{Tools: llmtest.Tools()})
		for _, c := range chunks {
			a.read(llm.Event{Text: c})
		}
		a.endText()
		if got := llmtest.Transcript(a.events, nil); got != strings.Join(chunks, "") {
			t.Errorf("%q: so far %q", chunks, got)
		}
	}
}

// Tools that are left out of the request count in the text: the model knows their names from elsewhere.
func TestTextAnswerOfUnlistedTool(t *testing.T) {
	tools := llmtest.Tools()
	at := slices.IndexFunc(tools, func(tool llm.Tool) bool { return tool.Name == "read" })
	req := llm.Request{Tools: slices.Concat(tools[:at], tools[at+1:]), Unlisted: tools[at : at+1]}
	for form, answer := range map[string]string{
		"JSON": `{"name": "read", "arguments": {"path": "a"}}`, "Hermes": `<tool_call>{"name": "read", "arguments": {"path": "a"}}</tool_call>`,
	} {
		m := &answers{events: []llm.Event{{Text: answer}, {Stop: llm.StopEnd}}}
		got, err := llmtest.Collect(Auto(m, &ToolUse{}), t.Context(), req)
		if s := llmtest.Transcript(got, err); !strings.HasSuffix(s, `read {"path": "a"}|tools`) {
			t.Errorf("%s: got %q, want the call", form, s)
		}
		if asked := m.asked[0]; slices.ContainsFunc(asked.Tools, func(tool llm.Tool) bool { return tool.Name == "read" }) {
			t.Errorf("%s: asked with %+v", form, asked.Tools)
		}
	}
}

// Without tools, as in a request for a summary, no text is a call.
func TestTextAnswerWithoutTools(t *testing.T) {
	m := &answers{events: []llm.Event{{Text: "<think>a</think>```ba"}, {Text: "sh\nls\n```\nOutput:\na"}, {Stop: llm.StopEnd}}}
	got, err := llmtest.Collect(Wrap(m), t.Context(), llm.Request{})
	if s := llmtest.Transcript(got, err); s != "thought:a|```bash\nls\n```\nOutput:\na|end" {
		t.Error(s)
	}
	if strings.Contains(m.asked[0].System, "<tools>") {
		t.Errorf("asked with %+v", m.asked[0])
	}
}

// The rest of an answer is not read once it continues with a made-up result.
func TestTextAnswerStopsEarly(t *testing.T) {
	m := &answers{events: []llm.Event{{Usage: &llm.Usage{Input: 9, Output: 1}}, {Text: "```bash\nls\n```\n"}, {Text: "Output:\n"}, {Text: "a"},
		{Stop: llm.StopEnd}}}
	got, err := llmtest.Collect(Wrap(m), t.Context(), llm.Request{Tools: llmtest.Tools()})
	if s := llmtest.Transcript(got, err); s != `usage:1|bash {"command":"ls"}|usage:7|tools` || m.read != 3 {
		t.Errorf("%s; %d events were read", s, m.read)
	}
}

// The text of a broken answer is kept, and a native call is passed on.
func TestTextAnswerBroken(t *testing.T) {
	call := &llm.ToolCall{ID: "1", Name: "list", Input: json.RawMessage("{}")}
	for want, events := range map[string][]llm.Event{
		"a\n``|error:broken":              {{Text: "a\n``"}},
		"error:broken":                    {{Text: "```bash\nrm"}},
		"thought:a|error:broken":          {{Thought: "a"}},
		"thought:</|error:broken":         {{Text: "<think></"}},
		"list {}|after|error:broken":      {{Call: call}, {Text: "after"}},
		"thought:x|a|list {}|tools":       {{Thought: "x"}, {Text: "a"}, {Call: call}, {Stop: llm.StopTools}},
		"bash {\"command\":\"ls\"}|tools": {{Text: "```bash\n"}, {Text: "ls\n```"}, {Stop: llm.StopEnd}},
	} {
		m := &answers{events: events, err: fmt.Errorf("broken")}
		got, err := llmtest.Collect(Wrap(m), t.Context(), llm.Request{Tools: llmtest.Tools()})
		if s := llmtest.Transcript(got, err); !strings.HasPrefix(s, want) {
			t.Errorf("%q, want %q", s, want)
		}
	}
}

// FuzzTextStream checks that chunk boundaries do not change the events, and
// that no text contains a call.
func FuzzTextStream(f *testing.F) {
	for _, s := range []string{
		"a\n```bash\nls\n```\n\nb\n```bash\nls\n```", "<think>a</think>\n```tool_call\n{\"tool_id\":\"read\"}\n```\nOutput:\n",
		"```json\n{\"name\":\"read\",\"arguments\":{}}\n```", "<tool_call>{}</tool_call>```bash\nls", "~~~~scrape\r\n{}\r\n~~~~\r\n", "````md\n```bash\n```\n````",
	} {
		f.Add(s, 3, false)
	}
	f.Fuzz(func(t *testing.T, answer string, n int, full bool) {
		answer = strings.ToValidUTF8(answer, "?")
		stop := llm.StopEnd
		if full {
			stop = llm.StopMaxTokens
		}
		whole, _ := inChunks(t, answer, 0, stop)
		cut, events := inChunks(t, answer, max(n%20, 1), stop)
		if whole != cut {
			t.Errorf("whole %q\n  cut %q", whole, cut)
		}
		var text strings.Builder
		for _, ev := range events {
			text.WriteString(ev.Text)
			if ev.Call != nil && !json.Valid(ev.Call.Input) {
				t.Errorf("input %q", ev.Call.Input)
			}
		}
		for _, c := range Find(text.String(), llmtest.Tools()) {
			if !strings.HasSuffix(c.Problem, "is never closed") || !full {
				t.Errorf("the text %q holds %+v", text.String(), c)
			}
		}
	})
}

func BenchmarkTextStream(b *testing.B) {
	var events []llm.Event
	for i := range 1000 {
		events = append(events, llm.Event{Text: "word " + strings.Repeat("x", i%7)})
		if i%12 == 0 {
			events = append(events, llm.Event{Text: " \n"})
		}
		if i%200 == 0 {
			events = append(events, llm.Event{Text: "```go\nfunc"}, llm.Event{Text: " x()\n```\n"})
		}
	}
	m := &answers{events: append(events, llm.Event{Stop: llm.StopEnd})}
	model, req := Wrap(m), llm.Request{Tools: llmtest.Tools()}
	b.ReportAllocs()
	for b.Loop() {
		m.asked = nil
		for range model.Stream(b.Context(), req) {
		}
	}
	b.ReportMetric(float64(b.N)*float64(len(m.events))/b.Elapsed().Seconds(), "chunks/s")
}

// A call whose JSON was corrected says so in its result, as does one that was cut off.
func TestCallNotes(t *testing.T) {
	for answer, want := range map[string]string{
		"<tool_call>{'name': 'list', 'arguments': {}}</tool_call>": "[the call was corrected to valid JSON: it had single quotation marks]",
		`<tool_call>{"name": "list", "arguments": {}}</tool_call>`: "",
		`<tool_call>{"name": "read", "arguments": {"path": "a`:     cutNote,
	} {
		_, events := inChunks(t, answer, 0, llm.StopMaxTokens)
		if call := events[0].Call; call == nil || call.Note != want || call.Incomplete != (want == cutNote) {
			t.Errorf("%s: got %+v, want the note %q", answer, call, want)
		}
	}
}
