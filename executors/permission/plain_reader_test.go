package permission_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// plainCommand is a simple command of a printed script.
type plainCommand []plainWord

// plainWord is one word of a command.
type plainWord struct {
	text  string         // as it is printed
	plain string         // without its quotes: a pattern that matches nothing stays
	match *regexp.Regexp // the words that it may become
	many  bool           // it may become any number of words
}

// fits reports whether the command may produce these words.
func (c plainCommand) fits(words []string) bool {
	if len(c) == 0 {
		return len(words) == 0
	}
	if !c[0].many {
		return len(words) > 0 && c[0].match.MatchString(words[0]) && c[1:].fits(words[1:])
	}
	for n := 0; ; n++ {
		if c[1:].fits(words[n:]) {
			return true
		}
		if n == len(words) || !c[0].match.MatchString(words[n]) && words[n] != c[0].plain {
			return false
		}
	}
}

// plainReader parses a printed script. It supports so little of the shell that
// it is surely correct: plain characters, text in single quotes, wildcards, the
// variables v1, v2 … and $? in double quotes, and substitutions. Anything else
// is an error.
type plainReader struct {
	rest     string
	commands []plainCommand
}

// readPlain returns the simple commands of a printed script.
func readPlain(script string) ([]plainCommand, error) {
	r := &plainReader{rest: script}
	if err := r.list(""); err != nil {
		return nil, fmt.Errorf("%w before %.40q", err, r.rest)
	}
	return r.commands, nil
}

var (
	keywords   = []string{"!", "{", "if", "then", "elif", "else", "do", "time"} // a command follows
	closers    = []string{"}", "fi", "done", "esac"}
	reads      = regexp.MustCompile(`^while (IFS=('[,:;|/ \t]*'|[,:/]*) )?read( -r)?( v[0-9]+)+(;|$)`)
	leading    = regexp.MustCompile(`^[!{}a-z]+`)
	operators  = regexp.MustCompile(`^(\|\||&&|\|&?|;|\()`)
	plainChars = regexp.MustCompile(`^[A-Za-z0-9_./:,+@-]+`)
	inQuotes   = regexp.MustCompile(`^'[^']*'`)
	wildcards  = regexp.MustCompile(`^(\*|\?|\[!?[A-Za-z0-9_-]+\]|\[!\.\])`)
	variables  = regexp.MustCompile(`^"\$(v[0-9]+|\?|\{(EDITOR|GOBIN|GOPATH|GOROOT|JAVA_HOME|LANG|LOGNAME|NODE_ENV|PATH|SHELL|TERM|USER|VIRTUAL_ENV)\})"`)
	split      = regexp.MustCompile(`^\$\{v[0-9]+\}`)
	assigns    = regexp.MustCompile(`^v[0-9]+=`)
	// Redirections of /dev/null, of one descriptor to another, and of the input.
	redirects = regexp.MustCompile(`^ ([012]?(>|>>|<)/dev/null|&>>?/dev/null|[012]>&[12]|0<(<<)?('[^']*'|\\'|"\$v[0-9]+"|[A-Za-z0-9_./:,+@-])+)( |$|;|\)|\|)`)
	settings  = regexp.MustCompile(`^(LANG|LC_[A-Z]+|TZ|NO_COLOR|CLICOLOR|COLUMNS|PAGER|GIT_PAGER|GIT_NO_LAZY_FETCH|GIT_NO_REPLACE_OBJECTS|GIT_OPTIONAL_LOCKS|GOTOOLCHAIN|GOFLAGS|GOPROXY|GOVCS|GONOPROXY|GOENV|GOWORK|CGO_ENABLED|GONOSUMDB|GOSUMDB|GODEBUG|GOTELEMETRY)=`)
)

// list reads commands up to the closing text.
func (r *plainReader) list(end string) error {
	for {
		r.rest = strings.TrimLeft(r.rest, " ")
		if end != "" && strings.HasPrefix(r.rest, end) {
			r.rest = r.rest[len(end):]
			return nil
		}
		if r.rest == "" {
			if end != "" {
				return fmt.Errorf("no %q", end)
			}
			return nil
		}
		if op := operators.FindString(r.rest); op != "" {
			if strings.HasPrefix(r.rest, "((") {
				return errors.New("arithmetic, or what looks like it")
			}
			if r.rest = r.rest[len(op):]; op == "(" {
				if err := r.list(")"); err != nil {
					return err
				}
				if err := r.redirections(); err != nil {
					return err
				}
			}
			continue
		}
		if err := r.command(); err != nil {
			return err
		}
	}
}

