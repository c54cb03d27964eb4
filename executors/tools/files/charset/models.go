package charset

import (
	"strings"
	"sync"
)

// A model is a language in an encoding: it says how probable some content is. The encoding of the model that
// explains the content best wins, if it does so by a margin and nearly all characters are usual in it.
type model struct {
	name  string  // of the encoding
	rival bool    // the encoding is no answer, but must not be mistaken for another one
	rare  bool    // the encoding is met rarely
	sure  float64 // the share of usual characters that is needed
	read  func(text string) tally
}

const (
	// margin is by how much a model must be better than one that reads the text otherwise: a factor of 1,000.
	margin = 6.9
	// rarity is how much less probable a rare encoding is: a factor of 100.
	rarity = 4.6
	// maxScored is how many bytes of lines with characters beyond ASCII are scored.
	maxScored = 16 << 10
)

// best returns the encoding that explains the content best, nil if it is not sure.
func best(sample string) *Encoding {
	var part strings.Builder
	for line := range strings.Lines(sample) {
		if part.Len() < maxScored && !isASCII(line) {
			part.WriteString(line[:min(len(line), maxScored)])
		}
	}
	text := part.String()
	all := models()
	scores := make([]tally, len(all))
	win := 0
	for i, m := range all {
		if scores[i] = m.read(text); m.rare {
			scores[i].log -= rarity
		}
		if scores[i].log > scores[win].log {
			win = i
		}
	}
	winner, score := all[win], scores[win]
	if winner.rival || score.chars == 0 || float64(score.usual) < winner.sure*float64(score.chars) {
		return nil
	}
	e := Named(winner.name).For(sample)
	if e == nil || strings.Count(e.Decode(text), "\uFFFD")*200 > score.chars {
		return nil
	}
	decoded, distinct := e.Decode(text), distinctPairs(text)
	for i, m := range all {
		if (score.log-scores[i].log)*distinct >= margin || m.name == winner.name {
			continue
		}
		if other := lookup(m.name); other == nil || other.Decode(text) != decoded {
			return nil
		}
	}
	return e
}

// distinctPairs returns the share of pairs of bytes that are not repetitions. A repeated word proves no more
// than the word.
func distinctPairs(text string) float64 {
	seen := map[string]bool{}
	n := 1
	for i := range max(0, len(text)-1) {
		if pair := text[i : i+2]; !isASCII(pair) {
			seen[pair] = true
			n++
		}
	}
	return float64(len(seen)+1) / float64(n)
}

// tally is what a model says of the content.
type tally struct {
	log   float64 // logarithm of its probability
	chars int     // beyond ASCII
	usual int     // characters that are usual in the language
}

const (
	asciiChance   = 1. / 40 // of each byte, in each model
	invalidChance = 1e-9
)

// models returns all models. They are made for the first file that needs them.
var models = sync.OnceValue(func() []model {
	var all []model
	for _, c := range cells {
		all = append(all, model{c.name, false, false, .9, c.read})
	}
	add := func(name string, sure float64, read func(text string) tally) {
		rival, rare := strings.HasPrefix(name, "("), strings.HasPrefix(name, "((")
		all = append(all, model{strings.Trim(name, "()"), rival, rare, sure, read})
	}
	for _, a := range alphabets {
		for _, name := range strings.Fields(a.encodings) {
			add(name, .98, newScript(strings.Trim(name, "()"), a.letters).read)
		}
	}
	for _, l := range latins {
		for _, name := range strings.Fields(l.encodings) {
			add(name, .9, newLatin(strings.Trim(name, "()"), l.letters).read)
		}
	}
	return all
})
