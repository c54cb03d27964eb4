package integration

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// option is a config option on the wire.
type option struct {
	ID, Category, Type, CurrentValue string
	Options                          []struct{ Value, Name string }
}

// values lists the values that an option offers.
func (o option) values() []string {
	var out []string
	for _, c := range o.Options {
		out = append(out, c.Value)
	}
	return out
}

// optionsOf returns the options in a response or an update, by id. It checks that
// each value is offered.
func optionsOf(t *testing.T, raw json.RawMessage) map[string]option {
	t.Helper()
	var r struct{ ConfigOptions []option }
	if err := json.Unmarshal(raw, &r); err != nil || len(r.ConfigOptions) == 0 {
		t.Fatalf("no options: %s", raw)
	}
	all := map[string]option{}
	for _, o := range r.ConfigOptions {
		if o.Type != "select" || !slices.Contains(o.values(), o.CurrentValue) {
			t.Errorf("option %s of type %s is %q, but offers %q", o.ID, o.Type, o.CurrentValue, o.values())
		}
		all[o.ID] = o
	}
	return all
}

// set sets an option and returns the resulting options.
func (a *agent) set(t *testing.T, session, id, value string) map[string]option {
	t.Helper()
	n := fmt.Sprintf(`"set-%d"`, len(a.agentFrames()))
	a.request(n, "session/set_config_option", fmt.Sprintf(`{"sessionId":%q,"configId":%q,"value":%q}`, session, id, value))
	f := a.answer(n)
	if f.Error != nil {
		t.Fatalf("set %s to %s: %s", id, value, f.line)
	}
	all := optionsOf(t, f.Result)
	if got := all[id].CurrentValue; got != value {
		t.Errorf("%s was set to %q, but is %q", id, value, got)
	}
	return all
}

// TestThoughtLevel requests each thought level of Claude. The
// levels depend on the model; a model without levels has no such option. A level
// that is set during a turn applies from the next request.
//
// Statements 122, 123, 124.
func TestThoughtLevel(t *testing.T) {
	p := fakemodel.NewAnthropic(t)
	a := connect(t, start{env: p.Env(), config: `
[[llm.providers]]
name = "new"
type = "claude"
model = "claude-sonnet-5-5"

[[llm.providers]]
name = "old"
type = "claude"
model = "claude-haiku-4-5"

[[llm.providers]]
type = "direct"
`})
	a.request("1", "session/new", fmt.Sprintf(`{"cwd":%q,"mcpServers":[]}`, a.dir))
	f := a.answer("1")
	var opened struct{ SessionID string }
	if err := json.Unmarshal(f.Result, &opened); err != nil {
		t.Fatal(err)
	}
	s := opened.SessionID
	level := optionsOf(t, f.Result)["thought_level"]
	if want := []string{"default", "off", "low", "medium", "high", "xhigh",
		"max"}; level.Category != "thought_level" || level.CurrentValue != "default" || !slices.Equal(level.values(), want) {
		t.Errorf("the thought level is %+v", level)
	}

	asked := 0
	ask := func(want string) {
		t.Helper()
		p.Then(fakemodel.Answer(fakemodel.Say("Here.")))
		a.runTurn(s, "hi")
		if got := p.Thinking(asked); got != want {
			t.Errorf("the model got %s, want %s", got, want)
		}
		asked++
	}
	const adaptive = `{"display":"summarized","type":"adaptive"}`
	ask(adaptive)
	for _, level := range []string{"low", "medium", "high", "xhigh", "max"} {
		a.set(t, s, "thought_level", level)
		ask(adaptive + `{"effort":"` + level + `"}`)
	}
	a.set(t, s, "thought_level", "off")
	ask(`{"type":"between_tools"}`)
	a.set(t, s, "thought_level", "default")
	ask(adaptive)

	a.request("2", "session/set_config_option", fmt.Sprintf(`{"sessionId":%q,"configId":"thought_level","value":"ultra"}`, s))
	if f := a.answer("2"); f.Error == nil || f.Error.Code != -32602 || !strings.Contains(f.Error.Message, "ultra") {
		t.Errorf("an invalid level: %s", f.line)
	}
	ask(adaptive)

	// During a turn.
	p.Then(fakemodel.Answer(fakemodel.Call("c1", "bash", map[string]any{"command": "touch made"})), fakemodel.Answer(fakemodel.Say("Done.")))
	a.request("3", "session/prompt", promptParams(s, "make it"))
	q := a.permissionRequest()
	a.set(t, s, "thought_level", "high")
	a.choose(q, "allow_once")
	a.ends("3")
	if before, after := p.Thinking(asked), p.Thinking(asked+1); before != adaptive || after != adaptive+`{"effort":"high"}` {
		t.Errorf("the model got %s, and then %s", before, after)
	}
	asked += 2

	// Another model has other levels; a shared one is kept.
	all := a.set(t, s, "model", "old:claude-haiku-4-5")
	if got := all["thought_level"]; got.CurrentValue != "high" || !slices.Equal(got.values(), []string{"default", "off", "low", "medium", "high"}) {
		t.Errorf("with the old model the level is %+v", got)
	}
	ask(`{"budget_tokens":24000,"type":"enabled"}`)
	if level, ok := a.set(t, s, "model", "direct")["thought_level"]; ok {
		t.Errorf("levels without a model: %+v", level)
	}
}

