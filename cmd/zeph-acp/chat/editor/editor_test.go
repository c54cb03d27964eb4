package editor

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// keyCodes are the names of keys that are no characters.
var keyCodes = map[string]rune{
	"enter": tea.KeyEnter, "esc": tea.KeyEsc, "tab": tea.KeyTab, "backspace": tea.KeyBackspace, "delete": tea.KeyDelete,
	"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight, "home": tea.KeyHome, "end": tea.KeyEnd,
	"pgup": tea.KeyPgUp,
}

// key returns the key of a name, such as "ctrl+a" or "x".
func key(name string) tea.KeyPressMsg {
	var k tea.KeyPressMsg
	full := name
	for prefix, mod := range map[string]tea.KeyMod{"ctrl+": tea.ModCtrl, "alt+": tea.ModAlt, "shift+": tea.ModShift} {
		if strings.Contains(full, prefix) {
			k.Mod |= mod
			name = strings.Replace(name, prefix, "", 1)
		}
	}
	switch code, ok := keyCodes[name]; {
	case ok:
		k.Code = code
		return k
	case name == "lt":
		name = "<"
	case name == "gt":
		name = ">"
	}
	k.Code = []rune(name)[0]
	if k.Mod == 0 {
		k.Text = name
	}
	return k
}

// press presses keys, with the names of special ones in "<>" and pasted text in "«»". It
// returns the results of the special ones.
func press(e *Editor, keys string) (results []bool) {
	for keys != "" {
		if rest, ok := strings.CutPrefix(keys, "<"); ok {
			name, after, found := strings.Cut(rest, ">")
			if found && name != "" {
				results = append(results, e.Press(key(name)))
				keys = after
				continue
			}
		}
		if rest, ok := strings.CutPrefix(keys, "«"); ok {
			text, after, _ := strings.Cut(rest, "»")
			e.Insert(text)
			keys = after
			continue
		}
		s := state{text: keys}
		n := s.next(0)
		e.Press(key(keys[:n]))
		keys = keys[n:]
	}
	return results
}

// marked returns the text with "|" at the cursor.
func marked(e *Editor) string { return e.Before() + "|" + e.Text()[len(e.Before()):] }

// load sets the text from a form with "|" at the cursor.
func load(e *Editor, text string) {
	before, after, _ := strings.Cut(text, "|")
	e.SetDraft(Draft{state{text: before + after, cursor: len(before)}})
}

