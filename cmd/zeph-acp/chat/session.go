package chat

import (
	"encoding/json"
	"sync"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
)

// session is the state of the session that the line completes from. Its methods are called
// concurrently.
type session struct {
	mu    sync.Mutex
	state state
}

// state is the result of session/new, session/resume and session/set_config_option, and the
// update that announces commands.
type state struct {
	ID    string `json:"sessionId"`
	Modes struct {
		Available []acp.SessionMode `json:"availableModes"`
	} `json:"modes"`
	Options  []option      `json:"configOptions"`
	Commands []acp.Command `json:"availableCommands"`
}

type option struct {
	ID       string          `json:"id"`
	Category string          `json:"category"`
	Current  json.RawMessage `json:"currentValue"`
	Options  []choice        `json:"options"`
}

// choice is a value of an option.
type choice struct {
	Value string `json:"value"`
	Name  string `json:"name"`

	Option  string `json:"-"`
	Current bool   `json:"-"`
}

// update copies the members that a message has.
func (s *session) update(message json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = json.Unmarshal(message, &s.state) // members that cannot be read are not completed
}

func (s *session) id() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.ID
}

// models returns the models that the session can have.
func (s *session) models() []choice {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []choice
	for _, o := range s.state.Options {
		if o.Category != acp.CategoryModel {
			continue
		}
		var current string
		_ = json.Unmarshal(o.Current, &current)
		for _, v := range o.Options {
			v.Option, v.Current = o.ID, v.Value == current
			all = append(all, v)
		}
	}
	return all
}

// modes returns the ids of the modes.
func (s *session) modes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, m := range s.state.Modes.Available {
		all = append(all, m.ID)
	}
	return all
}

// commands returns the names of the commands.
func (s *session) commands() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, c := range s.state.Commands {
		all = append(all, c.Name)
	}
	return all
}

// onOpened stores the state of the session.
func (c *Chat) onOpened(state json.RawMessage, call headless.Call) {
	c.call = call
	c.session.update(state)
	if c.Turn.Resume != "" {
		c.session.update(json.RawMessage(`{"sessionId":` + quoted(c.Turn.Resume) + `}`))
	}
}

func quoted(text string) string {
	b, _ := json.Marshal(text) // a string has a form
	return string(b)
}

// view shows the conversation, and follows the state of the session.
type view struct {
	*headless.Screen
	chat *Chat
}

// Update follows an update and shows it.
func (v view) Update(params json.RawMessage) {
	var p struct {
		Update json.RawMessage `json:"update"`
	}
	var kind struct {
		Update string `json:"sessionUpdate"`
	}
	if json.Unmarshal(params, &p) == nil && json.Unmarshal(p.Update, &kind) == nil {
		switch kind.Update {
		case acp.UpdateCommands, acp.UpdateOptions:
			v.chat.session.update(p.Update)
		}
	}
	v.Screen.Update(params)
}

// End shows the facts about the conversation.
func (v view) End(acp.StopReason, error) {
	v.Screen.Idle("", "")
	c := v.chat
	c.mu.Lock()
	stored := c.stored || c.Turn.Resume != ""
	c.mu.Unlock()
	if c.Facts != nil && stored && c.session.id() != "" {
		c.screen.Say(c.Facts(c.session.id()))
	}
}