// TestOptionsAtOnce sends ten changes and a prompt in one write as soon
// as the session is named, as editors do that keep the user's choices. Each is
// answered with its own value, the turn runs, and the last change of each kind
// holds, also in the last updates.
//
// Statement 127.
func TestOptionsAtOnce(t *testing.T) {
	p := fakemodel.NewAnthropic(t, fakemodel.Answer(fakemodel.Say("Here.")))
	a := connect(t, start{env: p.Env()})
	s := a.open()
	var lines strings.Builder
	modes := []string{"ask", "auto", "architect", "code", "auto", "ask", "code"}
	levels := []string{"low", "max", "medium"}
	for i, m := range modes {
		fmt.Fprintf(&lines, `{"jsonrpc":"2.0","id":"m%d","method":"session/set_config_option","params":{"sessionId":%q,"configId":"mode","value":%q}}`+"\n", i, s, m)
	}
	fmt.Fprintf(&lines, `{"jsonrpc":"2.0","id":"p","method":"session/prompt","params":%s}`+"\n", promptParams(s, "hi"))
	for i, l := range levels {
		fmt.Fprintf(&lines, `{"jsonrpc":"2.0","id":"l%d","method":"session/set_config_option","params":{"sessionId":%q,"configId":"thought_level","value":%q}}`+
			"\n", i, s, l)
	}
	a.send(lines.String())
	for i, m := range modes {
		if got := optionsOf(t, a.answer(fmt.Sprintf(`"m%d"`, i)).Result)["mode"].CurrentValue; got != m {
			t.Errorf("change %d to %s: the mode is %s", i, m, got)
		}
	}
	for i, l := range levels {
		if got := optionsOf(t, a.answer(fmt.Sprintf(`"l%d"`, i)).Result)["thought_level"].CurrentValue; got != l {
			t.Errorf("change %d to %s: the level is %s", i, l, got)
		}
	}
	a.ends(`"p"`)
	if got := p.Thinking(0); !strings.Contains(got, `"effort":"medium"`) {
		t.Errorf("the model got %s", got)
	}
	a.alive()

	// The client's state after all updates is the agent's.
	seen := 0
	a.await("an update for each change", func(f frame) bool {
		if u, _ := f.update(); u.Kind == "config_option_update" {
			seen++
		}
		return seen == len(modes)+len(levels)
	})
	var mode string
	var believed map[string]option
	for _, f := range a.agentFrames() {
		var params struct {
			Update struct {
				CurrentModeID string
			}
		}
		switch u, _ := f.update(); u.Kind {
		case "current_mode_update":
			if err := json.Unmarshal(f.Params, &params); err != nil {
				t.Fatal(err)
			}
			mode = params.Update.CurrentModeID
		case "config_option_update":
			var p struct{ Update json.RawMessage }
			if err := json.Unmarshal(f.Params, &p); err != nil {
				t.Fatal(err)
			}
			believed = optionsOf(t, p.Update)
		}
	}
	if mode != "code" {
		t.Errorf("the last mode update says %s", mode)
	}
	if diff := cmp.Diff(a.set(t, s, "mode", "code"), believed); diff != "" {
		t.Errorf("the client's state differs from the agent's (-agent +client)\n%s", diff)
	}
}

// TestModes writes a file in each mode.
//
// Statement 125.
func TestModes(t *testing.T) {
	write := func(n int) []fakemodel.Reply {
		return []fakemodel.Reply{
			fakemodel.Answer(fakemodel.Call(fmt.Sprintf("c%d", n), "write", map[string]any{"path": fmt.Sprintf("f%d", n), "content": "x\n"})),
			fakemodel.Answer(fakemodel.Say("Done.")),
		}
	}
	for mode, want := range map[sdk.SessionModeId]struct {
		written bool
		asked   int
	}{
		"ask":       {false, 0},
		"architect": {false, 0},
		"code":      {true, 1},
		"auto":      {true, 0},
	} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			p := fakemodel.NewAnthropic(t, write(1)...)
			e := (&ide{}).begin(t, start{env: p.Env()})
			s := e.session()
			if _, err := e.conn.SetSessionMode(t.Context(), sdk.SetSessionModeRequest{SessionId: s, ModeId: mode}); err != nil {
				t.Fatal(err)
			}
			e.prompt(s, "write")
			matches, _ := filepath.Glob(filepath.Join(e.dir, "f1"))
			if (len(matches) == 1) != want.written || len(e.Questions()) != want.asked {
				t.Errorf("written %q, asked %d times", matches, len(e.Questions()))
			}
		})
	}
	e := (&ide{}).begin(t, start{})
	_, err := e.conn.SetSessionMode(t.Context(), sdk.SetSessionModeRequest{SessionId: e.session(), ModeId: "yolo"})
	if f := codeOf(err); f.Code != -32602 || !strings.Contains(f.Message, "yolo") {
		t.Errorf("unknown mode: %v", err)
	}
}
