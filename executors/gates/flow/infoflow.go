// Package flow labels a session by the content that it has read, and asks
// before a labelled session sends data out.
//
// A session is *untrusted* once it has read content that a stranger may have
// written, and *private* once it has read a secret. While both labels hold, a
// call that can send data out asks the user, and no "always" answers that
// question. The tables in table.go list the programs that set labels and those that
// send.
//
// Put [Flow.Link] into the chain of one session. The labels are
// deterministic: no model decides. They hold until [Flow.Reset], and
// [Flow.Save] keeps them for the next process.
//
// These are labels, not taint tracking: they hold for the whole session and do not follow a value.
// Three kinds of data can still leave: data that the model had before the first label, data in the
// path of a URL, and data that a program of the project sends.
//
// Why does the gate ask rather than deny? Most sessions with both labels do
// ordinary work, such as a push after reading a bug report. The user sees the
// sources of both labels, and decides.
package flow

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/zeph-acp/zeph-acp/executors"
)

// Name is the name of the gate.
const Name = "information_flow"

// Flow holds the labels of one session. It may be used concurrently. Start with
// [New].
type Flow struct {
	// Trusted reports whether an MCP server is trusted; nil means that no server is.
	Trusted func(server string) bool
	// MapPath returns the name that the lists of files use for an absolute path; nil
	// changes no name.
	MapPath func(path string) string
	// Save stores the labels for [Flow.Restore]; nil does not store them.
	Save func(state json.RawMessage)

	cfg                Config
	home               string // empty means unknown
	private, untrusted []pattern
	labels             labels
}

// New returns the flow of a session without labels. home is the user's home
// directory; empty means unknown.
func New(cfg Config, home string) *Flow {
	return &Flow{cfg: cfg, home: home, private: patterns(cfg.Private, home), untrusted: patterns(cfg.Untrusted, home)}
}

// Link returns the gate, or nil if it is off. It checks each call, and labels the
// session by the calls that ran.
func (f *Flow) Link() executors.Middleware {
	if !f.cfg.Enabled {
		return nil
	}
	gate := executors.Gate(Name, f.check)
	return func(next executors.Executor) executors.Executor { return gate(observer{next, f}) }
}

// check asks about a call that can send data out while both labels hold. The
// files that a command would read count immediately: one script can read and
// send.
func (f *Flow) check(_ context.Context, call *executors.Call) (executors.Verdict, error) {
	now := f.labels.first()
	if now.untrusted == "" && (len(f.untrusted) == 0 || call.Card.Command() == "") {
		return executors.Verdict{}, nil
	}
	now = now.or(f.fileLabels(shownByScript(call.Card.Script)))
	if now.untrusted == "" || now.private == "" {
		return executors.Verdict{}, nil
	}
	how := f.sends(call)
	if how == "" {
		return executors.Verdict{}, nil
	}
	return executors.Verdict{
		Decision: executors.Ask, Rule: "untrusted and private: " + how,
		Reason: fmt.Sprintf("%s can send data out, and the session has read %s (private) and %s (untrusted)", how,
			now.private, now.untrusted),
		Source: "tools.information_flow.enabled", Change: "the command /clear, which drops the labels with the conversation",
	}, nil
}

// observer labels the session by the calls that ran.
type observer struct {
	executors.Executor
	flow *Flow
}

func (o observer) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	res, err := o.Executor.Execute(ctx, call)
	if !res.Denied() && (err == nil || res.Text != "") { // a cancelled call without output may not have run
		o.flow.observe(call, res)
	}
	return res, err
}

// observe adds the labels of a call that ran.
func (f *Flow) observe(call *executors.Call, res executors.Result) {
	s := call.Card.Script
	found := f.contentLabels(call).or(label{untrusted: strangersIn(s)})
	if s != nil || !res.Failed { // a file tool that failed has shown no file
		found = found.or(f.fileLabels(append(shownByScript(s), shownFiles(call, res)...)))
	}
	if call.Record != nil && call.Record.Masked > 0 {
		found = found.or(label{private: "a credential in the result of " + call.Tool})
	}
	f.add(found)
}

// Attached labels the session by a resource that a prompt embeds.
func (f *Flow) Attached(uri string) {
	if f.cfg.Enabled {
		f.add(f.resourceLabels(uri))
	}
}

// ReadServer labels the session by text of an MCP server that no call returned, such
// as a prompt.
func (f *Flow) ReadServer(name string) {
	if f.cfg.Enabled {
		f.add(f.serverLabels(name))
	}
}

// State returns the labels as Save receives them; nil means no labels.
func (f *Flow) State() json.RawMessage {
	if now := f.labels.all(); len(now.Untrusted)+len(now.Private) > 0 {
		return now.encoded()
	}
	return nil
}

// Add adds the labels of another session, as [Flow.State] returned them: the model has read
// text of it.
func (f *Flow) Add(state json.RawMessage) {
	var stored sources
	if !f.cfg.Enabled || len(state) == 0 || json.Unmarshal(state, &stored) != nil {
		return
	}
	if f.labels.addAll(stored) {
		f.save()
	}
}

// Reset drops the labels, since the model has forgotten its sources.
func (f *Flow) Reset() {
	if f.labels.set(sources{}) {
		f.save()
	}
}

// Restore sets the labels that Save received last.
func (f *Flow) Restore(state json.RawMessage) {
	var stored sources
	if len(state) > 0 && json.Unmarshal(state, &stored) == nil {
		f.labels.set(stored.bounded())
	}
}

// Both returns the state of a session with both labels from one source, for
// [Flow.Restore].
func Both(source string) json.RawMessage {
	return sources{Untrusted: []string{source}, Private: []string{source}}.encoded()
}

// Status returns a line about the labels for /status, or no line.
func (f *Flow) Status() []string { return f.labels.status() }

func (f *Flow) add(found label) {
	if f.labels.add(found) {
		f.save()
	}
}

func (f *Flow) save() {
	if f.Save != nil {
		f.Save(f.labels.all().encoded())
	}
}
