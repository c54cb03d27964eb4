package git

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// gitDiff shortens diffs.
type gitDiff struct {
	maxLines, context int
	generated         []string
}

// newGitDiff makes the strategy "git_diff". It keeps max_diff_lines lines of
// hunks, divided so that small files and small hunks stay whole, and reports how many other
// lines were added and deleted. Hunks keep context lines as with git's
// --unified, unless the command sets it. Files whose names match a pattern of
// generated keep only small changes.
func newGitDiff(p strategy.Params) (strategy.Strategy, error) {
	c := struct {
		MaxDiffLines int      `toml:"max_diff_lines"`
		Context      int      `toml:"context"`
		Generated    []string `toml:"generated"`
	}{MaxDiffLines: 500, Context: 1, Generated: generatedFiles}
	if err := p.Decode(&c); err != nil {
		return nil, err
	}
	if err := quantity.Check(quantity.Least{Name: "max_diff_lines", Value: c.MaxDiffLines, Least: 1}, quantity.Least{Name: "context", Value: c.Context, Least: 1}); err != nil {
		return nil, err
	}
	for _, g := range c.Generated {
		if _, err := path.Match(g, ""); err != nil {
			return nil, fmt.Errorf("generated: %q: %w", g, err)
		}
	}
	return gitDiff{c.MaxDiffLines, c.Context, c.Generated}, nil
}

// generatedFiles are patterns of names of generated files.
var generatedFiles = []string{
	"package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "Cargo.lock",
	"go.sum", "go.work.sum", "poetry.lock", "uv.lock", "pdm.lock", "Pipfile.lock", "composer.lock",
	"Gemfile.lock", "mix.lock", "pubspec.lock", "Podfile.lock", "Package.resolved", "flake.lock",
	"packages.lock.json", "gradle.lockfile", ".terraform.lock.hcl", "*.min.js", "*.min.css", "*.js.map",
	"*.css.map", "*.snap",
	"*.pb.go", "*_pb2.py", "*.pb.cc", "*.pb.h", "*.svg",
}

// maxGenerated limits the changed lines that are kept of a generated file.
const maxGenerated = 12

// vendorDirs are directories of other people's code.
var vendorDirs = []string{"vendor/", "node_modules/", "third_party/", "dist/"}

func (g gitDiff) Begin(run strategy.Run, out *text.Lines) strategy.Pass { return g.begin(run, out) }

// begin begins a pass. If the command chose the context, the context is not trimmed.
func (g gitDiff) begin(run strategy.Run, out *text.Lines) *diffPass {
	d := &diffPass{gitDiff: g, run: run, out: out, body: text.NewLines(), trimContext: true}
	for _, word := range strings.Fields(run.Command) {
		if strings.HasPrefix(word, "-U") ||
			strings.HasPrefix(word, "--unified") ||
			word == "-W" ||
			word == "--function-context" ||
			strings.HasPrefix(word, "--inter-hunk-context") ||
			strings.Contains(word, "-diff=") ||
			strings.Contains(word, "-words") ||
			word == "--word-diff" {
			d.trimContext = false
		}
	}
	return d
}

// diffPass collects the shortened diff in body, and at the end writes as much of it as
// there is room for.
type diffPass struct {
	gitDiff
	run         strategy.Run
	out         *text.Lines
	body        *text.Lines
	trimContext bool
	position    diffPosition
	hunk        hunk // the current hunk, if its context is trimmed
	files       []diffFile
	lineBuffer  []byte
	recognised  bool // a line of a diff or of its statistics was seen
}

// diffFile describes the changes of one file.
type diffFile struct {
	hunkLines      int
	hunks          []int // the lines of each hunk
	added, deleted int   // lines
	generated      bool
	binaryLines    int // lines of a binary patch that are not reported yet
}

// maxDiffFiles limits the files that are counted separately.
const maxDiffFiles = 100_000

// maxDiffLine is the longest line of a diff, in bytes. Longer lines are not
// code.
const maxDiffLine = 2000

// diffPosition tracks the position in a diff.
type diffPosition struct {
	inHeader, inBinary bool // within the header or the binary patch of a file
	combined           bool // a diff with several old files: lines have several signs
	oldLeft, newLeft   int  // lines left in the current hunk
	inHunk             bool
}

