package filter

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"path"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/filter/outline"
	"github.com/zeph-acp/zeph-acp/filter/redact"
	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

// Link puts a filter into the chain of one session, next to the tools. It
// filters the output of commands and masks credentials in the results of all
// tools.
//
// Diffs stay unchanged, since they show the text that is written to the file.
// So does the output of a command in a terminal of the client.
type Link struct {
	Filter  *Filter      // required
	Metrics *Metrics     // counts the work; nil counts nothing
	Log     *slog.Logger // reports panics of rules; nil reports nothing

	mu    sync.Mutex
	saved map[string]string // files with the output of a command, and the command
}

// Middleware filters the results of next.
func (l *Link) Middleware(next executors.Executor) executors.Executor { return link{next, l} }

type link struct {
	executors.Executor // Tools and Prepare pass through
	*Link
}

func (l link) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	chosen := l.chooseEarly(call.Card.Script)
	res, err := l.runMaskingLive(ctx, call)
	switch {
	case err != nil: // the output of a cancelled command is shown unfiltered
		l.maskResult(call, &res)
		return res, err
	case res.Output == nil:
		l.maskResult(call, &res)
		return res, nil
	}
	if err := l.filterCommand(ctx, call, &res, chosen); err != nil {
		res.Long.Close()
		res.Full.Close()
		return executors.Result{Done: res.Done}, err
	}
	return res, nil
}

// chooseEarly chooses the rules for a script while the script runs, since the first choice
// compiles all rules. chosen waits for the choice.
func (l link) chooseEarly(script *command.Script) (chosen func() chosenRules) {
	chosen = sync.OnceValue(func() chosenRules {
		if script == nil {
			return l.Filter.chooseRules(command.Outputs{})
		}
		return l.Filter.chooseRules(l.seeSaved(script.Outputs()))
	})
	if script != nil {
		go func() {
			defer func() { _ = recover() }() // a panic shows where the choice is needed
			chosen()
		}()
	}
	return chosen
}

// maxSaved limits Link.saved.
const maxSaved = 200

// seeSaved remembers the files into which a script writes outputs. A command that prints such a file prints
// the output of the command that wrote it.
func (l *Link) seeSaved(out command.Outputs) command.Outputs {
	l.mu.Lock()
	defer l.mu.Unlock()
	if by := l.saved[path.Clean(out.Prints)]; out.Prints != "" && by != "" {
		out.Command, out.Judged = by, true
	}
	for file, by := range out.Saved {
		if l.saved == nil || len(l.saved) >= maxSaved {
			l.saved = map[string]string{}
		}
		l.saved[path.Clean(file)] = by
	}
	return out
}

// runMaskingLive executes the call and masks its live output.
func (l link) runMaskingLive(ctx context.Context, call *executors.Call) (executors.Result, error) {
	if l.Filter.scan == nil || call.Notify == nil {
		return l.Executor.Execute(ctx, call)
	}
	m := &liveMask{scanner: l.Filter.scan, next: call.Notify}
	call.Notify = m.notify
	defer func() {
		m.flush()
		call.Notify = m.next
	}()
	return l.Executor.Execute(ctx, call)
}

// filterCommand filters the output of a command. The only error is the cause of ctx.
func (l link) filterCommand(ctx context.Context, call *executors.Call, res *executors.Result, chosen func() chosenRules) error {
	res.Raw = l.Filter.scan.Raw(res.Raw)
	rules, exit := chosenRules{}, -1
	if !res.Output.Partial { // a rule that needs the whole output would misread a part of it
		rules = chosen()
	}
	if call.Record != nil && call.Record.ExitCode != nil {
		exit = *call.Record.ExitCode
	}
	raw, open := commandOutput(res)
	o, err := l.Filter.apply(rules, exit, contextReader{ctx, raw}, nil)
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil: // no room for the full text: keep the part in memory
		l.maskUnfiltered(call, res, err)
		return nil
	}
	for _, by := range o.Rules {
		if by.Failed != nil && l.Log != nil {
			l.Log.Warn(
				"a filter rule panicked: the output stays as it was before the rule",
				"session", call.Session, "call", call.ID, "rule", by.Rule, "panic", by.Failed,
			)
		}
	}
	recordRules(call, o)
	c := newCounts(o)
	partial := res.Output.Partial
	l.setResult(res, o, &c, rules, exit, open)
	if partial {
		c = Counts{Masked: c.Masked}
	}
	l.count(call, c)
	return nil
}

// count adds to the counters of the session and to the record of the call.
func (l link) count(call *executors.Call, c Counts) {
	l.Metrics.add(c)
	if call.Record != nil {
		call.Record.Masked += c.Masked
	}
}

// recordRules names the rules that recognised the output.
func recordRules(call *executors.Call, o *Outcome) {
	for _, by := range o.Rules {
		if call.Record != nil && by.Confidence != strategy.Fallback {
			call.Record.Filters = append(call.Record.Filters, by.Rule)
		}
	}
}

// minRemoved is the least number of bytes to remove: the lines that report the
// removal are that long.
const minRemoved = 160

// setResult turns an outcome into the result for the model. The result owns what it needs of it.
func (l link) setResult(res *executors.Result, o *Outcome, c *Counts, rules chosenRules, exit int, open bool) {
	out, kept := res.Output, o.Text
	if o.Full.Size()-kept.Size() < minRemoved {
		kept = o.Full
	}
	c.countAfter(kept)
	l.maskAround(res)
	res.Text = ""
	res.Below(redact.Warning(o.Found))
	stats := statsLine(o.Full.Count(), kept.Count(), out.Lost)
	res.Below(stats)
	out.Filtered = stats != ""
	out.Open = open
	res.Long.Close()
	res.Full.Close()
	res.Long, res.Full = nil, nil
	res.Shorten = func(whole *io.SectionReader, limit int) string { return l.shorten(whole, limit, out.Lost) }
	if rules.hasBlocks() || exit > 0 {
		res.Excerpt = l.excerpt
	}
	l.setText(res, o, kept)
}

