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

// OutputSummarizer lets a model sum up outputs that are too long for the one that
// asked for them. It may be used concurrently.
type OutputSummarizer struct {
	Model   func() llm.Model
	Timeout time.Duration // for its answer; 0 means no limit
	// Count takes what an answer has cost.
	Count func(llm.Model, llm.Usage)
	// Clean is what the summary goes through, as the outputs of tools do: an output
	// may have talked the model into anything. Nil leaves it as it is.
	Clean func(string) string
}

const (
	// maxSummarized is how much of an output a model gets, in bytes: half of that
	// of its beginning, half of its end.
	maxSummarized = 400 << 10
	// bytesPerToken is less than what a token of output usually has.
	bytesPerToken = 2
)

// Most is how many bytes of an output Summarize can use now; 0 means that there is
// no model for it.
func (s *OutputSummarizer) Most() int {
	m := s.Model()
	if isDirect(m) {
		return 0
	}
	most := maxSummarized
	if w := m.Window(); w > 0 { // half of it: the answer needs room, and an estimate is one
		most = min(most, w/2*bytesPerToken)
	}
	return most
}

// Summarize sums an output up; cut says that its middle is missing. An error, also
// ctx's cause, means that there is no summary.
func (s *OutputSummarizer) Summarize(ctx context.Context, tool string, input json.RawMessage, output string, cut bool) (string, error) {
	question, err := jsonText(struct {
		Tool   string          `json:"tool"`
		Input  json.RawMessage `json:"input,omitempty"`
		Cut    bool            `json:"cut"`
		Output string          `json:"output"`
	}{tool, input, cut, output})
	if err != nil {
		return "", errors.New("it cannot be put into a question")
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
		return "", fmt.Errorf("%s gave no summary (it stopped with %q)", answer.model.Name(), answer.stop)
	}
	return text, nil
}
