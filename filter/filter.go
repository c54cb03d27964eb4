// Package filter removes the parts of a command's output that a model does not
// need: progress, repeats and passed tests. Failures with their places,
// warnings, summaries and the names of changed files stay.
//
// Start with [New] and [Filter.Apply]. The result is valid UTF-8 without terminal escapes
// and never larger than the sanitised output. Filtering it again does not change it.
// Memory stays bounded. An output that no rule recognises stays unchanged. The package
// does not run or rewrite commands.
//
// The lines of an output are sanitised and scanned for credentials (package
// redact). Then they pass the strategy of each rule that matches the command, in
// the order of the rules; package reports turns JSON into lines before. Each family of strategies has
// a package: generic, testreport, lint, logs, git, listing, fetch and digest.
//
// Why does a panic of a strategy not end the turn? It is a bug in the filter, not a
// failure of the command. The output stays as it was before that rule, and the log names
// the rule.
package filter

import (
	"cmp"
	"io"
	"slices"
	"sync"

	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/filter/redact"
	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

// Filter filters outputs by rules. The zero Filter has no rules and only
// sanitises. It is immutable and safe for concurrent use.
type Filter struct {
	rules func() []rule   // nil means no rules
	scan  *redact.Scanner // nil finds no credentials
}

// Outcome is the result of filtering one output. The caller closes it.
type Outcome struct {
	Text       *text.Lines // the filtered output
	Full       *text.Lines // the whole output, sanitised and masked; the same as Text where nothing was removed
	Rules      []Applied
	Confidence strategy.Confidence // the worst confidence of Rules; Full if there are no rules
	Found      []redact.Finding    // the credentials that were masked
	Raw        int64               // bytes read
}

// Applied is a rule that matched the command.
type Applied struct {
	Rule, Strategy string
	Confidence     strategy.Confidence
	Failed         error // the panic of the rule with its stack, or nil; Confidence is Fallback then
}

// Close releases the memory and files of o.
func (o *Outcome) Close() {
	if o.Text != o.Full {
		o.Text.Close()
	}
	o.Full.Close()
}

// Apply filters the output of a script. exit is documented at [strategy.Run].
// The error comes from reading raw or from a full disk.
func (f *Filter) Apply(script string, exit int, raw io.Reader) (*Outcome, error) {
	return f.Explain(script, exit, raw, nil)
}

// Explainer is called with the text before and after a rule. The two are the same if the
// rule changed nothing. It must not keep them.
type Explainer = func(by Applied, before, after *text.Lines)

// Explain is Apply, and calls explain for each rule that matches.
func (f *Filter) Explain(script string, exit int, raw io.Reader, explain Explainer) (*Outcome, error) {
	return f.apply(f.chooseRules(command.OutputsOf(script)), exit, raw, explain)
}

// chosenRules are the rules for the output of a script.
type chosenRules struct {
	command  string   // the command that wrote most of the output
	mixed    bool     // other commands may have written too
	writers  []string // those commands
	selected bool     // a later command of the pipeline selected the lines
	judged   bool     // the exit code says nothing about the command: its summary does
	rules    []rule
	others   []chosenRules // for other commands, if these rules do not recognise the output
}

// keepsSelected are the types of strategies that drop no kind of line. Lines that a
// pipeline selected, as in "go test -v | grep PASS", were asked for.
var keepsSelected = map[string]bool{
	"dedup": true, "group_by_rule": true, "group_matches": true, "json": true, "keep_matching": true, "truncate": true,
}

// inBlocks are the types of strategies for output that package outline can divide into blocks.
var inBlocks = map[string]bool{
	"test_summary": true, "stack_traces": true, "group_by_rule": true, "git_diff": true, "git_log": true,
}

// hasBlocks reports whether a command writes output that package outline can divide into blocks. Other
// commands may print a file with such lines, which was asked for as it is.
func (c chosenRules) hasBlocks() bool {
	return slices.ContainsFunc(c.rules, func(r rule) bool { return inBlocks[r.strategyType] }) ||
		slices.ContainsFunc(c.others, chosenRules.hasBlocks)
}

// chooseRules returns the rules for the output of these commands.
func (f *Filter) chooseRules(out command.Outputs) chosenRules {
	if out.Window { // these lines were asked for
		return chosenRules{command: out.Command}
	}
	c := chosenRules{
		command: out.Command, mixed: out.Mixed, writers: out.Others, selected: out.Selected, judged: out.Judged,
		rules: f.matchingRules(out.Command),
	}
	if c.selected {
		c.rules = slices.DeleteFunc(c.rules, func(r rule) bool { return !keepsSelected[r.strategyType] })
	}
	for _, other := range out.Others {
		if rules := f.matchingRules(other); len(rules) > 0 {
			c.others = append(c.others, chosenRules{command: other, mixed: true, rules: rules})
		}
	}
	return c
}

func (f *Filter) apply(c chosenRules, exit int, raw io.Reader, explain Explainer) (*Outcome, error) {
	if c.judged {
		exit = 1
	}
	run, rules := f.newRun(c, exit, 0), c.rules
	full := text.NewLines()
	var first *rulePass
	var seen *redact.Seen // the lines of full
	if f.scan != nil {
		seen = redact.NewSeen()
	}
	if len(rules) > 0 { // the first rule reads the lines while they are written, which saves a second pass
		first = rules[0].begin(run)
		defer full.Feed(first.passLines)()
	}
	o, err := f.sanitize(raw, full, seen)
	full.EndFeed()
	if err != nil {
		if len(rules) > 0 {
			_, _ = first.end(full, err)
		}
		full.Close()
		return nil, err
	}
	if err := f.applyChosen(o, c, run, 0, first, explain); err != nil {
		o.Close()
		return nil, err
	}
	if err := cmp.Or(o.keepStopped(exit), o.keepHollow(exit)); err != nil {
		o.Close()
		return nil, err
	}
	if err := f.remask(o, seen); err != nil {
		o.Close()
		return nil, err
	}
	return o, nil
}

// maxDepth limits the nesting of programs that run others, such as in the log of a
// script.
const maxDepth = 3

// newRun describes an output. depth counts the outputs around it.
func (f *Filter) newRun(c chosenRules, exit, depth int) strategy.Run {
	run := strategy.Run{Command: c.command, Mixed: c.mixed, Others: c.writers, Selected: c.selected, Exit: exit, Alone: len(c.rules) == 1}
	run.Inner = func(inner strategy.Run, part *text.Lines) (*text.Lines, strategy.Confidence, error) {
		rules := f.chooseRules(command.OutputsOf(inner.Command))
		if len(rules.rules)+len(rules.others) == 0 { // such as ./run.sh, which npm test runs
			rules.rules = slices.DeleteFunc(slices.Clone(c.rules), func(r rule) bool { return r.name == dividingRule })
		}
		rules.mixed, rules.judged = rules.mixed || inner.Mixed, true
		if depth >= maxDepth {
			return part, strategy.Fallback, nil
		}
		o := &Outcome{Text: part, Full: part}
		r := f.newRun(rules, inner.Exit, depth+1)
		err := f.applyChosen(o, rules, r, depth+1, nil, nil)
		failed := slices.IndexFunc(o.Rules, func(by Applied) bool { return by.Failed != nil })
		if err == nil && failed < 0 {
			return o.Text, o.Confidence, nil
		}
		if o.Text != part {
			o.Text.Close()
		}
		if failed >= 0 {
			panic(o.Rules[failed].Failed) // the outer rule reports it
		}
		return part, strategy.Fallback, err
	}
	return run
}

// applyChosen filters an output by the rules of its command. If the exit code says nothing about the command,
// an output without failures counts as a success if a rule that knows its summary is sure about it.
func (f *Filter) applyChosen(
	o *Outcome, c chosenRules, run strategy.Run, depth int, first *rulePass, explain Explainer,
) error {
	err := f.applyWithExit(o, c, run, depth, first, explain)
	if err != nil || !c.judged || run.Exit == 0 || o.Text != o.Full || o.failed() {
		return err
	}
	good := &Outcome{Text: o.Full, Full: o.Full}
	err = f.applyWithExit(good, c, f.newRun(c, 0, depth), depth, nil, explain)
	summed := func(a Applied) bool { return a.Confidence == strategy.Full && readsReports[a.Strategy] }
	if err == nil && !good.failed() && !(good.isSure() && slices.ContainsFunc(good.Rules, summed)) {
		if good.Text != o.Full {
			good.Text.Close()
		}
		return nil
	}
	o.Text, o.Rules, o.Confidence = good.Text, good.Rules, good.Confidence
	return err
}

// applyWithExit filters an output by the rules of its command. If these remove little
// of the output of a script that failed, another command may have ended the script. If
// there are no such rules, the command before may have written most of it.
func (f *Filter) applyWithExit(
	o *Outcome, c chosenRules, run strategy.Run, depth int, first *rulePass, explain Explainer,
) error {
	if run.Exit == 0 {
		if len(c.rules) > 0 || len(c.others) == 0 {
			return o.applyRules(run, c.rules, first, explain)
		}
		by := &Outcome{Text: o.Full, Full: o.Full}
		err := by.applyRules(f.newRun(c.others[0], run.Exit, depth), c.others[0].rules, nil, explain)
		if err != nil || by.failed() || by.isSure() {
			o.Text, o.Rules, o.Confidence = by.Text, by.Rules, by.Confidence
		} else if by.Text != o.Full {
			by.Text.Close()
		}
		return err
	}
	err := o.applyRules(run, c.rules, first, explain)
	for _, other := range c.others {
		if err != nil || o.Text.Size() < o.Full.Size()*9/10 || o.failed() {
			break
		}
		if o.Text != o.Full {
			o.Text.Close()
		}
		o.Text, o.Rules, o.Confidence = o.Full, nil, strategy.Full
		err = o.applyRules(f.newRun(other, run.Exit, depth), other.rules, nil, explain)
	}
	return err
}

// failed reports whether a rule panicked.
func (o *Outcome) failed() bool {
	return slices.ContainsFunc(o.Rules, func(a Applied) bool { return a.Failed != nil })
}

// isSure reports whether all rules that recognised the output did so with full confidence.
func (o *Outcome) isSure() bool {
	return !slices.ContainsFunc(o.Rules, func(a Applied) bool { return a.Confidence == strategy.Partial })
}

// applyRules filters the text by rules. first is the pass of the first rule if it has
// read the text, or nil.
func (o *Outcome) applyRules(run strategy.Run, rules []rule, first *rulePass, explain Explainer) error {
	for i, r := range rules {
		if o.recognisedBy(r.unless) || o.recognisedBy(dividingRule) || cutsLines[r.strategyType] && o.Text != o.Full {
			continue
		}
		p := first
		if i > 0 || first == nil {
			p = r.begin(run)
			p.passText(o.Text)
		}
		out, err := p.end(o.Text, nil)
		if err != nil {
			return err
		}
		by := Applied{r.name, r.strategyType, p.confidence, p.panicErr}
		if explain != nil {
			explain(by, o.Text, out)
		}
		if out != o.Text && o.Text != o.Full {
			o.Text.Close()
		}
		o.Text = out
		if r.name == dividingRule && by.Confidence == strategy.Fallback && by.Failed == nil && len(rules) > 1 {
			continue // nothing to divide: the other rules alone filter the output
		}
		o.Rules = append(o.Rules, by)
		o.Confidence = max(o.Confidence, by.Confidence)
	}
	return nil
}

// cutsLines are the types of strategies that cut long lines. They read what the tool wrote, not the
// lines of an earlier rule, whose marks and names would be cut.
var cutsLines = map[string]bool{"group_matches": true}

// dividingRule filters the parts of an output by the rules of their commands. If it
// recognised the output, the other rules are skipped.
const dividingRule = "streams"

// recognisedBy reports whether the rule of that name recognised the output.
func (o *Outcome) recognisedBy(name string) bool {
	return name != "" && slices.ContainsFunc(o.Rules, func(a Applied) bool { return a.Rule == name && a.Confidence != strategy.Fallback })
}

// remask masks credentials that appear only in the result of the rules: a rule that decodes text
// may join the parts of a value. It skips lines that were in the output, which were scanned before.
func (f *Filter) remask(o *Outcome, seen *redact.Seen) error {
	if seen == nil || o.Text == o.Full {
		return nil
	}
	maskInto := func(next func([]byte)) ([]redact.Finding, error) {
		mask := f.scan.Stream(next, nil)
		err := o.Text.Each(func(l []byte) {
			if seen.Has(l) {
				mask.LineSeen(l)
			} else {
				mask.Line(l)
			}
		})
		return mask.End(), err
	}
	found, err := maskInto(func([]byte) {})
	if err != nil || len(found) == 0 {
		return err
	}
	lines := text.NewLines() // rarely needed
	_, err = maskInto(lines.Write)
	if err == nil {
		err = lines.Err()
	}
	if err != nil {
		lines.Close()
		return err
	}
	o.Text.Close()
	o.Text, o.Found = lines, redact.Sum(o.Found, found)
	return nil
}

// readBuffers are buffers for reading outputs. Most outputs are much smaller.
var readBuffers = sync.Pool{New: func() any { return new(make([]byte, 32<<10)) }}

// sanitize sanitises and masks an output line by line. It adds the lines to
// full and, if seen is not nil, to seen.
func (f *Filter) sanitize(raw io.Reader, full *text.Lines, seen *redact.Seen) (*Outcome, error) {
	mask := f.scan.Stream(full.Write, seen)
	s := text.Sanitizer{Emit: mask.Line}
	buf := readBuffers.Get().(*[]byte)
	n, err := io.CopyBuffer(&s, raw, *buf)
	readBuffers.Put(buf)
	s.End()
	found := mask.End()
	if err == nil {
		err = full.Err()
	}
	if err != nil {
		return nil, err
	}
	return &Outcome{Text: full, Full: full, Found: found, Raw: n}, nil
}