func TestEmacsKeys(t *testing.T) {
	for name, tt := range map[string]struct{ text, keys, want string }{
		"type":                       {"|", "hi you", "hi you|"},
		"line start":                 {"a\nbc|", "<ctrl+a>", "a\n|bc"},
		"home":                       {"a\nbc|", "<home>", "a\n|bc"},
		"line end":                   {"a|b\nc", "<ctrl+e>", "ab|\nc"},
		"end":                        {"|ab\nc", "<end>", "ab|\nc"},
		"left and right":             {"abc|", "<left><ctrl+b><right>x<ctrl+f>", "abxc|"},
		"left at the start":          {"|a", "<left>", "|a"},
		"left over a line feed":      {"a\n|b", "<left>", "a|\nb"},
		"words back":                 {"foo bar-baz|", "<alt+b><ctrl+left>", "foo |bar-baz"},
		"words forward":              {"|foo bar-baz", "<alt+f><ctrl+right><alt+right>", "foo bar-baz|"},
		"whole text":                 {"a\n|b\nc", "<alt+lt>x<alt+gt>y", "xa\nb\ncy|"},
		"whole text by ctrl":         {"a\n|b\nc", "<ctrl+home>x<ctrl+end>y", "xa\nb\ncy|"},
		"up keeps the column":        {"abcd\nx\nabc|", "<up><up>", "abc|d\nx\nabc"},
		"ctrl-p and ctrl-n":          {"ab\ncd|", "<ctrl+p>x<ctrl+n>", "abx\ncd|"},
		"backspace":                  {"ab|c", "<backspace>", "a|c"},
		"ctrl-h":                     {"ab|c", "<ctrl+h>", "a|c"},
		"backspace joins lines":      {"a\n|b", "<backspace>", "a|b"},
		"delete":                     {"a|bc", "<delete>", "a|c"},
		"ctrl-d":                     {"a|bc", "<ctrl+d>", "a|c"},
		"kill word back":             {"a foo-bar|", "<ctrl+w>", "a |"},
		"kill short word back":       {"a foo-bar|", "<alt+backspace>", "a foo-|"},
		"kill word forward":          {"|foo bar", "<alt+d>", "| bar"},
		"kill to the line start":     {"a\nbc|d", "<ctrl+u>", "a\n|d"},
		"kill the line feed before":  {"a\n|bc", "<ctrl+u>", "a|bc"},
		"kill to the line end":       {"a|bc\nd", "<ctrl+k>", "a|\nd"},
		"kill the line feed":         {"a|\nd", "<ctrl+k>", "a|d"},
		"yank":                       {"foo bar|", "<ctrl+w><ctrl+a><ctrl+y>", "bar|foo "},
		"yank several kills":         {"a b c|", "<ctrl+w><ctrl+w>x<ctrl+y>", "a xb c|"},
		"yank kills of both sides":   {"ab|cd", "<ctrl+k><ctrl+u><ctrl+y>", "abcd|"},
		"yank an older kill":         {"a b|", "<ctrl+w><left><ctrl+u><ctrl+y><alt+y>", "b| "},
		"yank in a circle":           {"a b|", "<ctrl+w><left><ctrl+u><ctrl+y><alt+y><alt+y>", "a| "},
		"no older kill without yank": {"a b|", "<ctrl+w><alt+y>", "a |"},
		"transpose":                  {"a|b", "<ctrl+t>", "ba|"},
		"transpose at the end":       {"abc|", "<ctrl+t>", "acb|"},
		"transpose one":              {"a\nb|", "<ctrl+t>", "a\nb|"},
		"upper case":                 {"a |foo bar", "<alt+u>", "a FOO| bar"},
		"lower case":                 {"|FOO", "<alt+l>", "foo|"},
		"capital":                    {"| foo", "<alt+c>", " Foo|"},
		"new lines":                  {"a|", "<alt+enter><shift+enter><ctrl+j>b", "a\n\n\nb|"},
		"backslash and enter":        {`a\|`, "<enter>b", "a\nb|"},
		"undo typed words":           {"|", "one two<ctrl+_>", "one |"},
		"undo all":                   {"|", "one two<ctrl+_><ctrl+_>", "|"},
		"undo backspaces as one":     {"abc|", "<backspace><backspace><ctrl+_>", "abc|"},
		"undo a kill":                {"a b|", "<ctrl+w><ctrl+_>", "a b|"},
		"undo a yank":                {"a b|", "<ctrl+w><ctrl+y><ctrl+_>", "a |"},
		"undo a paste alone":         {"|", "a«b c»d<ctrl+_><ctrl+_>", "a|"},
		"move divides typed text":    {"|", "ab<left>c<ctrl+_>", "a|b"},
		"redo":                       {"|", "one two<ctrl+_><ctrl+_><alt+_>", "one |"},
		"redo is lost by typing":     {"|", "one two<ctrl+_>x<alt+_>", "one x|"},
		"paste":                      {"|", "«a\r\nb\rc\x1b[31m\td\x00\u0085»", "a\nb\nc[31m\td|"},
		"invalid paste":              {"|", "«a\xff»", "a\ufffd|"},
	} {
		t.Run(name, func(t *testing.T) {
			e := New(false)
			load(e, tt.text)
			press(e, tt.keys)
			if got := marked(e); got != tt.want {
				t.Errorf("%q, keys %q: got %q, want %q", tt.text, tt.keys, got, tt.want)
			}
		})
	}
}

