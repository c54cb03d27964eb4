// Package fakelsp is a language server for tests.
//
// Call [Serve] in a test binary whose arguments begin with [Argument]. A line of a
// document that contains "error: TEXT" or "warning: TEXT" is a diagnostic, and
// "breaks FILE: TEXT" is one of another file in its directory.
package fakelsp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

// Argument is the first argument of a program that is this server. The second is its
// habit, and the third a file to which it appends each method that it receives.
//
// "push" is an ordinary server. "bare" reports no versions; "quiet" reports only on
// documents that have diagnostics or had some; "pull" only answers requests; "loads"
// reports its progress and on a file "old" before the first document; "asks" waits for
// answers to its own requests. "late" reports on a document with the next message after
// it. "hangs" never answers, "silent" never reports, "deaf" stops reading. "dies" ends at
// the first change, and "exits" immediately. "nonsense", "long", "flood", "huge", "many" and
// "questions" write too much or nothing that makes sense.
const Argument = "fake-lsp"

type message struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
}

type server struct {
	habit   string
	in      *bufio.Reader
	record  io.Writer
	texts   map[string]string // of open documents
	had     map[string]bool   // documents whose last report was not empty
	others  map[string]bool   // other files with a report
	pending func()            // the late report
	answers int               // number of answers that are still missing
	then    []func()          // called after the last missing answer
}

// Serve serves on stdin and stdout until they end.
func Serve(args []string) {
	s := &server{
		habit: args[0], in: bufio.NewReader(os.Stdin), record: io.Discard,
		texts: map[string]string{}, had: map[string]bool{}, others: map[string]bool{},
	}
	if len(args) > 1 {
		f, err := os.OpenFile(args[1], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			panic(err)
		}
		s.record = f
	}
	fmt.Fprintln(s.record, "start", os.Getpid())
	if s.habit == "exits" {
		fmt.Fprintln(os.Stderr, "no license")
		os.Exit(3)
	}
	for {
		m, err := s.read()
		if err != nil {
			return
		}
		if m.Method == "workspace/didChangeWatchedFiles" {
			fmt.Fprintln(s.record, m.Method, string(m.Params))
		} else {
			fmt.Fprintln(s.record, m.Method)
		}
		s.handle(m)
	}
}

// read reads one message.
func (s *server) read() (m message, err error) {
	length := 0
	for {
		line, err := s.in.ReadString('\n')
		if err != nil {
			return m, err
		}
		if line = strings.TrimSpace(line); line == "" {
			break
		}
		if value, ok := strings.CutPrefix(line, "Content-Length: "); ok {
			if length, err = strconv.Atoi(value); err != nil {
				return m, err
			}
		}
	}
	data := make([]byte, length)
	if _, err := io.ReadFull(s.in, data); err != nil {
		return m, err
	}
	return m, json.Unmarshal(data, &m)
}

func write(v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	fmt.Printf("Content-Length: %d\r\n\r\n%s", len(data), data)
}

type object map[string]any

func notify(method string, params any) {
	write(object{"jsonrpc": "2.0", "method": method, "params": params})
}

