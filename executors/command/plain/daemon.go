package plain

import (
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/command/programs"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

var (
	// serviceName matches the names of objects of a service, and no option, file or URL.
	serviceName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._/:,@=-]*$`)
	// serviceOutput matches the formats that name no file.
	serviceOutput = lazyregexp.New(`^(json|yaml|wide|name|table|(jsonpath|jsonpath-as-json|go-template|custom-columns)=.*)$`)
)

// AsksService returns the name of the program if these are the words of a command that only asks a
// daemon or a server, with options that are declared harmless; "" for any other command.
func AsksService(words []Word) string {
	if len(words) < 2 || slices.ContainsFunc(words, func(w Word) bool { return !w.literal() }) {
		return ""
	}
	name := words[0].text()
	for _, block := range programs.Under(name) {
		sub, rest := strings.Fields(block)[1:], words[1:]
		if len(sub) == 0 || !begins(rest, sub) || programs.Block(block).Asks == nil {
			continue
		}
		p := program{programs.Plain{
			Options: *programs.Block(block).Asks + " " + programs.Of(name).AsksCommon, Operands: textOperands, OwnParser: true, NoDoubleDash: true,
		}}
		o, _, err := p.parse(&builder{}, rest[len(sub):])
		isBad := func(w Word) bool {
			return !serviceName.MatchString(w.text()) || strings.Contains(strings.ToLower(w.text()), "secret")
		}
		isFile := func(g parsedOption) bool {
			return (g.name == "-o" || g.name == "--output") && !serviceOutput.MatchString(g.value)
		}
		// Docker's names of containers may contain "secret", too; that costs a question.
		if err == nil && !slices.ContainsFunc(o.operands, isBad) && !slices.ContainsFunc(o.options, isFile) {
			return name
		}
	}
	return ""
}
