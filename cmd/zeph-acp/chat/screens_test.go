package chat

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/acp"
)

var update = flag.Bool("update", false, "write the expected screens")

// screenRows is the height of the expected screens.
const screenRows = 30

// scene is a point of a conversation.
type scene struct {
	change func(c *Chat)
	play   func(p *person)
}

// scenes has the points of a conversation whose screens are in testdata/screens.
var scenes = map[string]scene{
	"first":       {play: func(p *person) {}},
	"first-ascii": {change: func(c *Chat) { c.ASCII = true }, play: func(p *person) {}},
	"footer": {change: func(c *Chat) {
		c.Jobs, c.Sandbox = func() int { return 2 }, func() string { return "sandbox bwrap" }
	}, play: func(p *person) { p.event(usage(128_000, 1_000_000, 1.234)) }},
	"footer-unpriced": {change: func(c *Chat) {
		c.Jobs, c.Sandbox, c.Unpriced = func() int { return 1 }, func() string { return "no sandbox" }, func() bool { return true }
	}, play: func(p *person) {
		p.choose("bedrock/eu.anthropic.claude-opus-4-5-20251101-v1:0")
		p.event(usage(190_000, 200_000, 0))
	}},
	"menu":         {play: func(p *person) { p.write("/") }},
	"menu-narrow":  {play: func(p *person) { p.write("/mo") }},
	"menu-nothing": {play: func(p *person) { p.write("/zzz") }},
	"menu-files": {play: func(p *person) {
		p.write("look at @")
		p.update(filesFound{projectFiles})
	}},
	"menu-files-narrow": {play: func(p *person) {
		p.write("look at @chvi")
		p.update(filesFound{projectFiles})
	}},
	"pick-mode":  {play: func(p *person) { p.enter("/mode") }},
	"pick-model": {play: func(p *person) { p.enter("/model") }},
	"pick-model-typed": {play: func(p *person) {
		p.enter("/model")
		p.write("son")
	}},
	"pick-nothing": {play: func(p *person) {
		p.enter("/model")
		p.write("zzz")
	}},
	"pick-rewind":  {play: func(p *person) { p.talk(); p.enter("/rewind") }},
	"pick-session": {play: func(p *person) { p.enter("/resume") }},
	"message":      {play: func(p *person) { p.begin(); p.stream(streamed) }},
	"running":      {play: (*person).runs},
	"running-two":  {play: func(p *person) { p.runs(); p.call("c9", "Fetch `https://go.dev/doc/modules/gomod-ref`", "fetch") }},
	"folded":       {play: func(p *person) { p.begin(); p.result("c1", "Run `seq 40`", "execute", lines(40)) }},
	"unfolded":     {play: func(p *person) { p.begin(); p.result("c1", "Run `seq 40`", "execute", lines(40)); p.press("ctrl+o") }},
	"diff":         {play: func(p *person) { p.begin(); p.edit("c1", 3) }},
	"failed":       {play: (*person).fails},
	"plan":         {play: (*person).plans},
	"thought": {play: func(p *person) {
		p.begin()
		p.thinks("The user wants the build to be mended. First look at what fails, then at the module file.")
	}},
	"ask-unready":   {play: func(p *person) { p.begin(); p.write("and then run"); p.asks(); p.write(" the tests") }},
	"ask":           {play: func(p *person) { p.begin(); p.asks(); p.wait(time.Second) }},
	"ask-wrong-key": {play: func(p *person) { p.begin(); p.asks(); p.wait(time.Second); p.press("x") }},
	"ask-reason": {play: func(p *person) {
		p.begin()
		p.asks()
		p.wait(time.Second)
		p.press("n")
		p.write("use go mod tidy, and leave the versions of all other modules as they are")
	}},
	"ask-diff":      {play: func(p *person) { p.begin(); p.asksToEdit("c1", 40); p.wait(time.Second) }},
	"ask-diff-up":   {play: func(p *person) { p.begin(); p.asksToEdit("c1", 40); p.wait(time.Second); p.press("pgup") }},
	"ask-with-text": {play: func(p *person) { p.begin(); p.write("and then"); p.asks(); p.wait(time.Second) }},
	"ask-answered": {play: func(p *person) {
		p.begin()
		p.asks()
		p.wait(time.Second)
		p.press("n", "enter")
	}},
	"waiting":  {play: func(p *person) { p.runs(); p.enter("/status"); p.enter("!git status"); p.enter("be quick") }},
	"steering": {play: func(p *person) { p.runs(); p.enter("be quick"); p.settle() }},
	"status":   {play: func(p *person) { p.begin(); p.wait(125 * time.Second) }},
	"scrolled": {play: func(p *person) { p.talk(); p.press("pgup") }},
	"search": {play: func(p *person) {
		p.talk()
		p.press("ctrl+r")
		p.write("build")
	}},
	"search-nothing": {play: func(p *person) {
		p.talk()
		p.press("ctrl+r")
		p.write("xyz")
	}},
	"long-prompt": {play: func(p *person) { p.talk(); p.update(tea.PasteMsg{Content: longPrompt}) }},
	"vi-normal": {change: func(c *Chat) { c.Vi = true }, play: func(p *person) {
		p.write("why does it fail?")
		p.press("esc")
	}},
	"vi-insert":   {change: func(c *Chat) { c.Vi = true }, play: func(p *person) { p.write("why") }},
	"help":        {play: func(p *person) { p.enter("/help") }},
	"unknown":     {play: func(p *person) { p.enter("/mdoel gpt-5") }},
	"leaving":     {play: func(p *person) { p.talk(); p.press("ctrl+c") }},
	"interrupted": {play: func(p *person) { p.runs(); p.press("esc"); p.event(turnEnded{stop: acp.StopCancelled}) }},
	"refused": {play: func(p *person) {
		p.begin()
		p.event(turnEnded{failure: "The provider has no credit left: 402 Payment Required."})
	}},
	"resumed": {play: (*person).resumes},
	"wide":    {play: func(p *person) { p.wide() }},
	"ascii": {change: func(c *Chat) { c.ASCII = true }, play: func(p *person) {
		p.runs()
		p.stream(streamed)
		p.write("naïve")
	}},
}

