//go:build linux

package integration

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkChat measures how long a person waits until a typed prompt is shown: the start of the
// process, the full screen, and the first keys.
func BenchmarkChat(b *testing.B) {
	root := b.TempDir()
	config := "[[llm.providers]]\nname = \"script\"\ntype = \"script\"\nmodel = \"" + filepath.Join(root, "model.jsonl") + "\"\ndefault = true\n"
	for name, text := range map[string]string{"config.toml": config, "model.jsonl": `{"text": "Hello."}`} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	env := []string{"HOME=" + root, "ZEPH_HOME=" + root, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LC_ALL=C.UTF-8"}
	timeToType(b, root, env) // fills the page cache, and makes the database
	var total time.Duration
	for b.Loop() {
		total += timeToType(b, root, env)
	}
	b.ReportMetric(float64(total.Microseconds())/float64(b.N)/1000, "ms/ready")
	b.ReportMetric(0, "ns/op") // with the end of the process, so meaningless
}

// timeToType starts a conversation in a terminal, types a key at once, and returns when it is on the screen.
func timeToType(b *testing.B, dir string, env []string) time.Duration {
	b.Helper()
	ours, theirs := openTerminal(b)
	defer ours.Close()
	cmd := exec.Command(binary, "chat")
	cmd.Dir, cmd.Env = dir, env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, theirs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	theirs.Close()
	const prompt = "›"
	if _, err := ours.WriteString("q"); err != nil {
		b.Fatal(err)
	}
	var screen []byte
	buf := make([]byte, 64<<10)
	if err := ours.SetReadDeadline(begun.Add(patience)); err != nil {
		b.Fatal(err)
	}
	for {
		n, err := ours.Read(buf)
		if err != nil {
			b.Fatalf("%v after %q", err, screen)
		}
		screen = append(screen, buf[:n]...)
		if _, typed, ok := bytes.Cut(screen, []byte(prompt)); ok && bytes.IndexByte(typed, 'q') >= 0 {
			break
		}
	}
	took := time.Since(begun)
	go func() { // the process must not wait for a reader
		for {
			if _, err := ours.Read(buf); err != nil {
				return
			}
		}
	}()
	if _, err := ours.WriteString("\x15\x04"); err != nil { // Ctrl-U, Ctrl-D
		b.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
	return took
}

// openTerminal returns both ends of a terminal of 100 columns.
func openTerminal(b *testing.B) (ours, theirs *os.File) {
	b.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		b.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 30, Col: 100})
	}
	if err != nil {
		b.Fatal(err)
	}
	theirs, err = os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		b.Fatal(err)
	}
	return os.NewFile(uintptr(fd), "terminal"), theirs
}
