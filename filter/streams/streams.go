package streams

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

// newStreams makes the strategy "streams". A stream is the text of one program in
// the output of several. Either each of its lines begins with its name, or a
// line announces it and the next such line ends it. The names are written once, as
// "==> name <==". Lines of no stream stay.
func newStreams(p strategy.Params) (strategy.Strategy, error) {
	return divider{}, p.Decode(&struct{}{})
}

type divider struct{}

func (divider) Begin(run strategy.Run, out *text.Lines) strategy.Pass {
	p := &pass{run: run, out: out, byPrefix: map[string]*stream{}, tagged: tags(run.Command)}
	p.own = p.add("", "")
	p.rest = &stream{lines: text.NewLines()}
	p.section = p.own
	return p
}

// maxStreams limits the streams of an output. Lines of further streams stay
// unchanged.
const maxStreams = 200

// maxTail limits the lines about the end of a stream.
const maxTail = 20

// pass divides one output.
type pass struct {
	run      strategy.Run
	out      *text.Lines
	streams  []*stream          // in the order of their first lines
	byPrefix map[string]*stream // by the text before each of their lines
	own      *stream            // the lines of the program itself before any stream
	rest     *stream            // its lines after the first line with a prefix
	section  *stream            // the stream of the lines without a prefix
	tagged   bool               // "[name] text" is a line of a stream
	prefixes bool               // any line had a prefix
	sections int                // streams that a line announced
	divided  bool               // the text is the result of an earlier pass
	err      error              // the first error of reading a stream
}

// stream is the text of one program.
type stream struct {
	name    string   // of the lines with a prefix
	header  [][]byte // the lines that announced it
	command string   // the command that wrote it; "" if unknown
	shown   bool     // the command is written with the name
	lines   *text.Lines
	tail    [][]byte // lines after the text, which report how the program ended
	problem bool     // a line reports a problem
	mixed   bool     // other programs may have written too
	group   *group   // the open group that begins a step of GitHub Actions, or nil
	banner  bool     // the last line of the header announced a script, and its command follows
}

// add makes a stream. It returns p.rest if there are too many.
func (p *pass) add(name, command string) *stream {
	if len(p.streams) >= maxStreams {
		return p.rest
	}
	s := &stream{name: name, command: command, lines: text.NewLines()}
	p.streams = append(p.streams, s)
	return s
}

// addPrefixed makes the stream of the lines that begin with prefix. An empty command
// is unknown. Like add, it returns p.rest if there are too many streams.
func (p *pass) addPrefixed(prefix, name, command string) *stream {
	s := p.add(name, cmp.Or(command, p.usualCommand(name)))
	if s == p.rest {
		return s
	}
	s.shown = command != ""
	p.byPrefix[prefix] = s
	return s
}

func (p *pass) Line(l []byte) {
	if len(l) == 0 {
		p.section.lines.Write(nil)
		return
	}
	if !p.prefixes && isHeader(l) {
		p.joinSections()
	}
	if p.divided {
		p.own.lines.Write(l)
		return
	}
	if s, body, ok := p.split(l); ok {
		p.prefixes, p.section = true, p.rest
		if s == p.rest { // too many streams, so the line keeps its name
			body = l
		}
		p.prefixedLine(s, body)
		return
	}
	if p.announce(l) {
		return
	}
	p.line(p.section, l)
}

// joinSections assigns the lines so far to the program itself again, in their order, because
// the input is the result of an earlier pass.
func (p *pass) joinSections() {
	if p.divided {
		return
	}
	p.divided, p.section = true, p.own
	for _, s := range p.streams[1:] {
		for _, l := range s.header {
			p.own.lines.Write(l)
		}
		p.err = cmp.Or(p.err, s.lines.Each(p.own.lines.Write))
		for _, l := range s.tail {
			p.own.lines.Write(l)
		}
		p.own.lines.Write(nil) // the empty line after a stream, which the stream has dropped
	}
}

