package fetch

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// Limits of folding JSON.
const (
	minItems   = 8    // items of an array
	minMembers = 30   // members of an object whose values are objects
	maxEnum    = 8    // different values of a field that distinguishes items
	maxNovel   = 60   // items kept of one array for their texts, and as many for other reasons
	maxText    = 2000 // bytes of a string
	maxNesting = 200
	maxFields  = 64 // fields of an object that are distinguished
	minPlain   = 100
)

const similarTail = " similar items omitted) ..."

func similarItems(n int) []byte { return fmt.Appendf(nil, "... (%d%s", n, similarTail) }

// foldJSON removes the items of arrays that resemble others: those without a
// new field, and without a new value of a field that has few values. The rest
// stays as it is written. If lists is set, items beside removed ones are whole, and
// of the arrays within items only long ones lose items.
func foldJSON(body []byte, lists bool) (short []byte, ok bool) {
	trimmed := bytes.TrimSpace(body)
	if len(trimmed) < 400 || trimmed[0] != '[' && trimmed[0] != '{' {
		return nil, false
	}
	if bytes.Contains(trimmed, []byte(text.ShortenedMark)) { // the missing part may have been invalid
		return nil, false
	}
	j := jsonFold{text: body, lists: lists, fields: make([]jsonField, 1, 64)}
	end, ok := j.parse(j.blank(0), 0, 0)
	if ok && j.blank(end) < len(body) {
		j, ok = jsonSequence(body, lists)
	}
	if !ok {
		return nil, false
	}
	j.fold(0, false)
	out := make([]byte, 0, len(body))
	last := len(j.text) - len(body) // the bracket of a sequence
	for _, e := range j.edits {
		out = append(append(out, j.text[last:e.from]...), e.by...)
		last = e.to
	}
	return append(out, j.text[last:]...), len(j.edits) > 0
}

