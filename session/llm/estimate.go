package llm

import (
	"unicode"
	"unicode/utf8"
)

// An estimator adds up the tokens of texts without a vocabulary. It divides a text as byte
// pair tokenizers do before they look at their vocabulary: words at changes of case, numbers,
// runs of punctuation, of blanks and of line feeds. The weights are fitted to o200k, cl100k,
// Claude's published vocabulary and Qwen's over code, prose, logs, JSON, Base64 and numbers.
type estimator struct {
	digit      int // weight of a digit, in hundredths of a token, as all weights
	number     int // weight of a run of digits
	hundredths int
}

const (
	wordWeight   = 110 // an ASCII word with up to commonWord letters
	letterWeight = 25  // a letter after them
	commonWord   = 6
	blankWeight  = 60 // the blank before a number; the one before a word belongs to it
	blanksWeight = 120
	punctWeight  = 65 // a run of punctuation
	longPunct    = 4  // another character in it
	linesWeight  = 40 // a run of line feeds
)

// scripts are the weights of a character of the scripts that are not ASCII.
var scripts = []struct {
	table  *unicode.RangeTable
	weight int
}{
	{unicode.Han, 60}, {unicode.Hiragana, 75}, {unicode.Katakana, 75}, {unicode.Hangul, 90},
	{unicode.L, 40}, {unicode.M, 40},
}

// otherWeight is the weight of any other character, such as an emoji.
const otherWeight = 100

func (e *estimator) tokens() int { return (e.hundredths + 99) / 100 }

// add adds the tokens of a text to e.
func add[T ~string | ~[]byte](e *estimator, text T) {
	for i := 0; i < len(text); {
		start := i
		c := classOf(text[i])
		switch c {
		case upperLetter, lowerLetter:
			i = wordEnd(text, i)
			e.hundredths += wordWeight + letterWeight*max(0, i-start-commonWord)
			continue
		case otherScript:
			r, size := utf8.DecodeRuneInString(string(text[i:min(i+utf8.UTFMax, len(text))]))
			i += size
			e.hundredths += scriptWeight(r)
			continue
		}
		for i < len(text) && classOf(text[i]) == c {
			i++
		}
		e.hundredths += e.run(c, i-start, start > 0 && text[start-1] == ' ')
	}
}

// run returns the weight of n characters of one class.
func (e *estimator) run(c class, n int, afterBlank bool) int {
	switch {
	case c == digit && afterBlank:
		return e.number + e.digit*n + blankWeight
	case c == digit:
		return e.number + e.digit*n
	case c == blank && n == 1:
		return 0
	case c == blank:
		return blanksWeight
	case c == lineFeed:
		return linesWeight
	}
	return punctWeight + longPunct*(n-1)
}

// wordEnd returns the end of the word at i: capitals, or a capital or none and small letters.
func wordEnd[T ~string | ~[]byte](text T, i int) int {
	start := i
	for i++; i < len(text); i++ {
		before, c := classOf(text[i-1]), classOf(text[i])
		switch {
		case c != upperLetter && c != lowerLetter, before == lowerLetter && c == upperLetter:
			return i
		case before == upperLetter && c == lowerLetter && i-start > 1:
			return i
		}
	}
	return i
}

func scriptWeight(r rune) int {
	for _, s := range scripts {
		if unicode.Is(s.table, r) {
			return s.weight
		}
	}
	return otherWeight
}

// A class says how tokenizers divide a text at a byte.
type class byte

const (
	punctuation class = iota
	upperLetter
	lowerLetter
	digit
	blank
	lineFeed
	otherScript
)

func classOf(b byte) class { return classes[b] }

var classes = func() (t [256]class) {
	for b := range t {
		switch {
		case b >= utf8.RuneSelf:
			t[b] = otherScript
		case 'A' <= b && b <= 'Z':
			t[b] = upperLetter
		case 'a' <= b && b <= 'z':
			t[b] = lowerLetter
		case '0' <= b && b <= '9':
			t[b] = digit
		case b == ' ' || b == '\t':
			t[b] = blank
		case b == '\n' || b == '\r':
			t[b] = lineFeed
		}
	}
	return t
}()
