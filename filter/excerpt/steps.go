package excerpt

import (
	"bytes"
	"slices"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

// buildSteps is a digest of image builds. Steps that succeeded keep only
// warnings; others keep their name and output.
type buildSteps struct{ *digest }

// newBuildSteps makes the strategy "build_steps" for docker and similar
// programs. Its patterns also apply to the output of the steps.
func newBuildSteps(p strategy.Params) (strategy.Strategy, error) {
	d, err := readDigest(p)
	if err != nil {
		return nil, err
	}
	return buildSteps{d}, nil
}

func (b buildSteps) Begin(run strategy.Run, out *text.Lines) strategy.Pass {
	return &buildPass{digestPass: b.begin(run, out)}
}

// failedStepExcerpt cuts the output of a step that did not succeed.
var failedStepExcerpt = text.Excerpt{Head: 5, Tail: 40, Context: 6}

// testFailureLines match the lines in which tests report a failure, other than its
// name.
var testFailureLines = text.CompileOnce(
	stepTime+`\s*● `, stepTime+`E\s{2,}\S`, stepTime+`\s*(?i:expected|received|actual|got|want|left|right)\b`, stepTime+`\s+\d+\) \S`,
	stepTime+`\s*[✕✗✘×] `, stepTime+`\s*[-+] {2,}\S`, stepTime+`\s+at \S.*:\d+:\d+\)?$`,
)

// stepTime matches the time before a line. The time stays if the beginning of the step is
// cut off.
const stepTime = `^(?:\d+\.\d+ )?`

// maxSteps limits the steps that run at the same time. maxStepWarnings limits
// the lines kept of a step that succeeded.
const (
	maxSteps        = 200
	maxStepWarnings = 20
)

// stepWarningWords select the lines kept of a step that succeeded.
var stepWarningWords = text.NewWords("warning:", "warning[", "error:", "error[", "vulnerabilit", "fatal", "panic:", "npm err")

// buildPass digests the log of one image build.
type buildPass struct {
	*digestPass
	steps        []*step  // the running steps, in the order in which they began
	classicStep  *step    // the step of the classic builder, whose lines do not name their step
	inExcerpt    bool     // within BuildKit's excerpt of the failed step
	failedOutput [][]byte // lines that failed steps wrote
}

// step is a running step.
type step struct {
	id        []byte       // "#8"; empty with the classic builder
	name      []byte       // empty if its begin is cut off
	output    *text.Lines  // an excerpt of its output
	cutter    *text.Cutter // makes the excerpt
	warnings  [][]byte     // lines that stay if the step succeeds
	leadMatch []byte       // the last match of lead
	failed    bool
}

func newStep(id, name []byte) *step {
	s := &step{id: bytes.Clone(id), name: bytes.Clone(name), output: text.NewLines()}
	e := failedStepExcerpt
	e.Keep = testFailureLines()
	s.cutter = e.Cut(s.output)
	return s
}

func (b *buildPass) Line(l []byte) {
	if text.IsFolded(l) {
		b.digestPass.Line(l)
		return
	}
	if len(l) > 1 && l[0] == '#' {
		if id, rest, ok := splitStepLine(l); ok {
			b.handleStepLine(id, rest, l)
			return
		}
	}
	if b.classicStep == nil && b.repeatsFailedOutput(l) {
		b.changed = true
		return
	}
	if b.handleClassic(l) {
		return
	}
	b.digestPass.Line(l)
}

// splitStepLine splits a line of BuildKit's plain progress.
func splitStepLine(l []byte) (id, text []byte, ok bool) {
	n := 1
	for n < len(l) && l[n] >= '0' && l[n] <= '9' {
		n++
	}
	if n == 1 || n < len(l) && l[n] != ' ' {
		return nil, nil, false
	}
	return l[:n], l[min(n+1, len(l)):], true
}

// handleStepLine handles a line of a step.
func (b *buildPass) handleStepLine(id, rest, l []byte) {
	s := b.findStep(id)
	switch {
	case len(rest) == 0:
		b.changed = true
	case isStepEnd(rest):
		b.changed = true
		if s != nil {
			b.endSucceeded(s, l)
		}
	case bytes.HasPrefix(rest, []byte("ERROR")) || bytes.HasPrefix(rest, []byte("CANCELED")):
		if s != nil {
			s.failed = rest[0] == 'E'
			b.endUnfinished(s)
		}
		b.write(l)
	case isStepResult(rest):
		b.write(l)
	case isStepNoise(rest):
		b.changed = true
	case s == nil && len(b.steps) == maxSteps:
		b.write(l)
	case s == nil && timingLength(rest) > 0: // the begin is cut off
		s = newStep(id, nil)
		b.steps = append(b.steps, s)
		b.addOutput(s, rest)
	case s == nil:
		b.steps = append(b.steps, newStep(id, rest))
	case bytes.Equal(s.name, rest): // it continues after another step
		b.changed = true
	case len(s.name) == 0:
		b.addOutput(s, rest)
	default:
		b.addOutput(s, withoutTiming(rest))
	}
}

func (b *buildPass) findStep(id []byte) *step {
	for _, s := range b.steps {
		if bytes.Equal(s.id, id) {
			return s
		}
	}
	return nil
}

// addOutput handles a line that the command of a step wrote.
func (b *buildPass) addOutput(s *step, body []byte) {
	switch {
	case len(bytes.TrimSpace(body)) == 0, b.noise.Match(body) && !b.keep.Match(body):
		b.changed = true
		return
	case b.lead.Match(body):
		b.changed = true
		s.leadMatch = append(s.leadMatch[:0], body...)
		return
	}
	if len(s.leadMatch) > 0 && text.Important(body) {
		s.cutter.Line(s.leadMatch)
		s.leadMatch = s.leadMatch[:0]
	}
	if len(s.warnings) < maxStepWarnings && stepWarningWords.Find(body) {
		s.warnings = append(s.warnings, bytes.Clone(body))
	}
	s.cutter.Line(body)
}

func (b *buildPass) removeStep(s *step) {
	b.steps = slices.DeleteFunc(b.steps, func(o *step) bool { return o == s })
	s.output.Close()
}

// endSucceeded keeps only the warnings of a step, and after them the line that
// ends it.
func (b *buildPass) endSucceeded(s *step, end []byte) {
	if len(s.warnings) > 0 {
		b.writeStepName(s)
		for _, w := range s.warnings {
			b.writeOutputLine(s, w)
		}
		if end != nil {
			b.write(end)
		}
	}
	b.changed = true
	b.removeStep(s)
}

// endFailed writes a step that failed.
func (b *buildPass) endFailed(s *step) {
	s.failed = true
	b.endUnfinished(s)
}

// endUnfinished writes a step that failed or did not end.
func (b *buildPass) endUnfinished(s *step) {
	b.writeStepName(s)
	if s.cutter.End() {
		b.changed = true
	}
	_ = s.output.Each(func(l []byte) { // out reports the same full disk
		if s.failed && len(b.failedOutput) < failedStepExcerpt.Tail+text.MaxKept && len(l) > 0 {
			b.failedOutput = append(b.failedOutput, bytes.Clone(l))
		}
		b.writeOutputLine(s, l)
	})
	b.removeStep(s)
}

func (b *buildPass) writeStepName(s *step) {
	switch {
	case len(s.name) == 0:
	case len(s.id) == 0:
		b.write(s.name)
	default:
		b.write(slices.Concat(s.id, []byte(" "), s.name))
	}
}

// writeOutputLine writes a line of a step's output.
func (b *buildPass) writeOutputLine(s *step, l []byte) {
	if len(s.id) == 0 {
		b.write(l)
		return
	}
	b.lineBuffer = append(append(append(b.lineBuffer[:0], s.id...), ' '), l...)
	b.keepLine(b.lineBuffer)
}

// withoutTiming removes the seconds since the step began, unless the rest would look
// like a line of BuildKit.
func withoutTiming(l []byte) []byte {
	n := timingLength(l)
	if n == 0 {
		return l
	}
	if rest := l[n:]; !isStepEnd(rest) && !isStepNoise(rest) && !isStepResult(rest) &&
		timingLength(rest) == 0 && !bytes.HasPrefix(rest, []byte("ERROR")) &&
		!bytes.HasPrefix(rest, []byte("CANCELED")) {
		return rest
	}
	return l
}

// timingLength returns the length of a leading "12.345 ", or 0.
func timingLength(l []byte) int {
	n := 0
	for n < len(l) && (l[n] >= '0' && l[n] <= '9') {
		n++
	}
	if n == 0 || n+4 > len(l) || l[n] != '.' {
		return 0
	}
	for n++; n < len(l) && l[n] >= '0' && l[n] <= '9'; n++ {
	}
	if n == len(l) || l[n] != ' ' {
		return 0
	}
	return n + 1
}

// isStepEnd reports whether a line of BuildKit ends a step.
func isStepEnd(l []byte) bool {
	return bytes.Equal(l, []byte("CACHED")) || bytes.HasPrefix(l, []byte("DONE ")) && l[len(l)-1] == 's'
}

// isStepNoise reports whether a line of BuildKit reports progress.
func isStepNoise(l []byte) bool {
	if bytes.Equal(l, []byte("...")) {
		return true
	}
	for _, begin := range [...]string{
		"building with ", "sha256:", "extracting sha256:", "transferring ", "resolve ", "exporting layers",
		"exporting manifest", "exporting config", "exporting attestation", "preparing layers",
		"unpacking to ", "pushing layers", "pushing manifest", "auth ", "merging ", "importing cache",
		"inferred cache", "loading layer", "sending tarball", "[auth]",
	} {
		if len(l) >= len(begin) && l[0] == begin[0] && string(l[:len(begin)]) == begin {
			return true
		}
	}
	return false
}

// isStepResult reports whether a line of BuildKit reports a result.
func isStepResult(l []byte) bool {
	return bytes.HasPrefix(l, []byte("naming to ")) ||
		bytes.HasPrefix(l, []byte("writing image ")) ||
		bytes.HasPrefix(l, []byte("WARN"))
}

// repeatsFailedOutput reports whether a line belongs to BuildKit's excerpt of the failed
// step and was kept before.
func (b *buildPass) repeatsFailedOutput(l []byte) bool {
	switch {
	case bytes.HasPrefix(l, []byte(" > ")) && bytes.HasSuffix(l, []byte(":")):
		b.inExcerpt = true
	case bytes.Equal(l, []byte("------")):
		b.inExcerpt = false
	case b.inExcerpt:
		rest := l[timingLength(l):]
		return len(bytes.TrimSpace(rest)) == 0 ||
			b.noise.Match(rest) ||
			len(b.failedOutput) > 0 && b.lead.Match(rest) ||
			slices.ContainsFunc(b.failedOutput, func(o []byte) bool { return bytes.Equal(o, rest) })
	}
	return false
}

// handleClassic handles a line of the classic builder. It reports false for lines
// outside of steps.
func (b *buildPass) handleClassic(l []byte) bool {
	switch {
	case bytes.HasPrefix(l, []byte("Step ")) && bytes.Contains(l, []byte(" : ")), bytes.HasPrefix(l, []byte("STEP ")):
		if b.classicStep != nil {
			b.endSucceeded(b.classicStep, nil)
		}
		b.classicStep, b.inExcerpt = newStep(nil, l), false
		return true
	case b.classicStep == nil:
		return false
	case bytes.HasPrefix(l, []byte(" ---> ")),
		bytes.HasPrefix(l, []byte("Removing intermediate container ")),
		bytes.HasPrefix(l, []byte(" ---> Removed intermediate container")):
		b.changed = true
		return true
	case bytes.HasPrefix(l, []byte("Successfully built ")), bytes.HasPrefix(l, []byte("COMMIT ")):
		b.endSucceeded(b.classicStep, nil)
		b.classicStep = nil
		return false
	case bytes.Contains(l, []byte("returned a non-zero code: ")),
		bytes.HasPrefix(l, []byte("Error: building at STEP")),
		bytes.HasPrefix(l, []byte("Error response from daemon")):
		b.endFailed(b.classicStep)
		b.classicStep = nil
		return false
	}
	b.digestPass.cutBefore = b.digestPass.cutBefore || text.IsOmission(l)
	b.addOutput(b.classicStep, l)
	return true
}

func (b *buildPass) End() strategy.Confidence {
	if b.classicStep != nil {
		b.endFailed(b.classicStep)
	}
	for len(b.steps) > 0 {
		s := b.steps[0]
		if s.cutter.Count == 0 && b.run.Exit == 0 { // such as "exporting to image"
			b.removeStep(s)
			continue
		}
		b.endFailed(s)
	}
	return b.digestPass.End()
}
