package agent

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

//go:embed summarize.md
var summarizePrompt string

// OutputSummarizer lets a model summarize outputs that are too long for the
// calling model. It is safe for concurrent use.
type OutputSummarizer struct {
	Model   func() llm.Model
	Timeout time.Duration // for an answer; 0 means no limit
	// Count counts the usage of an answer.
	Count func(llm.Model, llm.Usage)
	// Clean filters the summary as outputs of tools are filtered, since an
	// output may have manipulated the model. Nil leaves it unchanged.
	Clean func(string) string
}

const (
	// maxSummarized is the number of bytes of an output that a model gets: half
	// from its beginning, half from its end.
	maxSummarized = 400 << 10
	// bytesPerToken is a lower bound of the usual length of a token.
	bytesPerToken = 2
)

// MaxBytes returns the number of bytes of an output that Summarize can use now; 0
// means that there is no model for it.
func (s *OutputSummarizer) MaxBytes() int {
	m := s.Model()
	if isDirect(m) {
		return 0
	}
	limit := maxSummarized
	if w := m.Window(); w > 0 { // half of it, since the answer needs room and the count is an estimate
		limit = min(limit, w/2*bytesPerToken)
	}
	return limit
}

// Summarize summarizes an output; cut reports that its middle is missing. An
// error, which may be ctx's cause, means that there is no summary.
func (s *OutputSummarizer) Summarize(ctx context.Context, tool string, input json.RawMessage, output string, cut bool) (string, error) {
	question, err := jsonText(struct {
		Tool   string          `json:"tool"`
		Input  json.RawMessage `json:"input,omitempty"`
		Cut    bool            `json:"cut"`
		Output string          `json:"output"`
	}{tool, input, cut, output})
	if err != nil {
		return "", errors.New("the question cannot be encoded")
	}
	answer, err := askAside(ctx, s.Model(), s.Timeout, summarizePrompt, question)
	if answer.usage != nil {
		s.Count(answer.model, *answer.usage)
	}
	if err != nil {
		return "", err
	}
	text := answer.text
	if s.Clean != nil {
		text = s.Clean(text)
	}
	text = strings.TrimSpace(text)
	if answer.stop != llm.StopEnd || text == "" {
		return "", fmt.Errorf("%s returned no summary (it stopped with %q)", answer.model.Name(), answer.stop)
	}
	return text, nil
}
