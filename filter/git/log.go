package git

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

// gitLog shortens histories.
type gitLog struct {
	max, bodies int
	diff        gitDiff
}

// newGitLog makes the strategy "git_log": each commit becomes a line of its hash,
// date, author and subject. If there are no more than max_bodies commits, the
// rest of their messages stays too. Diffs go as with the strategy "git_diff". Of
// more than max_commits, the later ones are no more than a hash and the begin of a
// subject, and from ten times as many on they are only counted.
func newGitLog(p strategy.Params) (strategy.Strategy, error) {
	c := struct {
		MaxCommits int `toml:"max_commits"`
		MaxBodies  int `toml:"max_bodies"`
	}{MaxCommits: 300, MaxBodies: 3}
	if err := p.Decode(&c); err != nil {
		return nil, err
	}
	if c.MaxCommits <= 0 || c.MaxBodies < 0 {
		return nil, errors.New("max_commits and max_bodies must be numbers of commits")
	}
	return gitLog{c.MaxCommits, c.MaxBodies, gitDiff{max: 500, context: 1, generated: generatedFiles}}, nil
}

func (g gitLog) Begin(run strategy.Run, out *text.Lines) strategy.Pass {
	return &logging{gitLog: g, run: run, diff: g.diff.begin(run, out), few: true, blob: showsFile(run.Command)}
}

// showsFile reports whether a command shows what is in a file: "git show a:b".
func showsFile(command string) bool {
	words := strings.Fields(command)
	for _, w := range words[min(2, len(words)):] {
		if i := strings.IndexByte(w, ':'); i > 0 && !strings.HasPrefix(w, "-") {
			return len(words) > 1 && words[1] == "show"
		}
	}
	return false
}

// logging gives what it made of commits, and all other lines as they are, to a
// pass for diffs.
type logging struct {
	gitLog
	run      strategy.Run
	diff     *diffing
	blob     bool
	few      bool   // no more commits than those whose messages stay
	pending  []byte // lines that wait until that is known
	waiting  int    // commits in pending
	at       logPlace
	commit   commit
	commits  int // in the long format
	oneliner int // in the short one
	others   int // lines that are neither
	bodies   int // lines of messages that are left out
	omitted  int // commits beyond the most
	line     []byte
}

// logPlace is where in a commit a line stands.
type logPlace uint8

const (
	logOutside logPlace = iota // before commits, or behind a message: in statistics and diffs
	logHeader
	logSubject
	logBody
)

// maxPending bounds the lines that wait, in bytes.
const maxPending = 256 << 10

func (g *logging) Line(l []byte) {
	if !g.few {
		g.next(l)
		return
	}
	if _, hash := commitLine(l); hash != nil {
		g.waiting++
	}
	g.pending = append(append(g.pending, l...), '\n')
	if g.waiting > g.gitLog.bodies || len(g.pending) > maxPending {
		g.decide(g.waiting <= g.gitLog.bodies)
	}
}

// decide says whether messages stay, and goes on with what waited for that.
func (g *logging) decide(few bool) {
	g.few = false
	g.commit.bodies = few
	for rest := g.pending; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n')
		g.next(rest[:end])
		rest = rest[end+1:]
	}
	g.pending = nil
}

func (g *logging) next(l []byte) {
	if graph, hash := commitLine(l); hash != nil {
		g.flush()
		g.commits++
		g.at = logHeader
		g.commit.begin(graph, hash)
		return
	}
	text := l
	if g.commit.graph {
		text = withoutGraph(l)
	}
	if g.commits > g.max {
		g.late(text)
		return
	}
	switch g.at {
	case logHeader:
		g.header(text)
	case logSubject:
		g.subject(text)
	case logBody:
		g.body(l, text)
	default:
		g.other(l)
	}
}

// Of commits beyond the most, how many are shown for each of the most, and how
// long their lines are.
const (
	lateCommits = 10
	lateLine    = 64 // bytes
)

// late takes a line of a commit beyond the most: of its message the subject.
func (g *logging) late(text []byte) {
	switch {
	case g.at == logHeader && len(text) == 0:
		g.at = logSubject
	case g.at == logSubject && len(text) > 0:
		g.commit.subject = append(g.commit.subject[:0], bytes.TrimSpace(text)...)
		g.flush()
		g.at = logBody
	}
}

// brief writes a line of a commit beyond the most.
func (g *logging) brief(l []byte) {
	if len(l) > lateLine {
		l = slices.Concat(text.Prefix(l, lateLine-len(" …")), []byte(" …"))
	}
	g.diff.Line(l)
}

