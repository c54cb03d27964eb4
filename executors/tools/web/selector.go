package web

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/andybalholm/cascadia" // the selectors of goquery
	"golang.org/x/net/html"

	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// A selector and a page are both untrusted, and cascadia tries all combinations of ancestors for
// "a b c d". On a deep page this takes exponential time. So this package splits a selector at its
// combinators. cascadia matches each compound part, and one walk over the tree tracks which parts
// match so far.

// Limits on a selector.
const (
	maxSelector = 500 // bytes
	maxParts    = 32  // of all groups together; one bit each
	maxWork     = 1 << 26
)

// selectorPart is one compound selector of a chain.
type selectorPart struct {
	sel        cascadia.Sel
	combinator byte // relation to the part before it: ' ', '>', '+', '~', or 0 for the first
	last       bool // elements that match it are selected
}

// selector is a parsed selector.
type selector struct {
	parts  []selectorPart
	pseudo int // pseudo-classes, which examine siblings and descendants
}

// parseSelector parses a CSS selector. Its errors describe the mistake.
func parseSelector(text string) (selector, error) {
	var s selector
	if len(text) > maxSelector {
		return s, fmt.Errorf("has %s, over the limit of %d", quantity.Count(len(text), "byte"), maxSelector)
	}
	pieces, err := splitSelector(text)
	if err != nil {
		return s, err
	}
	for i, p := range pieces {
		if err := checkFlat(p.text); err != nil {
			return s, err
		}
		group, err := cascadia.ParseGroupWithPseudoElements(p.text)
		if err != nil {
			return s, err
		}
		if len(group) != 1 || group[0].PseudoElement() != "" {
			return s, fmt.Errorf("%q selects no elements", p.text)
		}
		last := i+1 == len(pieces) || pieces[i+1].combinator == 0
		s.parts = append(s.parts, selectorPart{group[0], p.combinator, last})
		s.pseudo += strings.Count(p.text, ":")
	}
	if len(s.parts) > maxParts {
		return s, fmt.Errorf("has %s, over the limit of %d", quantity.Count(len(s.parts), "part"), maxParts)
	}
	return s, nil
}

type selectorPiece struct {
	combinator byte
	text       string
}

// splitSelector splits a selector at its combinators and commas. Text in brackets,
// parentheses or quotes, or after a backslash, stays unchanged.
func splitSelector(text string) ([]selectorPiece, error) {
	var s selectorSplitter
	depth, quote := 0, byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		inside := depth > 0 || quote != 0
		switch {
		case c == '\\' && i+1 < len(text):
			s.current.WriteByte(c)
			i++
			c, inside = text[i], true
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote, inside = c, true
		case c == '[' || c == '(':
			depth++
			inside = true
		case c == ']' || c == ')':
			depth--
		}
		if inside || !strings.ContainsRune(" \t\r\n\f>+~,", rune(c)) {
			s.addText(c)
		} else if err := s.addSeparator(c); err != nil {
			return nil, err
		}
	}
	return s.end()
}

// selectorSplitter collects the pieces of a selector.
type selectorSplitter struct {
	pieces     []selectorPiece
	current    strings.Builder // the text of the piece that is not complete
	combinator byte            // before that piece
	pending    byte            // the separator after the last piece: ' ', ',' or a combinator; 0 inside a piece
}

// addText adds a byte of a piece.
func (s *selectorSplitter) addText(c byte) {
	if s.pending != 0 && s.current.Len() == 0 {
		s.combinator = s.pending
	}
	s.pending = 0
	s.current.WriteByte(c)
}

// addSeparator adds a space, a comma or a combinator.
func (s *selectorSplitter) addSeparator(c byte) error {
	if s.current.Len() > 0 {
		s.pieces = append(s.pieces, selectorPiece{s.combinator, s.current.String()})
		s.current.Reset()
		s.pending = ' '
	}
	switch {
	case strings.ContainsRune(" \t\r\n\f", rune(c)):
	case len(s.pieces) == 0 || s.pending != ' ':
		return fmt.Errorf("has a %q with nothing before it", c)
	case c == ',':
		s.pending, s.combinator = ',', 0
	default:
		s.pending = c
	}
	return nil
}

