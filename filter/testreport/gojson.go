package testreport

import (
	"bytes"
	"encoding/json"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// goEvent is an event of go test -json. Its texts are valid until the next
// event.
type goEvent struct {
	action, pkg, importPath, test []byte
	output                        []byte // still encoded, without quotes
	text                          []byte // decoded output
}

// parse parses a line with a flat JSON object.
func (e *goEvent) parse(l []byte) bool {
	text := e.text
	*e = goEvent{text: text[:0]}
	rest := l[1:]
	for {
		key, more, ok := jsonText(rest)
		if !ok || len(more) == 0 || more[0] != ':' {
			return false
		}
		rest = more[1:]
		var value []byte
		if len(rest) > 0 && rest[0] == '"' {
			if value, rest, ok = jsonText(rest); !ok {
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
		case "ImportPath":
			e.importPath = value
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

// jsonText returns a JSON string, still encoded.
func jsonText(l []byte) (text, rest []byte, ok bool) {
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
				return e.slow()
			}
		}
		e.text = append(e.text, c)
	}
	return e.text, true
}

func (e *goEvent) slow() ([]byte, bool) {
	var text string
	err := json.Unmarshal(append(append([]byte{'"'}, e.output...), '"'), &text)
	return []byte(text), err == nil
}

// event handles a line of JSON. Its output is handled like text.
func (g *goTests) event(l []byte) bool {
	e := &g.json
	if !e.parse(l) || len(e.action) == 0 {
		return false
	}
	switch string(e.action) {
	case "output":
		g.inPackage(e.pkg)
		return g.write(e)
	case "build-output":
		g.inPackage(nil)
		return g.write(e)
	case "pass", "skip":
		if len(e.test) == 0 {
			g.leavePackage(e.pkg, goPassed)
		}
	case "fail":
		if len(e.test) == 0 {
			g.bad = true
			g.leavePackage(e.pkg, goFailed)
		}
	case "start", "run", "pause", "cont", "bench", "build-fail", "attr", "artifacts":
	default:
		return false
	}
	return true
}

// maxPackages limits the packages whose lines are interleaved.
const maxPackages = 64

// inPackage switches to a package.
func (g *goTests) inPackage(name []byte) {
	if g.others == nil {
		g.others = map[string]*goPackage{"": g.pkg}
	}
	p := g.others[string(name)]
	if p == nil {
		if len(g.others) >= maxPackages {
			p = g.others[""]
		} else {
			p = &goPackage{}
			g.others[string(name)] = p
		}
	}
	g.pkg = p
}

// leavePackage ends a package.
func (g *goTests) leavePackage(name []byte, state goState) {
	g.inPackage(name)
	g.flushPart()
	g.endPackage(state)
	if len(name) > 0 {
		delete(g.others, string(name))
		g.pkg = g.others[""]
	}
}

// write handles the output of an event: a line or a part of one.
func (g *goTests) write(e *goEvent) bool {
	body, ok := e.decode()
	if !ok {
		return false
	}
	p := g.pkg
	for len(body) > 0 {
		end := bytes.IndexByte(body, '\n')
		switch {
		case end < 0:
			p.part = append(p.part, body...)
			if len(p.part) > text.MaxLine {
				g.flushPart()
			}
			return true
		case len(p.part) > 0:
			p.part = append(p.part, body[:end]...)
			g.flushPart()
		default:
			g.text(body[:end])
		}
		body = body[end+1:]
	}
	return true
}

func (g *goTests) flushPart() {
	p := g.pkg
	part := p.part
	p.part = nil
	if len(part) > 0 {
		g.text(part)
	}
	p.part = part[:0]
}

// text handles a line of text, which may need the lines before it.
func (g *goTests) text(l []byte) {
	for _, b := range l {
		if !text.PlainByte[b] || b == 0xc2 {
			for line := range bytes.Lines(text.Sanitize(l)) {
				g.clean(bytes.TrimSuffix(line, []byte("\n")))
			}
			return
		}
	}
	g.clean(l)
}

func (g *goTests) clean(l []byte) {
	switch {
	case len(bytes.TrimSpace(l)) == 0:
		g.blank()
	case l[0] == '{' || !g.shape(l):
		g.other(l)
	}
}
