package session

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// Ids of the config options.
const (
	optionMode    = acp.CategoryMode
	optionModel   = acp.CategoryModel
	optionThought = acp.CategoryThought
	optionSystem  = "system_prompt" // not shown: the client's system prompt
)

// defaultThought is the value of the option that selects the model's default
// level.
const defaultThought = "default"

// Mode returns the id of the current mode.
func (s *Session) Mode() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings.mode
}

func (s *Session) model() llm.Model {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings.model
}

func (s *Session) thought() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings.thought
}

// State returns the settings in the form that clients show.
func (s *Session) State() acp.SessionState {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sentOptions = s.options()
	return acp.SessionState{
		Modes:         acp.SessionModeState{CurrentModeID: s.settings.mode, AvailableModes: s.sessions.Modes},
		ConfigOptions: s.sentOptions,
	}
}

// option returns the current state of a config option.
func (s *Session) option(id string) (acp.ConfigOption, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	options := s.options()
	i := slices.IndexFunc(options, func(o acp.ConfigOption) bool { return o.ID == id })
	if i < 0 {
		return acp.ConfigOption{}, false
	}
	return options[i], true
}

// OptionsChanged sends the current config options to the clients of open
// sessions, if they differ from the last ones sent.
func (s *Sessions) OptionsChanged() {
	for _, sess := range s.openSessions() {
		sess.showOptions(context.Background())
	}
}

// showOptions sends the config options if they differ from the last ones sent.
// Before a session is announced it sends nothing, since announcing sends them.
func (s *Session) showOptions(ctx context.Context) {
	s.sending.Lock()
	defer s.sending.Unlock()
	s.mu.Lock()
	now := s.options()
	same := !s.announced || reflect.DeepEqual(s.sentOptions, now)
	if !same {
		s.sentOptions = now
	}
	s.mu.Unlock()
	if !same {
		s.send(ctx, acp.OptionsUpdate{Update: acp.UpdateOptions, ConfigOptions: now})
	}
}

// notifySelected calls Selected with a model that a session begins to use.
func (s *Sessions) notifySelected(m llm.Model) {
	if s.Selected != nil {
		s.Selected(m)
	}
}

// options returns the config options; the caller holds s.mu.
func (s *Session) options() []acp.ConfigOption {
	mode := acp.ConfigOption{
		ID: optionMode, Name: "Mode", Description: "What the agent may do without asking", Category: acp.CategoryMode,
		Value: acp.OptionValue{Text: s.settings.mode},
	}
	for _, m := range s.sessions.Modes {
		mode.Options = append(mode.Options, acp.ConfigChoice{Value: m.ID, Name: m.Name, Description: m.Description})
	}
	model := acp.ConfigOption{
		ID: optionModel, Name: "Model", Description: "The language model that answers", Category: acp.CategoryModel,
		Value: acp.OptionValue{Text: s.settings.modelName},
	}
	for _, c := range s.sessions.Models() {
		model.Options = append(model.Options, acp.ConfigChoice{Value: c.Name, Name: c.Title, Description: c.Description})
	}
	if !slices.ContainsFunc(model.Options, func(c acp.ConfigChoice) bool { return c.Value == s.settings.modelName }) {
		model.Options = append(model.Options, acp.ConfigChoice{Value: s.settings.modelName, Name: s.settings.modelName})
	}
	levels := llm.Levels(s.settings.model)
	if len(levels) == 0 {
		return []acp.ConfigOption{mode, model}
	}
	thought := acp.ConfigOption{
		ID: optionThought, Name: "Thinking", Description: "How much the model thinks before it answers", Category: acp.CategoryThought,
		Value:   acp.OptionValue{Text: cmp.Or(s.settings.thought, defaultThought)},
		Options: []acp.ConfigChoice{{Value: defaultThought, Name: "Default"}},
	}
	for _, level := range levels {
		name := strings.ToUpper(level[:1]) + level[1:]
		if level == "xhigh" {
			name = "Extra high"
		}
		thought.Options = append(thought.Options, acp.ConfigChoice{Value: level, Name: name})
	}
	return []acp.ConfigOption{mode, model, thought}
}

