package certify

import (
	"fmt"
	"slices"
	"strings"
)

// connection is where everything belongs that happens outside of a scenario.
const connection = "connection"

// scenario is what happens after a prompt.
type scenario struct {
	name  string
	about string // for the user
	ask   string // what the user has to do; "" for nothing
	needs string // the path of a capability; "" for none
	only  int    // the version of the protocol; 0 for both
	run   func(*turn)
	after func(*turn) // runs after the end of the turn; nil for nothing
	// unprompted scenarios are reached by requests of the client, at any time. Their prompt
	// only says how.
	unprompted bool
}

func (s scenario) in(version int) bool { return s.only == 0 || s.only == version }

// scenarios returns all scenarios.
func scenarios() []scenario {
	return slices.Concat([]scenario{
		{name: "stream", about: "Text and thoughts in many chunks, usage, a title and commands.", run: stream},
		{name: "large", about: "One update of 900 KiB.", run: large},
		{name: "tools", about: "Tool calls of every kind, with locations, input and output.", run: tools},
		{name: "diffs", about: "A changed and a new file.", run: diffs},
		{name: "plan", about: "A plan whose steps are done one after the other.", run: planSteps},
		{name: "plan-operations", about: "Two plans, a document, and the removal of a plan.", needs: "plan", run: planOperations},
		{name: "options", about: "The agent changes the mode and an option.", run: options},
		{name: "boolean-option", about: "An option that is on or off.", needs: "session.configOptions.boolean", run: options},
		{name: "notices", about: "Notices of each severity.", needs: "session.notices", run: notices},
		{name: "compaction", about: "A compaction of the conversation.", needs: "session.compaction", run: compaction},
		{name: "sub-agents", about: "A sub-agent with its own session, which asks a question.", ask: "Answer it as you like.", needs: "subagents", run: subagents},
	}, questionScenarios, cancelScenarios, fileScenarios, terminalScenarios, hostileScenarios, []scenario{
		{
			name: "load", about: "An earlier session is opened again.", ask: "Close this session, and open it again from the list of sessions.",
			unprompted: true, run: unprompted,
		},
		{name: "list", about: "The sessions are listed.", ask: "Open the list of sessions.", unprompted: true, run: unprompted},
		{
			name: "options-set", about: "The user changes the mode or an option.", ask: "Choose another mode, or another value of an option.", unprompted: true,
			run: unprompted,
		},
	})
}

func unprompted(*turn) {}

func stream(t *turn) {
	thought, message := t.name("message"), t.name("message")
	for i := range 5 {
		t.chunk(t.session, "agent_thought_chunk", thought, fmt.Sprintf("Thought %d. ", i+1))
	}
	for i := range 200 {
		t.chunk(t.session, "agent_message_chunk", message, fmt.Sprintf("%d ", i+1))
	}
	t.chunk(t.session, "agent_message_chunk", message, "\n\n```go\nfmt.Println(\"grüße 👋\")\n```\n| a | b |\n|---|---|\n| 1 | 2 |\n")
	t.update(t.session, "usage_update", map[string]any{"used": 1200, "size": 200000, "cost": map[string]any{"amount": 0.01, "currency": "USD"}})
	t.update(t.session, "session_info_update", map[string]any{"title": "A session of certify"})
	t.update(t.session, "available_commands_update", map[string]any{"availableCommands": t.commands()})
}

func large(t *turn) {
	t.say("```\n" + strings.Repeat("one line of a very long message\n", 900<<10/32) + "```\n")
}

func tools(t *turn) {
	for _, kind := range []string{"read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"} {
		id := t.call(map[string]any{
			"title": "A call of the kind " + kind, "kind": kind, "status": "pending", "rawInput": map[string]any{"path": "notes.txt"},
			"locations": []any{map[string]any{"path": t.cwd, "line": 1}},
		})
		t.change(id, map[string]any{"status": "in_progress"})
		t.change(id, map[string]any{"status": "completed", "content": []any{textContent("The result of " + kind)}, "rawOutput": map[string]any{"ok": true}})
	}
	t.change(t.call(map[string]any{"title": "A call that fails"}), map[string]any{"status": "failed", "content": []any{textContent("It failed.")}})
}

