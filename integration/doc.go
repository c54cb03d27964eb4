// Package integration proves the built binary over real pipes, as an editor
// uses it.
//
// Its tests drive zeph-acp with coder/acp-go-sdk, a client that nobody here
// wrote, and with raw frames where a real client would not go. Its models are
// fake servers. Start with TestTurn, which shows the whole product in one turn.
//
// [agent] is the process. Package fakeide holds the fake editor, which ide
// connects to the process through the client library and editor through raw
// frames. Package fakemodel holds the fake models. Every line that the binary
// writes in any test is checked against the ACP schema, and a session that ends
// well must leave stderr empty.
//
// Tests wait for events up to a deadline and never for time to pass, except for
// the idle second of TestStatement134Idle. Random choices come from -seed;
// -kills sets how often the agent is killed.
package integration
