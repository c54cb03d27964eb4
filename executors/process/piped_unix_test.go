//go:build unix

package process

import (
	"bufio"
	"fmt"
	"os"
	"testing"
	"time"
)

func TestPipedEnd(t *testing.T) {
	for name, tt := range map[string]struct {
		script string
		want   string // the exit
	}{
		"ends with stdin":       {`cat; exit 4`, "code 4"},
		"ends with SIGTERM":     {`trap 'exit 5' TERM; while :; do sleep 0.01; done`, "code 5"},
		"ends with SIGKILL":     {`trap '' TERM; while :; do sleep 0.01; done`, "SIGKILL"},
		"a launcher's children": {`sleep 1000 & sleep 1001; exit 6`, "SIGTERM"},
		"ends by itself":        {`sleep 1000 & exit 7`, "code 7"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := StartPiped(Program{Path: "sh", Args: []string{"-c", "echo up; " + tt.script}, Env: os.Environ(), Dir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Release()
			if line, err := bufio.NewReader(p.Stdout).ReadString('\n'); line != "up\n" {
				t.Fatalf("read %q, %v", line, err)
			}
			if name == "ends by itself" {
				<-p.Done()
			}
			p.End(100 * time.Millisecond)
			exit := p.Exit()
			got := exit.Signal
			if exit.Code != nil {
				got = fmt.Sprint("code ", *exit.Code)
			}
			if got != tt.want {
				t.Errorf("exit %s, want %s", got, tt.want)
			}
			if signalSession(p.process.cmd.Process.Pid, 0) {
				t.Error("processes of its session are left")
			}
		})
	}
}

func TestPipedThatDoesNotStart(t *testing.T) {
	if _, err := StartPiped(Program{Path: "/nonexistent/x", Dir: "/"}); err == nil {
		t.Error("no error")
	}
}
