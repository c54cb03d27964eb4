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
	"github.com/zeph-acp/zeph-acp/executors/filechange"
	"github.com/zeph-acp/zeph-acp/executors/tools/files/charset"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// change is the effect of a write or an edit on one file.
type change struct {
	target
	title string
	old   *string  // the present text; nil means no file
	from  fileText // the present content, if there is a file
	whole bool     // text replaces all of old, whatever that is
	text  string   // the text to write
	bytes string   // the same in the encoding of the file
	// encoding is how bytes are encoded; nil means UTF-8.
	encoding *charset.Encoding
	same     bool   // the file already has this text, so it is not written
	line     int    // the first changed line; 0 means the file as a whole
	summary  string // the text of the result
}

// changePlan computes a change without making it. Even with an error, the change has
// its target if the path is known.
type changePlan[In any] func(ctx context.Context, in In) (change, error)

// encoded returns a plan that also encodes the text of the change.
func encoded[In any](t *tools, p changePlan[In]) changePlan[In] {
	return func(ctx context.Context, in In) (change, error) {
		c, err := p(ctx, in)
		if err == nil && c.bytes == "" {
			err = t.encode(&c)
		}
		return c, err
	}
}

// prepare returns the Prepare function of a tool with this plan.
func prepare[In any](t *tools, p changePlan[In]) func(context.Context, *executors.Call, In) (executors.Card, error) {
	p = encoded(t, p)
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
		if c.old != nil { // a client opens the locations, and a new file does not exist yet
			card.Locations = []executors.Location{{Path: c.client, Line: c.line}}
		}
		switch {
		case ctx.Err() != nil:
			return card, context.Cause(ctx)
		case err != nil:
			return card, err
		}
		card.Changes = c.changes()
		return card, nil
	}
}

// execute returns the Execute function of a tool with this plan. It computes the
// change again from the present content of the file.
func execute[In any](t *tools, p changePlan[In]) func(context.Context, *executors.Call, In) (executors.Result, error) {
	p = encoded(t, p)
	return func(ctx context.Context, call *executors.Call, in In) (executors.Result, error) {
		c, err := p(ctx, in)
		if err != nil {
			return fail(ctx, err)
		}
		if err := sameAsCard(call, c.target); err != nil {
			return fail(ctx, err)
		}
		if err := c.sameAsShown(call.Card.Changes); err != nil {
			return fail(ctx, err)
		}
		if c.same {
			return c.unchanged(), nil
		}
		if err := t.fs.WriteFile(ctx, c.abs, c.bytes); err != nil {
			return fail(ctx, t.explain(err, "write", c.target))
		}
		return t.report(ctx, c, call.Card.Changes), nil
	}
}

// changes returns the change for the client, empty but not nil if there is none.
func (c change) changes() []filechange.Change {
	if c.same {
		return []filechange.Change{}
	}
	return textChanges(c.client, c.old, c.text)
}

// unchanged returns the result of a change that is there already.
func (c change) unchanged() executors.Result {
	return executors.Result{
		Text: c.summary, Unchanged: true, Locations: []executors.Location{{Path: c.client, Line: c.line}},
		Raw: rawChange{Path: c.client, Bytes: len(c.bytes)},
	}
}

// sameAsCard fails if the call's paths no longer lead to the paths of its card.
func sameAsCard(call *executors.Call, now ...target) error {
	for i, checked := range call.Card.Paths {
		if i < len(now) && checked != now[i].abs {
			return executors.Failuref(executors.PolicyBlocked, "%s now leads to another file than when the call was checked", now[i].display)
		}
	}
	return nil
}

// sameAsShown fails if a change of the whole file would undo a change that somebody made after the
// changes were shown. An edit changes the newer text, so it undoes nothing.
func (c change) sameAsShown(shown []filechange.Change) error {
	if !c.whole || shown == nil || slices.EqualFunc(shown, c.changes(), sameChange) {
		return nil
	}
	return executors.Failuref(executors.PermanentFailure, "%s has changed since the call was shown, so it was not overwritten", c.display).
		Hint("Read it again, and write it with these changes.")
}

// report reads the file back after a write. A client may format the file when it saves
// it, so the model is shown the actual content.
func (t *tools) report(ctx context.Context, c change, shown []filechange.Change) executors.Result {
	text := c.summary
	if shown != nil && !slices.EqualFunc(shown, c.changes(), sameChange) {
		text += "\n[the file changed after this diff was shown; the change was made to the newer content]"
	}
	content, err := t.fs.ReadFile(ctx, c.abs)
	actual := c.decode(content)
	_, unreadable := t.roots.Readable().Refuses(c.abs)
	switch {
	case unreadable: // its content must not be shown
		actual, content = c.text, c.bytes
	case err != nil:
		text += fmt.Sprintf("\n[it could not be read back: %v]", workspace.Cause(err))
		actual, content = c.text, c.bytes
	case c.old != nil && sameText(actual, *c.old) && !sameText(actual, c.text):
		text += "\n[after writing, the file still has its old text: the change may not be applied, for example because the editor lets its user review it first]"
	case !sameText(actual, c.text):
		text += "\n[after writing, the file differs from the written text, for example because the client formats on save:]\n" +
			unified(c.display, c.text, actual)
	}
	res := executors.Result{
		Text: text, Locations: []executors.Location{{Path: c.client, Line: c.line}},
		Raw: rawChange{Path: c.client, Created: c.old == nil, Bytes: len(content), Line: c.line},
	}
	for _, made := range textChanges(c.client, c.old, actual) {
		res.Content = append(res.Content, executors.Content{Change: &made})
	}
	return res
}

// decode returns the text of the file's content after the change.
func (c change) decode(content string) string {
	switch {
	case content == c.bytes:
		return c.text
	case c.encoding == nil || charset.IsUTF8(content): // an editor's text, for example
		return content
	}
	return c.encoding.Decode(content)
}

// sameText compares texts without line endings and byte order mark, since a
// client's buffer may lack both.
func sameText(a, b string) bool {
	return a == b || parse(a).text == parse(b).text
}

// sameChange reports whether two changes of text files are equal.
func sameChange(a, b filechange.Change) bool {
	return a.Path == b.Path && *a.New == *b.New && (a.Old == nil) == (b.Old == nil) && (a.Old == nil || *a.Old == *b.Old)
}

// maxUnified bounds a diff in a text for the model, in bytes.
const maxUnified = 8 << 10

// unified returns the diff from the text that was written to the present text.
func unified(name, written, actual string) string {
	d := diff.Diff("written/"+name, []byte(parse(written).text), name, []byte(parse(actual).text))
	return cutText(strings.ToValidUTF8(string(d), "\uFFFD"), maxUnified)
}

// current sets the present content of the file that is about to change.
func (t *tools) current(ctx context.Context, c *change) error {
	f, err := t.load(ctx, c.target)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return t.explain(err, "read", c.target)
	}
	c.from, c.old = f, &f.text
	return nil
}