// hasMode reports whether a mode has that id.
func (s *Session) hasMode(id string) bool {
	return slices.ContainsFunc(s.sessions.Modes, func(m acp.SessionMode) bool { return m.ID == id })
}

// setThought sets the thought level if the model supports it.
func (s *settings) setThought(level string) {
	if slices.Contains(llm.Levels(s.model), level) {
		s.thought = level
	}
}

// SetMode changes the mode. It applies to every call that is checked afterwards.
func (s *Session) SetMode(id string) error {
	if !s.hasMode(id) {
		return acp.ParamsErrorf("modeId", "unknown mode %q", id)
	}
	s.changeSetting(optionMode, id, func() { s.settings.mode = id })
	return nil
}

// switchMode changes the mode during a turn, and shows the client the change.
func (s *Session) switchMode(ctx context.Context, id string) error {
	if err := s.SetMode(id); err != nil {
		return err
	}
	s.Sync(ctx)
	return nil
}

// SetOption changes an option. It applies from the model's next call.
func (s *Session) SetOption(id string, value acp.OptionValue) error {
	option, known := s.option(id)
	if !known {
		return acp.ParamsErrorf("configId", "unknown option %q", id)
	}
	if value.Bool {
		return acp.ParamsErrorf("value", "%s takes the id of a value, not a boolean", id)
	}
	offered := slices.ContainsFunc(option.Options, func(c acp.ConfigChoice) bool { return c.Value == value.Text })
	if !offered && !(id == optionModel && s.sessions.Offers(value.Text)) {
		return acp.ParamsErrorf("value", "%s has no value %q", id, value.Text)
	}
	switch id {
	case optionModel:
		return s.setModel(value.Text)
	case optionThought:
		level := value.Text
		if level == defaultThought {
			level = ""
		}
		s.changeSetting(id, level, func() { s.settings.thought = level })
	default:
		return s.SetMode(value.Text)
	}
	return nil
}

// setModel changes the model. The model need not be in the list: it may be a
// new one of a configured provider.
func (s *Session) setModel(name string) error {
	m, err := s.sessions.Model(name)
	if errors.Is(err, acp.ErrAuthRequired) {
		return err
	}
	if err != nil {
		return &acp.ParamsError{Field: "value", Reason: err.Error()}
	}
	s.sessions.notifySelected(m)
	s.changeSetting(optionModel, m.Name(), func() {
		level := s.settings.thought
		s.settings.modelName, s.settings.model, s.settings.thought = m.Name(), m, ""
		s.settings.setThought(level)
	})
	return nil
}

// changeSetting makes a change and records it. From the first change on the session is
// stored, since another process may continue it.
func (s *Session) changeSetting(id, value string, set func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recordInitial()
	set()
	s.journal.record(transcript.Setting{ID: id, Value: value})
}

// Sync stores the changes and sends the current settings to the client, in both
// forms.
func (s *Session) Sync(ctx context.Context) {
	s.journal.sync()
	s.sendSettings(ctx)
}

func (s *Session) sendSettings(ctx context.Context) {
	s.sending.Lock()
	defer s.sending.Unlock()
	state := s.State()
	s.send(ctx, acp.ModeUpdate{Update: acp.UpdateMode, CurrentModeID: state.Modes.CurrentModeID})
	s.send(ctx, acp.OptionsUpdate{Update: acp.UpdateOptions, ConfigOptions: state.ConfigOptions})
}

// send sends an update, also outside of a turn. It ignores errors: the reader also
// notices a broken connection.
func (s *Session) send(ctx context.Context, u acp.SessionUpdate) {
	s.journal.syncDue()
	if err := s.currentClient().Update(ctx, s.id, u); err != nil {
		s.sessions.Log.Debug("update", "session", s.id, "err", err)
	}
}

func (s *Session) currentClient() *acp.Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client
}
