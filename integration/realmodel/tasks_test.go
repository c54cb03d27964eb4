package realmodel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// task is work for a small model.
type task struct {
	prompt string
	// asks means that nobody answers questions, so that nothing may change.
	asks bool
}

// tasks are done in a directory with the files of project.
var tasks = map[string]task{
	"arithmetic":    {prompt: "What is 17 + 25? Answer with the number."},
	"call-syntax":   {prompt: "Explain in one sentence what the tag <tool_call> is for. Do not call a tool."},
	"count-lines":   {prompt: "How many lines does notes.txt have?"},
	"create-dir":    {prompt: "Create the directory out/reports."},
	"delete":        {prompt: "Delete the file old.log."},
	"edit-word":     {prompt: "In notes.txt, replace the word blue with green."},
	"find-file":     {prompt: "Which file below this directory is named config.json?"},
	"fix-bug":       {prompt: "The function add in calc.py subtracts. Fix it."},
	"grep":          {prompt: "In which file is the function multiply defined?"},
	"json-value":    {prompt: "Which port does etc/config.json set?"},
	"list":          {prompt: "List the files of this directory."},
	"long-file":     {prompt: "What is the last line of long.txt?"},
	"missing-file":  {prompt: "Read missing.txt and tell me its first word."},
	"move":          {prompt: "Rename old.log to new.log."},
	"no-permission": {prompt: "Delete all files in this directory with the command rm.", asks: true},
	"read-line":     {prompt: "What is the third line of notes.txt?"},
	"run":           {prompt: "Run the command: echo ready"},
	"summary":       {prompt: "Read README.md and say in one sentence what the project does."},
	"unicode":       {prompt: "Which city is named in städte.txt?"},
	"write":         {prompt: "Write a file hello.txt with the text: hello world"},
}

// project returns the files that the tasks are about.
func project() map[string]string {
	var lines strings.Builder
	for n := range 3000 {
		fmt.Fprintf(&lines, "line %d of a long file\n", n+1)
	}
	return map[string]string{
		"README.md":       "# Ferry\n\nFerry copies tables between databases, row by row.\n",
		"notes.txt":       "the sky is blue\nthe sea is deep\nthe sand is warm\nthe wind is cold\n",
		"old.log":         "started\nstopped\n",
		"calc.py":         "def add(a, b):\n    return a - b\n\n\ndef multiply(a, b):\n    return a * b\n",
		"etc/config.json": "{\n  \"host\": \"localhost\",\n  \"port\": 8042\n}\n",
		"long.txt":        lines.String(),
		"städte.txt":      "Die Stadt heißt Zürich.\n",
	}
}

// settings are the ways in which the model is asked to call tools.
var settings = map[string]struct{ flags, config string }{
	"own template":     {},
	"calling template": {flags: "--chat-template-file testdata/calling.jinja"},
	"text mode":        {config: "tool_use = \"text\"\n"},
}

// maxEvaluatedAgain is the share of a prompt that the server may evaluate again in each round after
// the first of a turn, in percent.
const maxEvaluatedAgain = 3

func TestTasks(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			s := settings[name]
			l := serve(t, strings.Fields(s.flags)...)
			var prompts, again, done int
			for range *repeat {
				for _, task := range slices.Sorted(maps.Keys(tasks)) {
					t.Run(task, func(t *testing.T) {
						switched := tasks[task].do(t, l, s.config)
						p, a := evaluatedAgain(l.takeRounds())
						if done++; !switched { // from native calls to text: another prompt
							prompts, again = prompts+p, again+a
						}
					})
				}
			}
			if prompts > 0 {
				t.Logf("%d tasks; the server evaluated %.1f %% of the later prompts again", done, 100*float64(again)/float64(prompts))
			}
			if again*100 > prompts*maxEvaluatedAgain {
				t.Errorf("got %d tokens of %d in later prompts evaluated again, want at most %d %%", again, prompts, maxEvaluatedAgain)
			}
		})
	}
}

// evaluatedAgain returns the tokens of the prompts after the first one of a turn, and how many of
// them the server had evaluated before, as a part of the prompt or of the answer.
func evaluatedAgain(rounds []round) (prompts, again int) {
	for i := 1; i < len(rounds); i++ {
		before, now := rounds[i-1], rounds[i]
		prompts += now.prompt
		again += max(now.evaluated-max(now.prompt-before.prompt-before.answer, 0), 0)
	}
	return prompts, again
}

// result is the last line of run --json.
type result struct {
	Type       string
	StopReason string
	ExitCode   int
	Error      *struct{ Message string }
	Text       string
	Rounds     int
}

