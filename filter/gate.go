package filter

import (
	"context"
	"errors"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/texts"
)

// Gate is the outermost link of a chain. It masks what leaves a call besides the filtered result of
// the tool: failures and hints of any link, notes, diffs, errors and progress. The texts that the
// filter has masked pass at the cost of a hash.
//
// The card of a call stays unchanged, since the links judge the call by it. The exits to people
// mask it; see [redact.Scanner.Exit].
func (l *Link) Gate(next executors.Executor) executors.Executor { return gate{next, l} }

type gate struct {
	executors.Executor // Tools passes through
	*Link
}

func (g gate) Prepare(ctx context.Context, call *executors.Call) (executors.Card, error) {
	g.Filter.scan.JSON(call.Input) // learns values, which a failure may quote without their surroundings
	card, err := g.Executor.Prepare(ctx, call)
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
	res.Raw = scan.Raw(res.Raw)
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
