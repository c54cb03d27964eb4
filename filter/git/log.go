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

// gitLog shortens logs.
type gitLog struct {
	max, bodies int
	diff        gitDiff
}

// newGitLog makes the strategy "git_log". Each commit becomes a line of its
// hash, date, author and subject, and of its committer if that is another
// person or day. Up to max_bodies commits keep the rest of their messages, and
// more commits the lines on reverts and breaking changes. Diffs are shortened as with git_diff. Commits after
// max_commits become a hash and the beginning of a subject; after ten times as
// many they are only counted.
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
	return &logPass{gitLog: g, run: run, diff: g.diff.begin(run, out), few: true, blob: showsFile(run.Command)}
}

// showsFile reports whether a command shows the contents of a file: "git show
// a:b".
func showsFile(command string) bool {
	words := strings.Fields(command)
	for _, w := range words[min(2, len(words)):] {
		if i := strings.IndexByte(w, ':'); i > 0 && !strings.HasPrefix(w, "-") {
			return len(words) > 1 && words[1] == "show"
		}
	}
	return false
}

// logPass shortens commits and passes all other lines to a pass for diffs.
type logPass struct {
	gitLog
	run      strategy.Run
	diff     *diffPass
	blob     bool
	few      bool   // few enough commits to keep messages
	pending  []byte // lines that wait until few is known
	waiting  int    // commits in pending
	at       logPlace
	commit   commitHead
	commits  int // commits in the long format
	oneliner int // commits in the short format
	others   int // other lines
	bodies   int // omitted lines of messages
	omitted  int // commits that are only counted
	line     []byte
}

// logPlace is a position in a commit.
type logPlace uint8

const (
	logOutside logPlace = iota // before a commit or after its message: in statistics and diffs
	logHeader
	logSubject
	logBody
)

// maxPending limits the lines that wait, in bytes.
const maxPending = 256 << 10

func (g *logPass) Line(l []byte) {
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

// decide sets whether messages stay, and processes the lines that waited for
// it.
func (g *logPass) decide(few bool) {
	g.few = false
	g.commit.bodies = few
	for rest := g.pending; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n')
		g.next(rest[:end])
		rest = rest[end+1:]
	}
	g.pending = nil
}

func (g *logPass) next(l []byte) {
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

// Commits after max_commits: how many are shown for each of max_commits, and
// how long their lines are.
const (
	lateCommits = 10
	lateLine    = 64 // bytes
)

// late handles a line of a commit after max_commits and keeps the subject.
func (g *logPass) late(text []byte) {
	switch {
	case g.at == logHeader && len(text) == 0:
		g.at = logSubject
	case g.at == logSubject && len(text) > 0:
		g.commit.subject = append(g.commit.subject[:0], bytes.TrimSpace(text)...)
		g.flush()
		g.at = logBody
	}
}

// brief writes a line of a commit after max_commits.
func (g *logPass) brief(l []byte) {
	if len(l) > lateLine {
		l = slices.Concat(text.Prefix(l, lateLine-len(" …")), []byte(" …"))
	}
	g.diff.Line(l)
}

// header handles a line of a commit before its message.
func (g *logPass) header(text []byte) {
	switch {
	case len(text) == 0:
		g.at = logSubject
	case bytes.HasPrefix(text, []byte("tree ")): // --format=raw stays as it is
		g.commit.open, g.at = false, logOutside
		g.diff.Line(slices.Concat([]byte("commit "), g.commit.whole))
		g.diff.Line(text)
	case bytes.HasPrefix(text, []byte("Author:")):
		g.commit.author = append(g.commit.author[:0], personName(text[len("Author:"):])...)
	case bytes.HasPrefix(text, []byte("Date:")), bytes.HasPrefix(text, []byte("AuthorDate:")):
		g.commit.date = append(g.commit.date[:0], shortDay(bytes.TrimSpace(text[bytes.IndexByte(text, ':')+1:]))...)
	case bytes.HasPrefix(text, []byte("Merge: ")):
		g.commit.merge = append(g.commit.merge[:0], text[len("Merge: "):]...)
	case bytes.HasPrefix(text, []byte("Commit:")):
		g.commit.committer = append(g.commit.committer[:0], personName(text[len("Commit:"):])...)
	case bytes.HasPrefix(text, []byte("CommitDate:")):
		g.commit.committed = append(g.commit.committed[:0], shortDay(bytes.TrimSpace(text[len("CommitDate:"):]))...)
	case bytes.HasPrefix(text, []byte("TaggerDate:")):
	case bytes.HasPrefix(text, []byte("    ")):
		g.subject(text)
	default: // such as "Reflog:"
		g.diff.Line(text)
	}
}

// subject handles the first line of a message.
func (g *logPass) subject(text []byte) {
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

// body handles a line of a message after the subject.
func (g *logPass) body(l, text []byte) {
	switch {
	case len(text) == 0:
		if g.commit.bodies {
			g.diff.Line(nil)
		}
	case bytes.HasPrefix(l, []byte("    ")) || g.commit.graph && !isGraphStat(text):
		if g.commit.bodies || isConsequence(bytes.TrimSpace(text)) {
			g.diff.Line(l)
		} else {
			g.bodies++
		}
	default:
		g.at = logOutside
		g.other(l)
	}
}

// consequences begin the lines of messages that change the meaning of a commit.
var consequences = [][]byte{[]byte("BREAKING CHANGE"), []byte("BREAKING-CHANGE"), []byte("This reverts commit "), []byte("(cherry picked from commit ")}

// isConsequence reports whether a line of a message stays in a long log.
func isConsequence(l []byte) bool {
	return slices.ContainsFunc(consequences, func(begin []byte) bool { return bytes.HasPrefix(l, begin) })
}

// isGraphStat reports whether a line after a graph belongs to statistics.
func isGraphStat(body []byte) bool {
	return bytes.Contains(body, []byte(" | ")) || text.IsStatSum(body)
}

// other handles a line outside heads and messages.
func (g *logPass) other(l []byte) {
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
func (g *logPass) flush() {
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

func (g *logPass) End() strategy.Confidence {
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

// omission writes how many things are left out.
func (g *logPass) omission(n int, one, many string) {
	if n == 1 {
		many = one
	}
	g.diff.body.WriteString(fmt.Sprintf("... (%d %s omitted) ...", n, many))
}
