package shell

import (
	"fmt"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/process"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// These bound the memory that the output of a command takes. The text that a model gets is bounded by
// tools.max_output_chars.
const (
	maxStreamBytes = 1 << 20  // of stdout and of stderr for the envelope
	maxTextBytes   = 64 << 10 // the longest output that is kept as a string
)

// Output is the output of a command so far, and how it ended. All texts are valid
// UTF-8.
type Output struct {
	Text string // both streams, in the order of arrival
	// Full is set instead of Text if the output is too long for a string. The
	// caller closes it.
	Full       *executors.Spool
	Stdout     string // of a terminal, which has one stream, the whole output
	Stderr     string
	CutStreams bool   // more was written than Stdout and Stderr have
	Truncated  bool   // more was written than Text or Full has
	Lost       int64  // bytes that are missing in the middle of Full
	Note       string // a line about the output, to be shown below it
	Ended      bool   // of a Job: the command has ended, and this is the rest
	ReadOnly   bool   // the kernel prevented writes and network access
	ExitCode   *int   // nil if a signal ended the command, or if it is unknown
	Signal     string // e.g. "SIGKILL"
	Job        Job    // of Run: the command goes on
	Terminal   string // id of the terminal at the client, to be shown before the text
	Release    func() // if not nil, frees the terminal; after the final update was sent
}

// newCapture returns a capture that keeps limit bytes; 0 means the default.
func newCapture(limit int) *process.Capture {
	if limit <= 0 {
		limit = setting.Default[Config]().MaxOutputBytes
	}
	return process.NewCapture(limit)
}

// outputOf returns the output that c kept. c must not be used after that.
func outputOf(c *process.Capture) Output {
	kept := c.Finish()
	out := Output{Full: kept.Full, Truncated: kept.Lost > 0, Lost: kept.Lost}
	if kept.Err != nil {
		out.Truncated = true
		out.Note = fmt.Sprintf("[the rest of the output is lost: %v]", kept.Err)
	}
	return out.withShortText()
}

// OneStream returns the output that c kept of a command with one stream. c must not be used after that.
func OneStream(c *process.Capture) Output {
	out := outputOf(c)
	if out.Full == nil {
		out.Stdout = out.Text
	} else {
		out.Stdout, out.CutStreams = executors.BoundReader(out.Full.Reader(), maxStreamBytes/4, out.Truncated)
	}
	return out
}

// withShortText returns o with a small output as a string.
func (o Output) withShortText() Output {
	if size := o.Full.Size(); size <= maxTextBytes {
		o.Text = o.Full.Window(0, size)
		o.Full.Close()
		o.Full = nil
	}
	return o
}
