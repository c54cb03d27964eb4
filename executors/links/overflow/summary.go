package overflow

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors"
)

// Summarizer summarises long texts. It may be used concurrently.
type Summarizer interface {
	// MaxBytes returns how many bytes of a text it can use now; 0 means that it is not
	// available.
	MaxBytes() int
	// Summarize summarises the text of a result; cut means that its middle is
	// missing. An error means that there is no summary.
	Summarize(ctx context.Context, tool string, input json.RawMessage, output string, cut bool) (string, error)
}

// With a summary, head and tail together get a quarter of the limit, and the summary gets at most
// another quarter, but no less than minSummary characters.
const (
	summaryShare = 4
	minSummary   = 200
)

const (
	summaryBegin = "[… the middle is left out. A model's summary of all of it, which is not part of the output:]\n"
	summaryEnd   = "\n[end of the summary …]\n"
)

// summarize returns a text with a summary in place of its middle; ok reports
// whether there is a summary. text is the text without a summary, source the full
// text.
func (o *Overflow) summarize(ctx context.Context, call *executors.Call, text string, source io.ReaderAt,
	size int64) (short string, ok bool) {
	limit := cmp.Or(call.Spec.MaxOutput, o.MaxChars)
	room := limit / summaryShare
	if o.Summarizer == nil || call.Spec.Is(executors.Pages) || size <= int64(limit) ||
		utf8.RuneCountInString(text) <= 2*room {
		return "", false
	}
	output, missing, err := headAndTail(source, size, o.Summarizer.MaxBytes())
	if err != nil || output == "" {
		return "", false
	}
	summary, err := o.Summarizer.Summarize(ctx, call.Tool, call.ShownInput(), output, missing)
	if err != nil {
		if ctx.Err() == nil {
			o.log().Warn("an output could not be summed up", "tool", call.Tool, "err", err)
		}
		return "", false
	}
	summary, _ = executors.Bound(strings.ToValidUTF8(summary, string(utf8.RuneError)), max(room, minSummary))
	return executors.ReplaceMiddle(text, room, summaryBegin+strings.TrimRight(summary, "\n")+summaryEnd), true
}

// headAndTail returns the beginning and the end of a text, at most maxBytes
// together.
func headAndTail(source io.ReaderAt, size int64, maxBytes int) (text string, missing bool, err error) {
	if maxBytes <= 0 {
		return "", false, nil
	}
	if size <= int64(maxBytes) {
		data, err := io.ReadAll(io.NewSectionReader(source, 0, size))
		return string(data), false, err
	}
	half := int64(maxBytes / 2)
	head, err := io.ReadAll(io.NewSectionReader(source, 0, half))
	if err != nil {
		return "", false, err
	}
	tail, err := io.ReadAll(io.NewSectionReader(source, size-half, half))
	return strings.ToValidUTF8(string(head), "") + "\n[…]\n" + strings.ToValidUTF8(string(tail), ""), true, err
}
