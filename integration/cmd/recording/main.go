// Command recording runs zeph-acp and draws what it shows as an animated picture, which needs
// no script. The first picture is a conversation in a terminal, the second one is the panel
// of an editor, Neovim with the plugin CodeCompanion:
//
//	go run ./integration/cmd/recording -out docs/recording.svg
//	go run ./integration/cmd/recording -out docs/editor.svg -editor nvim -plugins codecompanion.nvim:plenary.nvim
//
// The sessions are real: the built binary, the editor and its plugin, in a terminal of tmux
// and in a directory with a small program. Only the model is a script, so that each run shows
// the same. It needs tmux; the editor is Neovim 0.11 or newer, and the plugins are the
// directories of olimorris/codecompanion.nvim and nvim-lua/plenary.nvim.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

func main() {
	out := flag.String("out", "docs/recording.svg", "write the picture to `FILE`")
	editor := flag.String("editor", "", "draw the panel of the Neovim at `PATH` instead of a terminal")
	plugins := flag.String("plugins", "", "the `DIRECTORIES` of CodeCompanion and plenary, separated as in PATH")
	flag.Parse()
	if err := run(*out, *editor, filepath.SplitList(*plugins)); err != nil {
		fmt.Fprintln(os.Stderr, "recording:", err)
		os.Exit(1)
	}
}

func run(out, editor string, plugins []string) error {
	s := conversation
	switch {
	case editor == "" && len(plugins) > 0:
		return errors.New("-plugins needs -editor, the path of Neovim")
	case editor != "":
		var err error
		if s, err = panel(editor, plugins); err != nil {
			return err
		}
	}
	svg, err := s.draw()
	if err != nil {
		return err
	}
	return os.WriteFile(out, []byte(svg), 0o644)
}

// draw plays the scene in a new directory and returns its picture.
func (s scene) draw() (string, error) {
	root, err := os.MkdirTemp("", "zeph-recording-")
	if err != nil {
		return "", err
	}
	defer remove(root)
	if err := s.prepare(root); err != nil {
		return "", err
	}
	t := &terminal{socket: filepath.Join(root, "tmux"), root: root}
	defer t.tmux("kill-server")
	if err := t.open(s.look, s.command); err != nil {
		return "", err
	}
	frames, err := t.play(s.steps)
	if err != nil {
		return "", err
	}
	return picture(s.look, frames), nil
}

// remove removes a directory. The programs of the terminal may still write into it while they
// end, so it looks once more whether the directory is gone.
func remove(dir string) {
	for range 10 {
		_ = os.RemoveAll(dir) // fails if a file appears meanwhile
		time.Sleep(300 * time.Millisecond)
		if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
			return
		}
	}
}

// prepare builds the binary and writes the files of the session.
func (s scene) prepare(root string) error {
	for _, dir := range []string{project, "bin"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			return err
		}
	}
	files := map[string]string{
		"config.toml":                      config,
		filepath.Join(project, "greet.go"): program,
		filepath.Join(project, "model"):    s.model,
	}
	for name, text := range s.files {
		files[name] = text
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	build := exec.Command("go", "build", "-trimpath", "-o", filepath.Join(root, "bin", "zeph-acp"), "github.com/zeph-acp/zeph-acp/cmd/zeph-acp")
	build.Stderr = os.Stderr
	return build.Run()
}
