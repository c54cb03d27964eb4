package integration

import (
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var updateScreens = flag.Bool("update-screens", false, "write the expected screens of terminals")

// screen is a terminal of tmux in which a shell runs.
type screen struct {
	t      *testing.T
	socket string
	dir    string
	last   string // the text that await has seen last
}

// screenRows is the height of a terminal.
const screenRows = 100

// openScreen opens a terminal of so many columns, in a workspace with the files. model is
// the script of the model.
func openScreen(t *testing.T, columns int, model string, files map[string]string) *screen {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("no tmux here: it is the terminal of this test")
	}
	root := t.TempDir()
	s := &screen{t: t, socket: filepath.Join(root, "tmux"), dir: filepath.Join(root, "w")}
	home := filepath.Join(root, "home")
	all := map[string]string{
		filepath.Join(home, "config.toml"): "[[llm.providers]]\nname = \"script\"\ntype = \"script\"\nmodel = \"" + filepath.ToSlash(filepath.Join(home,
			"model.jsonl")) + "\"\ndefault = true\n",
		filepath.Join(home, "model.jsonl"): model,
	}
	for name, text := range files {
		all[filepath.Join(s.dir, name)] = text
	}
	for path, text := range all {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{s.dir, filepath.Join(root, "bin")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(binary, filepath.Join(root, "bin", "zeph-acp")); err != nil {
		t.Fatal(err)
	}
	lives := filepath.Join(root, "lives") // every process of the terminal has it open
	if out, err := exec.Command("mkfifo", lives).CombinedOutput(); err != nil {
		t.Fatalf("mkfifo: %v: %s", err, out)
	}
	ends, err := os.OpenFile(lives, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	shell := []string{
		"env", "-i", "HOME=" + home, "ZEPH_HOME=" + home, "PATH=" + filepath.Join(root, "bin") + ":" + os.Getenv("PATH"),
		"PS1=$ ", "TERM=screen-256color", "LC_ALL=C.UTF-8", "sh", "-c", "exec 9>" + lives + "; exec sh",
	}
	s.tmux(append([]string{"-u", "-f", "/dev/null", "new-session", "-d", "-x", strconv.Itoa(columns), "-y", strconv.Itoa(screenRows), "-c", s.dir}, shell...)...)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the terminal:\n%s", s.last)
		}
	})
	t.Cleanup(func() { // the agent still writes its files when the terminal is gone
		_ = exec.Command("tmux", "-S", s.socket, "kill-server").Run()
		_ = ends.SetReadDeadline(time.Now().Add(patience))
		if _, err := io.ReadAll(ends); err != nil {
			t.Errorf("a process of the terminal still runs: %v", err)
		}
		ends.Close()
	})
	s.await(`\$$`)
	return s
}

func (s *screen) tmux(args ...string) string {
	s.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", s.socket}, args...)...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return string(out)
}

// text returns the text of the terminal.
func (s *screen) text() string { return strings.TrimRight(s.tmux("capture-pane", "-p"), "\n") }

// await waits until the end of the terminal's text matches a pattern.
func (s *screen) await(pattern string) {
	s.t.Helper()
	at := regexp.MustCompile(pattern)
	eventually(s.t, promptly, pattern+" in the terminal", func() bool {
		s.last = s.text()
		return at.MatchString(s.last)
	})
}

// enter types a line.
func (s *screen) enter(line string) { s.tmux("send-keys", "-l", line); s.key("Enter") }

func (s *screen) key(name string) { s.tmux("send-keys", name) }

