package code

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// maxParsed is the size of the largest Go file that is parsed, in bytes. The lines of a
// larger one are matched with patterns.
const maxParsed = 1 << 20

// scanGo examines a Go file. It is parsed only if a line that contains a word of the
// query may define it.
func (sc *Scanner) scanGo(stopped func() bool) {
	if len(sc.data) > maxParsed {
		sc.scanLines(stopped)
		return
	}
	if sc.mayDefineGo() {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, "", sc.data, parser.SkipObjectResolution)
		if file == nil || err != nil && len(file.Decls) == 0 {
			sc.scanLines(stopped)
			return
		}
		g := goFile{sc, fset.File(file.FileStart)}
		for _, d := range file.Decls {
			g.decl(d)
		}
	}
	sc.scanTexts(stopped)
}

// mayDefineGo reports whether the file may define a word of the query.
func (sc *Scanner) mayDefineGo() bool {
	open, from := false, 0 // whether the line at from is inside a declaration other than a function
	for start, end := range sc.found.Lines() {
		line := sc.data[start:end]
		before := bytes.TrimLeft(line, " \t")
		starts := startsGo(before)
		if !starts && len(before) == len(line) || !sc.mayName(line) {
			continue
		}
		for from < start { // look at the lines between
			next := from + bytes.IndexByte(sc.data[from:], '\n') + 1
			if c := sc.data[from]; c != ' ' && c != '\t' && c != '\n' && c != '\r' && c != '/' {
				open = opensGo(sc.data[from:next])
			}
			from = next
		}
		if starts || open {
			return true
		}
	}
	return false
}

// mayName reports whether a word of the query is where a line of Go may define a name.
func (sc *Scanner) mayName(line []byte) bool {
	if bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte("//")) {
		return false
	}
	isFunc := bytes.HasPrefix(line, []byte("func "))
	for i := range sc.query.words {
		for at := sc.query.texts.Index(i, line, 0); at >= 0; at = sc.query.texts.Index(i, line, at+1) {
			if mayNameGo(bytes.TrimRight(line[:wordStart(line, at)], " \t"), isFunc) {
				return true
			}
		}
	}
	return false
}

// mayNameGo reports whether a name may be defined after the beginning of a line. isFunc
// means that the line begins with func.
func mayNameGo(before []byte, isFunc bool) bool {
	if len(before) == 0 {
		return true
	}
	switch before[len(before)-1] {
	case ')': // after a receiver
		return true
	case ',', ';', '{', '(': // in a list, or in a type on one line
		return !isFunc
	case '/':
		return bytes.HasSuffix(before, []byte("*/"))
	}
	switch string(before[wordStart(before, len(before)):]) {
	case "func", "type", "const", "var":
		return true
	}
	return false
}

func startsGo(line []byte) bool { return bytes.HasPrefix(line, []byte("func ")) || opensGo(line) }

// opensGo reports whether a declaration of types, constants or variables begins here.
func opensGo(line []byte) bool {
	return bytes.HasPrefix(line, []byte("type ")) || bytes.HasPrefix(line, []byte("const")) || bytes.HasPrefix(line, []byte("var"))
}

// goFile is a parsed file.
type goFile struct {
	*Scanner
	file *token.File
}

// decl adds the definitions of a declaration.
func (g goFile) decl(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		end := d.End()
		if d.Body != nil {
			end = d.Body.Lbrace
		}
		if d.Recv == nil || len(d.Recv.List) == 0 {
			g.add("func", "", d.Name, d.Name.End(), end)
		} else {
			g.add("method", receiver(d.Recv.List[0].Type), d.Name, d.Name.End(), end)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				g.typeSpec(s)
			case *ast.ValueSpec:
				for _, name := range s.Names {
					g.add(d.Tok.String(), "", name, s.Names[len(s.Names)-1].End(), s.End())
				}
			}
		}
	}
}

// typeSpec adds a type with its fields or methods.
func (g goFile) typeSpec(s *ast.TypeSpec) {
	switch t := s.Type.(type) {
	case *ast.StructType:
		g.add("struct", "", s.Name, s.Name.End(), t.Pos())
		g.fields("field", s.Name.Name, t.Fields)
	case *ast.InterfaceType:
		g.add("interface", "", s.Name, s.Name.End(), t.Pos())
		g.fields("signature", s.Name.Name, t.Methods)
	default:
		g.add("type", "", s.Name, s.Name.End(), s.End())
	}
}

func (g goFile) fields(kind, container string, list *ast.FieldList) {
	for _, f := range list.List {
		for _, name := range f.Names {
			g.add(kind, container, name, f.Names[len(f.Names)-1].End(), f.Type.End())
		}
	}
}

// add adds a definition. Its signature is the source from one position to another.
func (g goFile) add(kind, container string, name *ast.Ident, from, to token.Pos) {
	rank := kind
	if kind == "signature" {
		kind, rank = "method", "member"
	}
	score := g.query.definitionScore(&g.place, rank, container, name.Name)
	if score == 0 || name.Name == "_" {
		return
	}
	h := Hit{Path: g.path, Line: g.file.Line(name.Pos()), Kind: kind, Name: name.Name, score: score}
	if container != "" {
		h.Name = container + "." + name.Name
	}
	if !g.admit(&h) {
		return
	}
	source := g.data[g.offset(from):g.offset(to)]
	if kind == "type" || kind == "const" || kind == "var" { // a value may be a long literal
		source, _, _ = bytes.Cut(source, []byte("\n"))
	}
	h.Signature = strings.TrimSuffix(oneLine(source, 0), " {")
	g.hits = append(g.hits, h)
}

func (g goFile) offset(p token.Pos) int { return min(max(0, g.file.Offset(p)), len(g.data)) }

// receiver returns the name of a method's type.
func receiver(t ast.Expr) string {
	for {
		switch e := t.(type) {
		case *ast.StarExpr:
			t = e.X
		case *ast.ParenExpr:
			t = e.X
		case *ast.IndexExpr:
			t = e.X
		case *ast.IndexListExpr:
			t = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}
