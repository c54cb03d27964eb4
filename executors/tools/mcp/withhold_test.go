package mcp

import (
	"context"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/executors/permission/approval"
)

// memory keeps approvals in memory.
func memory(t *testing.T) *approval.Store {
	var saved []byte
	return &approval.Store{
		Load: func() ([]byte, error) { return saved, nil },
		Change: func(edit func([]byte) ([]byte, error)) error {
			data, err := edit(saved)
			if err == nil {
				saved = data
			}
			return err
		},
		Log: func(err error) { t.Error(err) },
	}
}

// asked opens a session whose user answers questions; it returns their titles too.
func (f *fixture) asked(answer approval.Answer, servers ...Server) (*Session, *[]approval.Question) {
	questions := &[]approval.Question{}
	s := f.Session(Options{Dir: f.dir, Servers: servers, Wait: time.Minute, Warn: f.warn.add, Ask: func(_ context.Context, q approval.Question) approval.Answer {
		*questions = append(*questions, q)
		return answer
	}})
	f.t.Cleanup(s.Close)
	s.Ready(f.t.Context())
	return s, questions
}

func TestProject(t *testing.T) {
	f := newFixture(t)
	f.Approvals = memory(t)
	entry := program(t, "s", "tools")
	parse := func(args string) Server {
		servers, err := ParseProject(f.dir, []byte(`{"mcpServers":{"s":{"command":"${SELF}","args":[`+args+`],"env":{"SERVE":"${MODE:-tools}"}}}}`),
			func(name string) string {
				return map[string]string{"SELF": entry.Command}[name]
			}, noneReserved, noFiles)
		if err != nil || len(servers) != 1 {
			t.Fatalf("got %v, %v, want 1 of them", servers, err)
		}
		return servers[0]
	}
	s, questions := f.asked(approval.No, parse(`"a"`))
	if len(*questions) != 1 || !strings.Contains((*questions)[0].Text, `"command": "${SELF}"`) || len(s.Tools()) > 0 {
		t.Errorf("got the questions %q and the tools %s, want one question and none", *questions, names(s.Tools()))
	}
	if s.Ready(t.Context()); len(*questions) != 1 {
		t.Error("a rejected entry was asked about again in its session")
	}
	if s, _ := f.asked(approval.Once, parse(`"a"`)); names(s.Tools()) != testTools {
		t.Errorf("allowed once: tools %s", names(s.Tools()))
	}
	s, questions = f.asked(approval.Always, parse(`"a"`))
	if len(*questions) != 1 || names(s.Tools()) != testTools {
		t.Errorf("got %d questions and the tools %s, want 1 and %s", len(*questions), names(s.Tools()), testTools)
	}
	s, questions = f.asked(approval.No, parse(`"a"`))
	if len(*questions) != 0 || names(s.Tools()) != testTools {
		t.Errorf("an approved entry: %d questions, tools %s", len(*questions), names(s.Tools()))
	}
	if _, questions = f.asked(approval.No, parse(`"b"`)); len(*questions) != 1 {
		t.Errorf("a changed entry: %d questions", len(*questions))
	}
	if s := f.open(parse(`"c"`)); len(s.servers) > 0 {
		t.Error("an entry was started although no user can be asked")
	}
}

func noFiles(string) (string, error) { return "", fs.ErrNotExist }

// An approval covers the files of the repository that the entry names.
func TestProjectScripts(t *testing.T) {
	for entry, want := range map[string][]string{
		`"command":"node","args":["tools/s.js","--x"]`:                      {"tools/s.js 1"},
		`"command":"./tools/s.js"`:                                          {"./tools/s.js 1"},
		`"command":"/w/tools/s.js"`:                                         {"tools/s.js 1"},
		`"command":"node","args":["--require=tools/s.js","/etc/s.js"]`:      {"tools/s.js 1"},
		`"command":"sh","args":["-c","cd x; 'tools/s.js'"]`:                 {"tools/s.js 1"},
		`"command":"${DIR}/s.js","env":{"A":"x:tools/s.js"}`:                {"tools/s.js 1"},
		`"command":"node","args":["a b.js"]`:                                {"a b.js 2"},
		`"command":"node","args":["../tools/s.js","/x/tools/s.js"]`:         nil,
		`"command":"python3","args":["-m","srv"]`:                           {"srv.py 3"},
		`"command":"python3","args":["-m","pkg.srv"]`:                       {"pkg/__init__.py 4", "pkg/srv/__main__.py 5"},
		`"command":"sh","args":["-c","exec python3 -um srv"]`:               {"srv.py 3"},
		`"command":"uv","args":["run","python","-m","srv"]`:                 {"srv.py 3"},
		`"command":"python3","args":["-m","in"],"env":{"PYTHONPATH":"lib"}`: {"lib/in.py 6"},
		`"command":"python3","args":["srv"]`:                                nil,
		`"command":"node","args":["tools/s"]`:                               {"tools/s.js 1"},
		`"command":"npm","args":["start"]`:                                  {"package.json 7"},
	} {
		servers, err := ParseProject("/w", []byte(`{"mcpServers":{"s":{`+entry+`}}}`), func(string) string { return "/w/tools" }, noneReserved,
			func(name string) (string, error) {
				sums := map[string]string{
					"tools/s.js": "1", "a b.js": "2", "srv.py": "3", "pkg/__init__.py": "4", "pkg/srv/__main__.py": "5", "lib/in.py": "6", "package.json": "7",
				}
				if sum, ok := sums[name]; ok {
					return sum, nil
				}
				return "", fs.ErrNotExist
			})
		if err != nil || len(servers) != 1 || !slices.Equal(slices.Compact(servers[0].subject.Covers), want) {
			t.Errorf("%s: %+v, %v, want %q", entry, servers, err, want)
		}
	}
}

