package shell

import (
	"fmt"

	"github.com/zeph-acp/zeph-acp/executors"
)

const (
	endBytes    = 1 << 20  // of the end of an output that is longer than what is kept
	streamBytes = 1 << 20  // of stdout and of stderr for the envelope
	textBytes   = 64 << 10 // of an output that is given as a string
)

// capture keeps the text of a command: its beginning, up to a limit, in a Spool,
// and behind that its end in memory. Whoever uses it guards it.
type capture struct {
	full *executors.Spool
	room int    // bytes that full still takes
	end  buffer // of what came after
	last byte   // of full
	fail error  // why full takes no more
}

// newCapture makes a capture that keeps limit bytes; 0 means the default.
func newCapture(limit int) *capture {
	if limit <= 0 {
		limit = Defaults().MaxOutputBytes
	}
	tail := min(limit/2, endBytes)
	return &capture{full: &executors.Spool{}, room: limit - tail, end: buffer{tail: tail, full: true}}
}

// write adds text in whole runes.
func (c *capture) write(text []byte) {
	if c.room > 0 {
		n := runeCut(text, c.room)
		c.room -= n
		if n < len(text) { // what comes later must not come before the rest of this
			c.room = 0
		}
		c.spool(text[:n])
		text = text[n:]
	}
	c.end.write(text)
}

// spool adds text to full. What a full disk does not take is lost: the command
// shall not suffer from it.
func (c *capture) spool(text []byte) {
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

// output gives what was kept, around a line that says what is missing. The
// capture must not be used any more.
func (c *capture) output() Output {
	_, end, lost := c.end.parts()
	out := Output{Full: c.full}
	if lost > 0 {
		mark := executors.CutMark(lost, "bytes", false) + "\n"
		if c.last != '\n' && c.full.Size() > 0 {
			mark = "\n" + mark
		}
		end = mark + end
	}
	c.spool([]byte(end))
	out.Truncated, out.Lost = lost > 0, lost
	if c.fail != nil {
		out.Truncated, out.Lost = true, c.end.dropped
		out.Note = fmt.Sprintf("[the rest of the output is lost: %v]", c.fail)
	}
	return out.short()
}

// short gives an output whose full text is small as a string.
func (o Output) short() Output {
	if size := o.Full.Size(); size <= textBytes {
		o.Text = o.Full.Window(0, size)
		o.Full.Close()
		o.Full = nil
	}
	return o
}
