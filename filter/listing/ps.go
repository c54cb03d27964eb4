package listing

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// processRow is a row of ps.
type processRow struct {
	line      []byte
	commandAt int // where its command line begins
	cpu, mem  float64
	stuck     bool // see isStuck
	keep      bool // the row is written
}

// maxProcesses limits the rows that are held.
const maxProcesses = 20_000

// processTable is one table of ps.
type processTable struct {
	before                   [][]byte // its header, and the lines above it
	cpu, mem, command, state int      // columns; command is -1 before the header
	kernel                   int      // kernel threads, which are not held
	rows                     []processRow
}

// ps keeps all processes of each table, or the largest, without kernel threads. It names the
// others.
func (t *tablePass) ps() string {
	tables := []*processTable{{command: -1}}
	held := 0
	ok := t.each(func(l []byte) {
		p := tables[len(tables)-1]
		if cpu, mem, command := psColumns(l); p.command < 0 || command >= 0 && !bytes.ContainsAny(l, "0123456789") {
			if p.command >= 0 {
				p = &processTable{}
				tables = append(tables, p)
			}
			p.cpu, p.mem, p.command, p.state = cpu, mem, command, stateColumn(l)
			p.before = append(p.before, bytes.Clone(l))
			return
		}
		if held < maxProcesses && p.add(l) {
			held++
		}
	})
	if !ok || tables[0].command < 0 || held == maxProcesses {
		return ""
	}
	var all []string
	for i, p := range tables {
		omitted := t.writeTable(p)
		if omitted != "" && len(tables) > 1 {
			omitted = fmt.Sprintf("of table %d: %s", i+1, omitted)
		}
		if omitted != "" {
			all = append(all, omitted)
		}
	}
	return strings.Join(all, "; ")
}

// add adds a row. It reports whether the row is held.
func (p *processTable) add(l []byte) bool {
	at := max(columnAt(l, p.command), 0)
	if name := withoutTree(l[at:]); at > 0 && len(name) > 1 && name[0] == '[' && name[len(name)-1] == ']' {
		p.kernel++
		return false
	}
	row := processRow{line: bytes.Clone(l), commandAt: at}
	for i, f := range bytes.Fields(l) {
		switch n, err := strconv.ParseFloat(string(f), 64); {
		case i == p.state:
			row.stuck = isStuck(f)
		case err != nil:
		case i == p.cpu:
			row.cpu = n
		case i == p.mem:
			row.mem = n
		}
	}
	p.rows = append(p.rows, row)
	return true
}

// writeTable writes a table without the smallest processes. It returns what it omits.
func (t *tablePass) writeTable(p *processTable) string {
	more := t.markKept(p.rows)
	for _, l := range p.before {
		t.out.Write(l)
	}
	cut := t.writeProcesses(p.rows)
	var omitted []string
	if p.kernel > 0 {
		omitted = append(omitted, quantity.Count(p.kernel, "kernel thread"))
	}
	if more != "" {
		omitted = append(omitted, more)
	}
	if cut > 0 {
		omitted = append(omitted, fmt.Sprintf("the ends of %s", quantity.Count(cut, "command line")))
	}
	return strings.Join(omitted, ", ")
}

// writeProcesses writes the rows to keep. It returns how many command lines it cut.
func (t *tablePass) writeProcesses(rows []processRow) (cut int) {
	for _, p := range rows {
		if !p.keep {
			continue
		}
		if width := p.commandAt + t.maxWidth; len(p.line) > width+40 {
			cut++
			p.line = append(
				bytes.Clone(text.Prefix(p.line, width)),
				fmt.Sprintf(" ... (%s)", quantity.Count(len(p.line)-len(text.Prefix(p.line, width)), "byte"))...,
			)
		}
		t.out.Write(p.line)
	}
	return cut
}

// markKept marks the rows to keep and names the others.
func (t *tablePass) markKept(rows []processRow) string {
	if len(rows) <= 2*t.maxRows {
		for i := range rows {
			rows[i].keep = true
		}
		return ""
	}
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	mark := func(by func(processRow) float64) {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(by(rows[b]), by(rows[a])) })
		for _, i := range order[:t.maxRows/2] {
			rows[i].keep = rows[i].keep || by(rows[i]) > 0
		}
	}
	mark(func(p processRow) float64 { return p.cpu })
	mark(func(p processRow) float64 { return p.mem })
	kept := 0
	for _, p := range rows {
		if p.keep {
			kept++
		}
	}
	names := map[string]int{}
	leftOut := 0
	for i := range rows {
		p := &rows[i]
		if !p.keep && (kept < t.maxRows || p.stuck || bytes.Contains(p.line, []byte("<defunct>"))) {
			p.keep = true
			kept++
		}
		if !p.keep {
			names[programOf(p.line[p.commandAt:])]++
			leftOut++
		}
	}
	var list []string
	for i, name := range slices.SortedFunc(maps.Keys(names), func(a, b string) int {
		return cmp.Or(cmp.Compare(names[b], names[a]), cmp.Compare(a, b))
	}) {
		if i == 150 {
			list = append(list, "and others")
			break
		}
		if n := names[name]; n > 1 {
			name += fmt.Sprintf(" %d", n)
		}
		list = append(list, name)
	}
	return fmt.Sprintf("%s: %s", quantity.Count(leftOut, "more process"), strings.Join(list, ", "))
}

// withoutTree returns a command line without the tree that ps draws before it.
func withoutTree(command []byte) []byte {
	return bytes.TrimLeft(command, ` |\_`)
}

// programOf returns the name of the program in a command line.
func programOf(command []byte) string {
	command = withoutTree(command)
	word, rest, _ := strings.Cut(string(command), " ")
	if strings.HasSuffix(word, ":") { // a title: sshd: user
		return word + " " + strings.TrimSpace(rest)[:min(20, len(strings.TrimSpace(rest)))]
	}
	if strings.HasPrefix(word, "/") || strings.HasPrefix(word, "./") { // and not kworker/0:1H
		word = word[strings.LastIndexByte(word, '/')+1:]
	}
	return strings.ToValidUTF8(word, "")
}

// psColumns returns the indexes of the columns in a header. command is -1 if
// the line is not a header.
func psColumns(l []byte) (cpu, mem, command int) {
	cpu, mem, command = -1, -1, -1
	process := false
	for i, f := range bytes.Fields(l) {
		switch string(f) {
		case "PID":
			process = true
		case "%CPU", "CPU", "C", "PCPU":
			cpu = i
		case "%MEM", "MEM", "RSS", "PMEM":
			if mem < 0 {
				mem = i
			}
		case "COMMAND", "CMD", "ARGS", "COMM":
			command = i
		}
	}
	if !process || command <= 0 {
		return -1, -1, -1
	}
	return cpu, mem, command
}

// stateColumn returns the index of the state in a header, or -1.
func stateColumn(l []byte) int {
	return slices.IndexFunc(bytes.Fields(l), func(f []byte) bool {
		return string(f) == "STAT" || string(f) == "S" || string(f) == "STATE"
	})
}

// columnAt returns where the column with an index begins in a row, or -1.
func columnAt(l []byte, n int) int {
	at := 0
	for range n {
		for at < len(l) && l[at] == ' ' {
			at++
		}
		for at < len(l) && l[at] != ' ' {
			at++
		}
	}
	for at < len(l) && l[at] == ' ' {
		at++
	}
	if at >= len(l) {
		return -1
	}
	return at
}