// A server is not started again with other files than those that were approved.
func TestChangedScript(t *testing.T) {
	sum := "1"
	parse := func() Server {
		servers, err := ParseProject("/w", []byte(`{"mcpServers":{"s":{"command":"./s.js"}}}`), func(string) string { return "" }, noneReserved,
			func(string) (string, error) { return sum, nil })
		if err != nil || len(servers) != 1 {
			t.Fatalf("%+v, %v", servers, err)
		}
		return servers[0]
	}
	before := parse()
	if err := before.checkFiles(); err != nil {
		t.Error(err)
	}
	sum = "2"
	if err := before.checkFiles(); err == nil {
		t.Error("the changed file is not noticed")
	}
	after := parse()
	if err := after.checkFiles(); err != nil || after.hash() == before.hash() {
		t.Errorf("%v, or the new session would share the old server", err)
	}
}

func noneReserved(string) bool { return false }

func TestParseProject(t *testing.T) {
	none := func(string) string { return "" }
	servers, err := ParseProject("/w", []byte(`{"mcpServers":{"a":{"command":"x","args":["${MISSING}"]},"b":{"url":"https://${HOST:-example.com}/"}}}`), none,
		noneReserved, noFiles)
	if err == nil || !strings.Contains(err.Error(), "MISSING is not set") || len(servers) != 1 || servers[0].URL != "https://example.com/" || !servers[0].Guarded {
		t.Errorf("%+v, %v", servers, err)
	}
	for _, text := range []string{
		`"command":"x","args":["${ANTHROPIC_API_KEY}"]`, `"command":"x","env":{"A":"${ANTHROPIC_API_KEY:-}"}`, `"url":"https://x.test/${ANTHROPIC_API_KEY}"`,
		`"url":"https://x.test/","headers":{"A":"Bearer ${ANTHROPIC_API_KEY:-none}"}`, `"command":"${ANTHROPIC_API_KEY}"`,
	} {
		reserved := func(name string) bool { return name == "ANTHROPIC_API_KEY" }
		got, err := ParseProject("/w", []byte(`{"mcpServers":{"a":{`+text+`}}}`), func(string) string { return "sk-ant-secret" }, reserved, noFiles)
		if len(got) != 0 || err == nil || !strings.Contains(err.Error(), "ANTHROPIC_API_KEY") || strings.Contains(err.Error(), "sk-ant") {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	elsewhere, _ := ParseProject("/other", []byte(`{"mcpServers":{"b":{"url":"https://${HOST:-example.com}/"}}}`), none, noneReserved, noFiles)
	if elsewhere[0].subject.Dir == servers[0].subject.Dir {
		t.Error("an approval holds for another directory")
	}
}

// TestChangedTools checks that a tool whose definition differs from the one at its
// first use is withheld until the user approves it.
func TestChangedTools(t *testing.T) {
	f := newFixture(t)
	f.Approvals = memory(t)
	e := program(t, "s", "tools")
	key := e.approvalKey()
	f.asked(approval.No, e)
	f.Approvals.Accept(key, "echo", "another definition")

	s, questions := f.asked(approval.No, e)
	if got := names(s.Tools()); slices.Contains(strings.Fields(got), "s__echo") || !strings.Contains(got, "s__look") {
		t.Errorf("tools %s", got)
	}
	if len(*questions) != 1 || (*questions)[0].Before != "another definition" || !strings.Contains((*questions)[0].After, "Does echo.") {
		t.Errorf("got the questions %+v, want one with both definitions", *questions)
	}
	if why := s.Status()[0].LeftOut["echo"]; !strings.Contains(why, "has changed") {
		t.Errorf("echo is left out: %q, want that it has changed", why)
	}
	if s.Ready(t.Context()); len(*questions) != 1 {
		t.Error("a rejected definition was asked about again in its session")
	}
	if s := f.open(e); strings.Contains(names(s.Tools()), "s__echo") {
		t.Error("a changed tool is offered although no user can be asked")
	}
	if s, _ := f.asked(approval.Once, e); names(s.Tools()) != testTools {
		t.Errorf("allowed once: got the tools %s, want %s", names(s.Tools()), testTools)
	}
	if s, _ := f.asked(approval.Always, e); names(s.Tools()) != testTools {
		t.Errorf("after the approval: %s", names(s.Tools()))
	}
	if _, questions := f.asked(approval.No, e); len(*questions) != 0 {
		t.Errorf("an approved definition: %+v", *questions)
	}
}

// TestUncheckedTools checks that no tool is offered whose definition cannot be compared.
func TestUncheckedTools(t *testing.T) {
	f := newFixture(t)
	f.Approvals = &approval.Store{
		Load:   func() ([]byte, error) { return []byte("{"), nil },
		Change: func(edit func([]byte) ([]byte, error)) error { _, err := edit([]byte("{")); return err },
		Log:    func(error) {},
	}
	s, questions := f.asked(approval.Always, program(t, "s", "tools"))
	s.Ready(t.Context())
	if got := names(s.Tools()); got != "" || len(*questions) != 0 {
		t.Errorf("tools %s, questions %+v", got, *questions)
	}
	if why := s.Status()[0].LeftOut["echo"]; !strings.Contains(why, "cannot be read") {
		t.Errorf("echo is left out: %q, want that the file cannot be read", why)
	}
	if warned := strings.Join(f.warn.list(), "\n"); strings.Count(warned, "are withheld") != 1 || !strings.Contains(warned, approval.FileName) {
		t.Errorf("warned %q, want once, with the file", warned)
	}
}
