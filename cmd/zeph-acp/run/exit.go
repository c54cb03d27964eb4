package run

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/session"
	"github.com/zeph-acp/zeph-acp/session/agent"
	"github.com/zeph-acp/zeph-acp/session/llm/local"
	"github.com/zeph-acp/zeph-acp/session/llm/provider"
)

// Exit statuses of run, in addition to the statuses of every command. A signal exits with
// 128 plus its number, so Ctrl-C is 130.
const (
	exitStopped   = 3 // the model refused or reached a limit, or every call was refused
	exitCancelled = 130
	exitPipe      = 128 + 13 // SIGPIPE: the reader of stdout has gone
)

// timeoutError is the cause of a turn's cancellation after that time.
type timeoutError time.Duration

func (e timeoutError) Error() string {
	return fmt.Sprintf("the turn was stopped after %s (--timeout)", time.Duration(e))
}

// agentError is an error with which the agent answered.
type agentError struct{ cause *jsonrpc2.Error }

func (e *agentError) Error() string { return e.cause.Message }
func (e *agentError) Unwrap() error { return e.cause }

// turnError returns the error of a turn that did not end by itself. cause is the cause
// of its cancellation, nil if it was not cancelled. model names the model of the last answer.
func turnError(reason acp.StopReason, err, cause error, lastMessage, model string) error {
	got, signalled := errors.AsType[cli.SignalError](cause)
	unwritten, broken := errors.AsType[*outputError](cause)
	late, timeout := errors.AsType[timeoutError](cause)
	refused, answered := errors.AsType[*jsonrpc2.Error](err)
	switch {
	case broken:
		return unwritten.exit()
	case signalled && reason != acp.StopEndTurn:
		return &cli.ExitError{Code: 128 + int(got)}
	case timeout && reason != acp.StopEndTurn:
		return &cli.ExitError{Code: exitStopped, Cause: late}
	case answered:
		return &agentError{refused}
	case err != nil:
		return err
	}
	switch reason {
	case acp.StopEndTurn:
		return nil
	case acp.StopCancelled:
		return &cli.ExitError{Code: exitCancelled}
	case acp.StopRefusal:
		return &cli.ExitError{Code: exitStopped, Cause: errors.New(model + " refused to continue")}
	case acp.StopMaxTokens:
		return limitError(lastMessage, ": the answer was cut off at the limit of tokens of "+model+" (max_tokens)")
	case acp.StopMaxTurnRequests:
		return limitError(lastMessage, " at a limit")
	}
	return fmt.Errorf("the turn ended with the unknown stop reason %q", reason)
}

// limitError returns the error of a turn that reached a limit. The agent's last message names the
// limit if it begins with "Stopped"; otherwise reason does.
func limitError(lastMessage, reason string) error {
	if why, ok := strings.CutPrefix(lastMessage, "Stopped"); ok {
		reason = why
	}
	return &cli.ExitError{Code: exitStopped, Cause: errors.New("the turn was stopped" + reason)}
}

// ErrNoModel means that a prompt needs a model and there is none.
var ErrNoModel = errors.New("no model is configured: start Ollama, run `zeph-acp login`, or set " + keyVariables())

// keyVariables returns the variables of the keys of all types that need no configuration.
func keyVariables() string {
	var names []string
	for _, k := range provider.Keys(provider.Config{}) {
		names = append(names, k.Env)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// needsModel reports whether the last message of a turn says only that its prompt needs a
// model.
func needsModel(lastMessage string) bool {
	return local.ExplainsConnecting(lastMessage) || lastMessage == agent.NoModel
}

// noAnswer reports whether the last message of a turn says that there is no answer.
func noAnswer(lastMessage string) bool {
	return needsModel(lastMessage) || lastMessage == agent.NoAnswer
}

// endError returns the error of a turn that ended by itself; nil if it succeeded.
func (t *tally) endError(failOnDenied denials) error {
	model := t.name()
	t.mu.Lock()
	defer t.mu.Unlock()
	lastMessage := strings.Trim(t.lastMessageLocked(), "\n")
	unknown, _, _ := strings.Cut(strings.TrimPrefix(lastMessage, "There is no command "), ". ")
	switch {
	case local.ExplainsConnecting(lastMessage) && strings.HasPrefix(unknown, "/"):
		return fmt.Errorf("there is no command %s, and no model is configured", unknown)
	case needsModel(lastMessage):
		return ErrNoModel
	case lastMessage == agent.NoAnswer:
		return errors.New(model + " gave no answer, even when asked again")
	case t.last != nil && t.last == t.lastNote && session.Refuses(lastMessage), t.calls == 0 && local.RunsNothing(lastMessage):
		first, _, _ := strings.Cut(lastMessage, "\n")
		return errors.New("n" + strings.TrimPrefix(strings.TrimSuffix(first, "."), "N")) // both begin with "Nothing"
	case t.callExit != 0:
		return &cli.ExitError{Code: t.callExit, Cause: errors.New(t.callFailed)}
	case failOnDenied == anyDenied && t.refused > 0:
		return &cli.ExitError{Code: exitStopped, Cause: errors.New("a tool call of the turn was refused (--fail-on-denied)")}
	case failOnDenied == allDenied && t.calls > 0 && t.refused == t.calls:
		return &cli.ExitError{Code: exitStopped, Cause: errors.New("every tool call of the turn was refused")}
	}
	return nil
}

// denials say when a turn fails because calls of it were denied.
type denials int

const (
	noDenials denials = iota // never
	allDenied                // if all calls were
	anyDenied                // if one was
)

// name returns the name of the model that answered last.
func (t *tally) name() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return cmp.Or(t.model, "the model")
}
