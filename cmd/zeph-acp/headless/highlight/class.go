package highlight

import "github.com/alecthomas/chroma/v2"

// Class is what a piece of code is.
type Class uint8

// The classes of code.
const (
	Plain Class = iota
	Keyword
	String
	Comment
	Number
	Name    // of a type, a function, a tag or an attribute
	Added   // a line of a diff
	Removed // a line of a diff
)

// styles are the styles in a terminal, as parameters of SGR: bold keywords, dim comments, and the two
// colours that most themes make readable on a dark and on a light background. Red and green are for
// diffs, and yellow is pale on white.
var styles = [...]string{Keyword: "1", String: "35", Comment: "2", Number: "35", Name: "36", Added: "32", Removed: "31"}

// Style returns the style in a terminal, as parameters of SGR.
func (c Class) Style() string { return styles[c] }

// names are the classes of HTML.
var names = [...]string{Keyword: "hl-k", String: "hl-s", Comment: "hl-c", Number: "hl-n", Name: "hl-f", Added: "hl-add", Removed: "hl-del"}

// HTML returns the name of the class in a page; empty for plain text.
func (c Class) HTML() string { return names[c] }

// classOf returns the class of a kind of token.
func classOf(t chroma.TokenType) Class {
	switch t {
	case chroma.NameFunction, chroma.NameFunctionMagic, chroma.NameClass, chroma.NameBuiltin, chroma.NameTag,
		chroma.NameAttribute, chroma.NameDecorator, chroma.NameException, chroma.KeywordType, chroma.GenericHeading, chroma.GenericSubheading:
		return Name
	case chroma.OperatorWord:
		return Keyword
	case chroma.KeywordConstant:
		return Number
	case chroma.GenericInserted:
		return Added
	case chroma.GenericDeleted:
		return Removed
	}
	switch {
	case t.InCategory(chroma.Keyword):
		return Keyword
	case t.InCategory(chroma.Comment):
		return Comment
	case t.InSubCategory(chroma.LiteralString):
		return String
	case t.InSubCategory(chroma.LiteralNumber), t == chroma.LiteralDate:
		return Number
	}
	return Plain
}
