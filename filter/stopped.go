package filter

import (
	"bytes"
	"slices"

	"github.com/zeph-acp/zeph-acp/filter/reports"
	"github.com/zeph-acp/zeph-acp/filter/stopped"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// stoppedMark stands above the lines that [Outcome.keepStopped] adds.
const stoppedMark = "(when it was stopped:)"

// keepStopped adds the last lines of a command that was stopped, and what it was doing then, if the rules
// removed them: such an output has no summary.
func (o *Outcome) keepStopped(exit int) error {
	if o.Text == o.Full || !stopped.By(exit) {
		return nil
	}
	var w stopped.Watch
	d := reports.Decoder{Emit: w.Line} // a report is a single line, and the rules wrote others for it
	if err := o.Full.Each(d.Line); err != nil {
		return err
	}
	d.End()
	lines, more := w.Lines()
	err := o.Text.Each(func(l []byte) {
		lines = slices.DeleteFunc(lines, func(last []byte) bool { return bytes.Equal(bytes.TrimSpace(l), bytes.TrimSpace(last)) })
	})
	if err != nil || len(lines) == 0 {
		return err
	}
	head := [][]byte{[]byte(stoppedMark)}
	if more > 0 {
		head = append(head, []byte("("+quantity.Count(more, "more test")+" in progress)"))
	}
	return o.add(append(head, lines...)...)
}

// add adds lines to the filtered output. If it is not shorter then, the whole output stays.
func (o *Outcome) add(lines ...[]byte) error {
	for _, l := range lines {
		o.Text.Write(l)
	}
	if err := o.Text.Err(); err != nil || o.Text.Size() < o.Full.Size() {
		return err
	}
	o.Text.Close()
	o.Text = o.Full
	return nil
}
