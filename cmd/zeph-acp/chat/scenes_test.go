package chat

import (
	"encoding/json"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
)

// sessionState is the state of the session in the scenes.
const sessionState = `{"sessionId":"s1",
	"modes":{"currentModeId":"default","availableModes":[
		{"id":"default","name":"Default","description":"Reads freely, asks before changes and commands"},
		{"id":"plan","name":"Plan","description":"Reads only, and writes a plan"},
		{"id":"auto","name":"Auto","description":"Changes files of the project without asking"},
		{"id":"yolo","name":"Yolo","description":"Asks nothing"}]},
	"configOptions":[{"id":"model","category":"model","type":"select","currentValue":"anthropic/claude-sonnet-4-5","options":[
		{"value":"anthropic/claude-haiku-4-5","name":"Claude Haiku 4.5","description":"$1 in, $5 out per million tokens"},
		{"value":"anthropic/claude-opus-4-5","name":"Claude Opus 4.5","description":"$5 in, $25 out per million tokens"},
		{"value":"anthropic/claude-sonnet-4-5","name":"Claude Sonnet 4.5","description":"$3 in, $15 out per million tokens"},
		{"value":"bedrock/eu.anthropic.claude-opus-4-5-20251101-v1:0","name":"eu.anthropic.claude-opus-4-5-20251101-v1:0"},
		{"value":"openai/gpt-5.1","name":"GPT-5.1"},{"value":"openai/gpt-5.1-codex","name":"GPT-5.1 Codex"},
		{"value":"openai/gpt-5.1-codex-mini","name":"GPT-5.1 Codex mini"},{"value":"google/gemini-3-pro","name":"Gemini 3 Pro"},
		{"value":"google/gemini-3-flash","name":"Gemini 3 Flash"},{"value":"ollama/qwen3-coder:30b","name":"qwen3-coder:30b"},
		{"value":"ollama/gpt-oss:20b","name":"gpt-oss:20b"},{"value":"mistral/devstral-2","name":"Devstral 2"},
		{"value":"deepseek/deepseek-chat","name":"DeepSeek Chat"},{"value":"xai/grok-code-fast-1","name":"Grok Code Fast 1"}]}]}`

// allCommands are the commands of the agent in the scenes.
var allCommands = []acp.Command{
	{Name: "help", Description: "Show the commands"},
	{Name: "bash", Description: "Run a shell command", Input: &acp.CommandInput{Hint: "COMMAND"}},
	{Name: "compact", Description: "Summarize the conversation to free context"},
	{Name: "context", Description: "Show what fills the context"},
	{Name: "cost", Description: "Show tokens and cost of this session, of today and of this month, by model"},
	{Name: "goal", Description: "Work on a goal until it is reached", Input: &acp.CommandInput{Hint: "TEXT | pause | resume | clear"}},
	{Name: "mode", Description: "Show or select the mode", Input: &acp.CommandInput{Hint: "[MODE]"}},
	{Name: "model", Description: "Show or select the model", Input: &acp.CommandInput{Hint: "[MODEL]"}},
	{Name: "permissions", Description: "Show the permission rules", Input: &acp.CommandInput{Hint: "[forget N]"}},
	{Name: "rewind", Description: "Go back to before a turn, with its changes to files", Input: &acp.CommandInput{Hint: "[TURN]"}},
	{Name: "status", Description: "Show the state of the session"},
	{Name: "review", Description: "Review the changes of the working tree", Input: &acp.CommandInput{Hint: "[BASE]"}},
}

// projectFiles are the files of the project in the scenes.
var projectFiles = []string{
	"README.md", "CHANGELOG.md", "go.mod", "go.sum", "cmd/site/main.go", "cmd/site/chat/view.go", "cmd/site/chat/view_test.go",
	"docs/a long name of a file that has spaces and goes on for longer than any screen.md", "internal/build/build.go", "internal/build/build_test.go",
	"internal/page/page.go", "日本語/設計書.md",
}

func pastSessions() (all []Choice, _ error) {
	for i, title := range []string{
		"Why does the build fail?", "Add a sitemap, with the date of the last change of each page and a priority that follows from its depth", "hello",
		"日本語のページを追加する", "no title", "Rename Page to Document", "Explain internal/build", "Speed up the tests", "Update the dependencies",
		"Write the changelog of 1.4", "Find the memory leak in the watcher", "Add dark mode", "Translate the docs", "Replace the template engine",
		"Check the links", "Move the assets",
	} {
		all = append(all, Choice{ID: fmt.Sprint("s", i), Title: title, About: fmt.Sprintf("2026-11-%02d 14:05", 30-i)})
	}
	return all, nil
}

var pastTurns = []Choice{
	{ID: "1", Title: "turn 1: why does the build fail?"},
	{ID: "2", Title: "turn 2: mend it, and add a test that builds a site with two pages of the same name in different languages"},
}

