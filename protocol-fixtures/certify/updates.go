package certify

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"strings"
)

// update sends an update of a session.
func (a *agent) update(session, kind string, members map[string]any) []byte {
	u := maps.Clone(members)
	u["sessionUpdate"] = kind
	return a.send(map[string]any{"method": "session/update", "params": map[string]any{"sessionId": session, "update": u}})
}

func textBlock(text string) map[string]any { return map[string]any{"type": "text", "text": text} }

func textContent(text string) map[string]any {
	return map[string]any{"type": "content", "content": textBlock(text)}
}

// chunk sends a part of a message.
func (a *agent) chunk(session, kind, message, text string) {
	a.update(session, kind, map[string]any{"messageId": message, "content": textBlock(text)})
}

// say sends a message.
func (t *turn) say(text string) { t.chunk(t.session, "agent_message_chunk", t.name("message"), text) }

// call announces a tool call and returns its id.
func (t *turn) call(members map[string]any) string { return t.callIn(t.session, members) }

func (t *turn) callIn(session string, members map[string]any) string {
	kind := "tool_call"
	if t.speaks() == 2 {
		kind = "tool_call_update"
	}
	m := maps.Clone(members)
	id := t.name("call")
	m["toolCallId"] = id
	t.update(session, kind, m)
	return id
}

// change updates a tool call.
func (t *turn) change(id string, members map[string]any) {
	m := maps.Clone(members)
	m["toolCallId"] = id
	t.update(t.session, "tool_call_update", m)
}

// state reports a state, which only version 2 has.
func (t *turn) state(state string) {
	if t.speaks() == 2 {
		t.update(t.session, "state_update", map[string]any{"state": state})
	}
}

// diff returns the content of a call that changes a file with one line. Without an old line
// the file is new.
func (t *turn) diff(path, old, text string) map[string]any {
	if t.speaks() == 1 {
		d := map[string]any{"type": "diff", "path": path, "newText": text + "\n"}
		if old != "" {
			d["oldText"] = old + "\n"
		}
		return d
	}
	operation := "modify"
	patch := fmt.Sprintf("diff --git %[1]s %[1]s\n--- %[1]s\n+++ %[1]s\n@@ -1 +1 @@\n-%[2]s\n+%[3]s\n", path, old, text)
	if old == "" {
		operation = "add"
		patch = fmt.Sprintf("diff --git %[1]s %[1]s\nnew file mode 100644\n--- /dev/null\n+++ %[1]s\n@@ -0,0 +1 @@\n+%[2]s\n", path, text)
	}
	return map[string]any{
		"type": "diff", "changes": []any{map[string]any{"operation": operation, "path": path, "fileType": "text"}},
		"patch": map[string]any{"format": "git_patch", "text": patch},
	}
}

// plan sends a list of steps.
func (t *turn) plan(statuses ...string) {
	entries := []any{}
	for i, status := range statuses {
		entries = append(entries, map[string]any{"content": fmt.Sprintf("Step %d", i+1), "priority": "medium", "status": status})
	}
	if t.speaks() == 2 || t.declared("plan") {
		t.update(t.session, "plan_update", map[string]any{"plan": map[string]any{"type": "items", "planId": "steps", "entries": entries}})
		return
	}
	t.update(t.session, "plan", map[string]any{"entries": entries})
}

// modes returns the modes of version 1.
func (a *agent) modes() map[string]any {
	a.mu.Lock()
	defer a.mu.Unlock()
	var all []any
	for _, m := range modes {
		all = append(all, map[string]any{"id": m, "name": strings.ToUpper(m[:1]) + m[1:]})
	}
	return map[string]any{"currentModeId": cmp.Or(a.mode, modes[0]), "availableModes": all}
}

// options returns the options of a session.
func (a *agent) options() []any {
	a.mu.Lock()
	defer a.mu.Unlock()
	id := "id"
	if a.version == 2 {
		id = "configId"
	}
	option := func(name, category, current string, values []string) map[string]any {
		var offered []any
		for _, v := range values {
			offered = append(offered, map[string]any{"value": v, "name": strings.ToUpper(v[:1]) + v[1:]})
		}
		return map[string]any{
			id: name, "name": strings.ToUpper(name[:1]) + name[1:], "category": category, "type": "select", "currentValue": cmp.Or(current, values[0]), "options": offered,
		}
	}
	all := []any{option("mode", "mode", a.mode, modes), option("style", "_certify", a.value, styles)}
	if a.version == 2 || declares(a.client, "session.configOptions.boolean") {
		all = append(all, map[string]any{id: "verbose", "name": "Verbose", "type": "boolean", "currentValue": false})
	}
	return all
}

// commands returns the commands of a session.
func (a *agent) commands() []any {
	c := map[string]any{"name": "certify", "description": "Run a scenario by its name", "input": map[string]any{"hint": "NAME"}}
	if a.speaks() == 2 {
		c["type"] = "command"
		c["input"] = map[string]any{"type": "text", "hint": "NAME"}
	}
	return []any{c}
}

// replay sends the conversation of an earlier session.
func (a *agent) replay(session string) {
	call := map[string]any{
		"toolCallId": "certify-old-call", "title": "Read notes.txt", "kind": "read", "status": "completed", "content": []any{textContent("two notes")},
	}
	if a.speaks() == 2 {
		a.update(session, "user_message", map[string]any{"messageId": "certify-old-1", "content": []any{textBlock("Read the notes.")}})
		a.update(session, "tool_call_update", call)
		a.update(session, "agent_message", map[string]any{"messageId": "certify-old-2", "content": []any{textBlock("There are two notes.")}})
		a.update(session, "replay_complete", map[string]any{})
		return
	}
	a.chunk(session, "user_message_chunk", "certify-old-1", "Read the notes.")
	a.update(session, "tool_call", call)
	a.chunk(session, "agent_message_chunk", "certify-old-2", "There are two notes.")
}

// terminalOutput returns bytes as version 2 sends them.
func terminalOutput(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