// command reads a simple command, or a word of the grammar.
func (r *plainReader) command() error {
	word := leading.FindString(r.rest)
	switch {
	case slices.Contains(keywords, word):
		r.rest = r.rest[len(word):]
		return nil
	case slices.Contains(closers, word):
		r.rest = r.rest[len(word):]
		return r.redirections()
	case word == "for":
		return r.loop()
	case word == "while":
		head := reads.FindString(r.rest)
		if head == "" {
			return errors.New("a loop that does not read")
		}
		r.rest = r.rest[len(head):]
		return nil
	case word == "case":
		return r.choice()
	}
	for {
		name := settings.FindString(r.rest)
		if name == "" {
			break
		}
		r.rest = r.rest[len(name):]
		if !strings.HasPrefix(r.rest, "'") {
			r.rest = strings.TrimLeft(r.rest, "-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:,+@=")
		} else if _, err := r.word(); err != nil {
			return err
		}
		r.rest = strings.TrimLeft(r.rest, " ")
	}
	if name := assigns.FindString(r.rest); name != "" { // a computed variable of the script
		r.rest = r.rest[len(name):]
		if _, err := r.word(); err != nil || !assigns.MatchString(strings.TrimPrefix(r.rest, " ")) {
			return err
		}
		r.rest = strings.TrimPrefix(r.rest, " ")
		return r.command()
	}
	var c plainCommand
	for {
		w, err := r.word()
		if err != nil {
			return err
		}
		c = append(c, w)
		if err := r.redirections(); err != nil {
			return err
		}
		if !strings.HasPrefix(r.rest, " ") || operators.MatchString(strings.TrimLeft(r.rest, " ")) {
			break
		}
		r.rest = r.rest[1:]
	}
	r.commands = append(r.commands, c)
	return nil
}

// choice reads "case WORD in" and each "(PATTERN) LIST ;;" after it.
func (r *plainReader) choice() error {
	r.rest = strings.TrimPrefix(r.rest, "case ")
	if _, err := r.word(); err != nil {
		return err
	}
	var ok bool
	if r.rest, ok = strings.CutPrefix(r.rest, " in "); !ok {
		return errors.New("a case that is not plain")
	}
	for strings.HasPrefix(r.rest, "(") {
		for r.rest = r.rest[1:]; ; r.rest = r.rest[1:] {
			if _, err := r.word(); err != nil {
				return err
			}
			if !strings.HasPrefix(r.rest, "|") {
				break
			}
		}
		if r.rest, ok = strings.CutPrefix(r.rest, ") "); !ok {
			return errors.New("a pattern that is not plain")
		}
		if err := r.list(";; "); err != nil {
			return err
		}
	}
	if r.rest, ok = strings.CutPrefix(r.rest, "esac"); !ok {
		return errors.New("a case without an end")
	}
	return r.redirections()
}

// loop reads "for v1 in WORDS".
func (r *plainReader) loop() error {
	head := regexp.MustCompile(`^for v[0-9]+ in `).FindString(r.rest)
	if head == "" {
		return errors.New("a loop that is not plain")
	}
	r.rest = r.rest[len(head):]
	for {
		if _, err := r.word(); err != nil {
			return err
		}
		if !strings.HasPrefix(r.rest, " ") {
			return nil
		}
		r.rest = r.rest[1:]
	}
}

func (r *plainReader) redirections() error {
	for {
		if rest, ok := strings.CutPrefix(r.rest, " 0< <("); ok {
			r.rest = rest
			if err := r.list(")"); err != nil {
				return err
			}
			continue
		}
		m := redirects.FindStringSubmatch(r.rest)
		if m == nil {
			return nil
		}
		r.rest = r.rest[len(m[0])-len(m[len(m)-1]):]
	}
}

