package testreport

import (
	"bytes"
	"sync"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// traceFilter removes the frames of libraries from stack traces. Short traces stay
// whole, and each trace keeps its first frame.
type traceFilter struct {
	emit        func([]byte)
	style       frameStyle // style of the pending frames
	lines       []byte     // lines of pending frames with their line feeds
	frames      []traceFrame
	inRustTrace bool // "stack backtrace:" was seen

	withoutComments bool // lines such as "  # x:1" are comments, not frames of RSpec

	heldLine  []byte // if holdsLine, a line that may begin a Go frame
	holdsLine bool
}

// traceFrame is a frame of a stack trace: one or more lines.
type traceFrame struct {
	start   int // index in lines
	library bool
	repeats int // equal frames before it, in a recursion
}

// frameStyle is how a language formats the frames of its stack traces.
type frameStyle uint8

const (
	noFrame     frameStyle = iota
	atFrame                // "    at f (x.js:1:2)", " ❯ f x.js:1:2": JavaScript, Java, C#
	rustFrame              // "   3: f", then "             at x.rs:1:2"
	goFrame                // "main.f(...)", then "\t/x.go:12 +0x1d"
	pythonFrame            // `  File "x.py", line 1, in f`, or pytest's "x.py:1: in f", then code
	numberFrame            // "#0 /x.php(12): f()", "# ./x.rb:3:in `f'"
)

// Limits of traces.
const (
	shortTrace       = 4         // frames up to which a trace is short
	maxTraceBytes    = 256 << 10 // bytes of a trace
	maxFrames        = 400       // frames after which the rest counts as another trace
	maxLoneFrames    = 3         // frames kept of a trace of libraries only
	maxProjectFrames = 40        // frames kept of the project itself
	maxSameFrames    = 3         // equal frames kept of a recursion
	maxRecursion     = 8         // functions of a recursion
)

// line handles a line. A symbol of Go is held until the next line shows whether it begins a frame.
func (t *traceFilter) line(l []byte) {
	if t.holdsLine {
		if isGoLocation(l) {
			t.beginFrame(goFrame, t.heldLine)
			t.addToFrame(l)
			t.holdsLine = false
			return
		}
		t.holdsLine = false
		t.handle(t.heldLine)
	}
	if isGoSymbol(l) {
		t.heldLine = append(t.heldLine[:0], l...)
		t.holdsLine = true
		return
	}
	t.handle(l)
}

// handle handles a line that is not part of a Go frame.
func (t *traceFilter) handle(l []byte) {
	inner := bytes.TrimLeft(l, " \t")
	style := t.styleOf(l, inner)
	switch {
	case style != noFrame:
		t.beginFrame(style, l)
	case len(t.lines) < maxTraceBytes && (t.style == rustFrame && begins(inner, "at ") || t.style == pythonFrame && isPythonCode(l)):
		t.addToFrame(l)
	case t.style == goFrame && begins(l, "created by "):
		t.beginFrame(goFrame, l)
	default:
		t.flush()
		t.inRustTrace = begins(l, "stack backtrace:") || ends(l, "stack backtrace:")
		t.emit(l)
	}
}

// styleOf returns the style of a frame that begins with a line.
func (t *traceFilter) styleOf(l, inner []byte) frameStyle {
	if len(inner) == 0 {
		return noFrame
	}
	switch c := inner[0]; {
	case c == 'a' && len(inner) < len(l) && begins(inner, "at ") && t.style != rustFrame:
		return atFrame
	case c == 0xe2 && begins(inner, "❯ ") && beginsWithPlace(inner): // vitest
		return atFrame
	case c == 'F' && begins(inner, `File "`) && contains(inner, ", line "):
		return pythonFrame
	case c == '#' && len(inner) > 2 &&
		(inner[1] == ' ' && len(inner) < len(l) && !t.withoutComments || inner[1] >= '0' && inner[1] <= '9') && contains(inner, ":"):
		return numberFrame
	case c >= '0' && c <= '9' && (t.inRustTrace || t.style == rustFrame):
		if _, n := leadingNumber(inner); begins(inner[n:], ": ") {
			return rustFrame
		}
	case len(inner) == len(l) && contains(l, ": in ") && isPytestFrame(l):
		return pythonFrame
	}
	return noFrame
}

// isPytestFrame matches "tests/test_x.py:3: in f".
func isPytestFrame(l []byte) bool {
	at := bytes.Index(l, []byte(": in "))
	colon := bytes.LastIndexByte(l[:at], ':')
	if colon < 1 {
		return false
	}
	_, n := leadingNumber(l[colon+1:])
	return n > 0 && colon+1+n == at
}

// isPythonCode matches a line of code in a traceback.
func isPythonCode(l []byte) bool { return begins(l, "    ") }

// isGoSymbol matches a line that may begin a Go frame.
func isGoSymbol(l []byte) bool {
	if len(l) < 4 {
		return false
	}
	if begins(l, "created by ") {
		return true
	}
	if l[len(l)-1] != ')' || l[0] <= ' ' && !begins(l, "  ") {
		return false
	}
	name := bytes.TrimLeft(l, " ")
	if at := bytes.IndexByte(name, '('); at >= 0 {
		name = name[:at]
	}
	return bytes.IndexByte(name, ' ') < 0 && (bytes.IndexByte(name, '.') > 0 || string(name) == "panic")
}

// isGoLocation matches "\t/home/x/y.go:12 +0x1d".
func isGoLocation(l []byte) bool {
	if len(l) < 8 || l[0] != '\t' && l[0] != ' ' {
		return false
	}
	at := bytes.Index(l, []byte(".go:"))
	if at < 0 {
		at = bytes.Index(l, []byte(".s:"))
	}
	return at > 0 && bytes.IndexByte(l[:at], ' ') < 0 || at > 0 && begins(bytes.TrimLeft(l, " "), "/")
}

// beginFrame begins a frame.
func (t *traceFilter) beginFrame(style frameStyle, l []byte) {
	if t.style != style || len(t.frames) >= maxFrames || len(t.lines) >= maxTraceBytes {
		t.flush()
		t.style = style
	}
	t.frames = append(t.frames, traceFrame{start: len(t.lines)})
	t.addToFrame(l)
}

// addToFrame adds a line to the last frame.
func (t *traceFilter) addToFrame(l []byte) {
	f := &t.frames[len(t.frames)-1]
	f.library = f.library || isLibraryLine(l, t.style)
	if t.style == goFrame && !f.library && len(t.lines) > f.start {
		f.library = isStandardFrame(bytes.TrimLeft(t.lines[f.start:], " "), l)
	}
	t.lines = append(append(t.lines, l...), '\n')
}

func (t *traceFilter) end() {
	if t.holdsLine {
		t.holdsLine = false
		t.handle(t.heldLine)
	}
	t.flush()
	t.inRustTrace = false
}

// flush writes the frames that stay.
func (t *traceFilter) flush() {
	n := len(t.frames)
	if n == 0 {
		return
	}
	projectFrames := 0
	for _, f := range t.frames {
		if !f.library {
			projectFrames++
		}
	}
	keptFrames, next := 0, 0
	for i, f := range t.frames {
		stays := t.staysForPlace(i, n, projectFrames)
		if t.countRepeats(i); t.frames[i].repeats >= maxSameFrames {
			continue
		}
		switch {
		case projectFrames == 0 && t.style == goFrame: // frames of the runtime or of package testing
			stays = i == 0
		case projectFrames == 0:
			stays = stays || i < maxLoneFrames || i == n-1
		case !f.library:
			keptFrames++
			stays = stays || keptFrames <= maxProjectFrames || i >= n-2
		}
		if !stays {
			continue
		}
		t.writeFrames(next, i, i+1)
		next = i + 1
	}
	t.writeFrames(next, n, n)
	t.lines, t.frames, t.style = t.lines[:0], t.frames[:0], noFrame
}

// countRepeats counts the equal frames before a frame.
func (t *traceFilter) countRepeats(i int) {
	for before := i - 1; before >= max(0, i-maxRecursion); before-- {
		if bytes.Equal(t.frameLines(before, before+1), t.frameLines(i, i+1)) {
			t.frames[i].repeats = t.frames[before].repeats + 1
			return
		}
	}
}

// staysForPlace reports whether a frame stays only for its place.
func (t *traceFilter) staysForPlace(i, n, projectFrames int) bool {
	switch t.style {
	case goFrame, rustFrame: // they begin with the frames of the panic
		return n <= shortTrace && projectFrames == 0 || n == 1
	case pythonFrame: // it ends where the error happened
		return n <= shortTrace || i == 0 || i == n-1
	}
	return n <= shortTrace || i == 0 && !(projectFrames > 0 && t.beginsWithAssertion())
}

// beginsWithAssertion reports whether the trace begins with an assertion.
func (t *traceFilter) beginsWithAssertion() bool {
	first := t.frameLines(0, 1)
	return contains(first, "ssert") || contains(first, "junit")
}

// writeFrames writes the frames up to end without frames from to to-1. It keeps
// frames that are not longer than the mark for their omission.
func (t *traceFilter) writeFrames(from, to, end int) {
	omitted := t.frameLines(from, to)
	if lines := bytes.Count(omitted, []byte("\n")); lines > 0 {
		mark := text.Omission(lines)
		if len(omitted) > len(mark)+len(mark)/2 {
			t.emit(mark)
		} else {
			t.emitLines(omitted)
		}
	}
	t.emitLines(t.frameLines(to, end))
}

// frameLines returns the lines of frames.
func (t *traceFilter) frameLines(from, to int) []byte {
	if from >= to {
		return nil
	}
	if to == len(t.frames) {
		return t.lines[t.frames[from].start:]
	}
	return t.lines[t.frames[from].start:t.frames[to].start]
}

func (t *traceFilter) emitLines(lines []byte) {
	for len(lines) > 0 {
		end := bytes.IndexByte(lines, '\n')
		t.emit(lines[:end])
		lines = lines[end+1:]
	}
}

// libraryPlaces occur in frames of other people's code.
var libraryPlaces = [...][]string{
	atFrame: {
		"node_modules/", "node_modules\\", "node:", "Promise.all (index", "(internal/", "at internal/",
		"<anonymous>)", "(native)", "/.pnpm/", "ext:", "deno_std", "https://deno.land/std",
	},
	rustFrame: {"/rustc/", "/.cargo/registry/", "/.cargo/git/", "/.rustup/", "/library/std/", "/library/core/", "/library/test/",
		"std::panicking", "core::panicking", "__rust_begin_short_backtrace", "__rustc::", "rust_begin_unwind",
		"__libc_start", "start_thread", "clone3", "_start"},
	goFrame:     {"/pkg/mod/", "/vendor/", "_testmain.go", "testing.tRunner"},
	pythonFrame: {"/site-packages/", "/dist-packages/", "/lib/python", "\\Lib\\", "<frozen ", "/usr/lib/", "importlib/"},
	numberFrame: {"/vendor/", "/gems/", "/lib/ruby/", "[internal function]", "{main}", "phpunit.phar", "/libc.so", "libstdc++"},
}

// libraryNames begin the functions of such frames.
var libraryNames = newPrefixes(
	"java.", "javax.", "jdk.", "sun.", "com.sun.", "java.base/", "jdk.internal", "jakarta.", "org.junit.",
	"junit.", "org.testng.", "org.apache.maven.", "org.gradle.", "worker.org.gradle.", "kotlin.", "kotlinx.",
	"scala.", "groovy.", "org.codehaus.groovy.", "org.springframework.", "org.mockito.", "org.hamcrest.",
	"org.assertj.", "net.bytebuddy.", "org.hibernate.", "io.netty.", "reactor.", "org.apache.catalina.",
	"org.apache.tomcat.",
	"com.intellij.", "com.fasterxml.", "app//org.junit", "System.", "Microsoft.", "Xunit.", "NUnit.",
	"FluentAssertions.", "Shouldly.", "Moq.", "Newtonsoft.", "lambda_method",
)

// isLibraryLine reports whether a line belongs to a frame of a library.
func isLibraryLine(l []byte, style frameStyle) bool {
	for _, word := range libraryPlaces[style] {
		if contains(l, word) {
			return true
		}
	}
	if style != atFrame {
		return false
	}
	name := bytes.TrimPrefix(bytes.TrimLeft(l, " \t"), []byte("at "))
	// a Java module
	if slash := bytes.IndexByte(name, '/'); slash > 0 && bytes.IndexByte(name[:slash], '(') < 0 && bytes.IndexByte(name[:slash], ' ') < 0 {
		if begins(name, "java.") || begins(name, "jdk.") {
			return true
		}
		name = bytes.TrimLeft(name[slash:], "/")
	}
	return libraryNames.match(name)
}

// isStandardFrame reports whether a Go frame is in the standard library: its file is
// in a directory below src that is named like the package.
func isStandardFrame(symbol, location []byte) bool {
	if end := bytes.IndexByte(symbol, '\n'); end >= 0 {
		symbol = symbol[:end]
	}
	symbol = bytes.TrimPrefix(symbol, []byte("created by "))
	if begins(symbol, "panic(") {
		return true
	}
	slash := bytes.LastIndexByte(symbol[:max(0, bytes.IndexByte(symbol, '('))], '/')
	dot := bytes.IndexByte(symbol[slash+1:], '.')
	if dot < 0 {
		return false
	}
	name := symbol[:slash+1+dot]
	first := name
	if i := bytes.IndexByte(name, '/'); i >= 0 {
		first = name[:i]
	}
	at := bytes.Index(location, name)
	return bytes.IndexByte(first, '.') < 0 && at > 5 && string(location[at-5:at]) == "/src/" &&
		at+len(name) < len(location) && location[at+len(name)] == '/'
}

// prefixes finds which of many texts a line begins with. Its table, by the first byte, is
// built when it is first needed.
type prefixes func() *[256][]string

func newPrefixes(list ...string) prefixes {
	return sync.OnceValue(func() *[256][]string {
		p := &[256][]string{}
		for _, word := range list {
			p[word[0]] = append(p[word[0]], word)
		}
		return p
	})
}

func (p prefixes) match(l []byte) bool {
	if len(l) == 0 {
		return false
	}
	for _, word := range p()[l[0]] {
		if begins(l, word) {
			return true
		}
	}
	return false
}
