package editor

import (
	"testing"

	tea "charm.land/bubbletea/v2"
)

func TestViKeys(t *testing.T) {
	for name, tt := range map[string]struct{ text, keys, want string }{
		"esc moves onto a character": {"ab|", "", "a|b"},
		"h and l":                    {"abc|", "hhlx", "a|c"},
		"l stays in the line":        {"a\nb|", "kll", "|a\nb"},
		"j and k":                    {"ab\ncd|", "kx", "|a\ncd"},
		"counts":                     {"abcdef|", "3hx", "ab|def"},
		"w":                          {"|foo.bar baz", "wx", "foo|bar baz"},
		"W":                          {"|foo.bar baz", "Wx", "foo.bar |az"},
		"w stops at an empty line":   {"|a\n\nb", "wix", "a\nx|\nb"},
		"e":                          {"|foo bar", "ee", "foo ba|r"},
		"E":                          {"|foo.a bar", "E", "foo.|a bar"},
		"b":                          {"foo bar|", "bb", "|foo bar"},
		"B":                          {"a foo.bar|", "B", "a |foo.bar"},
		"0 and $":                    {"  ab|", "0x$x", " |a"},
		"^":                          {"  ab|", "^x", "  |b"},
		"gg and G":                   {"a\nb\nc|", "ggxGx", "\nb\n|"},
		"G with a number":            {"a\nb\nc|", "2Gx", "a\n|\nc"},
		"f":                          {"|a,b,c", "f,x", "a|b,c"},
		"f with a count":             {"|a,b,c", "2f,x", "a,b|c"},
		"f without a match":          {"|abc", "fzx", "|bc"},
		"F":                          {"a,b,c|", "F,x", "a,b|c"},
		"t":                          {"|ab,c", "tc", "ab|,c"},
		"T":                          {"a,bc|", "T,x", "a,|c"},
		"; and ,":                    {"|a,b,c", "f,;x,x", "a|bc"},
		"; after t":                  {"|a,b,c", "t,;", "a,|b,c"},
		"X":                          {"abc|", "X", "a|c"},
		"s":                          {"|abc", "2sx", "x|c"},
		"S":                          {"a\nbc|", "Sx", "a\nx|"},
		"r":                          {"|abc", "2rx", "x|xc"},
		"r beyond the line":          {"|a\nb", "2rx", "|a\nb"},
		"r with a line feed":         {"|abc", "r<enter>", "\n|bc"},
		"~":                          {"|aBc", "3~", "Ab|C"},
		"J":                          {"|a\n  b\nc", "3J", "a b| c"},
		"J before a bracket":         {"|a(\n)", "J", "a(|)"},
		"i":                          {"ab|", "ix", "ax|b"},
		"i with a count":             {"|", "3iab<esc>", "ababa|b"},
		"a":                          {"ab|", "ax", "abx|"},
		"I":                          {"  ab|", "Ix", "  x|ab"},
		"A":                          {"|ab", "Ax", "abx|"},
		"o":                          {"|a\nb", "ox", "a\nx|\nb"},
		"O":                          {"a\nb|", "Ox", "a\nx|\nb"},
		"dw":                         {"|foo bar", "dw", "|bar"},
		"dw keeps the line feed":     {"|foo\nbar", "dw", "|\nbar"},
		"d2w":                        {"|a b c", "d2w", "|c"},
		"2dw":                        {"|a b c", "2dw", "|c"},
		"de":                         {"|foo bar", "de", "| bar"},
		"db":                         {"foo bar|", "db", "foo |r"},
		"d$":                         {"ab|c", "d$", "|a"},
		"d0":                         {"abc|", "d0", "|c"},
		"dd":                         {"a\nb|\nc", "dd", "a\n|c"},
		"dd of the last line":        {"a\nb|", "dd", "|a"},
		"dd of all":                  {"a|", "dd", "|"},
		"2dd":                        {"|a\nb\nc", "2dd", "|c"},
		"dj":                         {"|a\nb\nc", "dj", "|c"},
		"dk":                         {"a\nb\nc|", "dk", "|a"},
		"dj without a line":          {"a|", "dj", "|a"},
		"dG":                         {"a\nb|\nc", "dG", "|a"},
		"dgg":                        {"a\nb|\nc", "dgg", "|c"},
		"df":                         {"|a,bc", "df,", "|bc"},
		"dt":                         {"|a,bc", "dt,", "|,bc"},
		"dF":                         {"a,bc|", "dF,", "a|c"},
		"cw":                         {"|foo bar", "cwx", "x| bar"},
		"cw on the last character":   {"foo| bar", "cwx", "fox| bar"},
		"cw on a space":              {"foo | bar", "cwx", "foox|bar"},
		"cc":                         {"a\nbc|\nd", "ccx", "a\nx|\nd"},
		"C":                          {"|abc", "lCx", "ax|"},
		"D":                          {"|abc", "lD", "|a"},
		"yy and p":                   {"a|\nb", "yyp", "a\n|a\nb"},
		"Y and P":                    {"a\nb|", "YP", "a\n|b\nb"},
		"p with a count":             {"|a", "yy2p", "a\n|a\na"},
		"yw and P":                   {"|ab cd", "ywP", "ab| ab cd"},
		"y moves to the beginning":   {"ab cd|", "yb", "ab |cd"},
		"xp exchanges":               {"|ab", "xp", "b|a"},
		"u and ctrl-r":               {"|abc", "xxuu<ctrl+r>", "|bc"},
		"u of an insertion":          {"|", "ione two<backspace>x<esc>u", "|"},
		"u of cw":                    {"|foo bar", "cwa b<esc>u", "|foo bar"},
		"dot repeats x":              {"|abcd", "x2.", "|d"},
		"dot repeats cw":             {"|a b c", "cwxy<esc>w.", "xy x|y c"},
		"dot repeats A":              {"|a\nb", "Ax<esc>j.", "ax\nb|x"},
		"dot repeats a paste":        {"|a", "A«xy»<esc>.", "axyx|y"},
		"dot after an empty cw":      {"|a b c d", "cwx<esc>wcw<esc>w.", "x |  d"},
		"no text for a count":        {"|a", "3ix<esc>3i<esc>", "x|xxa"},
		"dot repeats a count":        {"|", "2ix<esc>A-<esc>.", "xx-|-"},
		"dot keeps its text":         {"|", "ix<esc>..", "|xxx"},
		"u returns to the change":    {`|a "b"`, `ci"x<esc>u`, `a "|b"`},
		"diw":                        {"foo ba|r", "diw", "foo| "},
		"daw":                        {"foo ba|r baz", "daw", "foo |baz"},
		"daw at the end":             {"foo bar|", "daw", "fo|o"},
		"ciW":                        {"a foo.bar|", "ciWx", "a x|"},
		`di"`:                        {`a "b| c" d`, `di"`, `a "|" d`},
		`ci" before it`:              {`|a "b"`, `ci"x`, `a "x|"`},
		`da"`:                        {`a "b|" c`, `da"`, `a | c`},
		"di(":                        {"f(a, (|b))", "di(", "f(a, (|))"},
		"di( outside":                {"f(a|, (b))", "di(", "f(|)"},
		"da)":                        {"f(a|)", "da)", "|f"},
		"ci{ over lines":             {"{\na|\n}", "ci{x", "{x|}"},
		"unknown keys do nothing":    {"ab|", "dqzx", "|a"},
		"esc ends a command":         {"ab|", "d<esc>x", "|a"},
		"alt is esc and a key":       {"abc|", "a<alt+b>x", "|bc"},
		"arrows":                     {"abc|", "<left><left>x", "|bc"},
		"backspace moves":            {"abc|", "<backspace>x", "a|c"},
		"over clusters":              {"e\u0301e\u0301|", "hx", "|e\u0301"},
	} {
		t.Run(name, func(t *testing.T) {
			e := New(true)
			load(e, tt.text)
			press(e, "<esc>")
			press(e, tt.keys)
			if got := marked(e); got != tt.want {
				t.Errorf("%q, keys %q: got %q, want %q", tt.text, tt.keys, got, tt.want)
			}
		})
	}
}

