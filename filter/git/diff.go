package git

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

// gitDiff shortens diffs.
type gitDiff struct {
	max, context int
	generated    []string
}

// newGitDiff makes the strategy "git_diff". It keeps max_diff_lines lines of
// hunks, divided so that small files stay whole, and reports how many other
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
	if c.MaxDiffLines <= 0 || c.Context <= 0 {
		return nil, errors.New("max_diff_lines and context must be numbers of lines")
	}
	for _, g := range c.Generated {
		if _, err := path.Match(g, ""); err != nil {
			return nil, fmt.Errorf("generated: %q: %w", g, err)
		}
	}
	return gitDiff{c.MaxDiffLines, c.Context, c.Generated}, nil
}

// generatedFiles are names of files that no person writes.
var generatedFiles = []string{
	"package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "Cargo.lock", "go.sum", "go.work.sum", "poetry.lock", "uv.lock", "pdm.lock", "Pipfile.lock", "composer.lock",
	"Gemfile.lock", "mix.lock", "pubspec.lock", "Podfile.lock", "Package.resolved", "flake.lock", "packages.lock.json", "gradle.lockfile", ".terraform.lock.hcl", "*.min.js", "*.min.css", "*.js.map", "*.css.map", "*.snap",
	"*.pb.go", "*_pb2.py", "*.pb.cc", "*.pb.h", "*.svg",
}

// maxGenerated limits the changed lines that are kept of a generated file.
const maxGenerated = 12

// vendored are directories of other people's code.
var vendored = []string{"vendor/", "node_modules/", "third_party/", "dist/"}

func (g gitDiff) Begin(run strategy.Run, out *text.Lines) strategy.Pass { return g.begin(run, out) }

func (g gitDiff) begin(run strategy.Run, out *text.Lines) *diffPass {
	d := &diffPass{gitDiff: g, run: run, out: out, body: text.NewLines(), trims: true}
	for _, word := range strings.Fields(run.Command) {
		if strings.HasPrefix(word, "-U") || strings.HasPrefix(word, "--unified") || word == "-W" || word == "--function-context" || strings.HasPrefix(word, "--inter-hunk-context") || strings.Contains(word, "-diff=") || strings.Contains(word, "-words") || word == "--word-diff" {
			d.trims = false
		}
	}
	return d
}

// diffPass writes the shortened diff to body, and at the end as much of it as
// there is room for.
type diffPass struct {
	gitDiff
	run   strategy.Run
	out   *text.Lines
	body  *text.Lines
	trims bool // shorten the context
	at    diffPlace
	hunk  hunk
	files []diffFile
	short []byte
	known bool
	cut   bool
}

// diffFile describes the changes of one file.
type diffFile struct {
	lines      int // lines of its hunks
	added, del int
	generated  bool
	binary     int // lines of a binary patch
}

// maxDiffFiles limits the files that are counted separately.
const maxDiffFiles = 100_000

// maxDiffLine is the longest line of a diff, in bytes. Longer lines are not
// code.
const maxDiffLine = 2000

