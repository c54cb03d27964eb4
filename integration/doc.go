// Package integration proves the built binary over real pipes, as an editor
// uses it.
//
// Its tests drive zeph-acp with coder/acp-go-sdk, a client that nobody here
// wrote, and with raw frames where a real client would not go. Behind it stands
// a fake Anthropic server. Start with TestTurn, which is the whole product in
// one turn. [agent] is the process, ide the fake editor, provider the fake
// model. Every line that the binary writes in any test is held against the ACP
// schema, and a session that ends well must leave stderr empty.
//
// Time is only ever waited for as a deadline, never passed, save for the idle
// second of TestStatement134Idle. What is left to chance comes from -seed;
// -kills says how often the agent is killed.
package integration
