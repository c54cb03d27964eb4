package command

import (
	"regexp"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// SpelledWords returns the words that a script may have for the shell that reads it, in several
// readings: as written, without quotes and escapes, without the variables in words, and with braces
// expanded. A path counts as its last name. They show which programs a script could
// run if only parts of it are understood. Names of variables and the messages of commits are left out.
func SpelledWords(script string) (readings [][]string) {
	text := withoutMessages(strings.ReplaceAll(script, "\x00", ""))
	bare := quotes.Replace(unescaped(text))
	for _, r := range []string{text, bare, expansion.ReplaceAllString(bare, ""), expansion.ReplaceAllString(bare, " ")} {
		readings = append(readings, spelled(r))
	}
	return append(readings, braceWords(bare))
}

// SpelledPatterns returns the last names of the words of a script that are patterns of file
// names: "su?o", "s[u]do". A "*" counts only in a directory of programs, as in "/usr/bin/su*".
func SpelledPatterns(script string) []string {
	var out []string
	for _, word := range patternWord.FindAllString(quotes.Replace(unescaped(script)), -1) {
		slash := strings.LastIndexByte(word, '/') + 1
		dir, name := word[:slash], word[slash:]
		if strings.ContainsAny(name, "*?[") && (!strings.Contains(name, "*") || strings.HasSuffix(dir, "bin/") || strings.HasSuffix(dir, "*/")) {
			out = append(out, name)
		}
	}
	return out
}

var (
	// quotes removes the characters that a shell removes from words.
	quotes = strings.NewReplacer("\\\n", "", `\`, "", `"`, "", "'", "")
	// expansion matches a variable, or an empty substitution.
	expansion = lazyregexp.New("\\$(?:[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?!$-]|\\{[^{}\\n]*\\}|\\(\\s*\\))|``")
	// escapeSequence matches an escape of "$'…'", printf and "echo -e".
	escapeSequence = lazyregexp.New(`\\(?:x\{?[0-9A-Fa-f]{1,2}\}?|u[0-9A-Fa-f]{1,4}|U[0-9A-Fa-f]{1,8}|0?[0-7]{1,3})`)
	patternWord    = lazyregexp.New(`[\w.+/*?\[\]!^-]*[*?\[][\w.+/*?\[\]!^-]*`)
)

func unescaped(text string) string {
	b := []byte(text)
	for _, at := range reversed(escapeSequence.FindAllStringIndex(text, -1)) {
		s := text[at[0]:at[1]]
		base, digits := 8, s[1:]
		if strings.ContainsRune("xuU", rune(s[1])) {
			base, digits = 16, strings.Trim(s[2:], "{}")
		}
		if n, err := strconv.ParseUint(digits, base, 32); err == nil && n >= ' ' && n < 0x7f {
			b = append(b[:at[0]], append([]byte{byte(n)}, b[at[1]:]...)...)
		}
	}
	return string(b)
}

func reversed(list [][]int) [][]int {
	out := make([][]int, len(list))
	for i, at := range list {
		out[len(list)-1-i] = at
	}
	return out
}

// spelled splits a text into words.
func spelled(text string) []string {
	var out []string
	for i := 0; i < len(text); {
		if !inProgramName(text[i]) {
			i++
			continue
		}
		end := i
		for end < len(text) && inProgramName(text[end]) {
			end++
		}
		word := text[i:end]
		if i > 0 && text[i-1] == ':' { // "${x:-word}"
			word = strings.TrimLeft(word, "-")
		}
		isVariable := i > 0 && (text[i-1] == '$' || strings.HasSuffix(text[:i], "${")) || end < len(text) && text[end] == '='
		if word = strings.TrimRight(word, "."); word != "" && !isVariable {
			out = append(out, word)
		}
		i = end
	}
	return out
}

// inProgramName reports whether names of programs usually contain a byte.
func inProgramName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_.-", c) >= 0 || c >= 0x80
}

// maxBraceText is how long a word with braces may be.
const maxBraceText = 256

// braceWords returns the words that the braces in a text expand to.
func braceWords(text string) []string {
	var out []string
	ends := func(r rune) bool { return strings.ContainsRune(" \t\n;&|()<>`", r) }
	for field := range strings.FieldsFuncSeq(text, ends) {
		if len(field) > maxBraceText || !strings.Contains(field, "{") || len(out) > maxBraces {
			continue
		}
		word := &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: field}}}
		if !syntax.SplitBraces(word) || len(word.Parts) > maxBraceParts {
			continue
		}
		n := 0
		for w, err := range expand.BracesSeq(nil, word) {
			if n++; err != nil || n > maxBraces {
				break
			}
			out = append(out, spelled(source(w))...)
		}
	}
	return out
}

// plainWord matches a word that every shell reads alike.
const plainWord = "(?:[\\w./=:,@%+-]+|\"[^\"$`\\\\\n!]*\"|'[^'\n]*')"

// committer matches a program with message texts, up to the option before one.
const committer = `(?:^|[ \n;&])(?:git|gh|glab|hg|jj)(?: +` + plainWord + `)*? +(?:-m|-am|-b|-t|--message|--body|--title|--notes)[ =]`

var (
	// plainBeginning matches the longest beginning of a script that every shell reads alike.
	plainBeginning = lazyregexp.New(`^(?:` + plainWord + `|[ \n;]|&&)*`)
	messageText    = lazyregexp.New(`(` + committer + `)(?:"[^"]+"|'[^']+')`)
	beforeMessage  = lazyregexp.New(committer + `$`)
	hereMessage    = lazyregexp.New(`^"\$\(cat <<-?(?:'[A-Z_]+'|"[A-Z_]+")\n`)
)

// withoutMessages removes the messages of commits and the like: they are texts for people. A message is in quotes,
// or it is a here document: `git commit -m "$(cat <<'EOF' … )"`.
func withoutMessages(script string) string {
	plain := plainBeginning.FindString(script)
	rest := withoutHereMessage(plain, script[len(plain):])
	for range 8 { // messages
		shorter := messageText.ReplaceAllString(plain, "$1''")
		if shorter == plain {
			break
		}
		plain = shorter
	}
	return plain + rest
}

// withoutHereMessage removes the message at the beginning of rest, which follows the text before.
func withoutHereMessage(before, rest string) string {
	head := hereMessage.FindString(rest)
	if head == "" || !beforeMessage.MatchString(before) {
		return rest
	}
	_, delimiter, _ := strings.Cut(head, "<<")
	delimiter = strings.Trim(delimiter, "-'\"\n")
	end := regexp.MustCompile(`(?m)^\t*` + delimiter + `$`).FindStringIndex(rest[len(head):])
	if end == nil {
		return rest
	}
	after, ok := strings.CutPrefix(strings.TrimLeft(rest[len(head)+end[1]:], " \t\n"), `)"`)
	if !ok {
		return rest
	}
	return "''" + after
}
