package process

import (
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// maxTailBytes is how many bytes of the end of a truncated output are kept in memory.
const maxTailBytes = 1 << 20

// Capture keeps the text of a program: its beginning, up to a limit, in a Spool,
// and after that its end in memory. Calls must not be concurrent.
type Capture struct {
	spool     *executors.Spool
	spoolLeft int            // bytes that still fit into spool
	tail      headTailBuffer // the text after spool
	lastByte  byte           // of spool
	writeErr  error          // the error that ended writing to spool
}

// Captured is the text that a [Capture] kept.
type Captured struct {
	Full *executors.Spool // the caller closes it
	Lost int64            // bytes that are missing in it
	Err  error            // why the Spool could not be written; nil if it could
}

// NewCapture returns a Capture that keeps up to limit bytes in its Spool.
func NewCapture(limit int) *Capture {
	tail := min(limit/2, maxTailBytes)
	return &Capture{spool: &executors.Spool{}, spoolLeft: limit - tail, tail: headTailBuffer{maxTail: tail, headFull: true}}
}

// Add appends text in whole runes. It does not keep the bytes.
func (c *Capture) Add(text []byte) {
	if c.spoolLeft > 0 {
		n := runeCut(text, c.spoolLeft)
		c.spoolLeft -= n
		if n < len(text) { // otherwise later text would precede the rest of this text
			c.spoolLeft = 0
		}
		c.writeSpool(text[:n])
		text = text[n:]
	}
	c.tail.write(text)
}

// writeSpool adds text to spool. Text that does not fit on the disk is dropped, so
// that a full disk does not fail the program.
func (c *Capture) writeSpool(text []byte) {
	if len(text) == 0 || c.writeErr != nil {
		c.tail.dropped += int64(len(text))
		return
	}
	n, err := c.spool.Write(text)
	if n > 0 {
		c.lastByte = text[n-1]
	}
	if err != nil {
		c.writeErr, c.spoolLeft = err, 0
		c.tail.dropped += int64(len(text) - n)
	}
}

// Text returns the kept text, without its middle if that was dropped.
func (c *Capture) Text() string {
	_, end, _ := c.tail.parts()
	return c.spool.Window(0, c.spool.Size()) + end
}

// Finish returns the kept text, with a line in place of dropped text. The Capture
// must not be used after that.
func (c *Capture) Finish() Captured {
	_, end, lost := c.tail.parts()
	if lost > 0 {
		mark := executors.CutMark(quantity.CountGrouped(lost, "byte")) + "\n"
		if c.lastByte != '\n' && c.spool.Size() > 0 {
			mark = "\n" + mark
		}
		end = mark + end
	}
	c.writeSpool([]byte(end))
	if c.writeErr != nil {
		lost = c.tail.dropped
	}
	return Captured{Full: c.spool, Lost: lost, Err: c.writeErr}
}
