package shell

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

const (
	maxWait     = 10 * time.Minute // of one bash_output
	defaultWait = time.Minute      // for a pattern, if the call names no time
	maxPattern  = 1000             // bytes
	maxPending  = 64 << 10         // bytes of an unfinished line that is matched
)

// The causes that end a wait early.
var (
	errSteered  = errors.New("the user added a message")
	errWaitOver = errors.New("the time is over")
)

// await waits for the output that why describes. state says why the wait ended, if the
// model should see that. The error is the cause of ctx.
func (e *Executor) await(ctx context.Context, call *executors.Call, j *job, req readRequest) (state string, err error) {
	if req.wait == 0 {
		return "", nil
	}
	waiting, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(req.wait, func() { cancel(errWaitOver) })
	defer timer.Stop()
	go func() {
		select {
		case <-call.Steered: // never, if it is nil
			cancel(errSteered)
		case <-waiting.Done():
		}
	}()
	var enough func(string) bool
	if req.until != nil {
		enough = (&matcher{pattern: req.until}).match
	}
	err = j.handle.Await(waiting, enough)
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case errors.Is(err, errSteered):
		return "the wait ended early, since the user added a message", nil
	case errors.Is(err, errWaitOver) && req.until != nil:
		return "no match in " + seconds(req.wait), nil
	case err == nil && req.until != nil:
		return "matched", nil
	}
	return "", nil // ReadOutput reports any other failure
}

// wait returns how long the call waits.
func (in outputInput) wait() time.Duration {
	if in.Wait <= 0 && in.Until != "" {
		return defaultWait
	}
	return min(max(time.Duration(in.Wait)*time.Second, 0), maxWait)
}

// until compiles the pattern. It returns nil if there is no pattern.
func (in outputInput) until() (*regexp.Regexp, *executors.Failure) {
	if in.Until == "" {
		return nil, nil
	}
	if len(in.Until) > maxPattern {
		return nil, executors.Failuref(executors.InvalidParameters, "bash_output: until has %s; the limit is %d", quantity.Count(len(in.Until), "byte"), maxPattern)
	}
	re, err := regexp.Compile(in.Until)
	if err != nil {
		return nil, executors.Failuref(executors.InvalidParameters, "bash_output: until is not a regular expression (RE2): %v", err)
	}
	return re, nil
}

// matcher matches output line by line, as it arrives.
type matcher struct {
	pattern *regexp.Regexp
	pending string // the unfinished line
}

// escapes are the control sequences of a terminal, such as those for colours.
var escapes = lazyregexp.New(`\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))`)

// match reports whether further output completes a matching line. The unfinished last
// line counts, since a prompt has no end of line.
func (m *matcher) match(more string) bool {
	text := m.pending + more
	for text != "" {
		line, rest := text, ""
		if i := strings.IndexAny(text, "\r\n"); i >= 0 {
			line, rest = text[:i], text[i+1:]
		}
		if m.pattern.MatchString(escapes.ReplaceAllString(line, "")) {
			return true
		}
		m.pending = ""
		if len(line) == len(text) {
			m.pending = line[max(0, len(line)-maxPending):]
		}
		text = rest
	}
	return false
}

// Finished is a command in the background that has ended.
type Finished struct {
	ID    string
	Line  string // the script on one line, shortened
	State string // such as "exit 1"
}

// Text returns a sentence for people and for the model.
func (f Finished) Text() string {
	return fmt.Sprintf("%s ended in the background (%s): %s.", f.ID, f.State, executors.Quoted(f.Line))
}

// Finished returns the commands in the background that have ended since the last call,
// without those whose end a bash_output has shown.
func (e *Executor) Finished() []Finished {
	e.background.mu.Lock()
	defer e.background.mu.Unlock()
	var ended []Finished
	for _, j := range e.background.jobs {
		if j.reported || j.running() {
			continue
		}
		j.reported = true
		ended = append(ended, Finished{ID: j.id, Line: brief(j.line), State: j.state(j.handle.Exit())})
	}
	return ended
}

// AwaitAll waits until no command runs in the background, or ctx ends.
func (e *Executor) AwaitAll(ctx context.Context) {
	for {
		j := e.background.anyRunning()
		if j == nil {
			return
		}
		select {
		case <-j.ended():
		case <-ctx.Done():
			return
		}
	}
}

// anyRunning returns a job that runs; nil if there is none.
func (b *background) anyRunning() *job {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, j := range b.jobs {
		if j.running() {
			return j
		}
	}
	return nil
}

// StopJob ends the command with that id, for the user. The rest of its output stays for
// bash_output.
func (e *Executor) StopJob(ctx context.Context, id string) error {
	j, f := e.background.find(id)
	if f != nil {
		return f
	}
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	j.handle.Stop(ctx)
	j.follower.awaitEnd(ctx)
	return nil
}

// Jobs returns the ids of the commands in the background.
func (e *Executor) Jobs() (ids []string) {
	e.background.mu.Lock()
	defer e.background.mu.Unlock()
	for _, j := range e.background.jobs {
		ids = append(ids, j.id)
	}
	return ids
}