// diffKind is the kind of a line in a diff.
type diffKind uint8

const (
	otherLine  diffKind = iota // not part of a diff
	fileLine                   // begins a file
	headerLine                 // describes a file
	indexLine                  // describes a file for programs
	hunkLine                   // begins a hunk
	codeLine                   // within a hunk
	dataLine                   // within a binary patch
)

// advance moves past the next line and returns its kind.
func (p *diffPosition) advance(l []byte) diffKind {
	switch {
	case len(l) > 8 && l[0] == 'd' &&
		(bytes.HasPrefix(l, []byte("diff --git ")) || bytes.HasPrefix(l, []byte("diff --cc ")) ||
			bytes.HasPrefix(l, []byte("diff --combined "))):
		*p = diffPosition{inHeader: true, combined: l[7] == 'c'}
		return fileLine
	case p.inHunk && p.continuesHunk(l):
		return codeLine
	}
	p.inHunk = false
	switch {
	case len(l) > 3 && l[0] == '@' && l[1] == '@':
		if oldCount, newCount, ok := hunkCounts(l); ok {
			p.inHeader, p.inHunk, p.oldLeft, p.newLeft = false, true, oldCount, newCount
			return hunkLine
		}
	case p.inBinary && len(l) > 0 && l[0] != ' ' && bytes.IndexByte(l, ' ') < 0,
		p.inBinary && (bytes.HasPrefix(l, []byte("literal ")) || bytes.HasPrefix(l, []byte("delta "))):
		return dataLine
	case p.inHeader && bytes.HasPrefix(l, []byte("index ")):
		return indexLine
	case p.inHeader && isDiffHeader(l):
		p.inBinary = bytes.Equal(l, []byte("GIT binary patch"))
		return headerLine
	}
	if len(l) > 0 {
		p.inHeader, p.inBinary = false, false
	}
	return otherLine
}

// continuesHunk reports whether a line belongs to the current hunk, and counts it. The
// hunk's header announces the number of lines. A run of blank lines may have become one.
func (p *diffPosition) continuesHunk(l []byte) bool {
	if len(l) > 0 && l[0] == '\\' {
		return true
	}
	if p.combined {
		return len(l) == 0 || l[0] == ' ' || l[0] == '+' || l[0] == '-'
	}
	if p.oldLeft <= 0 && p.newLeft <= 0 {
		return false
	}
	switch {
	case len(l) == 0, l[0] == ' ':
		p.oldLeft, p.newLeft = p.oldLeft-1, p.newLeft-1
	case l[0] == '+':
		p.newLeft--
	case l[0] == '-':
		p.oldLeft--
	default:
		return false
	}
	return true
}

// hunkCounts parses "@@ -12,7 +12,9 @@". It returns no counts if there are
// several old files.
func hunkCounts(l []byte) (old, new int, ok bool) {
	h, ok := parseHunk(l)
	if !ok {
		return 0, 0, bytes.HasPrefix(l, []byte("@@@ -"))
	}
	return h.oldCount, h.newCount, true
}

func isDiffHeader(l []byte) bool {
	for _, begin := range [...]string{
		"--- ", "+++ ", "old mode ", "new mode ", "new file mode ", "deleted file mode ", "mode ",
		"similarity index ", "dissimilarity index ", "rename ", "copy ", "Binary files ", "GIT binary patch",
		"Submodule ",
	} {
		if len(l) >= len(begin) && string(l[:len(begin)]) == begin {
			return true
		}
	}
	return false
}

func (d *diffPass) Line(l []byte) {
	kind := d.position.advance(l)
	if kind != codeLine {
		d.endHunk()
	}
	if f := d.currentFile(); f != nil && f.binaryLines > 0 && kind != dataLine && len(l) > 0 {
		d.writeBinaryOmission(f)
	}
	switch kind {
	case fileLine:
		d.recognised = true
		if len(d.files) < maxDiffFiles {
			d.files = append(d.files, diffFile{generated: d.isGenerated(l)})
		}
		d.body.Write(l)
	case indexLine: // dropped
	case hunkLine:
		d.beginHunk(l)
	case codeLine:
		d.addHunkLine(l)
	case dataLine:
		if f := d.currentFile(); f != nil {
			f.binaryLines++
		}
	default:
		if short, ok := text.ShortStat(d.lineBuffer[:0], l); ok {
			d.lineBuffer, d.recognised, l = short, true, short
		} else if text.IsStatSum(l) {
			d.recognised = true
		}
		d.body.Write(l)
	}
}

