package excerpt

import (
	"bytes"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// kubectl keeps unhealthy rows of tables and status fields of descriptions.
type kubectl struct {
	*digest
	maxRows int
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
	if err := quantity.Check(quantity.Least{Name: "max_rows", Value: c.Rows, Least: 1}); err != nil {
		return nil, err
	}
	d, err := c.compile()
	if err != nil {
		return nil, err
	}
	return kubectl{d, c.Rows}, nil
}

func (k kubectl) Begin(run strategy.Run, out *text.Lines) strategy.Pass {
	return &clusterPass{
		maxRows: k.maxRows, droppedFields: clusterFields(), digestPass: k.begin(run, out),
		describes: strings.Contains(run.Command, "describe"),
	}
}

// clusterPass digests one output of kubectl or helm.
type clusterPass struct {
	*digestPass
	maxRows       int
	describes     bool           // the command is "kubectl describe"
	droppedFields *text.Patterns // clusterFields
	header        [][]byte       // column names of the current table; nil outside of tables
	cells         [][]byte       // of the current row
	healthy       int            // rows of the current table that are not known to be unhealthy
	omitted       []healthyRows
	skipping      bool // dropping lines that are indented deeper than indent
	indent        int
	lineBuffer    []byte
}

// clusterFields are fields that only the cluster uses.
var clusterFields = text.CompileOnce(
	`^\s*managedFields:$`, `^\s*kubectl\.kubernetes\.io/last-applied-configuration:`,
	`^\s*Node-Selectors:\s+<none>`, `^\s*Container ID:`, `^\s*Image ID:`, `^\s*QoS Class:`, `^\s*IPs:`,
	`^\s*kube-api-access-`, `^\s*pod-template-hash=`, `^\s*Host Ports?:\s+0/`,
	`^\s*/var/run/secrets/kubernetes\.io/serviceaccount`,
)

func (c *clusterPass) Line(l []byte) {
	if c.skipping {
		if in := len(l) - len(bytes.TrimLeft(l, " ")); len(l) > 0 && (in > c.indent || in == c.indent && l[in] == '-') {
			c.changed = true
			return
		}
		c.skipping = false
	}
	switch {
	case len(l) == 0:
		c.header = nil
	case c.droppedFields.Match(l):
		c.skipping, c.changed = true, true
		c.indent = len(l) - len(bytes.TrimLeft(l, " "))
		return
	case !c.describes && isTableHeader(l):
		c.header = nil
		for _, cell := range c.splitCells(l) {
			c.header = append(c.header, bytes.Clone(cell))
		}
		c.healthy = 0
		c.write(c.joinCells(l))
		return
	case c.header != nil && !text.IsFolded(l) && c.handleRow(l):
		return
	case c.describes:
		c.lineBuffer = text.Squeeze(c.lineBuffer[:0], l)
		c.changed = c.changed || len(c.lineBuffer) < len(l)
		c.digestPass.Line(c.lineBuffer)
		return
	}
	c.digestPass.Line(l)
}

// splitCells splits a row at two or more blanks or a tab.
func (c *clusterPass) splitCells(l []byte) [][]byte {
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

// joinCells returns the split row without padding.
func (c *clusterPass) joinCells(l []byte) []byte {
	c.lineBuffer = c.lineBuffer[:0]
	for i, cell := range c.cells {
		if i > 0 {
			c.lineBuffer = append(c.lineBuffer, "  "...)
		}
		c.lineBuffer = append(c.lineBuffer, cell...)
	}
	c.changed = c.changed || len(c.lineBuffer) < len(l)
	return c.lineBuffer
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

// handleRow handles a row of a table. It reports false for other lines.
func (c *clusterPass) handleRow(l []byte) bool {
	if len(c.splitCells(l)) != len(c.header) {
		return false
	}
	healthy, known := c.isHealthy()
	limit := c.maxRows
	switch {
	case !known:
		limit = 3 * c.maxRows
	case !healthy:
		c.write(c.joinCells(l))
		return true
	}
	if c.healthy++; c.healthy <= limit {
		c.write(c.joinCells(l))
		return true
	}
	c.countRow(l)
	return true
}

// healthyRows are the omitted rows of one state, with the names of the first ones.
type healthyRows struct {
	state string
	count int
	names []string
}

// Limits of the line that counts omitted rows.
const (
	maxStates       = 200    // states that are counted separately
	maxStateNames   = 10     // names listed for each state
	otherStatesName = "more" // stands for the other states
)

// countRow counts the current row l.
func (c *clusterPass) countRow(l []byte) {
	state := append(c.lineBuffer[:0], "more"...)
	for _, part := range [...]struct{ word, column string }{
		{" ", "STATUS"},
		{" ", "TYPE"},
		{" ", "REASON"},
		{" ", "VERSION"},
		{" in ", "NAMESPACE"},
	} {
		if s := c.cell(part.column); s != nil {
			state = append(append(state, part.word...), s...)
		}
	}
	c.lineBuffer = state
	i := slices.IndexFunc(c.omitted, func(h healthyRows) bool { return h.state == string(state) })
	if i < 0 && len(c.omitted) == maxStates {
		state = state[:len(otherStatesName)]
		i = slices.IndexFunc(c.omitted, func(h healthyRows) bool { return h.state == string(state) })
	}
	if i < 0 {
		i = len(c.omitted)
		c.omitted = append(c.omitted, healthyRows{state: string(state)})
		if c.cell("REASON") != nil { // an event that happened once may matter, even a healthy one
			c.write(c.joinCells(l))
			return
		}
	}
	c.changed = true
	h := &c.omitted[i]
	if h.count++; len(h.names) > maxStateNames {
		return
	}
	name := c.cells[0]
	for _, column := range [...]string{"NAME", "NAMES", "OBJECT"} {
		if s := c.cell(column); s != nil {
			name = s
			break
		}
	}
	h.names = append(h.names, string(name))
}

func (c *clusterPass) cell(name string) []byte {
	i := slices.IndexFunc(c.header, func(h []byte) bool { return string(h) == name })
	if i < 0 {
		return nil
	}
	return c.cells[i]
}

// isHealthy reports whether a row is healthy. known is false if the row does not
// say.
func (c *clusterPass) isHealthy() (healthy, known bool) {
	healthy = true
	check := func(ok bool) { healthy, known = healthy && ok, true }
	status := ""
	if s := c.cell("STATUS"); s != nil {
		status = string(s)
		switch status {
		case "Running", "Completed", "Succeeded", "Active", "Bound", "Ready", "Available", "Complete",
			"Healthy", "True", "deployed", "Normal":
			check(true)
		default:
			if !strings.HasPrefix(status, "Up ") || strings.HasSuffix(status, ")") && !strings.HasSuffix(status, "(healthy)") {
				check(false)
			}
		}
	}
	for _, column := range [...]string{"READY", "COMPLETIONS"} {
		s := c.cell(column)
		if s == nil || status == "Completed" || status == "Succeeded" {
			continue
		}
		if have, want, ok := bytes.Cut(s, []byte("/")); ok {
			check(bytes.Equal(have, want))
		} else if d := c.cell("DESIRED"); d != nil {
			check(bytes.Equal(s, d))
		} else {
			check(string(s) == "True")
		}
	}
	if s := c.cell("RESTARTS"); s != nil {
		check(string(s) == "0")
	}
	if s := c.cell("TYPE"); s != nil && c.cell("REASON") != nil {
		check(string(s) == "Normal")
	}
	return healthy, known
}

func (c *clusterPass) End() strategy.Confidence {
	for _, h := range c.omitted {
		if h.count == 0 {
			continue
		}
		c.earlierFolds = append(c.earlierFolds, foldedLine(h.count, h.state, h.names, maxStateNames))
	}
	return c.digestPass.End()
}
