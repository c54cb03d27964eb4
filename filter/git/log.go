package git

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// gitLog shortens logs.
type gitLog struct {
	maxCommits, maxBodies int
	diff                  gitDiff
}

// newGitLog makes the strategy "git_log". Each commit becomes a line with its
// hash, date, author and subject, and with its committer if that is another
// person or day.
//
// If there are at most max_bodies commits, or the command asks for at most ten, or the rest of all
// messages is short, it stays. Otherwise only the lines about reverts, breaking changes, issues and
// vulnerabilities stay. Diffs are
// shortened as with git_diff. Commits after max_commits become a hash and the
// beginning of a subject; after ten times as many they are only counted.
func newGitLog(p strategy.Params) (strategy.Strategy, error) {
	c := struct {
		MaxCommits int `toml:"max_commits"`
		MaxBodies  int `toml:"max_bodies"`
	}{MaxCommits: 300, MaxBodies: 3}
	if err := p.Decode(&c); err != nil {
		return nil, err
	}
	if err := quantity.Check(quantity.Least{Name: "max_commits", Value: c.MaxCommits, Least: 1}, quantity.Least{Name: "max_bodies", Value: c.MaxBodies, Least: 0}); err != nil {
		return nil, err
	}
	return gitLog{c.MaxCommits, c.MaxBodies, gitDiff{maxLines: 500, context: 1, generated: generatedFiles}}, nil
}

func (g gitLog) Begin(run strategy.Run, out *text.Lines) strategy.Pass {
	return &logPass{gitLog: g, diff: g.diff.begin(run, out), deciding: true, showsFile: showsFile(run.Command), fewAsked: asksForFew(run.Command)}
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
	diff             *diffPass
	showsFile        bool
	deciding         bool   // lines wait in pending until it is known whether messages stay
	pending          []byte // lines with their line feeds
	pendingCommits   int    // commits in pending
	pendingBodies    int    // bytes of their messages after the subject
	pendingPosition  logPosition
	pendingWidth     int      // of the graph
	dense            bool     // messages stay without their blank lines
	fewAsked         bool     // the command asks for at most askedFew commits
	after            [][]byte // lines of the head that follow the line of the current commit
	position         logPosition
	commit           commitHead
	commits          int // commits in the long format
	onelineCommits   int // commits in the short format
	otherLines       int // lines before the first commit that have no commit format
	omittedBodyLines int // lines of messages
	omittedCommits   int // commits that are not written at all
	lineBuffer       []byte
}

// logPosition is a position in a commit.
type logPosition uint8

const (
	logOutside logPosition = iota // before a commit or after its message: in statistics and diffs
	logHeader
	logSubject
	logBody
)

// maxPending limits the lines that wait, in bytes.
const maxPending = 256 << 10

func (g *logPass) Line(l []byte) {
	if !g.deciding {
		g.handle(l)
		return
	}
	g.measurePending(l)
	g.pending = append(append(g.pending, l...), '\n')
	tooMany := g.pendingCommits > g.gitLog.maxBodies
	if len(g.pending) > maxPending || tooMany && !g.fewAsked && g.pendingBodies > shortBodies || tooMany && g.gitLog.maxBodies == 0 {
		g.decideBodies(!tooMany || g.fewAsked && g.gitLog.maxBodies > 0)
	}
}

// Limits up to which messages stay whole, apart from max_bodies.
const (
	askedFew    = 10      // commits that the command asks for
	shortBodies = 4 << 10 // bytes of the messages after their subjects
)

// asksForFew reports whether a command asks for at most askedFew commits.
func asksForFew(command string) bool {
	words := strings.Fields(command)
	for i, w := range words {
		value, ok := strings.CutPrefix(w, "--max-count=")
		if !ok && strings.HasPrefix(w, "-") {
			if value = strings.TrimPrefix(w[1:], "n"); value == "" && i+1 < len(words) {
				value = words[i+1]
			}
		}
		if n, err := strconv.Atoi(value); err == nil && n > 0 {
			return n <= askedFew
		}
	}
	return false
}

// measurePending counts the commits that wait, and the bytes of their messages.
func (g *logPass) measurePending(l []byte) {
	if width, hash := commitLine(l); hash != nil {
		g.pendingCommits++
		g.pendingPosition, g.pendingWidth = logHeader, width
		return
	}
	_, rest := g.splitGraph(l, g.pendingWidth)
	switch inMessage := bytes.HasPrefix(rest, messageIndent); {
	case g.pendingPosition == logHeader && len(rest) == 0:
		g.pendingPosition = logSubject
	case len(rest) == 0 || g.pendingPosition == logHeader:
	case !inMessage:
		g.pendingPosition = logOutside
	case g.pendingPosition == logSubject:
		g.pendingPosition = logBody
	case g.pendingPosition == logBody:
		g.pendingBodies += len(rest)
	}
}