const streamed = "The build fails because `go.mod` names **Go 1.21**, but `slices.Values` needs Go 1.23:\n\n" +
	"```go\nfunc names(pages []Page) []string {\n\treturn slices.Collect(slices.Values(pages)) // needs 1.23\n}\n```\n\n" +
	"Two ways to mend it:\n\n1. raise the version in `go.mod`, which also changes the meaning of loop variables, or\n2. write the loop"

const longPrompt = "Please look at these lines of the log:\n\n\t2026-11-30 14:05:01 watcher: 12 files changed\n" +
	"a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\nn\nand say what a person should do who sees them every few seconds, although no file of the project has changed at all"

// lines returns the output of seq.
func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintln(&b, i+1)
	}
	return b.String()
}

// usage reports tokens and cost; 0 is an unknown cost.
func usage(used, size int, cost float64) updated {
	u := map[string]any{"sessionUpdate": acp.UpdateUsage, "used": used, "size": size}
	if cost > 0 {
		u["cost"] = map[string]any{"amount": cost, "currency": "USD"}
	}
	params, _ := json.Marshal(map[string]any{"sessionId": "s1", "update": u})
	return updated{params}
}

// choose selects a model.
func (p *person) choose(model string) {
	state := strings.Replace(sessionState, `"currentValue":"anthropic/claude-sonnet-4-5"`, `"currentValue":"`+model+`"`, 1)
	p.event(optionSet{what: "model", state: json.RawMessage(state)})
}

// enter types a text and sends it.
func (p *person) enter(text string) {
	p.update(tea.PasteMsg{Content: text})
	if p.m.menu.open() {
		p.press("esc")
	}
	p.press("enter")
}

// settle waits for the work that the screen has started.
func (p *person) settle() {
	p.m.chat.work.Wait()
	p.update(eventsPending{})
	p.wait(frameTime)
}

// begin begins a turn.
func (p *person) begin() {
	p.enter("why does the build fail?")
	p.sent()
}

// stream lets the model say something.
func (p *person) stream(text string) {
	id := fmt.Sprint("m", len(p.m.feed.entries))
	p.shown(acp.MessageChunk{Update: acp.UpdateAgentMessage, MessageID: id, Content: acp.TextBlock(text)})
}

// thinks lets the model think.
func (p *person) thinks(text string) {
	p.shown(acp.MessageChunk{Update: acp.UpdateAgentThought, MessageID: "t1", Content: acp.TextBlock(text)})
}

// call begins a call.
func (p *person) call(id, title, kind string) {
	p.shown(acp.ToolCall{Update: acp.UpdateToolCall, ToolCallID: id, Title: title, Kind: kind, Status: acp.ToolPending})
}

// result shows a call with its result.
func (p *person) result(id, title, kind, text string) {
	p.call(id, title, kind)
	p.ended(id, acp.ToolCompleted, acp.BlockContent(acp.TextBlock(text)))
}

// ended ends a call.
func (p *person) ended(id string, status acp.ToolStatus, content acp.ToolContent) {
	p.shown(acp.ToolCall{Update: acp.UpdateToolCallPatch, ToolCallID: id, Status: status, Content: []acp.ToolContent{content}})
}

// runs has a command that runs.
func (p *person) runs() {
	p.begin()
	p.stream("Let me run the tests.")
	p.call("c1", "Run `go test ./internal/... -run 'TestBuild|TestPage' -count=1 -v 2>&1`", "execute")
	p.shown(acp.ToolCall{Update: acp.UpdateToolCallPatch, ToolCallID: "c1", Content: []acp.ToolContent{{Type: "terminal", TerminalID: "term-1"}}})
	p.event(printed{"term-1", "=== RUN   TestBuild\n--- PASS: TestBuild (0.01s)\n" +
		"=== RUN   TestPage/a_name_that_is_longer_than_the_terminal_of_most_people_is_wide\n"})
}

// fails has a command that fails, and a call that is not allowed.
func (p *person) fails() {
	p.begin()
	p.call("c1", "Run `go build ./...`", "execute")
	p.ended("c1", acp.ToolFailed, acp.BlockContent(acp.TextBlock(
		"internal/build/build.go:12:9: undefined: slices.Values (requires go1.23 or later)\n[exit 1]")))
	p.call("c2", "Read `missing.go`", "read")
	p.ended("c2", acp.ToolFailed, acp.BlockContent(acp.TextBlock("no such file: missing.go (did you mean main.go?)")))
}

// plans has a plan.
func (p *person) plans() {
	p.begin()
	p.shown(map[string]any{"sessionUpdate": acp.UpdatePlan, "entries": []acp.PlanEntry{
		{Content: "Find out why the build fails", Status: "completed"},
		{Content: "Raise the Go version in go.mod, and check that no loop depends on the old meaning of its variables", Status: "in_progress"},
		{Content: "Run all tests", Status: "pending"},
	}})
}

