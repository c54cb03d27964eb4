package redact

import "github.com/zeph-acp/zeph-acp/filter/text"

// nameClass is the probability that the value of a name is a credential, and the
// evidence that the value must show.
type nameClass uint8

const (
	otherName    nameClass = iota
	weakName               // may be a secret: the value must look random and be long
	tokenName              // the value must look random
	secretName             // the same, but the value may be shorter
	passwordName           // any value but a plain word
)

// nameClasses are the classes by their names in rules.toml.
var nameClasses = map[string]nameClass{"weak": weakName, "token": tokenName, "secret": secretName, "password": passwordName}

// maxName is the part of a name that is examined, in bytes.
const maxName = 80

// classifyName returns the class of a name. Its last word counts, as in
// DB_PASSWORD, apiKey and client-secret. Words before it can void that, as in
// publicKey.
func classifyName(name []byte) nameClass {
	if len(name) > maxName {
		name = name[len(name)-maxName:]
	}
	if !mayBeClassified(name) {
		return otherName
	}
	var w nameWords
	text.AppendLower(w.text[:0], name)
	w.split(name)
	for w.count > 1 && isQualifier(w.word(w.count-1)) {
		w.count--
	}
	if w.count == 0 {
		return otherName
	}
	before := w.count - 1 // number of words before the last
	last := w.word(before)
	noun := classifyNoun(last)
	for i := range before {
		word := w.word(i)
		if isWord(word, harmlessWord) && !(noun == passwordName && isWord(word, placeWord)) || i == before-1 && string(word) == "host" && string(last) == "key" {
			return otherName
		}
	}
	capitals := inCapitals(name)
	switch {
	case noun != otherName:
		return noun
	case string(last) == "pass", string(last) == "pw" && !capitals:
		return w.classifyPass(before, capitals)
	case string(last) == "pat" && before > 0 && isWord(w.word(before-1), forgeWord):
		return tokenName
	case string(last) == "ident" && before > 0 && string(w.word(before-1)) == "auth": // npmAuthIdent
		return secretName
	case string(last) == "pw" && before > 0:
		return passwordName
	case string(last) == "key":
		return w.classifyKey(before, capitals)
	}
	if capitals && !isWord(last, propertyWord) {
		for i := range before {
			if classifyNoun(w.word(i)) > weakName {
				return weakName
			}
		}
	}
	return otherName
}

// classifyPass returns the class of a name that ends in "pass" or "pw", by the
// number of words before that.
func (w *nameWords) classifyPass(before int, capitals bool) nameClass {
	for before > 1 && isQualifier(w.word(before-1)) { // RABBITMQ_DEFAULT_PASS
		before--
	}
	switch {
	case before == 0 && capitals: // also the result of a test
		return tokenName
	case before == 0:
		return secretName
	case before > 0 && isWord(w.word(before-1), accountWord):
		return passwordName
	}
	return otherName
}

// classifyKey returns the class of a name that ends in "key", by the number of words
// before that.
func (w *nameWords) classifyKey(before int, capitals bool) nameClass {
	for i := range before {
		if isWord(w.word(i), keyWord) {
			return secretName
		}
	}
	if before > 0 && (capitals || string(w.word(before-1)) == "primary" || string(w.word(before-1)) == "secondary") {
		return weakName
	}
	return otherName
}

// nameWords are the words of a name, in lower case.
type nameWords struct {
	text  [maxName]byte
	ends  [maxWords][2]uint8 // bounds of each word in text
	count int                // words
}

// maxWords limits the words of a name. The last ones count.
const maxWords = 16

func (w *nameWords) word(i int) []byte { return w.text[w.ends[i][0]:w.ends[i][1]] }

// split finds the words of a name.
func (w *nameWords) split(name []byte) {
	from := 0
	for i := 0; i <= len(name); i++ {
		ends := i == len(name) || !text.AlnumSet[name[i]]
		if !ends && (i == from || !beginsWord(name, i)) {
			continue
		}
		if i > from {
			if w.count == maxWords {
				copy(w.ends[:], w.ends[1:])
				w.count--
			}
			w.ends[w.count] = [2]uint8{uint8(from), uint8(i)}
			w.count++
		}
		from = i
		if ends {
			from++
		}
	}
}

// beginsWord reports whether a byte of a name begins a word, as the K of apiKey
// and APIKey does.
func beginsWord(name []byte, i int) bool {
	b, before := name[i], name[i-1]
	return text.DigitSet[b] != text.DigitSet[before] ||
		text.IsUpper(b) && (!text.IsUpper(before) || i+1 < len(name) && name[i+1] >= 'a' && name[i+1] <= 'z')
}

// inCapitals reports whether a name is in capitals, as in an environment.
func inCapitals(name []byte) bool {
	letters := 0
	for _, b := range name {
		if b >= 'a' && b <= 'z' {
			return false
		}
		if text.IsUpper(b) {
			letters++
		}
	}
	return letters >= 2
}

// isAccountPassword reports whether a name is the password of an account and not
// the label of a form.
func isAccountPassword(name []byte) bool {
	var w nameWords
	text.AppendLower(w.text[:0], name)
	w.split(name)
	return w.count > 1 && isWord(w.word(w.count-2), accountWord)
}

// classifyNoun returns the class of a name that ends in a word, by that word alone.
func classifyNoun(w []byte) nameClass {
	for class := passwordName; class > weakName; class-- {
		if isWord(w, nounWord<<class) {
			return class
		}
	}
	for class := passwordName; class > weakName; class-- {
		for _, end := range rules().Words[nounNames[class]+"-end"] {
			if len(w) > len(end) && string(w[len(w)-len(end):]) == end {
				return class
			}
		}
	}
	return otherName
}

// isQualifier reports whether a last word only qualifies the name before it.
func isQualifier(w []byte) bool { return text.DigitSet.All(w) || isWord(w, qualifierWord) }

// mayBeClassified reports whether a name may have a word that classifyName recognises. Most names
// have none.
func mayBeClassified(name []byte) bool {
	parts := &rules().nameParts
	for i := 1; i < len(name); i++ {
		third := byte(0)
		if i+1 < len(name) {
			third = name[i+1]
		}
		if parts[pairIndex(name[i-1], name[i])]>>(third&31)&1 != 0 {
			return true
		}
	}
	return false
}

// pairIndex is the same for both cases of a letter.
func pairIndex(a, b byte) int { return int(a&31)<<5 | int(b&31) }