// decideBodies sets whether messages stay, and handles the lines that waited for
// that.
func (g *logPass) decideBodies(keep bool) {
	g.deciding = false
	g.commit.keepBodies = keep
	g.dense = g.pendingCommits > g.gitLog.maxBodies
	for rest := g.pending; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n')
		g.handle(rest[:end])
		rest = rest[end+1:]
	}
	g.pending = nil
}

func (g *logPass) handle(l []byte) {
	if width, hash := commitLine(l); hash != nil {
		g.flushCommit()
		g.commits++
		g.position = logHeader
		g.commit.begin(hash)
		g.commit.graph = append(g.commit.graph[:0], l[:width]...)
		return
	}
	edge, rest := g.splitGraph(l, len(g.commit.graph))
	if edge = bytes.TrimRight(edge, " "); bytes.ContainsAny(edge, "\\/") && g.commits <= g.maxCommits {
		g.writeAfter(edge) // it branches or joins
	}
	if g.commits > g.maxCommits {
		g.handleLate(rest)
		return
	}
	switch g.position {
	case logHeader:
		g.handleHeader(rest)
	case logSubject:
		g.handleSubject(rest)
	case logBody:
		g.handleBody(l, rest)
	default:
		g.handleOther(rest)
	}
}

// messageIndent begins the lines of a message.
var messageIndent = []byte("    ")

// splitGraph divides a line into the part of a graph, which is width columns wide where the line
// has text, and the text.
func (g *logPass) splitGraph(l []byte, width int) (edge, rest []byte) {
	if width == 0 {
		return nil, l
	}
	p := &g.diff.position
	inHunk := p.inHunk && (p.oldLeft > 0 || p.newLeft > 0) && g.position == logOutside
	if width > len(l) || !inHunk && len(withoutGraph(l)) == 0 {
		return l, nil
	}
	if len(withoutGraph(l[:width])) > 0 { // no line of the graph
		return nil, l
	}
	return l[:width], l[width:]
}

// writeAfter writes a line after the line of the current commit.
func (g *logPass) writeAfter(l []byte) {
	if g.commit.open {
		g.after = append(g.after, bytes.Clone(l))
	} else {
		g.diff.Line(l)
	}
}

// Limits of the commits after max_commits.
const (
	lateCommits = 10 // times max_commits: commits after that are only counted
	maxLateLine = 64 // bytes
)

// handleLate handles a line of a commit after max_commits and keeps the subject.
func (g *logPass) handleLate(rest []byte) {
	switch {
	case g.position == logHeader && len(rest) == 0:
		g.position = logSubject
	case g.position == logSubject && len(rest) > 0:
		g.commit.subject = append(g.commit.subject[:0], bytes.TrimSpace(rest)...)
		g.flushCommit()
		g.position = logBody
	}
}

// writeBrief writes a line of a commit after max_commits.
func (g *logPass) writeBrief(l []byte) {
	if len(l) > maxLateLine {
		l = slices.Concat(text.Prefix(l, maxLateLine-len(" …")), []byte(" …"))
	}
	g.diff.Line(l)
}

// handleHeader handles a line of a commit before its message.
func (g *logPass) handleHeader(rest []byte) {
	switch {
	case len(rest) == 0:
		g.position = logSubject
	case bytes.HasPrefix(rest, []byte("tree ")): // --format=raw stays unchanged
		g.commit.open, g.position = false, logOutside
		g.diff.Line(slices.Concat([]byte("commit "), g.commit.fullHash))
		g.diff.Line(rest)
	case bytes.HasPrefix(rest, []byte("Author:")):
		g.commit.author = append(g.commit.author[:0], personName(rest[len("Author:"):])...)
	case bytes.HasPrefix(rest, []byte("Date:")), bytes.HasPrefix(rest, []byte("AuthorDate:")):
		g.commit.date = append(g.commit.date[:0], shortDay(bytes.TrimSpace(rest[bytes.IndexByte(rest, ':')+1:]))...)
	case bytes.HasPrefix(rest, []byte("Merge: ")):
		g.commit.parents = append(g.commit.parents[:0], rest[len("Merge: "):]...)
	case bytes.HasPrefix(rest, []byte("Commit:")):
		g.commit.committer = append(g.commit.committer[:0], personName(rest[len("Commit:"):])...)
	case bytes.HasPrefix(rest, []byte("CommitDate:")):
		g.commit.commitDate = append(g.commit.commitDate[:0], shortDay(bytes.TrimSpace(rest[len("CommitDate:"):]))...)
	case bytes.HasPrefix(rest, []byte("TaggerDate:")):
	case bytes.HasPrefix(rest, messageIndent):
		g.handleSubject(rest)
	default: // such as "Reflog:"
		g.writeAfter(rest)
	}
}

