package session

import (
	"context"
	"errors"
	"fmt"
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
)

// defaultThought is the value of the option that leaves the thinking to the
// model's default.
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
	return s.settings.llm
}

func (s *Session) thought() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings.thought
}

// State is what the client is to show of the settings.
func (s *Session) State() acp.SessionState {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown = s.options()
	return acp.SessionState{
		Modes:         acp.SessionModeState{CurrentModeID: s.settings.mode, AvailableModes: s.all.Modes},
		ConfigOptions: s.shown,
	}
}

// option returns a config option as it is now.
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

// OptionsChanged sends the clients of the open sessions the options that they can
// pick from now, where these differ from what the clients have.
func (s *Sessions) OptionsChanged() {
	for _, sess := range s.opened() {
		sess.showOptions(context.Background())
	}
}

// showOptions sends the config options if they are not as the client has them. One
// that was told nothing of the session yet is told when it is.
func (s *Session) showOptions(ctx context.Context) {
	s.sending.Lock()
	defer s.sending.Unlock()
	s.mu.Lock()
	now := s.options()
	same := !s.opened || reflect.DeepEqual(s.shown, now)
	if !same {
		s.shown = now
	}
	s.mu.Unlock()
	if !same {
		s.send(ctx, acp.OptionsUpdate{Update: acp.UpdateOptions, ConfigOptions: now})
	}
}

// took reports a model that a session begins to use.
func (s *Sessions) took(m llm.Model) {
	if s.Taken != nil {
		s.Taken(m)
	}
}

// options lists the config options; s.mu is held.
func (s *Session) options() []acp.ConfigOption {
	mode := acp.ConfigOption{
		ID: optionMode, Name: "Mode", Description: "What the agent may do without asking", Category: acp.CategoryMode,
		Value: acp.OptionValue{Text: s.settings.mode},
	}
	for _, m := range s.all.Modes {
		mode.Options = append(mode.Options, acp.ConfigChoice{Value: m.ID, Name: m.Name, Description: m.Description})
	}
	model := acp.ConfigOption{
		ID: optionModel, Name: "Model", Description: "The language model that answers", Category: acp.CategoryModel,
		Value: acp.OptionValue{Text: s.settings.model},
	}
	for _, c := range s.all.Models() {
		model.Options = append(model.Options, acp.ConfigChoice{Value: c.Name, Name: c.Title, Description: c.Description})
	}
	if !slices.ContainsFunc(model.Options, func(c acp.ConfigChoice) bool { return c.Value == s.settings.model }) {
		model.Options = append(model.Options, acp.ConfigChoice{Value: s.settings.model, Name: s.settings.model})
	}
	options := []acp.ConfigOption{mode, model}
	if levels := llm.Levels(s.settings.llm); len(levels) > 0 {
		thought := acp.ConfigOption{
			ID: optionThought, Name: "Thinking", Description: "How much the model thinks before it answers", Category: acp.CategoryThought,
			Value:   acp.OptionValue{Text: defaultThought},
			Options: []acp.ConfigChoice{{Value: defaultThought, Name: "Default"}},
		}
		if s.settings.thought != "" {
			thought.Value.Text = s.settings.thought
		}
		for _, level := range levels {
			name := strings.ToUpper(level[:1]) + level[1:]
			if level == "xhigh" {
				name = "Extra high"
			}
			thought.Options = append(thought.Options, acp.ConfigChoice{Value: level, Name: name})
		}
		options = append(options, thought)
	}
	return options
}

// hasMode reports whether there is a mode with that id.
func (s *Session) hasMode(id string) bool {
	return slices.ContainsFunc(s.all.Modes, func(m acp.SessionMode) bool { return m.ID == id })
}

// setThought sets a level that the model has, and ignores any other.
func (s *settings) setThought(level string) {
	if slices.Contains(llm.Levels(s.llm), level) {
		s.thought = level
	}
}

// SetMode changes the mode; calls that are judged from now on see it.
func (s *Session) SetMode(id string) error {
	if !s.hasMode(id) {
		return &acp.ParamsError{Field: "modeId", Reason: fmt.Sprintf("unknown mode %q", id)}
	}
	s.change(optionMode, id, func() { s.settings.mode = id })
	return nil
}

// SetOption changes an option; the next call of the model sees it.
func (s *Session) SetOption(id string, value acp.OptionValue) error {
	option, known := s.option(id)
	if !known {
		return &acp.ParamsError{Field: "configId", Reason: fmt.Sprintf("unknown option %q", id)}
	}
	if value.Bool {
		return &acp.ParamsError{Field: "value", Reason: fmt.Sprintf("%s takes the id of a value, not a boolean", id)}
	}
	offered := slices.ContainsFunc(option.Options, func(c acp.ConfigChoice) bool { return c.Value == value.Text })
	if !offered && !(id == optionModel && s.all.offers(value.Text)) {
		return &acp.ParamsError{Field: "value", Reason: fmt.Sprintf("%s has no value %q", id, value.Text)}
	}
	switch id {
	case optionModel:
		return s.setModel(value.Text)
	case optionThought:
		level := value.Text
		if level == defaultThought {
			level = ""
		}
		s.change(id, level, func() { s.settings.thought = level })
	default:
		return s.SetMode(value.Text)
	}
	return nil
}

// setModel changes the model, also to one that is not in the list, such as a
// new one of a configured provider.
func (s *Session) setModel(name string) error {
	m, err := s.all.Model(name)
	if errors.Is(err, acp.ErrAuthRequired) {
		return err
	}
	if err != nil {
		return &acp.ParamsError{Field: "value", Reason: err.Error()}
	}
	s.all.took(m)
	s.change(optionModel, m.Name(), func() {
		level := s.settings.thought
		s.settings.model, s.settings.llm, s.settings.thought = m.Name(), m, ""
		s.settings.setThought(level)
	})
	return nil
}

// change makes a change and notes it. A session that had no prompt yet is stored from
// then on: another process may go on with it.
func (s *Session) change(id, value string, set func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.journal.hasBegun() {
		s.journal.note(s.initial()...)
	}
	set()
	s.journal.note(transcript.Setting{ID: id, Value: value})
}

// Sync stores what was changed and tells the client how the settings are now, in
// both forms.
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

// send sends an update that is no part of a turn. That the client cannot take
// it is seen by the reader too.
func (s *Session) send(ctx context.Context, u acp.SessionUpdate) {
	s.mu.Lock()
	client := s.client
	s.mu.Unlock()
	if err := client.Update(ctx, s.id, u); err != nil {
		s.all.Log.Debug("update", "session", s.id, "err", err)
	}
}
