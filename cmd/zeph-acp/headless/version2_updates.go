package headless

import (
	"encoding/base64"
	"encoding/json"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/acp/gitpatch"
	"github.com/zeph-acp/zeph-acp/executors/filechange"
	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
)

// update shows the form of an update in version 1, if there is one.
func (v *version2) update(params json.RawMessage) {
	var p struct {
		Session string          `json:"sessionId"`
		Update  json.RawMessage `json:"update"`
	}
	var u update2
	if json.Unmarshal(params, &p) != nil || json.Unmarshal(p.Update, &u) != nil {
		return
	}
	session, child := v.root(p.Session), v.children[p.Session]
	switch u.Kind {
	case acp.UpdateToolCallPatch:
		v.toolCall(session, p.Update, child)
		return
	case acp.UpdateSubagent:
		if v.children[u.ChildID] == nil {
			v.children[u.ChildID] = &child2{session: session, calls: map[string]int{}}
		}
		return
	}
	if child != nil { // the call that started it has its report
		return
	}
	switch u.Kind {
	case "user_message":
		v.inserted()
	case acp.UpdateUserMessage, acp.UpdateSessionText, "session_message_chunk", "replay_complete":
	case "state_update":
		var s state2
		if json.Unmarshal(p.Update, &s) == nil {
			v.state(s)
		}
	case acp.UpdateAgentMessage, acp.UpdateAgentThought:
		var m acp.MessageChunk
		if json.Unmarshal(p.Update, &m) == nil {
			v.show(session, m)
		}
	case "terminal_update":
		v.output(u.TerminalID, u.Output.Data)
	case "terminal_output_chunk":
		v.output(u.TerminalID, u.Data)
	case acp.UpdateOptions:
		v.options(session, u.Options)
	case acp.UpdateCommands:
		v.show(session, commandsOf(u.Commands))
	case acp.UpdatePlanContent:
		if u.Plan.Type == "items" {
			v.show(session, planOf(u.Plan.Entries))
		}
	case acp.UpdatePlanRemoved:
		if u.PlanID == acp.PlanSteps {
			v.show(session, planOf(nil))
		}
	default:
		v.View.Update(params)
	}
}

// update2 has the members of the updates that differ from version 1.
type update2 struct {
	Kind       string `json:"sessionUpdate"`
	ChildID    string `json:"sessionId"`
	TerminalID string `json:"terminalId"`
	Data       string `json:"data"` // base64
	Output     struct{ Data string }
	Options    []option2       `json:"configOptions"`
	Commands   json.RawMessage `json:"availableCommands"`
	PlanID     string          `json:"planId"`
	Plan       struct {
		Type    string          `json:"type"`
		Entries []acp.PlanEntry `json:"entries"`
	} `json:"plan"`
}

// show shows an update in the form of version 1.
func (v *version2) show(session string, update any) {
	v.View.Update(encoded(struct {
		Session string `json:"sessionId"`
		Update  any    `json:"update"`
	}{session, update}))
}

// encoded returns the JSON of one of our types.
func encoded(value any) json.RawMessage {
	text, _ := plainjson.Marshal(value) // it has a form
	return text
}

// output shows output of a terminal.
func (v *version2) output(terminal, data string) {
	if text, err := base64.StdEncoding.DecodeString(data); err == nil && len(text) > 0 {
		v.View.Output(terminal, text)
	}
}

// toolCall follows an update of a tool call. The calls of child sessions are shown once they were asked about.
func (v *version2) toolCall(session string, update json.RawMessage, child *child2) {
	var change call2
	if json.Unmarshal(update, &change) != nil {
		return
	}
	before, announced := v.calls[change.ID]
	call := change.patch(before)
	v.follow(session, child, call)
	if call.Status.Final() {
		delete(v.calls, change.ID)
	} else {
		v.calls[change.ID] = call
	}
	switch {
	case v.shown[change.ID]:
		patch := change.patch(acp.ToolCall{Update: acp.UpdateToolCallPatch})
		if only := len(patch.Content) == 1 && patch.Content[0].Type == acp.SessionContent; !only || patch.Status != "" {
			v.show(session, v.form(patch))
		}
	case child == nil && !announced:
		v.showCall(session, call)
	}
	if call.Status.Final() {
		delete(v.shown, change.ID)
	}
}

// showCall announces a call.
func (v *version2) showCall(session string, call acp.ToolCall) {
	v.shown[call.ToolCallID] = true
	call.Update = acp.UpdateToolCall
	v.show(session, v.form(call))
}

// form returns a call in the form of version 1: with the steps of a child session in place of the session.
func (v *version2) form(call acp.ToolCall) acp.ToolCall {
	if call.Status == acp.ToolCancelled {
		call.Status = acp.ToolFailed
	}
	var content []acp.ToolContent
	for _, c := range call.Content {
		if child := v.children[c.SessionID]; c.Type != acp.SessionContent {
			content = append(content, c)
		} else if child != nil && len(child.steps) > 0 {
			content = append(content, child.shown())
		}
	}
	call.Content = content
	return call
}

