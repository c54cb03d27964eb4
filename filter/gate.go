package filter

import (
	"context"
	"errors"
	"slices"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/filter/text/marks"
	"github.com/zeph-acp/zeph-acp/filter/text/texts"
)

// Gate is the outermost link of a chain. It masks what leaves a call besides the filtered result of
// the tool: failures and hints of any link, notes, diffs, errors and progress. The texts that the
// filter has masked pass at the cost of a hash.
//
// The card of a call stays unchanged, since the links check the call by it. The exits to people
// mask it; see [redact.Scanner.Exit].
func (l *Link) Gate(next executors.Executor) executors.Executor { return gate{next, l} }

type gate struct {
	executors.Executor // Tools passes through
	*Link
}

func (g gate) Prepare(ctx context.Context, call *executors.Call) (executors.Card, error) {
	g.Filter.scan.JSON(call.Input) // learns values, which a failure may quote without their surroundings
	card, err := g.Executor.Prepare(ctx, call)
	if err == nil && g.Filter.scan != nil {
		err = refuseMark(call, card)
	}
	return card, g.maskError(err)
}

func (g gate) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	scan := g.Filter.scan
	if scan == nil {
		return g.Executor.Execute(ctx, call)
	}
	if notify := call.Notify; notify != nil {
		call.Notify = func(ev executors.Event) { notify(texts.Map(ev, scan.Exit())) }
		defer func() { call.Notify = notify }()
	}
	res, err := g.Executor.Execute(ctx, call)
	around := g.maskAround(&res)
	res.Text = scan.Text(res.Text)
	res.Raw = texts.Map(res.Raw, scan.Exit())
	res.Content = texts.Map(res.Content, scan.Exit())
	res.Locations = texts.Map(res.Locations, scan.Exit())
	if call.Record != nil {
		for _, f := range around {
			call.Record.Masked += int64(f.Count)
		}
	}
	scan.Passed(res.ForModel())
	scan.Passed(res.ForPeople())
	return res, g.maskError(err)
}

// refuseMark returns the failure of a call that would write a mark into a file or send it elsewhere:
// a command that does more than read, a web request, or a call of an MCP server. The file tools put
// the values back instead. It is nil for other calls.
func refuseMark(call *executors.Call, card executors.Card) error {
	text, what := "", ""
	switch {
	case card.Script != nil:
		if onlyReads(card.Script) {
			return nil
		}
		text, what = card.Command(), "the command"
	case card.URL != "":
		text, what = card.URL, "the address"
	case call.Server() != "" || card.Server != "":
		text, what = string(call.Input), "the input"
	}
	mark, line := marks.Find(text)
	if mark == "" {
		return nil
	}
	return executors.Failuref(executors.InvalidParameters, "line %d of %s has %s, which stands for a masked value", line, what, mark).
		Hint("Nothing was run. Use edit or write, which keep the values of lines that stay as read shows them, or a variable that has the value, or ask the user.")
}

// onlyReads reports whether each command of a script only reads, without redirections.
func onlyReads(s *command.Script) bool {
	return s.Err == nil && len(s.Redirects) == 0 && !slices.ContainsFunc(s.Commands, func(c *command.Command) bool { return !c.ReadOnly() })
}

// maskError masks the text of an error. A failure stays a failure.
func (g gate) maskError(err error) error {
	if err == nil || g.Filter.scan == nil {
		return err
	}
	if f, ok := errors.AsType[*executors.Failure](err); ok && f.Error() == err.Error() {
		masked := *f
		return texts.Map(&masked, g.Filter.scan.Exit())
	}
	if text := g.Filter.scan.Text(err.Error()); text != err.Error() {
		return maskedError{text, err}
	}
	return err
}

// maskedError is an error with another text.
type maskedError struct {
	text string
	error
}

func (e maskedError) Error() string { return e.text }

func (e maskedError) Unwrap() error { return e.error }
