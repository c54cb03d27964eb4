package digest

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

// kubectl keeps unhealthy rows of tables and status fields of descriptions.
type kubectl struct {
	*digest
	rows int
}

// newKubectl makes the strategy "kubectl": a digest that also shortens tables,
// descriptions and manifests. The first max_rows healthy rows stay, and the
// names of the others. Fields that only the cluster needs are dropped.
func newKubectl(p strategy.Params) (strategy.Strategy, error) {
	c := struct {
		digestParams
		Rows int `toml:"max_rows"`
	}{digestDefaults(), 20}
	if err := p.Decode(&c); err != nil {
		return nil, err
	}
	if c.Rows <= 0 {
		return nil, errors.New("max_rows must be a number of rows")
	}
	d, err := c.compile()
	if err != nil {
		return nil, err
	}
	return kubectl{d, c.Rows}, nil
}

func (k kubectl) Begin(run strategy.Run, out *text.Lines) strategy.Pass {
	return &clusterPass{rows: k.rows, keys: clusterKeys(), digestPass: k.begin(run, out), describes: strings.Contains(run.Command, "describe")}
}

type clusterPass struct {
	*digestPass
	rows      int
	describes bool
	keys      *text.Patterns
	header    [][]byte // of the current table; nil outside of tables
	cells     [][]byte
	well      int // healthy rows
	more      []healthyRows
	skips     bool // dropping lines that are indented deeper than indent
	indent    int
	line      []byte
}

// clusterKeys are fields that only the cluster needs.
var clusterKeys = text.CompileOnce(`^\s*managedFields:$`, `^\s*kubectl\.kubernetes\.io/last-applied-configuration:`, `^\s*Node-Selectors:\s+<none>`, `^\s*Container ID:`, `^\s*Image ID:`, `^\s*QoS Class:`, `^\s*IPs:`, `^\s*kube-api-access-`, `^\s*pod-template-hash=`, `^\s*Host Ports?:\s+0/`, `^\s*/var/run/secrets/kubernetes\.io/serviceaccount`)

func (c *clusterPass) Line(l []byte) {
	if c.skips {
		if in := len(l) - len(bytes.TrimLeft(l, " ")); len(l) > 0 && (in > c.indent || in == c.indent && l[in] == '-') {
			c.changed = true
			return
		}
		c.skips = false
	}
	switch {
	case len(l) == 0:
		c.header = nil
	case c.keys.Match(l):
		c.skips, c.changed = true, true
		c.indent = len(l) - len(bytes.TrimLeft(l, " "))
		return
	case !c.describes && isTableHeader(l):
		c.header = nil
		for _, cell := range c.split(l) {
			c.header = append(c.header, bytes.Clone(cell))
		}
		c.well = 0
		c.write(c.joined(l))
		return
	case c.header != nil && !text.IsFolded(l) && c.row(l):
		return
	case c.describes:
		c.line = text.Squeeze(c.line[:0], l)
		c.changed = c.changed || len(c.line) < len(l)
		c.digestPass.Line(c.line)
		return
	}
	c.digestPass.Line(l)
}

// split splits a row at two or more blanks or a tab.
func (c *clusterPass) split(l []byte) [][]byte {
	c.cells = c.cells[:0]
	for l = bytes.TrimSpace(l); len(l) > 0; {
		i := bytes.Index(l, []byte("  "))
		if i < 0 {
			i = len(l)
		}
		if tab := bytes.IndexByte(l[:i], '\t'); tab >= 0 { // a table of helm
			i = tab
		}
		c.cells = append(c.cells, bytes.TrimRight(l[:i], " "))
		l = bytes.TrimLeft(l[i:], " \t")
	}
	return c.cells
}

// joined returns the split row without padding.
func (c *clusterPass) joined(l []byte) []byte {
	c.line = c.line[:0]
	for i, cell := range c.cells {
		if i > 0 {
			c.line = append(c.line, "  "...)
		}
		c.line = append(c.line, cell...)
	}
	c.changed = c.changed || len(c.line) < len(l)
	return c.line
}

