package redact

import (
	"bytes"
	_ "embed"
	"math"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// isRandom reports whether a value looks random: by its pairs of letters it
// is more likely drawn from an alphabet than a name or word of a program.
func isRandom(v []byte) bool {
	if isWhollyRandom(v) {
		return true
	}
	const long, name = 16, 40 // of a prefix: sqp_..., sk-or-v1-...
	from := len(v)
	for from > 0 && text.AlnumSet[v[from-1]] {
		from--
	}
	if from > 0 && v[from-1] != '_' && v[from-1] != '-' || from == 0 {
		for from = len(v); from > 0 && text.HexSet[v[from-1]]; {
			from--
		}
	}
	return len(v)-from >= long && from > 0 && from < name && isWhollyRandom(v[from:])
}

// isWhollyRandom reports whether the whole value looks random.
func isWhollyRandom(v []byte) bool {
	if len(v) < 8 {
		return false
	}
	least, odd := 4*evidenceUnit, 0 // evidence needed; each separator needs more
	for _, b := range v {
		if text.AlnumSet[b] {
			continue
		}
		least += 2 * evidenceUnit
		if bytes.IndexByte([]byte("!#$%^&*?~|+=@"), b) >= 0 {
			odd++
		}
	}
	return evidence(v) >= least || odd >= 3 && len(v) >= 12 && text.HasDigit(v)
}

// evidenceUnit is the unit of chance and letterCosts.
const evidenceUnit = 8

// evidence returns the evidence that a value was drawn from an alphabet and is
// not a name, in eighths of a bit.
func evidence(v []byte) int {
	size := alphabetSize(v)
	letter, digit := uniformCosts[size], uniformCosts[size]-uniformCosts[10]
	sum, before := 0, uint8(startSign)
	for i := 0; i < len(v); i++ {
		if before == startSign { // a number is not evidence
			i = text.DigitSet.SkipRun(v, i)
			if i == len(v) {
				break
			}
		}
		sign := signs[v[i]]
		switch {
		case sign == startSign:
		case sign == digitSign:
			sum += letterCost(before, sign) - digit
		default:
			sum += letterCost(before, sign) - letter
		}
		before = sign
	}
	return sum
}

// alphabetSize returns the size of the smallest alphabet that contains a value.
func alphabetSize(v []byte) int {
	upper, lower, digit, hex := 0, 0, 0, true
	for _, b := range v {
		switch {
		case text.DigitSet[b]:
			digit = 10
		case text.IsUpper(b):
			upper = 26
			hex = hex && b <= 'F'
		case text.AlnumSet[b]:
			lower = 26
			hex = hex && b <= 'f'
		}
	}
	if hex {
		return 6 + digit
	}
	return upper + lower + digit
}

// uniformCosts is the cost of a letter in an alphabet of each size.
var uniformCosts = func() (all [63]int) {
	for n := range all {
		all[n] = int(math.Round(math.Log2(float64(max(n, 1))) * evidenceUnit))
	}
	return all
}()

// Signs are numbered: small letters, capitals, a digit, and the start of a
// word.
const (
	digitSign = 52
	startSign = 53
	costsLine = startSign + 1 // bytes of a line of letterCosts
)

var signs = func() (all [256]uint8) {
	for b := range all {
		switch {
		case b >= 'a' && b <= 'z':
			all[b] = uint8(b - 'a')
		case b >= 'A' && b <= 'Z':
			all[b] = uint8(b-'A') + 26
		case b >= '0' && b <= '9':
			all[b] = digitSign
		default:
			all[b] = startSign
		}
	}
	return all
}()

func letterCost(before, sign uint8) int {
	return int(letterCosts[int(before)*costsLine+int(sign)]) - '#'
}

// letterCosts is the cost of a sign after another one in names and words. It has a line for each
// preceding sign; costs start at # and are in eighths of a bit. They were counted in 44,000 words from
// the sources of Go, Python, JavaScript and Rust libraries.
//
//go:embed letters.txt
var letterCosts string
