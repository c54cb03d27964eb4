package audit

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/protocol-fixtures/machine"
)

// These variables pass the log's directory and size limit to the process that
// TestMain runs from this binary.
const (
	childDir  = "AUDIT_TEST_DIR"
	childSize = "AUDIT_TEST_SIZE"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		size, _ := strconv.ParseInt(os.Getenv(childSize), 10, 64)
		child(New(dir, Config{Enabled: true, MaxBytes: size}, nil))
	}
	os.Exit(machine.Tests{M: m}.Run())
}

// child makes calls until it is killed, and prints the id of each running call.
func child(l *Log) {
	for i := 0; ; i++ {
		call := newCall(`{"command":"x"}`)
		call.ID = fmt.Sprintf("%d-%d", os.Getpid(), i)
		res, err := chain(l, func(context.Context, *executors.Call) (executors.Result, error) {
			fmt.Println(call.ID)
			return executors.Result{Text: "ok"}, nil
		}).Execute(context.Background(), call)
		if err != nil || res.Failed {
			fmt.Println("error", res.ForModel(), err)
		}
	}
}

// However processes end, each call that ran is recorded exactly once.
func TestKilledProcesses(t *testing.T) {
	for _, size := range []int64{0, 40_000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) { testKilled(t, size) })
	}
}

func testKilled(t *testing.T, size int64) {
	dir := t.TempDir()
	const processes, each = 4, 60
	ran := make(chan string)
	for range processes {
		go func() {
			defer func() { ran <- "" }()
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), childDir+"="+dir, childSize+"="+fmt.Sprint(size))
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Error(err)
				return
			}
			lines := bufio.NewScanner(out)
			for n := 1; lines.Scan(); n++ {
				ran <- lines.Text()
				if n == each { // in the middle of a call
					_ = cmd.Process.Kill()
				}
			}
			_ = cmd.Wait()
		}()
	}
	lines := map[string]int{}
	for left := processes; left > 0; {
		id := <-ran
		switch {
		case id == "":
			left--
		case strings.HasPrefix(id, "error"):
			t.Error(id)
		default:
			lines[id] = 0
		}
	}
	if len(lines) < processes*each {
		t.Errorf("%d calls", len(lines))
	}
	l := New(dir, setting.Default[Config](), nil)
	if err := l.Recover(); err != nil {
		t.Fatal(err)
	}
	r, err := l.Verify()
	if err != nil || r.Continues != (size > 0) {
		t.Fatalf("%+v, %v", r, err)
	}
	if err := l.Read(func(line Line) error {
		if line.Err == nil {
			lines[line.Entry.ID]++
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for id, n := range lines {
		if n > 1 || n == 0 && size == 0 { // otherwise its file may have been removed
			t.Errorf("%s is on record %d times", id, n)
		}
	}
}
