package charset

import "math"

// cell is a rectangle of two-byte codes with the share that its characters have in running text.
type cell struct {
	first, last           byte // of the first byte
	trailFirst, trailLast byte
	share                 float64
	usual                 bool
}

// grid is the model of a language in an encoding of two bytes.
type grid struct {
	name   string
	cells  []cell                // the first that has a code decides
	single func(byte) float64    // the share of a single byte beyond ASCII; nil: no such bytes
	long   func(text string) int // the length of a code of more bytes; nil: no such codes
	trail  func(byte) bool       // of valid codes
	lead   func(byte) bool
}

const (
	rareShare = 0.001 // of all other valid codes
	rareCells = 10_000
)

// The shares in running text, rounded.
var cells = []grid{
	{
		name: "shift_jis",
		cells: []cell{
			{0x82, 0x82, 0x9F, 0xF1, .42, true},    // hiragana
			{0x83, 0x83, 0x40, 0x96, .15, true},    // katakana
			{0x81, 0x81, 0x40, 0x7E, .08, true},    // punctuation
			{0x81, 0x81, 0x80, 0xFC, .01, true},    // symbols
			{0x82, 0x82, 0x4F, 0x9A, .03, true},    // wide letters and digits
			{0x88, 0x88, 0x9F, 0xFC, .01, true},    // frequent kanji
			{0x89, 0x97, 0x40, 0xFC, .29, true},    //
			{0x98, 0x98, 0x40, 0x72, .005, true},   //
			{0x98, 0x9F, 0x40, 0xFC, .002, false},  // other kanji
			{0xE0, 0xEA, 0x40, 0xFC, .002, false},  //
			{0x84, 0x84, 0x40, 0xBE, .001, false},  // Cyrillic letters and boxes
			{0x87, 0x87, 0x40, 0x9C, .001, true},   // circled digits
			{0xED, 0xEE, 0x40, 0xFC, 0.001, false}, // characters of vendors
			{0xFA, 0xFC, 0x40, 0xFC, 0.001, false}, //
		},
		lead:  func(c byte) bool { return c >= 0x81 && c <= 0x9F || c >= 0xE0 && c <= 0xFC },
		trail: func(c byte) bool { return c >= 0x40 && c <= 0x7E || c >= 0x80 && c <= 0xFC },
		single: func(c byte) float64 {
			if c >= 0xA1 && c <= 0xDF { // narrow katakana
				return .005 / 63
			}
			return 0
		},
	},
	{
		name: "euc-jp",
		cells: []cell{
			{0xA4, 0xA4, 0xA1, 0xF3, .42, true},
			{0xA5, 0xA5, 0xA1, 0xF6, .15, true},
			{0xA1, 0xA1, 0xA1, 0xFE, .09, true},
			{0xA3, 0xA3, 0xB0, 0xFA, .03, true},
			{0xB0, 0xCF, 0xA1, 0xFE, .30, true},
			{0xD0, 0xF4, 0xA1, 0xFE, .004, false},
			{0xAD, 0xAD, 0xA1, 0xFE, .001, true},
		},
		lead: isHigh94, trail: isHigh94,
		long: func(text string) int {
			switch {
			case len(text) > 1 && text[0] == 0x8E && text[1] >= 0xA1 && text[1] <= 0xDF:
				return 2
			case len(text) > 2 && text[0] == 0x8F && isHigh94(text[1]) && isHigh94(text[2]):
				return 3
			}
			return 0
		},
	},
	{
		name: "gbk",
		cells: []cell{
			{0xB0, 0xD7, 0xA1, 0xFE, .84, true}, // frequent characters
			{0xA1, 0xA1, 0xA1, 0xBF, .08, true}, // punctuation
			{0xA1, 0xA1, 0xC0, 0xFE, .002, false},
			{0xA3, 0xA3, 0xA1, 0xFE, .05, true}, // wide ASCII
			{0xD8, 0xF7, 0xA1, 0xFE, .025, false},
			{0xA2, 0xA2, 0xA1, 0xFE, .001, true},
			{0xA4, 0xA9, 0xA1, 0xFE, .001, false},
		},
		lead:  func(c byte) bool { return c >= 0x81 && c <= 0xFE },
		trail: func(c byte) bool { return c >= 0x40 && c <= 0xFE && c != 0x7F },
		single: func(c byte) float64 {
			if c == 0x80 {
				return 1e-5
			}
			return 0
		},
		long: func(text string) int {
			if len(text) > 3 && text[0] >= 0x81 && text[0] <= 0xFE && isDigit(text[1]) && text[2] >= 0x81 && text[2] <= 0xFE && isDigit(text[3]) {
				return 4
			}
			return 0
		},
	},
	{
		name: "big5",
		cells: []cell{
			{0xA4, 0xC5, 0x40, 0xFE, .86, true},
			{0xC6, 0xC6, 0x40, 0x7E, .005, true},
			{0xA1, 0xA1, 0x40, 0xFE, .10, true},
			{0xA2, 0xA3, 0x40, 0xFE, .005, true},
			{0xC9, 0xF9, 0x40, 0xFE, .02, false},
		},
		lead:  func(c byte) bool { return c >= 0x81 && c <= 0xFE },
		trail: func(c byte) bool { return c >= 0x40 && c <= 0x7E || c >= 0xA1 && c <= 0xFE },
	},
	{
		name: "euc-kr",
		cells: []cell{
			{0xB0, 0xC8, 0xA1, 0xFE, .95, true}, // hangul
			{0xA1, 0xA1, 0xA1, 0xBD, .02, true},
			{0xA1, 0xA1, 0xBE, 0xFE, .003, true},
			{0xA3, 0xA3, 0xA1, 0xFE, .004, true},
			{0xA2, 0xA9, 0xA1, 0xFE, .002, true},
			{0xCA, 0xFD, 0xA1, 0xFE, .01, false},  // hanja
			{0x81, 0xA0, 0x41, 0xFE, .003, false}, // rare hangul
			{0xA1, 0xC6, 0x41, 0xA0, .002, false},
		},
		lead:  func(c byte) bool { return c >= 0x81 && c <= 0xFE },
		trail: func(c byte) bool { return c >= 0x41 && c <= 0x5A || c >= 0x61 && c <= 0x7A || c >= 0x81 && c <= 0xFE },
	},
}

