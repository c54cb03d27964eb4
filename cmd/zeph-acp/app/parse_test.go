package app

import (
	"sync"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors/command/plain"
	"github.com/zeph-acp/zeph-acp/protocol-fixtures"
)

// A command is parsed once: in Prepare. Every gate, the permission link, undo and the choice of a
// filter read the script in the call's card.
func TestParsedOnce(t *testing.T) {
	for name, script := range map[string]string{
		"read-only": "cd . && cat a.txt | head -5",
		"allowed":   "echo x > b.txt && cat a.txt b.txt; false",
		"denied":    "rm -rf a.txt",
		"blocked":   "sudo ls # as root",
		"no script": "echo 'a",
	} {
		t.Run(name, func(t *testing.T) {
			text := "One command.\n\n-- w/a.txt --\nx\n-- model.jsonl --\n" +
				"{\"tool\": \"bash\", \"input\": " + string(raw(map[string]string{"command": script})) + "}\n\n{\"text\": \"done\"}\n" +
				"-- frames.jsonl --\n" +
				`{"client": {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}}` + "\n" +
				`{"client": {"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"$S","prompt":[{"type":"text","text":"go"}]}}}` + "\n"
			f, err := fixtures.Parse("one.txtar", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			s := choices{answering: "allow_once", entry: "new", "tools.shell.transactional": "true", "tools.shell.auto_rollback": "true"}
			for _, gate := range gateSwitches {
				s[gate] = "true"
			}
			var mu sync.Mutex
			parses := 0
			plain.WatchParses(func(parsed string) {
				mu.Lock()
				defer mu.Unlock()
				if parsed == script {
					parses++
				}
			})
			calls := newGame(t, f, s).play().calls
			plain.WatchParses(func(string) {})
			mu.Lock()
			defer mu.Unlock()
			if len(calls) != 1 || parses != 1 {
				t.Errorf("%d calls and %d parses of %q, want one of each", len(calls), parses, script)
			}
		})
	}
}