// isTableHeader reports whether a line consists of column names in upper case.
func isTableHeader(l []byte) bool {
	if !bytes.Contains(l, []byte("  ")) && bytes.IndexByte(l, '\t') < 0 || l[0] < 'A' || l[0] > 'Z' || len(l) < 8 {
		return false
	}
	unit := false // CPU(cores), MEMORY(bytes)
	for _, b := range l {
		if b == '(' || b == ')' {
			unit = b == '('
		}
		if unit && b >= 'a' && b <= 'z' {
			continue
		}
		if !(b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || bytes.IndexByte([]byte(" -_/().%\t"), b) >= 0) {
			return false
		}
	}
	return true
}

// row handles a row of a table. It reports false for other lines.
func (c *clusterPass) row(l []byte) bool {
	if len(c.split(l)) != len(c.header) {
		return false
	}
	well, known := c.isWell()
	most := c.rows
	switch {
	case !known:
		most = 3 * c.rows
	case !well:
		c.write(c.joined(l))
		return true
	}
	if c.well++; c.well <= most {
		c.write(c.joined(l))
		return true
	}
	c.add(l)
	return true
}

// healthyRows are rows of one state that are counted, with the names of the first.
type healthyRows struct {
	state string
	n     int
	names []string
}

// Limits of states, and of names of one state.
const (
	maxHealthy  = 200
	stateNames  = 10
	otherStates = "more"
)

// add counts the current row l.
func (c *clusterPass) add(l []byte) {
	state := append(c.line[:0], "more"...)
	for _, part := range [...]struct{ word, column string }{{" ", "STATUS"}, {" ", "TYPE"}, {" ", "REASON"}, {" ", "VERSION"}, {" in ", "NAMESPACE"}} {
		if s := c.column(part.column); s != nil {
			state = append(append(state, part.word...), s...)
		}
	}
	c.line = state
	i := slices.IndexFunc(c.more, func(h healthyRows) bool { return h.state == string(state) })
	if i < 0 && len(c.more) == maxHealthy {
		state = state[:len(otherStates)]
		i = slices.IndexFunc(c.more, func(h healthyRows) bool { return h.state == string(state) })
	}
	if i < 0 {
		i = len(c.more)
		c.more = append(c.more, healthyRows{state: string(state)})
		if c.column("REASON") != nil { // an event that happened once may matter, even a healthy one
			c.write(c.joined(l))
			return
		}
	}
	c.changed = true
	h := &c.more[i]
	if h.n++; len(h.names) > stateNames {
		return
	}
	name := c.cells[0]
	for _, column := range [...]string{"NAME", "NAMES", "OBJECT"} {
		if s := c.column(column); s != nil {
			name = s
			break
		}
	}
	h.names = append(h.names, string(name))
}

func (c *clusterPass) column(name string) []byte {
	i := slices.IndexFunc(c.header, func(h []byte) bool { return string(h) == name })
	if i < 0 {
		return nil
	}
	return c.cells[i]
}

// isWell reports whether a row is healthy. known is false if the row does not
// say.
func (c *clusterPass) isWell() (well, known bool) {
	well = true
	judge := func(ok bool) { well, known = well && ok, true }
	status := ""
	if s := c.column("STATUS"); s != nil {
		status = string(s)
		switch status {
		case "Running", "Completed", "Succeeded", "Active", "Bound", "Ready", "Available", "Complete", "Healthy", "True", "deployed", "Normal":
			judge(true)
		default:
			if !strings.HasPrefix(status, "Up ") || strings.HasSuffix(status, ")") && !strings.HasSuffix(status, "(healthy)") {
				judge(false)
			}
		}
	}
	for _, column := range [...]string{"READY", "COMPLETIONS"} {
		s := c.column(column)
		if s == nil || status == "Completed" || status == "Succeeded" {
			continue
		}
		if have, want, ok := bytes.Cut(s, []byte("/")); ok {
			judge(bytes.Equal(have, want))
		} else if d := c.column("DESIRED"); d != nil {
			judge(bytes.Equal(s, d))
		} else {
			judge(string(s) == "True")
		}
	}
	if s := c.column("RESTARTS"); s != nil {
		judge(string(s) == "0")
	}
	if s := c.column("TYPE"); s != nil && c.column("REASON") != nil {
		judge(string(s) == "Normal")
	}
	return well, known
}

func (c *clusterPass) End() strategy.Confidence {
	for _, h := range c.more {
		if h.n == 0 {
			continue
		}
		c.again = append(c.again, foldedLine(h.n, h.state, h.names, stateNames))
	}
	return c.digestPass.End()
}
