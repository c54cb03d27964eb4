package integration

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// TestProfiles runs a whole turn, a cancelled turn and a reopened session with each
// known editor.
func TestProfiles(t *testing.T) {
	for name, p := range profiles {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p.run(t)
		})
	}
}

// profileConn is one connection of a profile.
type profileConn struct {
	*editor
	profile
	t    *testing.T
	next int // id of the next request
	seen int // number of frames already checked
}

// play starts the binary in the editor's way.
func (p profile) play(t *testing.T, s start) *profileConn {
	t.Helper()
	c := &profileConn{t: t, profile: p, editor: &editor{}}
	c.quirk = func(method string, _ json.RawMessage, _ any, err error) string {
		missing := &sdk.RequestError{}
		switch {
		case method == "fs/read_text_file" && p.missing != "" && errors.As(err, &missing) && missing.Code == -32002:
			return p.missing
		case method == "fs/write_text_file" && p.written != "" && err == nil:
			return `"result":` + p.written
		}
		return ""
	}
	c.start(t, s)
	f := c.call("initialize", `{"protocolVersion":1,`+strings.NewReplacer("\n", "", "\t", "").Replace(p.initialize)+`}`)
	var r struct {
		AuthMethods []struct{ ID, Type string }
	}
	if err := json.Unmarshal(f.Result, &r); err != nil || len(r.AuthMethods) == 0 || r.AuthMethods[0].Type != "" {
		t.Fatalf("the first auth method is not the agent's: %s", f.line)
	}
	if p.authenticates {
		c.call("authenticate", `{"methodId":`+quote(r.AuthMethods[0].ID)+p.authenticate+`}`)
	}
	return c
}

// ask sends a request and returns its id.
func (c *profileConn) ask(method, params string) string {
	c.t.Helper()
	id := c.id(c.next)
	c.next++
	c.request(id, method, params)
	return id
}

// call sends a request that must succeed.
func (c *profileConn) call(method, params string) frame {
	c.t.Helper()
	f := c.answer(c.ask(method, params))
	if f.Error != nil {
		c.t.Fatalf("%s: %s", method, f.line)
	}
	return f
}

// quiet checks that no frame of a turn arrived since its last call. Some clients
// drop such a frame, and one reports it as a bug.
func (c *profileConn) quiet(when string) {
	c.t.Helper()
	frames := c.agentFrames()
	for _, f := range frames[c.seen:] {
		if u, _ := f.update(); turnUpdate(f) || u.Kind == "plan" || u.Kind == "user_message_chunk" {
			c.t.Errorf("%s: %s", when, f.line)
		}
	}
	c.seen = len(frames)
}