// handleSubject handles the first line of a message.
func (g *logPass) handleSubject(rest []byte) {
	if len(rest) == 0 {
		return
	}
	if !bytes.HasPrefix(rest, messageIndent) { // no message
		g.flushCommit()
		g.position = logOutside
		g.handleOther(rest)
		return
	}
	g.commit.subject = append(g.commit.subject[:0], bytes.TrimSpace(rest)...)
	g.flushCommit()
	g.position = logBody
}

// handleBody handles a line of a message after the subject.
func (g *logPass) handleBody(l, rest []byte) {
	switch {
	case len(rest) == 0:
		if g.commit.keepBodies && !g.dense {
			g.diff.Line(nil)
		}
	case bytes.HasPrefix(rest, messageIndent):
		if g.commit.keepBodies || isConsequence(bytes.TrimSpace(rest)) {
			g.diff.Line(l)
		} else {
			g.omittedBodyLines++
		}
	default:
		g.position = logOutside
		g.handleOther(rest)
	}
}

// consequencePrefixes begin message lines about breaking changes, reverts, issues and the like.
var consequencePrefixes = [][]byte{
	[]byte("BREAKING CHANGE"), []byte("BREAKING-CHANGE"), []byte("This reverts commit "),
	[]byte("(cherry picked from commit "), []byte("Fixes"), []byte("Fix #"), []byte("Closes"), []byte("Resolves"), []byte("Refs"), []byte("Ref:"),
}

// isConsequence reports whether a line of a message stays in a long log.
func isConsequence(l []byte) bool {
	return bytes.Contains(l, []byte("CVE-")) || slices.ContainsFunc(consequencePrefixes, func(begin []byte) bool { return bytes.HasPrefix(l, begin) })
}

// handleOther handles a line outside heads and messages.
func (g *logPass) handleOther(l []byte) {
	if g.commits == 0 && len(l) > 0 {
		if isOneline(l) {
			g.onelineCommits++
		} else {
			g.otherLines++
		}
		switch {
		case text.IsOmission(l):
		case g.onelineCommits > lateCommits*g.maxCommits:
			g.omittedCommits++
			return
		case g.onelineCommits > g.maxCommits:
			g.writeBrief(l)
			return
		}
	}
	g.diff.Line(l)
}

// flushCommit writes the line of the current commit, unless it was written.
func (g *logPass) flushCommit() {
	if !g.commit.open {
		return
	}
	g.commit.open = false
	switch {
	case g.commits > lateCommits*g.maxCommits:
		g.omittedCommits++
		return
	case g.commits > g.maxCommits:
		g.lineBuffer = append(append(append(g.lineBuffer[:0], g.commit.hash...), ' '), g.commit.subject...)
		g.writeBrief(g.lineBuffer)
		return
	}
	g.lineBuffer = g.commit.append(g.lineBuffer[:0])
	g.diff.Line(g.lineBuffer)
	for _, l := range g.after {
		g.diff.Line(l)
	}
	g.after = g.after[:0]
}

func (g *logPass) End() strategy.Confidence {
	if g.deciding {
		g.decideBodies(g.pendingCommits <= g.gitLog.maxBodies || g.gitLog.maxBodies > 0)
	}
	g.flushCommit()
	if g.omittedBodyLines > 0 {
		g.writeOmission(g.omittedBodyLines, "line of commit messages", "lines of commit messages")
	}
	if g.omittedCommits > 0 {
		g.writeOmission(g.omittedCommits, "commit", "commits")
	}
	hasDiff := g.diff.recognised
	if !g.showsFile && (g.commits > 0 || g.onelineCommits > g.otherLines) {
		g.diff.recognised = true
	}
	if g.showsFile {
		g.diff.recognised = false
	}
	confidence := g.diff.End()
	switch {
	case confidence == strategy.Fallback && g.omittedCommits > 0 && !g.showsFile && !hasDiff:
		return strategy.Fallback
	case confidence == strategy.Full && g.omittedCommits > 0:
		return strategy.Partial
	}
	return confidence
}

// writeOmission writes how many things are left out.
func (g *logPass) writeOmission(n int, one, many string) {
	if n == 1 {
		many = one
	}
	g.diff.body.WriteString(fmt.Sprintf("... (%d %s omitted) ...", n, many))
}
