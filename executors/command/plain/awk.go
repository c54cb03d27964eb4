package plain

import (
	"errors"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// awkReads accepts a program of awk that computes and prints.
func awkReads(o *parsedOptions) error {
	if len(o.operands) == 0 || !o.operands[0].literal() {
		return errors.New("it has no program")
	}
	if err := awkComputes(o.operands[0].text()); err != nil {
		return errorf("its program may do more than compute and print: %w", err)
	}
	isVariable := func(g parsedOption) bool { return g.name == "-v" && !awkVariable.MatchString(g.value) }
	if slices.ContainsFunc(o.options, isVariable) {
		return errors.New("-v sets more than a variable of its program")
	}
	if slices.ContainsFunc(o.operands[1:], func(w Word) bool { return !w.known() && !w.Glob || strings.Contains(w.text(), "=") }) {
		return errors.New("an operand may set a variable")
	}
	return nil
}

var awkVariable = lazyregexp.New(`^[a-z][a-z0-9_]*=`)

// awkUnsafe are texts by which a program runs another one, reads or writes a file, or sees the
// environment. They count anywhere, even in a string: versions of awk disagree about where
// strings and regular expressions end.
var awkUnsafe = []string{
	"system", "getline", "extension", "ENVIRON", "ARGV", "ARGC", "PROCINFO", "SYMTAB", "FUNCTAB", "textdomain", "@", "\\\n", "\\\r",
}

// awkNames are the variables of awk that a program may use. All others are in lower case.
const awkNames = " BEGIN END FILENAME FNR FS IGNORECASE NF NR OFS ORS RLENGTH RS RSTART SUBSEP "

// awkCalls are the words that may precede a parenthesis.
const awkCalls = " exp for gensub gsub if in index int length log match print printf split sprintf sqrt strftime sub substr " +
	"systime tolower toupper while END NF NR "

var (
	awkString = lazyregexp.New(`"(?:[^"\\\n]|\\.)*"`)
	awkRegexp = lazyregexp.Build(func() string { return `(^|[({;,!&|~=\n])(\s*)/` + delimited("/") + `/` })
	awkWord   = lazyregexp.New(`[A-Za-z_][A-Za-z0-9_]*\s*\(?`)
)

// awkComputes accepts a program that computes and prints. Without the unsafe texts it only
// redirects its output by an operator after a print.
func awkComputes(text string) error {
	for _, unsafe := range awkUnsafe {
		if strings.Contains(text, unsafe) {
			return errorf("it has %q", unsafe)
		}
	}
	_, printed, _ := strings.Cut(text, "print")
	if strings.Contains(printed, ">") || strings.Contains(strings.ReplaceAll(printed, "||", ""), "|") || strings.Contains(printed, "|||") {
		return errors.New("it may redirect what it prints")
	}
	code := awkRegexp.ReplaceAllString(awkString.ReplaceAllString(text, `""`), `$1$2""`)
	for _, word := range awkWord.FindAllString(code, -1) {
		name := strings.TrimRight(word, "( \t\r\n")
		switch {
		case strings.HasSuffix(word, "("):
			if !strings.Contains(awkCalls, " "+name+" ") {
				return errorf("it calls %s", name)
			}
		case name != strings.ToLower(name) && !strings.Contains(awkNames, " "+name+" "):
			return errorf("it uses %s", name)
		}
	}
	return nil
}