// TestScreens compares the screens of a conversation with those in testdata/screens. The last line says where the cursor is.
func TestScreens(t *testing.T) {
	if testing.Short() {
		t.Skip("-short is for the race detector, and this test has one goroutine: run it without -short")
	}
	for name, s := range scenes {
		for _, columns := range []int{40, 100, 200} {
			t.Run(fmt.Sprintf("%s/%d", name, columns), func(t *testing.T) {
				p := s.at(t, columns, screenRows, nil)
				p.compare(fmt.Sprintf("%s.%d.txt", name, columns), p.screen()+"\n"+p.cursor())
			})
		}
	}
}

// TestStyledScreens compares some screens with their escape sequences.
func TestStyledScreens(t *testing.T) {
	for _, name := range []string{"message", "running", "ask", "diff"} {
		for _, colours := range []string{"styled", "colourless"} {
			t.Run(name+"/"+colours, func(t *testing.T) {
				p := scenes[name].at(t, 100, screenRows, func(c *Chat) { c.Colourless = colours == "colourless" })
				p.compare(name+".100."+colours+".txt", strings.ReplaceAll(p.m.View().Content, "\x1b", "␛"))
			})
		}
	}
}

// TestSizes looks at each scene in terminals of many sizes: no row is too long, there are as many rows as the terminal
// has, and the cursor stands in the screen.
func TestSizes(t *testing.T) {
	if testing.Short() {
		t.Skip("-short is for the race detector, and this test has one goroutine: run it without -short")
	}
	for name, s := range scenes {
		for _, size := range [][2]int{{1, 1}, {4, 2}, {10, 3}, {20, 6}, {33, 10}, {80, 24}, {300, 80}} {
			p := s.at(t, size[0], size[1], nil)
			v := p.m.View()
			rows := strings.Split(v.Content, "\n")
			if len(rows) != size[1] {
				t.Errorf("%s at %dx%d has %d rows:\n%s", name, size[0], size[1], len(rows), p.screen())
			}
			for _, r := range rows {
				if width(r) > size[0] {
					t.Errorf("%s at %dx%d has a row of %d columns: %q", name, size[0], size[1], width(r), r)
				}
			}
			if c := v.Cursor; c != nil && (c.X < 0 || c.X >= size[0] || c.Y < 0 || c.Y >= size[1]) {
				t.Errorf("%s at %dx%d has the cursor at %d, %d", name, size[0], size[1], c.X, c.Y)
			}
		}
	}
}

// TestQuestionInSmallTerminals has a question about a short command, which the person can see above its options.
func TestQuestionInSmallTerminals(t *testing.T) {
	for _, size := range [][2]int{{30, 5}, {20, 6}, {33, 8}, {33, 10}, {40, 12}, {80, 24}} {
		p := sit(t, func(c *Chat) { c.Styled = true })
		p.update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		p.begin()
		p.question(acp.ToolCall{ToolCallID: "c1", Title: "Run `make`", Kind: "execute"}, strings.Repeat("`make everything`, ", 9)+"`make`")
		p.wait(time.Second)
		p.press("down", "down")
		if s := p.screen(); !strings.Contains(s, "╭ execute  Run") || !strings.Contains(s, "❯ 3  Reject") || !strings.Contains(s, "\ny, a") {
			t.Errorf("the screen of %d columns and %d rows does not show the question:\n%s", size[0], size[1], s)
		}
	}
}

// at plays a scene in a terminal of a size.
func (s scene) at(t *testing.T, columns, rows int, change func(c *Chat)) *person {
	t.Helper()
	p := sit(t, func(c *Chat) {
		c.Styled, c.Sessions, c.Turns = true, pastSessions, func(string) []Choice { return pastTurns }
		for _, f := range []func(c *Chat){s.change, change} {
			if f != nil {
				f(c)
			}
		}
	})
	p.update(tea.WindowSizeMsg{Width: columns, Height: rows})
	p.event(opened{state: []byte(sessionState), call: func(string, any, any) error { return nil }})
	p.shown(map[string]any{"sessionUpdate": acp.UpdateCommands, "availableCommands": allCommands})
	s.play(p)
	return p
}

// cursor says where the cursor is.
func (p *person) cursor() string {
	c := p.m.View().Cursor
	if c == nil {
		return "[no cursor]"
	}
	return fmt.Sprintf("[cursor in row %d, column %d]", c.Y+1, c.X+1)
}

// compare compares a screen with an expected one.
func (p *person) compare(name, got string) {
	p.t.Helper()
	path := filepath.Join("testdata", "screens", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			p.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got+"\n"), 0o666); err != nil {
			p.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		p.t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got+"\n"); d != "" {
		p.t.Errorf("the screen differs from %s (-want +got); -update writes it:\n%s", path, d)
	}
}
