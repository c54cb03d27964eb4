package llm

import (
	"iter"
	"strings"
)

// WithoutEcho returns an answer without what it repeats of the preamble at its beginning: the text
// before the conversation and the line before the user's words. Small models begin so, and some write
// nothing else; the answer then is empty. Blanks and line feeds count as equal.
func WithoutEcho(req Request, answer iter.Seq2[Event, error]) iter.Seq2[Event, error] {
	sources := preambles(req)
	if len(sources) == 0 {
		return answer
	}
	return func(yield func(Event, error) bool) {
		held, decided := "", false
		for ev, err := range answer {
			switch {
			case decided:
			case err == nil && ev.Text != "":
				held += ev.Text
				if ev.Text, decided = withoutPreamble(sources, held); ev.Text == "" {
					continue
				}
			case held != "" && (err != nil || ev.IsContent()): // the answer is nothing but the preamble, or its beginning
				decided = true
				if len(oneBlank(held)) < minEcho && !yield(Event{Text: held}, nil) {
					return
				}
			}
			if !yield(ev, err) {
				return
			}
		}
	}
}

// minEcho is the length of the shortest beginning of the preamble that is left out, in bytes.
const minEcho = len("[mode: x")

// preamble is what precedes the user's words in a request, and that with the words. White space is one
// blank each.
type preamble struct{ before, all string }

// preambles returns what an answer may repeat: of the last prompt, and of the one before it that had no answer.
func preambles(req Request) (all []preamble) {
	for i := len(req.Messages) - 1; i >= 0 && req.Messages[i].Role == User; i-- {
		var prompt strings.Builder
		for _, b := range req.Messages[i].Blocks {
			if b.Result != nil {
				return all
			}
			prompt.WriteString(b.Text + "\n")
		}
		all = append(all, preamblesOf(req.Project, strings.TrimSpace(prompt.String()))...)
	}
	return all
}

// preamblesOf returns what an answer may repeat of a prompt.
func preamblesOf(project, text string) (all []preamble) {
	line := ""
	if strings.HasPrefix(text, "[") {
		line, _, _ = strings.Cut(text, "\n")
	}
	mark, _, _ := strings.Cut(line, "]")
	if mark != "" {
		mark += "]" // "[mode: code]" alone
	}
	for _, before := range []string{project + " " + line, project, line, mark} {
		if before = oneBlank(before); before != "" {
			words := text
			if !strings.HasPrefix(oneBlank(line), before) {
				words = project + " " + text
			}
			all = append(all, preamble{before, oneBlank(words)})
		}
	}
	return all
}

func oneBlank(text string) string { return strings.Join(strings.Fields(text), " ") }

// withoutPreamble returns the text of an answer after the preamble. It reports false while more text
// decides.
func withoutPreamble(sources []preamble, text string) (rest string, decided bool) {
	fields := oneBlank(text)
	for _, f := range sources {
		if strings.HasPrefix(f.all, fields) {
			return "", false
		}
	}
	for _, f := range sources {
		if words, ok := strings.CutPrefix(fields, f.before); ok && (words == "" || words[0] == ' ') {
			return afterFields(text, len(strings.Fields(f.before))), true
		}
	}
	return text, true
}

// afterFields returns a text without its first n fields.
func afterFields(text string, n int) string {
	for range n {
		text = strings.TrimLeft(text, " \t\r\n")
		if i := strings.IndexAny(text, " \t\r\n"); i >= 0 {
			text = text[i:]
		} else {
			text = ""
		}
	}
	return strings.TrimLeft(text, " \t\r\n")
}
