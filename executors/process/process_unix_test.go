//go:build unix

package process

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTerminal(t *testing.T) {
	dir := t.TempDir()
	var live strings.Builder
	p, err := Start(Program{
		Path: "sh", Args: []string{"-c", `for i in $(seq 300); do echo o$i; echo e$i >&2; done; echo "$A$PWD"; exit 7`},
		Env: append(os.Environ(), "A=x"), Dir: dir, Tail: 1 << 20, Live: func(b []byte) { live.Write(b) },
	})
	if err != nil {
		t.Fatal(err)
	}
	exit, err := p.Wait(t.Context())
	if err != nil || exit.Code == nil || *exit.Code != 7 {
		t.Errorf("exit %+v, %v", exit, err)
	}
	text, truncated, ended := p.Output()
	if truncated || ended == nil || *ended.Code != 7 || text != live.String() {
		t.Errorf("truncated %t, ended %v, live equal %t", truncated, ended, text == live.String())
	}
	if !strings.HasPrefix(text, "o1\ne1\no2\ne2\no3\n") || !strings.HasSuffix(text, "o300\ne300\nx"+dir+"\n") {
		t.Errorf("out of order: %q…", text[:50])
	}
	p.Kill()
	p.Release()
}

func TestKeepsTheTail(t *testing.T) {
	p, err := Start(Program{Path: "printf", Args: []string{"%s", "aéé"}, Env: os.Environ(), Dir: "/", Tail: 3})
	if err != nil {
		t.Fatal(err)
	}
	p.Wait(t.Context())
	if text, truncated, _ := p.Output(); text != "é" || !truncated {
		t.Errorf("got %q, %t", text, truncated)
	}
}

func TestWhileItRuns(t *testing.T) {
	heard := make(chan string, 10)
	p, err := Start(Program{
		Path: "sh", Args: []string{"-c", "echo up; sleep 999"}, Env: os.Environ(), Dir: "/", Tail: 100,
		Live: func(b []byte) { heard <- string(b) },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Release()
	if got := <-heard; got != "up\n" {
		t.Errorf("heard %q", got)
	}
	if text, _, exit := p.Output(); text != "up\n" || exit != nil {
		t.Errorf("got %q, %v", text, exit)
	}
	why := errors.New("no more waiting")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if _, err := p.Wait(ctx); err != why {
		t.Errorf("got %v", err)
	}
	p.Kill()
	// SIGKILL follows a moment later, on a busy machine before the shell has ended.
	if exit, err := p.Wait(t.Context()); err != nil || exit.Signal != "SIGTERM" && exit.Signal != "SIGKILL" {
		t.Errorf("got %+v, %v", exit, err)
	}
}

func TestDoesNotStart(t *testing.T) {
	for _, prog := range []Program{{Path: "no-such-program", Dir: "/"}, {Path: "sh", Dir: "/no/such"}} {
		if p, err := Start(prog); err == nil {
			p.Release()
			t.Errorf("%+v started", prog)
		}
	}
}

// Files count with their content and the space of their entries, so that many empty ones
// exceed a limit too.
func TestExceeds(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a": "", "b": "", "c/d": "12345678"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const need = 4*entryBytes + 8
	if exceeds(dir, need) || !exceeds(dir, need-1) {
		t.Errorf("with limits of %d and %d: exceeds = %t, %t, want false, true", need, need-1, exceeds(dir, need), exceeds(dir, need-1))
	}
}

// A program whose temporary files are too large ends, and the last line of its output says
// why.
func TestMaxTemp(t *testing.T) {
	temp := t.TempDir()
	p, err := Start(Program{
		Path: "sh", Args: []string{"-c", `mkdir "$T/a" && echo 12345678 > "$T/a/f"; echo up; sleep 999`},
		Env: append(os.Environ(), "T="+temp), Dir: "/", Tail: 100, Temp: temp, MaxTemp: 8200,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Release()
	if exit, err := p.Wait(t.Context()); err != nil || exit.Signal == "" {
		t.Errorf("exit %+v, %v", exit, err)
	}
	if text, _, _ := p.Output(); text != "up\n\nzeph-acp: "+TempExceeded+"\n" {
		t.Errorf("got the output %q, want up and the reason", text)
	}
}
