// Command recording runs zeph-acp in a terminal and draws what it shows as an animated
// picture, which needs no script:
//
//	go run ./integration/cmd/recording -out docs/recording.svg
//
// The session is real: the built binary in a terminal of tmux, in a directory with a small
// program. Only the model is a script, so that each run shows the same. It needs tmux.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

const (
	columns = 88
	rows    = 30
)

// prompt is what the person types.
const prompt = `zeph-acp run "greet people politely"`

// model is the script of the model: see docs/client-authors.md.
const model = `{"text": "I look at the greeting first."}
{"tool": "read", "input": {"path": "greet.go"}}

{"tool": "edit", "input": {"path": "greet.go", "old_string": "\"hi \"", "new_string": "\"good day, \""}}

{"tool": "bash", "input": {"command": "go vet greet.go && echo fine"}}

{"text": "Done:\n\n- ` + "`greet.go`" + ` says **good day**\n- ` + "`go vet`" + ` has nothing to say\n"}
`

const program = `package main

func greet(name string) string { return "hi " + name }

func main() { println(greet("world")) }
`

func main() {
	out := flag.String("out", "docs/recording.svg", "write the picture to `FILE`")
	flag.Parse()
	if err := run(*out); err != nil {
		fmt.Fprintln(os.Stderr, "recording:", err)
		os.Exit(1)
	}
}

func run(out string) error {
	root, err := os.MkdirTemp("", "zeph-recording-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	t := &terminal{socket: filepath.Join(root, "tmux")}
	if err := prepare(root); err != nil {
		return err
	}
	defer t.tmux("kill-server")
	if err := t.open(root); err != nil {
		return err
	}
	frames, err := t.record()
	if err != nil {
		return err
	}
	return os.WriteFile(out, []byte(picture(frames)), 0o644)
}

// prepare builds the binary and writes the files of the session.
func prepare(root string) error {
	home, work := filepath.Join(root, "home"), filepath.Join(root, "greeter")
	for _, dir := range []string{home, work, filepath.Join(root, "bin")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	script := filepath.Join(home, "model.jsonl")
	for name, text := range map[string]string{
		script:                             model,
		filepath.Join(work, "greet.go"):    program,
		filepath.Join(home, "config.toml"): "[[llm.providers]]\nname = \"script\"\ntype = \"script\"\nmodel = \"" + filepath.ToSlash(script) + "\"\ndefault = true\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			return err
		}
	}
	build := exec.Command("go", "build", "-trimpath", "-o", filepath.Join(root, "bin", "zeph-acp"), "github.com/zeph-acp/zeph-acp/cmd/zeph-acp")
	build.Stderr = os.Stderr
	return build.Run()
}

// terminal is a terminal of tmux.
type terminal struct{ socket string }

func (t *terminal) tmux(args ...string) (string, error) {
	out, err := exec.Command("tmux", append([]string{"-S", t.socket}, args...)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("tmux %s: %w: %s", args[0], err, out)
	}
	return string(out), nil
}

// open opens the terminal with a shell.
func (t *terminal) open(root string) error {
	path := filepath.Join(root, "bin") + string(os.PathListSeparator) + os.Getenv("PATH")
	home := filepath.Join(root, "home")
	cache, err := exec.Command("go", "env", "GOCACHE").Output() // with the standard library, so that go vet is quick
	if err != nil {
		return err
	}
	_, err = t.tmux("-u", "-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(columns), "-y", fmt.Sprint(rows), "-c", filepath.Join(root, "greeter"),
		"env", "-i", "HOME="+home, "ZEPH_HOME="+home, "PATH="+path, "GOCACHE="+strings.TrimSpace(string(cache)),
		"PS1=$ ", "TERM=screen-256color", "LC_ALL=C.UTF-8", "sh")
	return err
}

// frame is one screen, with the escape sequences of its colours.
type frame struct {
	text    string
	seconds float64 // for which it is shown
}

// record plays the session and returns its screens.
func (t *terminal) record() (frames []frame, err error) {
	take := func(pattern string, seconds float64) {
		var text string
		if err == nil {
			if text, err = t.await(pattern); err == nil {
				frames = append(frames, frame{text, seconds})
			}
		}
	}
	keys := func(keys ...string) {
		if err == nil {
			_, err = t.tmux(append([]string{"send-keys"}, keys...)...)
		}
	}
	take(`\$ *$`, 1)
	keys("-l", prompt)
	take(`politely"$`, 1.5)
	keys("Enter")
	take(`(?s)edit.*: *$`, 4)
	keys("-l", "y")
	keys("Enter")
	take(`(?s)go vet.*: *$`, 3)
	keys("-l", "a")
	keys("Enter")
	take(`(?s)nothing to say.*\n\$ *$`, 6)
	return frames, err
}

// await waits until the text of the terminal matches, and returns it with its colours.
func (t *terminal) await(pattern string) (string, error) {
	at := regexp.MustCompile(pattern)
	plain := ""
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		var err error
		if plain, err = t.tmux("capture-pane", "-p"); err != nil {
			return "", err
		}
		if !at.MatchString(strings.TrimRight(plain, "\n")) {
			continue
		}
		text, err := t.tmux("capture-pane", "-p", "-e")
		return directory.ReplaceAllString(session.ReplaceAllString(text, "${1}bd375f81"), "~/greeter"), err
	}
	return "", fmt.Errorf("the terminal did not show %s:\n%s", pattern, plain)
}

// directory matches the directory of the session, which differs from run to run.
var directory = regexp.MustCompile(`\S*/zeph-recording-[0-9]+/greeter`)

// session matches the id of the session, which differs from run to run.
var session = regexp.MustCompile(`((?:session|show|--resume) )[0-9a-f]{8}`)
