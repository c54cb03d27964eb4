package code

import (
	"go/scanner"
	"go/token"
)

// goDeclaration is a definition in a Go file.
type goDeclaration struct {
	kind      string // such as func; signature for a method of an interface
	container string // the type that has the field or method
	name      string
	line      int
	from, to  int // its signature: the source between these offsets
}

// goDeclarations calls found for each type, field, method, function, constant and
// variable that a Go file declares at its top level. It returns false if the file does
// not begin with a package clause.
//
// A declaration with a mistake may be missed. A keyword of a declaration in the first
// column always begins the next one.
//
// Why not go/parser? It parses the bodies of functions, and its syntax tree is 0.3 MiB
// of machine code.
func goDeclarations(data []byte, found func(goDeclaration)) bool {
	g := goParser{data: data, found: found, file: token.NewFileSet().AddFile("", -1, len(data))}
	g.scanner.Init(g.file, data, nil, 0)
	g.next()
	if g.tok != token.PACKAGE {
		return false
	}
	for g.tok != token.EOF {
		switch kind := g.tok; kind {
		case token.FUNC:
			g.function()
		case token.TYPE:
			g.next()
			g.specs(g.typeSpec)
		case token.CONST, token.VAR:
			g.next()
			g.specs(func() { g.values(kind.String()) })
		}
		g.skip()
		if !g.starts() {
			g.next()
		}
	}
	return true
}

// goParser parses the declarations of a Go file.
type goParser struct {
	data    []byte
	found   func(goDeclaration)
	file    *token.File
	scanner scanner.Scanner

	pos token.Pos // of the present token
	tok token.Token
	lit string

	last   token.Token // the token before
	end    token.Pos   // of the token before
	before token.Pos   // end of the token before that one
}

func (g *goParser) next() {
	text := g.lit
	if text == "" {
		text = g.tok.String()
	}
	g.last, g.before, g.end = g.tok, g.end, g.pos+token.Pos(len(text))
	g.pos, g.tok, g.lit = g.scanner.Scan()
}

// accept skips a token if it is the present one.
func (g *goParser) accept(t token.Token) bool {
	if g.tok != t {
		return false
	}
	g.next()
	return true
}

// starts reports whether a declaration begins here, in the first column.
func (g *goParser) starts() bool {
	switch g.tok {
	case token.FUNC, token.TYPE, token.CONST, token.VAR:
		at := g.file.Offset(g.pos)
		return at == 0 || g.data[at-1] == '\n'
	}
	return false
}

// skip skips tokens up to a semicolon or a closing bracket.
func (g *goParser) skip() {
	for depth := 0; g.tok != token.EOF && !g.starts(); g.next() {
		switch g.tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			if depth == 0 {
				return
			}
			depth--
		case token.SEMICOLON:
			if depth == 0 {
				return
			}
		}
	}
}

// list calls one for each element between brackets, up to the end one.
func (g *goParser) list(end token.Token, one func()) {
	for g.next(); g.tok != end; {
		one()
		g.skip()
		if !g.accept(token.SEMICOLON) && g.tok != end {
			return
		}
	}
	g.next()
}

// specs calls one for the specification of a declaration, or for each in parentheses.
func (g *goParser) specs(one func()) {
	if g.tok == token.LPAREN {
		g.list(token.RPAREN, one)
	} else {
		one()
	}
}

// goName is an identifier that is declared.
type goName struct {
	text string
	pos  token.Pos
}

// names parses identifiers with commas between them.
func (g *goParser) names() (names []goName) {
	for g.tok == token.IDENT {
		names = append(names, goName{g.lit, g.pos})
		g.next()
		if !g.accept(token.COMMA) {
			break
		}
	}
	return names
}

// add reports a declaration with the signature between two positions.
func (g *goParser) add(kind, container string, name goName, from, to token.Pos) {
	line := g.file.PositionFor(name.pos, false).Line
	start, end := g.file.Offset(from), g.file.Offset(to)
	g.found(goDeclaration{kind, container, name.text, line, start, max(start, min(end, len(g.data)))})
}

