package overflow

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors"
)

// teller is a Summarizer that returns a fixed text or error.
type teller struct {
	most int
	says string
	err  error

	asked string
	cut   bool
	times int
}

func (s *teller) MaxBytes() int { return s.most }

func (s *teller) Summarize(_ context.Context, tool string, input json.RawMessage, output string, cut bool) (string, error) {
	s.asked, s.cut = tool+" "+string(input)+" "+output, cut
	s.times++
	return s.says, s.err
}

func TestSummarize(t *testing.T) {
	long, short := numbered(300), numbered(20)
	for name, tt := range map[string]struct {
		teller teller
		tool   string
		text   string
		full   string // "" means that text is all
		want   []string
		not    string
		times  int
		cut    bool
	}{
		"long": {teller: teller{most: 1 << 20, says: "300 lines."}, text: long, times: 1,
			want: []string{"line 1\nline 2\n", "output:]\n300 lines.\n[end of the summary …]\n", "\nline 300\n[full output: 300 lines"}, not: "line 150\n"},
		"short": {teller: teller{most: 1 << 20, says: "?"}, text: short, want: []string{short}},
		"fails": {teller: teller{most: 1 << 20, err: errors.New("no")}, text: long, times: 1, want: []string{" cut …]\n", "[full output: 300 lines"},
			not: "summary"},
		"nobody":      {text: long, want: []string{" cut …]\n"}, not: "summary"},
		"small model": {teller: teller{most: 100, says: "Much."}, text: long, times: 1, cut: true, want: []string{"\nMuch.\n"}},
		"long summary": {teller: teller{most: 1 << 20, says: numbered(200)}, text: long, times: 1,
			want: []string{" cut …]\n", "\nline 200\n[end of the summary …]\n"}},
		"cut before": {teller: teller{most: 1 << 20, says: "Much."}, text: numbered(80), full: long, times: 1,
			want: []string{"\nMuch.\n", "[full output: 300 lines"}},
		"short of long": {teller: teller{most: 1 << 20, says: "?"}, text: "ok\n", full: long, want: []string{"ok\n[full output: 300 lines"}, not: "summary"},
		"paged":         {teller: teller{most: 1 << 20, says: "?"}, tool: "read", text: long, not: "summary"},
		"its own":       {teller: teller{most: 1 << 20, says: "?"}, tool: toolName, text: long, not: "summary"},
		"not UTF-8":     {teller: teller{most: 1 << 20, says: "a\xffb"}, text: long, times: 1, want: []string{"\na\uFFFDb\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := small()
			o.Summarizer = &tt.teller
			if tt.tool == "" {
				tt.tool = "bash"
			}
			res := executors.Result{Text: tt.text}
			if tt.full != "" {
				res.Full = spool(t, tt.full)
			}
			call := &executors.Call{Tool: tt.tool, Session: "s", Input: json.RawMessage(`{"a":1}`)}
			if tt.tool == "read" {
				call.Spec.Traits = executors.Pages
			}
			got, err := o.Middleware(fixedTool{res: res}).Execute(t.Context(), call)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range tt.want {
				if !strings.Contains(got.ForModel(), want) {
					t.Errorf("no %q in\n%s", want, got.ForModel())
				}
			}
			if tt.not != "" && strings.Contains(got.ForModel(), tt.not) {
				t.Errorf("%q is in\n%s", tt.not, got.ForModel())
			}
			if n := utf8.RuneCountInString(got.ForModel()); tt.times > 0 && n > o.MaxChars+150 {
				t.Errorf("got %d characters, want %d at most", n, o.MaxChars+150)
			}
			if tt.teller.times != tt.times || tt.teller.cut != tt.cut || tt.times > 0 && !strings.HasPrefix(tt.teller.asked, `bash {"a":1} line 1`) {
				t.Errorf("asked %d times, cut %v: %.60q", tt.teller.times, tt.teller.cut, tt.teller.asked)
			}
		})
	}
}
