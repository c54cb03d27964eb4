package integration

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestChatInTerminal talks in a narrow and a usual terminal: completion, pasted lines, a
// question, the list of models, an answer in Markdown.
func TestChatInTerminal(t *testing.T) {
	const model = `{"text": "Hello! I can do this:\n\n- look at files\n- **change** them, which is a sentence of more than forty columns"}

{"tool": "bash", "input": {"command": "rm greet.txt"}}

{"text": "Then I leave it."}
`
	for _, columns := range []int{40, 80} {
		t.Run(strconv.Itoa(columns), func(t *testing.T) {
			s := openScreen(t, columns, model, map[string]string{"greet.txt": "hi there, 世界\n", "src/greet.go": ""})
			s.enter("clear; zeph-acp --record frames.txtar chat")
			s.await(`›$`)
			s.tmux("send-keys", "-l", "not this")
			s.await(`not this$`)
			s.key("C-c")
			s.await(`\n›$`)
			s.tmux("send-keys", "-l", "世界 @sr")
			s.key("Tab")
			s.await(`@src/$`)
			s.tmux("send-keys", "-l", "gr")
			s.key("Tab")
			s.await(`@src/greet\.go$`)
			s.tmux("set-buffer", "second line\n\x1b[31mthird")
			s.key("M-Enter")
			s.tmux("paste-buffer", "-p")
			s.await(`th\s*ird$`)
			s.key("Enter")
			s.await(`columns\n\n›$`) // the last word: a part of the answer already has a prompt line below it
			s.enter("remove it")
			s.await(`1-4:$`)
			s.enter("n keep it")
			s.await(`leave it.\n\n›$`)
			s.enter("/model")
			s.await(`no change\.\n›$`)
			s.enter("1")
			s.await(`The model is .*\n›$`)
			s.tmux("send-keys", "-l", "/hel")
			s.key("Tab")
			s.await(`/help$`)
			s.key("C-c")
			s.await(`/help\n›$`)
			s.key("C-c")
			s.await(`leave\.\n›$`)
			s.key("C-c")
			s.await(`--continue\n\$$`)
			s.golden("chat." + strconv.Itoa(columns))

			frames := read(t, filepath.Join(s.dir, "frames.txtar"))
			for _, want := range []string{
				`"prompt":[{"type":"text","text":"世界 @src/greet.go \nsecond line\n[31mthird"},{"type":"resource_link","uri":"file://`,
				`"_meta":{"zeph-acp/reason":"keep it"}`, `"method":"session/set_config_option"`,
			} {
				if !strings.Contains(frames, want) {
					t.Errorf("the frames lack %s", want)
				}
			}

			s.enter("clear; zeph-acp chat") // the history of the project
			s.await(`›$`)
			s.key("Up")
			s.key("Up")
			s.await(`› remove it$`)
			s.key("C-u")
			s.key("C-d")
			s.await(`leaves\.\n+\$$`) // there is no session to go on with
		})
	}
}

