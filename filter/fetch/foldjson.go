package fetch

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/zeph-acp/zeph-acp/filter/text"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// Limits of folding JSON.
const (
	minItems        = 8    // items of an array
	minMembers      = 30   // members of an object whose values are objects
	maxEnumValues   = 8    // different values of a field that distinguishes items
	maxNovelItems   = 60   // items kept of one array for their texts, and as many for other reasons
	maxStringLength = 2000 // bytes of a string
	maxNesting      = 200
	maxFields       = 64 // fields of an object that are distinguished
	minPlainValues  = 100
)

// similarItems occurs in the mark that replaces removed items.
const similarItems = " similar items omitted"

func similarItemsMark(n int, ranges string) []byte {
	return fmt.Appendf(nil, "... (%d%s%s) ...", n, similarItems, ranges)
}

// foldJSON removes the items of arrays that resemble others: those without a
// new field, and without a new value of a field that has few values. The rest
// stays as written.
func foldJSON(body []byte) (short []byte, ok bool) { return foldItems(body, false) }

// foldLists is foldJSON for lists whose items should stay complete: arrays within items
// are shortened only if they are long.
func foldLists(body []byte) (short []byte, ok bool) { return foldItems(body, true) }

func foldItems(body []byte, wholeItems bool) (short []byte, ok bool) {
	trimmed := bytes.TrimSpace(body)
	if len(trimmed) < 400 || trimmed[0] != '[' && trimmed[0] != '{' {
		return nil, false
	}
	if bytes.Contains(trimmed, []byte(text.ShortenedMark)) { // the missing part may have been invalid
		return nil, false
	}
	j := jsonFold{text: body, wholeItems: wholeItems, fields: make([]jsonField, 1, 64)}
	end, ok := j.parse(j.skipBlanks(0), 0, 0)
	if ok && j.skipBlanks(end) < len(body) {
		j, ok = jsonSequence(body, wholeItems)
	}
	if !ok {
		return nil, false
	}
	j.fold(0, false)
	out := make([]byte, 0, len(body))
	last := len(j.text) - len(body) // the bracket of a sequence
	for _, e := range j.edits {
		out = append(append(out, j.text[last:e.from]...), e.replacement...)
		last = e.to
	}
	return append(out, j.text[last:]...), len(j.edits) > 0
}

// jsonSequence parses consecutive objects and arrays, one per line or as jq
// writes them. They become the items of an array.
func jsonSequence(body []byte, wholeItems bool) (jsonFold, bool) {
	j := jsonFold{text: slices.Concat([]byte{'['}, body), wholeItems: wholeItems, fields: make([]jsonField, 1, 64)}
	j.values = append(j.values, jsonValue{to: len(j.text)})
	item := j.field(0, nil, 0)
	for at := j.skipBlanks(1); at < len(j.text); at = j.skipBlanks(at) {
		ok := j.text[at] == '{' || j.text[at] == '['
		if ok {
			at, ok = j.parse(at, item, 1)
		}
		if !ok {
			return j, false
		}
	}
	j.values[0].next = len(j.values)
	return j, true
}

// jsonFold is a JSON text and the parts to remove.
type jsonFold struct {
	text        []byte
	wholeItems  bool // see foldLists
	values      []jsonValue
	fields      []jsonField
	edits       []jsonEdit // in the order of the text
	arrayNumber int        // counts the arrays that were folded, with the current one
}

// jsonValue is a value of the text. Its contents follow it in jsonFold.values.
type jsonValue struct {
	key      int // where its key begins in the text; from if it has no key
	from, to int // where it begins and ends
	next     int // index of the value after its contents
	field    int // index of its field
}

// jsonField is a place of values, such as a key. All items of an array share it.
type jsonField struct {
	key     []byte
	fields  []int    // indices of the fields within it
	values  [][]byte // different values, at most one more than maxEnumValues
	shownIn int      // number of the array to which shown belongs
	shown   [][]byte // values in the items that stay
}

// jsonEdit replaces a part of the text.
type jsonEdit struct {
	from, to    int
	replacement []byte
}

// skipBlanks returns the end of the blanks that begin at at.
func (j *jsonFold) skipBlanks(at int) int {
	for at < len(j.text) && (j.text[at] == ' ' || j.text[at] == '\n' || j.text[at] == '\t' || j.text[at] == '\r') {
		at++
	}
	return at
}

