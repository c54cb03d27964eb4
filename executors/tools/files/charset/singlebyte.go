package charset

import (
	"math"
	"strings"
	"unicode"

	"golang.org/x/text/encoding/charmap"
)

// alphabet is the model of a script with an alphabet of its own, whose letters are in order of their frequency.
type alphabet struct{ encodings, letters string }

const (
	cyrillic = "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё"
	greek    = "αοιετσνηυρπκμλωςδγχθφβξζψέίόάήύώ"
)

// An encoding in parentheses is no answer, since another one differs from it in a letter. A rare one has two pairs.
var alphabets = []alphabet{
	{"windows-1251 koi8-r iso-8859-5 ((ibm866)) ((x-mac-cyrillic))", cyrillic},
	{"(windows-1253) (iso-8859-7) ((ibm737))", greek},
	{"(windows-1255)", "יוהלארתבשמנםעדחקפגכןצסזטךףץ"},
	{"(windows-1256)", "اليمنوترهبدسعفكقحجشصطخضذزثظغءآأئؤىة"},
	{"(windows-874)", "านรอกเงมยลวดทสตะปบคหแจพชขใไโผถศณซธษฐภฎฉญฝ่้ีิัื์"},
}

// script is an alphabet in an encoding.
type script struct {
	lower, upper [256]float64 // the share of each letter
	letter       [256]bool    // also of other languages
}

// lookup returns the encoding of a model. Browsers do not know all.
func lookup(name string) *Encoding {
	switch name {
	case "iso-8859-1":
		return windows1252()
	case "ibm850":
		return &Encoding{codec: charmap.CodePage850}
	case "ibm737": // the model needs only the case of letters and their order
		return nil
	}
	return Named(name)
}

// newScript returns the model of an alphabet in an encoding.
func newScript(name, letters string) *script {
	s := &script{}
	const fall = 9 // every ninth letter is a third as frequent
	e := lookup(name)
	if e == nil { // ibm737 begins with the capital letters
		for i := range 24 {
			s.upper[0x80+i], s.lower[0x98+i] = 1./24, 1./24
		}
		return s
	}
	for i := 0x80; i < 0x100; i++ {
		s.letter[i] = strings.IndexFunc(e.Decode(string([]byte{byte(i)})), unicode.IsLetter) == 0
	}
	rank := 0.
	for _, r := range letters {
		share := math.Exp(-rank/fall) / fall
		rank++
		for _, form := range []struct {
			letter string
			table  *[256]float64
		}{{string(r), &s.lower}, {strings.ToUpper(string(r)), &s.upper}} {
			if encoded, err := e.codec.NewEncoder().String(form.letter); err == nil && len(encoded) == 1 && encoded[0] >= 0x80 {
				form.table[encoded[0]] = share
			}
		}
	}
	if s.lower == s.upper { // no capital letters
		s.upper = [256]float64{}
	}
	return s
}

// read is the read function of a model. A word is in small letters, begins with a capital letter or has only these.
func (s *script) read(text string) tally {
	var t tally
	for i := range len(text) {
		c, before := text[i], at(text, i-1)
		if c < 0x80 {
			t.log += math.Log(asciiChance)
			continue
		}
		t.chars++
		chance := .00005
		switch {
		case s.lower[c] > 0:
			chance = max(.9*s.lower[c], .0005)
		case s.upper[c] > 0 && s.upper[before] > 0:
			chance = max(.9*s.upper[c], .0005)
		case s.upper[c] > 0 && s.lower[before] == 0:
			chance = max(.1*s.upper[c], .0004)
		}
		if s.lower[c] > 0 || s.upper[c] > 0 {
			t.usual++
		}
		after := at(text, i+1)
		if s.letter[c] && (isASCIILetter(before) || isASCIILetter(after)) { // no word has letters of two scripts
			chance /= 500
			t.usual -= min(t.usual, 1)
		}
		t.log += math.Log(chance)
	}
	return t
}

// at returns a byte of text, a space beyond its ends.
func at(text string, i int) byte {
	if i < 0 || i >= len(text) {
		return ' '
	}
	return text[i]
}

func isASCIILetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// latins are languages that add some letters to ASCII, the frequent ones first. See alphabets for the parentheses.
var latins = []struct{ encodings, letters string }{
	{"iso-8859-1", "äüößé"},                                      // German
	{"iso-8859-1", "éèàêçùôîâûëïœæ"},                             // French
	{"iso-8859-1", "óíáéúñ¿¡ü"},                                  // Spanish
	{"iso-8859-1", "ãçáéíóõêâàúôü"},                              // Portuguese
	{"iso-8859-1", "àèùòìéú"},                                    // Italian
	{"iso-8859-1", "äåöéü"},                                      // Swedish, Finnish
	{"iso-8859-1", "øåæéö"},                                      // Danish, Norwegian
	{"iso-8859-1", "íáðþæöéóúý"},                                 // Icelandic
	{"iso-8859-1", "àéèóíòçïúü"},                                 // Catalan
	{"iso-8859-1", "éëïèöüó"},                                    // Dutch
	{"windows-1250 iso-8859-2", "áíéěřýčžšůúťďňó"},               // Czech
	{"windows-1250 iso-8859-2", "áíéčžšýúťľňôäďóŕĺ"},             // Slovak
	{"windows-1250 iso-8859-2", "ąęółżśćńź"},                     // Polish
	{"windows-1250 iso-8859-2", "áéőöóüíúű"},                     // Hungarian
	{"windows-1250 iso-8859-2", "čšžćđ"},                         // Croatian, Slovene
	{"(windows-1250) (iso-8859-2)", "ăîâşţ"},                     // Romanian
	{"(windows-1254)", "ışğüöç"},                                 // Turkish
	{"((windows-1257)) ((iso-8859-13))", "ėįųšūžąčęāīēņļģķõäöü"}, // Baltic
	{"((iso-8859-3))", "ĉĝĥĵŝŭ"},                                 // Esperanto
	{"((iso-8859-14))", "ŵŷâêîôû"},                               // Welsh
	{"((macintosh))", "éèàêçùôäöüßáíóúñåøæ"},                     // any of the first ten
	{"((ibm850))", "éèàêçùôäöüßáíóúñåøæ"},
}

// latin is the model of such a language.
type latin struct {
	chance [256]float64 // of a letter in a word; 0: not a letter of the language
	letter [256]bool    // a letter of any language
	symbol [256]bool    // the same sign as in Windows-1252
}

// newLatin returns the model of a language in an encoding.
func newLatin(name, letters string) *latin {
	l := &latin{}
	e := lookup(name)
	for i, usual := 0x80, windows1252(); i < 0x100; i++ {
		char := e.Decode(string([]byte{byte(i)}))
		for _, r := range char {
			l.letter[i] = isLatinLetter(r)
		}
		l.symbol[i] = !l.letter[i] && char == usual.Decode(string([]byte{byte(i)}))
	}
	total, rank := 0., 0.
	weights := map[string]float64{}
	for _, r := range letters {
		rank++
		weights[string(r)] = 1 / rank
		total += 1 / rank
	}
	for letter, weight := range weights {
		for share, form := range map[float64]string{.75: letter, .06: strings.ToUpper(letter)} {
			if encoded, err := e.codec.NewEncoder().String(form); err == nil && len(encoded) == 1 && encoded[0] >= 0x80 {
				l.chance[encoded[0]] += share * weight / total
			}
		}
	}
	return l
}

func isLatinLetter(r rune) bool {
	return r >= 0xC0 && r <= 0x24F && r != '×' && r != '÷'
}

// read is the read function of a model.
func (l *latin) read(text string) tally {
	var t tally
	run := 0 // letters beyond ASCII before this byte
	for i := range len(text) {
		c := text[i]
		if c < 0x80 {
			t.log += math.Log(asciiChance)
			run = 0
			continue
		}
		t.chars++
		chance := .00001
		if l.letter[c] {
			run++
			chance = max(l.chance[c], .0005)
			inWord := isASCIILetter(at(text, i-1)) || isASCIILetter(at(text, i+1))
			switch {
			case run > 2:
				chance /= 200
			case !inWord:
				chance /= 10
			}
			if inWord && run <= 2 && l.chance[c] > 0 || l.chance[c] > 0 && run == 1 && at(text, i-1) < 0x80 && at(text, i+1) < 0x80 {
				t.usual++
			}
		} else {
			run = 0
			if p := symbolChance(at(text, i-1), c, at(text, i+1)); p > 0 && l.symbol[c] {
				chance = p
				t.usual++
			}
		}
		t.log += math.Log(chance)
	}
	return t
}

// symbolChance returns the probability of a symbol of Windows-1252 between two bytes, 0 if it is out of place. Most of these
// symbols have the same codes in other encodings of Windows.
func symbolChance(before, c, after byte) float64 {
	left, right := isWord(before), isWord(after)
	switch c {
	case 0xA9, 0xAE, 0xAB, 0xBB, 0xB0, 0xB5, 0xA7, 0xB7, 0xA0, 0xB1, 0xB2, 0xB3, 0xBF, 0xA1, 0xBA, 0xAA, 0xA3, 0xD7, 0x95, 0x99, 0x80:
		if !left || !right {
			return .01
		}
	case 0x92:
		if left {
			return .02
		}
	case 0x91, 0x93, 0x84, 0x82:
		if !left && right {
			return .01
		}
	case 0x94:
		if !right {
			return .01
		}
	case 0x96, 0x97, 0x85:
		if left == right || c == 0x85 {
			return .01
		}
	}
	return 0
}

// isWord reports whether a byte is a letter or a digit, or beyond ASCII.
func isWord(c byte) bool { return c >= 0x80 || isASCIILetter(c) || isDigit(c) }
