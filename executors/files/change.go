package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff" // the unified diff of the Go command, in O(n log n)

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// change is what a write or an edit would do to one file.
type change struct {
	target
	title string
	old   *string // the text that is there; nil means no file
	text  string  // the text to write
	line  int     // the first changed line; 0 means the file as a whole
	done  string  // what to say when it was done
}

// plan works out a change without making it. Where the path is known, the
// change has its target beside an error too.
type plan[In any] func(ctx context.Context, in In) (change, error)

// prepare makes a tool's Prepare of its plan.
func prepare[In any](p plan[In]) func(context.Context, *executors.Call, In) (executors.Card, error) {
	return func(ctx context.Context, call *executors.Call, in In) (executors.Card, error) {
		c, err := p(ctx, in)
		if c.abs == "" {
			return executors.Card{Title: c.title, Kind: executors.KindEdit}, err
		}
		card := executors.Card{
			Title: c.title,
			Kind:  executors.KindEdit,
			Paths: []string{c.abs},
		}
		if c.old != nil { // a client opens what is located, and a new file is not there yet
			card.Locations = []executors.Location{{Path: c.client, Line: c.line}}
		}
		switch {
		case ctx.Err() != nil:
			return card, context.Cause(ctx)
		case err != nil:
			return card, err
		}
		card.Diffs = show(c.client, c.old, c.text)
		return card, nil
	}
}

// execute makes a tool's Execute of its plan, worked out again from what the
// file holds now.
func execute[In any](t *tools, p plan[In]) func(context.Context, *executors.Call, In) (executors.Result, error) {
	return func(ctx context.Context, call *executors.Call, in In) (executors.Result, error) {
		c, err := p(ctx, in)
		if err != nil {
			return fail(ctx, err)
		}
		if err := sameAsJudged(call, c.target); err != nil {
			return fail(ctx, err)
		}
		if err := t.fs.WriteFile(ctx, c.abs, c.text); err != nil {
			return fail(ctx, t.explain(err, "write", c.target))
		}
		return t.report(ctx, c, call.Card.Diffs), nil
	}
}

// sameAsJudged fails if the call's paths lead elsewhere than its card says.
func sameAsJudged(call *executors.Call, now ...target) error {
	for i, shown := range call.Card.Paths {
		if i < len(now) && shown != now[i].abs {
			return executors.Failuref(executors.PolicyBlocked, "%s leads to another file than when this was judged", now[i].show)
		}
	}
	return nil
}

// report reads back what was written: a client may format on save, and then the
// model must not go on with what it believes to be there.
func (t *tools) report(ctx context.Context, c change, shown []executors.Diff) executors.Result {
	text := c.done
	if shown != nil && !slices.EqualFunc(shown, show(c.client, c.old, c.text), sameDiff) {
		text += "\n[the file had changed since this change was shown; it was made to the newer content]"
	}
	actual, err := t.fs.ReadFile(ctx, c.abs)
	_, unreadable := t.roots.Readable().Refuses(c.abs)
	switch {
	case unreadable: // nobody is shown what may not be read
		actual = c.text
	case err != nil:
		text += fmt.Sprintf("\n[it could not be read back: %v]", workspace.Cause(err))
		actual = c.text
	case !sameText(actual, c.text):
		text += "\n[after writing, the file differs from what was written, as when a client formats on save:]\n" +
			unified(c.show, c.text, actual)
	}
	res := executors.Result{
		Text: text, Locations: []executors.Location{{Path: c.client, Line: c.line}},
		Raw: rawChange{Path: c.client, Created: c.old == nil, Bytes: len(actual), Line: c.line},
	}
	for _, d := range show(c.client, c.old, actual) {
		res.Content = append(res.Content, executors.Content{Diff: &d})
	}
	return res
}

// sameText compares without line endings and byte order mark: a client's buffer
// may hold neither.
func sameText(a, b string) bool {
	return a == b || parse(a).text == parse(b).text
}

func sameDiff(a, b executors.Diff) bool {
	if a.Path != b.Path || a.New != b.New || (a.Old == nil) != (b.Old == nil) {
		return false
	}
	return a.Old == nil || *a.Old == *b.Old
}

// maxUnified bounds a diff in a text for the model, in bytes.
const maxUnified = 8 << 10

// unified is the diff from what was written to what is there.
func unified(name, written, actual string) string {
	d := diff.Diff("written/"+name, []byte(parse(written).text), name, []byte(parse(actual).text))
	return cutText(strings.ToValidUTF8(string(d), "\uFFFD"), maxUnified)
}

// current is the text of a file that is about to change; nil means that there
// is no file yet.
func (t *tools) current(ctx context.Context, tg target) (*string, error) {
	text, err := t.load(ctx, tg)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, t.explain(err, "read", tg)
	}
	return &text, nil
}
