package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// result is the last line of "run --json". All members are always there:
// docs/run.md promises their names.
type result struct {
	Type       string          `json:"type"` // "result"
	Session    string          `json:"sessionId"`
	StopReason *acp.StopReason `json:"stopReason"` // null if the turn failed
	ExitCode   int             `json:"exitCode"`
	Error      *resultError    `json:"error"` // null if the exit code is 0
	Text       string          `json:"text"`
	Data       json.RawMessage `json:"data"` // the answer for --output-schema; null without one
	Model      string          `json:"model"`
	Rounds     int             `json:"rounds"` // of tool calls
	Usage      *usage          `json:"usage"`  // null if unknown
	Cost       *cost           `json:"cost"`   // null if unknown
	Files      []string        `json:"filesChanged"`
	Denied     []deniedCall    `json:"callsDenied"`
	Goal       *goalResult     `json:"goal"` // null without a goal
	Duration   int64           `json:"durationMs"`
}

// resultError is the reason for an exit code. Code is the JSON-RPC error code, or 0 if the agent
// did not answer with an error.
type resultError struct {
	Code    int64  `json:"code"`
	Message string `json:"message"`
}

// usage is a number of tokens. InputTokens includes the cached ones.
type usage struct {
	Input      int `json:"inputTokens"`
	Output     int `json:"outputTokens"`
	CacheRead  int `json:"cacheReadTokens"`
	CacheWrite int `json:"cacheWriteTokens"`
}

type cost struct {
	Amount   float64 `json:"amount"`
	Currency string  `json:"currency"` // ISO 4217, or a unit such as credits
}

// result returns the result of a turn. failure is the reason for its exit status.
// The answer is also there as JSON if it fits the schema, which may be nil.
func (t *tally) result(reason acp.StopReason, failure error, schema *AnswerSchema) result {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := result{
		Type: "result", Session: t.session, Text: t.answerLocked(reason), Model: t.model, Rounds: t.rounds, Cost: t.cost(),
		Files: append([]string{}, t.changedPaths()...), Denied: append([]deniedCall{}, t.deniedInOrder()...), Goal: t.goal, Duration: time.Since(t.begun).Milliseconds(),
	}
	if schema != nil && t.lastAnswer != nil {
		r.Data, _ = schema.parse(r.Text)
	}
	if reason != "" {
		r.StopReason = &reason
	}
	if u := t.usage; u != nil {
		r.Usage = &usage{u.Input, u.Output, u.CacheRead, u.CacheWrite}
	}
	if failure != nil {
		r.ExitCode, r.Error = cli.ExitCode(failure), &resultError{Message: failure.Error()}
		if answered, ok := errors.AsType[*jsonrpc2.Error](failure); ok {
			r.Error.Code = answered.Code
		}
	}
	return r
}

// answer returns the answer of a turn with this stop reason.
func (t *tally) answer(reason acp.StopReason) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.answerLocked(reason)
}

// answered reports whether a model has answered.
func (t *tally) answered() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lastAnswer != nil && len(t.userCalls) == 0 && !needsModel(strings.Trim(t.lastAnswer.text, "\n"))
}

// answerLocked is answer for a caller that holds mu. It returns the text of headless.Answer.
func (t *tally) answerLocked(reason acp.StopReason) string {
	text := ""
	switch {
	case len(t.userCalls) > 0:
		return strings.Join(t.userOutputs, "\n")
	case t.lastAnswer != nil:
		text = strings.Trim(t.lastAnswer.text, "\n")
	case t.lastNote != nil && reason == acp.StopEndTurn:
		text = t.lastNote.text
	}
	if noAnswer(text) {
		return ""
	}
	return text
}

// footer returns a line about the turn for a person, with the command that continues the session.
func (r *Runner) footer() string {
	next := "--continue"
	if dir, err := os.Getwd(); err != nil || dir != r.Turn.Dir {
		next = "--resume " + r.tally.shortID()
	}
	return r.Facts() + " · continue with: zeph-acp run " + next
}

// Facts returns the facts about the turn in a line.
func (r *Runner) Facts() string { return r.tally.facts() }

// PrintStopped prints the background commands that ended with the program to stderr.
func (r *Runner) PrintStopped(command string) { r.tally.printStopped(os.Stderr, command) }

// PrintData prints the result of a turn that did not run, with data as its answer.
func (r *Runner) PrintData(data string) error {
	result := r.tally.result(acp.StopEndTurn, nil, nil)
	result.Data = []byte(data)
	return result.write(r.out)
}

func (t *tally) shortID() string { return t.session[:min(8, len(t.session))] }

// facts returns the facts about the turn in a line.
func (t *tally) facts() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	parts := []string{"session " + t.shortID()}
	for _, n := range []struct {
		n    int
		noun string
	}{{t.rounds, "round"}, {len(t.changedPaths()), "file"}} {
		if n.n > 0 {
			parts = append(parts, quantity.Count(n.n, n.noun))
		}
	}
	if t.savedBytes >= 1000 {
		parts = append(parts, fmt.Sprintf("%.1f kB saved", float64(t.savedBytes)/1000))
	}
	switch c := t.cost(); {
	case c != nil:
		parts = append(parts, money(*c))
	case t.unpriced:
		parts = append(parts, "cost unknown")
	}
	return strings.Join(parts, " · ")
}

// money returns a cost for a person.
func money(c cost) string {
	decimals := 2
	if c.Amount < 0.01 {
		decimals = 4
	}
	if c.Currency == "USD" {
		return fmt.Sprintf("$%.*f", decimals, c.Amount)
	}
	return fmt.Sprintf("%.*f %s", decimals, c.Amount, c.Currency)
}

// write writes the result on a line.
func (r result) write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(r)
}