// update is any other line.
type update struct {
	Update struct {
		SessionUpdate string
		ToolCallID    string
		Title         string
		Status        string
	}
}

// do lets the model do the task, and checks how the agent ends. It reports whether the agent described
// the tools in another way in between.
func (k task) do(t *testing.T, l *llama, config string) (switched bool) {
	outside, home := t.TempDir(), t.TempDir()
	dir := filepath.Join(outside, "work")
	for name, text := range project() {
		write(t, filepath.Join(dir, name), text)
	}
	write(t, filepath.Join(outside, "canary.txt"), "untouched\n")
	write(t, filepath.Join(home, "config.toml"),
		fmt.Sprintf("[[llm.providers]]\ntype = \"compatible\"\nmodel = %q\nbase_url = %q\n%s", l.model, l.url+"/v1", config))
	before := tree(t, outside)
	args := []string{"run", "--json", "--max-rounds", "25"}
	if !k.asks {
		args = append(args, "--yes")
	}
	cmd := exec.CommandContext(context.Background(), binary, append(args, k.prompt)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "ZEPH_HOME="+home)
	var out, diagnostics bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diagnostics
	err := cmd.Run()
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
		t.Fatal(err)
	}
	k.checkEnd(t, cmd.ProcessState.ExitCode(), out.String(), diagnostics.String())
	after := tree(t, outside)
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if now, ok := after[name]; (k.asks || !strings.HasPrefix(name, "work/")) && (!ok || now != before[name]) {
			t.Errorf("%s has changed without permission", name)
		}
	}
	return strings.Contains(out.String(), "from now on")
}

// specialTokens are the marks of chat templates, which no person should read.
var specialTokens = regexp.MustCompile(`<\|[a-z_]+\|>|<(?:end|start)_of_turn>|</?think>|</?tool_(?:call|response)s?>`)

// onlyCall matches an answer that is a call of a tool, and nothing else.
var onlyCall = regexp.MustCompile("(?s)\\A\\s*(?:```\\w*\\s*)?\\{\\s*\"(?:name|tool_id|tool|function)\"\\s*:\\s*\"" +
	"(?:bash|read|write|edit|grep|find_path|list_directory|create_directory|delete_path|move_path)\".*\\}\\s*(?:```)?\\s*\\z")

// checkEnd checks the end of a turn.
func (k task) checkEnd(t *testing.T, exit int, out, diagnostics string) {
	t.Helper()
	var end result
	var calls []string
	open := map[string]bool{}
	for line := range strings.Lines(out) {
		var u update
		if err := errors.Join(json.Unmarshal([]byte(line), &u), json.Unmarshal([]byte(line), &end)); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if u.Update.Title != "" {
			calls = append(calls, u.Update.Title)
		}
		if id := u.Update.ToolCallID; id != "" {
			open[id] = u.Update.Status != "completed" && u.Update.Status != "failed"
		}
	}
	t.Logf("%s, exit %d, %d rounds, calls %.400q: %.200q", end.StopReason, end.ExitCode, end.Rounds, calls, end.Text)
	for id, isOpen := range open {
		if isOpen {
			t.Errorf("the call %s has no end", id)
		}
	}
	reasons := map[int][]string{
		0: {"end_turn"}, 1: {"end_turn", "max_turn_requests", "max_tokens", ""}, 3: {"refusal", "max_tokens", "max_turn_requests", "end_turn"},
	}
	switch reason, ok := reasons[exit]; {
	case end.Type != "result":
		t.Errorf("got no result, exit %d\n%s", exit, diagnostics)
	case !ok || end.ExitCode != exit || !slices.Contains(reason, end.StopReason):
		t.Errorf("got exit %d and %+v, want a known end", exit, end)
	case exit == 0 && strings.TrimSpace(end.Text) == "":
		t.Errorf("got an empty answer with exit 0")
	case exit == 0 && onlyCall.MatchString(end.Text):
		t.Errorf("got a call as the answer: %s", end.Text)
	case exit != 0 && (end.Error == nil || len(end.Error.Message) < 20):
		t.Errorf("got no sentence about exit %d: %+v", exit, end)
	case strings.Contains(diagnostics, "goroutine ") || strings.Contains(diagnostics, "panic:"):
		t.Errorf("crashed\n%s", diagnostics)
	}
	if mark := specialTokens.FindString(end.Text); mark != "" && !strings.Contains(k.prompt, mark) {
		t.Errorf("got %s in the answer: %s", mark, end.Text)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// tree returns the contents of all files below a directory.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all[filepath.ToSlash(name)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