func (d *diffPass) currentFile() *diffFile {
	if len(d.files) == 0 {
		return nil
	}
	return &d.files[len(d.files)-1]
}

// writeBinaryOmission writes how many lines of a binary patch are left out.
func (d *diffPass) writeBinaryOmission(f *diffFile) {
	d.body.Write(text.Omission(f.binaryLines))
	f.binaryLines = 0
}

// isGenerated reports whether a file is generated and not named by the command.
func (d *diffPass) isGenerated(l []byte) bool {
	name := string(l[bytes.LastIndexByte(l, ' ')+1:])
	whole := strings.TrimPrefix(strings.Trim(name, `"`), "b/")
	base := path.Base(whole)
	if strings.Contains(d.run.Command, base) {
		return false
	}
	if slices.ContainsFunc(vendorDirs, func(dir string) bool { return strings.HasPrefix(whole, dir) || strings.Contains(whole, "/"+dir) }) {
		return true
	}
	return slices.ContainsFunc(d.generated, func(pattern string) bool { return matchesPattern(pattern, base) })
}

// matchesPattern is path.Match, with a fast path for plain names and suffixes.
func matchesPattern(pattern, name string) bool {
	if end, ok := strings.CutPrefix(pattern, "*"); ok && !strings.ContainsAny(end, `*?[\`) {
		return strings.HasSuffix(name, end)
	}
	if pattern == name {
		return true
	}
	ok := false
	if strings.ContainsAny(pattern, `*?[\`) {
		ok, _ = path.Match(pattern, name)
	}
	return ok
}

// beginHunk handles the header of a hunk.
func (d *diffPass) beginHunk(l []byte) {
	d.recognised = true
	if h, ok := parseHunk(l); ok && d.trimContext && !d.position.combined {
		h.open, h.text, h.ends = true, d.hunk.text[:0], d.hunk.ends[:0]
		d.hunk = h
		return
	}
	d.writeHunkLine(l)
}

// addHunkLine handles a line of a hunk.
func (d *diffPass) addHunkLine(l []byte) {
	if f := d.currentFile(); f != nil && len(l) > 0 {
		sign := l[0]
		if d.position.combined && len(l) > 1 && sign == ' ' {
			sign = l[1]
		}
		switch sign {
		case '+':
			f.added++
		case '-':
			f.deleted++
		}
	}
	if !d.hunk.open {
		d.writeHunkLine(l)
		return
	}
	if !d.hunk.add(l) { // too long to process as a whole
		d.hunk.writeWhole(d.writeHunkLine)
		d.hunk.open = false
	}
}

func (d *diffPass) endHunk() {
	if d.hunk.open {
		d.hunk.writeTrimmed(d.context, d.writeHunkLine)
		d.hunk.open = false
	}
}

// writeHunkLine writes a line of a hunk, or its header.
func (d *diffPass) writeHunkLine(l []byte) {
	if f := d.currentFile(); f != nil {
		f.hunkLines++
		if len(f.hunks) == 0 || lineSign(l) == '@' {
			f.hunks = append(f.hunks, 0)
		}
		f.hunks[len(f.hunks)-1]++
	}
	if len(l) > maxDiffLine {
		head := text.Prefix(l, maxDiffLine-100)
		d.lineBuffer = append(append(d.lineBuffer[:0], head...), " ... ("...)
		d.lineBuffer = append(strconv.AppendInt(d.lineBuffer, int64(len(l)-len(head)), 10), " bytes omitted) ..."...)
		l = d.lineBuffer
	}
	d.body.Write(l)
}

func (d *diffPass) End() strategy.Confidence {
	defer d.body.Close()
	d.endHunk()
	if f := d.currentFile(); f != nil && f.binaryLines > 0 {
		d.writeBinaryOmission(f)
	}
	if !d.recognised {
		return strategy.Fallback
	}
	return d.writeShares()
}
