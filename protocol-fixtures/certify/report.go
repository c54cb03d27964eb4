package certify

import (
	"fmt"
	"slices"
	"time"
)

// The results of scenarios and statements, and of capabilities.
const (
	Passed      = "passed" // of a scenario
	Kept        = "kept"   // of a statement or capability
	Broken      = "broken"
	NotTried    = "not tried"
	NotDeclared = "not declared"
)

// notRun is the reason of scenarios that nobody began.
const notRun = "it was not run"

// Report is what certify found out about a client.
type Report struct {
	Client       Client       `json:"client"`
	Protocol     int          `json:"protocol"` // 0: the client sent no initialize
	Capabilities []Capability `json:"capabilities"`
	Scenarios    []Scenario   `json:"scenarios"`
	Statements   []Statement  `json:"statements"`
	Broken       []Finding    `json:"broken"`
	Waiting      string       `json:"waiting,omitempty"` // what a running scenario waits for: "cancel"

	began    bool
	all      []scenario // of this version and the other
	results  map[string]*Scenario
	observed map[string]int
}

// Client is the name of a client.
type Client struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Capability is one that clients can declare.
type Capability struct {
	Name   string `json:"name"` // its path
	Result string `json:"result"`
}

// Scenario is the result of a scenario.
type Scenario struct {
	Name   string `json:"name"`
	About  string `json:"about"`
	Needs  string `json:"needs,omitempty"` // the capability that it uses
	Result string `json:"result"`
	Reason string `json:"reason,omitempty"` // why it was not tried
}

// Statement is the result of a statement.
type Statement struct {
	Name   string `json:"name"`
	Level  string `json:"level"` // MUST or SHOULD
	Text   string `json:"text"`
	Result string `json:"result"`
}

// Finding is one way in which a client broke a statement.
type Finding struct {
	Statement string   `json:"statement"`
	Level     string   `json:"level"`
	What      string   `json:"what"`
	Scenarios []string `json:"scenarios"` // where it was seen
	Frames    []Frame  `json:"frames"`    // of the first time
}

// Frame is a line of the wire.
type Frame struct {
	From string `json:"from"` // agent or client
	Line string `json:"line"`
}

// maxFrame limits a frame in a report, in bytes.
const maxFrame = 2000

func agentFrame(line []byte) Frame  { return Frame{"agent", clip(string(line), maxFrame)} }
func clientFrame(line []byte) Frame { return Frame{"client", clip(string(line), maxFrame)} }

func newReport() *Report {
	r := &Report{all: scenarios(), results: map[string]*Scenario{}, observed: map[string]int{}}
	r.result(connection, NotTried, "the client sent no initialize")
	for _, s := range scenarios() {
		reason := notRun
		if s.unprompted {
			reason = "the client did not ask for it"
		}
		r.result(s.name, NotTried, reason)
	}
	r.finish(nil)
	return r
}

// result sets the result of a scenario.
func (r *Report) result(name, result, reason string) {
	r.results[name] = &Scenario{Name: name, Result: result, Reason: reason}
}

// reached notes that a client used an unprompted scenario.
func (r *Report) reached(name string) {
	if r.results[name].Result != Broken {
		r.result(name, Passed, "")
	}
}

// breaks records a broken statement.
func (r *Report) breaks(name, scenario, what string, frames []Frame) {
	i := slices.IndexFunc(statements, func(s statement) bool { return s.name == name })
	r.add(Finding{name, statements[i].level, what, []string{scenario}, frames})
}

// add adds a finding, or the scenarios of one that is there.
func (r *Report) add(f Finding) {
	for i, known := range r.Broken {
		if known.Statement == f.Statement && known.What == f.What {
			for _, s := range f.Scenarios {
				if !slices.Contains(known.Scenarios, s) {
					r.Broken[i].Scenarios = append(r.Broken[i].Scenarios, s)
				}
			}
			return
		}
	}
	r.Broken = append(r.Broken, f)
}

// broke reports whether a finding fulfils a condition.
func (r *Report) broke(is func(Finding) bool) bool { return slices.ContainsFunc(r.Broken, is) }