func (p profile) run(t *testing.T) {
	const before, after = "package old\n", "package new\n"
	model := fakemodel.NewAnthropic(t,
		fakemodel.Answer(
			fakemodel.Think("I look.", "c2ln"),
			fakemodel.Say("Let me see."),
			fakemodel.Call("c1", "read", map[string]any{"path": "main.go"}),
			fakemodel.Call("c2", "read", map[string]any{"path": "gone.go"}),
		),
		fakemodel.Answer(fakemodel.Call("c3", "edit", map[string]any{"path": "main.go", "old_string": "old", "new_string": "new"})),
		fakemodel.Answer(fakemodel.Call("c4", "write", map[string]any{"path": "made.go", "content": "package made\n"})),
		fakemodel.Answer(fakemodel.Call("c5", "bash", map[string]any{"command": "./check.sh"})),
		fakemodel.Answer(fakemodel.Say("All done.")),
		fakemodel.Answer(fakemodel.Call("c6", "bash", map[string]any{"command": "./check.sh more"})), // cancelled
	)
	c := p.play(t, start{env: model.Env()})
	c.Permit = func(q sdk.RequestPermissionRequest) sdk.PermissionOptionKind {
		kinds := map[sdk.PermissionOptionKind]bool{}
		for _, o := range q.Options {
			if kinds[o.Kind] {
				t.Errorf("two options %s: CodeCompanion would lose one", o.Kind)
			}
			kinds[o.Kind] = true
		}
		if p.firstDiff && *q.ToolCall.Kind == sdk.ToolKindEdit && q.ToolCall.Content[0].Diff == nil {
			t.Errorf("the editor would not show the diff: %+v", q.ToolCall.Content)
		}
		return sdk.PermissionOptionKindAllowOnce
	}
	file, made := c.file("main.go", before), filepath.Join(c.dir, "made.go")
	c.script("check.sh", "echo checked $1")
	opened := c.call("session/new", `{"cwd":`+quote(c.dir)+`,"mcpServers":`+p.servers()+p.session+`}`)
	var s struct {
		SessionID string
		settings
	}
	if err := json.Unmarshal(opened.Result, &s); err != nil {
		t.Fatal(err)
	}
	s.check(t)
	for _, f := range c.agentFrames() {
		if string(f.ID) == string(opened.ID) {
			break
		}
		if f.Method == "session/update" {
			t.Errorf("an update before the session's id: %s", f.line)
		}
	}
	var set []string
	if p.eager {
		set = append(set, c.ask("session/set_mode", fmt.Sprintf(`{"sessionId":%q,"modeId":"code"}`, s.SessionID)))
		for _, o := range s.ConfigOptions {
			set = append(set, c.ask("session/set_config_option", fmt.Sprintf(`{"sessionId":%q,"configId":%q,"value":%s}`, s.SessionID, o.ID, o.CurrentValue)))
		}
	}
	c.quiet("before the prompt")
	prompt := c.call("session/prompt", promptParams(s.SessionID, "fix it"))
	if !strings.Contains(string(prompt.Result), "end_turn") {
		t.Fatalf("prompt: %s", prompt.line)
	}
	for _, id := range set {
		if f := c.answer(id); f.Error != nil {
			t.Errorf("set: %s", f.line)
		}
	}
	live := shownIn(c.agentFrames(), s.SessionID, func(f frame) bool { return strings.Contains(string(f.Result), "stopReason") })
	c.checkTurn(live, file, before, after)
	if got := c.where(made); got != "package made\n" {
		t.Errorf("the new file holds %q", got)
	}
	c.seen = len(c.agentFrames())
	c.cancelled(s.SessionID)
	if p.oldModel {
		c.call("session/set_model", fmt.Sprintf(`{"sessionId":%q,"modelId":%s}`, s.SessionID, s.value("model")))
	}
	c.alive()
	c.seen = len(c.agentFrames())
	c.alive()
	c.quiet("after the turn")
	c.leaves()
	if p.reopen == "" {
		return
	}

	model.Then(fakemodel.Answer(fakemodel.Say("I remember.")))
	again := p.play(t, start{env: model.Env(), root: c.root})
	again.reopened(s.SessionID, live)
	again.call("session/prompt", promptParams(s.SessionID, "and now?"))
	if body := model.Requests()[len(model.Requests())-1]; !strings.Contains(body, "fix it") || !strings.Contains(body, "checked") {
		t.Errorf("the model lost the conversation:\n%s", body)
	}
	again.leaves()
}

// servers returns the editor's mcpServers member.
func (p profile) servers() string {
	if strings.Contains(p.session, `"additionalDirectories":null`) {
		return "null"
	}
	return "[]"
}

// settings are the modes and options in a session's answer.
type settings struct {
	Modes         struct{ CurrentModeID string }
	ConfigOptions []struct {
		ID, Category, Type string
		CurrentValue       json.RawMessage
	}
}

func (s settings) value(category string) string {
	for _, o := range s.ConfigOptions {
		if o.Category == category {
			return string(o.CurrentValue)
		}
	}
	return ""
}

// check checks that both forms name the same mode, and that there is a model.
func (s settings) check(t *testing.T) {
	t.Helper()
	if mode := s.value("mode"); mode != quote(s.Modes.CurrentModeID) || mode == `""` || s.value("model") == "" {
		t.Errorf("settings %+v", s)
	}
}

// can reports whether the editor has the capability.
func (c *profileConn) can(what string) bool { return strings.Contains(c.initialize, what+`":true`) }

// where returns the text of a file in this editor, from its buffer or the disk.
func (c *profileConn) where(path string) string {
	if c.can("writeTextFile") {
		return c.Buffer(path)
	}
	return c.content(filepath.Base(path))
}

