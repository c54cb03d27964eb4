package session

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/session/agent"
	"github.com/zeph-acp/zeph-acp/session/goal"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/local"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// command is a command that the user types as "/name rest".
type command struct {
	name, description string
	hint              string // describes the text after the name; empty if the command takes none
	// run carries out the command without a model. It runs in a turn, and its
	// reply is a message to the user.
	run func(s *Session, ctx context.Context, rest string) (reply string, err error)
	// prompt returns the prompt that the command stands for; "" means that rest is missing.
	// Exactly one of run, prompt and turns is set.
	prompt func(rest string) string
	// turns carries out the command by turns of the model.
	turns func(s *Session, ctx context.Context, in agent.Input, rest string) (acp.StopReason, error)
}

var (
	//go:embed review.md
	reviewPrompt string
	//go:embed init.md
	initPrompt string
)

// nothingChanged begins the reply to a typed command that is refused, here and in the tools.
const nothingChanged = "Nothing was changed"

// Refuses reports whether the reply to a typed command says that the command was refused. A
// preview is none.
func Refuses(reply string) bool {
	rest, ok := strings.CutPrefix(reply, nothingChanged)
	return ok && (strings.HasPrefix(rest, ":") || strings.HasPrefix(rest, "."))
}

// menu has the built-in commands in the order in which clients show them. Others follow.
var menu = strings.Fields("help clear steer goal compact rewind model mode tools mcp trust permissions why jobs hooks skills skill agents policy " +
	"status sessions fork review init")

// builtins returns the built-in commands in the order of the menu.
func (s *Session) builtins() []command {
	all := []command{
		{name: "help", description: "Show the commands", run: (*Session).help},
		{name: "clear", description: "Forget the conversation so far", run: (*Session).clear},
		{name: steerCommand, description: "Add a message to the running turn", hint: "TEXT", prompt: func(rest string) string { return rest }},
		{name: goalCommand, description: "Work until a goal is met, or show and control it", hint: goal.Hint, turns: (*Session).answerGoal},
		{name: "compact", description: "Replace the conversation so far with a summary", hint: "[what to keep]", run: (*Session).compact},
		{name: "rewind", description: "Show the turns, or go back to before one", hint: "[N files|conversation|both, or redo]", run: (*Session).rewind},
		{name: "model", description: "Show the models, or pick one", hint: "[PROVIDER:MODEL]", run: (*Session).pickModel},
		{name: "mode", description: "Show the modes, or pick one", hint: "[MODE]", run: (*Session).pickMode},
		{name: "tools", description: "Show the tools that the model has", run: (*Session).listTools},
		{name: "status", description: "Show the session's state", run: (*Session).status},
		{name: "sessions", description: "Show the sessions of this directory", run: (*Session).listSessions},
		{name: "fork", description: "Copy the conversation so far to a new session", run: (*Session).fork},
		{name: "review", description: "Review the changes in the working tree", hint: "[what to look at]", prompt: promptText(reviewPrompt)},
		{name: "init", description: "Write AGENTS.md, a guide to this project for agents", hint: "[what matters most]", prompt: promptText(initPrompt)},
	}
	if tools := s.toolState(); tools != nil {
		for _, c := range tools.Builtins() {
			all = append(all, command{name: c.Name, description: c.Description, hint: c.Hint, run: func(_ *Session, ctx context.Context, rest string) (string, error) {
				return c.Run(ctx, rest), nil
			}})
		}
	}
	slices.SortStableFunc(all, func(a, b command) int { return cmp.Compare(place(a.name), place(b.name)) })
	return all
}

// place returns the place of a command in the menu.
func place(name string) int {
	if i := slices.Index(menu, name); i >= 0 {
		return i
	}
	return len(menu)
}

// promptText returns the function prompt of a command with a built-in text, to which it
// appends the user's words.
func promptText(text string) func(rest string) string {
	return func(rest string) string {
		if rest == "" {
			return strings.TrimSpace(text)
		}
		return strings.TrimSpace(text) + "\n\nThe user adds: " + rest
	}
}

