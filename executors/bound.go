package executors

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// OutputLimit is the key by which the table of a tool overrides the limit of all tools. The table
// passes it on as [Tool.MaxOutput].
type OutputLimit struct {
	MaxOutputChars int `toml:"max_output_chars" default:"50000" range:"200.." tighten:"lower" unit:"characters" doc:"of a result's text; unless set, the same as tools.max_output_chars"`
}

// Bound shortens what a model reads of a result to at most limit characters: the text, in the room
// that the failure and the notes leave, and these if they need more than three quarters of it. Full
// then has all of the text. A raw output that is text has at most limit characters too.
func (r *Result) Bound(limit int) {
	if raw, ok := r.Raw.(string); ok {
		r.Raw, _ = Bound(raw, limit)
	}
	most := limit
	if r.Text != "" || r.Long != nil {
		most -= limit / 4
	}
	r.BoundAround(most)
	room, long := max(limit-r.aroundLen(), 0), r.Long
	r.Long = nil
	mayFit := true
	if long != nil {
		if mayFit = long.Size() <= int64(room)*utf8.UTFMax; mayFit {
			r.Text = long.Window(0, long.Size())
		}
		if r.Output != nil && r.Output.Open {
			r.Text = strings.TrimSuffix(r.Text, "\n")
		}
	}
	defer func() { r.Shorten = nil }()
	if mayFit && (len(r.Text) <= room || utf8.RuneCountInString(r.Text) <= room) {
		long.Close()
		return
	}
	if long == nil {
		long = heldSpool(r.Text)
	}
	if r.Text = r.shortened(long.Reader(), room); r.Full == nil {
		r.Full = long
	} else {
		long.Close()
	}
}

// Spend replaces a text of more than budget characters by an excerpt of about that length, if
// the parts of the text are known. Full then has all of the text. A budget of 0 changes nothing.
func (r *Result) Spend(budget int) {
	excerpt, long := r.Excerpt, r.Long
	r.Excerpt = nil
	if excerpt == nil || budget <= 0 || long == nil && len(r.Text) <= budget {
		return
	}
	if long == nil {
		long = heldSpool(r.Text)
	}
	text, ok := excerpt(long.Reader(), budget)
	if !ok {
		return
	}
	if r.Output != nil && r.Output.Open {
		text = strings.TrimSuffix(text, "\n")
	}
	if r.Text, r.Long = text, nil; r.Full == nil {
		r.Full = long
	} else {
		long.Close()
	}
}

// aroundLen returns how many characters the failure, the notes and the line feed between them and
// the text have. The output of a command has a line feed in any case.
func (r *Result) aroundLen() int {
	around := *r
	around.Text = ""
	n := utf8.RuneCountInString(around.ForModel())
	if n > 0 || r.Output != nil {
		n++
	}
	return n
}

// shortened returns at most limit characters of the result's text.
func (r *Result) shortened(whole *io.SectionReader, limit int) string {
	if r.Shorten != nil {
		return r.Shorten(whole, limit)
	}
	text, _ := BoundReader(whole, limit, r.Output != nil && r.Output.Lost)
	return text
}

// blockLen is the room for the words of a [tool_error] block itself.
const blockLen = 100

// BoundAround shortens the failure and the notes of a result if they have more than limit
// characters together. Full then has all of the text, and they are a part of it.
func (r *Result) BoundAround(limit int) {
	if r.aroundLen() <= limit+1 {
		return
	}
	r.holdAll()
	part := max(limit-blockLen, 0) / 3
	if r.Failure != nil {
		f := *r.Failure
		f.Message, f.Suggestion, f.UserText = withoutMiddle(f.Message, part), withoutMiddle(f.Suggestion, part), withoutMiddle(f.UserText, part)
		r.Failure = &f
	} else {
		part = limit
	}
	notes, cut := Bound(JoinLines(r.Notes...), part)
	if cut {
		r.Notes = nil
		r.Below(notes)
	}
}

// holdAll sets Full to the whole text with the failure and the notes.
func (r *Result) holdAll() {
	text := heldSpool(r.Text)
	switch {
	case r.Full != nil:
		text = r.Full
	case r.Long != nil:
		text = r.Long
	}
	failure, notes := Result{Failure: r.Failure}.ForModel(), JoinLines(r.Notes...)
	if failure != "" {
		failure += "\n"
	}
	if notes != "" && text.Size() > 0 && text.Window(text.Size()-1, 1) != "\n" {
		notes = "\n" + notes
	}
	all := &Spool{}
	_, err := io.Copy(all, io.MultiReader(strings.NewReader(failure), text.Reader(), strings.NewReader(notes)))
	if err != nil {
		all.Close()
		r.Below(fmt.Sprintf("[the full text could not be kept: %v]", err))
		return
	}
	r.Full.Close()
	r.Full = all
}