// checkTurn compares the turn with the editor's capabilities.
func (c *profileConn) checkTurn(live *shownSession, file, before, after string) {
	c.t.Helper()
	for _, f := range live.faults {
		c.t.Error(f)
	}
	if got := c.where(file); got != after {
		c.t.Errorf("the file holds %q", got)
	}
	if c.can("writeTextFile") && c.content("main.go") != before {
		c.t.Error("the disk was written without the editor")
	}
	terminal := c.can("terminal") && !c.joins
	may := map[string]bool{
		"session/request_permission": true, "fs/read_text_file": c.can("readTextFile"), "fs/write_text_file": c.can("writeTextFile"),
		"terminal/create": terminal, "terminal/output": terminal, "terminal/wait_for_exit": terminal, "terminal/release": terminal,
	}
	methods := c.methods()
	for m, offered := range may {
		if called := slices.Contains(methods, m); called != offered {
			c.t.Errorf("%s: offered %t, called %t", m, offered, called)
		}
	}
	var ends []string
	for _, it := range live.items {
		if it.Kind == "tool_call" {
			var u struct{ Status string }
			_ = json.Unmarshal([]byte(it.Final), &u) // empty if it has not ended
			ends = append(ends, u.Status)
			if strings.Contains(it.Text, "check.sh") && !strings.Contains(it.Final, "checked") {
				c.t.Errorf("the command's output is not shown: %s", it.Final)
			}
		}
		if it.Kind == "notice" && !c.can(`notices`) {
			c.t.Errorf("unexpected notice: %s", it.Text)
		}
	}
	if !slices.Equal(ends, []string{"completed", "failed", "completed", "completed", "completed"}) {
		c.t.Errorf("the calls ended %q", ends)
	}
	last := live.items[len(live.items)-1]
	for _, it := range slices.Backward(live.items) {
		if it.Kind == "agent_message_chunk" {
			last = it
			break
		}
	}
	if last.Text != "All done." {
		c.t.Errorf("the last message is %+v", *last)
	}
}

// cancelled cancels a turn that waits for permission.
func (c *profileConn) cancelled(session string) {
	c.t.Helper()
	c.mute("session/request_permission") // the dialog stays open
	asked := len(c.Questions())
	id := c.ask("session/prompt", promptParams(session, "again"))
	n := 0
	q := c.await("question", func(f frame) bool {
		if f.Method == "session/request_permission" {
			n++
		}
		return n > asked
	})
	c.cancel(c.editor, session, id, q)
	c.agent.cancelled(id)
}

// leaves ends the agent in the editor's way.
func (c *profileConn) leaves() {
	c.t.Helper()
	if c.signal {
		_ = c.cmd.Process.Signal(syscall.SIGTERM) // it may have exited
		c.exits(143)
		return
	}
	c.in.Close()
	c.exits(0)
}

// reopened opens the session in a new process in the editor's way.
func (c *profileConn) reopened(session string, live *shownSession) {
	c.t.Helper()
	if c.list != "" {
		f := c.call("session/list", strings.ReplaceAll(c.list, "CWD", c.dir))
		var r struct {
			Sessions []struct{ SessionID, CWD, Title string }
		}
		if err := json.Unmarshal(f.Result,
			&r); err != nil || len(r.Sessions) != 1 || r.Sessions[0].SessionID != session || r.Sessions[0].CWD != c.dir || r.Sessions[0].Title == "" {
			c.t.Errorf("session/list: %s", f.line)
		}
	}
	c.seen = len(c.agentFrames())
	f := c.call(c.reopen, `{"sessionId":`+quote(session)+`,"cwd":`+quote(c.dir)+`,"mcpServers":`+c.servers()+c.session+`}`)
	var r settings
	if err := json.Unmarshal(f.Result, &r); err != nil {
		c.t.Fatal(err)
	}
	r.check(c.t)
	if c.reopen == "session/resume" {
		c.alive()
		c.quiet("after session/resume")
		return
	}
	frames := c.agentFrames()[c.seen:]
	end := slices.IndexFunc(frames, func(g frame) bool { return string(g.ID) == string(f.ID) })
	checkReplay(c.t, []string{"fix it", "again"}, live, shownIn(frames[:end], session, func(frame) bool { return false }))
}
