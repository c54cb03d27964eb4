package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// statusKiB returns a figure of a process's memory on Linux: VmRSS is resident
// memory, VmHWM its peak, RssAnon its part without files. It returns 0 on other
// systems.
func statusKiB(t testing.TB, pid int, key string) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), key+":")
	var n int
	if _, err := fmt.Sscan(rest, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestIdle watches an agent without work until it has been idle for a
// second. It is the only test that lets time pass, since idleness has no event. On a
// busy machine the agent may still be at its earlier work.
//
// Statement 134.
func TestIdle(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux shows the work of a process: /proc/PID")
	}
	t.Parallel()
	a := connect(t, start{})
	s := a.open()
	a.runTurn(s, "/bash echo hi")
	a.alive()
	ticks, writes := spent(t, a.cmd.Process.Pid)
	for range 5 {
		ticksBefore, writesBefore := ticks, writes
		time.Sleep(time.Second)
		ticks, writes = spent(t, a.cmd.Process.Pid)
		if writes == writesBefore && ticks-ticksBefore <= 2 {
			return
		}
		t.Logf("%d writes, %d ticks of CPU time in an idle second", writes-writesBefore, ticks-ticksBefore)
	}
	t.Error("it is never idle")
}

// spent returns the CPU time of a process, in ticks of 10 ms, and the number of its
// writes.
func spent(t *testing.T, pid int) (ticks, writes int) {
	t.Helper()
	stat := read(t, fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:]) // from the state on, which is the third field
	for _, field := range fields[11:13] {
		n, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	io := read(t, fmt.Sprintf("/proc/%d/io", pid))
	_, rest, _ := strings.Cut(io, "syscw:")
	if _, err := fmt.Sscan(rest, &writes); err != nil {
		t.Fatal(err)
	}
	return ticks, writes
}

// TestBigPromptMemory sends prompts of 20 MiB, for which the heap has less than 100
// MiB at once.
//
// Statement 16.
func TestBigPromptMemory(t *testing.T) {
	if raceEnabled() {
		t.Skip("the race detector takes several times the memory")
	}
	const mib = 1 << 20
	text := strings.Repeat("a line of a log that the user attached, with \\\"quotes\\\" in it\\n", 20*mib/62)
	for name, block := range map[string]string{
		"text":  `{"type":"resource","resource":{"uri":"file:///big.log","text":"` + text + `"}}`,
		"blob":  `{"type":"resource","resource":{"uri":"file:///big.bin","blob":"` + strings.Repeat("QUJD", 19*mib/4) + `"}}`,
		"image": `{"type":"image","mimeType":"image/png","data":"` + bigPNG(19*mib) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			// The provider is a script, so only the agent's own memory is measured.
			script := filepath.Join(home(t), "model.jsonl")
			if err := os.WriteFile(script, []byte(`{"text":"I see."}`+"\n\n"+`{"text":"I still see."}`+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			config := fmt.Sprintf("[[llm.providers]]\ntype = \"script\"\nmodel = %q\n", script)
			traced := []string{"GODEBUG=gctrace=1"}
			a := connect(t, start{config: config, env: traced})
			s := a.open()
			a.request(`1`, "session/prompt", `{"sessionId":`+quote(s)+`,"prompt":[{"type":"text","text":"look"},`+block+`]}`)
			a.ends(`1`)
			a.runTurn(s, "and?")
			b := connect(t, start{root: a.root, env: traced})
			b.mustLoad(s)
			for _, agent := range []*agent{a, b} {
				agent.in.Close()
				agent.waitExit(promptly)
				if peak := largestLiveHeap(t, agent.stderr.String()); peak >= 100 {
					t.Errorf("the heap has %d live MiB after a collection, want less than 100", peak)
				}
			}
		})
	}
}

// bigPNG returns the base64 of data that begins like a PNG.
func bigPNG(size int) string {
	return "iVBORw0KGgoAAAANSUhEUgAA" + strings.Repeat("QUJD", size/4-6)
}
