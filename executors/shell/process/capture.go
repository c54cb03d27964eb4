package process

import "github.com/zeph-acp/zeph-acp/executors"

// endBytes is how many bytes of the end of a truncated output are kept in memory.
const endBytes = 1 << 20

// Capture keeps the text of a program: its beginning, up to a limit, in a Spool,
// and after that its end in memory. Calls must not be concurrent.
type Capture struct {
	full *executors.Spool
	room int            // bytes that still go to full
	end  headTailBuffer // the text after full
	last byte           // of full
	fail error          // the error that ended writing to full
}

// Captured is the text that a [Capture] kept.
type Captured struct {
	Full *executors.Spool // the caller closes it
	Lost int64            // bytes that are missing in it
	Err  error            // why Full could not be written; nil if it could
}

// NewCapture returns a Capture that keeps up to limit bytes in its Spool.
func NewCapture(limit int) *Capture {
	tail := min(limit/2, endBytes)
	return &Capture{full: &executors.Spool{}, room: limit - tail, end: headTailBuffer{tail: tail, full: true}}
}

// Add appends text in whole runes. It does not keep the bytes.
func (c *Capture) Add(text []byte) {
	if c.room > 0 {
		n := runeCut(text, c.room)
		c.room -= n
		if n < len(text) { // later text must not precede the rest of this text
			c.room = 0
		}
		c.spool(text[:n])
		text = text[n:]
	}
	c.end.write(text)
}

// spool adds text to full. Text that does not fit on the disk is dropped, so
// that a full disk does not fail the program.
func (c *Capture) spool(text []byte) {
	if len(text) == 0 || c.fail != nil {
		c.end.dropped += int64(len(text))
		return
	}
	n, err := c.full.Write(text)
	if n > 0 {
		c.last = text[n-1]
	}
	if err != nil {
		c.fail, c.room = err, 0
		c.end.dropped += int64(len(text) - n)
	}
}

// Text returns the kept text, without its middle if that was dropped.
func (c *Capture) Text() string {
	_, end, _ := c.end.parts()
	return c.full.Window(0, c.full.Size()) + end
}

// Finish returns the kept text, with a line in place of dropped text. The Capture
// must not be used after that.
func (c *Capture) Finish() Captured {
	_, end, lost := c.end.parts()
	if lost > 0 {
		mark := executors.CutMark(executors.CountGrouped(lost, "byte"), false) + "\n"
		if c.last != '\n' && c.full.Size() > 0 {
			mark = "\n" + mark
		}
		end = mark + end
	}
	c.spool([]byte(end))
	if c.fail != nil {
		lost = c.end.dropped
	}
	return Captured{Full: c.full, Lost: lost, Err: c.fail}
}