// parse parses the value of a field that begins at at.
func (j *jsonFold) parse(at, field, depth int) (end int, ok bool) {
	if at >= len(j.text) || depth > maxNesting {
		return 0, false
	}
	n := len(j.values)
	j.values = append(j.values, jsonValue{key: at, from: at, field: field})
	switch b := j.text[at]; b {
	case '"':
		end, ok = j.stringEnd(at)
	case '{', '[':
		end, ok = j.parseMembers(at, field, depth)
	default:
		end = at
		for end < len(j.text) && (text.Class[j.text[end]] != 0 || j.text[end] == '-' || j.text[end] == '+' || j.text[end] == '.') {
			end++
		}
		ok = end > at
	}
	if !ok {
		return 0, false
	}
	j.values[n].to, j.values[n].next = end, len(j.values)
	j.countValue(n)
	return end, true
}

// countValue adds a value to the distinct values of its field.
func (j *jsonFold) countValue(n int) {
	v := j.values[n]
	f, value := &j.fields[v.field], j.text[v.from:v.to]
	if value[0] != '{' && value[0] != '[' && len(f.values) <= maxEnumValues && !containsValue(f.values, value) {
		f.values = append(f.values, value)
	}
}

// containsValue is slices.Contains for byte slices.
func containsValue(list [][]byte, value []byte) bool {
	for _, t := range list {
		if bytes.Equal(t, value) {
			return true
		}
	}
	return false
}

// stringEnd returns the end of the string that begins at at.
func (j *jsonFold) stringEnd(at int) (end int, ok bool) {
	for end = at + 1; end < len(j.text); end++ {
		switch j.text[end] {
		case '\\':
			end++
		case '"':
			return end + 1, true
		}
	}
	return 0, false
}

// parseMembers parses the contents of the array or object that begins at at.
func (j *jsonFold) parseMembers(at, field, depth int) (end int, ok bool) {
	object := j.text[at] == '{'
	closing := byte(']')
	if object {
		closing = '}'
	}
	if at = j.skipBlanks(at + 1); at < len(j.text) && j.text[at] == closing {
		return at + 1, true
	}
	for turn := 0; ; turn++ {
		key, in, value := at, field, len(j.values)
		if object {
			if at >= len(j.text) || j.text[at] != '"' {
				return 0, false
			}
			if at, ok = j.stringEnd(at); !ok {
				return 0, false
			}
			in = j.field(field, j.text[key+1:at-1], turn)
			if at = j.skipBlanks(at); at >= len(j.text) || j.text[at] != ':' {
				return 0, false
			}
			at = j.skipBlanks(at + 1)
		} else {
			in = j.field(field, nil, 0)
		}
		if at, ok = j.parse(at, in, depth+1); !ok {
			return 0, false
		}
		j.values[value].key = key
		switch at = j.skipBlanks(at); {
		case at >= len(j.text):
			return 0, false
		case j.text[at] == closing:
			return at + 1, true
		case j.text[at] != ',':
			return 0, false
		}
		at = j.skipBlanks(at + 1)
	}
}

// field returns the index of the field of a key within a parent field. turn is its
// likely place there. Keys after maxFields share the last field.
func (j *jsonFold) field(parent int, key []byte, turn int) int {
	in := j.fields[parent].fields
	if turn < len(in) && bytes.Equal(j.fields[in[turn]].key, key) {
		return in[turn]
	}
	for _, f := range in {
		if bytes.Equal(j.fields[f].key, key) {
			return f
		}
	}
	if len(in) >= maxFields {
		return in[maxFields-1]
	}
	j.fields = append(j.fields, jsonField{key: key})
	j.fields[parent].fields = append(in, len(j.fields)-1)
	return len(j.fields) - 1
}

