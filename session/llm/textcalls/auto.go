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

// Auto wraps a model that may lack native tool calls. It is asked with tools until it
// refuses them, or answers with nothing but a call in JSON, and from then on as [Wrap] does. use keeps that, so that
// several models can share it.
//
// A server may also drop the tools without a word. Its token count then shows that the request had none, and the model
// is asked again.
//
// Until then, calls in its text count too, in the forms that [Wrap] reads except for blocks with a tool's tag: at the
// end of the answer, since an answer that goes on after a call shows it. A block counts if it is the whole answer, and the
// user did not ask for code.
func Auto(m llm.Model, use *ToolUse) llm.Model { return &autoWrapped{m, use} }

type autoWrapped struct {
	llm.Model
	use *ToolUse
}

// ToolUse is what is known about the tool calls of a model. The zero value is ready for use.
type ToolUse struct {
	inText atomic.Bool // the model is asked for calls in text
	native atomic.Bool // the model has seen the tools of a request
	// keep stores for later processes whether the model calls tools only in text; nil stores nothing.
	keep atomic.Pointer[func(inText bool)]
	// closing is the tag that has closed the reasoning of an answer without an opening one; nil means that there was none. Later answers
	// then begin with reasoning.
	closing atomic.Pointer[string]
}

// foundInText notes that the model calls tools only in text. It reports whether that is new.
func (u *ToolUse) foundInText() bool { return !u.inText.Swap(true) && u.store(true) }

// foundNative notes that the model has seen its tools.
func (u *ToolUse) foundNative() {
	if !u.native.Swap(true) {
		u.store(false)
	}
}

// store stores what was found; it returns true.
func (u *ToolUse) store(inText bool) bool {
	if keep := u.keep.Load(); keep != nil {
		(*keep)(inText)
	}
	return true
}

// RecallToolUse sets what an earlier process has found out about the model, and the function that stores what
// this one does.
func (o *autoWrapped) RecallToolUse(inText bool, keep func(inText bool)) {
	if o.use.keep.Swap(&keep) == nil && inText {
		o.use.inText.Store(true)
	}
}

// Unwrap returns the model that is asked.
func (o *autoWrapped) Unwrap() llm.Model { return o.Model }

// CallsInText reports whether the model is asked for calls in text.
func (o *autoWrapped) CallsInText() bool { return o.use.inText.Load() || o.lacksTools() }

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
		if len(req.Tools) > 0 && o.lacksTools() && !o.use.inText.Swap(true) {
			if !yield(llm.Event{Notice: fmt.Sprintf(lacksNotice, o.Name())}, nil) {
				return
			}
		}
		if !o.use.inText.Load() && o.streamNative(ctx, req, yield) {
			return
		}
		for ev, err := range (&wrapped{o.Model, o.use}).Stream(ctx, req) {
			if err == nil {
				o.use.foundInText()
			}
			if !yield(ev, err) {
				return
			}
		}
	}
}

// streamNative asks the model with native tools. It returns false if the request is to be sent again in text.
func (o *autoWrapped) streamNative(ctx context.Context, req llm.Request, yield func(llm.Event, error) bool) (answered bool) {
	a := newNativeReader(req)
	a.remember(o.use)
	a.onWhole = func() string {
		if !o.use.foundInText() {
			return ""
		}
		return fmt.Sprintf(switchNotice, o.Name())
	}
	dropped := false
	a.onEnd = func() bool {
		dropped = o.isDropped(a, req)
		return dropped
	}
	err := relay(a, llm.WithoutEcho(req, o.Model.Stream(ctx, req)), yield, func(err error) bool { return len(req.Tools) > 0 && refusesTools(err) })
	if len(a.natives) > 0 {
		o.use.foundNative()
	}
	if dropped && o.use.foundInText() {
		notice := fmt.Sprintf(droppedNotice, o.Name(), a.usage.Input, llm.Tokens(o.Name(), req))
		return !yield(llm.Event{Notice: notice}, nil)
	}
	return err == nil && !dropped
}

// droppedNotice tells the user once why an answer is asked for again.
const droppedNotice = "%s counted %d tokens for a request of about %d, so its server drops the tools. They are described to it in text from now on."

// isDropped reports whether the server has dropped the tools of a request: its count of the tokens fits a request without them.
// That is only asked about servers that may do so, until a request shows that the model sees its tools.
//
// Some servers count only the tokens that they had not cached. These are at most the messages, since the cached beginning
// includes the system prompt. So a count that is hardly larger than the messages proves nothing, unless it names cached
// tokens. The bounds leave room for tokenizers that differ from our estimate by a third.
func (o *autoWrapped) isDropped(a *answerReader, req llm.Request) bool {
	server, ok := llm.As[interface{ MayDropTools() bool }](o.Model)
	if len(req.Tools) == 0 || !ok || !server.MayDropTools() || o.use.native.Load() {
		return false
	}
	if len(a.natives) > 0 {
		return false
	}
	if a.calls > 0 || a.usage == nil || a.usage.Input == 0 {
		return false
	}
	count := a.usage.Input
	messages := llm.Tokens(o.Name(), llm.Request{Project: req.Project, Messages: req.Messages})
	system := llm.Tokens(o.Name(), llm.Request{System: req.System})
	tools := llm.Tokens(o.Name(), llm.Request{Tools: req.Tools})
	if tools < system+messages { // too few to tell from a wrong estimate
		return false
	}
	if count > system+messages+tools/2 {
		o.use.foundNative()
		return false
	}
	return count < system+messages+tools/4 && (a.usage.CacheRead > 0 || count > messages*5/4+system/2)
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
