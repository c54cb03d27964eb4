package plain

import (
	"slices"
	"strings"
)

// Reach is which files a read-only command opens. It decides where the command may run without a
// question: what reaches further needs a box that keeps other files from it.
type Reach int

// The reaches. Each value includes the ones before it.
const (
	// ReachesLiterals means that the command opens only files whose names are literal words of it.
	ReachesLiterals Reach = iota
	// ReachesNamed means that it opens only files that its words name, also by a pattern, or lists
	// directories.
	ReachesNamed
	// ReachesOthers means that it may open files that it does not name: settings of a repository,
	// packages, or all files below a directory. It may also start further programs for these.
	ReachesOthers
)

// literalReaders are programs that open only their operands. With the options of wideOptions they
// open more.
var literalReaders = strings.Fields(`[ : arch basename break cat cd cksum comm command continue cut date dirname echo exit expand expr false fmt fold
	grep egrep fgrep head id join ls md5sum nl nproc od paste printf pwd rev seq set sha1sum sha224sum sha256sum sha384sum sha512sum b2sum sort stat sum tac
	tail test tr true tty type uname unexpand uniq wc whoami`)

// namedReaders are programs that open only their operands, but parse a program or an archive, list
// directories, or show the state of the system.
var namedReaders = strings.Fields(`awk gawk mawk base64 bzip2 cal cmp column df du factor file free getconf groups gunzip gzip hexdump
	hostname jq locale lscpu md5 numfmt pgrep pr printenv ps read readlink realpath sed shasum shuf sleep strings sw_vers tar bsdtar gtar tree tsort unzip uptime
	which xxd xz zipinfo zstd cat`)

// wideOptions are options of literalReaders with which they open all files below a directory, or
// wait for a file to grow.
var wideOptions = map[string]string{
	"grep": "-r --recursive -d --directories", "egrep": "-r --recursive -d --directories", "fgrep": "-r --recursive -d --directories",
	"ls": "-R --recursive", "tail": "-f -F --follow", "stat": "-L --dereference",
}

// reach returns the reach of a read-only command in its plain form.
func (p *acceptedCommand) reach(c *Command) Reach {
	name := c.Program()
	switch {
	case !slices.Contains(literalReaders, name) && !slices.Contains(namedReaders, name):
		return ReachesOthers
	case slices.ContainsFunc(p.words, func(w string) bool { return isWide(name, w) }), opensComputed(c):
		return ReachesOthers
	case !slices.Contains(literalReaders, name), slices.ContainsFunc(c.words, func(w Word) bool { return w.Glob }):
		return ReachesNamed
	}
	return ReachesLiterals
}

// opensComputed reports whether an operand of a command may be a file whose name is computed.
func opensComputed(c *Command) bool {
	return !PrintsOnly(c.Program()) && slices.ContainsFunc(c.words, func(w Word) bool { return len(w.Values) == 0 && !w.pipe })
}

// isWide reports whether a word of the plain form of a program may be one of its wideOptions.
func isWide(name, word string) bool {
	option, _, _ := strings.Cut(strings.Trim(word, "'"), "=")
	return slices.Contains(strings.Fields(wideOptions[name]), option)
}

// note records the reach of a read-only command, and what it may print.
func (f *Form) note(c *Command, p *acceptedCommand) {
	c.Reach = p.reach(c)
	f.Reach = max(f.Reach, c.Reach)
	if f.Emits == "" {
		f.Emits = emits(c)
	}
}