// maxText is how many bytes of a text are held as a string. It bounds memory; the overflow link bounds
// what a model reads.
const maxText = 64 << 10

// setText makes kept the text of the result, and the whole outcome the full text if that is more.
func (l link) setText(res *executors.Result, o *Outcome, kept *text.Lines) {
	spool := kept.Spool()
	if spool.Size() > maxText {
		res.Long = spool
	} else if res.Text = spool.Window(0, spool.Size()); res.Output.Open {
		res.Text = strings.TrimSuffix(res.Text, "\n")
	}
	if kept != o.Full {
		res.Full = o.Full.Spool()
	} else if res.Long == nil {
		o.Full.Close()
	}
	if o.Text != o.Full && (kept == o.Full || res.Long == nil) {
		o.Text.Close()
	}
	if res.Long == nil && res.ForModel() == "" {
		res.Text = "(no output)"
	}
	l.Filter.scan.Passed(res.Text)
}

// shorten returns at most limit characters of an output: its head and tail, and the problems between
// them. lost means that more was written than was kept.
func (l link) shorten(whole *io.SectionReader, limit int, lost bool) string {
	body, _ := executors.BoundReader(whole, limit, lost)
	if !lost {
		if shown, ok := keepProblems(whole, limit); ok {
			body = shown
		}
	}
	l.Filter.scan.Passed(body)
	return body
}

// maxExcerpted is the largest output of which an excerpt is made, in bytes.
const maxExcerpted = 4 << 20

// excerpt returns an output in about budget characters.
func (l link) excerpt(whole *io.SectionReader, budget int) (string, bool) {
	if whole.Size() > maxExcerpted {
		return "", false
	}
	all, err := io.ReadAll(whole)
	if err != nil {
		return "", false
	}
	short, ok := outline.Shorten(all, budget)
	if ok {
		l.Filter.scan.Passed(short)
	}
	return short, ok
}

// statsLine returns the line that reports how much was removed, or "" if no
// line was.
func statsLine(before, after int, lost bool) string {
	if after >= before {
		return ""
	}
	line := fmt.Sprintf("[shell] %d lines -> %d lines, %.1f%% filtered", before, after, 100*(1-float64(after)/float64(before)))
	if lost {
		line += ", and more was written than was kept"
	}
	return line
}

// Stats returns the line that reports how much was removed, without a line
// feed. It is empty if no line was removed.
func (o *Outcome) Stats() string { return statsLine(o.Full.Count(), o.Text.Count(), false) }

// commandOutput returns the whole output of the command. open reports that it
// does not end in a line feed.
func commandOutput(res *executors.Result) (raw io.Reader, open bool) {
	if res.Long != nil {
		return res.Long.Reader(), res.Long.Window(res.Long.Size()-1, 1) != "\n"
	}
	return strings.NewReader(res.Text), !strings.HasSuffix(res.Text, "\n")
}

// maskUnfiltered masks as much of an output as fits into memory. There is no room for the rest.
func (l link) maskUnfiltered(call *executors.Call, res *executors.Result, err error) {
	l.maskAround(res)
	if res.Long != nil {
		res.Text, _ = executors.BoundReader(res.Long.Reader(), maxText/2, res.Output.Lost)
		res.Output.Lost = true
	}
	masked, found := l.Filter.scan.Mask(string(text.Sanitize([]byte(res.Text))))
	res.Long.Close()
	res.Full.Close()
	res.Text, res.Long, res.Full = masked, nil, nil
	res.Below(redact.Warning(found))
	res.Below(fmt.Sprintf("[the output could not be filtered or kept: %v]", err))
	l.count(call, Counts{Masked: redact.Count(found)})
}

// maskResult masks a result that is not the output of a command.
func (l link) maskResult(call *executors.Call, res *executors.Result) {
	scan := l.Filter.scan
	res.Raw = l.Filter.scan.Raw(res.Raw)
	if scan == nil {
		return
	}
	around := l.maskAround(res)
	masked, found := scan.Visible(res.Text)
	res.Text = masked
	for _, spool := range []**executors.Spool{&res.Long, &res.Full} {
		if *spool == nil {
			continue
		}
		copied := &executors.Spool{}
		all, err := scan.Copy(copied, (*spool).Reader())
		(*spool).Close()
		*spool = copied
		if found = all; err != nil {
			copied.Close()
			*spool = nil
			res.Below(fmt.Sprintf("[the full text could not be kept: %v]", err))
		}
	}
	found = redact.Sum(found, around)
	res.Below(redact.Warning(found))
	l.count(call, Counts{Masked: redact.Count(found)})
}

// maskAround masks the failure and the notes of a result, which surround its text.
func (l *Link) maskAround(res *executors.Result) (found []redact.Finding) {
	mask := func(s string) string {
		masked, more := l.Filter.scan.Visible(s)
		found = redact.Sum(found, more)
		return masked
	}
	if res.Failure != nil {
		f := *res.Failure
		f.Message, f.Suggestion = mask(f.Message), mask(f.Suggestion)
		f.UserText, _ = l.Filter.scan.Visible(f.UserText) // repeats the message
		res.Failure = &f
	}
	notes := res.Notes
	res.Notes = nil
	for _, note := range notes {
		res.Below(mask(note))
	}
	return found
}

// contextReader is r until ctx ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.r.Read(p)
}
