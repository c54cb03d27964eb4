package hooks

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/permission/approval"
	"github.com/zeph-acp/zeph-acp/executors/process"
)

// Limits on the runs of hooks.
const (
	maxParallel = 8       // of one session
	maxOutput   = 1 << 20 // bytes of stdout; more is an answer of another form
	maxErrors   = 64 << 10
	maxContext  = 10_000 // characters of a text for the model
	maxReason   = 2_000
	maxName     = 100
	endGrace    = 100 * time.Millisecond // before a hook that must end is killed
)

// projectVariables are the names of the variable with the project's directory.
var projectVariables = []string{"CLAUDE_PROJECT_DIR", "ZEPH_PROJECT_DIR"}

// common is the input that all events have.
type common struct {
	SessionID  string `json:"session_id"`
	Transcript string `json:"transcript_path"` // empty: a session is not stored as a file
	Dir        string `json:"cwd"`
	Mode       string `json:"permission_mode"`
	Event      Event  `json:"hook_event_name"`
}

func (s *Session) common(event Event) common {
	return common{SessionID: s.options.Session, Dir: s.options.Dir, Mode: modeOf(s.options.Mode()), Event: event}
}

// run runs hooks concurrently with the same input. It returns their answers in the order
// of the hooks, and adds the runs to the record.
func (s *Session) run(ctx context.Context, record *executors.Record, hooks []*hook, input any) ([]answer, error) {
	data, err := json.Marshal(input)
	if err != nil {
		return nil, err
	}
	answers := make([]answer, len(hooks))
	var group sync.WaitGroup
	for i, h := range hooks {
		if err := s.running.Acquire(ctx, 1); err != nil {
			continue // the turn has ended
		}
		group.Go(func() {
			defer s.running.Release(1)
			answers[i] = s.runOne(ctx, h, data)
		})
	}
	group.Wait()
	for i, a := range answers {
		if a.hook == nil {
			continue
		}
		if a.message != "" {
			s.options.Warn(executors.Shown(s.shorten(a.message, maxReason)))
		}
		if a.stop {
			s.stopTurn(cmp.Or(a.stopReason, "a hook ended the turn"))
		}
		record.Hooks = append(record.Hooks, a.run)
		hooks[i].recordRun(a.run)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return answers, nil
}

// recordRun records the last run, for [Session.List].
func (h *hook) recordRun(run executors.HookRun) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = run
}

// runOne runs a hook and reads its answer.
func (s *Session) runOne(ctx context.Context, h *hook, input []byte) answer {
	run := executors.HookRun{Event: string(h.event), Command: h.command, Source: h.file.Name}
	var a answer
	out, err := s.runCommand(ctx, h, input, &run)
	if err != nil {
		a.failure = err.Error()
	} else {
		a = parseAnswer(h.event, out, run)
	}
	a.hook = h
	run.Error = s.shorten(a.failure, maxReason)
	run.Decision = string(a.decision)
	if a.failure != "" && h.event == PreToolUse {
		run.Decision = string(executors.Ask)
	}
	a.run = run
	return a
}

// output is the output of a hook that ended by itself.
type output struct {
	stdout, stderr string
	truncated      bool // stdout was longer
}

// runCommand runs the command of a hook to its end, and records in run how it ended. It
// returns an error if the hook has no answer.
func (s *Session) runCommand(ctx context.Context, h *hook, input []byte, run *executors.HookRun) (output, error) {
	switch {
	case h.broken != "":
		return output{}, errors.New(h.broken)
	case h.file.Project && s.options.Desk.State(s.subject(h.file)) != approval.Approved:
		return output{}, fmt.Errorf("a script that it names has changed since your approval")
	case h.file.Check != nil:
		if err := h.file.Check(); err != nil {
			return output{}, err
		}
	}
	program, args, err := s.options.Shell(h.command)
	if err != nil {
		return output{}, err
	}
	env := slices.Clone(s.options.Env())
	for _, name := range projectVariables {
		env = append(env, name+"="+s.options.Dir)
	}
	if h.file.Env != nil {
		env = append(env, h.file.Env()...)
	}
	began := time.Now()
	defer func() { run.DurationMS = time.Since(began).Milliseconds() }()
	p, err := process.StartPiped(process.Program{Path: program, Args: args, Env: env, Dir: s.options.Dir, Reaper: s.options.Reaper})
	if err != nil {
		return output{}, fmt.Errorf("it did not start: %w", err)
	}
	stdout, stderr := &bounded{limit: maxOutput}, &bounded{limit: maxErrors}
	var pipes sync.WaitGroup
	pipes.Go(func() {
		_, _ = p.Stdin.Write(input) // a hook need not read its input
		_ = p.Stdin.Close()
	})
	pipes.Go(func() { _, _ = io.Copy(stdout, p.Stdout) })
	pipes.Go(func() { _, _ = io.Copy(stderr, p.Stderr) })
	defer p.Release()
	timer := time.NewTimer(h.timeout)
	defer timer.Stop()
	select {
	case <-p.Done():
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-timer.C:
		err = fmt.Errorf("it did not end within %s", h.timeout)
	}
	p.End(endGrace) // closes stdin, too
	pipes.Wait()
	if err != nil {
		return output{}, err
	}
	exit := p.Exit()
	run.ExitCode, run.Signal = exit.Code, exit.Signal
	return output{stdout.String(), strings.TrimSpace(stderr.String()), stdout.more}, nil
}

// bounded keeps the first bytes that are written to it.
type bounded struct {
	bytes.Buffer
	limit int
	more  bool
}

// Write reports that all of p was written, even if it drops a part: an error would stop
// the hook's output.
func (b *bounded) Write(p []byte) (int, error) {
	n := min(len(p), b.limit-b.Len())
	b.Buffer.Write(p[:n])
	b.more = b.more || n < len(p)
	return len(p), nil
}

// ReadFrom hides the method of the embedded buffer, which has no limit.
func (b *bounded) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{b}, r)
}

// shorten masks a text of a hook and cuts it.
func (s *Session) shorten(text string, limit int) string {
	text, _ = executors.Bound(strings.ToValidUTF8(s.options.Mask(text), "\uFFFD"), limit)
	return text
}

// framed returns a text of a hook for the model. Each line is marked, so that no text can
// end its frame.
func (s *Session) framed(text string) string {
	return mark + strings.ReplaceAll(s.shorten(strings.TrimSpace(text), maxContext), "\n", "\n"+mark)
}

// mark begins each line of a hook's text.
const mark = "[hook] "