// TestChatWhileItWorks steers a running turn, queues a command, cancels a turn, and goes on
// after that and after a failure.
func TestChatWhileItWorks(t *testing.T) {
	const model = `{"tool": "bash", "input": {"command": "echo begun; until [ -e go ]; do sleep 0.02; done; echo ended"}}

{"text": "Thanks."}

{"tool": "bash", "input": {"command": "echo second; sleep 600"}}

{"text": "Where were we?"}

{"error": "overloaded", "status": 400}
`
	s := openScreen(t, 80, model, nil)
	s.enter("clear; zeph-acp chat")
	s.await(`›$`)
	s.enter("wait for me")
	s.await(`1-4:$`)
	s.enter("y")
	s.await(`│ begun\n[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] +\d+ s .* ›$`)
	s.enter("be quick")
	s.enter("/mode code")
	s.await(`The next prompt: /mode code`)
	if err := os.WriteFile(filepath.Join(s.dir, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s.await(`Thanks\.(.|\n)*\n›$`)
	s.await(`Added to the turn: be quick`)
	s.enter("again")
	s.await(`│ second\n[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] +\d+ s .* ›$`)
	s.key("C-c")
	s.await(`╰ failed · cancelled\n\nThe turn was cancelled\.\n\n›$`)
	s.enter("and now?")
	s.await(`Where were we\?\n\n›$`)
	text := s.text()
	if before, _, _ := strings.Cut(text, "›"); strings.ContainsAny(before+strings.TrimSuffix(text, "›"), "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏") {
		t.Errorf("the status left a mark:\n%s", text)
	}
	s.enter("and then?")
	s.await(`overloaded\n\n›$`)
	s.tmux("set-buffer", strings.Repeat("a long text\n", 500))
	s.tmux("paste-buffer", "-p")
	s.await(`› \[#1: 501 lines\]$`)
	s.key("C-c")
	s.key("C-d")
	s.await(`--continue\n\$$`)
	s.enter("clear; zeph-acp chat; echo status $?")
	s.await(`›$`)
	s.key("C-d")
	s.await(`status 0\n\$$`)
}

// TestChatStopsBackground leaves while a command runs in the background, and reads its name.
func TestChatStopsBackground(t *testing.T) {
	const model = `{"tool": "bash", "input": {"command": "sleep 600", "background": true}}

{"text": "It runs."}
`
	s := openScreen(t, 80, model, nil)
	s.enter("clear; zeph-acp chat")
	s.await(`›$`)
	s.enter("wait")
	s.await(`It runs\.\n\n›$`)
	s.key("C-d")
	s.await(`--continue\nzeph-acp: the background command sleep 600 was stopped: it ends with the\s+chat\n\$$`)
}

// TestChatLeaves presses Ctrl-D while a turn runs. No prompt stays between its output.
func TestChatLeaves(t *testing.T) {
	const model = `{"tool": "bash", "input": {"command": "echo begun; sleep 600"}}
`
	s := openScreen(t, 80, model, nil)
	s.enter("clear; zeph-acp chat; echo status $?")
	s.await(`›$`)
	s.enter("wait")
	s.await(`│ begun\n[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] +\d+ s .* ›$`)
	s.key("C-d")
	s.await(`status 0\n\$$`)
	if _, after, _ := strings.Cut(s.last, "begun"); strings.ContainsAny(after, "›⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏") {
		t.Errorf("the line left a mark:\n%s", s.last)
	}
}

// TestChatNarrow has a hint and a typed text that are wider than the terminal. Neither
// erases the output above it.
func TestChatNarrow(t *testing.T) {
	const model = `{"tool": "bash", "input": {"command": "rm -r x"}}

{"tool": "bash", "input": {"command": "until [ -e go ]; do sleep 0.02; done; echo ended"}}

{"text": "Well."}
`
	s := openScreen(t, 30, model, nil)
	s.enter("clear; zeph-acp chat")
	s.await(`›$`)
	s.enter("clean up")
	s.await("x`\n│ y, a .*…$")
	s.enter("n")
	s.await("ended(.|\n)*this command\n│ y, a .*…$")
	s.enter("y")
	s.await(`s until .*›$`)
	s.tmux("send-keys", "-l", "a text that is wider than thirty columns")
	s.await(`columns$`)
	if err := os.WriteFile(filepath.Join(s.dir, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s.await(`Well\.\n\n.*a text\D*columns$`)
	s.key("C-u")
	s.await(`│ ended\n╰ completed\n\nWell\.\n\n›$`)
	if want := "│ y, a (always), n, n REA… n\n│ You rejected this.\n╰ failed\n"; !strings.Contains(s.last, want) {
		t.Errorf("the terminal lacks %q", want)
	}
}

// TestChatShrinks makes the terminal narrower than the status, which then has several rows.
// The next status replaces all of them, and no row of the output.
func TestChatShrinks(t *testing.T) {
	s := openScreen(t, 60, `{"wait": "cancel"}`, nil)
	s.enter("seq 200; zeph-acp chat") // tmux moves rows out of a screen that is not full
	s.await(`›$`)
	s.enter("go")
	s.await(`s waiting for the model ›$`)
	s.tmux("resize-window", "-x", "14")
	s.await(`s…+ ›$`)
	if !strings.Contains(s.last, "leaves.\n\n› go\n") || strings.Contains(s.last, "waiting") {
		t.Errorf("the terminal has\n%s", s.last)
	}
	s.key("C-c")
	s.await(`The turn was\ncancelled\.\n\n›$`)
}

// TestChatStopped stops the conversation with Ctrl-Z. After fg a pasted text is one prompt
// again, although the shell has switched off the marks around it; and the terminal of the
// shell is as it was.
func TestChatStopped(t *testing.T) {
	s := openScreen(t, 80, `{"text": "Well."}`, nil)
	s.enter("clear; stty -g >before; zeph-acp chat")
	s.await(`›$`)
	s.tmux("send-keys", "-l", "typed ")
	s.await(`› typed$`)
	s.key("C-z")
	s.await(`\$$`)
	s.enter(`clear; printf '\033[?2004l'; fg`)
	s.await(`› typed$`)
	s.tmux("set-buffer", "one\ntwo")
	s.tmux("paste-buffer", "-p")
	s.await(`› typed one⏎two$`)
	s.key("Enter")
	s.await(`Well\.\n\n›$`)
	s.key("C-d")
	s.await(`\$$`)
	s.enter("clear; stty -g | cmp before && echo restored")
	s.await(`\Arestored\n\$$`)
}
