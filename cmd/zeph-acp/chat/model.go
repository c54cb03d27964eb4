package chat

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/chat/editor"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
)

// model is the screen of the conversation: a pure function from messages to rows. What takes time is a command.
type model struct {
	chat *Chat
	st   styles

	width, height int
	feed          feed
	window        window
	editor        *editor.Editor
	session       state
	call          headless.Call // nil until a session is open

	running  bool           // a turn runs
	began    time.Time      // that turn
	steer    headless.Steer // nil if no turn takes texts
	steering []string       // texts that the turn has not taken yet
	queue    []string       // prompts that wait
	hasTurns bool           // a prompt was sent: the session is stored
	ended    bool           // the conversation has ended
	err      error          // with that error

	question  *question   // that is shown
	questions []*question // that wait
	menu      menu
	browsing  bool    // the prompt is an earlier one, which needs no menu
	picker    *picker // nil if nothing is picked
	files     []string

	frame    int       // of the spinner
	ticking  bool      // the spinner turns
	taken    time.Time // the last events
	drafted  time.Time // the last key that went into the draft
	answered time.Time // the last key that answered a question
	pressed  time.Time // the last key
	leaving  bool      // the last key was a Ctrl-C that did nothing else
	focus    focus
	usage    acp.UsageUpdate
	title    string // of the session
	hint     string // in place of the footer, until the next key
}

// now and later are the clock, which tests replace.
func (m *model) now() time.Time { return m.chat.now() }

func (m *model) later(d time.Duration, msg tea.Msg) tea.Cmd { return m.chat.later(d, msg) }

// frameTime is the time between two pictures of a conversation that changes.
const frameTime = 33 * time.Millisecond

// spin is sent while the spinner turns.
type spin struct{}

const spinTime = 125 * time.Millisecond

func newModel(c *Chat) *model {
	m := &model{chat: c, pressed: c.now(), st: styles{c.Styled}, editor: editor.New(c.Vi), width: 80, height: 24}
	m.feed.paint = paint{columns: m.width, styled: c.Styled, colourless: c.Colourless, rules: c.Rules}
	m.window.feed = &m.feed
	m.editor.SetHistory(c.History.Load())
	m.feed.add(&entry{kind: kindOwn, draw: m.banner})
	return m
}

// Init implements [tea.Model].
func (m *model) Init() tea.Cmd {
	if m.chat.Pick {
		m.openSessions()
		if m.picker == nil {
			m.chat.switchTo("")
			return nil
		}
		m.picker.unpicked = func() { m.chat.switchTo("") }
		return nil
	}
	return m.submit(m.chat.First)
}

// Update implements [tea.Model].
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = max(msg.Width, 1), max(msg.Height, 1)
		m.feed.paint.columns = m.columns()
	case tea.KeyPressMsg:
		return m, m.press(msg)
	case tea.PasteMsg:
		return m, m.paste(msg.Content)
	case tea.MouseWheelMsg:
		m.wheel(msg)
	case tea.MouseClickMsg:
		m.click(msg)
	case tea.FocusMsg:
		m.focus = focused
	case tea.BlurMsg:
		m.focus = blurred
	case eventsPending:
		if rest := frameTime - m.now().Sub(m.taken); rest > 0 {
			return m, m.later(rest, takeEvents{})
		}
		return m, m.take()
	case takeEvents:
		return m, m.take()
	case questionReady:
		return m, m.becomeReady(msg.question)
	case spin:
		if m.ticking = m.running && !m.ended; m.ticking {
			m.frame++
			return m, m.later(spinTime, spin{})
		}
	case edited:
		m.editedOutside(msg)
		return m, m.readAgain()
	case tea.ResumeMsg:
		return m, m.readAgain()
	case filesFound:
		m.files = msg.names
		m.fillMenu()
	case leave:
		return m, tea.Quit
	}
	return m, nil
}

// takeEvents is sent when it is time for the next picture.
type takeEvents struct{}

// leave ends the program.
type leave struct{}

// columns returns the width of the feed.
func (m *model) columns() int { return max(m.width, 10) }

// take shows the pending events.
func (m *model) take() tea.Cmd {
	m.taken = m.now()
	var all []tea.Cmd
	for _, e := range m.chat.bridge.take() {
		all = append(all, m.event(e))
	}
	return tea.Batch(all...)
}

// event shows one event of the conversation.
func (m *model) event(e any) tea.Cmd {
	switch e := e.(type) {
	case updated:
		m.update(e.params)
	case printed:
		m.feed.print(e.terminal, e.text)
	case opened:
		_ = json.Unmarshal(e.state, &m.session) // members that cannot be read are not offered
		if e.id != "" {
			m.session.ID = e.id
		}
		m.call = e.call
		m.redrawOwn()
		if first := m.chat.First; m.chat.Pick && first != "" {
			m.chat.First = ""
			return m.submit(first)
		}
	case listening:
		m.steer = e.steer
	case steered:
		return m.showSteered(e)
	case turnEnded:
		return m.endTurn(e)
	case pastTurnEnded:
		m.hasTurns = true
		m.showEnd(e.turnEnded)
	case asked:
		m.questions = append(m.questions, e.question)
		return m.askNext()
	case withdrawn:
		return m.withdraw(e.question)
	case said:
		m.feed.say(e.text, e.failed)
	case optionSet:
		m.showOption(e)
	case conversationEnded:
		m.ended, m.running, m.err = true, false, e.err
		m.feed.endTurn()
		return tea.Quit
	}
	return nil
}