// fold folds value n. inItem reports that it is within an item of an array.
func (j *jsonFold) fold(n int, inItem bool) {
	v := j.values[n]
	switch j.text[v.from] {
	case '"':
		if v.to-v.from > maxStringLength && !j.wholeItems {
			head := v.from + len(text.Prefix(j.text[v.from:], maxStringLength/2))
			for j.text[head-1] == '\\' {
				head--
			}
			j.edits = append(j.edits, jsonEdit{head, v.to - 1, fmt.Appendf(nil, " ... (%s omitted) ...", quantity.Count(v.to-1-head, "byte"))})
		}
		return
	case '{', '[':
	default:
		return
	}
	var keep []bool
	if !j.wholeItems || !inItem || v.to-v.from >= minList {
		keep = j.keptItems(n)
	}
	i, omitted, from, to := 0, 0, 0, 0
	var ranges numberRanges // of the omitted items
	cut := func() {
		if omitted == 0 {
			return
		}
		if next := j.skipBlanks(to); next < len(j.text) && j.text[next] == ',' {
			to = next + 1
		}
		j.edits = append(j.edits, jsonEdit{from, to, similarItemsMark(omitted, ranges.String())})
		omitted, ranges = 0, numberRanges{}
	}
	for c := n + 1; c < v.next; c = j.values[c].next {
		if keep == nil || keep[i] {
			cut()
			if keep == nil || !j.wholeItems {
				j.fold(c, inItem || j.text[v.from] == '[')
			}
		} else {
			if omitted == 0 {
				from = j.values[c].key
			}
			omitted++
			to = j.values[c].to
			ranges.add(j, c)
		}
		i++
	}
	cut()
}

// keptItems reports for each item of value n whether it stays. nil means that all do.
func (j *jsonFold) keptItems(n int) []bool {
	v := j.values[n]
	count, nested := 0, 0
	for c := n + 1; c < v.next; c = j.values[c].next {
		count++
		if b := j.text[j.values[c].from]; b == '{' || b == '[' {
			nested++
		}
	}
	object := j.text[v.from] == '{'
	switch {
	case count < minItems || object && count < minMembers:
		return nil
	case nested*2 < count && (object || count < minPlainValues):
		return nil
	case nested*2 < count: // plain values
		keep := make([]bool, count)
		for i := range keep {
			keep[i] = i < minPlainValues/2 || i >= count-5
		}
		return keep
	}
	if object { // a map: all its values share a field
		j.fields = append(j.fields, jsonField{})
		field := len(j.fields) - 1
		for c := n + 1; c < v.next; c = j.values[c].next {
			j.assignField(c, field)
		}
	}
	j.arrayNumber++
	keep := make([]bool, count)
	i, kept := 0, 0
	for c := n + 1; c < v.next; c = j.values[c].next {
		novel := j.isNovel(c, count, kept) || i == 0 || object && i < maxNovelItems
		if novel && kept < 2*maxNovelItems || i == count-1 {
			keep[i] = true
			kept++
		}
		i++
	}
	if kept == count {
		return nil
	}
	return keep
}

// assignField assigns a value and its contents to another field.
func (j *jsonFold) assignField(n, field int) {
	v := &j.values[n]
	v.field = field
	j.countValue(n)
	object := j.text[v.from] == '{'
	for c, turn := n+1, 0; c < v.next; c, turn = j.values[c].next, turn+1 {
		var key []byte
		if object {
			from := j.values[c].key
			end, _ := j.stringEnd(from)
			key = j.text[from+1 : end-1]
		}
		j.assignField(c, j.field(field, key, turn))
	}
}

// isNovel reports whether an item has a field or a value that the items before lack. The
// array has count items, and kept of those before this one stay.
func (j *jsonFold) isNovel(item, count, kept int) (novel bool) {
	for n := item; n < j.values[item].next; n++ {
		v := j.values[n]
		f := &j.fields[v.field]
		if f.shownIn != j.arrayNumber {
			f.shownIn, f.shown = j.arrayNumber, f.shown[:0]
		}
		value := j.text[v.from:v.to]
		switch b := value[0]; {
		case b == '{' || b == '[':
			value = value[:1]
			if v.next == n+1 { // empty
				value = []byte{b, b}
			}
		case len(f.values) <= maxEnumValues && len(f.values)*3 <= count:
		case b == '"' && len(value) > 2 && kept < maxNovelItems && text.Important(value):
			value = text.Normalize(nil, value)
		case b == '-':
			value = value[:1]
		case b == '"' && len(value) > 2, text.Class[b] == text.Digit && string(value) != "0":
			value = []byte{'*'}
		}
		if !containsValue(f.shown, value) {
			f.shown = append(f.shown, value)
			novel = true
		}
	}
	return novel
}