// diffPlace tracks the position in a diff.
type diffPlace struct {
	header, binary bool // within the header or the binary patch of a file
	combined       bool // lines have several signs
	old, new       int  // lines left in the current hunk
	inHunk         bool
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

// next returns the kind of the next line.
func (p *diffPlace) next(l []byte) diffKind {
	switch {
	case len(l) > 8 && l[0] == 'd' && (bytes.HasPrefix(l, []byte("diff --git ")) || bytes.HasPrefix(l, []byte("diff --cc ")) || bytes.HasPrefix(l, []byte("diff --combined "))):
		*p = diffPlace{header: true, combined: l[7] == 'c'}
		return fileLine
	case p.inHunk && p.code(l):
		return codeLine
	}
	p.inHunk = false
	switch {
	case len(l) > 3 && l[0] == '@' && l[1] == '@':
		if old, new, ok := hunkCounts(l); ok {
			p.header, p.inHunk, p.old, p.new = false, true, old, new
			return hunkLine
		}
	case p.binary && len(l) > 0 && l[0] != ' ' && bytes.IndexByte(l, ' ') < 0, p.binary && (bytes.HasPrefix(l, []byte("literal ")) || bytes.HasPrefix(l, []byte("delta "))):
		return dataLine
	case p.header && bytes.HasPrefix(l, []byte("index ")):
		return indexLine
	case p.header && isDiffHeader(l):
		p.binary = bytes.Equal(l, []byte("GIT binary patch"))
		return headerLine
	}
	if len(l) > 0 {
		p.header, p.binary = false, false
	}
	return otherLine
}

// code reports whether a line belongs to the current hunk, by the number of
// lines that its header announces. A run of blank lines may have become one.
func (p *diffPlace) code(l []byte) bool {
	if len(l) > 0 && l[0] == '\\' {
		return true
	}
	if p.combined {
		return len(l) == 0 || l[0] == ' ' || l[0] == '+' || l[0] == '-'
	}
	if p.old <= 0 && p.new <= 0 {
		return false
	}
	switch {
	case len(l) == 0, l[0] == ' ':
		p.old, p.new = p.old-1, p.new-1
	case l[0] == '+':
		p.new--
	case l[0] == '-':
		p.old--
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
	for _, begin := range [...]string{"--- ", "+++ ", "old mode ", "new mode ", "new file mode ", "deleted file mode ", "mode ", "similarity index ", "dissimilarity index ", "rename ", "copy ", "Binary files ", "GIT binary patch", "Submodule "} {
		if len(l) >= len(begin) && string(l[:len(begin)]) == begin {
			return true
		}
	}
	return false
}

func (d *diffPass) Line(l []byte) {
	kind := d.at.next(l)
	if kind != codeLine {
		d.endHunk()
	}
	if f := d.file(); f != nil && f.binary > 0 && kind != dataLine && len(l) > 0 {
		d.binary(f)
	}
	switch kind {
	case fileLine:
		d.known = true
		if len(d.files) < maxDiffFiles {
			d.files = append(d.files, diffFile{generated: d.isGenerated(l)})
		}
		d.body.Write(l)
	case indexLine:
		d.cut = true
	case hunkLine:
		d.begins(l)
	case codeLine:
		d.code(l)
	case dataLine:
		if f := d.file(); f != nil {
			f.binary++
		}
	default:
		if short, ok := text.ShortStat(d.short[:0], l); ok {
			d.short, d.known, l = short, true, short
		} else if text.IsStatSum(l) {
			d.known = true
		}
		d.body.Write(l)
	}
}

func (d *diffPass) file() *diffFile {
	if len(d.files) == 0 {
		return nil
	}
	return &d.files[len(d.files)-1]
}

// binary writes how many lines of a binary patch are left out.
func (d *diffPass) binary(f *diffFile) {
	d.body.Write(text.Omission(f.binary))
	f.binary = 0
}

// isGenerated reports whether a file is generated and not named by the command.
func (d *diffPass) isGenerated(l []byte) bool {
	name := string(l[bytes.LastIndexByte(l, ' ')+1:])
	whole := strings.TrimPrefix(strings.Trim(name, `"`), "b/")
	base := path.Base(whole)
	if strings.Contains(d.run.Command, base) {
		return false
	}
	if slices.ContainsFunc(vendored, func(dir string) bool { return strings.HasPrefix(whole, dir) || strings.Contains(whole, "/"+dir) }) {
		return true
	}
	return slices.ContainsFunc(d.generated, func(pattern string) bool { return matchesName(pattern, base) })
}

// matchesName is path.Match, with a fast path for plain names and suffixes.
func matchesName(pattern, name string) bool {
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

// begins begins a hunk.
func (d *diffPass) begins(l []byte) {
	d.known = true
	if h, ok := parseHunk(l); ok && d.trims && !d.at.combined {
		h.open, h.text, h.ends = true, d.hunk.text[:0], d.hunk.ends[:0]
		d.hunk = h
		return
	}
	d.codeOut(l)
}

// code handles a line of a hunk.
func (d *diffPass) code(l []byte) {
	if f := d.file(); f != nil && len(l) > 0 {
		sign := l[0]
		if d.at.combined && len(l) > 1 && sign == ' ' {
			sign = l[1]
		}
		switch sign {
		case '+':
			f.added++
		case '-':
			f.del++
		}
	}
	if !d.hunk.open {
		d.codeOut(l)
		return
	}
	if !d.hunk.add(l) { // too long to process as a whole
		d.hunk.whole(d.codeOut)
		d.hunk.open = false
	}
}

func (d *diffPass) endHunk() {
	if d.hunk.open {
		d.hunk.trim(d.context, d.codeOut)
		d.hunk.open = false
	}
}

// codeOut writes a line of a hunk, including its first one.
func (d *diffPass) codeOut(l []byte) {
	if f := d.file(); f != nil {
		f.lines++
	}
	if len(l) > maxDiffLine {
		n := maxDiffLine - 100
		for n > 0 && l[n]&0xc0 == 0x80 {
			n--
		}
		d.short = append(append(d.short[:0], l[:n]...), " ... ("...)
		d.short = append(strconv.AppendInt(d.short, int64(len(l)-n), 10), " bytes omitted) ..."...)
		l = d.short
	}
	d.body.Write(l)
}

func (d *diffPass) End() strategy.Confidence {
	defer d.body.Close()
	d.endHunk()
	if f := d.file(); f != nil && f.binary > 0 {
		d.binary(f)
	}
	if !d.known {
		return strategy.Fallback
	}
	return d.divide()
}