func diffs(t *turn) {
	path := t.file("notes.txt", "old\n")
	if path == "" {
		return
	}
	for _, d := range []map[string]any{t.diff(path, "old", "new"), t.diff(path+".new", "", "created")} {
		id := t.call(map[string]any{
			"title": "notes.txt", "kind": "edit", "status": "in_progress", "content": []any{d}, "locations": []any{map[string]any{"path": path, "line": 1}},
		})
		t.change(id, map[string]any{"status": "completed", "content": []any{d, textContent("Changed.")}})
	}
}

func planSteps(t *turn) {
	t.plan("in_progress", "pending", "pending")
	t.plan("completed", "in_progress", "pending")
	t.plan("completed", "completed", "completed")
}

func planOperations(t *turn) {
	document := func(text string) {
		t.update(t.session, "plan_update", map[string]any{"plan": map[string]any{"type": "markdown", "planId": "document", "content": text}})
	}
	t.plan("in_progress", "pending")
	document("# Plan\n\n1. First\n")
	document("# Plan\n\n1. First\n2. Second\n")
	t.update(t.session, "plan_removed", map[string]any{"planId": "document"})
	t.update(t.session, "plan_removed", map[string]any{"planId": "no-such-plan"})
	t.plan("completed", "completed")
}

func options(t *turn) {
	t.mu.Lock()
	t.mode, t.value = "code", "long"
	t.mu.Unlock()
	if t.speaks() == 1 {
		t.update(t.session, "current_mode_update", map[string]any{"currentModeId": "code"})
	}
	t.update(t.session, "config_option_update", map[string]any{"configOptions": t.options()})
}

func notices(t *turn) {
	for _, severity := range []string{"info", "warning", "error"} {
		t.update(t.session, "notice", map[string]any{"severity": severity, "title": "A notice of certify", "description": "Its severity is " + severity + "."})
	}
}

func compaction(t *turn) {
	id := t.name("compaction")
	t.update(t.session, "compaction_update", map[string]any{"compactionId": id, "status": "in_progress"})
	t.update(t.session, "compaction_summary_chunk", map[string]any{"compactionId": id, "content": textBlock("A summary.")})
	t.update(t.session, "compaction_update", map[string]any{"compactionId": id, "status": "completed"})
}

func subagents(t *turn) {
	child := t.name("session")
	t.mu.Lock()
	t.children = append(t.children, child)
	t.sessions[child] = t.cwd
	t.mu.Unlock()
	about := func(members map[string]any) {
		members["sessionId"] = child
		t.update(t.session, "subagent_update", members)
	}
	about(map[string]any{
		"title": "Reviewer", "description": "Reads the notes", "capabilities": map[string]any{"cancel": map[string]any{}}, "state": map[string]any{"state": "running"},
	})
	t.call(map[string]any{"title": "Ask the reviewer", "kind": "other", "status": "completed", "content": []any{map[string]any{"type": "session", "sessionId": child}}})
	task := map[string]any{
		"messageId": t.name("message"), "senderSessionId": t.session, "recipientSessionId": child, "content": []any{textBlock("Read the notes.")},
	}
	t.update(t.session, "session_message", task)
	t.update(child, "session_message", task)
	t.chunk(child, "agent_message_chunk", t.name("message"), "I read the notes.")
	about(map[string]any{"state": map[string]any{"state": "requires_action"}})
	t.answer(t.questionIn(child, "The reviewer asks: go on?", allKinds...))
	about(map[string]any{"state": map[string]any{"state": "running"}})
	about(map[string]any{"state": map[string]any{"state": "idle", "stopReason": "end_turn"}, "capabilities": nil})
}