// call2 is a change of a tool call. Null clears a member, and without it the member stays.
type call2 struct {
	ID        string          `json:"toolCallId"`
	Title     json.RawMessage `json:"title"`
	Name      json.RawMessage `json:"name"`
	Kind      json.RawMessage `json:"kind"`
	Status    json.RawMessage `json:"status"`
	Content   json.RawMessage `json:"content"`
	Locations json.RawMessage `json:"locations"`
	RawInput  json.RawMessage `json:"rawInput"`
	RawOutput json.RawMessage `json:"rawOutput"`
}

// patch returns a call after the change. A member that cannot be read stays.
func (c call2) patch(call acp.ToolCall) acp.ToolCall {
	call.ToolCallID = c.ID
	for _, m := range []struct {
		from json.RawMessage
		to   *string
	}{{c.Title, &call.Title}, {c.Name, &call.Name}, {c.Kind, &call.Kind}, {c.Status, (*string)(&call.Status)}} {
		set(m.from, m.to)
	}
	var content []content2
	if c.Content != nil && json.Unmarshal(c.Content, &content) == nil {
		call.Content = contentOf(content)
	}
	set(c.Locations, &call.Locations)
	set(c.RawInput, &call.RawInput)
	if c.RawOutput != nil {
		call.RawOutput = c.RawOutput
	}
	return call
}

// set decodes a member that is there. Null is the zero value.
func set[T any](from json.RawMessage, to *T) {
	var value T
	if from != nil && json.Unmarshal(from, &value) == nil {
		*to = value
	}
}

// content2 is a part of a tool call.
type content2 struct {
	acp.ToolContent
	Changes []struct {
		Operation string `json:"operation"`
		OldPath   string `json:"oldPath"`
		Path      string `json:"path"`
	} `json:"changes"`
	Patch struct {
		Format string `json:"format"`
		Text   string `json:"text"`
	} `json:"patch"`
}

// contentOf converts the content of a tool call to version 1, which has the old and the new text of a change. Each hunk
// becomes a change of its own. A change without text is left out.
func contentOf(content []content2) (all []acp.ToolContent) {
	for _, c := range content {
		switch {
		case c.Type != "diff":
			all = append(all, c.ToolContent)
		case len(c.Changes) == 1 && c.Patch.Format == "git_patch":
			for _, h := range gitpatch.Hunks(c.Patch.Text) {
				part := acp.ToolContent{Type: "diff", Path: c.Changes[0].Path, OldText: &h.Old, NewText: &h.New, OldLine: h.OldLine, NewLine: h.NewLine}
				if c.Changes[0].Operation == filechange.Add {
					part.OldText, part.OldLine, part.NewLine = nil, 0, 0
				}
				all = append(all, part)
			}
		}
	}
	return all
}

// option2 is a config option.
type option2 struct {
	ID          string             `json:"configId"`
	Name        string             `json:"name"`
	Description string             `json:"description"`
	Category    string             `json:"category"`
	Type        string             `json:"type"`
	Current     json.RawMessage    `json:"currentValue"`
	Options     []acp.ConfigChoice `json:"options"`
}

// value returns the value of a select.
func (o option2) value() (value string) {
	set(o.Current, &value)
	return value
}

// options shows the options, and the mode if it has changed.
func (v *version2) options(session string, all []option2) {
	u := acp.OptionsUpdate{Update: acp.UpdateOptions, ConfigOptions: []acp.ConfigOption{}}
	for _, o := range all {
		out := acp.ConfigOption{ID: o.ID, Name: o.Name, Description: o.Description, Category: o.Category, Options: o.Options}
		out.Value.Text = o.value()
		set(o.Current, &out.Value.On)
		u.ConfigOptions = append(u.ConfigOptions, out)
		if o.ID == acp.CategoryMode && v.changedMode(out.Value.Text) {
			v.show(session, acp.ModeUpdate{Update: acp.UpdateMode, CurrentModeID: out.Value.Text})
		}
	}
	v.show(session, u)
}

// commandsOf returns the update that lists commands.
func commandsOf(list json.RawMessage) acp.CommandsUpdate {
	u := acp.CommandsUpdate{Update: acp.UpdateCommands, AvailableCommands: []acp.Command{}}
	_ = json.Unmarshal(list, &u.AvailableCommands) // those that cannot be read are not shown
	return u
}

// planOf returns the update that lists the steps of a plan.
func planOf(entries []acp.PlanEntry) any {
	if entries == nil {
		entries = []acp.PlanEntry{}
	}
	return struct {
		Update  string          `json:"sessionUpdate"`
		Entries []acp.PlanEntry `json:"entries"`
	}{acp.UpdatePlan, entries}
}
