package textcalls

import (
	"slices"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// unknownCalls returns a function that reports whether an answer that is nothing but a call may call a name that no
// tool has. The model then learns that there is no such tool; otherwise the user would read the call as the answer.
//
// Its form must show that it is a call, and so must what came before. Either the model is at work: it has called a tool
// for this prompt, or it has written calls as text before. Or the name is one by which models run commands: a program's,
// or another name of an offered tool. A user who asked for anything of that form gets it.
func (a *answerReader) unknownCalls(req llm.Request) func(name string) bool {
	asked := sync.OnceValue(func() bool { return asksForObject(req.Messages) })
	working := sync.OnceValue(func() bool { return !a.native || isAtWork(req.Messages) || hasTextCalls(req.Messages) })
	return func(name string) bool {
		if a.said || len(a.tools) == 0 || !isName.MatchString(name) || asked() {
			return false
		}
		return working() || a.offers(name) || req.IsProgram != nil && req.IsProgram(name)
	}
}

// isName matches the names that tools may have.
var isName = lazyregexp.New(`^[A-Za-z][\w.:/-]{0,63}$`)

// objectRequest matches requests for text that may look like a call of anything.
var objectRequest = lazyregexp.New(`(?i)(^|[^.\w])(json|objects?|schemas?|payloads?|bod(y|ies)|requests?|examples?|samples?|snippets?|formats?|syntax|rpc|api|` +
	`call|calls|called|calling)\b`)

// asksForObject reports whether the user's last prompt may ask for text of the form of a call.
func asksForObject(history []llm.Message) bool {
	for _, m := range slices.Backward(history) {
		if m.Role == llm.User && !hasResult(m) {
			text := []llm.Message{m}
			return asksFor(objectRequest, text) || asksFor(codeRequest, text) || asksFor(syntaxRequest, text)
		}
	}
	return false
}

func hasResult(m llm.Message) bool {
	return slices.ContainsFunc(m.Blocks, func(b llm.Block) bool { return b.Result != nil })
}

// isAtWork reports whether the request is about the results of calls.
func isAtWork(history []llm.Message) bool {
	return len(history) > 0 && hasResult(history[len(history)-1])
}

// hasTextCalls reports whether the model has written calls as text.
func hasTextCalls(history []llm.Message) bool {
	return slices.ContainsFunc(history, func(m llm.Message) bool {
		return slices.ContainsFunc(m.Blocks, func(b llm.Block) bool { return b.Call != nil && strings.HasPrefix(b.Call.ID, textID) })
	})
}
