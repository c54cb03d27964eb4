package story

import (
	"bytes"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/audit"
)

// announce adds the card of a call.
func (t *builder) announce(u acp.ToolCall) {
	if u.ToolCallID == "" || t.cards[u.ToolCallID] != nil {
		return
	}
	c := &Card{ID: u.ToolCallID, Record: t.records[u.ToolCallID]}
	if c.Record != nil {
		c.Record = t.record(*c.Record)
	}
	t.cards[c.ID] = c
	t.openCards = append(t.openCards, c)
	t.fill(c, u)
	t.add(Item{Card: c})
}

// update changes the card of a call.
func (t *builder) update(u acp.ToolCall) {
	if c := t.cards[u.ToolCallID]; c != nil {
		t.fill(c, u)
	}
}

// end changes the card of a call that has ended.
func (t *builder) end(u acp.ToolCall) {
	if u.ToolCallID == "" { // the client has not seen the call
		return
	}
	t.announce(u) // a question showed it, or its announcement cannot be read
	t.update(u)
	t.openCards = slices.DeleteFunc(t.openCards, func(c *Card) bool { return c.ID == u.ToolCallID })
}

// fill sets the members of an update that are not empty.
func (t *builder) fill(c *Card, u acp.ToolCall) {
	if u.Title != "" {
		c.Title = t.clean(withoutMarks(u.Title))
	}
	if u.Kind != "" {
		c.Kind = t.clean(u.Kind)
	}
	if u.Status != "" {
		c.Status = u.Status
	}
	if script := t.output(commandOf(u.RawInput)); script != "" {
		c.Command = script
	}
	if u.Content == nil {
		return
	}
	c.Diffs, c.Outputs = nil, nil
	for _, part := range u.Content {
		switch {
		case part.Type == "diff":
			c.Diffs = append(c.Diffs, t.diff(part))
		case part.Content != nil && part.Content.Text != nil:
			if out := t.output(*part.Content.Text); strings.TrimSpace(out) != "" {
				c.Outputs = append(c.Outputs, out)
			}
		case part.Content != nil:
			c.Outputs = append(c.Outputs, t.message([]acp.ContentBlock{*part.Content}).Attachments[0].Name)
		}
	}
}

// withoutMarks removes the marks of a code span that a title consists of.
func withoutMarks(title string) string {
	inner := strings.Trim(title, "`")
	if fence := (len(title) - len(inner)) / 2; fence > 0 && len(title)-len(inner) == 2*fence {
		return strings.TrimSpace(inner)
	}
	return title
}

// diff returns the hunks of a change. Both texts are redacted as wholes: a credential may
// span lines.
func (t *builder) diff(c acp.ToolContent) Diff {
	var before, after string
	if c.OldText != nil {
		before = *c.OldText
	}
	if c.NewText != nil {
		after = *c.NewText
	}
	if t.mask != nil {
		before, after = t.mask(before), t.mask(after)
	}
	d := Diff{Path: t.relative(c.Path)}
	out := diff.Diff("a", []byte(before), "b", []byte(after))
	for range 3 { // diff, ---, +++
		_, out, _ = bytes.Cut(out, []byte("\n"))
	}
	if len(out) > 0 {
		text := t.limit().shortened(strings.TrimSuffix(string(out), "\n"))
		t.textBytes += len(text)
		d.Lines = strings.Split(text, "\n")
	}
	return d
}

// relative returns a path below the session's directory without it.
func (t *builder) relative(path string) string {
	path = t.clean(path)
	if rest, ok := strings.CutPrefix(path, t.story.Dir); ok && len(rest) > 1 && (rest[0] == '/' || rest[0] == '\\') {
		return rest[1:]
	}
	return path
}

// record returns a line of the log with redacted texts.
func (t *builder) record(e audit.Entry) *audit.Entry {
	for _, s := range []*string{
		&e.Tool, &e.Command, &e.URL, &e.Rule, &e.Answer, &e.Decision, &e.Error, &e.PolicyMatch, &e.Caller, &e.MCPServer,
	} {
		*s = t.clean(*s)
	}
	e.Gates, e.Paths, e.Filters = slices.Clone(e.Gates), slices.Clone(e.Paths), slices.Clone(e.Filters)
	for i := range e.Gates {
		v := &e.Gates[i]
		for _, text := range []*string{&v.Rule, &v.Reason, &v.Source, &v.Answer, &v.About, &v.Change} {
			*text = t.clean(*text)
		}
	}
	for i := range e.Paths {
		e.Paths[i] = t.clean(e.Paths[i])
	}
	for i := range e.Filters {
		e.Filters[i] = t.clean(e.Filters[i])
	}
	return &e
}

// sumUp computes the numbers of the turns and of the whole session.
func (t *builder) sumUp(calls []audit.Entry) {
	s := t.story
	for _, turn := range s.Turns {
		for _, i := range turn.Items {
			if i.Card != nil {
				turn.add(i.Card.numbers())
				s.Files = append(s.Files, i.Card.changedFiles()...)
			}
		}
		s.Total.add(turn.Numbers)
	}
	slices.Sort(s.Files)
	s.Files = slices.Compact(s.Files)
	for _, e := range calls {
		if t.cards[e.ID] == nil {
			s.Others = append(s.Others, *t.record(e))
		}
	}
}

// changedFiles returns the files that a completed call has changed.
func (c *Card) changedFiles() (files []string) {
	if c.Status != acp.ToolCompleted {
		return nil
	}
	for _, d := range c.Diffs {
		files = append(files, d.Path)
	}
	return files
}

// numbers returns the numbers of one call.
func (c *Card) numbers() Numbers {
	n := Numbers{Calls: 1}
	if c.Record != nil && c.Record.Result == audit.Denied {
		n.Denied = 1
	} else if c.Failed() {
		n.Failed = 1
	}
	if c.Record != nil {
		n.Before, n.After = int64(c.Record.BytesBefore), int64(c.Record.BytesAfter)
	}
	return n
}
