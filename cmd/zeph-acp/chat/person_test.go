package chat

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
)

// rounds returns how often a test with random numbers runs: a tenth of n with -short.
func rounds(n uint64) uint64 {
	if testing.Short() {
		return n / 10
	}
	return n
}

// person is a person at a screen, with a clock that only the test moves.
type person struct {
	t      testing.TB
	m      *model
	now    time.Time
	timers []timer
	left   bool
}

// timer is a message that arrives at a time.
type timer struct {
	at  time.Time
	msg tea.Msg
}

// sit opens a conversation whose session has some modes, models and commands.
func sit(t testing.TB, change func(c *Chat)) *person {
	t.Helper()
	c := &Chat{Dir: t.TempDir(), DirName: "~/site", Branch: "main", Version: "1.0", Hint: "/help lists commands and keys.", History: History{Mask: strings.Clone}}
	if change != nil {
		change(c)
	}
	c.init()
	p := &person{t: t, now: time.Unix(1_700_000_000, 0)}
	c.bridge.send = func(tea.Msg) {}
	c.now = func() time.Time { return p.now }
	c.later = func(d time.Duration, msg tea.Msg) tea.Cmd {
		p.timers = append(p.timers, timer{p.now.Add(d), msg})
		return nil
	}
	p.m = newModel(c)
	p.run(p.m.Init())
	p.update(tea.WindowSizeMsg{Width: 80, Height: 24})
	p.event(opened{state: json.RawMessage(`{"sessionId":"s1",
		"modes":{"currentModeId":"code","availableModes":[{"id":"ask","name":"Ask"},{"id":"code","name":"Code"}]},
		"configOptions":[{"id":"model","category":"model","type":"select","currentValue":"b","options":[{"value":"a","name":"A"},{"value":"b","name":"B"}]},
			{"id":"yes","type":"boolean","currentValue":true}]}`), call: func(string, any, any) error { return nil }})
	p.shown(map[string]any{"sessionUpdate": acp.UpdateCommands, "availableCommands": []acp.Command{
		{Name: "help", Description: "Show the commands"}, {Name: "mode", Description: "Pick a mode", Input: &acp.CommandInput{Hint: "[MODE]"}},
		{Name: "model", Description: "Pick a model", Input: &acp.CommandInput{Hint: "[MODEL]"}}, {Name: "status", Description: "Show the state"},
	}})
	p.event(listening{func(text string) (string, bool) { return "Added to the turn", false }})
	return p
}

// update sends the screen a message, draws the screen, and runs the commands that it returns.
func (p *person) update(msg tea.Msg) {
	_, cmd := p.m.Update(msg)
	p.m.View()
	p.run(cmd)
}

// run carries out a command.
func (p *person) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			p.run(c)
		}
	case tea.QuitMsg:
		p.left = true
	default:
		p.update(msg)
	}
}

// wait lets time pass.
func (p *person) wait(d time.Duration) {
	end := p.now.Add(d)
	for {
		i := slices.IndexFunc(p.timers, func(t timer) bool { return !t.at.After(end) })
		if i < 0 {
			break
		}
		for j := range p.timers {
			if p.timers[j].at.Before(p.timers[i].at) {
				i = j
			}
		}
		next := p.timers[i]
		p.timers = slices.Delete(p.timers, i, i+1)
		p.now = next.at
		p.update(next.msg)
	}
	p.now = end
}

// event lets something happen in the conversation.
func (p *person) event(e any) {
	p.m.chat.bridge.add(e)
	p.update(eventsPending{})
	p.wait(frameTime)
}

// shown lets the agent send an update.
func (p *person) shown(update any) {
	p.event(updated{updateOf(update)})
}

// updateOf returns the params of a session/update.
func updateOf(update any) json.RawMessage {
	params, err := plainjson.Marshal(map[string]any{"sessionId": "s1", "update": update})
	if err != nil {
		panic(err)
	}
	return params
}

// keys has the keys that type none of their own name.
var keys = map[string]tea.Key{
	"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown}, "left": {Code: tea.KeyLeft},
	"right": {Code: tea.KeyRight}, "tab": {Code: tea.KeyTab}, "backspace": {Code: tea.KeyBackspace}, "pgup": {Code: tea.KeyPgUp},
	"pgdown": {Code: tea.KeyPgDown}, "home": {Code: tea.KeyHome}, "delete": {Code: tea.KeyDelete}, "space": {Code: ' ', Text: " "},
	"shift+tab": {Code: tea.KeyTab, Mod: tea.ModShift}, "alt+enter": {Code: tea.KeyEnter, Mod: tea.ModAlt}, "alt+x": {Code: 'x', Mod: tea.ModAlt},
	"ctrl+c": control('c'), "ctrl+d": control('d'), "ctrl+j": control('j'), "ctrl+o": control('o'), "ctrl+r": control('r'), "ctrl+u": control('u'),
	"ctrl+w": control('w'), "ctrl+y": control('y'), "ctrl+_": control('_'), "ctrl+end": control(tea.KeyEnd),
}

func control(code rune) tea.Key { return tea.Key{Code: code, Mod: tea.ModCtrl} }

// press presses keys by their names.
func (p *person) press(names ...string) {
	for _, name := range names {
		k, ok := keys[name]
		if !ok {
			k = tea.Key{Code: []rune(name)[0], Text: name}
		}
		p.update(tea.KeyPressMsg(k))
	}
}

// write types a text.
func (p *person) write(text string) {
	for _, r := range text {
		p.press(string(r))
	}
}

// ask lets the agent ask for permission.
func (p *person) ask(title string) *question {
	q := &question{answer: make(chan headless.Choice, 1), request: acp.RequestPermissionRequest{
		SessionID: "s1", ToolCall: acp.ToolCall{ToolCallID: title, Title: title, Kind: "execute"},
		Options: []acp.PermissionOption{
			{OptionID: "once", Name: "Allow once", Kind: "allow_once"}, {OptionID: "always", Name: "Always allow", Kind: "allow_always"},
			{OptionID: "no", Name: "Reject", Kind: "reject_once"}, {OptionID: "never", Name: "Always reject", Kind: "reject_always"},
		},
	}}
	p.event(asked{q})
	return q
}

// answer returns the answer to a question; "" if there is none.
func (q *question) given() string {
	select {
	case c := <-q.answer:
		return c.OptionID + strings.TrimSuffix(" "+c.Reason, " ")
	default:
		return ""
	}
}

// sent returns the prompt that was sent; "" if there is none.
func (p *person) sent() string {
	select {
	case blocks := <-p.m.chat.prompts:
		return *blocks[0].Text
	default:
		return ""
	}
}

// screen returns the rows of the screen, without styles.
func (p *person) screen() string {
	var rows []string
	for row := range strings.SplitSeq(p.m.View().Content, "\n") {
		rows = append(rows, strings.TrimRight(headless.Clean(row), " "))
	}
	return strings.Join(rows, "\n")
}
