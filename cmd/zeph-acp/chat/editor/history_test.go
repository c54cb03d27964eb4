package editor

import "testing"

func TestWalk(t *testing.T) {
	for name, tt := range map[string]struct{ text, keys, want string }{
		"latest":                    {"|", "<up>", "last|"},
		"older":                     {"|", "<up><up>", "two\nlines|"},
		"on through several lines":  {"|", "<up><up><up>", "first|"},
		"stays at the oldest":       {"|", "<up><up><up><up>", "first|"},
		"back to the draft":         {"dra|ft", "<up><up><down><down>", "dra|ft"},
		"changed entries stay":      {"|", "<up>x<up><down>", "lastx|"},
		"another key ends the walk": {"|", "<up><up><left><up>", "two|\nlines"},
		"first within the text":     {"a\nb|", "<up>", "a|\nb"},
		"then the history":          {"a\nb|", "<up><up>", "last|"},
		"undo of the draft remains": {"|", "ab cd<up><down><ctrl+_>", "ab |"},
		"same text is skipped":      {"last|", "<up>", "two\nlines|"},
		"ctrl-p":                    {"|", "<ctrl+p><ctrl+p><ctrl+n>", "last|"},
	} {
		t.Run(name, func(t *testing.T) {
			e := New(false)
			e.SetHistory([]string{"first", "two\nlines", "last"})
			load(e, tt.text)
			press(e, tt.keys)
			if got := marked(e); got != tt.want {
				t.Errorf("%q, keys %q: got %q, want %q", tt.text, tt.keys, got, tt.want)
			}
		})
	}
}

func TestAddHistory(t *testing.T) {
	e := New(false)
	for _, p := range []string{"a", "", "b", "b"} {
		e.AddHistory(p)
	}
	press(e, "<up><up>")
	if got := e.Text(); got != "a" {
		t.Errorf("empty and repeated prompts: second entry is %q, want %q", got, "a")
	}
	e.AddHistory("c")
	e.SetDraft(Draft{})
	press(e, "<up>")
	if got := e.Text(); got != "c" {
		t.Errorf("after AddHistory in a walk: got %q, want %q", got, "c")
	}
}

func TestSearch(t *testing.T) {
	for name, tt := range map[string]struct {
		keys, query, found string
		on                 bool
		want               string
	}{
		"begins":                 {"<ctrl+r>", "", "", true, "draft|"},
		"finds the latest":       {"<ctrl+r>fix", "fix", "fix b", true, "draft|"},
		"goes back":              {"<ctrl+r>fix<ctrl+r>", "fix", "Fix a", true, "draft|"},
		"stays at the oldest":    {"<ctrl+r>fix<ctrl+r><ctrl+r>", "fix", "Fix a", true, "draft|"},
		"goes forward":           {"<ctrl+r>fix<ctrl+r><ctrl+s>", "fix", "fix b", true, "draft|"},
		"narrows where it is":    {"<ctrl+r>fix<ctrl+r> ", "fix ", "Fix a", true, "draft|"},
		"capital letters":        {"<ctrl+r>Fix", "Fix", "Fix a", true, "draft|"},
		"nothing":                {"<ctrl+r>zzz", "zzz", "", true, "draft|"},
		"backspace":              {"<ctrl+r>fixz<backspace>", "fix", "fix b", true, "draft|"},
		"paste":                  {"<ctrl+r>«run\ntests»", "run tests", "run tests", true, "draft|"},
		"enter takes it":         {"<ctrl+r>fix<enter>", "", "", false, "fix b|"},
		"enter without a find":   {"<ctrl+r>zzz<enter>", "", "", false, "draft|"},
		"esc returns the draft":  {"<ctrl+r>fix<esc>", "", "", false, "draft|"},
		"ctrl-g too":             {"<ctrl+r>fix<ctrl+g>", "", "", false, "draft|"},
		"ctrl-c too":             {"<ctrl+r>fix<ctrl+c>", "", "", false, "draft|"},
		"a move takes it":        {"<ctrl+r>fix<ctrl+a>", "", "", false, "|fix b"},
		"the draft stays below":  {"<ctrl+r>fix<enter><down><down>", "", "", false, "draft|"},
		"the last query":         {"<ctrl+r>fix<esc><ctrl+r><ctrl+r>", "fix", "fix b", true, "draft|"},
		"pgup is not the search": {"<ctrl+r>fix<pgup>", "fix", "fix b", true, "draft|"},
	} {
		t.Run(name, func(t *testing.T) {
			e := New(false)
			e.SetHistory([]string{"Fix a", "fix b", "run tests"})
			load(e, "draft|")
			press(e, tt.keys)
			query, found, on := e.Search()
			if query != tt.query || found != tt.found || on != tt.on || marked(e) != tt.want {
				t.Errorf("keys %q: got %q, %q, %t and text %q", tt.keys, query, found, on, marked(e))
			}
		})
	}
}