func (s *server) request(id, method string, params any) {
	s.answers++
	write(object{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

// handle acts on a message of the client.
func (s *server) handle(m message) {
	if s.pending != nil {
		s.pending()
		s.pending = nil
	}
	switch m.Method {
	case "":
		s.answered()
	case "initialize":
		s.initialize(m)
	case "initialized":
		s.initialized()
	case "textDocument/didOpen", "textDocument/didChange":
		var p struct {
			TextDocument struct {
				URI, Text string
				Version   int
			}
			ContentChanges []struct{ Text string }
		}
		if err := json.Unmarshal(m.Params, &p); err != nil {
			panic(err)
		}
		text := p.TextDocument.Text
		for _, c := range p.ContentChanges {
			text = c.Text
		}
		s.texts[p.TextDocument.URI] = text
		s.changed(p.TextDocument.URI, p.TextDocument.Version, len(p.ContentChanges) > 0)
	case "textDocument/diagnostic":
		var p struct{ TextDocument struct{ URI string } }
		_ = json.Unmarshal(m.Params, &p)
		own, _ := s.diagnostics(p.TextDocument.URI)
		write(object{"jsonrpc": "2.0", "id": m.ID, "result": object{"kind": "full", "items": own}})
	case "shutdown":
		write(object{"jsonrpc": "2.0", "id": m.ID, "result": nil})
	case "exit":
		os.Exit(0)
	}
}

func (s *server) initialize(m message) {
	if s.habit == "hangs" {
		return
	}
	capabilities := object{"textDocumentSync": 1}
	if s.habit == "pull" {
		capabilities["diagnosticProvider"] = object{"interFileDependencies": false}
	}
	write(object{"jsonrpc": "2.0", "id": m.ID, "result": object{"capabilities": capabilities}})
}

func (s *server) initialized() {
	switch s.habit {
	case "loads":
		s.request("progress", "window/workDoneProgress/create", object{"token": 1})
		notify("$/progress", object{"token": 1, "value": object{"kind": "begin", "title": "loading"}})
	case "asks":
		s.request("a", "workspace/configuration", object{"items": []object{{"section": "fake.strict"}, {"section": "none"}}})
		s.request("b", "client/registerCapability", object{"registrations": []object{}})
		s.request("c", "workspace/applyEdit", object{"edit": object{"changes": object{"file:///x": []object{}}}})
		s.request("d", "window/showMessageRequest", object{"type": 1, "message": "well?", "actions": []object{}})
		s.request("e", "workspace/workspaceFolders", nil)
		s.request("f", "fake/unknown", object{})
	case "nonsense":
		fmt.Print("hello, I am a server\n")
	case "long":
		fmt.Print("Content-Length: " + strings.Repeat("9", 1<<20))
	case "flood":
		flood()
	case "huge":
		fmt.Print("Content-Length: 999999999\r\n\r\n{")
	}
}

// flood writes valid messages until that fails.
func flood() {
	data := `{"jsonrpc":"2.0","method":"window/logMessage","params":{"message":"` + strings.Repeat("x", 1<<20) + `"}}`
	message := fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(data), data)
	for {
		if _, err := os.Stdout.WriteString(message); err != nil {
			return
		}
	}
}

// answered counts an answer of the client, and continues after the last one.
func (s *server) answered() {
	if s.answers--; s.answers > 0 {
		return
	}
	for _, do := range s.then {
		do()
	}
	s.then = nil
}

// changed reports on a document that was opened, or changed since, as the habit says.
func (s *server) changed(uri string, version int, since bool) {
	switch s.habit {
	case "silent", "pull":
		return
	case "deaf":
		time.Sleep(time.Hour)
	case "dies":
		if since {
			fmt.Fprintln(os.Stderr, "panic: out of ideas, password=hunter2hunter2")
			os.Exit(2)
		}
	case "many":
		s.many(uri)
		return
	case "questions":
		for i := 0; ; i++ {
			s.request(strconv.Itoa(i), "workspace/configuration", object{"items": []object{}})
		}
	}
	report := func() { s.publish(uri, version) }
	switch {
	case s.habit == "loads" && !since:
		notify("textDocument/publishDiagnostics", object{"uri": beside(uri, "old"), "diagnostics": []object{diagnostic(0, 0, 1, "an old error")}})
		report()
		notify("$/progress", object{"token": 1, "value": object{"kind": "end"}})
	case s.habit == "asks" && s.answers > 0:
		s.then = append(s.then, report)
	case s.habit == "late" && since:
		s.pending = report
	default:
		report()
	}
}

// many reports 20,000 diagnostics.
func (s *server) many(uri string) {
	for i := range 20 {
		all := make([]object, 1000)
		for j := range all {
			all[j] = diagnostic(j, 0, 1, fmt.Sprintf("error %d %s", j, strings.Repeat("x", 100)))
		}
		notify("textDocument/publishDiagnostics", object{"uri": beside(uri, fmt.Sprintf("file%d", i)), "diagnostics": all})
	}
	notify("textDocument/publishDiagnostics", object{"uri": uri, "diagnostics": []object{diagnostic(0, 0, 1, "the last one")}})
}

// publish reports the diagnostics of a document and of other files.
func (s *server) publish(uri string, version int) {
	own, others := s.diagnostics(uri)
	for other := range s.others {
		if others[other] == nil {
			others[other] = []object{}
		}
	}
	for other, all := range others {
		s.others[other] = true
		notify("textDocument/publishDiagnostics", object{"uri": beside(uri, other), "diagnostics": all})
	}
	if s.habit == "quiet" && len(own) == 0 && !s.had[uri] {
		return
	}
	s.had[uri] = len(own) > 0
	params := object{"uri": uri, "diagnostics": own}
	if s.habit != "bare" {
		params["version"] = version
	}
	notify("textDocument/publishDiagnostics", params)
}

// diagnostics returns the diagnostics of a document, and the ones that it causes in other files.
func (s *server) diagnostics(uri string) (own []object, others map[string][]object) {
	own, others = []object{}, map[string][]object{}
	for i, line := range strings.Split(s.texts[uri], "\n") {
		for severity, word := range map[int]string{1: "error: ", 2: "warning: "} {
			if before, text, ok := strings.Cut(line, word); ok {
				own = append(own, diagnostic(i, len(utf16.Encode([]rune(before))), severity, text))
			}
		}
		if _, rest, ok := strings.Cut(line, "breaks "); ok {
			file, text, _ := strings.Cut(rest, ": ")
			others[file] = append(others[file], diagnostic(0, 0, 1, text))
		}
	}
	return own, others
}

func diagnostic(line, character, severity int, text string) object {
	at := object{"line": line, "character": character}
	return object{"range": object{"start": at, "end": at}, "severity": severity, "code": "E1", "source": "fake", "message": text}
}

func beside(uri, name string) string { return path.Dir(uri) + "/" + name }
