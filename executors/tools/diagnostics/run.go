package diagnostics

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/process"
)

// Limits for a program's output, in bytes of each stream. The beginning is kept,
// since a list without its end can still be parsed.
const (
	keptHead = 4 << 20
	keptTail = 64 << 10
)

// plainOutput turns off colours, which some programs write into pipes too.
var plainOutput = []string{"FORCE_COLOR=0", "MYPY_FORCE_COLOR=0", "CARGO_TERM_COLOR=never"}

// run runs the programs of the plan one after the other and returns the report. The
// error is the cause of a cancelled turn.
func (t *checker) run(ctx context.Context, p runPlan, maxShown int) (executors.Result, error) {
	within, cancel := ctx, context.CancelFunc(func() {})
	if t.cfg.Timeout > 0 {
		within, cancel = context.WithTimeout(ctx, time.Duration(t.cfg.Timeout)*time.Second)
	}
	defer cancel()
	rep := &report{roots: t.roots, target: p.target, warnings: p.warnings}
	for _, s := range p.steps {
		if ctx.Err() == nil && within.Err() != nil {
			rep.addTimeout(s.name + " was not run: the time limit of the call was reached")
			continue
		}
		found, err := t.runStep(within, s, rep)
		switch {
		case ctx.Err() != nil:
			return executors.Result{}, context.Cause(ctx)
		case errors.Is(err, context.DeadlineExceeded):
			rep.addTimeout(fmt.Sprintf("%s was stopped: the call reached its time limit of %d s (tools.diagnostics.timeout)",
				s.name, t.cfg.Timeout))
		case errors.Is(err, errNoPackages):
			rep.addFailure("there are no Go packages to check in " + t.roots.Rel(p.target))
		case err != nil:
			rep.addFailure(err.Error())
		default:
			rep.ran = append(rep.ran, s.name)
		}
		rep.add(found, s.dir)
	}
	if maxShown <= 0 || maxShown > t.cfg.MaxDiagnostics {
		maxShown = t.cfg.MaxDiagnostics
	}
	return rep.result(maxShown, t.cfg.MaxOutputChars), nil
}

// errNoPackages reports that the go command had no packages to check. Depending on
// the subcommand, go reports that as a success or a failure.
var errNoPackages = errors.New("no packages")

// runStep runs one program to its end and parses its output. An error explains why
// there are no diagnostics, or only a part of them.
func (t *checker) runStep(ctx context.Context, s programStep, rep *report) ([]Diagnostic, error) {
	proc, err := t.local.Start(process.Program{
		Path: s.path, Args: s.words[1:], Env: plainOutput, Dir: s.dir,
		Head: keptHead, Tail: keptTail, Split: true,
	})
	if err != nil {
		return nil, fmt.Errorf("%s could not be started: %w", s.name, err)
	}
	exit, err := proc.Wait(ctx)
	proc.Release()
	stdout, stderr, cut := proc.Streams()
	found := s.parse(stdout, stderr)
	if cut {
		rep.warnings.addf("%s wrote more than the limit, so its list is not complete", s.name)
	}
	if err != nil {
		return found, err
	}
	if len(found) == 0 && strings.HasPrefix(s.name, "go ") && strings.Contains(stderr, "matched no packages") {
		return nil, errNoPackages
	}
	if len(found) == 0 && (exit.Code == nil || *exit.Code != 0) {
		return nil, fmt.Errorf("%s failed (%s): %s", s.name, describeExit(exit), outputTail(stdout, stderr))
	}
	return found, nil
}

func describeExit(exit executors.Exit) string {
	if exit.Code == nil {
		return exit.Signal
	}
	return fmt.Sprintf("exit %d", *exit.Code)
}

// outputTail returns the last lines of a program's stderr, or of its stdout if
// stderr is empty.
func outputTail(stdout, stderr string) string {
	text := stderr
	if strings.TrimSpace(text) == "" {
		text = stdout
	}
	var lines []string
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	if len(lines) == 0 {
		return "it wrote nothing"
	}
	return strings.Join(lines[max(0, len(lines)-6):], "; ")
}