// golden compares the text of the terminal with a file. Ids and directories differ from run to run.
func (s *screen) golden(name string) {
	s.t.Helper()
	got := regexp.MustCompile(`(session|show|--resume)(\s+)[0-9a-f]{8}`).ReplaceAllString(s.text(), "${1}${2}0123abcd") + "\n"
	got = regexp.MustCompile(`\Azeph-acp .*\n/.*\n`).ReplaceAllString(got, "zeph-acp VERSION · MODEL · code mode\n/DIRECTORY\n")
	dir := strings.Split(s.dir, "")
	for i := range dir {
		dir[i] = regexp.QuoteMeta(dir[i])
	}
	got = regexp.MustCompile(`\s(│\s)?`+strings.Join(dir, `(\n│ )?`)).ReplaceAllString(got, " /home/ann/site")
	path := filepath.Join("testdata", "terminal", name+".txt")
	if *updateScreens {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			s.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			s.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if diff := cmp.Diff(string(want), got); err != nil || diff != "" {
		s.t.Errorf("%s: %v (-want +got)\n%s", name, err, diff)
	}
}

// TestRunInTerminal runs a turn at the widths of a narrow and a usual terminal: Markdown,
// a question that is rejected with a reason, one that is answered, a long result.
func TestRunInTerminal(t *testing.T) {
	const model = `{"thought": "A greeting, so I look at the file before I change it."}
{"text": "I look at **greet.txt** first:\n\n1. read it\n2. make it polite, which takes a sentence that is longer than forty columns\n\n| a | b |\n|---|---|\n| 1 | ` + "`2`" + ` |\n"}
{"tool": "read", "input": {"path": "greet.txt"}}

{"tool": "bash", "input": {"command": "rm greet.txt"}}

{"tool": "edit", "input": {"path": "greet.txt", "old_string": "hi there", "new_string": "good day there"}}

{"tool": "bash", "input": {"command": "seq 1 300"}}

{"text": "It is polite now."}
`
	for _, columns := range []int{40, 80} {
		t.Run(strconv.Itoa(columns), func(t *testing.T) {
			s := openScreen(t, columns, model, map[string]string{"greet.txt": "hi there, 世界\n"})
			s.enter("clear; zeph-acp run make it polite")
			s.await(`rm greet(.|\n)*1-4:$`)
			s.enter("n use git rm, please")
			s.await(`edit(.|\n)*1-4:$`)
			s.enter("maybe")
			s.await(`maybe\n(.|\n)*\n.*1-4:$`)
			s.enter("y")
			s.await(`--continue\n\$$`)
			s.golden("run." + strconv.Itoa(columns))
			if text, err := os.ReadFile(filepath.Join(s.dir, "greet.txt")); err != nil || string(text) != "good day there, 世界\n" {
				t.Errorf("the file is %q, %v", text, err)
			}
		})
	}
}

// TestStatusLeavesNoMarks interrupts a command while the status is shown, and steers while
// another runs.
func TestStatusLeavesNoMarks(t *testing.T) {
	const model = `{"tool": "bash", "input": {"command": "echo begun; until [ -e go ]; do sleep 0.02; done; echo ended"}}

{"tool": "bash", "input": {"command": "echo second; sleep 600"}}
`
	s := openScreen(t, 80, model, nil)
	s.enter("clear; zeph-acp run --yes wait")
	s.await(`[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] +\d+ s echo begun`)
	s.enter("be quick")
	s.await(`\nbe quick\n`)
	if err := os.WriteFile(filepath.Join(s.dir, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s.await(`[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] +\d+ s echo second`)
	s.key("C-c")
	s.await(`\n\$$`)
	for _, want := range []string{"│ begun\nbe quick\n│ ended\n", "\n\nAdded to the turn: be quick\n\n",
		"│ second\n╰ failed · cancelled\n\nThe turn was cancelled.\n\nsession "} {
		if !strings.Contains(s.last, want) {
			t.Errorf("the terminal lacks %q", want)
		}
	}
	if strings.ContainsAny(s.last, "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏") {
		t.Error("the status left a mark")
	}
}

// A dumb terminal shows neither escape sequences nor Markdown laid out. NO_COLOR leaves out the
// colours alone.
func TestPlainTerminal(t *testing.T) {
	s := openScreen(t, 60, "{\"text\": \"**bold** `code` and a line that is longer than the sixty columns\"}\n", nil)
	colour := regexp.MustCompile("\x1b\\[[349][0-7]m")
	for _, tt := range []struct{ variable, text, styled string }{
		{"NO_COLOR=1", "bold `code` and a line that is longer than the sixty columns\n", "\x1b[1mbold\x1b[0m"},
		{"TERM=dumb", "**bold** `code` and a line that is longer than the sixty\ncolumns\n", "**bold** `code`"},
	} {
		s.enter("clear; " + tt.variable + " zeph-acp run hi >/dev/tty; echo status of " + tt.variable + " $?")
		s.await("status of " + tt.variable + ` 0\n\$$`)
		if got := s.tmux("capture-pane", "-e", "-p"); !strings.Contains(s.text(), tt.text) || !strings.Contains(got, tt.styled) || colour.MatchString(got) {
			t.Errorf("%s: %q", tt.variable, got)
		}
	}
}