// change returns a diff that changes so many lines.
func change(n int) acp.ToolContent {
	var before, after strings.Builder
	for i := range n {
		fmt.Fprintf(&before, "\tfmt.Println(\"page\", %d)\n", i)
		fmt.Fprintf(&after, "\tlog.Printf(\"page %%d of %%d\", %d, len(pages)) // the number of pages is known by now\n", i)
	}
	old, text := "package build\n\nfunc show() {\n"+before.String()+"}\n", "package build\n\nfunc show(pages []Page) {\n"+after.String()+"}\n"
	return acp.ToolContent{Type: "diff", Path: "/site/internal/build/build.go", OldText: &old, NewText: &text}
}

// edit has a file that was changed.
func (p *person) edit(id string, n int) {
	p.call(id, "Edit `internal/build/build.go`", "edit")
	p.ended(id, acp.ToolCompleted, change(n))
}

// options are the answers to most questions.
func options(what string) []acp.PermissionOption {
	return []acp.PermissionOption{
		{OptionID: "once", Name: "Allow once", Kind: "allow_once"}, {OptionID: "always", Name: "Always allow " + what, Kind: "allow_always"},
		{OptionID: "no", Name: "Reject", Kind: "reject_once"}, {OptionID: "never", Name: "Always reject " + what, Kind: "reject_always"},
	}
}

// question asks about a call.
func (p *person) question(t acp.ToolCall, what string) {
	request := acp.RequestPermissionRequest{SessionID: "s1", ToolCall: t, Options: options(what)}
	p.event(asked{&question{answer: make(chan headless.Choice, 1), request: request}})
}

// asks asks about a command.
func (p *person) asks() {
	p.stream("The module file is out of date.")
	title := "Run `go get golang.org/x/net@latest && go mod tidy && git commit -am \"go.mod: update\"`"
	p.call("c1", title, "execute")
	p.question(acp.ToolCall{ToolCallID: "c1", Title: title, Kind: "execute", Status: acp.ToolPending, Content: []acp.ToolContent{acp.BlockContent(acp.TextBlock(
		"- permission asks: it is not known to be read-only (built in)\n" +
			"- What changes it: the answer \"always\", or a rule of tools.permissions.bash that allows \"go get\", \"go mod tidy\", \"git commit\""))}},
		"`go get`, `go mod tidy`, exactly `git commit -am \"go.mod: update\"`")
}

// asksToEdit asks about a change of a file.
func (p *person) asksToEdit(id string, n int) {
	p.call(id, "Edit `internal/build/build.go`", "edit")
	why := acp.TextBlock("- permission asks: changes need permission (built in)\n- What changes it: the answer \"always\", or the command /mode auto")
	p.question(acp.ToolCall{ToolCallID: id, Title: "Edit `internal/build/build.go`", Kind: "edit", Status: acp.ToolPending,
		Content: []acp.ToolContent{change(n), acp.BlockContent(why)}}, "edit inside this project")
}

// talk has a conversation of several turns.
func (p *person) talk() {
	p.begin()
	p.stream(streamed + " yourself.")
	p.event(turnEnded{stop: acp.StopEndTurn})
	p.enter("raise it, and run the tests")
	p.sent()
	p.edit("c1", 2)
	p.result("c2", "Run `go test ./...`", "execute", "ok  \tsite/internal/build\t0.012s\nok  \tsite/internal/page\t0.004s\n")
	p.stream("Done: the build and all tests pass.")
	p.event(turnEnded{stop: acp.StopEndTurn})
	p.event(usage(23_000, 200_000, 0.0312))
}

// resumes has a session that was stored, and a new prompt.
func (p *person) resumes() {
	p.event(opened{id: "s1", state: json.RawMessage(sessionState)})
	p.shown(acp.MessageChunk{Update: acp.UpdateUserMessage, MessageID: "u1", Content: acp.TextBlock("add a sitemap\nwith dates")})
	p.result("c1", "Read `internal/page/page.go`", "read", lines(60))
	p.stream("The sitemap is at `public/sitemap.xml`.")
	p.event(pastTurnEnded{turnEnded{stop: acp.StopEndTurn}})
	p.shown(acp.MessageChunk{Update: acp.UpdateUserMessage, MessageID: "u2", Content: acp.TextBlock("and check it")})
	p.event(pastTurnEnded{turnEnded{failure: "the process ended during this turn"}})
}

// wide has wide characters everywhere.
func (p *person) wide() {
	p.enter("日本語のページを追加して、メニューに入れて、リンクを確認して、テストも書いてください")
	p.sent()
	p.stream("ページを追加しました。" +
		"メニューの順序は既存のページに合わせています。👩‍👩‍👧 é 🇩🇪 を確認しました。")
	p.call("c1", "Write `日本語/設計書についての長い名前のファイルで、画面の幅より長いもの.md`", "edit")
	p.write("次は@日本語/設計書についての長い名前のファイル")
}
