package chat

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
)

func TestPaste(t *testing.T) {
	for name, tt := range map[string]struct{ in, want string }{
		"keys":            {"a\x1b[A\t\x03\r", "a\x1b[A\t\x03\r"},
		"pasted lines":    {"\x1b[200~a\r\nb\nc\rd\x1b[201~\r", "a⏎b⏎c⏎d\r"},
		"pasted keys":     {"\x1b[200~\x03a\x1b[A\tb\x7f\x1b[201~\x03", "a[A    b\x03"},
		"new lines typed": {"a\x1b\rb\nc\r", "a⏎b⏎c\r"},
		"wide characters": {"\x1b[200~漢\n字\x1b[201~", "漢⏎字"},
		"an open paste":   {"x\x1b[200~a\r", "x"},
		"a long paste":    {"see \x1b[200~" + strings.Repeat("a\n", 600) + "\x1b[201~.", "see [#1: 601 lines]."},
	} {
		t.Run(name, func(t *testing.T) {
			for how, in := range map[string]io.Reader{"at once": strings.NewReader(tt.in), "byte by byte": iotest.OneByteReader(strings.NewReader(tt.in))} {
				got, err := io.ReadAll(&pasteReader{in: in, encode: new(pastedTexts).encode})
				if string(got) != tt.want || err != nil {
					t.Errorf("%s: got %q, %v, want %q", how, got, err, tt.want)
				}
			}
		})
	}
}

// A mark in a pasted text does not end it, as far as the rest has arrived.
func TestPasteMark(t *testing.T) {
	for in, want := range map[string]string{
		"\x1b[200~a\x1b[201~\rrm x\r\x1b[201~":                   "a⏎rm x⏎",
		"\x1b[200~a\x1b[201~\x1b[201~b\x1b[201~\r":               "ab\r",
		"\x1b[200~a\x1b[201~\r\x1b[200~b\x1b[201~":               "a\rb",
		"\x1b[200~a\x1b[201~\r" + strings.Repeat("x", 20) + "\r": "a\r" + strings.Repeat("x", 20) + "\r",
	} {
		got, err := io.ReadAll(&pasteReader{in: strings.NewReader(in), encode: new(pastedTexts).encode})
		if string(got) != want || err != nil {
			t.Errorf("%q: got %q, %v, want %q", in, got, err, want)
		}
	}
}

// Pasted text never has a key in it.
func FuzzPaste(f *testing.F) {
	f.Add("a\r\x1b[201\x03")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "\x1b[200~") || len(text) > 4000 && strings.Contains(text, "\x1b[201~") {
			t.Skip("the terminal itself may have ended the paste")
		}
		got, err := io.ReadAll(&pasteReader{in: strings.NewReader("\x1b[200~" + text + "\x1b[201~"), encode: new(pastedTexts).encode})
		if err != nil || strings.ContainsFunc(string(got), func(r rune) bool { return r < ' ' || r == 0x7f }) {
			t.Errorf("got %q, %v, want no control character", got, err)
		}
	})
}

// A long text is one word in the line, and itself in the prompt.
func TestPastedTexts(t *testing.T) {
	var f pastedTexts
	for _, text := range []string{"a", "a\nb", strings.Repeat("a\n", 50), strings.Repeat("x", 5000)} {
		line := f.encode(text)
		if len(line) > maxShownBytes || strings.Contains(line, "\n") || f.decode("see "+line+"!") != "see "+text+"!" {
			t.Errorf("%q is shown as %q, want one short line that becomes the text again", text, line)
		}
	}
	if got := f.decode("[#7: 3 lines] [#1: 50 lines]"); got != "[#7: 3 lines] [#1: 50 lines]" {
		t.Errorf("another text became %q", got)
	}
}

func TestComplete(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"main.go", "make.sh", ".hidden", "src/a.go", "src/b.go", "with space"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c := &Chat{Turn: &headless.Turn{Dir: dir}}
	c.session.update(json.RawMessage(`{"sessionId":"s","modes":{"availableModes":[{"id":"ask"},{"id":"code"}]},
		"configOptions":[{"id":"model","category":"model","type":"select","currentValue":"b","options":[{"value":"a","name":"A"},{"value":"b","name":"B"}]},
			{"id":"yes","type":"boolean","currentValue":true}]}`))
	c.session.update(json.RawMessage(`{"availableCommands":[{"name":"mode","description":"x"},{"name":"model","description":"y"},{"name":"rewind","description":"z"}]}`))
	for line, want := range map[string][]string{
		"":            nil,
		"/m":          {"ode ", "odel "},
		"/e":          {"xit "},
		"/mode ":      {"ask ", "code "},
		"/mode a":     {"sk "},
		"/model ":     {"a ", "b "},
		"see @ma":     {"in.go ", "ke.sh "},
		"see @src/":   {"a.go ", "b.go "},
		"@s":          {"rc/"},
		"@.":          {"hidden "},
		"@none/":      nil,
		"mail a@b":    nil,
		"a⏎@main":     {".go "},
		"/rewind @ma": {"in.go ", "ke.sh "},
	} {
		var got []string
		rests, _ := completer{c}.Do([]rune(line), len([]rune(line)))
		for _, r := range rests {
			got = append(got, string(r))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got)\n%s", line, diff)
		}
	}
	if got := c.session.models(); len(got) != 2 || got[0].Current || !got[1].Current || got[1].Option != "model" || c.session.id() != "s" {
		t.Errorf("models %+v of %s", got, c.session.id())
	}
}

func TestPromptBlocks(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a b.go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	c := &Chat{Turn: &headless.Turn{Dir: dir}}
	for text, want := range map[string]string{
		"see @a.go, @a.go and @none": "[text resource_link]",
		"mail x@a.go":                "[text]",
		"/explain @a.go":             "[text]", // the command reads it
		"@.":                         "[text]",
	} {
		var types []string
		for _, b := range c.promptBlocks(text) {
			types = append(types, b.Type)
		}
		if got := fmt.Sprint(types); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// The history keeps whole prompts without credentials, and is private.
func TestHistory(t *testing.T) {
	state := t.TempDir()
	h := History{Path: HistoryPath(state, "/w"), Mask: func(text string) string { return strings.ReplaceAll(text, "hunter2", "[masked]") }}
	if got := h.Load(); got != nil {
		t.Errorf("a new history has %q", got)
	}
	h.Add("one\ntwo")
	h.Add("the password is hunter2")
	h.Add(strings.Repeat("x", maxEntry+1))
	if got := h.Load(); !slices.Equal(got, []string{"one\ntwo", "the password is [masked]"}) {
		t.Errorf("the history is %q, want the two short prompts, masked", got)
	}
	if other := (History{Path: HistoryPath(state, "/other")}); other.Load() != nil {
		t.Error("a project has the prompts of another")
	}
	for i := range maxHistory + 10 {
		h.Add(fmt.Sprint(i))
	}
	if got := h.Load(); len(got) != maxHistory || got[maxHistory-1] != fmt.Sprint(maxHistory+9) {
		t.Errorf("%d prompts, the last %q", len(got), got[len(got)-1])
	}
	if data, err := os.ReadFile(h.Path); err != nil || strings.Count(string(data), "\n") != maxHistory {
		t.Errorf("the file has %d lines, %v", strings.Count(string(data), "\n"), err)
	}
	(History{}).Add("nowhere")
	if (History{}).Load() != nil || HistoryPath("", "/w") != "" {
		t.Error("a history without a directory keeps prompts")
	}
}