// values parses a specification of constants or variables.
func (g *goParser) values(kind string) {
	names, from := g.names(), g.end
	g.skip()
	for _, name := range names {
		g.add(kind, "", name, from, g.end)
	}
}

// typeSpec parses the specification of a type, with its fields or methods.
func (g *goParser) typeSpec() {
	name, from := goName{g.lit, g.pos}, g.pos+token.Pos(len(g.lit))
	if !g.accept(token.IDENT) {
		return
	}
	array := g.tok == token.LBRACK && !g.parameters()
	g.accept(token.ASSIGN)
	switch {
	case g.tok == token.STRUCT && !array:
		g.add("struct", "", name, from, g.pos)
		g.members(func() { g.field(name.text) })
	case g.tok == token.INTERFACE && !array:
		g.add("interface", "", name, from, g.pos)
		g.members(func() { g.method(name.text) })
	default:
		g.skip()
		g.add("type", "", name, from, g.end)
	}
}

// parameters parses brackets. It reports whether they hold parameters of a type, and
// not the length of an array.
func (g *goParser) parameters() bool {
	g.next()
	several := false
	named := g.accept(token.IDENT)
	switch g.tok {
	case token.IDENT, token.TILDE, token.LBRACK, token.INTERFACE, token.STRUCT, token.FUNC, token.MAP, token.CHAN:
	default:
		named = false
	}
	for depth := 0; g.tok != token.EOF && !g.starts(); g.next() {
		switch g.tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			if depth--; depth < 0 {
				g.next()
				return named || several
			}
		case token.COMMA:
			several = several || depth == 0
		}
	}
	return false
}

// members calls one for each member of a struct or interface.
func (g *goParser) members(one func()) {
	if g.next(); g.tok == token.LBRACE {
		g.list(token.RBRACE, one)
	}
}

// field parses the fields of a line of a struct. An embedded type has no name.
func (g *goParser) field(container string) {
	names, from := g.names(), g.end
	if len(names) == 1 && g.tok == token.LBRACK {
		g.parameters()
	}
	switch g.tok {
	case token.SEMICOLON, token.RBRACE, token.STRING, token.PERIOD:
		return
	}
	g.skip()
	to := g.end
	if g.last == token.STRING { // the tag
		to = g.before
	}
	for _, name := range names {
		g.add("field", container, name, from, to)
	}
}

// method parses a method of an interface. An embedded type has no parameters.
func (g *goParser) method(container string) {
	name := goName{g.lit, g.pos}
	if !g.accept(token.IDENT) || g.tok != token.LPAREN {
		return
	}
	from := g.end
	g.skip()
	g.add("signature", container, name, from, g.end)
}

// function parses a function or method, up to its body.
func (g *goParser) function() {
	g.next()
	kind, container := "func", ""
	if g.tok == token.LPAREN {
		kind, container = g.receiver()
	}
	name := goName{g.lit, g.pos}
	if !g.accept(token.IDENT) {
		return
	}
	from := g.end
	for depth := 0; g.tok != token.EOF && !g.starts(); g.next() {
		switch g.tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			if depth == 0 && g.tok == token.LBRACE && g.last != token.STRUCT && g.last != token.INTERFACE {
				g.add(kind, container, name, from, g.pos)
				return
			}
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth--
		case token.SEMICOLON:
			if depth <= 0 {
				g.add(kind, container, name, from, g.end)
				return
			}
		}
	}
}

// receiver parses the receiver of a method. It returns the kind of the declaration and
// the name of the receiver's type.
func (g *goParser) receiver() (kind, container string) {
	kind = "func"
	brackets := 0
	for depth := 0; g.tok != token.EOF && !g.starts(); g.next() {
		switch g.tok {
		case token.LPAREN:
			depth++
		case token.LBRACK:
			brackets++
		case token.RBRACK:
			brackets--
		case token.IDENT:
			if kind = "method"; brackets == 0 {
				container = g.lit
			}
		case token.RPAREN:
			if depth--; depth == 0 {
				g.next()
				return kind, container
			}
		}
	}
	return kind, container
}
