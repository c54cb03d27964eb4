package images

import "strings"

// references are the labels of images and of definitions so far.
type references struct {
	used    labels // of images that stay
	defined labels // of definitions that point to the network

	inside  bool // between "[" at the beginning of a line and its "]"
	defines bool // the last byte was that "]"
	current label
}

// step reads the next byte.
func (r *references) step(c byte, at *lines) {
	r.defines = false
	switch {
	case c == '[':
		r.inside = at.onlyMarks()
		r.current = label{}
	case !r.inside:
	case c == ']' && !at.escaped:
		r.inside, r.defines = false, true
	default:
		r.current.add(c)
	}
}

// define adds the definition that has just begun. It reports whether an image before it has its label.
func (r *references) define() (used bool) {
	r.defined.add(r.current)
	return r.used.has(r.current)
}

// remoteImage reports whether the text at "![" is an image that points to the net. If it is a reference
// whose label is its text, it returns the label and the length of the reference.
func (r *references) remoteImage(w window) (found answer, name string, end int) {
	t := w.text
	depth, vague := 0, false
	for i := 1; i < len(t); i++ {
		switch t[i] {
		case '[':
			depth++
			continue
		case '`', '<', '\\', '$': // these may hide brackets
			vague = true
			continue
		case '\n':
			if endsParagraph(t[i:]) {
				r.note(vague)
				return no, "", 0
			}
			continue
		case ']':
		default:
			continue
		}
		if depth--; depth != 0 && !vague {
			continue
		}
		alt := t[2:i]
		found, second, length := r.target(w, i+1, alt)
		if found == yes && second == alt && length > 0 && !vague {
			return yes, alt, length
		}
		if found != no || !vague {
			if found == no {
				r.used.add(labelOf(second))
				r.used.add(labelOf(alt))
			}
			return found, "", 0
		}
	}
	switch {
	case w.open():
		return unknown, "", 0
	case w.full:
		return yes, "", 0
	}
	r.note(vague)
	return no, "", 0
}

// note notes an image whose label is unknown.
func (r *references) note(vague bool) {
	if vague {
		r.used.all = true
	}
}

// target reports whether what follows the "]" of an image points to the net. For a reference it returns
// the label, and the end of it if the text of the image is the label.
func (r *references) target(w window, i int, alt string) (found answer, name string, end int) {
	t := w.text
	if i == len(t) && w.open() {
		return unknown, "", 0
	}
	name, end = alt, i
	if i < len(t) && t[i] == '(' {
		if found = remoteAddress(w, i+1, true); found != no {
			return found, "", 0
		}
		end = 0 // an address of a file, unless it is none: then the label counts
	}
	if i < len(t) && t[i] == '[' {
		n := strings.IndexByte(t[i:], ']')
		switch {
		case n < 0 && w.open():
			return unknown, "", 0
		case n == 1:
			end = i + 2
		case n > 1:
			name, end = t[i+1:i+n], 0
		}
	}
	if l := labelOf(name); !r.defined.has(l) {
		return no, name, 0
	}
	return yes, name, end
}

// label is the hash of a label, without regard to case and the length of blanks.
type label struct {
	hash  uint64
	blank bool // before the next byte
	vague bool // renderers may differ about it, so it equals all others
}

func labelOf(name string) (l label) {
	for i := range len(name) {
		l.add(name[i])
	}
	return l
}

func (l *label) add(c byte) {
	switch {
	case c == ' ' || c == '\t':
		l.blank = true
		return
	case c >= 0x80 || c < ' ' || c == '\\' || c == '&' || c == '<' || c == '`':
		l.vague = true
	case 'A' <= c && c <= 'Z':
		c += 'a' - 'A'
	}
	if l.blank && l.hash != 0 {
		l.mix(' ')
	}
	l.blank = false
	l.mix(c)
}

func (l *label) mix(c byte) { l.hash = (l.hash+uint64(c)+1)*0x9E3779B97F4A7C15 ^ l.hash>>29 }

// labels is a set of labels.
type labels struct {
	all  bool // it counts as having all labels
	list map[uint64]bool
}

const maxLabels = 1000

func (s *labels) add(l label) {
	switch {
	case l.vague || len(s.list) == maxLabels:
		s.all = true
	case s.list == nil:
		s.list = map[uint64]bool{l.hash: true}
	default:
		s.list[l.hash] = true
	}
}

func (s *labels) has(l label) bool { return s.all || s.list[l.hash] || l.vague && len(s.list) > 0 }
