// Package trust checks calls by the trust in their tool and in the sources that the turn
// has read.
//
// Skills, MCP servers, tools and web pages are subjects, each with a [Level]. Put
// [Trust.Link] into the chain of one session, and call [Trust.Begin] before each
// turn. [Trust.Level] returns the level of a call for rules; [Trust.Command] is
// the user's command.
//
//	level        a call of the subject   calls after its text was read in the turn
//	trusted      by the rules            by the rules
//	provisional  by the rules            by the rules
//	untrusted    always asks             no changes, commands, network, MCP servers or skills
//	blocked      denied                  denied
//
// The least trusted source of a turn counts. Only text that a call returned is a
// source: a skill that was offered but not loaded changes nothing.
//
// Why is there a level between trusted and untrusted that changes no call? Rules can name
// it as trust_level, and information flow labels a session that has read text of a server
// that is not trusted.
package trust

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/zeph-acp/zeph-acp/executors"
)

// Name is the name of the gate.
const Name = "trust"

// Trust holds the levels of one session. It may be used concurrently. Start with
// [New].
type Trust struct {
	// Entry reports whether the configuration of an MCP server calls it trusted; nil
	// means that none is.
	Entry func(server string) bool
	// LowerOnly reports that an administrator has set levels, which the user can only lower.
	LowerOnly bool
	// Forget is called with the name of a tool whose level the user set; nil ignores
	// it.
	Forget func(tool string)
	// Save stores the levels for [Trust.Restore]; nil does not store them.
	Save func(state json.RawMessage)

	cfg Config

	mu           sync.Mutex
	overrides    overrides
	readThisTurn []string // the subjects whose text this turn has read
}

// overrides is the part of the levels that the session itself has set.
type overrides struct {
	Set     map[string]Level  `json:"set,omitempty"`     // by the user
	Blocked map[string]string `json:"blocked,omitempty"` // by anomaly detection, with the reason
}

// New returns the levels of a session, as configured.
func New(cfg Config) *Trust {
	return &Trust{cfg: cfg, overrides: overrides{map[string]Level{}, map[string]string{}}}
}

// Link returns the gate, or nil if it is off.
func (t *Trust) Link() executors.Middleware {
	if !t.cfg.Enabled {
		return nil
	}
	gate := executors.Gate(Name, t.check)
	return func(next executors.Executor) executors.Executor { return gate(observer{next, t}) }
}

// Begin begins a turn, which has read nothing.
func (t *Trust) Begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.readThisTurn = nil
}

// Level returns the level of a call: the least of its subjects and of the sources
// of the turn.
func (t *Trust) Level(call *executors.Call) Level {
	level, _ := t.leastRead()
	for _, subject := range subjects(call) {
		level = min(level, t.LevelOf(subject))
	}
	return level
}

// LevelOf returns the level of a subject.
func (t *Trust) LevelOf(subject string) Level {
	t.mu.Lock()
	defer t.mu.Unlock()
	level, _ := t.levelOf(subject)
	return level
}

// leastRead returns the level of the least trusted source of the turn, and its
// subject. The subject is empty if all sources are trusted.
func (t *Trust) leastRead() (least Level, read string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	least = Trusted
	for _, subject := range t.readThisTurn {
		if level, _ := t.levelOf(subject); level < least {
			least, read = level, subject
		}
	}
	return least, read
}

// check denies a call of a blocked subject, and asks about an untrusted one. The sources
// that the turn has read count as well.
func (t *Trust) check(_ context.Context, call *executors.Call) (executors.Verdict, error) {
	if call.Record != nil {
		call.Record.Trust = t.Level(call).String()
	}
	asks := ""
	for _, subject := range subjects(call) {
		switch level, why := t.explain(subject); level {
		case Blocked:
			return verdict(executors.Deny, subject, level, fmt.Sprintf("%s is blocked%s", subject, why)), nil
		case Untrusted:
			asks = subject
		}
	}
	level, read := t.leastRead()
	if level == Blocked || level == Untrusted && deniedAfterUntrusted(call) {
		return verdict(executors.Deny, read, level, fmt.Sprintf("this turn has read %s, which is %s", read, level)), nil
	}
	if asks != "" {
		return verdict(executors.Ask, asks, Untrusted, asks+" is untrusted"), nil
	}
	return executors.Verdict{}, nil
}

func verdict(d executors.Decision, subject string, level Level, reason string) executors.Verdict {
	return executors.Verdict{
		Decision: d, Rule: fmt.Sprintf("%s = %s", subject, level), Reason: reason, Source: "tools.trust.levels",
		Change: fmt.Sprintf("the command /trust set %s trusted", subject),
	}
}

// deniedAfterUntrusted reports whether a call is denied after an untrusted text: it could
// change something, send data out, load other instructions, or save text for later turns.
func deniedAfterUntrusted(call *executors.Call) bool {
	e := call.Spec.Effect
	return call.Server() != "" || e.Has(executors.Mutates) || e.Has(executors.Network) || call.Card.Command() != "" ||
		call.Spec.Kind == executors.KindExecute && !e.ReadOnly() || call.Spec.Subject.Of == executors.SkillSubject || call.Spec.Is(executors.SavesText)
}

// observer records the sources that a turn has read.
type observer struct {
	executors.Executor
	trust *Trust
}

func (o observer) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	res, err := o.Executor.Execute(ctx, call)
	if err == nil && !res.Denied() {
		o.trust.addSources(origins(call, res)...)
	}
	return res, err
}

// Refuses reports whether an MCP server is blocked, for its texts that no call returns.
func (t *Trust) Refuses(server string) bool {
	return t.cfg.Enabled && t.LevelOf(Server(server)) == Blocked
}

// ReadServer records that the turn has text of an MCP server that no call returned, such
// as a prompt.
func (t *Trust) ReadServer(name string) { t.addSources(Server(name)) }

// ReadSkill records that the turn has the text of a skill. It must be called before the
// calls of the skill.
func (t *Trust) ReadSkill(name string) { t.addSources(skillPrefix + name) }

// addSources adds sources of the turn.
func (t *Trust) addSources(subjects ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, subject := range subjects {
		if !slices.Contains(t.readThisTurn, subject) {
			t.readThisTurn = append(t.readThisTurn, subject)
		}
	}
}
