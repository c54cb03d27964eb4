package fetch

import (
	"bytes"
	"errors"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

// fetch shortens the output of an HTTP client.
type fetch struct {
	maxLines int // lines of a body other than JSON
	maxBytes int // bytes of a body
}

// newFetch makes the strategy "fetch". The progress of curl and wget is
// dropped, and headers of little use. A body in JSON loses items that resemble
// others, and a page loses styles and scripts. Other bodies of more than
// max_lines lines or max_bytes bytes lose their middle.
func newFetch(p strategy.Params) (strategy.Strategy, error) {
	c := struct {
		Lines int `toml:"max_lines"`
		Bytes int `toml:"max_bytes"`
	}{Lines: 120, Bytes: 24 << 10}
	if err := p.Decode(&c); err != nil {
		return nil, err
	}
	if c.Lines < 20 || c.Bytes < 2000 {
		return nil, errors.New("want max_lines >= 20 and max_bytes >= 2000")
	}
	return fetch{c.Lines, c.Bytes}, nil
}

func (f fetch) Begin(run strategy.Run, out *text.Lines) strategy.Pass {
	return &fetchPass{fetch: f, run: run, out: out, headersRequested: requestsHeaders(run.Command)}
}

// fetchPass shortens one output of an HTTP client.
type fetchPass struct {
	fetch
	run              strategy.Run
	out              *text.Lines
	progress         []byte       // the last row of curl's progress; nil means no row is pending
	progressDone     bool         // progress is at 100 %
	inHeaders        bool         // within the headers of a response, outside of -v
	failedStatus     bool         // the status is an error
	headersRequested bool         // the command asks for headers alone
	body             []byte       // the current body, while it is not too large to hold
	restCutter       *text.Cutter // makes an excerpt of a larger body; nil otherwise
	restLines        *text.Lines  // that excerpt
	files            savedFiles
	filteredBefore   bool // the input is the result of an earlier pass
	changed          bool // lines were dropped
	lossy            bool // a body was shortened
}

// maxHeldBody limits the part of a body that is held, in bytes.
const maxHeldBody = 2 << 20

func (f *fetchPass) Line(l []byte) {
	if !f.foldSaved(l) {
		f.handleLine(l)
	}
}

func (f *fetchPass) handleLine(l []byte) {
	if row, after, ok := curlProgress(l); ok {
		f.handleRow(row, after)
		return
	}
	kind, keep := f.classify(l)
	switch {
	case kind == bodyLine:
		if len(f.body) == 0 && f.restCutter == nil {
			f.flushRow()
		}
		f.addBodyLine(l)
		return
	case len(l) == 0 && kind == headerLine:
		f.inHeaders = false
		f.flushBody()
		f.out.Write(nil)
		return
	}
	if !keep { // and does not split a body: the next pass would see only one
		f.changed = true
		return
	}
	f.flushBody()
	f.flushRow()
	f.out.Write(l)
}

// handleRow handles a row of curl's progress, and the part of a body after it.
func (f *fetchPass) handleRow(row, after []byte) {
	if f.progress != nil {
		if f.progressDone {
			f.flushRow()
		} else {
			f.changed = true
		}
	}
	f.progress = append(f.progress[:0], row...)
	f.progressDone = bytes.HasPrefix(bytes.TrimLeft(row, " "), []byte("100 "))
	if bytes.HasPrefix(bytes.TrimLeft(row, " "), []byte("0     0    0     0 ")) { // nothing received
		f.progress, f.changed = nil, true
	}
	if len(after) > 0 {
		f.handleLine(after)
	}
}

func (f *fetchPass) flushRow() {
	if f.progress != nil {
		f.flushBody()
		f.out.Write(f.progress)
		f.progress = nil
	}
}

// addBodyLine adds a line of a body to the part in memory, or to its excerpt.
func (f *fetchPass) addBodyLine(l []byte) {
	if bytes.Contains(l, []byte(similarItems)) {
		f.filteredBefore = true
	}
	if f.restCutter == nil && len(f.body)+len(l) < maxHeldBody {
		f.body = append(append(f.body, l...), '\n')
		return
	}
	if f.restCutter == nil {
		f.restLines = text.NewLines()
		f.restCutter = f.excerpt().Cut(f.restLines)
		for line := range bytes.SplitSeq(bytes.TrimSuffix(f.body, []byte{'\n'}), []byte{'\n'}) {
			f.restCutter.Line(f.shortenLine(line))
		}
		f.body = f.body[:0]
	}
	f.restCutter.Line(f.shortenLine(l))
}

func (f *fetchPass) excerpt() text.Excerpt {
	return text.Excerpt{Head: f.maxLines * 2 / 3, Tail: f.maxLines / 6, Context: 1}
}

// shortenLine shortens a long line of a body.
func (f *fetchPass) shortenLine(l []byte) []byte {
	width := f.maxBytes / 4
	if f.run.Mixed {
		width = f.maxBytes
	}
	if len(l) > width+200 {
		f.lossy = true
		return text.Shorten(l, width)
	}
	return l
}

// flushBody writes the body that was collected.
func (f *fetchPass) flushBody() {
	switch {
	case f.restCutter != nil:
		if f.restCutter.End() {
			f.lossy = true
		}
		_ = f.restLines.Each(f.out.Write) // out reports the same full disk
		f.restLines.Close()
		f.restCutter, f.restLines = nil, nil
		return
	case len(f.body) == 0:
		return
	}
	body, maxLines := f.foldBody(bytes.TrimSuffix(f.body, []byte{'\n'}))
	lines := bytes.Split(body, []byte{'\n'})
	cut := f.excerpt().Cut(f.out)
	whole := len(lines) <= maxLines || f.run.Mixed // of another command perhaps
	if bytes.Contains(body, []byte(similarItems)) {
		whole = len(lines) <= 4*f.maxLines
		cut.Head, cut.Tail = 3*f.maxLines, f.maxLines/2
	}
	for _, l := range lines {
		whole = whole || text.IsOmission(l)
	}
	for _, l := range lines {
		l = f.shortenLine(l)
		if whole {
			f.out.Write(l)
		} else {
			cut.Line(l)
		}
	}
	if !whole && cut.End() {
		f.lossy = true
	}
	f.body = f.body[:0]
}

// foldBody folds a body by its format. It returns the body and the number of lines up to which it is
// written whole.
func (f *fetchPass) foldBody(body []byte) (folded []byte, maxLines int) {
	if short, ok := foldJSON(body); ok {
		f.lossy = f.lossy || len(short) < len(body)
		return short, f.maxLines
	}
	if short, ok := foldBrokenJSON(body); ok {
		f.lossy = true
		return short, f.maxLines
	}
	if short, ok := foldHTML(body, f.maxBytes/4+200); ok {
		f.lossy = true
		return short, f.maxLines
	}
	if short, ok := f.foldLines(body); ok {
		return short, f.maxLines
	}
	if len(body) <= f.maxBytes { // a text, possibly source code
		return body, 4 * f.maxLines
	}
	return body, f.maxLines
}

// foldLines folds long lines of JSON among other commands' lines.
func (f *fetchPass) foldLines(body []byte) (folded []byte, ok bool) {
	if !f.run.Mixed {
		return nil, false
	}
	for l := range bytes.Lines(body) {
		if len(l) > f.maxBytes/4 && (l[0] == '{' || l[0] == '[') {
			if short, isJSON := foldJSON(bytes.TrimSuffix(l, []byte{'\n'})); isJSON {
				ok, f.lossy = true, f.lossy || len(short) < len(l)
				l = append(short, '\n')
			}
		}
		folded = append(folded, l...)
	}
	return bytes.TrimSuffix(folded, []byte{'\n'}), ok
}

func (f *fetchPass) End() strategy.Confidence {
	f.writeSavedCount()
	f.flushBody()
	f.flushRow()
	switch {
	case f.filteredBefore || !f.changed && !f.lossy:
		return strategy.Fallback
	case f.lossy:
		return strategy.Partial
	}
	return strategy.Full
}
