package chat

import (
	"encoding/json"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config/toml"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// state is the state of the session: the result of session/new, session/resume and session/set_config_option, and the
// update that announces commands.
type state struct {
	ID    string `json:"sessionId"`
	Modes struct {
		Current   string            `json:"currentModeId"`
		Available []acp.SessionMode `json:"availableModes"`
	} `json:"modes"`
	Options  []option      `json:"configOptions"`
	Commands []acp.Command `json:"availableCommands"`
}

// option is a setting of the session that the person can change.
type option struct {
	ID       string          `json:"id"`
	Category string          `json:"category"`
	Current  json.RawMessage `json:"currentValue"`
	Options  []struct {
		Value       string `json:"value"`
		Name        string `json:"name"`
		Description string `json:"description"`
	} `json:"options"`
}

// optionItems returns the values that an option can have.
func (s *state) optionItems(category string) (all []item) {
	for _, o := range s.Options {
		if o.Category != category {
			continue
		}
		for _, v := range o.Options {
			all = append(all, item{v.Value, headless.OneLine(v.Name), headless.OneLine(v.Description)})
		}
	}
	return all
}

// current returns the value of an option.
func (s *state) current(category string) (value string) {
	for _, o := range s.Options {
		if o.Category == category {
			_ = json.Unmarshal(o.Current, &value) // a value that is no text is not shown
		}
	}
	return value
}

// name returns the name of the value of an option.
func (s *state) name(category string) string {
	now := s.current(category)
	for _, i := range s.optionItems(category) {
		if i.value == now {
			return i.name
		}
	}
	return now
}

// modeItems returns the modes.
func (s *state) modeItems() (all []item) {
	for _, m := range s.Modes.Available {
		all = append(all, item{m.ID, headless.OneLine(m.Name), headless.OneLine(m.Description)})
	}
	return all
}

// commandForm matches what a person types for a command. A path such as /usr/bin is none.
var commandForm = lazyregexp.New(`^[A-Za-z][A-Za-z0-9_:.-]*$`)

// unknownCommand reports whether no command and no tool has a name, and returns the most similar command.
func (m *model) unknownCommand(name string) (near string, unknown bool) {
	if !commandForm.MatchString(name) || m.call == nil || len(m.session.Commands) == 0 {
		return "", false
	}
	var names []string
	for _, c := range m.commands() {
		if c.value == name {
			return "", false
		}
		names = append(names, c.value)
	}
	if m.chat.IsTool != nil && m.chat.IsTool(m.session.ID, name) {
		return "", false
	}
	return toml.Nearest(name, names), true
}

// sessionOf returns the id in the state of a new session.
func sessionOf(data []byte) string {
	var s state
	_ = json.Unmarshal(data, &s) // the caller does without an id
	return s.ID
}
