package overflow

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/linemark"
	"github.com/zeph-acp/zeph-acp/filter/text/pattern"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

//go:embed read_overflow.md
var description string

// Tools returns the tool read_overflow.
func (o *Overflow) Tools() executors.Registry {
	return executors.Registry{executors.Bind(executors.Tool{
		Name: toolName, Act: "Read", Description: strings.TrimSpace(description),
		Effect: executors.Reads | executors.Idempotent, Kind: executors.KindRead,
		Traits: executors.ReadsStored, IDs: `(?i)(overflow:)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`,
	}, o.prepare, o.execute)}
}

type readInput struct {
	ID      string `json:"id"`
	Offset  int    `json:"offset,omitempty"`
	Limit   int    `json:"limit,omitempty"`
	Pattern string `json:"pattern,omitempty"`
}

// maxPattern is the longest pattern, in bytes.
const maxPattern = 4 << 10

// view collects the part of a text that a call shows.
type view interface {
	add(line []byte) (more bool)
	String() string
}

func (o *Overflow) prepare(_ context.Context, _ *executors.Call, in *readInput) (executors.Card, error) {
	id, _, err := o.parse(in, nil)
	card := executors.Card{Title: "the rest of an output", Kind: executors.KindRead}
	if id != "" {
		card.Title = "the rest of output " + id
	}
	return card, err
}

// parse checks an input before the store is used.
func (o *Overflow) parse(in *readInput, stopped func() bool) (id string, v view, err error) {
	text := strings.TrimPrefix(strings.TrimSpace(in.ID), refPrefix)
	u, err := uuid.Parse(text)
	if err != nil || len(text) != len(u.String()) { // Parse accepts other forms too
		return "", nil, executors.Failuref(executors.InvalidParameters, "id must be a valid UUID, got %.80q", in.ID).
			Hint("Give the reference as a result shows it, such as %s%s.", refPrefix, uuid.UUID{})
	}
	id = u.String()
	if err := quantity.Check(quantity.Least{Name: "offset", Value: in.Offset}, quantity.Least{Name: "limit", Value: in.Limit}); err != nil {
		return id, nil, executors.Failuref(executors.InvalidParameters, "%v", err)
	}
	if in.Pattern == "" {
		return id, &page{offset: in.Offset, limit: in.Limit, room: o.pageChars(), width: o.rowWidth()}, nil
	}
	if len(in.Pattern) > maxPattern {
		return id, nil, executors.Failuref(executors.InvalidParameters, "the pattern is too large: at most %d bytes", maxPattern)
	}
	re, err := pattern.Compile(in.Pattern)
	if _, large := errors.AsType[*pattern.TooLargeError](err); large {
		return id, nil, executors.Failuref(executors.InvalidParameters, "the pattern cannot be used: %v", err).
			Hint("Use a shorter one, with smaller repetitions.")
	}
	if err != nil {
		return id, nil, executors.Failuref(executors.InvalidParameters, "the pattern is not a valid regex: %v", err).
			Hint(`Use RE2 syntax: no lookaround or backreferences; write \( \[ \. for these characters themselves.`)
	}
	return id, &search{re: re, stopped: stopped, offset: in.Offset, limit: in.Limit, room: o.pageChars(),
		width: o.rowWidth()}, nil
}

// execute reads a stored text piece by piece, up to the end of the page or of the search.
func (o *Overflow) execute(ctx context.Context, call *executors.Call, in *readInput) (executors.Result, error) {
	id, v, err := o.parse(in, func() bool { return ctx.Err() != nil })
	if err != nil {
		return executors.FailWith(err), nil
	}
	if call.Record != nil {
		call.Record.ClaimSource = executors.FromMemory
	}
	l := lines{width: o.rowWidth(), emit: v.add}
	for piece, err := range o.open(ctx, call.Session, id) {
		if err == nil {
			err = context.Cause(ctx)
		}
		switch {
		case ctx.Err() != nil:
			return executors.Result{}, context.Cause(ctx)
		case errors.Is(err, fs.ErrNotExist): // also if another session has it: a session must not learn that it exists
			return executors.Failuref(executors.PermanentFailure, "overflow entry not found or expired: %s%s", refPrefix, id).
				Hint("Rerun the original call with a narrower scope; a reference is valid only in its own session.").Result(), nil
		case err != nil:
			o.log().Warn("an overflow cannot be read", "session", call.Session, "err", err)
			return executors.Failuref(executors.ServerError, "%s%s cannot be read: the session store cannot be used now", refPrefix, id).
				Hint("Try again later, or rerun the original call with a narrower scope.").Result(), nil
		}
		if !l.feed(piece) {
			break
		}
	}
	l.end()
	if ctx.Err() != nil {
		return executors.Result{}, context.Cause(ctx)
	}
	text := v.String()
	return executors.Result{Text: text, Raw: map[string]any{"id": refPrefix + id, "lines": strings.Count(text, "\n") + 1}}, nil
}

// page shows numbered rows.
type page struct {
	offset int // rows before the page
	limit  int // rows of the page; 0 means as many as fit
	room   int // characters
	width  int

	out  strings.Builder
	row  int // rows seen
	more bool
}

// add adds a line of the text, and reports whether the page has room for more. A long line
// is shown in several rows.
func (p *page) add(line []byte) bool {
	if n := rows(line, p.width); p.row+n <= p.offset {
		p.row += n
		return true
	}
	for first := true; first || len(line) > 0; first = false {
		n := offset(line, p.width)
		row := line[:n]
		line = line[n:]
		if p.row < p.offset {
			p.row++
			continue
		}
		mark := linemark.Mark(p.row+1, p.row == p.offset)
		chars := len(mark) + utf8.RuneCount(row) + 1
		if p.limit > 0 && p.row-p.offset == p.limit || chars > p.room {
			p.more = true
			return false
		}
		p.room -= chars
		p.row++
		p.out.WriteString(mark)
		p.out.Write(validUTF8(row))
		p.out.WriteByte('\n')
	}
	return true
}

func (p *page) String() string {
	switch {
	case p.row == 0:
		return "[the text is empty]"
	case p.row <= p.offset:
		return fmt.Sprintf("[no lines after line %d: the text ends at line %d]", p.offset, p.row)
	case p.more:
		return fmt.Sprintf("%s[lines %d-%d; continue with offset %d]", p.out.String(), p.offset+1, p.row, p.row)
	}
	return fmt.Sprintf("%s[lines %d-%d; the text ends here]", p.out.String(), p.offset+1, p.row)
}

// validUTF8 returns a row as valid UTF-8, with the same number of characters.
func validUTF8(row []byte) []byte {
	if utf8.Valid(row) {
		return row
	}
	return bytes.Map(func(r rune) rune { return r }, row) // each invalid byte becomes U+FFFD
}
