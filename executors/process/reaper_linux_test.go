package process

import (
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// TestReap kills the session of a program, by its number or its output pipe, unless it
// was unregistered. The leader has ended before, as after the end of the agent.
func TestReap(t *testing.T) {
	for name, tt := range map[string]struct {
		lines string // PIPE, SESSION and TEMP stand for the program's pipe, session and directory
		ends  bool
	}{
		"session":             {"+PIPE \"TEMP\"\n+SESSION \"TEMP\"\n-PIPE\n", true},
		"pipe":                {"+PIPE \"TEMP\"\n", true},
		"ended":               {"+PIPE \"\"\n+SESSION \"\"\n-PIPE\n-SESSION\n", false},
		"not started":         {"+PIPE \"\"\n-PIPE\n", false},
		"no session":          {"+0 \"\"\n+1 \"\"\n+-1 \"\"\n+ \"\"\n+x\n-\n\n", false},
		"pipe without a name": {"+pipe:[0] \"\"\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			cmd := exec.Command("sh", "-c", `trap "" TERM; sleep 999 & echo up`)
			cmd.SysProcAttr, cmd.Stdout = ownSession(), w
			temp := t.TempDir()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			pid := cmd.Process.Pid
			defer signalSession(pid, 9)
			_ = cmd.Wait() // of the shell
			pipe := pipeName(w)
			w.Close()
			if _, err := io.ReadFull(r, make([]byte, len("up\n"))); err != nil {
				t.Fatal(err)
			}
			Reap(strings.NewReader(strings.NewReplacer("PIPE", pipe, "SESSION", strconv.Itoa(pid), "TEMP", temp).Replace(tt.lines)))
			if signalSession(pid, 0) == tt.ends {
				t.Errorf("the rest of the session runs: %t", tt.ends)
			}
			if _, err := os.Stat(temp); (err != nil) != tt.ends {
				t.Errorf("the directory: %v", err)
			}
		})
	}
}
