package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// terminal is a terminal of tmux.
type terminal struct {
	socket string
	root   string // the home directory, which frames show as ~
}

func (t *terminal) tmux(args ...string) (string, error) {
	out, err := exec.Command("tmux", append([]string{"-S", t.socket}, args...)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("tmux %s: %w: %s", args[0], err, out)
	}
	return string(out), nil
}

// open opens the terminal with a program.
func (t *terminal) open(l look, command []string) error {
	path := filepath.Join(t.root, "bin") + string(os.PathListSeparator) + os.Getenv("PATH")
	cache, err := exec.Command("go", "env", "GOCACHE").Output() // with the standard library, so that go run is quick
	if err != nil {
		return err
	}
	args := []string{"-u", "-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(l.columns), "-y", fmt.Sprint(l.rows),
		"-c", filepath.Join(t.root, project), "env", "-i", "HOME=" + t.root, "ZEPH_HOME=" + t.root, "PATH=" + path,
		"GOCACHE=" + strings.TrimSpace(string(cache)), "PS1=$ ", "TERM=screen-256color", "LC_ALL=C.UTF-8"}
	_, err = t.tmux(append(args, command...)...)
	return err
}

// frame is one screen, with the escape sequences of its colours.
type frame struct {
	text    string
	seconds float64 // for which it is shown
}

// play takes the steps and returns their frames.
func (t *terminal) play(steps []step) (frames []frame, err error) {
	for i, s := range steps {
		if err := t.press(s.keys); err != nil {
			return nil, err
		}
		patterns := []string{s.shows}
		for next := i + 1; steps[next-1].passes; next++ {
			patterns = append(patterns, steps[next].shows)
		}
		text, at, err := t.await(patterns)
		if err != nil {
			return nil, err
		}
		if s.seconds > 0 && at == 0 {
			frames = append(frames, frame{text, s.seconds})
		}
	}
	return frames, nil
}

func (t *terminal) press(keys string) (err error) {
	name, isName := strings.CutPrefix(keys, "<")
	switch {
	case keys == "":
	case isName:
		_, err = t.tmux("send-keys", strings.TrimSuffix(name, ">"))
	default:
		_, err = t.tmux("send-keys", "-l", keys)
	}
	return err
}

// await waits until the text of the terminal matches one of the patterns. It returns the text,
// with its colors, and the index of the pattern.
func (t *terminal) await(patterns []string) (text string, at int, err error) {
	var matches []*regexp.Regexp
	for _, p := range patterns {
		matches = append(matches, regexp.MustCompile(p))
	}
	shown := ""
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		text, err := t.tmux("capture-pane", "-p", "-e", "-N") // with spaces at the end of lines, which may have a background
		if err != nil {                                       // tmux ends with its program
			return "", 0, fmt.Errorf("the program in the terminal has ended: %w; before, it showed\n%s", err, shown)
		}
		shown = plain(text)
		for i, m := range matches {
			if m.MatchString(shown) {
				return strings.ReplaceAll(text, t.root, "~"), i, nil
			}
		}
	}
	return "", 0, fmt.Errorf("the terminal did not show %s:\n%s", strings.Join(patterns, " or "), shown)
}

// plain returns the text of a screen without styles and without space at the end of its lines.
func plain(text string) string {
	lines := strings.Split(escape.ReplaceAllString(text, ""), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}
