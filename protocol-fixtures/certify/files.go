package certify

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

var fileScenarios = []scenario{
	{name: "read", about: "The agent reads a file, some of its lines, and a missing file.", needs: "fs.readTextFile", only: 1, run: readFiles},
	{name: "write", about: "The agent writes a new file, and replaces it.", needs: "fs.writeTextFile", only: 1, run: writeFiles},
}

const notes = "one\ntwo: grüße 👋\nthree\n"

func readFiles(t *turn) {
	path := t.file("notes.txt", notes)
	if path == "" {
		return
	}
	t.reads(path, nil, notes)
	t.reads(path, map[string]any{"line": 2, "limit": 1}, "two: grüße 👋\n")
	t.reads(path, map[string]any{"line": 2}, "two: grüße 👋\nthree\n")
	got := t.expects("fs/read_text_file", map[string]any{"sessionId": t.session, "path": filepath.Join(t.scratch(), "missing.txt")})
	if !got.silent {
		t.checked("file-missing", got.Error != nil, "a missing file gets a result", got.frames()...)
	}
}

// reads reads a file. A last newline may be missing.
func (t *turn) reads(path string, lines map[string]any, want string) {
	params := map[string]any{"sessionId": t.session, "path": path}
	for k, v := range lines {
		params[k] = v
	}
	got := t.expects("fs/read_text_file", params)
	if got.silent || !t.served("fs.readTextFile", got) {
		return
	}
	var r struct{ Content string }
	_ = json.Unmarshal(got.Result, &r) // the schema is checked elsewhere
	same := strings.TrimSuffix(r.Content, "\n") == strings.TrimSuffix(want, "\n")
	t.checked("file-content", got.Error == nil && same, "the content of a file is not returned", got.frames()...)
}

// served checks that a method of a declared capability exists.
func (t *turn) served(capability string, got reply) bool {
	code, _ := got.failure()
	return t.checked("capabilities", got.Error == nil || code != -32601, capability+" is declared, but its method is unknown", got.frames()...)
}

func writeFiles(t *turn) {
	first := t.file("notes.txt", notes)
	if first == "" {
		return
	}
	for _, path := range []string{filepath.Join(t.scratch(), "created.txt"), first} {
		for _, text := range []string{"written by certify\n", "and replaced: grüße\nwith two lines\n"} {
			got := t.expects("fs/write_text_file", map[string]any{"sessionId": t.session, "path": path, "content": text})
			if got.silent || !t.served("fs.writeTextFile", got) {
				return
			}
			ok := got.Error == nil
			if saved, err := os.ReadFile(path); ok && (err != nil || strings.TrimSuffix(string(saved), "\n") != strings.TrimSuffix(text, "\n")) {
				ok = t.buffered(path, text)
			}
			t.checked("file-written", ok, "a file is not written", got.frames()...)
		}
	}
}

// buffered reports whether the client has a text in a buffer that is not saved yet.
func (t *turn) buffered(path, text string) bool {
	if !t.declared("fs.readTextFile") {
		return false
	}
	got := t.expects("fs/read_text_file", map[string]any{"sessionId": t.session, "path": path})
	var r struct{ Content string }
	_ = json.Unmarshal(got.Result, &r) // a failure is no content
	return strings.TrimSuffix(r.Content, "\n") == strings.TrimSuffix(text, "\n")
}
