package overflow

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// location is where a text was kept.
type location int

const (
	stored location = iota
	inMemory
)

// refPrefix begins a reference; the id follows.
const refPrefix = "overflow:"

// storedText describes a text that is kept, or would be.
type storedText struct {
	id    string
	size  int64 // bytes of the text
	bytes int64 // bytes kept, from its beginning
	lines int   // lines in these bytes, as read_overflow counts them
	place location
}

// store stores a text and returns the line that refers to it. If the text was lost, ok is
// false and the line says why.
func (o *Overflow) store(ctx context.Context, session string, text io.ReaderAt, size int64) (line string, ok bool) {
	k, err := o.measure(ctx, session, text, size)
	if err != nil {
		return o.lostLine(ctx, size, "it could not be read back", err), false
	}
	k.place, err = o.putText(ctx, session, k.id, func() io.Reader { return io.NewSectionReader(text, 0, k.bytes) })
	switch {
	case errors.Is(err, errTooLarge):
		return o.lostLine(ctx, size, "the session store cannot be used, and it is too large for the memory", err), false
	case err != nil:
		return o.lostLine(ctx, size, "the session store cannot be used", err), false
	}
	return k.reference(o.Config.MaxOverflowBytes), true
}

// reference returns the line by which the model finds the text.
func (k storedText) reference(maxBytes int64) string {
	lines, until := quantity.CountGrouped(k.lines, "line"), ""
	if k.place == inMemory {
		until = ", until the agent ends"
	}
	if k.bytes < k.size {
		return fmt.Sprintf("[full output: %s, its first %s (%s): %s %s%s%s; the rest was dropped: tools.overflow.max_overflow_bytes is %s]",
			mebibytes(k.size), lines, mebibytes(k.bytes), toolName, refPrefix, k.id, until, quantity.Grouped(maxBytes))
	}
	return fmt.Sprintf("[full output: %s, %s: %s %s%s%s]", lines, mebibytes(k.size), toolName, refPrefix, k.id, until)
}

// lostLine returns the line for a text whose rest was not kept.
func (o *Overflow) lostLine(ctx context.Context, size int64, why string, err error) string {
	if ctx.Err() != nil {
		why = "the turn was cancelled"
	} else {
		o.log().Warn("an overflow was lost", "bytes", size, "err", err)
	}
	return fmt.Sprintf("[full output: %s; the rest of it was lost: %s; if you need it, rerun the call with a narrower scope]", mebibytes(size), why)
}

// measure reads the part of a text that will be kept, and measures it.
func (o *Overflow) measure(ctx context.Context, session string, text io.ReaderAt, size int64) (storedText, error) {
	k := storedText{size: size, bytes: size}
	if most := o.Config.MaxOverflowBytes; most > 0 && size > most {
		var err error
		if k.bytes, err = boundary(text, most); err != nil {
			return k, err
		}
	}
	width := o.rowWidth()
	l := lines{width: width, emit: func(line []byte) bool {
		k.lines += rows(line, width)
		return true
	}}
	hash := sha256.New()
	fmt.Fprintf(hash, "%d %s\n", len(session), session)
	in := io.NewSectionReader(text, 0, k.bytes)
	buf := make([]byte, min(k.bytes, pieceSize))
	for {
		n, err := in.Read(buf)
		hash.Write(buf[:n])
		l.feed(buf[:n])
		if err == io.EOF {
			break
		}
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return k, err
		}
	}
	l.end()
	id := uuid.UUID(hash.Sum(nil)[:16])
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80 // version 8: our own
	k.id = id.String()
	return k, nil
}

// boundary returns the largest length up to maxBytes at which a longer text can be cut:
// between lines, or between runes if the last line is very long.
func boundary(text io.ReaderAt, maxBytes int64) (int64, error) {
	from := max(0, maxBytes-pieceSize)
	buf := make([]byte, maxBytes-from+1)
	n, err := text.ReadAt(buf, from)
	if n < len(buf) {
		return 0, fmt.Errorf("read the text that overflows: %w", err)
	}
	end := len(buf) - 1
	if i := bytes.LastIndexByte(buf[:end], '\n'); i >= 0 {
		return from + int64(i) + 1, nil
	}
	for back := 1; back < utf8.UTFMax && end > 0 && !utf8.RuneStart(buf[end]); back++ {
		end--
	}
	return from + int64(end), nil
}

// mebibytes returns a size in MiB, for people.
func mebibytes(n int64) string {
	switch {
	case n < 1<<10:
		return quantity.CountGrouped(n, "byte")
	case n < 1<<20:
		return strconv.FormatFloat(float64(n)/(1<<10), 'f', 1, 64) + " KiB"
	}
	return strconv.FormatFloat(float64(n)/(1<<20), 'f', 1, 64) + " MiB"
}
