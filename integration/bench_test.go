package integration

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// benchAgent is the binary on bare pipes. Frames are neither recorded nor checked, so
// that only the binary's own time counts.
type benchAgent struct {
	b   *testing.B
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	id  int
	dir string
}

func newBenchAgent(b *testing.B, config string) *benchAgent {
	b.Helper()
	root := b.TempDir()
	l := &benchAgent{b: b, dir: filepath.Join(root, "work")}
	for _, d := range []string{l.dir, filepath.Join(root, "zeph")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			b.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "zeph", "config.toml"), []byte(config), 0o600); err != nil {
		b.Fatal(err)
	}
	l.cmd = exec.Command(binary)
	l.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + root, "ZEPH_HOME=" + filepath.Join(root, "zeph")}
	l.start()
	b.Cleanup(l.stop)
	return l
}

func (l *benchAgent) start() {
	l.b.Helper()
	in, err := l.cmd.StdinPipe()
	if err != nil {
		l.b.Fatal(err)
	}
	out, err := l.cmd.StdoutPipe()
	if err != nil {
		l.b.Fatal(err)
	}
	l.in, l.out = in, bufio.NewReaderSize(out, 1<<20)
	if err := l.cmd.Start(); err != nil {
		l.b.Fatal(err)
	}
}

func (l *benchAgent) stop() {
	l.in.Close()
	_ = l.cmd.Wait() // the status is not measured
}

// call sends a request and reads up to its answer.
func (l *benchAgent) call(method, params string) json.RawMessage {
	l.id++
	fmt.Fprintf(l.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", l.id, method, params)
	for {
		line, err := l.out.ReadBytes('\n')
		if err != nil {
			l.b.Fatalf("%s: %v", method, err)
		}
		var f frame
		if err := json.Unmarshal(line, &f); err != nil {
			l.b.Fatal(err)
		}
		if f.Error != nil {
			l.b.Fatalf("%s: %s", method, line)
		}
		if f.Method == "" {
			return f.Result
		}
	}
}

func (l *benchAgent) initialize() { l.call("initialize", `{"protocolVersion":1}`) }

func (l *benchAgent) open() string {
	var r struct{ SessionID string }
	if err := json.Unmarshal(l.call("session/new", `{"mcpServers":[],"cwd":`+quote(l.dir)+`}`), &r); err != nil {
		l.b.Fatal(err)
	}
	return r.SessionID
}

func (l *benchAgent) prompt(session, text string) {
	if got := l.call("session/prompt", promptParams(session, text)); !strings.Contains(string(got), "end_turn") {
		l.b.Fatalf("prompt: %s", got)
	}
}

// scripted returns a configuration whose model answers with these n times in each
// session.
func scripted(b testing.TB, n int, answers string) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "model.jsonl")
	if err := os.WriteFile(path, []byte(strings.Repeat(answers, n)), 0o600); err != nil {
		b.Fatal(err)
	}
	return fmt.Sprintf("[[llm.providers]]\ntype = \"script\"\nmodel = %q\n[agent]\nmode = \"auto\"\n", path)
}

const bareSource = `package main

import (
	"bufio"
	"os"
)

func main() {
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		os.Exit(1)
	}
	os.Stdout.WriteString("{}\n")
}
`

// buildBare builds a Go program that answers one line.
func buildBare(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(bareSource), 0o600); err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(dir, "bare")
	if out, err := exec.Command("go", "build", "-o", path, filepath.Join(dir, "main.go")).CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return path
}