// commandOf returns the command if a prompt consists of one.
func (s *Session) commandOf(prompt []acp.ContentBlock) (c command, rest string, ok bool) {
	name, rest := local.SplitCommand(strings.TrimSpace(transcript.TypedText(prompt)))
	if name == "" {
		return command{}, "", false
	}
	all := s.builtins()
	i := slices.IndexFunc(all, func(c command) bool { return c.name == name })
	if i < 0 {
		return command{}, "", false
	}
	return all[i], strings.TrimSpace(rest), true
}

// maxSummary limits the description of a tool's command, in characters.
const maxSummary = 100

// commands returns the commands for the client: the built-in ones, the commands of
// tools that users would type, then the MCP servers' and the files' commands. Any other
// tool also works as a command, but is not listed.
func (s *Session) commands() []acp.Command {
	var out []acp.Command
	add := func(name, description, hint string) {
		c := acp.Command{Name: name, Description: description}
		if hint != "" {
			c.Input = &acp.CommandInput{Hint: hint}
		}
		out = append(out, c)
	}
	for _, c := range s.builtins() {
		add(c.name, c.description, c.hint)
	}
	for _, t := range s.runner().Typed() {
		if !t.Foreign {
			add(t.Name, "Tool: "+summary(t.Description), local.Hint(t))
		}
	}
	for _, c := range s.serverCommands() {
		if !slices.ContainsFunc(out, func(other acp.Command) bool { return other.Name == c.Name }) {
			add(c.Name, summary(c.Description), c.Hint)
		}
	}
	return out
}

// summary returns the first sentence of a tool's description.
func summary(description string) string {
	text := line.Join(description)
	if i := strings.Index(text, ". "); i >= 0 {
		text = text[:i]
	}
	text = strings.TrimSuffix(text, ".")
	if runes := []rune(text); len(runes) > maxSummary {
		text = string(runes[:maxSummary-1]) + "…"
	}
	return text
}

// help lists the commands.
func (s *Session) help(context.Context, string) (string, error) {
	var b strings.Builder
	for _, c := range s.commands() {
		hint := ""
		if c.Input != nil {
			hint = " " + c.Input.Hint
		}
		fmt.Fprintf(&b, "- `/%s%s`: %s\n", c.Name, hint, c.Description)
	}
	if len(s.runner().Tools()) > len(s.runner().Typed()) {
		b.WriteString("\nThe other tools can be called in the same way, with JSON: `/tools` lists them.\n")
	}
	return b.String(), nil
}

// clear carries out the command /clear. The log keeps the conversation.
func (s *Session) clear(ctx context.Context, _ string) (string, error) {
	s.history = nil
	if events, err := s.journal.events(ctx); err == nil { // else the plans stay visible
		for _, u := range transcript.RemovedPlans(events) {
			s.send(ctx, u)
		}
	}
	s.mu.Lock()
	s.usage.Used = 0 // an estimate: the next answer counts the whole history
	usage := s.usage
	s.mu.Unlock()
	if tools := s.toolState(); tools != nil {
		tools.Reset()
	}
	if usage.Size == 0 { // the client has seen no usage
		s.journal.record(transcript.Cleared{})
	} else {
		s.journal.record(transcript.Cleared{}, transcript.Answer{Model: s.model().Name(), Shown: &usage})
		s.send(ctx, usage)
	}
	return "The conversation was cleared; the session continues.", nil
}

