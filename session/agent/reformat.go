package agent

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

//go:embed reformat.md
var reformatPrompt string

// Reformatter lets a model correct the input of a call that does not fit its
// tool. The corrected call passes the whole chain again.
type Reformatter struct {
	Model   llm.Model
	Timeout time.Duration // for an answer; 0 means no limit
}

// maxReformat limits the question to the model, in bytes.
const maxReformat = maxAside

// ask asks once for a corrected input. With an error it returns the partial
// answer.
func (f *Reformatter) ask(
	ctx context.Context, tool executors.Tool, input json.RawMessage, failure string,
) (corrected json.RawMessage, answer aside, err error) {
	question, err := reformatQuestion(tool, input, failure)
	if err != nil {
		return nil, answer, err
	}
	if answer, err = askAside(ctx, f.Model, f.Timeout, reformatPrompt, question); err != nil {
		return nil, answer, err
	}
	if answer.stop != llm.StopEnd {
		return nil, answer, fmt.Errorf("%s returned no input (it stopped with %q)", answer.model.Name(), answer.stop)
	}
	corrected, err = onlyObject(answer.text)
	return corrected, answer, err
}

// reformatQuestion returns the question to the model.
func reformatQuestion(tool executors.Tool, input json.RawMessage, failure string) (string, error) {
	text, err := jsonText(struct {
		Tool   string          `json:"tool"`
		Schema json.RawMessage `json:"schema"`
		Input  json.RawMessage `json:"input"`
		Error  string          `json:"error"`
	}{tool.Name, tool.Schema, input, failure})
	if err == nil && len(text) > maxReformat {
		err = fmt.Errorf("the question is too long: %s", quantity.Count(len(text), "byte"))
	}
	return text, err
}

// onlyObject returns the JSON object that an answer consists of. It accepts a
// code fence around the object, which models tend to add, and no other text.
func onlyObject(answer string) (json.RawMessage, error) {
	text := strings.TrimSpace(answer)
	if rest, ok := strings.CutPrefix(text, "```"); ok {
		info, inner, _ := strings.Cut(rest, "\n")
		inner, ok = strings.CutSuffix(inner, "```")
		if info = strings.TrimSpace(info); !ok || info != "" && info != "json" {
			return nil, errors.New("the answer is not a JSON object")
		}
		text = strings.TrimSpace(inner)
	}
	var b bytes.Buffer
	if !strings.HasPrefix(text, "{") || !utf8.ValidString(text) || json.Compact(&b, []byte(text)) != nil {
		return nil, errors.New("the answer is not a JSON object")
	}
	return b.Bytes(), nil
}

// canReformat reports whether the call failed before it ran, because of its
// input, and another model may correct it. For a tool that may change something
// only the form is corrected: the model that wants the change must decide about
// its content.
func (r *runningCall) canReformat(res executors.Result) bool {
	switch {
	case r.Reformat == nil, isDirect(r.Reformat.Model), r.call.Origin != executors.Model:
		return false
	case !res.Failed, r.call.PrepareErr == nil, r.hasStarted():
		return false
	case res.Category() != executors.InvalidParameters && res.Category() != executors.TypeMismatch:
		return false
	}
	tool := r.call.Spec
	mutates := tool.Effect == 0 || tool.Effect.Has(executors.Mutates)
	return tool.Name != "" && (!mutates || executors.Fits(tool, r.call.Input) != nil)
}

// hasStarted reports whether the call was allowed and started.
func (r *runningCall) hasStarted() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.started
}

// repeatReformatted repeats the call with a corrected input, as an attempt that every
// link checks. If there is no such input, it returns the original failure.
func (r *runningCall) repeatReformatted(ctx context.Context, failed executors.Result) (executors.Result, error) {
	input, err := r.reformat(ctx, failed.ForModel())
	if ctx.Err() != nil {
		return failed, context.Cause(ctx)
	}
	if err != nil {
		r.Log.Warn("reformat", "call", r.call.ID, "err", err)
		return failed, nil
	}
	first, again := r.call, r.nextAttempt(input)
	if err := r.prepare(ctx, again); err != nil {
		return failed, err
	}
	if f, ok := errors.AsType[*executors.Failure](again.PrepareErr); ok && f.Category.Quality() {
		return failed, nil
	}
	if err := r.showCorrection(ctx, again); err != nil {
		return failed, err
	}
	res, err := r.Chain.Execute(ctx, again)
	switch {
	case err != nil:
		releaseResult(failed)
		return res, err
	case res.Failed && res.Category().Quality() && !r.hasStarted(): // a link found more than Prepare
		releaseResult(res)
		r.call = first
		return failed, nil
	}
	releaseResult(failed)
	res.Below("[the input was corrected to " + line.Truncate(string(input), maxNoted) + "]")
	return res, nil
}

// nextAttempt returns the call with another input, and without what the links decided about
// this attempt.
func (r *runningCall) nextAttempt(input json.RawMessage) *executors.Call {
	next := *r.call
	next.Input, next.Attempt, next.Record, next.Checking = input, next.Attempt+1, &executors.Record{}, executors.Checking{}
	return &next
}

// reformat asks for a corrected input and counts the cost.
func (r *runningCall) reformat(ctx context.Context, failure string) (json.RawMessage, error) {
	input, answer, err := r.Reformat.ask(ctx, r.call.Spec, r.call.Input, failure)
	if answer.usage != nil {
		r.Spend(answer.model, *answer.usage)
		r.Record(transcript.Answer{Model: answer.model.Name(), Usage: answer.usage})
	}
	return input, err
}

// showCorrection shows the client the corrected call.
func (r *runningCall) showCorrection(ctx context.Context, again *executors.Call) error {
	r.call = again
	if r.silent {
		return nil
	}
	u := r.card(acp.UpdateToolCallPatch)
	r.Record(transcript.Correction{Shown: u})
	return r.Send(ctx, u)
}

// maxNoted limits an input or a schema in a note for the model, in bytes.
const maxNoted = 2 << 10

// releaseResult releases the resources of a result that is not shown.
func releaseResult(res executors.Result) {
	_ = res.Full.Close()
	if res.Done != nil {
		res.Done()
	}
}
