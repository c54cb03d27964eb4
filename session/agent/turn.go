package agent

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"sync/atomic"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/images"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// budgetPercent is the share of the context at which a turn stops, so that an
// answer and its tool results still fit.
const budgetPercent = 80

// turn is one run of the loop.
type turn struct {
	*Agent
	model  llm.Model // of the next call
	direct bool      // the user's own calls: the model stays Direct
	origin executors.Origin
	phase  executors.Phase
	typed  string // the text that the user typed
	inbox  *Inbox
	bounds Bounds // see Input
	// supervisor follows the turn; nil for a subturn, and where no one does.
	supervisor Supervisor
	tools      []executors.Tool
	known      []llm.Tool // tools as models get them
	offered    []llm.Tool
	history    []llm.Message
	// maskedTo is the number of messages whose texts are masked.
	maskedTo int
	message  message       // the message being sent
	text     images.Stream // of the message
	loops    loopDetector

	questions    questions
	meter        llm.Meter // of history
	systemText   systemText
	earlierCalls map[*llm.ToolCall]earlierCall
	spoke        bool // the last answer had text
	// progressShown is how long the server had been reading the request when the user was last told.
	progressShown time.Duration
	stops         int // how often hooks made it continue

	allowedRounds          int        // the number of rounds before the next question; 0 means max_tool_iterations
	summaries, compactions int        // so far
	gaveUp                 bool       // a summary failed
	askedAgain             bool       // after an empty answer; once in a turn
	refusedCount           *llm.Count // of the last request, if its server refused it as too long
	wasRefused             bool       // a refused request was repeated; it is repeated once in a turn
	// bare are the calls of the last answer that had only thoughts as fields.
	bare map[string]bool
	// notes are for the model, after the results of the last answer's calls.
	notes map[string]string
	// reflected records that the model was asked to think about a failed call.
	reflected atomic.Bool

	sub       *subturn     // nil for a turn of the session
	delegated atomic.Int32 // subturns so far
	halt      halt
}

// start adds the prompt, with the texts of its links and commands, to the history and
// runs the loop.
func (t *turn) start(ctx context.Context, prompt transcript.Prompt, commands map[int]string) (acp.StopReason, error) {
	at := len(t.history)
	t.history = append(t.history[:at:at], llm.Message{Role: llm.User, Blocks: prompt.Blocks(nil)})
	if err := t.sayLeftOut(ctx, prompt); err != nil {
		return "", err
	}
	if a := t.Toolset; a != nil && !t.direct {
		a.Begin(ctx, t.model, cmp.Or(prompt.ModelText, transcript.TypedText(prompt.Parts())), t.history[:at], t.offered)
	}
	if !prompt.OmitContent {
		instead := t.shortenAttachments(ctx, prompt.Parts())
		linked, err := t.readLinks(ctx, prompt.Parts())
		maps.Copy(instead, linked)
		if err == nil {
			err = t.runCommands(ctx, commands, instead)
		}
		t.history[at].Blocks = prompt.Blocks(instead)
		if err != nil {
			return "", err
		}
	}
	return t.run(ctx)
}

// run runs the loop.
func (t *turn) run(ctx context.Context) (acp.StopReason, error) {
	for iteration := 0; ; iteration++ {
		if why, stopped := t.hookStopped(); stopped {
			return t.stop(ctx, acp.StopEndTurn, "Stopped by a hook: %s", why)
		}
		t.refresh()
		if steered, err := t.addSteered(ctx); err != nil {
			return "", err
		} else if steered {
			iteration = 0
			t.resetLimits()
		}
		if reason, err := t.checkBudget(ctx); err != nil || reason != "" {
			return reason, err
		}
		t.shrinkOld(ctx)
		if err := t.makeRoom(ctx); err != nil {
			return "", err
		}
		if reason, err := t.atLimit(ctx, iteration); err != nil || reason != "" {
			return reason, err
		}
		answer, err := t.answerWithRetry(ctx)
		if err != nil {
			return "", err
		}
		reason, err := t.actOn(ctx, answer)
		if err != nil || reason != "" {
			return reason, err
		}
	}
}

// refresh sets the model and the tools of the next call.
func (t *turn) refresh() {
	if t.direct {
		return
	}
	t.model = t.Model()
	if t.Toolset != nil {
		t.offered = t.offeredTools(t.model)
	}
}

// atLimit stops a turn that has no room or no rounds left. The reason is empty if the
// turn continues.
func (t *turn) atLimit(ctx context.Context, iteration int) (acp.StopReason, error) {
	if full, size := t.overBudget(); full > 0 {
		if why := t.baseTooLarge(size); why != "" {
			return t.stop(ctx, acp.StopMaxTokens, "Stopped: %s.", why)
		}
		if t.promptAt() == 0 && iteration == 0 { // there is nothing to compact
			return t.stop(ctx, acp.StopMaxTokens, "Stopped: the system prompt, the tools and this prompt take about %d of %s of context. Send less at once, or %s.",
				full, quantity.Count(size, "token"), largerWindow)
		}
		more := "raise agent.context_budget_tokens"
		if size == t.model.Window() { // a higher budget would change nothing
			more = "pick a model with a larger window"
		}
		return t.stop(ctx, acp.StopMaxTokens, "Stopped: the conversation takes about %d of %d tokens of context. "+
			"Type /compact to make room, start a new session, or %s.", full, size, more)
	}
	if t.supervisor != nil {
		if reason := t.supervisor.Next(); reason != "" {
			t.message.end()
			return reason, nil
		}
	}
	why, err := t.roundLimitReason(ctx, iteration)
	if err != nil || why == "" {
		return "", err
	}
	return t.stop(ctx, acp.StopMaxTurnRequests, "Stopped after %s of tool calls%s. %s", quantity.Count(iteration, "round"), why,
		cmp.Or(t.RoundLimit.Next, "Send another prompt to continue."))
}