// timeToAnswer returns the time from the start of a program to its first answer.
func timeToAnswer(b *testing.B, path string, env []string) time.Duration {
	b.Helper()
	l := &benchAgent{b: b, cmd: exec.Command(path)}
	l.cmd.Env = env
	began := time.Now()
	l.start()
	_, _ = io.WriteString(l.in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`+"\n") // the read fails instead
	if _, err := l.out.ReadBytes('\n'); err != nil {
		b.Fatalf("%s: %v", path, err)
	}
	took := time.Since(began)
	l.stop()
	return took
}

// BenchmarkStart measures the time from the start of the process to the answer to
// initialize, alternating with a bare Go program that answers one line.
func BenchmarkStart(b *testing.B) {
	other := buildBare(b)
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.TempDir(), "ZEPH_HOME=" + b.TempDir()}
	timeToAnswer(b, binary, env) // fills the page cache
	timeToAnswer(b, other, env)
	var ours, theirs time.Duration
	for b.Loop() {
		ours += timeToAnswer(b, binary, env)
		theirs += timeToAnswer(b, other, env)
	}
	b.ReportMetric(float64(ours.Microseconds())/float64(b.N)/1000, "ms/start")
	b.ReportMetric(float64(theirs.Microseconds())/float64(b.N)/1000, "ms/bare-start")
	b.ReportMetric(float64(ours)/float64(theirs), "x-bare")
	b.ReportMetric(0, "ns/op") // of both together, so meaningless
}

// BenchmarkNewSession measures session/new, over the pipes.
func BenchmarkNewSession(b *testing.B) {
	l := newBenchAgent(b, "")
	l.initialize()
	for b.Loop() {
		l.open()
	}
}

// BenchmarkTurn measures a whole turn whose model answers at once, over the
// pipes.
func BenchmarkTurn(b *testing.B) {
	const turns = 100 // in a session: a long history is another measurement
	l := newBenchAgent(b, scripted(b, turns, `{"text":"Hello"}`+"\n"+`{"text":", world."}`+"\n\n"))
	l.initialize()
	var s string
	n := 0
	for b.Loop() {
		if n%turns == 0 {
			b.StopTimer()
			s = l.open()
			b.StartTimer()
		}
		n++
		l.prompt(s, "hi")
	}
}

// BenchmarkTurnWith measures a turn of a user who has skills, commands of files, types of
// sub-agents or saved entries, alternating with one of a user who has none.
func BenchmarkTurnWith(b *testing.B) {
	for _, tt := range []struct{ name, file, text, config string }{
		{name: "skills", file: "zeph/skills/release/SKILL.md", text: "---\nname: release\ndescription: How to release\n---\nTag it.\n"},
		{name: "commands", file: "zeph/commands/explain.md", text: "---\ndescription: Explains\n---\nExplain $ARGUMENTS.\n"},
		{name: "agents", config: "[[agents]]\nname = \"reviewer\"\ndescription = \"Reviews changes\"\nprompt = \"Review.\"\n"},
		{name: "memory"},
	} {
		b.Run(tt.name, func(b *testing.B) {
			const turns = 100
			config := scripted(b, turns, `{"text":"Hello, world."}`+"\n\n")
			with, without := newBenchAgent(b, config+tt.config), newBenchAgent(b, config)
			switch {
			case tt.file != "":
				path := filepath.Join(with.dir, "..", tt.file)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(tt.text), 0o600)); err != nil {
					b.Fatal(err)
				}
			case tt.config == "":
				cmd := exec.Command(binary, "memory", "add", "--cwd", with.dir, "The logo is green.")
				cmd.Env = with.cmd.Env
				if out, err := cmd.CombinedOutput(); err != nil {
					b.Fatalf("%v\n%s", err, out)
				}
			}
			with.initialize()
			without.initialize()
			var theirs time.Duration
			var s, plain string
			n := 0
			for b.Loop() {
				b.StopTimer()
				if n%turns == 0 {
					s, plain = with.open(), without.open()
				}
				n++
				began := time.Now()
				without.prompt(plain, "hi")
				theirs += time.Since(began)
				b.StartTimer()
				with.prompt(s, "hi")
			}
			b.ReportMetric(float64(b.Elapsed())/float64(theirs), "x-without")
		})
	}
}

// BenchmarkToolCall measures the time that a local tool call adds to a turn: an
// eighth of the difference between a turn with eight reads of an empty file and a
// turn without.
func BenchmarkToolCall(b *testing.B) {
	const calls = 8
	tools := strings.Repeat(`{"tool":"read","input":{"path":"a.txt"}}`+"\n", calls) + "\n"
	done := `{"text":"Done."}` + "\n\n"
	with := newBenchAgent(b, scripted(b, 1, tools+done))
	without := newBenchAgent(b, scripted(b, 1, done))
	if err := os.WriteFile(filepath.Join(with.dir, "a.txt"), nil, 0o600); err != nil {
		b.Fatal(err)
	}
	with.initialize()
	without.initialize()
	var added time.Duration
	for b.Loop() {
		s, plain := with.open(), without.open()
		began := time.Now()
		with.prompt(s, "hi")
		added += time.Since(began)
		began = time.Now()
		without.prompt(plain, "hi")
		added -= time.Since(began)
	}
	b.ReportMetric(float64(added.Nanoseconds())/float64(b.N)/calls, "ns/call")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkLoad measures session/load of a session with 2,000 events that the
// process does not have open.
func BenchmarkLoad(b *testing.B) {
	const turns, perTurn = 200, 10
	words := strings.Repeat("some words of an answer ", 20)
	l := newBenchAgent(b, scripted(b, turns,
		`{"thought":"`+words+`"}`+"\n"+`{"text":"`+words+`"}`+"\n"+`{"tool":"read","input":{"path":"a.txt"}}`+"\n\n"+`{"text":"`+words+`"}`+"\n\n"))
	if err := os.WriteFile(filepath.Join(l.dir, "a.txt"), []byte(strings.Repeat(words+"\n", 4)), 0o600); err != nil {
		b.Fatal(err)
	}
	l.initialize()
	s := l.open()
	for range turns {
		l.prompt(s, "read the file and tell me what is in it")
	}
	session := `{"sessionId":` + quote(s) + `}`
	var doc struct {
		Session struct{ Events []json.RawMessage }
	}
	if err := json.Unmarshal(l.call("_zeph/session/export", session), &doc); err != nil {
		b.Fatal(err)
	}
	if n := len(doc.Session.Events); n < turns*perTurn {
		b.Fatalf("%d events", n)
	}
	for b.Loop() {
		b.StopTimer()
		l.call("session/close", session)
		b.StartTimer()
		l.call("session/load", `{"sessionId":`+quote(s)+`,"cwd":`+quote(l.dir)+`,"mcpServers":[]}`)
	}
	b.ReportMetric(float64(len(doc.Session.Events)), "events")
}

// BenchmarkBigPrompt sends a prompt of 20 MiB and measures the process's peak
// memory.
func BenchmarkBigPrompt(b *testing.B) {
	text := strings.Repeat("a line of a log, with \"quotes\" in it\n", 20<<20/37)
	var peak float64
	n := 0
	for b.Loop() {
		b.StopTimer()
		n++
		l := newBenchAgent(b, scripted(b, 1, `{"text":"I see."}`+"\n\n"))
		l.initialize()
		s := l.open()
		params := `{"sessionId":` + quote(s) + `,"prompt":[{"type":"resource","resource":{"uri":"file:///big.log","text":` + quote(text) + `}}]}`
		b.StartTimer()
		l.call("session/prompt", params)
		b.StopTimer()
		peak += memoryMiB(b, l, "VmHWM")
		l.stop()
		b.StartTimer()
	}
	b.ReportMetric(peak/float64(n), "MiB-peak")
}

// BenchmarkRelay measures how fast chunks of text reach the client.
func BenchmarkRelay(b *testing.B) {
	const chunks = 20_000
	l := newBenchAgent(b, scripted(b, 1, strings.Repeat(`{"text":"some words of an answer "}`+"\n", chunks)+"\n"))
	l.initialize()
	var took time.Duration
	n := 0
	for b.Loop() {
		n++
		s := l.open()
		began := time.Now()
		l.prompt(s, "hi")
		took += time.Since(began)
	}
	b.ReportMetric(float64(n*chunks)/took.Seconds(), "chunks/s")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkMemory measures resident memory after initialize and with 20 idle
// sessions.
func BenchmarkMemory(b *testing.B) {
	var first, own, sessions float64
	n := 0
	for b.Loop() {
		n++
		l := newBenchAgent(b, "")
		l.initialize()
		first += memoryMiB(b, l, "VmRSS")
		own += memoryMiB(b, l, "RssAnon")
		for range 20 {
			l.open()
		}
		sessions += memoryMiB(b, l, "VmRSS")
		l.in.Close()
	}
	b.ReportMetric(first/float64(n), "MiB-initialized")
	b.ReportMetric(own/float64(n), "MiB-own") // the rest is the mapped part of the binary
	b.ReportMetric(sessions/float64(n), "MiB-20-sessions")
}

func memoryMiB(b *testing.B, l *benchAgent, key string) float64 {
	return float64(statusKiB(b, l.cmd.Process.Pid, key)) / 1024
}

// BenchmarkSize reports the size of the binary as it is shipped.
func BenchmarkSize(b *testing.B) {
	path := filepath.Join(b.TempDir(), "zeph-acp")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, command)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	for b.Loop() {
		info, err := os.Stat(path)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(info.Size())/(1<<20), "MiB")
	}
	b.ReportMetric(0, "ns/op")
}
