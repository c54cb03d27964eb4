// Package browser drives a headless Chromium, for tests of pages that the binary writes.
//
// Start with [Open], which skips the test where no Chromium is installed, then
// [Browser.Load]. [Browser.Check] returns the faults that make a page hard to use or
// unsafe: text that is too pale, a missing landmark, an element that loads something.
//
// It speaks the DevTools protocol over the pipe of --remote-debugging-pipe, so no port is
// open: https://chromedevtools.github.io/devtools-protocol/
package browser

import (
	"bufio"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is how long the browser may take to answer.
const patience = time.Minute

// Browser is a running Chromium with one page.
type Browser struct {
	t       testing.TB
	in      io.Writer
	session string // of the page

	mu       sync.Mutex
	next     int
	answers  map[int]chan answer
	loaded   chan struct{}
	requests []string // URLs since the last Load
	problems []string // messages of the console and of the security policy
}

type answer struct {
	Result json.RawMessage
	Error  *struct{ Message string }
}

// names are the commands of Chromium and its relatives.
var names = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "headless_shell"}

// Open starts a browser, which ends with the test.
func Open(t testing.TB) *Browser {
	t.Helper()
	program := os.Getenv("CHROMIUM")
	for _, name := range names {
		if path, err := exec.LookPath(name); program == "" && err == nil {
			program = path
		}
	}
	if program == "" || runtime.GOOS == "windows" {
		t.Skip("no Chromium is installed, or this is Windows, where its pipe needs other handles: pages are not looked at")
	}
	theirIn, ours, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	theirs, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
		"--disable-background-networking", "--remote-debugging-pipe", "--user-data-dir="+t.TempDir(), "about:blank")
	cmd.ExtraFiles = []*os.File{theirIn, theirOut} // descriptors 3 and 4
	// Wait returns when no process has this pipe any more. Until then the browser's children write
	// to the directory, which the test removes.
	cmd.Stderr, cmd.WaitDelay = io.Discard, 30*time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirIn.Close()
	theirOut.Close()
	b := &Browser{t: t, in: ours, answers: map[int]chan answer{}, loaded: make(chan struct{}, 16)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.read(theirs)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		ours.Close()
		theirs.Close()
		<-done
	})
	b.attach()
	return b
}

// attach opens the page.
func (b *Browser) attach() {
	b.t.Helper()
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Network", "Log", "Runtime"} {
		b.call(domain+".enable", nil, nil)
	}
}

// read passes on the browser's messages until it ends.
func (b *Browser) read(r io.Reader) {
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadBytes(0)
		if err != nil {
			return
		}
		var m struct {
			ID     int
			Method string
			Params json.RawMessage
			answer
		}
		if json.Unmarshal(line[:len(line)-1], &m) != nil {
			continue
		}
		b.mu.Lock()
		if c := b.answers[m.ID]; m.ID != 0 && c != nil {
			delete(b.answers, m.ID)
			c <- m.answer
		}
		b.event(m.Method, m.Params)
		b.mu.Unlock()
	}
}

// event records an event; the caller holds mu.
func (b *Browser) event(method string, params json.RawMessage) {
	var p struct {
		Request struct{ URL string }
		Entry   struct{ Level, Text string }
	}
	_ = json.Unmarshal(params, &p) // an event of another form has none of these
	switch method {
	case "Page.loadEventFired":
		b.loaded <- struct{}{}
	case "Network.requestWillBeSent":
		b.requests = append(b.requests, p.Request.URL)
	case "Log.entryAdded":
		b.problems = append(b.problems, p.Entry.Level+": "+p.Entry.Text)
	case "Runtime.consoleAPICalled", "Runtime.exceptionThrown":
		b.problems = append(b.problems, method+": "+string(params))
	}
}

// call sends a command and decodes its result into out, unless that is nil.
func (b *Browser) call(method string, params map[string]any, out any) {
	b.t.Helper()
	c := make(chan answer, 1)
	b.mu.Lock()
	b.next++
	m := map[string]any{"id": b.next, "method": method}
	b.answers[b.next] = c
	b.mu.Unlock()
	if params != nil {
		m["params"] = params
	}
	if b.session != "" {
		m["sessionId"] = b.session
	}
	text, err := json.Marshal(m)
	if err == nil {
		_, err = b.in.Write(append(text, 0))
	}
	if err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	select {
	case a := <-c:
		if a.Error != nil {
			b.t.Fatalf("%s: %s", method, a.Error.Message)
		}
		if out != nil {
			if err := json.Unmarshal(a.Result, out); err != nil {
				b.t.Fatalf("%s: %v", method, err)
			}
		}
	case <-time.After(patience):
		b.t.Fatalf("%s: no answer", method)
	}
}

// View is how a page is shown.
type View struct {
	Width  int    // in CSS pixels
	Scheme string // light or dark
	Print  bool
}

func (v View) String() string {
	if v.Print {
		return fmt.Sprintf("print-%d", v.Width)
	}
	return fmt.Sprintf("%d-%s", v.Width, v.Scheme)
}

// Load shows a file and returns the URLs that it requested, itself included.
func (b *Browser) Load(file string, v View) (requests []string) {
	b.t.Helper()
	media := ""
	if v.Print {
		media = "print"
	}
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": v.Width, "height": 900, "deviceScaleFactor": 1, "mobile": false}, nil)
	b.call("Emulation.setEmulatedMedia", map[string]any{"media": media, "features": []map[string]string{{"name": "prefers-color-scheme", "value": v.Scheme}}}, nil)
	b.mu.Lock()
	b.requests, b.problems = nil, nil
	b.mu.Unlock()
	b.call("Page.navigate", map[string]any{"url": "file://" + file}, nil)
	select {
	case <-b.loaded:
	case <-time.After(patience):
		b.t.Fatal("the page does not load")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.requests)
}

// Problems returns the messages of the browser about the page.
func (b *Browser) Problems() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.problems)
}

// Eval evaluates an expression of JavaScript and decodes its value into out.
func (b *Browser) Eval(expression string, out any) {
	b.t.Helper()
	var r struct {
		Result struct{ Value json.RawMessage }

		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &r)
	if e := r.ExceptionDetails; e != nil {
		b.t.Fatalf("%s: %s", e.Text, e.Exception.Description)
	}
	if out == nil {
		return
	}
	if err := json.Unmarshal(r.Result.Value, out); err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
}

//go:embed check.js
var check string

// Check opens everything that is folded and returns the faults of the page.
func (b *Browser) Check() (faults []string) {
	b.t.Helper()
	b.Eval(strings.TrimSpace(check), &faults)
	return faults
}

// Shoot saves a picture of the whole page as a PNG file.
func (b *Browser) Shoot(file string) {
	b.t.Helper()
	var shot struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": true}, &shot)
	data, err := base64.StdEncoding.DecodeString(shot.Data)
	if err == nil {
		err = os.WriteFile(file, data, 0o600)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}
