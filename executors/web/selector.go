package web

import (
	"context"
	"fmt"
	"strings"

	"github.com/andybalholm/cascadia" // the selectors of goquery
	"golang.org/x/net/html"
)

// A selector and a page come from two strangers, and cascadia tries all ways in
// which the ancestors of an element may fit "a b c d": on a deep page that never
// ends. Here a selector is taken apart at its combinators, cascadia judges each
// simple part, and one walk over the tree carries along which parts fit so far.

// Bounds of a selector.
const (
	maxSelector = 500 // bytes
	maxParts    = 32  // of all groups together; one bit each
	maxWork     = 1 << 26
)

// part is one compound selector of a chain.
type part struct {
	sel        cascadia.Sel
	combinator byte // how it hangs on the part before it: ' ', '>', '+', '~', or 0 for the first
	last       bool // what fits here is selected
}

// selector is one that was taken apart.
type selector struct {
	parts  []part
	pseudo int // pseudo-classes, which look at siblings and descendants
}

// parseSelector parses a CSS selector. Its errors describe the mistake.
func parseSelector(text string) (selector, error) {
	var s selector
	if len(text) > maxSelector {
		return s, fmt.Errorf("is %d bytes long, more than %d", len(text), maxSelector)
	}
	pieces, err := split(text)
	if err != nil {
		return s, err
	}
	for i, p := range pieces {
		if err := flat(p.text); err != nil {
			return s, err
		}
		group, err := cascadia.ParseGroupWithPseudoElements(p.text)
		if err != nil {
			return s, err
		}
		if len(group) != 1 || group[0].PseudoElement() != "" {
			return s, fmt.Errorf("%q selects no element", p.text)
		}
		last := i+1 == len(pieces) || pieces[i+1].combinator == 0
		s.parts = append(s.parts, part{group[0], p.combinator, last})
		s.pseudo += strings.Count(p.text, ":")
	}
	if len(s.parts) > maxParts {
		return s, fmt.Errorf("has %d parts, more than %d", len(s.parts), maxParts)
	}
	return s, nil
}

type piece struct {
	combinator byte
	text       string
}

// split takes a selector apart at its combinators and commas. What is in
// brackets, parentheses or quotes, or after a backslash, stays as it is.
func split(text string) ([]piece, error) {
	var pieces []piece
	var current strings.Builder
	combinator, pending := byte(0), byte(0)
	depth, quote := 0, byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		inside := depth > 0 || quote != 0
		switch {
		case c == '\\' && i+1 < len(text):
			current.WriteByte(c)
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
			if pending != 0 && current.Len() == 0 {
				combinator = pending
			}
			pending = 0
			current.WriteByte(c)
			continue
		}
		if current.Len() > 0 {
			pieces = append(pieces, piece{combinator, current.String()})
			current.Reset()
			pending = ' '
		}
		switch {
		case strings.ContainsRune(" \t\r\n\f", rune(c)):
		case len(pieces) == 0 || pending != ' ':
			return nil, fmt.Errorf("has a %q with nothing before it", c)
		case c == ',':
			pending, combinator = ',', 0
		default:
			pending = c
		}
	}
	switch {
	case current.Len() > 0:
		pieces = append(pieces, piece{combinator, current.String()})
	case pending != 0 && pending != ' ':
		return nil, fmt.Errorf("ends with %q", pending)
	}
	if len(pieces) == 0 {
		return nil, fmt.Errorf("is empty")
	}
	for i := range pieces {
		if pieces[i].combinator == ',' {
			pieces[i].combinator = 0
		}
	}
	return pieces, nil
}

// flat refuses what would make judging one part a search of its own: combinators
// within the parentheses of :has, :haschild and :not, and pseudo-classes but for
// the plain ones in :not.
func flat(compound string) error {
	lower := strings.ToLower(compound)
	for _, name := range []string{":has(", ":haschild(", ":not("} {
		for rest := lower; ; {
			_, after, ok := strings.Cut(rest, name)
			if !ok {
				break
			}
			rest = after
			end := strings.LastIndexByte(after, ')')
			if end < 0 {
				break // cascadia says what is wrong
			}
			inner, err := split(after[:end])
			if err != nil || strings.ContainsAny(after[:end], "(") || name != ":not(" && strings.Contains(after[:end], ":") {
				return fmt.Errorf("%s…) takes only simple selectors here, such as %sa.b)", name, name)
			}
			for _, p := range inner {
				if p.combinator != 0 {
					return fmt.Errorf("%s…) takes only simple selectors here, such as %sa.b)", name, name)
				}
			}
		}
	}
	return nil
}

// find returns the elements that the selector selects, in the order of the page.
// It ends with ctx.
func (s selector) find(ctx context.Context, doc *html.Node) ([]*html.Node, error) {
	if s.pseudo > 0 && s.pseudo*work(doc, 0) > maxWork {
		return nil, fmt.Errorf("has pseudo-classes, for which this page is too large; select without them")
	}
	w := walker{selector: s, ctx: ctx}
	w.level(doc, 0, 0)
	return w.found, ctx.Err()
}

// work estimates what judging one pseudo-class on all elements takes: each may
// look at all its siblings, and at all that is in it.
func work(n *html.Node, depth int) int {
	children, sum := 0, 1+depth+len(n.Data)*depth
	for c := range n.ChildNodes() {
		children++
		sum += work(c, depth+1)
	}
	return sum + children*children
}

// walker carries bits along: bit i says that the chain fits up to part i.
type walker struct {
	selector
	ctx   context.Context
	found []*html.Node
}

// level visits the children of n; above are the bits that fit n or an ancestor
// of it, and parent those that fit n.
func (w *walker) level(n *html.Node, above, parent uint32) {
	var before, previous uint32 // bits that fit some sibling before, and the one just before
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
		w.level(c, above|fits, fits)
		previous, before = fits, before|fits
	}
}