func TestViMode(t *testing.T) {
	e := New(true)
	e.SetHistory([]string{"old", "new"})
	for _, tt := range []struct{ keys, mode, want string }{
		{"ab", "insert", "ab|"},
		{"<esc>", "normal", "a|b"},
		{"k", "normal", "ne|w"},
		{"k", "normal", "ol|d"},
		{"jj", "normal", "a|b"},
		{"/ne<enter>", "normal", "ne|w"},
		{"A<ctrl+r>ol<enter>x", "insert", "oldx|"},
	} {
		press(e, tt.keys)
		if e.Mode() != tt.mode || marked(e) != tt.want {
			t.Errorf("after %q: mode %q, text %q, want %q and %q", tt.keys, e.Mode(), marked(e), tt.mode, tt.want)
		}
	}
	press(e, "<esc>")
	e.SetDraft(Draft{})
	if e.Mode() != "insert" {
		t.Errorf("a new prompt begins in mode %q", e.Mode())
	}
	if got := New(false).Mode(); got != "" {
		t.Errorf("emacs keys: mode %q", got)
	}
}

func TestViAltWithNumLock(t *testing.T) {
	e := New(true)
	press(e, "ab")
	e.Press(tea.KeyPressMsg{Code: 'x', Mod: tea.ModAlt | tea.ModNumLock})
	if got := marked(e); got != "|a" {
		t.Errorf("Alt-X with num lock: got %q, want Esc and x", got)
	}
}