// isHigh94 reports whether a byte is in the upper half of a code of 94 × 94 characters.
func isHigh94(c byte) bool { return c >= 0xA1 && c <= 0xFE }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// read is the read function of a model.
func (g grid) read(text string) tally {
	var t tally
	for i := 0; i < len(text); {
		c := text[i]
		if c < 0x80 {
			t.log += math.Log(asciiChance)
			i++
			continue
		}
		t.chars++
		size, chance, usual := g.code(text[i:])
		if size == 1 && chance > invalidChance && at(text, i-1) < 0x80 && at(text, i+1) < 0x80 {
			chance /= 100 // such characters form words
		}
		t.log += math.Log(chance)
		if usual {
			t.usual++
		}
		i += size
	}
	return t
}

// code returns the length, the probability and the kind of the first code.
func (g grid) code(text string) (size int, chance float64, usual bool) {
	if g.long != nil {
		if n := g.long(text); n > 0 {
			return n, rareShare / rareCells, false
		}
	}
	if g.single != nil {
		if p := g.single(text[0]); p > 0 {
			return 1, p, false
		}
	}
	if len(text) < 2 || !g.lead(text[0]) || !g.trail(text[1]) {
		return 1, invalidChance, false
	}
	for _, c := range g.cells {
		if text[0] >= c.first && text[0] <= c.last && text[1] >= c.trailFirst && text[1] <= c.trailLast {
			return 2, c.share / (float64(c.last-c.first+1) * float64(c.trailLast-c.trailFirst+1)), c.usual
		}
	}
	return 2, rareShare / rareCells, false
}