// answerWithRetry asks the model, and once more after a rejected request if that can help.
func (t *turn) answerWithRetry(ctx context.Context) (answer, error) {
	got, err := t.streamAnswer(ctx)
	if err == nil {
		return got, nil
	}
	again, err := t.compactRefused(ctx, err)
	if again {
		return t.streamAnswer(ctx)
	}
	return got, err
}

// actOn runs the calls of an answer, or ends the turn if it has no calls. The reason is
// empty if the turn continues.
func (t *turn) actOn(ctx context.Context, got answer) (acp.StopReason, error) {
	switch got.stop {
	case llm.StopMaxTokens:
		return t.end(ctx, acp.StopMaxTokens, t.model.Name()+" reached its limit of tokens before it answered (max_tokens of the provider).")
	case llm.StopRefusal:
		// The prompt and everything after it leave the history:
		// https://agentclientprotocol.com/protocol/v1/prompt-turn#stop-reasons
		t.history = t.history[:t.promptAt()]
		return t.end(ctx, acp.StopRefusal, t.model.Name()+" refused to answer.")
	}
	if len(got.calls) == 0 {
		if !t.spoke && !t.direct && !t.askedAgain {
			t.askedAgain = true
			t.goOn(emptyAnswer)
			return "", nil
		}
		if over, err := t.isOver(ctx); err != nil || !over {
			return "", err
		}
		return t.end(ctx, acp.StopEndTurn, NoAnswer)
	}
	outcomes, err := t.runCalls(ctx, got.calls)
	if err != nil {
		return "", err
	}
	if t.endsWithQuestions() {
		return t.stop(ctx, acp.StopEndTurn, "%s", shownQuestions(t.questions.pending))
	}
	if why := t.loops.observe(outcomes); why != "" && t.origin == executors.Model && !t.inbox.isWaiting() {
		return t.stop(ctx, acp.StopMaxTurnRequests, "%s", why)
	}
	return "", nil
}

// end ends the turn. If the model's last answer had no text, it sends a message of the
// agent: some clients show a turn without a final message as still running.
func (t *turn) end(ctx context.Context, reason acp.StopReason, message string) (acp.StopReason, error) {
	if t.spoke {
		return reason, nil
	}
	return t.stop(ctx, reason, "%s", message)
}

// stop ends the turn with a message to the user. The message is not the
// model's, so it stays out of the history.
func (t *turn) stop(ctx context.Context, reason acp.StopReason, format string, args ...any) (acp.StopReason, error) {
	t.message.end()
	text := fmt.Sprintf(format, args...)
	if t.supervisor != nil {
		t.supervisor.Ended(text)
	}
	return reason, t.Say(ctx, text)
}

// promptAt returns the index of the message that began this turn.
func (t *turn) promptAt() int {
	for i := len(t.history) - 1; i >= 0; i-- {
		if isPrompt(t.history[i]) {
			return i
		}
	}
	return 0
}

// contextSize returns the number of tokens that the turn may use; 0 means unknown.
func (t *turn) contextSize() int {
	size := t.model.Window()
	if b := t.Config.ContextBudgetTokens; b > 0 && (size == 0 || b < size) {
		size = b
	}
	return size
}

// overBudget returns the tokens of the next request if they exceed the budget,
// and the size that the budget is a share of. The user's own calls have no
// budget.
func (t *turn) overBudget() (full, size int) {
	size = t.contextSize()
	if size == 0 || t.direct {
		return 0, 0
	}
	if n := t.tokens(); n*100 > size*budgetPercent {
		return n, size
	}
	return 0, size
}

// baseTooLarge returns a sentence with advice if nothing of a conversation fits next to the system
// prompt and the tools, and else "".
func (t *turn) baseTooLarge(size int) string {
	base := t.baseTokens() * t.perThousand() / 1000
	if size == 0 || base*100 <= size*budgetPercent {
		return ""
	}
	return fmt.Sprintf("the system prompt and the tools alone take about %d of %d tokens of context. "+
		"To go on, %s", base, size, largerWindow)
}

// largerWindow is the advice where no compaction helps, with the options of servers.
const largerWindow = "start the server with a larger window (-c of llama.cpp, --max-model-len of vLLM, context_window for Ollama), pick a model with a larger one, " +
	"lower agent.max_rules_bytes, or switch tools off"

// checkFits returns an error for a prompt that is larger than the model's window.
func (t *turn) checkFits(blocks []llm.Block) error {
	window := t.model.Window()
	n := llm.Tokens(t.model.Name(), llm.Request{Messages: []llm.Message{{Role: llm.User, Blocks: blocks}}})
	if window > 0 && n > window {
		return acp.ParamsErrorf("prompt", "takes about %s, and the window of %s has %d: send less, or pick a model with a larger window", quantity.Count(n, "token"), t.model.Name(), window)
	}
	return nil
}