// header takes a line of a commit before its message.
func (g *logging) header(text []byte) {
	switch {
	case len(text) == 0:
		g.at = logSubject
	case bytes.HasPrefix(text, []byte("tree ")): // of --format=raw, which stays as it is
		g.commit.open, g.at = false, logOutside
		g.diff.Line(slices.Concat([]byte("commit "), g.commit.whole))
		g.diff.Line(text)
	case bytes.HasPrefix(text, []byte("Author:")):
		g.commit.author = append(g.commit.author[:0], name(text[len("Author:"):])...)
	case bytes.HasPrefix(text, []byte("Date:")), bytes.HasPrefix(text, []byte("AuthorDate:")):
		g.commit.date = append(g.commit.date[:0], day(bytes.TrimSpace(text[bytes.IndexByte(text, ':')+1:]))...)
	case bytes.HasPrefix(text, []byte("Merge: ")):
		g.commit.merge = append(g.commit.merge[:0], text[len("Merge: "):]...)
	case bytes.HasPrefix(text, []byte("Commit:")), bytes.HasPrefix(text, []byte("CommitDate:")), bytes.HasPrefix(text, []byte("TaggerDate:")):
	case bytes.HasPrefix(text, []byte("    ")):
		g.subject(text)
	default: // such as "Reflog:"
		g.diff.Line(text)
	}
}

// subject takes the first line of a message.
func (g *logging) subject(text []byte) {
	if len(text) == 0 {
		return
	}
	if !bytes.HasPrefix(text, []byte("    ")) && !g.commit.graph { // no message
		g.flush()
		g.at = logOutside
		g.other(text)
		return
	}
	g.commit.subject = append(g.commit.subject[:0], bytes.TrimSpace(text)...)
	g.flush()
	g.at = logBody
}

// body takes a line behind the subject.
func (g *logging) body(l, text []byte) {
	switch {
	case len(text) == 0:
		if g.commit.bodies {
			g.diff.Line(nil)
		}
	case bytes.HasPrefix(l, []byte("    ")) || g.commit.graph && !isGraphStat(text):
		if g.commit.bodies {
			g.diff.Line(l)
		} else {
			g.bodies++
		}
	default:
		g.at = logOutside
		g.other(l)
	}
}

// isGraphStat reports whether a line beside a graph is of statistics.
func isGraphStat(body []byte) bool {
	return bytes.Contains(body, []byte(" | ")) || text.IsStatSum(body)
}

// other takes a line that is not of a commit's head or message.
func (g *logging) other(l []byte) {
	if g.commits == 0 && len(l) > 0 {
		if isOneline(l) {
			g.oneliner++
		} else {
			g.others++
		}
		switch {
		case text.IsOmission(l):
		case g.oneliner > lateCommits*g.max:
			g.omitted++
			return
		case g.oneliner > g.max:
			g.brief(l)
			return
		}
	}
	g.diff.Line(l)
}

// flush writes the line of the current commit.
func (g *logging) flush() {
	if !g.commit.open {
		return
	}
	g.commit.open = false
	switch {
	case g.commits > lateCommits*g.max:
		g.omitted++
		return
	case g.commits > g.max:
		g.line = append(append(append(g.line[:0], g.commit.hash...), ' '), g.commit.subject...)
		g.brief(g.line)
		return
	}
	g.line = g.commit.append(g.line[:0])
	g.diff.Line(g.line)
}

func (g *logging) End() strategy.Confidence {
	if g.few {
		g.decide(true)
	}
	g.flush()
	if g.bodies > 0 {
		g.omission(g.bodies, "line of commit messages", "lines of commit messages")
	}
	if g.omitted > 0 {
		g.omission(g.omitted, "commit", "commits")
	}
	diffs := g.diff.known
	if !g.blob && (g.commits > 0 || g.oneliner > g.others) {
		g.diff.known = true
	}
	if g.blob {
		g.diff.known = false
	}
	confidence := g.diff.End()
	switch {
	case confidence == strategy.Fallback && g.omitted > 0 && !g.blob && !diffs:
		return strategy.Fallback
	case confidence == strategy.Full && g.omitted > 0:
		return strategy.Partial
	}
	return confidence
}

// omission says how much is left out.
func (g *logging) omission(n int, one, many string) {
	if n == 1 {
		many = one
	}
	g.diff.body.WriteString(fmt.Sprintf("... (%d %s omitted) ...", n, many))
}
