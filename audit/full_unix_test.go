//go:build linux || darwin

package audit

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
)

// A full disk leaves no partial line. Nothing runs until there is room, and no
// line is lost.
func TestDiskFull(t *testing.T) {
	l := newLog(t)
	record(t, l, "a")
	info, err := os.Stat(l.file)
	if err != nil {
		t.Fatal(err)
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	full := limit
	full.Cur = uint64(info.Size() + 100)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &full); err != nil {
		t.Fatal(err)
	}
	room := func() { _ = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit) }
	defer room()

	body := []byte(`{"tool_call_id":"b","tool":"` + strings.Repeat("x", 300) + `"}`)
	l.mu.Lock()
	err = l.append(body)
	l.unwritten = append(l.unwritten, finished{body, 0})
	l.mu.Unlock()
	if err == nil {
		t.Error("append to a file at its size limit: got no error")
	}
	if now, err := os.Stat(l.file); err != nil || now.Size() != info.Size() {
		t.Errorf("%d bytes, were %d, %v", now.Size(), info.Size(), err)
	}
	res, err := chain(l, ok).Execute(t.Context(), newCall(`{"command":"x"}`))
	if err != nil || res.Category() != executors.PermanentFailure {
		t.Errorf("%+v, %v", res, err)
	}
	room()
	record(t, l, "c")
	if got := ids(t, l); got != "a b c" {
		t.Errorf("ids(t, l): got %q, want %q", got, "a b c")
	}
	if r, err := l.Verify(); err != nil || r.Lines != 3 {
		t.Errorf("%+v, %v", r, err)
	}
}
