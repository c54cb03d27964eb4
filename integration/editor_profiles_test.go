package integration

import (
	"fmt"

	"github.com/google/uuid"
)

// profile is the behaviour of an editor, by its code or by reports of its users.
type profile struct {
	initialize string // capabilities and clientInfo, as members
	id         func(n int) string
	session    string // additional members of session/new, load and resume
	// authenticates makes it call authenticate unasked, with the first method
	// and these additional members.
	authenticates bool
	authenticate  string
	eager         bool   // sets mode and options together with the first prompt
	oldModel      bool   // selects models by session/set_model
	missing       string // answer for a missing file; default: error -32002
	joins         bool   // its terminals join the arguments, so they are not used
	written       string // result of fs/write_text_file; default: {}
	cancel        func(e *editor, session, id string, question frame)
	list          string // params of session/list, with CWD; empty: no such call
	firstDiff     bool   // a question shows a diff only if it is the first content
	reopen        string // session/load or session/resume
	signal        bool   // ends the agent by SIGTERM
}

func from(first int) func(int) string { return func(n int) string { return fmt.Sprint(first + n) } }

func uuids(int) string { return quote(uuid.NewString()) }

// The ways to cancel a turn that waits for permission.
var (
	outcomeCancelled = `"result":{"outcome":{"outcome":"cancelled"}}`

	cancelThenAnswer = func(e *editor, session, _ string, q frame) {
		e.notify("session/cancel", `{"sessionId":`+quote(session)+`}`)
		e.send(`{"jsonrpc":"2.0","id":` + string(q.ID) + `,` + outcomeCancelled + "}\n")
	}
	answerThenCancel = func(e *editor, session, _ string, q frame) {
		e.send(`{"jsonrpc":"2.0","id":` + string(q.ID) + `,` + outcomeCancelled + "}\n")
		e.notify("session/cancel", `{"sessionId":`+quote(session)+`,"reason":"user"}`)
	}
	onlyCancel = func(e *editor, session, _ string, _ frame) {
		e.notify("session/cancel", `{"sessionId":`+quote(session)+`}`)
	}
	cancelRequest = func(e *editor, _, id string, q frame) {
		e.notify("$/cancel_request", `{"requestId":`+id+`}`)
		e.send(`{"jsonrpc":"2.0","id":` + string(q.ID) + `,"error":{"code":-32800,"message":"Request cancelled"}}` + "\n")
	}
)

// notify writes a notification.
func (a *agent) notify(method, params string) {
	a.t.Helper()
	a.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`+"\n", method, params))
}

var profiles = map[string]profile{
	"Zed": {
		initialize: `"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true,"auth":{"terminal":true},
			"session":{"configOptions":{"boolean":{}}},"elicitation":{"form":{},"url":{}},"_meta":{"terminal_output":true,"terminal-auth":true}},
			"clientInfo":{"name":"zed","title":"Zed","version":"1.20.0"}`,
		id: uuids, eager: true, cancel: cancelThenAnswer, list: `{"cwd":"CWD"}`, reopen: "session/load",
	},
	"JetBrains": {
		initialize: `"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true},"clientInfo":{"name":"JetBrains.IntelliJ IDEA","version":"2026.2"}`,
		session:    `,"_meta":{"jetbrains":{"air":{"x":1}}}`,
		id:         from(1), cancel: cancelThenAnswer, reopen: "session/resume", signal: true,
	},
	"agent-shell": { // acp.el writes null for false and for the empty list
		initialize: `"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":null,"elicitation":{"form":{}}},"clientInfo":{"name":"agent-shell","title":"Emacs Agent Shell","version":"0.79.2"}`,
		session:    `,"additionalDirectories":null`,
		id:         from(1), authenticates: true, authenticate: `,"authMethod":{"id":"api-key"}`, oldModel: true, written: `null`,
		cancel: answerThenCancel, list: `{"cwd":"CWD"}`, reopen: "session/load",
	},
	"CodeCompanion": {
		initialize: `"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true}},"clientInfo":{"name":"CodeCompanion.nvim","version":"19.0.0"}`,
		id:         from(1), authenticates: true, oldModel: true, missing: `"result":{"content":""}`, written: `null`,
		cancel: onlyCancel, list: `{"cwd":"CWD"}`, reopen: "session/load", signal: true, firstDiff: true,
	},
	"acpx": {
		initialize: `"clientCapabilities":{"fs":{"readTextFile":false,"writeTextFile":false},"terminal":false},"clientInfo":{"name":"acpx","version":"0.19.1"}`,
		id:         from(0), cancel: onlyCancel, list: `{}`, reopen: "session/load",
	},
	"vscode-acp": {
		initialize: `"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true},"clientInfo":{"name":"vscode-acp-client","version":"0.2.0"}`,
		id:         from(0), oldModel: true, missing: `"error":{"code":-32603,"message":"Internal error"}`, joins: true, cancel: onlyCancel, signal: true,
	},
	"agentic.nvim": {
		initialize: `"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":false},"clientInfo":{"name":"Agentic.nvim","version":"0.0.1"}`,
		id:         from(1), missing: `"result":{"content":""}`, written: `null`, cancel: answerThenCancel, list: `{"cwd":"CWD/"}`, reopen: "session/load",
	},
	"TypeScript SDK": {
		initialize: `"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true,"session":{"configOptions":{"boolean":{}},"notices":{},"compaction":{}},"elicitation":{"form":{},"url":{}}},"clientInfo":{"name":"example","version":"2.4.0"}`,
		id:         from(0), cancel: cancelRequest, list: `{}`, reopen: "session/resume",
	},
	"Python SDK": {
		initialize: `"_meta":null,"clientCapabilities":{"_meta":null,"auth":null,"elicitation":null,"fs":{"_meta":null,"readTextFile":true,"writeTextFile":true},"session":null,"terminal":true},"clientInfo":null`,
		session:    `,"_meta":null,"additionalDirectories":null`,
		id:         from(0), cancel: cancelThenAnswer, reopen: "session/load",
	},
}
