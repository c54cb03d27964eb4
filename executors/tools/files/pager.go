package files

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/tools/files/charset"
	"github.com/zeph-acp/zeph-acp/filter/text/linemark"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

const (
	noteRoom = 200  // characters of a pager's note
	maxLine  = 2000 // characters shown of one line, if the page has room for them
	lineRoom = 60   // characters around those of a line that is cut
	// keepLine is how many bytes of a line are read; maxLine characters fit into
	// it.
	keepLine = maxLine * utf8.UTFMax
)

// pager returns one page of a text, with marks that number its lines.
type pager struct {
	name  string
	skip  int  // lines before the page
	limit int  // lines of the page
	room  int  // characters of the page
	plain bool // without marks
	// encoding is the encoding of the file; nil means UTF-8.
	encoding *charset.Encoding

	out   strings.Builder
	seen  int  // lines read so far
	shown int  // lines in the page
	total int  // lines of the text; 0 means unknown
	more  bool // lines follow the page
	cut   bool // a line of the page is not shown whole
	odd   bool // a line of the page has U+FFFD
}

// countLines sets the number of lines of the whole text.
func (p *pager) countLines(text string) {
	p.total = strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		p.total++
	}
}

// read reads the page from r. It stops after the page, so that the time for a
// page does not depend on the rest of the file.
func (p *pager) read(ctx context.Context, r io.Reader) error {
	in := buffered(r)
	var line []byte
	for {
		if p.seen%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var size int
		var err error
		line, size, err = nextLine(ctx, in, line[:0])
		if err == io.EOF {
			return nil
		}
		if err == errBinary {
			return p.binary(p.seen + 1)
		}
		if err != nil {
			return err
		}
		if p.seen == 0 && bytes.HasPrefix(line, []byte(executors.ByteOrderMark)) {
			line, size = line[len(executors.ByteOrderMark):], size-len(executors.ByteOrderMark)
		}
		if p.seen++; p.seen <= p.skip {
			continue
		}
		if p.shown == p.limit {
			p.more = true
			return nil
		}
		if bytes.IndexByte(line, 0) >= 0 || size <= keepLine && !utf8.Valid(line) {
			return p.binary(p.seen)
		}
		if !p.add(line, size) {
			p.more = true
			return nil
		}
	}
}

// decoded returns a reader of the text of a file.
func (p *pager) decoded(r io.Reader) io.Reader {
	if p.encoding == nil {
		return r
	}
	return p.encoding.NewReader(r)
}

// readFrom reads the page from the beginning of a file.
func (p *pager) readFrom(ctx context.Context, f *os.File) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return p.read(ctx, p.decoded(f))
}

// binary returns the failure of a page that is not text.
func (p *pager) binary(line int) error {
	return executors.Failuref(executors.PermanentFailure, "%s is a binary file or text in an unknown encoding (line %d)", p.name, line)
}

// errBinary reports a NUL in a line that is too long to be read to its end. A sparse file
// may be a single line of a terabyte.
var errBinary = errors.New("a NUL in a long line")

// buffered returns a line reader that uses little memory for a short text.
func buffered(r io.Reader) *bufio.Reader {
	size := 64 << 10
	if text, ok := r.(*strings.Reader); ok {
		size = min(size, text.Len()+1)
	}
	return bufio.NewReaderSize(r, size)
}

// nextLine reads a line without its ending and appends at most keepLine bytes of
// it to line; size is the length of the line in bytes. io.EOF comes without a line, errBinary
// in the middle of one.
func nextLine(ctx context.Context, in *bufio.Reader, line []byte) (kept []byte, size int, err error) {
	var end []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part[:min(len(part), keepLine+2-len(line))]...)
		size += len(part)
		end = append(end, part[max(0, len(part)-2):]...)
		end = end[max(0, len(end)-2):]
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			if ctx.Err() != nil {
				return line, size, context.Cause(ctx)
			}
			if bytes.IndexByte(line, 0) >= 0 {
				return line, size, errBinary
			}
			continue
		case err == io.EOF && size == 0:
			return line, 0, io.EOF
		case err != nil && err != io.EOF:
			return line, size, err
		}
		break
	}
	switch {
	case bytes.HasSuffix(end, []byte("\r\n")):
		size -= 2
	case bytes.HasSuffix(end, []byte("\n")):
		size--
	}
	return line[:min(len(line), size, keepLine)], size, nil
}

