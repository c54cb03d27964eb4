package certify

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// turn is a prompt of the client, and the scenario that it runs.
type turn struct {
	*agent
	id       json.RawMessage // of the request
	session  string
	cwd      string
	dir      string // see scratch; empty until it is used
	text     string
	prompt   []contentBlock
	children []string // sessions of sub-agents

	scenario scenario
	broken   bool   // guarded by agent.mu
	crossed  bool   // questions crossed session/cancel on the wire
	mayEnd   bool   // the client was asked to cancel, and may end instead
	why      string // why the scenario was not tried; "" if it was

	once      sync.Once
	cancelled chan struct{}
}

func (t *turn) stop() { t.once.Do(func() { close(t.cancelled) }) }

func (t *turn) isCancelled() bool {
	select {
	case <-t.cancelled:
		return true
	default:
		return false
	}
}

// prompt runs a turn after the ones before it.
func (a *agent) prompt(f frame, p params) {
	t := &turn{agent: a, id: f.ID, session: p.SessionID, prompt: p.Prompt, cancelled: make(chan struct{})}
	for _, b := range p.Prompt {
		t.text += b.Text
	}
	a.mu.Lock()
	t.cwd = a.sessions[p.SessionID]
	a.prompts = append(a.prompts, t)
	a.mu.Unlock()
	a.turns.Go(func() {
		select {
		case a.turn <- struct{}{}:
			t.run()
			<-a.turn
		case <-a.closed:
		}
	})
}

// run runs the scenario of the prompt, and answers the prompt.
func (t *turn) run() {
	s, ok := t.choose()
	t.begin(s)
	switch {
	case !ok:
		t.say("There is no scenario of that name, or none is left to run. `/certify NAME` runs one of " + strings.Join(Names(), ", ") + ".")
	case t.why == "":
		t.introduce()
		s.run(t)
		if !t.isCancelled() {
			t.ping()
		}
	}
	reason := "end_turn"
	if t.isCancelled() {
		reason = "cancelled"
	} else if ok {
		t.say(t.verdict())
	}
	if t.dir != "" {
		_ = os.RemoveAll(t.dir) // nothing else can be done about it
	}
	t.record(ok) // first, since some clients kill the agent once they have the answer
	t.finish(reason)
	if ok && s.after != nil && t.why == "" {
		s.after(t)
		t.record(ok)
	}
	t.leave()
}

// choose returns the scenario of the prompt: the one that it names, or the next one.
func (t *turn) choose() (scenario, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	name, named := t.config.Only, t.config.Only != "" && len(t.seen) == 0
	if _, after, ok := strings.Cut(t.text, "/certify "); ok && len(strings.Fields(after)) > 0 {
		name, named = strings.Fields(after)[0], true
	}
	for _, s := range scenarios() {
		switch {
		case named && s.name != name, !named && (t.config.Only != "" || t.seen[s.name] || s.unprompted):
		case !s.in(t.version):
			t.why = fmt.Sprintf("version %d has no such scenario", t.version)
			if named {
				return s, true
			}
		case s.needs != "" && !supports(t.client, t.version, s.needs):
			t.why = "the client does not declare " + s.needs
			if named {
				return s, true
			}
		default:
			t.why = ""
			return s, true
		}
	}
	t.why = ""
	return scenario{}, false
}

// begin makes the turn the current one.
func (t *turn) begin(s scenario) {
	t.mu.Lock()
	t.scenario, t.current = s, t
	if s.name != "" {
		t.seen[s.name] = true
		if t.why == "" {
			t.report.result(s.name, NotTried, "the client ended first")
		}
	}
	t.changed()
	version := t.version
	t.mu.Unlock()
	if version == 2 {
		id := t.name("message")
		t.update(t.session, "user_message", map[string]any{"messageId": id, "content": []any{textBlock(t.text)}})
		t.respond(t.id, map[string]any{"messageId": id})
		t.state("running")
	}
}

// introduce tells a user what the scenario is about.
func (t *turn) introduce() {
	text := fmt.Sprintf("**%s**: %s", t.scenario.name, t.scenario.about)
	if t.scenario.ask != "" {
		text += " " + t.scenario.ask
	}
	t.say(text + "\n\n")
}

// verdict returns the result for a user.
func (t *turn) verdict() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.broken:
		return "\n\nBroken. The report has the frames."
	case t.why != "":
		return "\n\nNot tried: " + t.why + "."
	case t.scenario.unprompted:
		return "\n\nIt passes once you have done that."
	}
	return "\n\nPassed."
}

// finish ends the turn for the client.
func (t *turn) finish(reason string) {
	if t.speaks() == 2 {
		t.update(t.session, "state_update", map[string]any{"state": "idle", "stopReason": reason})
		return
	}
	t.respond(t.id, map[string]any{"stopReason": reason})
}