// update shows a session/update, and follows the state of the session.
func (m *model) update(params json.RawMessage) {
	session, kind, update, ok := headless.Parts(params)
	if !ok {
		return
	}
	var changed struct {
		Mode  string `json:"currentModeId"`
		Title string `json:"title"`
	}
	_ = json.Unmarshal(update, &changed)               // updates of other kinds have neither
	if m.session.ID != "" && session != m.session.ID { // of a sub-agent, whose state is its own
		m.feed.update(params)
		return
	}
	switch kind {
	case acp.UpdateCommands, acp.UpdateOptions:
		_ = json.Unmarshal(update, &m.session)
		m.redrawOwn()
		m.fillMenu()
	case acp.UpdateMode:
		m.session.Modes.Current = changed.Mode
	case acp.UpdateUsage:
		m.usage = acp.UsageUpdate{}
		_ = json.Unmarshal(update, &m.usage)
	case acp.UpdateInfo:
		if changed.Title != "" {
			m.title = headless.OneLine(changed.Title)
		}
	default:
		m.feed.update(params)
	}
}

// redrawOwn draws the banner again, which shows the session.
func (m *model) redrawOwn() {
	for _, e := range m.feed.entries {
		if e.kind == kindOwn {
			e.drawn = nil
		}
	}
}

// submit acts on a text that the person has entered.
func (m *model) submit(text string) tea.Cmd {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil
	}
	if limit := m.chat.MaxBytes; limit > 0 && len(text) > limit {
		m.editor.SetText(text)
		m.hint = tooLong(limit)
		return nil
	}
	m.window.top = nil
	m.editor.AddHistory(text)
	m.chat.History.Add(text)
	if cmd, done := m.ownCommand(text); done {
		return cmd
	}
	if m.running && m.steer != nil && (!isTyped(text) || controlsGoal(text)) {
		return m.steerTurn(text)
	}
	if m.running {
		m.queue = append(m.queue, text)
		return nil
	}
	return m.begin(text)
}

// isTyped reports whether a prompt is a command, which no model answers.
func isTyped(text string) bool { return strings.HasPrefix(text, "/") || strings.HasPrefix(text, "!") }

// controlsGoal reports whether a text is a command that the agent answers during the turn of a goal.
// During any other turn it answers that the text is a prompt.
func controlsGoal(text string) bool { return text == "/goal" || strings.HasPrefix(text, "/goal ") }

// begin sends a prompt, which begins a turn.
func (m *model) begin(text string) tea.Cmd {
	m.running, m.hasTurns, m.began, m.hint = true, true, m.now(), ""
	e := m.feed.add(&entry{kind: acp.UpdateUserMessage})
	e.text.WriteString(text)
	select {
	case <-m.chat.interrupt: // of an earlier turn
	default:
	}
	blocks, problems := m.chat.promptBlocks(text)
	for _, p := range problems {
		m.feed.say(p, true)
	}
	m.chat.prompts <- blocks
	return m.turn()
}

// turn turns the spinner.
func (m *model) turn() tea.Cmd {
	if m.ticking {
		return nil
	}
	m.ticking = true
	return m.later(spinTime, spin{})
}

// steerTurn adds a text to the running turn.
func (m *model) steerTurn(text string) tea.Cmd {
	steer, b := m.steer, m.chat.bridge
	m.steering = append(m.steering, text)
	m.chat.work.Go(func() {
		outcome, isPrompt := steer(text)
		b.add(steered{text, outcome, isPrompt})
	})
	return nil
}

// showSteered shows what became of a text for the running turn.
func (m *model) showSteered(e steered) tea.Cmd {
	if i := slices.Index(m.steering, e.text); i >= 0 {
		m.steering = slices.Delete(m.steering, i, i+1)
	}
	if !e.isPrompt {
		m.feed.say(e.outcome+": "+e.text, !headless.Added(e.outcome))
		if !headless.Added(e.outcome) {
			m.giveBack(e.text)
		}
		return nil
	}
	if m.running {
		m.queue = append(m.queue, e.text)
		return nil
	}
	return m.begin(e.text)
}

// endTurn shows the end of a turn, and begins the next one if a prompt waits.
func (m *model) endTurn(e turnEnded) tea.Cmd {
	m.running = false
	m.showEnd(e)
	if len(m.queue) > 0 {
		next := m.queue[0]
		m.queue = m.queue[1:]
		return m.begin(next)
	}
	return m.alert("The turn has ended")
}

// interruptTurn cancels the running turn. Prompts that wait come back to the editor.
func (m *model) interruptTurn() {
	if !m.running {
		return
	}
	if len(m.queue) > 0 {
		m.giveBack(strings.Join(m.queue, "\n"))
		m.queue = nil
	}
	select {
	case m.chat.interrupt <- struct{}{}:
	default:
	}
}

// giveBack puts a text that was not sent before the prompt again.
func (m *model) giveBack(text string) {
	if draft := m.editor.Text(); draft != "" {
		text += "\n" + draft
	}
	m.editor.SetText(text)
}

// showEnd shows how a turn ended, unless the model ended it by itself.
func (m *model) showEnd(e turnEnded) {
	m.feed.endTurn()
	switch {
	case e.failure != "":
		m.feed.say(e.failure, true)
	case e.stop != "" && e.stop != acp.StopEndTurn:
		m.feed.say(e.stop.Sentence(), false)
	}
}
