package lsp

import (
	"context"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/tools/diagnostics"
	"github.com/zeph-acp/zeph-acp/executors/tools/lsp/client"
)

// maxElsewhere bounds the lines about files that the edit did not change.
const maxElsewhere = 5

type checkInput struct {
	Paths []string `json:"paths"` // absolute
}

// Tools returns the executor of the calls that check an edit. Models cannot call it.
func (s *Session) Tools() executors.Executor {
	return executors.Registry{executors.Bind(executors.Tool{
		Name: diagnostics.Tool, Description: "Returns the new diagnostics of edited files.",
		Effect: executors.Reads, Kind: executors.KindRead, Phase: executors.PhaseVerifier,
	}, s.prepareCheck, s.runCheck)}
}

func (s *Session) prepareCheck(_ context.Context, _ *executors.Call, in *checkInput) (executors.Card, error) {
	return executors.Card{Title: "check the edit", Kind: executors.KindRead, Paths: in.Paths}, nil
}

// runCheck sends the new texts to the servers, waits for their reports and returns the
// new diagnostics.
func (s *Session) runCheck(ctx context.Context, call *executors.Call, _ *checkInput) (executors.Result, error) {
	e, _ := call.Edit.(*edit)
	if e == nil {
		return executors.Failuref(executors.PermanentFailure, "there is no edit to check").Result(), nil
	}
	reports := s.checkFiles(ctx, e)
	if ctx.Err() != nil {
		return executors.Result{}, context.Cause(ctx)
	}
	call.Record.ClaimSource = executors.FromDiagnostics
	var own, others []client.Diagnostic
	var names []string
	for _, r := range reports {
		if len(r.edited)+len(r.others) > 0 {
			own, others, names = append(own, r.edited...), append(others, r.others...), append(names, r.name)
		}
	}
	return executors.Result{Text: s.lines(own, others, names)}, nil
}

// newDiagnostics are the new diagnostics of one server.
type newDiagnostics struct {
	name           string
	edited, others []client.Diagnostic
}

// checkFiles reports the texts after an edit to the servers, and returns the new diagnostics.
func (s *Session) checkFiles(ctx context.Context, e *edit) []newDiagnostics {
	paths := map[*server][]string{}
	var order []*server
	var steps []*client.Step
	wait := false
	for _, f := range e.files {
		if f.server == nil || !s.exists(f.path) {
			continue
		}
		running := f.server.client()
		text, err := s.sourceText(ctx, f.path)
		if running == nil || err != nil {
			continue
		}
		step := running.After(f.path, f.server.entry.language(f.path), text)
		s.recordSent(f.server, f.path)
		if paths[f.server] == nil {
			order = append(order, f.server)
		}
		paths[f.server] = append(paths[f.server], f.path)
		steps = append(steps, step)
		wait = f.server.worthWaiting() || wait
		f.server.mu.Lock()
		f.server.lastStep = step
		f.server.mu.Unlock()
	}
	if wait {
		awaitSteps(ctx, steps, s.wait()-e.waited)
	}
	var out []newDiagnostics
	for _, srv := range order {
		if running := srv.client(); running != nil {
			own, others := running.NewDiagnostics(paths[srv])
			out = append(out, newDiagnostics{srv.entry.Name, own, s.readable(others)})
		}
	}
	return out
}

// readable returns the diagnostics of files that exist and may be read.
func (s *Session) readable(all []client.Diagnostic) []client.Diagnostic {
	var out []client.Diagnostic
	for _, d := range all {
		path, err := s.options.Roots.Resolve(d.Path)
		if err != nil || !s.exists(path) {
			continue
		}
		if _, refused := s.options.Roots.Readable().Refuses(path); !refused {
			out = append(out, d)
		}
	}
	return out
}

// lines formats diagnostics for the model and the user, errors first; "" if there are
// none.
func (s *Session) lines(own, others []client.Diagnostic, names []string) string {
	if len(own)+len(others) == 0 {
		return ""
	}
	most := s.options.MaxLines - 2 // the first line, and the one about those left out
	first, left := diagnostics.Lines(s.inToolForm(own), most)
	rest, more := diagnostics.Lines(s.inToolForm(others), min(most-len(first), maxElsewhere))
	lines := []string{fmt.Sprintf("[new diagnostics of %s: %s]", strings.Join(names, ", "),
		diagnostics.Counts(s.inToolForm(append(own, others...))))}
	lines = append(append(lines, first...), rest...)
	if left += more; left > 0 {
		lines = append(lines, fmt.Sprintf("[%d more left out]", left))
	}
	return strings.Join(lines, "\n")
}

// inToolForm returns diagnostics in the form of the tool.
func (s *Session) inToolForm(all []client.Diagnostic) []diagnostics.Diagnostic {
	severities := []diagnostics.Severity{diagnostics.Error, diagnostics.Warning, diagnostics.Note}
	out := make([]diagnostics.Diagnostic, len(all))
	for i, d := range all {
		out[i] = diagnostics.Diagnostic{
			File: s.options.Roots.Rel(d.Path), Line: d.Line, Column: d.Column,
			Severity: severities[d.Severity-1], Code: d.Code, Message: d.Message,
		}
	}
	return out
}
