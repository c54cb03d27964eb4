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
	"errors"
	"fmt"
	"iter"
	"net/http"
	"sync/atomic"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
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
// therefore the system prompt asks to show commands in sh blocks. Models that learned
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
func Wrap(m llm.Model) llm.Model { return &wrapped{m} }

type wrapped struct{ llm.Model }

// Unwrap returns the model that is asked.
func (t *wrapped) Unwrap() llm.Model { return t.Model }

// CallsInText is true.
func (t *wrapped) CallsInText() bool { return true }

// Stream asks the model with the tools described in the system prompt.
func (t *wrapped) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		relay(newAnswerReader(req), t.Model.Stream(ctx, requestInText(req)), yield, nil)
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
		relay(newNativeReader(llm.Request{Messages: req.Messages}), c.Model.Stream(ctx, req), yield, nil)
	}
}

// Auto wraps a model that may lack native tool calls. It is asked with tools until it
// refuses them, or answers with nothing but a call in JSON, and from then on as [Wrap] does. inText keeps that, so that
// several models can share it.
//
// Until then, calls in its text count too, in the forms that [Wrap] reads except for blocks with a tool's tag: at the
// end of the answer, since an answer that goes on after a call shows it. A block counts if it is the whole answer, and the
// user did not ask for code.
func Auto(m llm.Model, inText *atomic.Bool) llm.Model { return &autoWrapped{m, inText} }

type autoWrapped struct {
	llm.Model
	inText *atomic.Bool
}

// Unwrap returns the model that is asked.
func (o *autoWrapped) Unwrap() llm.Model { return o.Model }

// CallsInText reports whether the model is asked for calls in text.
func (o *autoWrapped) CallsInText() bool { return o.inText.Load() || o.lacksTools() }

// lacksTools reports whether the model's server says that it drops tools.
func (o *autoWrapped) lacksTools() bool {
	m, ok := llm.As[interface{ LacksTools() bool }](o.Model)
	return ok && m.LacksTools()
}

// lacksNotice tells the user once why a model is asked for calls in text.
const lacksNotice = "%s has no tools, according to its server, so they are described to it in text."

// switchNotice tells the user once that a model is asked otherwise from now on.
const switchNotice = "%s writes its tool calls as text, so it is asked for them in that form from now on."

// Stream asks the model, and once more if it refuses the tools.
func (o *autoWrapped) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		if len(req.Tools) > 0 && o.lacksTools() && !o.inText.Swap(true) {
			if !yield(llm.Event{Notice: fmt.Sprintf(lacksNotice, o.Name())}, nil) {
				return
			}
		}
		if !o.inText.Load() {
			a := newNativeReader(req)
			a.onWhole = func() string {
				if o.inText.Swap(true) {
					return ""
				}
				return fmt.Sprintf(switchNotice, o.Name())
			}
			if relay(a, o.Model.Stream(ctx, req), yield, func(err error) bool { return len(req.Tools) > 0 && refusesTools(err) }) == nil {
				return
			}
		}
		for ev, err := range Wrap(o.Model).Stream(ctx, req) {
			if err == nil {
				o.inText.Store(true)
			}
			if !yield(ev, err) {
				return
			}
		}
	}
}

// noTools matches the errors of servers for a model without tools. The tools
// themselves must be unsupported: a complaint about one of them, such as
// "tools.0.input_schema does not support oneOf", does not match.
//
//	… does not support tools                        Ollama
//	No endpoints found that support tool use.       OpenRouter
//	`tool calling` is not supported with this model Groq
//	Function calling is not enabled for models/…    Gemini, Mistral
//	"auto" tool choice requires --enable-auto-…     vLLM
//	tools param requires --jinja flag               llama.cpp
//	'tools' is not supported with this model.       OpenAI
var noTools = lazyregexp.Build(func() string {
	const tools = "['\"`]?(native )?(tools?|functions?)([ /_-]?(use|usage|call|calls|calling|choice|param|parameter))*['\"`]?"
	const not = "(not|n't|n’t|un)[ -]?(currently |yet )?"
	return `(?i)` +
		`(do(es)?|can) ?` + not + `(support|take|accept|have)( the use of| any| using)? ` + tools + `(\W|$)` +
		`|(^|[^\w.])` + tools + ` (is |are )?` + not + `(supported|enabled|available|implemented)` +
		`|unsupported (parameter|param|argument|feature|value)s?:? ` + tools + `(\W|$)` +
		`|no endpoints found that support (the provided )?` + tools + `(\W|$)` +
		`|(^|[^\w.])` + tools + ` requires? --`
})

// refusesTools reports whether a request failed because it had tools.
func refusesTools(err error) bool {
	e, ok := errors.AsType[*llm.Error](err)
	if !ok || e.Auth || e.Status == http.StatusTooManyRequests || e.Status == http.StatusPaymentRequired {
		return false
	}
	return noTools.MatchString(e.Message)
}