// end returns the pieces. The first one after a comma has no combinator.
func (s *selectorSplitter) end() ([]selectorPiece, error) {
	switch {
	case s.current.Len() > 0:
		s.pieces = append(s.pieces, selectorPiece{s.combinator, s.current.String()})
	case s.pending != 0 && s.pending != ' ':
		return nil, fmt.Errorf("ends with %q", s.pending)
	}
	if len(s.pieces) == 0 {
		return nil, fmt.Errorf("is empty")
	}
	for i := range s.pieces {
		if s.pieces[i].combinator == ',' {
			s.pieces[i].combinator = 0
		}
	}
	return s.pieces, nil
}

// checkFlat refuses a part whose :has, :haschild or :not would need its own search.
func checkFlat(compound string) error {
	for _, pseudo := range []struct{ name, refused string }{{":has(", "(:"}, {":haschild(", "(:"}, {":not(", "("}} {
		name := pseudo.name
		for _, rest, ok := strings.Cut(strings.ToLower(compound), name); ok; _, rest, ok = strings.Cut(rest, name) {
			end := strings.LastIndexByte(rest, ')') // without one, cascadia reports the error
			if end >= 0 && !isFlat(rest[:end], pseudo.refused) {
				return fmt.Errorf("%s…) accepts only simple selectors here, such as %sa.b)", name, name)
			}
		}
	}
	return nil
}

// isFlat reports whether a selector in parentheses has no combinator and none of the
// refused characters.
func isFlat(text, refused string) bool {
	if strings.ContainsAny(text, refused) {
		return false
	}
	pieces, err := splitSelector(text)
	return err == nil && !slices.ContainsFunc(pieces, func(p selectorPiece) bool { return p.combinator != 0 })
}

// find returns the selected elements in the order of the page. It stops when
// ctx ends.
func (s selector) find(ctx context.Context, doc *html.Node) ([]*html.Node, error) {
	if s.pseudo > 0 && s.pseudo*pseudoCost(doc, 0) > maxWork {
		return nil, fmt.Errorf("has pseudo-classes, and the page is too large for them; select without them")
	}
	w := walker{selector: s, ctx: ctx}
	w.visitChildren(doc, 0, 0)
	return w.found, ctx.Err()
}

// pseudoCost estimates the cost of one pseudo-class on all elements: each may examine
// all its siblings and descendants.
func pseudoCost(n *html.Node, depth int) int {
	children, sum := 0, 1+depth+len(n.Data)*depth
	for c := range n.ChildNodes() {
		children++
		sum += pseudoCost(c, depth+1)
	}
	return sum + children*children
}

// walker tracks matches as bits: bit i means that the chain matches up to part
// i.
type walker struct {
	selector
	ctx   context.Context
	found []*html.Node
}

// visitChildren visits the children of n. above are the bits that match n or an
// ancestor of it, and parent those that match n.
func (w *walker) visitChildren(n *html.Node, above, parent uint32) {
	var before, previous uint32 // bits of any earlier sibling, and of the previous one
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode {
			continue
		}
		if w.ctx.Err() != nil {
			return
		}
		var fits uint32
		selected := false
		for i, p := range w.parts {
			var from uint32
			switch p.combinator {
			case ' ':
				from = above
			case '>':
				from = parent
			case '+':
				from = previous
			case '~':
				from = before
			}
			if (p.combinator == 0 || from&(1<<(i-1)) != 0) && p.sel.Match(c) {
				fits |= 1 << i
				selected = selected || p.last
			}
		}
		if selected {
			w.found = append(w.found, c)
		}
		w.visitChildren(c, above|fits, fits)
		previous, before = fits, before|fits
	}
}