// finish fills the lists of the report. client are the capabilities.
func (r *Report) finish(client map[string]any) {
	if r.began {
		r.result(connection, Passed, "")
		if r.broke(func(f Finding) bool { return slices.Contains(f.Scenarios, connection) }) {
			r.result(connection, Broken, "")
		}
	}
	r.Scenarios = nil
	for _, s := range append([]scenario{{name: connection, about: "Start, initialize and sessions."}}, r.all...) {
		if !s.in(max(r.Protocol, 1)) {
			continue
		}
		if s.needs != "" && r.began && !supports(client, r.Protocol, s.needs) {
			r.result(s.name, NotDeclared, "the client does not declare "+s.needs)
		}
		r.Scenarios = append(r.Scenarios, Scenario{s.name, s.about, s.needs, r.results[s.name].Result, r.results[s.name].Reason})
	}
	r.Statements = nil
	for _, s := range statements {
		if s.v1 && r.Protocol == 2 {
			continue
		}
		result := NotTried
		if r.broke(func(f Finding) bool { return f.Statement == s.name }) {
			result = Broken
		} else if r.observed[s.name] > 0 {
			result = Kept
		}
		r.Statements = append(r.Statements, Statement{s.name, s.level, s.text, result})
	}
	r.Capabilities = nil
	for _, c := range capabilities {
		if r.Protocol == 2 && !c.v2 {
			continue
		}
		result := NotDeclared
		if declares(client, c.path) {
			result = NotTried
		}
		r.Capabilities = append(r.Capabilities, Capability{c.path, result})
	}
	r.judgeCapabilities()
	if r.Broken == nil {
		r.Broken = []Finding{}
	}
}

// judgeCapabilities sets the results of declared capabilities by their scenarios.
func (r *Report) judgeCapabilities() {
	for i, c := range r.Capabilities {
		if c.Result == NotDeclared {
			continue
		}
		for _, s := range r.Scenarios {
			switch {
			case s.Needs != c.Name:
			case s.Result == Broken:
				r.Capabilities[i].Result = Broken
			case s.Result == Passed && r.Capabilities[i].Result != Broken:
				r.Capabilities[i].Result = Kept
			}
		}
	}
}

// rank orders results: of two runs, the one with the higher rank counts.
func rank(result string) int {
	return slices.Index([]string{NotTried, NotDeclared, Passed, Kept, Broken}, result)
}

// Add adds the report of another run of the same client.
func (r *Report) Add(other *Report) {
	if other.Protocol == 0 {
		return
	}
	if r.Protocol == 0 {
		r.Client, r.Protocol, r.Capabilities, r.Scenarios, r.Statements = other.Client, other.Protocol, other.Capabilities, other.Scenarios, other.Statements
	}
	for i, s := range r.Scenarios {
		for _, o := range other.Scenarios {
			if o.Name == s.Name && (rank(o.Result) > rank(s.Result) || o.Result == s.Result && s.Reason == notRun) {
				r.Scenarios[i] = o
			}
		}
	}
	for i, s := range r.Statements {
		for _, o := range other.Statements {
			if o.Name == s.Name && rank(o.Result) > rank(s.Result) {
				r.Statements[i] = o
			}
		}
	}
	for i, c := range r.Capabilities {
		for _, o := range other.Capabilities {
			if o.Name == c.Name && c.Result == NotDeclared && o.Result != NotDeclared {
				r.Capabilities[i].Result = NotTried
			}
		}
	}
	for _, f := range other.Broken {
		r.add(f)
	}
	r.judgeCapabilities()
}

// Fails reports whether the client broke a statement that it must keep, or never began.
func (r *Report) Fails() bool {
	return r.Protocol == 0 || r.broke(func(f Finding) bool { return f.Level == must })
}

// Late notes that the client was ended in a scenario, because it took too long. The end of its
// stream is then no fault.
func (r *Report) Late(name string, limit time.Duration) {
	const stays = "stays"
	r.Broken = slices.DeleteFunc(r.Broken, func(f Finding) bool { return f.Statement == stays })
	for i, s := range r.Statements {
		if s.Name == stays && s.Result == Broken {
			r.Statements[i].Result = NotTried
		}
	}
	blamed := r.broke(func(f Finding) bool { return slices.Contains(f.Scenarios, name) })
	for i, s := range r.Scenarios {
		if s.Name == name && !blamed && s.Result != Passed {
			r.Scenarios[i].Result, r.Scenarios[i].Reason = NotTried, fmt.Sprintf("the client did not end within %s", limit)
		}
	}
	r.judgeCapabilities()
}

// Skips reports whether a scenario needs no run: the client does not declare what it needs, or
// the version of the protocol lacks it.
func (r *Report) Skips(name string) bool {
	i := slices.IndexFunc(r.Scenarios, func(s Scenario) bool { return s.Name == name })
	return r.Protocol > 0 && (i < 0 || r.Scenarios[i].Result == NotDeclared)
}

// Names returns the names of the scenarios that a client without a user can run: one start each.
func Names() []string {
	var names []string
	for _, s := range scenarios() {
		if !s.unprompted {
			names = append(names, s.name)
		}
	}
	return names
}
