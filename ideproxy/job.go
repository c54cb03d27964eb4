package ideproxy

import (
	"context"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors/shell"
)

// Background starts a command in a terminal that lives until the command has
// ended and its end was looked at, or it was stopped.
func (t *Terminal) Background(ctx context.Context, cmd shell.Command) (shell.Job, error) {
	term, err := t.create(ctx, cmd)
	if err == errNoTerminals {
		return t.Local.Background(ctx, cmd)
	}
	if err != nil {
		return nil, err
	}
	waiting, end := context.WithCancel(context.WithoutCancel(ctx))
	j := &job{term: term, done: make(chan struct{}), end: end}
	go j.await(waiting)
	return j, nil
}

// job is a command in a terminal of the client.
type job struct {
	term *acp.Terminal
	end  context.CancelFunc // of the wait for its end

	done   chan struct{}
	status acp.ExitStatus // set before done is closed

	seen screen // of who looks
}

// Intervals at which a terminal is asked, since it does not tell by itself.
const (
	lookEvery  = 200 * time.Millisecond // for output, while somebody waits
	aliveEvery = time.Second            // for its end, where the client cannot wait for that
)

// await waits for the end of the command.
func (j *job) await(ctx context.Context) {
	defer close(j.done)
	var err error
	if j.status, err = j.term.Wait(ctx); err != nil {
		j.status = j.poll(ctx)
	}
}

// poll asks for the end where the client cannot wait for it. A terminal that
// cannot be asked any more counts as ended: nobody knows how.
func (j *job) poll(ctx context.Context) acp.ExitStatus {
	for {
		shown, err := j.term.Output(ctx)
		if err != nil {
			return acp.ExitStatus{}
		}
		if shown.ExitStatus != nil {
			return *shown.ExitStatus
		}
		select {
		case <-time.After(aliveEvery):
		case <-ctx.Done():
			return acp.ExitStatus{}
		}
	}
}

func (j *job) Done() <-chan struct{} { return j.done }

// Look is as of shell.Job.
func (j *job) Look(ctx context.Context, wait time.Duration) (shell.Output, error) {
	out := shell.Output{Terminal: j.term.ID}
	over := time.NewTimer(wait)
	defer over.Stop()
	for last := wait <= 0; ; {
		select {
		case <-j.done: // before the output is asked for, which is then complete
			out.Ended, last = true, true
			ended(&out, j.status)
			out.Release = j.term.Release
		default:
		}
		shown, err := j.term.Output(ctx)
		if err != nil && out.Ended && ctx.Err() == nil {
			out.Text = "[the editor did not give the output: " + err.Error() + "]"
			return out, nil
		}
		if err != nil {
			return out, err
		}
		text, gap := j.seen.fresh(shown, out.Ended)
		if last || text != "" {
			if out.Text = text; gap {
				out.Text, out.Truncated = headCut+text, true
			}
			out.Stdout = out.Text
			return out, nil
		}
		select {
		case <-time.After(lookEvery):
		case <-j.done:
		case <-over.C:
			last = true
		case <-ctx.Done():
			return out, context.Cause(ctx)
		}
	}
}

// Stop is as of shell.Job. A terminal that does not end is given up: releasing
// it kills what runs in it.
func (j *job) Stop(ctx context.Context) {
	_ = j.term.Kill(ctx) // it may have ended by itself meanwhile
	select {
	case <-j.done:
	case <-time.After(settle):
	case <-ctx.Done():
	}
	j.end()
	<-j.done
}

// screen is what of a terminal's output was given: its length, as long as the
// terminal kept everything, and its last bytes, by which the place is found
// again when the terminal has cut the beginning.
type screen struct {
	length int
	end    string
}

// markBytes are enough to be found at one place only, unless lines repeat; then
// some are given twice, which is better than not at all.
const markBytes = 1 << 10

// fresh gives what came to the output since it was last asked. gap says that
// there was more, which the terminal did not keep. Of a command that runs, a last
// rune that is not complete yet is left for the next time.
func (s *screen) fresh(shown acp.TerminalOutput, ended bool) (text string, gap bool) {
	all := shown.Output
	if !ended {
		all = strings.TrimRight(all, "\uFFFD")
	}
	from, known := 0, false
	if s.length <= len(all) && strings.HasSuffix(all[:s.length], s.end) && !shown.Truncated {
		from, known = s.length, true
	} else if i := strings.Index(all, s.end); i >= 0 && len(s.end) == markBytes {
		from, known = i+len(s.end), true
	}
	s.length, s.end = len(all), all[max(0, len(all)-markBytes):]
	return all[from:], !known && shown.Truncated
}