// word reads one word.
func (r *plainReader) word() (plainWord, error) {
	var text, plain, pattern strings.Builder
	var w plainWord
	add := func(n int, match string) {
		text.WriteString(r.rest[:n])
		plain.WriteString(strings.TrimPrefix(strings.Trim(r.rest[:n], "'"), `\`))
		pattern.WriteString(match)
		r.rest = r.rest[n:]
	}
	for {
		if m := plainChars.FindString(r.rest); m != "" {
			add(len(m), regexp.QuoteMeta(m))
		} else if m := inQuotes.FindString(r.rest); m != "" {
			add(len(m), regexp.QuoteMeta(m[1:len(m)-1]))
		} else if strings.HasPrefix(r.rest, `\'`) {
			add(2, "'")
		} else if m := wildcards.FindString(r.rest); m != "" {
			w.many = true
			add(len(m), map[byte]string{'*': "[^/]*", '?': "[^/]", '[': strings.Replace(m, "[!", "[^", 1)}[m[0]])
		} else if m := variables.FindString(r.rest); m != "" {
			add(len(m), ".*")
		} else if m := split.FindString(r.rest); m != "" {
			w.many = true
			add(len(m), ".*")
		} else if quoted := strings.HasPrefix(r.rest, `"$(`); quoted || strings.HasPrefix(r.rest, "$(") {
			end := ")"
			if quoted {
				end = `)"`
			}
			r.rest = strings.TrimPrefix(strings.TrimPrefix(r.rest, `"`), "$(")
			if strings.HasPrefix(r.rest, "(") {
				return w, errors.New("arithmetic, or what looks like it")
			}
			if err := r.list(end); err != nil {
				return w, err
			}
			w.many = w.many || !quoted
			add(0, ".*")
		} else if strings.HasPrefix(r.rest, "<(") {
			if r.rest = r.rest[2:]; strings.HasPrefix(r.rest, "(") {
				return w, errors.New("arithmetic, or what looks like it")
			}
			if err := r.list(")"); err != nil {
				return w, err
			}
			add(0, "/dev/fd/[0-9]+")
		} else {
			break
		}
	}
	w.text, w.plain = text.String(), plain.String()
	var err error
	if pattern.Len() == 0 && w.text != "''" {
		return w, errors.New("a word that is not plain")
	}
	w.match, err = regexp.Compile(`(?s)^` + pattern.String() + `$`)
	return w, err
}

// The reader itself: commands that it must accept, and texts that it must
// refuse.
func TestPlainReader(t *testing.T) {
	for script, want := range map[string]string{
		"ls":                                              "ls",
		"ls -l 'a b' | head":                              "ls,-l,'a b' head",
		"! ls && (cat x; pwd) || true":                    "ls cat,x pwd true",
		`for v1 in *.go; do cat -- "$v1"; done`:           `cat,--,"$v1"`,
		`echo "$(ls src)" 2>/dev/null 1>&2`:               `ls,src echo,`,
		"for v1 in a; do (ls) 1>/dev/null; done":          "ls",
		"if ls; then pwd; else true; fi":                  "ls pwd true",
		`echo 'it'\''s'`:                                  `echo,'it'\''s'`,
		"diff -- <(sort a) <(sort b)":                     "sort,a sort,b diff,--,,",
		"case a in (a|*.go) ls;; (b) pwd;; esac":          "ls pwd",
		`while IFS= read -r v1; do wc -- "$v1"; done 0<f`: `wc,--,"$v1"`,
	} {
		list, err := readPlain(script)
		if err != nil {
			t.Errorf("%s: %v", script, err)
		}
		var got []string
		for _, c := range list {
			var words []string
			for _, w := range c {
				words = append(words, w.text)
			}
			got = append(got, strings.Join(words, ","))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: read as %s, want %s", script, strings.Join(got, " "), want)
		}
	}
	for _, script := range []string{`echo "$x"`, "echo $x", "echo `ls`", "ls > f", "ls >> f", "cat >(ls)", "while true; do ls; done",
		"case $x in (a) ls;; esac", "x=1", "PATH=bin ls", "echo {a,b}", "ls &", "echo $((1))", "((ls))", "cat <<E", "echo ~", `echo \x`, "ls 3>&1", "echo $'a'",
		"for x in a; do ls; done", "(ls", "a[1]=2", `echo "a"`} {
		if list, err := readPlain(script); err == nil {
			t.Errorf("%s is read as %v", script, list)
		}
	}
}
