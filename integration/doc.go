// Package integration tests the built binary over real pipes, as an editor uses
// it. Start with TestTurn in turns_test.go, which shows the whole product in one
// turn.
//
// The tests drive zeph-acp with coder/acp-go-sdk, a client library from outside
// this project, and with raw frames that a real client would not send. [agent] is
// the process. Package fakeide has the fake editor: ide connects it through the
// library, editor and client through raw frames. Package fakemodel has the fake
// models.
//
// A file is named after the behaviour that its tests prove:
//
//	start, exit, crash, resources              the life of the process
//	framing, slow_client, silent_client        the wire and difficult clients
//	disk, damage, places, limits, peer_*       faults of the disk, the process and its peers
//	keys, sessions, store, replay, recording   stored data
//	run, terminal, chat                        turns without an editor
//	turns, prompts, cancel, crowd, steering    prompt turns
//	rewind                                     the way back to before a turn
//	subagents, worktree, file_commands         delegated tasks, commands of files
//	plans, fork                                approval of plans, copies of sessions
//	permissions*, policy, managed, answers     what calls may do
//	options, toolset, shell, background        tools and settings
//	capabilities, editors, acpx, sdk_client    differences between clients
//	random_client                              any request at any time
//	mcp, mcp_*                                 MCP servers, also hostile ones
//	lsp                                        language servers, also hostile ones
//	models, wire, failures, requests, nameless models and providers
//	outputs, cache, scripts, hostile_*         results and effects of calls
//	schedule                                   scheduled tasks
//	telemetry                                  traces
//	pages                                      HTML and Markdown, also in a browser
//	documents, statements, imports, contexts   rules of the repository
//	toolnames, counts, security                rules of the repository
//	soak, scale                                endurance and size
//	bench, tasks                               measurements
//
// Why is this one package? All tests drive one binary, which TestMain builds.
//
// Each line that the binary writes in a test is checked against the ACP schema,
// and a session that ends well must leave stderr empty.
//
// Tests wait for events up to a deadline and never for time to pass, except for
// the idle second of TestIdle. Random choices come from -seed;
// -kills sets how often the agent is killed. With -long the tests of endurance
// run for an hour (docs/reliability.md).
package integration
