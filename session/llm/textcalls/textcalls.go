// Package textcalls finds tool calls in text: in the user's prompts, and in the
// answers of models without native tool calls.
//
// Start with [Find] for a text. Use [Wrap] for a model that calls tools in its text,
// and [Auto] for one that has native calls, as far as is known. [Clean] only separates reasoning from text and
// removes special tokens, as the others do too. [ThoughtSplitter]
// separates reasoning in tags from the text after it.
//
// It promises that a stream is processed piece by piece, and that its calls do not depend
// on where the pieces are cut. It does not run calls.
package textcalls

import (
	"context"
	"iter"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// Wrap lets a model without native tool calls call tools in the text of its answers. The tools are
// described in the system prompt. Calls and results of the history become text, and blocks as
// [Find] describes them become calls.
//
// Only answers are searched for calls, never messages: reading a file that contains a
// block does not call a tool.
//
// What is a call? Every block at top level with a tool's tag, or with tool_call;
// therefore the system prompt asks to show commands in backticks. A block of the shell with output, or with the failure of
// the last call, shows it. Models that learned
// other forms may write one of the table of forms, such as
// <tool_call>{"name": …, "arguments": {…}}</tool_call>, or a json block with exactly the name and arguments of an
// existing tool. An unreadable call becomes a call too, with a string as its input, so
// that the model sees the error. A block at the end of an answer is complete if the
// model ended the answer; if it was cut off, the result of the call says so.
//
// Why does an answer end early? Models that continue after a call often make up its result. Text
// after a call is held back. Where it begins to look like a result, such as a line "Output:" or a
// block without a language, the rest of the answer is dropped. Its calls would rely on invented
// results.
//
// <think> at the beginning of an answer is a thought, as is text before a </think> without an opening tag.
func Wrap(m llm.Model) llm.Model { return &wrapped{m, nil} }

type wrapped struct {
	llm.Model
	use *ToolUse // may be nil
}

// Unwrap returns the model that is asked.
func (t *wrapped) Unwrap() llm.Model { return t.Model }

// CallsInText is true.
func (t *wrapped) CallsInText() bool { return true }

// Stream asks the model with the tools described in the system prompt.
func (t *wrapped) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		a := newAnswerReader(req)
		a.remember(t.use)
		relay(a, llm.WithoutEcho(req, t.Model.Stream(ctx, requestInText(req))), yield, nil)
	}
}

// relay passes an answer on. It returns an error of the model that refused accepts, which then is not passed on.
func relay(a *answerReader, answer iter.Seq2[llm.Event, error], yield func(llm.Event, error) bool, refused func(error) bool) error {
	for ev, err := range answer {
		if err != nil && refused != nil && refused(err) {
			return err
		}
		refused = nil
		if err != nil {
			a.breakOff()
			if a.send(yield) {
				yield(llm.Event{}, err)
			}
			return nil
		}
		a.read(ev)
		if !a.send(yield) || a.stopped {
			return nil
		}
	}
	return nil
}

// Clean wraps a model so that reasoning in the text of its answers becomes thoughts, and special tokens of its
// template are removed.
func Clean(m llm.Model) llm.Model { return &cleaned{m} }

type cleaned struct{ llm.Model }

// Unwrap returns the model that is asked.
func (c *cleaned) Unwrap() llm.Model { return c.Model }

// Stream asks the model.
func (c *cleaned) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		relay(newNativeReader(llm.Request{Messages: req.Messages}), llm.WithoutEcho(req, c.Model.Stream(ctx, req)), yield, nil)
	}
}
