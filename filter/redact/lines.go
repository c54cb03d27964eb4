package redact

import (
	"bufio"
	"bytes"
	"io"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// Visible is Mask, and also masks credentials that show only in the sanitised
// text, such as those with escape sequences in them. If it finds one, masked is
// the sanitised text.
func (s *Scanner) Visible(body string) (masked string, found []Finding) {
	if s == nil || s.session.isMasked(body, asShown) {
		return body, nil
	}
	masked, found = s.visible(body)
	s.session.add(masked, asShown)
	return masked, found
}

func (s *Scanner) visible(body string) (masked string, found []Finding) {
	masked, found = s.Mask(body)
	if !text.TextHasControls(body) {
		return masked, found
	}
	shown, more := s.Mask(text.WithoutControls(body))
	if len(more) == 0 || shown == text.WithoutControls(masked) {
		return masked, found
	}
	return shown, more
}

// addFound adds values that were found separately.
func (m *Stream) addFound(found []Finding) {
	for k := range m.found {
		for _, f := range found {
			if f.Kind == rules().Kinds[k].Kind {
				m.found[k] += f.Count
			}
		}
	}
}

// Count returns the number of values found.
func Count(found []Finding) (n int64) {
	for _, f := range found {
		n += int64(f.Count)
	}
	return n
}

// LineWriter masks lines and writes them with the ends that they had.
type LineWriter struct {
	scanner   *Scanner
	w         io.Writer // keeps its error
	stream    *Stream
	ends      []string // ends of the lines that stream holds
	endedInCR bool     // the last end was a carriage return
}

// LineWriter returns a writer of masked lines to w.
func (s *Scanner) LineWriter(w io.Writer) *LineWriter {
	l := &LineWriter{scanner: s, w: w}
	l.stream = s.Stream(l.writeLine, nil)
	return l
}

// Release writes lines that wait for the lines after them.
func (l *LineWriter) Release() { l.stream.Release() }

// End writes all lines and returns the findings.
func (l *LineWriter) End() []Finding { return l.stream.End() }

// writeLine writes a masked line.
func (l *LineWriter) writeLine(line []byte) {
	_, _ = l.w.Write(line)
	_, _ = io.WriteString(l.w, l.ends[0])
	l.ends = l.ends[1:]
}

// Line masks one or more lines, or a part of a long one without an end. A text
// drawn over a line counts as a line, so that the size of the pieces makes no
// difference.
func (l *LineWriter) Line(line []byte) {
	for len(line) > 0 {
		n, end := len(line), ""
		if i := bytes.IndexAny(line, "\r\n"); i >= 0 {
			n, end = i, string(line[i:i+1])
		}
		if end == "\r" && bytes.HasPrefix(line[n:], []byte("\r\n")) {
			end = "\r\n"
		}
		l.handlePiece(line[:n], end)
		line = line[n+len(end):]
	}
}

// handlePiece handles a line, or a text drawn over one.
func (l *LineWriter) handlePiece(line []byte, end string) {
	rest := len(line) == 0 && l.endedInCR // the rest of an end
	if l.endedInCR && !rest {
		l.stream.expectDrawnOver()
	}
	l.endedInCR = end == "\r"
	controls := text.HasControls(line)
	if controls {
		line = l.maskDrawn(line)
	}
	switch {
	case rest && len(l.ends) > 0:
		l.ends[len(l.ends)-1] += end
	case rest || controls:
		_, _ = l.w.Write(line)
		_, _ = io.WriteString(l.w, end)
	default:
		l.ends = append(l.ends, end)
		l.stream.Line(line)
	}
}

// maskDrawn masks a line that a terminal shows differently. The visible text continues
// the lines before. It replaces the line if the masked line would reveal more.
func (l *LineWriter) maskDrawn(line []byte) []byte {
	l.stream.Release()
	var shown []byte
	l.stream.next = func(line []byte) { shown = append(append(shown, line...), '\n') }
	clean := text.Sanitize(line)
	for part := range bytes.Lines(clean) {
		l.stream.Line(bytes.TrimSuffix(part, []byte("\n")))
	}
	l.stream.Release()
	l.stream.next = l.writeLine
	masked, found := l.scanner.Mask(string(line))
	switch {
	case !bytes.Equal(shown, clean) && !bytes.Equal(shown, text.Sanitize([]byte(masked))):
		return bytes.TrimSuffix(shown, []byte("\n"))
	case bytes.Equal(shown, clean):
		l.stream.addFound(found)
	}
	return []byte(masked)
}

// Copy masks a text of any length. The error comes from reading or writing it.
func (s *Scanner) Copy(to io.Writer, from io.Reader) ([]Finding, error) {
	w, r := bufio.NewWriterSize(to, text.BufferSize), bufio.NewReaderSize(from, text.MaxLine)
	lines := s.LineWriter(w)
	var err error
	var rest []byte // of a long line
	for err == nil {
		var line []byte
		line, err = r.ReadSlice('\n')
		line = append(rest, line...)
		n := len(line)
		if err == bufio.ErrBufferFull { // a long line is processed in pieces
			n, err = text.SafeCut(line), nil
		}
		lines.Line(line[:n])
		rest = append(rest[:0], line[n:]...)
	}
	found := lines.End()
	if err == io.EOF {
		err = w.Flush()
	}
	return found, err
}