// jsonSequence parses consecutive objects and arrays, one a line or as jq
// writes them. They become the items of an array.
func jsonSequence(text []byte, lists bool) (jsonFold, bool) {
	j := jsonFold{text: slices.Concat([]byte{'['}, text), lists: lists, fields: make([]jsonField, 1, 64)}
	j.values = append(j.values, jsonValue{to: len(j.text)})
	item := j.field(0, nil, 0)
	for at := j.blank(1); at < len(j.text); at = j.blank(at) {
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
	text   []byte
	lists  bool // items stay whole
	values []jsonValue
	fields []jsonField
	edits  []jsonEdit
	array  int // number of the array that is folded
}

// jsonValue is a value of the text. Its contents follow it, up to next.
type jsonValue struct {
	key, from, to int // key is the start of its key, or from
	next          int
	field         int
}

// jsonField is a place of values, shared by all items of an array.
type jsonField struct {
	key    []byte
	fields []int // fields within it
	values [][]byte
	array  int
	shown  [][]byte // values in the items of that array that stay
}

// jsonEdit replaces a part of the text.
type jsonEdit struct {
	from, to int
	by       []byte
}

// blank returns the end of blanks.
func (j *jsonFold) blank(at int) int {
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
		end, ok = j.string(at)
	case '{', '[':
		end, ok = j.members(at, field, depth)
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
	j.count(n)
	return end, true
}

// count counts a value of its field.
func (j *jsonFold) count(n int) {
	v := j.values[n]
	f, value := &j.fields[v.field], j.text[v.from:v.to]
	if value[0] != '{' && value[0] != '[' && len(f.values) <= maxEnum && !has(f.values, value) {
		f.values = append(f.values, value)
	}
}

func has(list [][]byte, text []byte) bool {
	for _, t := range list {
		if bytes.Equal(t, text) {
			return true
		}
	}
	return false
}

func (j *jsonFold) string(at int) (end int, ok bool) {
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

// members parses the contents of the array or object that begins at at.
func (j *jsonFold) members(at, field, depth int) (end int, ok bool) {
	object := j.text[at] == '{'
	closing := byte(']')
	if object {
		closing = '}'
	}
	if at = j.blank(at + 1); at < len(j.text) && j.text[at] == closing {
		return at + 1, true
	}
	for turn := 0; ; turn++ {
		key, in, value := at, field, len(j.values)
		if object {
			if at >= len(j.text) || j.text[at] != '"' {
				return 0, false
			}
			if at, ok = j.string(at); !ok {
				return 0, false
			}
			in = j.field(field, j.text[key+1:at-1], turn)
			if at = j.blank(at); at >= len(j.text) || j.text[at] != ':' {
				return 0, false
			}
			at = j.blank(at + 1)
		} else {
			in = j.field(field, nil, 0)
		}
		if at, ok = j.parse(at, in, depth+1); !ok {
			return 0, false
		}
		j.values[value].key = key
		switch at = j.blank(at); {
		case at >= len(j.text):
			return 0, false
		case j.text[at] == closing:
			return at + 1, true
		case j.text[at] != ',':
			return 0, false
		}
		at = j.blank(at + 1)
	}
}

// field returns the field of a key within another. turn is its likely index.
// Beyond maxFields the keys share one.
func (j *jsonFold) field(of int, key []byte, turn int) int {
	in := j.fields[of].fields
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
	j.fields[of].fields = append(in, len(j.fields)-1)
	return len(j.fields) - 1
}

// fold folds a value. within reports that it belongs to an item of an array.
func (j *jsonFold) fold(n int, within bool) {
	v := j.values[n]
	switch j.text[v.from] {
	case '"':
		if v.to-v.from > maxText && !j.lists {
			head := v.from + len(text.Prefix(j.text[v.from:], maxText/2))
			for j.text[head-1] == '\\' {
				head--
			}
			j.edits = append(j.edits, jsonEdit{head, v.to - 1, fmt.Appendf(nil, " ... (%d bytes omitted) ...", v.to-1-head)})
		}
		return
	case '{', '[':
	default:
		return
	}
	var keep []bool
	if !j.lists || !within || v.to-v.from >= minList {
		keep = j.novel(n)
	}
	i, omitted, from, to := 0, 0, 0, 0
	cut := func() {
		if omitted == 0 {
			return
		}
		if next := j.blank(to); next < len(j.text) && j.text[next] == ',' {
			to = next + 1
		}
		j.edits = append(j.edits, jsonEdit{from, to, similarItems(omitted)})
		omitted = 0
	}
	for c := n + 1; c < v.next; c = j.values[c].next {
		if keep == nil || keep[i] {
			cut()
			if keep == nil || !j.lists {
				j.fold(c, within || j.text[v.from] == '[')
			}
		} else {
			if omitted == 0 {
				from = j.values[c].key
			}
			omitted++
			to = j.values[c].to
		}
		i++
	}
	cut()
}

// novel returns which items of a value stay, or nil if all do.
func (j *jsonFold) novel(n int) []bool {
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
	case nested*2 < count && (object || count < minPlain):
		return nil
	case nested*2 < count: // plain values
		keep := make([]bool, count)
		for i := range keep {
			keep[i] = i < minPlain/2 || i >= count-5
		}
		return keep
	}
	if object { // a map: all its values share a field
		j.fields = append(j.fields, jsonField{})
		field := len(j.fields) - 1
		for c := n + 1; c < v.next; c = j.values[c].next {
			j.move(c, field)
		}
	}
	j.array++
	keep := make([]bool, count)
	i, kept := 0, 0
	for c := n + 1; c < v.next; c = j.values[c].next {
		fresh := j.fresh(c, count, kept) || i == 0 || object && i < maxNovel
		if fresh && kept < 2*maxNovel || i == count-1 {
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

// move assigns a value and its contents to another field.
func (j *jsonFold) move(n, field int) {
	v := &j.values[n]
	v.field = field
	j.count(n)
	object := j.text[v.from] == '{'
	for c, turn := n+1, 0; c < v.next; c, turn = j.values[c].next, turn+1 {
		var key []byte
		if object {
			from := j.values[c].key
			end, _ := j.string(from)
			key = j.text[from+1 : end-1]
		}
		j.move(c, j.field(field, key, turn))
	}
}

// fresh reports whether an item has something that the items before lack.
func (j *jsonFold) fresh(item, count, kept int) (fresh bool) {
	for n := item; n < j.values[item].next; n++ {
		v := j.values[n]
		f := &j.fields[v.field]
		if f.array != j.array {
			f.array, f.shown = j.array, f.shown[:0]
		}
		value := j.text[v.from:v.to]
		switch b := value[0]; {
		case b == '{' || b == '[':
			value = value[:1]
			if v.next == n+1 { // empty
				value = []byte{b, b}
			}
		case len(f.values) <= maxEnum && len(f.values)*3 <= count:
		case b == '"' && len(value) > 2 && kept < maxNovel && text.Important(value):
			value = text.Normalize(nil, value, false)
		case b == '-':
			value = value[:1]
		case b == '"' && len(value) > 2, text.Class[b] == text.Digit && string(value) != "0":
			value = []byte{'*'}
		}
		if !has(f.shown, value) {
			f.shown = append(f.shown, value)
			fresh = true
		}
	}
	return fresh
}
