// Package filter takes out of a command's output what a model does not need:
// progress, repeats, what passed. What matters stays: failures with their
// places, warnings, summaries, names of changed files.
//
// Start with [New] and [Filter.Apply]. It promises that the text which comes out
// is valid UTF-8 without terminal escapes, that it is never larger than the
// sanitised output, that filtering it again changes nothing, that memory stays
// bounded whatever the output's size, and that an output whose shape no rule
// knows is kept as it is. It does not run or rewrite commands.
//
// An output goes through as lines: sanitise, then the strategy of each rule that
// matches the command, in the order of the rules; beside them the security scan,
// which sees every raw line.
//
// Why may a strategy say that it did not recognise its input? Because a summary
// of something that is no test run would lose everything. Its input then goes on
// unchanged ([Fallback]); a failed command loses nothing by that. Nor does a panic of a
// strategy, which is a bug of ours and no reason to lose a turn.
package filter

import (
	"cmp"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/zeph-acp/zeph-acp/filter/redact"
	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

// Filter filters outputs by rules. The zero Filter has none, and only sanitises.
// It does not change, and may be used concurrently.
type Filter struct {
	rules []rule
	scan  *redact.Scanner // nil does not look for credentials
}

// Outcome is what became of an output. Close it.
type Outcome struct {
	Text       *text.Lines // what is left
	Full       *text.Lines // all of it: sanitised and masked; Text itself where nothing went away
	Rules      []Applied
	Confidence strategy.Confidence // the worst of those of Rules; Full if there are none
	Found      []redact.Finding    // credentials, whose values are masked
	Raw        int64               // bytes that were read
}

// Applied is a rule that matched the command.
type Applied struct {
	Rule, Strategy string
	Confidence     strategy.Confidence
	Failed         error // a panic of the rule and its stack, beside Fallback; nil for none
}

// Close gives memory and files back.
func (o *Outcome) Close() {
	if o.Text != o.Full {
		o.Text.Close()
	}
	o.Full.Close()
}

// Apply filters what the script wrote; exit is as of Run. An error is one of
// reading raw or of a full disk.
func (f *Filter) Apply(script string, exit int, raw io.Reader) (*Outcome, error) {
	return f.Explain(script, exit, raw, nil)
}

// Explain is Apply, and gives tell the text before and after each rule that
// matches, which are the same where it stays as it is. They must not be used
// after tell returned.
func (f *Filter) Explain(script string, exit int, raw io.Reader, tell func(by Applied, before, after *text.Lines)) (*Outcome, error) {
	run := strategy.Run{Exit: exit}
	run.Command, run.Mixed = segment(script)
	rules := f.matching(run.Command)
	full := text.NewLines()
	var first *passage
	var seen *redact.Seen // lines of full
	if f.scan != nil {
		seen = redact.NewSeen()
	}
	if len(rules) > 0 { // it takes the lines as they come, which saves reading all of them again
		first = rules[0].begin(run)
		defer full.Feed(first.lines)()
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
	for i, r := range rules {
		if o.recognised(r.unless) {
			continue
		}
		p := first
		if i > 0 {
			p = r.begin(run)
			p.all(o.Text)
		}
		out, err := p.end(o.Text, nil)
		if err != nil {
			o.Close()
			return nil, err
		}
		by := Applied{r.name, r.kind, p.confidence, p.failed}
		if tell != nil {
			tell(by, o.Text, out)
		}
		if out != o.Text && o.Text != o.Full {
			o.Text.Close()
		}
		o.Text = out
		o.Rules = append(o.Rules, by)
		o.Confidence = max(o.Confidence, by.Confidence)
	}
	if err := f.remask(o, seen); err != nil {
		o.Close()
		return nil, err
	}
	return o, nil
}

// recognised reports whether a rule of a name is among those that knew the output.
func (o *Outcome) recognised(name string) bool {
	return name != "" && slices.ContainsFunc(o.Rules, func(a Applied) bool { return a.Rule == name && a.Confidence != strategy.Fallback })
}

// matching gives the rules for a command.
func (f *Filter) matching(command string) (rules []rule) {
	if command == "" {
		return nil
	}
	for _, r := range f.rules {
		if r.match.matches(command) {
			rules = append(rules, r)
		}
	}
	return rules
}

// remask masks what only shows in what the rules made of an output: one that
// decodes texts may put together what was in parts. Lines that were in the output
// as they are were looked at.
func (f *Filter) remask(o *Outcome, seen *redact.Seen) error {
	if seen == nil || o.Text == o.Full {
		return nil
	}
	look := func(next func([]byte)) ([]redact.Finding, error) {
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
	found, err := look(func([]byte) {})
	if err != nil || len(found) == 0 {
		return err
	}
	text := text.NewLines() // which is hardly ever needed
	_, err = look(text.Write)
	if err == nil {
		err = text.Err()
	}
	if err != nil {
		text.Close()
		return err
	}
	o.Text.Close()
	o.Text, o.Found = text, redact.Sum(o.Found, found)
	return nil
}

// buffers are for reading outputs, most of which are much smaller.
var buffers = sync.Pool{New: func() any { return new(make([]byte, 32<<10)) }}

// sanitize makes lines of an output, with credentials masked, and adds them to full
// and to seen, if that is not nil.
func (f *Filter) sanitize(raw io.Reader, full *text.Lines, seen *redact.Seen) (*Outcome, error) {
	mask := f.scan.Stream(full.Write, seen)
	s := text.Sanitizer{Emit: mask.Line}
	buf := buffers.Get().(*[]byte)
	n, err := io.CopyBuffer(&s, raw, *buf)
	buffers.Put(buf)
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

// passage is a text on its way through a rule. A panic of the rule ends it: the text
// stays as it is.
type passage struct {
	pass         strategy.Pass
	out          *text.Lines
	confidence   strategy.Confidence
	read, failed error // of the text; of the rule
}

func (r rule) begin(run strategy.Run) *passage {
	p := &passage{out: text.NewLines()}
	p.try(func() { p.pass = r.strategy.Begin(run, p.out) })
	return p
}

// lines sends whole lines, with their ends, through the rule.
func (p *passage) lines(body []byte) {
	p.try(func() { text.EachLine(body, p.pass.Line) })
}

// all sends a whole text through the rule.
func (p *passage) all(text *text.Lines) {
	p.try(func() { p.read = text.Each(p.pass.Line) })
}

// try does a part of the rule's work, unless it panicked before.
func (p *passage) try(do func()) {
	if p.failed != nil {
		return
	}
	defer func() {
		if r := recover(); r != nil {
			p.failed = fmt.Errorf("%v\n%s", r, debug.Stack())
		}
	}()
	do()
}

// end gives what became of a text, which is the text itself where that stays as
// it is. The error that is given is that of reading it.
func (p *passage) end(text *text.Lines, err error) (*text.Lines, error) {
	p.try(func() { p.confidence = p.pass.End() })
	if p.failed != nil {
		p.confidence = strategy.Fallback
	}
	if err = cmp.Or(err, p.read, p.out.Err()); err != nil || p.confidence == strategy.Fallback || p.out.Size() >= text.Size() {
		p.out.Close()
		return text, err
	}
	return p.out, nil
}