func TestClusters(t *testing.T) {
	for name, cluster := range map[string]string{
		"combining mark": "e\u0301", "emoji sequence": "👨‍👩‍👧‍👦", "flag": "🇩🇪",
		"skin": "👍🏽", "hangul": "각", "wide": "世", "devanagari": "क्षि",
		"variation": "☺️", "arabic": "لَ",
	} {
		t.Run(name, func(t *testing.T) {
			e := New(false)
			for _, tt := range []struct{ text, keys, want string }{
				{"a" + cluster + "|b", "<backspace>", "a|b"},
				{"a|" + cluster + "b", "<delete>", "a|b"},
				{"a" + cluster + "|b", "<left>", "a|" + cluster + "b"},
				{"a|" + cluster + "b", "<right>", "a" + cluster + "|b"},
				{"a" + cluster + "|", "<ctrl+t>", cluster + "a|"},
				{cluster + cluster + "|", "<backspace>", cluster + "|"},
			} {
				load(e, tt.text)
				press(e, tt.keys)
				if got := marked(e); got != tt.want {
					t.Errorf("%q, keys %q: got %q, want %q", tt.text, tt.keys, got, tt.want)
				}
			}
		})
	}
	e := New(false)
	load(e, "|\u0301")
	press(e, "e")
	if got := marked(e); got != "e\u0301|" {
		t.Errorf("letter before a combining mark: cursor inside a cluster: %q", got)
	}
}

// TestPressReports checks which keys are left to the caller.
func TestPressReports(t *testing.T) {
	for _, tt := range []struct {
		vi         bool
		text, keys string
		want       bool
	}{
		{false, "a|", "<enter>", false},
		{false, `\|`, "<enter>", true},
		{false, `\|a`, "<enter>", true},
		{false, `a\ |`, "<enter>", false},
		{false, "a|", "<esc>", false},
		{false, "a|", "<ctrl+c>", false},
		{false, "|", "<ctrl+d>", false},
		{false, "a|", "<ctrl+d>", true},
		{false, "a|", "<tab>", false},
		{false, "a|", "<shift+tab>", false},
		{false, "a|", "<ctrl+g>", false},
		{false, "a|", "<ctrl+l>", false},
		{false, "a|", "<pgup>", false},
		{false, "a|", "<up>", false},
		{false, "a|", "<down>", false},
		{false, "a\nb|", "<up>", true},
		{true, "a|", "<esc>", true},
		{true, "a|", "<enter>", false},
		{true, "|", "<ctrl+d>", false},
	} {
		e := New(tt.vi)
		load(e, tt.text)
		results := press(e, tt.keys)
		if got := results[len(results)-1]; got != tt.want {
			t.Errorf("vi %t, %q, key %s: got %t, want %t", tt.vi, tt.text, tt.keys, got, tt.want)
		}
	}
}

func TestLatinKeyOfOtherAlphabets(t *testing.T) {
	e := New(false)
	load(e, "ab|")
	e.Press(tea.KeyPressMsg{Code: 'ф', BaseCode: 'a', Mod: tea.ModCtrl})
	if got := marked(e); got != "|ab" {
		t.Errorf("ctrl with the Cyrillic key at the place of a: got %q", got)
	}
	e.Press(tea.KeyPressMsg{Code: 'e', BaseCode: 'd', Mod: tea.ModCtrl})
	if got := marked(e); got != "ab|" {
		t.Errorf("ctrl-e of a Latin keyboard with another order: got %q", got)
	}
}

func TestReplaceBefore(t *testing.T) {
	e := New(false)
	load(e, "see @ma|, ok")
	e.ReplaceBefore(3, "@main.go")
	if got := marked(e); got != "see @main.go|, ok" {
		t.Errorf("got %q", got)
	}
	press(e, "<ctrl+_>")
	if got := marked(e); got != "see @ma|, ok" {
		t.Errorf("undone: got %q", got)
	}
	e.ReplaceBefore(100, "")
	if got := marked(e); got != "|, ok" {
		t.Errorf("more than there is: got %q", got)
	}
}

func TestDraft(t *testing.T) {
	e := New(false)
	press(e, "one two")
	d := e.Draft()
	press(e, " three<ctrl+_><ctrl+_>x")
	e.SetDraft(Draft{})
	if got := e.Text(); got != "" {
		t.Errorf("zero draft: got %q", got)
	}
	press(e, "<ctrl+_>other")
	e.SetDraft(d)
	if got := marked(e); got != "one two|" {
		t.Errorf("brought back: got %q", got)
	}
	press(e, "<ctrl+_>")
	if got := marked(e); got != "one |" {
		t.Errorf("undo of the draft: got %q", got)
	}
	e.SetText("new")
	press(e, "<ctrl+_>")
	if got := marked(e); got != "one |" {
		t.Errorf("undo of SetText: got %q", got)
	}
}