// add adds one line to the page, if it fits. The first line always does.
func (p *pager) add(line []byte, size int) bool {
	shown, note := line, ""
	if most := p.lineChars(); size > most && utf8.RuneCount(line) > most || size > len(line) {
		cut := 0
		for range most {
			_, n := utf8.DecodeRune(line[cut:])
			cut += n
		}
		p.cut = true
		shown, note = line[:cut], fmt.Sprintf(" [… %s in this line]", quantity.Count(size-cut, "more byte"))
	}
	mark := ""
	if !p.plain {
		mark = linemark.Mark(p.seen, p.shown == 0)
	}
	chars := len(mark) + utf8.RuneCount(shown) + len(note) + 1
	if chars > p.room && p.shown > 0 {
		return false
	}
	p.room -= chars
	p.odd = p.odd || bytes.Contains(shown, []byte("\uFFFD"))
	p.shown++
	p.out.WriteString(mark)
	p.out.Write(shown)
	p.out.WriteString(note + "\n")
	return true
}

// lineChars is how many characters of the next line are shown at most.
func (p *pager) lineChars() int {
	if p.shown > 0 {
		return maxLine
	}
	return max(min(maxLine, p.room-lineRoom), 1)
}

// maxFullLines bounds the disk that the whole lines of a page take, in bytes.
const maxFullLines = 16 << 20

// fullLines returns the uncut lines of a page with lines that are cut. r reads the text
// from its beginning. It returns nil for other pages, and if there is no room.
func (p *pager) fullLines(ctx context.Context, r io.Reader) *executors.Spool {
	if !p.cut {
		return nil
	}
	out, err := executors.NewSpool("")
	if err != nil {
		return nil
	}
	in := buffered(r)
	for line := 0; line < p.skip+p.shown && out.Size() < maxFullLines && ctx.Err() == nil; {
		part, err := in.ReadSlice('\n')
		if line >= p.skip {
			if _, writeErr := out.Write(part); writeErr != nil {
				break
			}
		}
		if err == nil {
			line++
		} else if !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
	}
	return out
}

// String returns the page, and a note in brackets on how to read the rest.
func (p *pager) String() string {
	if p.seen == 0 {
		return fmt.Sprintf("[%s is empty]", p.name)
	}
	if p.shown == 0 {
		return fmt.Sprintf("[no lines after line %d: %s ends at line %d]", p.skip, p.name, p.seen)
	}
	first, last := p.skip+1, p.skip+p.shown
	of := ""
	if p.total > 0 {
		of = fmt.Sprintf(" of %d", p.total)
	}
	switch {
	case p.more:
		fmt.Fprintf(&p.out, "[lines %d-%d%s; continue with offset %d]", first, last, of, last)
	case p.skip > 0 || strings.TrimSpace(p.out.String()) == "": // a result is never empty
		fmt.Fprintf(&p.out, "[lines %d-%d%s; the file ends here]", first, last, of)
	}
	if p.encoding != nil {
		p.out.WriteString(p.encodingLine())
	}
	return strings.TrimSuffix(p.out.String(), "\n")
}

// encodingLine returns a line about the encoding of a file.
func (p *pager) encodingLine() string {
	if p.out.Len() > 0 && !strings.HasSuffix(p.out.String(), "\n") {
		p.out.WriteByte('\n')
	}
	odd := ""
	if p.odd {
		odd = "; U+FFFD stands for bytes that are not valid in it"
	}
	return fmt.Sprintf("[the file is %s and stays so%s]", p.encoding.Name(), odd)
}
