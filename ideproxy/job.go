package ideproxy

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors/tools/shell"
)

// Background starts a command in a terminal. The terminal is released when the
// command was stopped, or when its end was reported.
func (t *Terminal) Background(ctx context.Context, cmd shell.Command) (shell.Job, error) {
	term, err := t.create(ctx, cmd, min(t.limit(cmd), maxJobBytes))
	if errors.Is(err, errNoTerminals) {
		return t.Local.Background(ctx, cmd)
	}
	if err != nil {
		return nil, err
	}
	return t.newJob(ctx, term, cmd), nil
}

// newJob returns the job of a command that runs in a terminal.
func (t *Terminal) newJob(ctx context.Context, term *acp.Terminal, cmd shell.Command) *job {
	waiting, end := context.WithCancel(context.WithoutCancel(ctx))
	j := &job{term: term, readOnly: t.boxed(cmd), done: make(chan struct{}), stopWaiting: end}
	go j.await(waiting, t)
	return j
}

// job is a command in a terminal of the client.
type job struct {
	term        *acp.Terminal
	readOnly    bool               // it is confined
	stopWaiting context.CancelFunc // of the wait for its end

	done   chan struct{}
	status acp.ExitStatus // set before done is closed

	reported reportedOutput // the output that was reported so far
}

// Intervals at which a terminal is polled: it sends no events.
const (
	outputInterval = 200 * time.Millisecond // for output, while a call waits for it
	exitInterval   = time.Second            // for the exit, if the client cannot wait for it
)

// await waits for the end of the command.
func (j *job) await(ctx context.Context, t *Terminal) {
	defer close(j.done)
	var err error
	if j.status, err = t.wait(ctx, j.term, exitInterval); err != nil && !j.status.Known() {
		j.status = poll(ctx, j.term, exitInterval)
	}
}

// poll waits for the exit of a command if the client cannot wait for it. A
// terminal that no longer answers counts as ended, with an unknown status.
func poll(ctx context.Context, term *acp.Terminal, every time.Duration) acp.ExitStatus {
	for {
		shown, err := term.Output(ctx)
		if err != nil {
			return acp.ExitStatus{}
		}
		if shown.ExitStatus != nil {
			return *shown.ExitStatus
		}
		select {
		case <-time.After(every * time.Duration(1+len(shown.Output)/maxJobBytes)): // each answer has all of it
		case <-ctx.Done():
			return acp.ExitStatus{}
		}
	}
}

func (j *job) Done() <-chan struct{} { return j.done }

// Await implements shell.Job. It polls the terminal only for a match.
func (j *job) Await(ctx context.Context, enough func(more string) bool) error {
	seen := j.reported // ReadOutput is not called concurrently
	for {
		var poll <-chan time.Time
		if enough != nil {
			shown, err := j.term.Output(ctx)
			if err != nil {
				return err
			}
			if text, _ := seen.newOutput(shown, false); text != "" && enough(text) {
				return nil
			}
			poll = time.After(outputInterval)
		}
		select {
		case <-poll:
		case <-j.done:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Exit implements shell.Job.
func (j *job) Exit() shell.Output {
	out := shell.Output{Ended: true}
	setExit(&out, j.status)
	return out
}

// ReadOutput implements shell.Job.
func (j *job) ReadOutput(ctx context.Context) (shell.Output, error) {
	out := shell.Output{Terminal: j.term.ID, ReadOnly: j.readOnly}
	select {
	case <-j.done: // before the output is requested, which is then complete
		out = j.Exit()
		out.Terminal, out.ReadOnly, out.Release = j.term.ID, j.readOnly, j.term.Release
	default:
	}
	shown, err := j.term.Output(ctx)
	if err != nil && out.Ended && ctx.Err() == nil {
		out.Text = noOutput(err)
		return out, nil
	}
	if err != nil {
		return out, err
	}
	text, gap := j.reported.newOutput(shown, out.Ended)
	if out.Text = text; gap {
		out.Text, out.Truncated = headCut+text, true
	}
	out.Stdout = out.Text
	return out, nil
}

// Stop implements shell.Job. If the command does not end, Stop leaves the
// terminal to its release, which kills the command.
func (j *job) Stop(ctx context.Context) {
	_ = j.term.Kill(ctx) // it may have ended in the meantime
	select {
	case <-j.done:
	case <-time.After(killTime):
	case <-ctx.Done():
	}
	j.stopWaiting()
	<-j.done
}

// reportedOutput is the position up to which a terminal's output was reported: its length
// while the terminal keeps everything. After the terminal has dropped the beginning,
// the last reported bytes mark the position.
type reportedOutput struct {
	length int
	end    string
}

// markBytes is how many bytes mark the position. They occur once, unless lines
// repeat. Then some output is reported twice, which is better than lost output.
const markBytes = 1 << 10

// newOutput returns the output since the last call. gap reports whether the
// terminal dropped some of it. While the command runs, an incomplete rune at
// the end waits for the next call.
func (s *reportedOutput) newOutput(shown acp.TerminalOutput, ended bool) (text string, gap bool) {
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