// compact carries out the command /compact; focus is the text after it.
func (s *Session) compact(ctx context.Context, focus string) (string, error) {
	if len(s.history) == 0 {
		return "There is no conversation to compact yet.", nil
	}
	before := llm.Tokens(s.model().Name(), llm.Request{Messages: s.history})
	history, err := s.runner().Compact(ctx, s.history, focus)
	if errors.Is(err, agent.ErrNothingToCompact) {
		return "There is nothing to compact: the conversation is a summary already.", nil
	}
	if err != nil {
		return "", fmt.Errorf("compact: %w", err)
	}
	s.history = history
	after := llm.Tokens(s.model().Name(), llm.Request{Messages: s.history})
	return fmt.Sprintf("Compacted: about %s are now %d.\n\n%s", quantity.Count(before, "token"), after, transcript.SummaryOf(history)), nil
}

func (s *Session) pickModel(ctx context.Context, name string) (string, error) {
	return s.pickOption(ctx, optionModel, name, s.setModel, func() string { return s.model().Name() })
}

func (s *Session) pickMode(ctx context.Context, id string) (string, error) {
	return s.pickOption(ctx, optionMode, id, s.SetMode, s.Mode)
}

// pickOption sets an option to the typed value. Without a value it asks the user, by
// a form if the client supports forms, else by a list.
func (s *Session) pickOption(ctx context.Context, id, value string, set func(string) error, now func() string) (string, error) {
	o, _ := s.option(id) // the options of commands always exist
	if value == "" {
		var err error
		if value, err = s.askForValue(ctx, o); err != nil {
			return "", err
		}
	}
	if value == "" {
		return optionValues(o), nil
	}
	if err := set(value); err != nil {
		why := err.Error()
		if wrong, ok := errors.AsType[*acp.ParamsError](err); ok {
			why = wrong.Reason
		}
		return fmt.Sprintf("%s: %s.\n\n%s", nothingChanged, why, optionValues(o)), nil
	}
	s.Sync(ctx)
	return fmt.Sprintf("The %s is now %s.", id, now()), nil
}

// askForValue lets the user choose a value in a form. It returns "" if none was chosen,
// or if the client has no forms.
func (s *Session) askForValue(ctx context.Context, o acp.ConfigOption) (string, error) {
	client := s.currentClient()
	if !client.Capabilities().ElicitForm {
		return "", nil
	}
	type choice struct {
		Const string `json:"const"`
		Title string `json:"title"`
	}
	var oneOf []choice
	for _, c := range o.Options {
		oneOf = append(oneOf, choice{c.Value, c.Name})
	}
	schema, err := json.Marshal(map[string]any{
		"type": "object", "required": []string{o.ID},
		"properties": map[string]any{o.ID: map[string]any{
			"type": "string", "title": o.Name, "default": o.Value.Text, "oneOf": oneOf,
		}},
	})
	if err != nil {
		return "", err
	}
	r, err := client.Elicit(ctx, acp.ElicitRequest{SessionID: s.id, Message: "Pick a " + o.ID, Schema: schema})
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	var content map[string]any
	if err != nil || r.Action != acp.ElicitAccept || json.Unmarshal(r.Content, &content) != nil {
		return "", nil // the caller then shows the values as a list
	}
	value, _ := content[o.ID].(string)
	return value, nil
}

// optionValues lists the values of an option for the user.
func optionValues(o acp.ConfigOption) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The %s is %s. Available:\n", o.ID, o.Value.Text)
	for _, c := range o.Options {
		fmt.Fprintf(&b, "- `%s`", c.Value)
		if text := cmp.Or(c.Description, c.Name); text != c.Value {
			fmt.Fprintf(&b, ": %s", text)
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "\nPick one with `/%s %s`.", o.ID, strings.ToUpper(o.ID))
	return b.String()
}

// listTools lists the tools that the model has.
func (s *Session) listTools(context.Context, string) (string, error) {
	var b strings.Builder
	if len(s.runner().Tools()) == 0 {
		return "The model has no tools: [tools] enabled is false in the configuration.", nil
	}
	for _, t := range s.runner().Tools() {
		fmt.Fprintf(&b, "- `%s`: %s\n", t.Name, summary(t.Description))
	}
	return b.String(), nil
}