// prefixedLine adds a line to the stream of its prefix. A step of GitHub Actions begins
// a stream.
func (p *pass) prefixedLine(s *stream, l []byte) {
	if title, ok := bytes.CutPrefix(l, []byte("##[group]Run ")); ok {
		p.showGroup(s)
		if s.lines.Count() > 0 || s.shown { // the log does not name its steps
			next := p.add(s.name, p.usualCommand(s.name))
			if next == p.rest { // too many streams, so the step is a part of the last
				p.line(s, l)
				return
			}
			for prefix, o := range p.byPrefix {
				if o == s {
					p.byPrefix[prefix] = next
				}
			}
			s = next
		}
		s.group = &group{title: string(title)}
		return
	}
	p.line(s, l)
}

// line adds a line to a stream.
func (p *pass) line(s *stream, l []byte) {
	switch {
	case s.group != nil:
		p.groupLine(s, l)
	case isNoise(l), s.name != "" && s != p.rest && s.lines.Count() == 0 && s.bannerLine(l):
	case s != p.own && s != p.rest && len(s.tail) < maxTail && reportsEnd(l):
		s.problem = s.problem || !isSuccess(l)
		s.tail = append(s.tail, bytes.Clone(l))
	default:
		s.problem = s.problem || p.run.Exit != 0 && text.Important(l)
		s.lines.Write(l)
	}
}

func (p *pass) End() strategy.Confidence {
	p.rest.name = firstWord(p.run.Command)
	p.streams = append(p.streams, p.rest)
	for _, s := range p.streams {
		p.showGroup(s)
	}
	defer func() {
		for _, s := range p.streams {
			s.lines.Close()
		}
	}()
	if p.divided {
		if p.err = cmp.Or(p.err, p.own.lines.Each(p.out.Write)); p.err != nil {
			return strategy.Fallback
		}
		return strategy.Full
	}
	if !p.prefixes && (p.sections == 0 || p.sections == 1 && !p.run.Alone) {
		return strategy.Fallback
	}
	if p.prefixes && !slices.ContainsFunc(p.streams, (*stream).isNamed) { // the result would not look divided
		return strategy.Fallback
	}
	anyProblem := slices.ContainsFunc(p.streams, func(s *stream) bool { return s.problem })
	confidence := strategy.Full
	for _, s := range p.streams {
		exit := p.run.Exit
		if anyProblem && !s.problem { // another stream failed
			exit = 0
		}
		if exit == 0 && s.problem { // gh succeeded, but not the run of the log
			exit = 1
		}
		if c, ok := p.write(s, exit); ok {
			confidence = max(confidence, min(c, strategy.Partial))
		}
	}
	if p.err != nil {
		return strategy.Fallback
	}
	return confidence
}

// isNamed reports whether a line with the name of the stream is written.
func (s *stream) isNamed() bool { return s.name != "" && s.lines.Count()+len(s.tail) > 0 }

// write writes a stream. It reports whether a rule recognised the text, and how well.
func (p *pass) write(s *stream, exit int) (c strategy.Confidence, ok bool) {
	if s.lines.Count() == 0 && len(s.tail) == 0 && p.prefixes {
		return 0, false
	}
	if s.isNamed() {
		p.out.Write(s.headerLine())
	}
	for _, l := range s.header {
		p.out.Write(l)
	}
	filtered := s.lines
	if s.command != "" && s.lines.Count() > 0 {
		run := p.run
		run.Command, run.Exit, run.Mixed = s.command, exit, s.mixed
		var err error
		filtered, c, err = p.run.Inner(run, s.lines)
		p.err = cmp.Or(p.err, err)
	}
	p.err = cmp.Or(p.err, filtered.Each(p.out.Write))
	if filtered != s.lines {
		filtered.Close()
		ok = true
	}
	for _, l := range s.tail {
		p.out.Write(l)
	}
	p.out.Write(nil)
	return c, ok
}
