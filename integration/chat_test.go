package integration

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// talk starts a conversation in a terminal, and waits until it can be typed in.
func (s *screen) talk(arguments string) {
	s.t.Helper()
	s.enter("clear; stty -g >before; zeph-acp " + arguments)
	s.await(`\n─+\n`)
}

// left waits until the shell is back, with the terminal as it was.
func (s *screen) left() {
	s.t.Helper()
	s.await(`(\n|\A)\$$`)
	before := s.last
	s.enter(`clear; stty -g | cmp before - && echo restored`)
	s.await(`\Arestored\n\$$`)
	s.last = before
}

// TestChatInTerminal talks in a narrow, a usual and a wide terminal: a menu, files, pasted lines, a question, a list, an
// answer in Markdown. The conversation stays when it ends.
func TestChatInTerminal(t *testing.T) {
	const model = `{"text": "Hello! I can do this:\n\n- look at files\n- **change** them, which is a sentence of more than forty columns"}

{"tool": "bash", "input": {"command": "rm greet.txt"}}

{"text": "Then I leave it."}
`
	for _, columns := range []int{40, 100, 200} {
		t.Run(strconv.Itoa(columns), func(t *testing.T) {
			s := openScreen(t, columns, model, map[string]string{"greet.txt": "hi there, 世界\n", "src/greet.go": ""})
			s.talk("--record frames.txtar chat")
			s.tmux("send-keys", "-l", "世界 @sr")
			s.await(`❯ src/\n`)
			s.key("Tab")
			s.await(`› 世界 @src/\n+❯ src/greet\.go`)
			s.key("Tab")
			s.await(`› 世界 @src/greet\.go\n`)
			s.tmux("set-buffer", "second line\n\x1b[31mthird")
			s.key("M-Enter")
			s.tmux("paste-buffer", "-p")
			s.await(`third\n`)
			s.key("Enter")
			s.await(`columns\n+─+\n›\n`)
			s.enter("remove it")
			s.await(`❯ 1  Allow once`)
			s.key("n")
			s.await(`Why not\?`)
			s.enter("keep it")
			s.await(`leave it\.\n+─+\n›\n`)
			s.enter("/mode")
			s.await(`❯ \d ✓ Code`)
			s.key("Escape")
			s.await(`\n›\n`)
			s.tmux("send-keys", "-l", "/stat")
			s.await(`❯ /status`)
			s.key("C-c")
			s.await(`\n›\n`)
			s.key("C-c")
			s.await(`Press Ctrl-C again to leave\.`)
			s.key("C-c")
			s.await(`--continue\n\$$`)
			s.golden("chat." + strconv.Itoa(columns))
			s.left()

			frames := read(t, filepath.Join(s.dir, "frames.txtar"))
			for _, want := range []string{
				`"prompt":[{"type":"text","text":"世界 @src/greet.go \nsecond line\nthird"},{"type":"resource_link","uri":"file://`,
				`"_meta":{"zeph-acp/reason":"keep it"}`,
			} {
				if !strings.Contains(frames, want) {
					t.Errorf("the frames lack %s", want)
				}
			}

			s.talk("chat") // the history of the project
			s.key("Up")
			s.await(`› /mode\n`)
			s.key("Up")
			s.await(`› remove it\n`)
			s.key("C-u")
			s.await(`\n›`)
			s.key("C-d")
			s.left()
			if strings.Contains(s.last, "--continue") {
				t.Errorf("there is no session to go on with:\n%s", s.last)
			}
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
	s.talk("chat 'wait for me'")
	s.await(`❯ 1  Allow once`)
	s.key("y")
	s.await(`│ begun\n+[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] +\d+ s .*\n─+\n›`)
	s.enter("be quick")
	s.await(`After the running call: be quick`)
	s.enter("/mode code")
	s.await(`Next: /mode code`)
	if err := os.WriteFile(filepath.Join(s.dir, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s.await(`Added to the turn: be quick(.|\n)*Thanks\.(.|\n)*> /mode code(.|\n)*The mode is now code\.\n+─+\n›`)
	s.enter("again")
	s.await(`│ second\n+[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] +\d+ s `)
	s.key("Escape")
	s.await(`cancelled\n\nThe turn was cancelled\.\n+─+\n›`)
	s.enter("and now?")
	s.await(`Where were we\?\n+─+\n›`)
	s.enter("and then?")
	s.await(`overloaded\n+─+\n›`)
	s.key("C-d")
	s.left()
}

// TestChatStopsBackground leaves while a command runs in the background, and reads its name.
func TestChatStopsBackground(t *testing.T) {
	const model = `{"tool": "bash", "input": {"command": "sleep 600", "background": true}}

{"text": "It runs."}
`
	s := openScreen(t, 80, model, nil)
	s.talk("chat")
	s.enter("wait")
	s.await(`It runs\.\n+─+\n›.*\n.* · 1 job · no sandbox`)
	s.key("C-d")
	s.await(`--continue\nzeph-acp: the background command sleep 600 was stopped: it ends with the\s+chat\n\$$`)
	s.left()
}

// TestChatResized makes the terminal narrower and wider in a turn. Nothing of the old rows remains.
func TestChatResized(t *testing.T) {
	s := openScreen(t, 60, `{"wait": "cancel"}`, nil)
	s.talk("chat 'a prompt of more than fourteen columns'")
	for _, columns := range []string{"14", "100", "30", "60"} {
		s.tmux("resize-window", "-x", columns)
		s.await(`s +wait.*\n─{` + columns + `}\n›\n`)
		if n := strings.Count(s.last, " s  wait"); n != 1 || strings.Count(s.last, "›") != 1 {
			t.Errorf("at %s columns the terminal has\n%s", columns, s.last)
		}
	}
	s.key("C-c")
	s.await(`The turn was\s+cancelled`)
	s.key("C-d")
	s.left()
}

// TestChatStopped stops the conversation with Ctrl-Z. After fg a pasted text is one prompt
// again, although the shell has switched off the marks around it.
func TestChatStopped(t *testing.T) {
	s := openScreen(t, 80, `{"text": "Well."}`, nil)
	s.talk("chat")
	s.tmux("send-keys", "-l", "typed ")
	s.await(`› typed\n`)
	s.key("C-z")
	s.await(`\n\$$`)
	s.enter(`clear; printf '\033[?2004l'; fg`)
	s.await(`› typed\n`)
	s.tmux("set-buffer", "one\ntwo")
	s.tmux("paste-buffer", "-p")
	s.await(`› typed one\n  two\n`)
	s.key("Enter")
	s.await(`Well\.\n+─+\n›`)
	s.key("C-d")
	s.left()
}

// TestChatOutside writes the prompt in an editor, and goes on with a session from the list.
func TestChatOutside(t *testing.T) {
	s := openScreen(t, 80, `{"text": "Well."}`, map[string]string{"editor": "#!/bin/sh\nprintf 'from the editor\\n' >>\"$1\"\n"})
	if err := os.Chmod(filepath.Join(s.dir, "editor"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.enter("export EDITOR=./editor")
	s.talk("chat")
	s.tmux("send-keys", "-l", "begun, ")
	s.await(`› begun,`)
	s.key("C-g")
	s.await(`› begun, from the editor\n`)
	s.key("Enter")
	s.await(`Well\.\n+─+\n›`)
	s.key("C-d")
	s.left()
	s.enter("clear; zeph-acp chat --resume")
	s.await(`Go on with a session:\n❯ 1 begun, from the editor`)
	s.key("1")
	s.await(`> begun, from the editor\n\nWell\.\n+─+\n›`)
	s.key("C-d")
	s.left()
}

// TestChatWhileEdited opens an editor that waits for what the turn does.
func TestChatWhileEdited(t *testing.T) {
	const model = `{"tool": "bash", "input": {"command": "until [ -e open ]; do sleep 0.02; done"}}

{"tool": "write", "input": {"path": "first", "content": "1\n"}}

{"tool": "write", "input": {"path": "second", "content": "2\n"}}

{"text": "Well."}
`
	s := openScreen(t, 80, model, map[string]string{"editor": "#!/bin/sh\ntouch open\nuntil [ -e second ]; do sleep 0.02; done\n"})
	if err := os.Chmod(filepath.Join(s.dir, "editor"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.enter("export EDITOR=./editor")
	s.talk("chat")
	s.enter("/mode auto")
	s.await(`\nauto · `)
	s.enter("go")
	s.await(`y, `)
	s.key("y")
	s.await(`Esc interrupts\n─+\n›\n`)
	s.key("C-g")
	s.await(`Well\.\n+─+\n›`)
	s.key("C-d")
	s.left()
}

// TestChatPlain talks in plain lines: by the flag, and in a terminal that cannot move its cursor.
func TestChatPlain(t *testing.T) {
	const model = `{"tool": "bash", "input": {"command": "rm -f x"}}

{"text": "Gone."}

{"wait": "cancel"}
`
	for name, command := range map[string]string{"--plain": "zeph-acp chat --plain", "TERM=dumb": "TERM=dumb zeph-acp chat"} {
		t.Run(name, func(t *testing.T) {
			s := openScreen(t, 80, model, nil)
			s.enter("clear; stty -g >before; " + command)
			s.await(`\n>$`)
			s.enter("clean up")
			s.await(`1-4:$`)
			s.enter("y")
			s.await(`Gone\.\n+>$`)
			s.enter("wait")
			s.await(`> wait$`)
			s.key("C-c")
			s.await(`The turn was cancelled\.\n+>$`)
			s.enter("/exit")
			s.await(`--continue\n+\$$`)
			if raw := s.tmux("capture-pane", "-p", "-e"); strings.Contains(raw, "\x1b[") {
				t.Errorf("there are styles: %q", raw)
			}
			s.left()
		})
	}
}

// TestChatAlone begins a conversation without a command, without colours, and in ASCII.
func TestChatAlone(t *testing.T) {
	s := openScreen(t, 80, `{"text": "**Well**, `+"`x`"+`."}`, nil)
	s.enter("clear; NO_COLOR=1 zeph-acp")
	s.await(`\n›`)
	s.enter("go")
	s.await("Well, `x`")
	if raw := s.tmux("capture-pane", "-p", "-e"); regexp.MustCompile(`\x1b\[3[0-7]`).MatchString(raw) || !strings.Contains(raw, "\x1b[1m") {
		t.Errorf("there are colours, or no bold text: %q", raw)
	}
	s.key("C-d")
	s.await(`\n\$$`)
	s.enter("clear; LC_ALL=C zeph-acp")
	s.await(`\n-+\n> Type a prompt`)
	if strings.ContainsFunc(s.last, func(r rune) bool { return r > 0x7f }) {
		t.Errorf("not all is ASCII:\n%s", s.last)
	}
	s.key("C-d")
	s.await(`(\n|\A)\$$`)
}
