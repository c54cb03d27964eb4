package testreport

import (
	"bytes"
	"encoding/json"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// goEvent is an event of go test -json. Its texts are valid until the next
// event.
type goEvent struct {
	action, pkg, test []byte
	output            []byte // still encoded, without quotes
	text              []byte // decoded output
}

// parse parses a line with a flat JSON object.
func (e *goEvent) parse(l []byte) bool {
	*e = goEvent{text: e.text[:0]}
	rest := l[1:]
	for {
		key, more, ok := cutJSONString(rest)
		if !ok || len(more) == 0 || more[0] != ':' {
			return false
		}
		rest = more[1:]
		var value []byte
		if len(rest) > 0 && rest[0] == '"' {
			if value, rest, ok = cutJSONString(rest); !ok {
				return false
			}
		} else {
			end := bytes.IndexAny(rest, ",}")
			if end < 0 || bytes.ContainsAny(rest[:end], "{[") {
				return false
			}
			rest = rest[end:]
		}
		switch string(key) {
		case "Action":
			e.action = value
		case "Package":
			e.pkg = value
		case "Test":
			e.test = value
		case "Output":
			e.output = value
		}
		if len(rest) == 0 {
			return false
		}
		if rest[0] == '}' {
			return len(rest) == 1
		}
		rest = rest[1:]
	}
}

// cutJSONString returns a JSON string, still encoded.
func cutJSONString(l []byte) (text, rest []byte, ok bool) {
	if len(l) == 0 || l[0] != '"' {
		return nil, nil, false
	}
	for i := 1; i < len(l); i++ {
		end := bytes.IndexByte(l[i:], '"')
		if end < 0 {
			return nil, nil, false
		}
		i += end
		back := 0
		for l[i-1-back] == '\\' {
			back++
		}
		if back%2 == 0 {
			return l[1:i], l[i+1:], true
		}
	}
	return nil, nil, false
}

// decode returns the decoded output.
func (e *goEvent) decode() ([]byte, bool) {
	if bytes.IndexByte(e.output, '\\') < 0 {
		return e.output, true
	}
	e.text = e.text[:0]
	for i := 0; i < len(e.output); i++ {
		c := e.output[i]
		if c == '\\' && i+1 < len(e.output) {
			i++
			switch c = e.output[i]; c {
			case 'n':
				c = '\n'
			case 't':
				c = '\t'
			case 'r':
				c = '\r'
			case '"', '\\', '/':
			default:
				return e.decodeSlowly()
			}
		}
		e.text = append(e.text, c)
	}
	return e.text, true
}

func (e *goEvent) decodeSlowly() ([]byte, bool) {
	var text string
	err := json.Unmarshal(append(append([]byte{'"'}, e.output...), '"'), &text)
	return []byte(text), err == nil
}

// handleEvent handles a line of JSON. Its output is handled like text.
func (g *goTests) handleEvent(l []byte) bool {
	e := &g.current
	if !e.parse(l) || len(e.action) == 0 {
		return false
	}
	switch string(e.action) {
	case "output":
		g.switchPackage(e.pkg)
		return g.handleOutput(e)
	case "build-output":
		g.switchPackage(nil)
		return g.handleOutput(e)
	case "pass", "skip":
		if len(e.test) == 0 {
			g.endNamedPackage(e.pkg, goPassed)
		}
	case "fail":
		if len(e.test) == 0 {
			g.problemSeen = true
			g.endNamedPackage(e.pkg, goFailed)
		}
	case "start", "run", "pause", "cont", "bench", "build-fail", "attr", "artifacts":
	default:
		return false
	}
	return true
}

// maxPackages limits the packages whose lines are interleaved.
const maxPackages = 64

// switchPackage switches to a package.
func (g *goTests) switchPackage(name []byte) {
	if g.packages == nil {
		g.packages = map[string]*goPackage{"": g.pkg}
	}
	p := g.packages[string(name)]
	if p == nil {
		if len(g.packages) >= maxPackages {
			p = g.packages[""]
		} else {
			p = &goPackage{}
			g.packages[string(name)] = p
		}
	}
	g.pkg = p
}

// endNamedPackage ends a package.
func (g *goTests) endNamedPackage(name []byte, state goState) {
	g.switchPackage(name)
	g.flushPartialLine()
	g.endPackage(state)
	if len(name) > 0 {
		delete(g.packages, string(name))
		g.pkg = g.packages[""]
	}
}

// handleOutput handles the output of an event: a line or a part of one.
func (g *goTests) handleOutput(e *goEvent) bool {
	body, ok := e.decode()
	if !ok {
		return false
	}
	p := g.pkg
	for len(body) > 0 {
		end := bytes.IndexByte(body, '\n')
		switch {
		case end < 0:
			p.partialLine = append(p.partialLine, body...)
			if len(p.partialLine) > text.MaxLine {
				g.flushPartialLine()
			}
			return true
		case len(p.partialLine) > 0:
			p.partialLine = append(p.partialLine, body[:end]...)
			g.flushPartialLine()
		default:
			g.handleText(body[:end])
		}
		body = body[end+1:]
	}
	return true
}

func (g *goTests) flushPartialLine() {
	p := g.pkg
	part := p.partialLine
	p.partialLine = nil
	if len(part) > 0 {
		g.handleText(part)
	}
	p.partialLine = part[:0]
}

// handleText handles a line of text, which may need the lines before it.
func (g *goTests) handleText(l []byte) {
	for _, b := range l {
		if !text.PlainByte[b] || b == 0xc2 {
			for line := range bytes.Lines(text.Sanitize(l)) {
				g.handleCleanLine(bytes.TrimSuffix(line, []byte("\n")))
			}
			return
		}
	}
	g.handleCleanLine(l)
}

func (g *goTests) handleCleanLine(l []byte) {
	switch {
	case len(bytes.TrimSpace(l)) == 0:
		g.blank()
	case l[0] == '{' || !g.handle(l):
		g.handleOther(l)
	}
}