// record stores the result of the scenario.
func (t *turn) record(ran bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case !ran:
	case t.broken:
		t.report.result(t.scenario.name, Broken, "")
	case t.scenario.unprompted: // its own frames decide
	case t.why != "":
		t.report.result(t.scenario.name, NotTried, t.why)
	case t.scenario.after != nil && t.report.observed["late-frames"] == 0:
		t.report.result(t.scenario.name, NotTried, "the client did not read on after the turn")
	default:
		t.report.result(t.scenario.name, Passed, "")
	}
	t.changed()
}

// leave ends the turn for the agent.
func (t *turn) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.current = nil
	t.prompts = slices.DeleteFunc(t.prompts, func(other *turn) bool { return other == t })
	t.changed()
}

// notTried ends the scenario without a result, unless something broke.
func (t *turn) notTried(format string, args ...any) {
	if t.why == "" {
		t.why = fmt.Sprintf(format, args...)
	}
}

// over reports whether the client has ended.
func (t *turn) over() bool {
	select {
	case <-t.closed:
		return true
	default:
		return false
	}
}

// expects asks for something that needs no person. No answer in time breaks a statement.
func (t *turn) expects(method string, params map[string]any) reply {
	return t.within(t.ask(method, params), t.config.Patience)
}

// within waits for an answer that needs no person.
func (t *turn) within(r *request, limit time.Duration) reply {
	got := t.wait(r, limit)
	if !got.silent {
		t.checked("stays", true, "")
		return got
	}
	if t.over() {
		t.checked("stays", t.mayEnd, "the client ended instead of answering "+r.method, agentFrame(r.line))
	} else {
		t.checked("answered-once", false, fmt.Sprintf("%s is not answered within %s", r.method, limit), agentFrame(r.line))
	}
	t.notTried("the client did not answer")
	return got
}

// person asks for something that a person answers.
func (t *turn) person(r *request) reply {
	limit := time.Duration(0)
	if t.config.Only != "" {
		limit = t.config.Patience
	}
	got := t.wait(r, limit)
	if got.silent && !t.over() {
		t.checked("answered-once", false, fmt.Sprintf("%s is not answered within %s", r.method, limit), agentFrame(r.line))
	}
	if got.silent {
		t.notTried("nobody answered")
	}
	return got
}

// waitForCancel waits for session/cancel, and reports whether it came.
func (t *turn) waitForCancel() bool {
	t.wants("cancel")
	defer t.wants("")
	var late <-chan time.Time
	if t.config.Only != "" {
		timer := time.NewTimer(t.config.Patience)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-t.cancelled:
		return true
	case <-t.closed:
	case <-late:
	}
	if !t.isCancelled() {
		t.notTried("the client did not cancel")
	}
	return t.isCancelled()
}

// wants publishes what the scenario waits for.
func (t *turn) wants(what string) {
	t.mayEnd = true
	t.mu.Lock()
	defer t.mu.Unlock()
	t.report.Waiting = what
	t.changed()
}

// pingPatience limits the wait for the answer to an unknown method.
const pingPatience = 10 * time.Second

// ping checks that the client has read all frames before and is alive: it must refuse an
// unknown method.
func (t *turn) ping() {
	t.mu.Lock()
	mute := t.mute
	t.mu.Unlock()
	switch {
	case t.over() && t.why == "":
		t.checked("stays", t.mayEnd, "the client ended in a turn")
		t.notTried("the client ended first")
		return
	case mute || t.over():
		return
	}
	r := t.ask("_zeph/certify", map[string]any{"sessionId": t.session})
	got := t.wait(r, min(pingPatience, t.config.Patience))
	switch {
	case got.silent && t.over():
		t.checked("stays", t.mayEnd, "the client ended in a turn", agentFrame(r.line))
		t.notTried("the client ended first")
	case got.silent:
		t.mu.Lock()
		t.mute = true
		t.report.observed["unknown-methods"]++
		t.report.breaks("unknown-methods", connection, "an unknown method is not answered", got.frames())
		t.mu.Unlock()
	}
}

// scratch returns the directory of the scenario's files in the session's directory, of a name that nobody has. It is
// removed after the turn.
func (t *turn) scratch() string {
	for n := 1; t.dir == ""; n++ {
		dir := filepath.Join(t.cwd, fmt.Sprintf("zeph-certify-%d.tmp", n))
		if _, err := os.Lstat(dir); err != nil {
			t.dir = dir
		}
	}
	return t.dir
}

// file returns the path of a new file for the scenario; "" if it cannot be written.
func (t *turn) file(name, text string) string {
	path := filepath.Join(t.scratch(), name)
	err := os.MkdirAll(t.scratch(), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil || !filepath.IsAbs(path) {
		t.notTried("no file can be written in the session's directory")
		return ""
	}
	return path
}
