package wire

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestSurrogatesInTwoEvents(t *testing.T) {
	for name, tt := range map[string]struct {
		texts []string // as the JSON of each event has them
		want  string
	}{
		"together":              {[]string{`a\ud83d\ude00b`}, "a😀b"},
		"apart":                 {[]string{`a\ud83d`, `\ude00b`}, "a😀b"},
		"upper case":            {[]string{`a\uD83D`, `\uDE00`}, "a😀"},
		"twice":                 {[]string{`\ud83d`, `\ude00\ud83d`, `\ude01`}, "😀😁"},
		"alone":                 {[]string{`a\ud83d`, `b`}, "ab"},
		"low alone":             {[]string{`a`, `\ude00b`}, "a\ufffdb"},
		"a backslash":           {[]string{`a\\ud83d`, `b`}, `a\ud83db`},
		"two backslashes":       {[]string{`a\\\ud83d`, `\ude00`}, `a\😀`},
		"another character":     {[]string{`\u00e9`, `\ud7ff`}, "é\ud7ff"},
		"half of one forgotten": {[]string{`a\ud83d`, `x`, `y\ud83d`, `\ude00`}, "axy😀"},
		"one half used twice":   {[]string{`\ud83d`, `\ude00`, `\ude01`}, "😀\ufffd"},
		"not in one's place":    {[]string{`a\ud83d`, `x`, `\ude00`}, "ax\ufffd"},
	} {
		var stream strings.Builder
		for _, text := range tt.texts {
			stream.WriteString(`data: {"delta":{"text":"` + text + `"},"n":1}` + "\n\n")
		}
		got := ""
		for data, err := range sseEvents(&http.Response{Body: io.NopCloser(strings.NewReader(stream.String()))}) {
			var event struct{ Delta struct{ Text string } }
			if err != nil || json.Unmarshal(data, &event) != nil {
				t.Errorf("%s: the event %s cannot be read: %v", name, data, err)
			}
			got += event.Delta.Text
		}
		if got != tt.want {
			t.Errorf("%s: the text of %q is %q, want %q", name, tt.texts, got, tt.want)
		}
	}
}
