package listing

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// table shortens tables about the system.
type table struct {
	maxRows  int           // rows to keep
	maxWidth int           // bytes of a command line to keep
	once     *text.Pattern // rows with values that are said once, or nil
}

// newTable makes the strategy "table" for df, du, ps, top, lsof, ss and
// netstat. File systems without a device, kernel threads and mapped files are
// dropped. If there are very many rows, the largest stay, and at least the
// names or states of the others. Command lines are cut at width. Tables of
// other commands keep all rows and lose only padding. once matches the rows of
// a list of packages: a value of its groups that most rows have is said once.
func newTable(p strategy.Params) (strategy.Strategy, error) {
	c := struct {
		Rows  int    `toml:"max_rows"`
		Width int    `toml:"width"`
		Once  string `toml:"once"`
	}{Rows: 40, Width: 200}
	if err := p.Decode(&c); err != nil {
		return nil, err
	}
	if c.Rows < 5 || c.Width < 40 {
		return nil, errors.New("want max_rows >= 5 and width >= 40")
	}
	t := table{maxRows: c.Rows, maxWidth: c.Width}
	if c.Once == "" {
		return t, nil
	}
	once, err := text.Compile(c.Once)
	if err != nil {
		return nil, fmt.Errorf("once: %w", err)
	}
	t.once = once
	return t, nil
}

func (t table) Begin(run strategy.Run, out *text.Lines) strategy.Pass {
	program, _, _ := strings.Cut(run.Command, " ")
	return &tablePass{table: t, program: program, run: run, out: out, input: text.NewLines()}
}

// tablePass collects one table and shortens it at its end.
type tablePass struct {
	table
	program        string
	run            strategy.Run
	out            *text.Lines
	input          *text.Lines
	filteredBefore bool
}

// tableTail ends the line that reports omitted rows.
const tableTail = " left out)"

func (t *tablePass) Line(l []byte) {
	if len(l) > 1 && l[0] == '(' && bytes.HasSuffix(l, []byte(tableTail)) {
		t.filteredBefore = true
	}
	t.input.Write(l)
}

func (t *tablePass) End() strategy.Confidence {
	defer t.input.Close()
	if t.filteredBefore || t.input.Count() < 5 {
		return strategy.Fallback
	}
	omitted := ""
	switch t.program {
	case "df", "gdf":
		omitted = t.df()
	case "du", "gdu", "ncdu", "dust":
		omitted = t.du()
	case "ps", "pgrep":
		omitted = t.ps()
	case "top":
		omitted = t.top()
	case "lsof":
		omitted = t.lsof()
	case "ss", "netstat":
		omitted = t.sockets()
	default:
		if t.once != nil && t.sayOnce() {
			return strategy.Full
		}
		return t.squeezeColumns()
	}
	if omitted == "" {
		return strategy.Fallback
	}
	t.out.WriteString("(" + omitted + tableTail)
	return strategy.Partial
}

// squeezeColumns removes the padding of a table.
func (t *tablePass) squeezeColumns() strategy.Confidence {
	padded := 0
	if !t.each(func(l []byte) {
		if bytes.Contains(bytes.TrimLeft(l, " "), []byte("   ")) {
			padded++
		}
	}) || padded*3 < t.input.Count()*2 {
		return strategy.Fallback
	}
	var line []byte
	if !t.each(func(l []byte) {
		line = text.Squeeze(line[:0], bytes.TrimRight(l, " "))
		t.out.Write(line)
	}) {
		return strategy.Fallback
	}
	return strategy.Full
}

// each calls do with each line. An error of reading leaves the text incomplete,
// so nothing is left out then.
func (t *tablePass) each(do func(l []byte)) bool { return t.input.Each(do) == nil }

// pseudoFileSystems are types of file systems without a device.
var pseudoFileSystems = setOf(
	"tmpfs", "devtmpfs", "udev", "overlay", "shm", "none", "efivarfs", "squashfs", "ramfs", "proc",
	"sysfs", "devfs", "map", "cgroup", "cgroup2", "fuse.portal", "fuse.snapfuse", "autofs", "fusectl",
	"run", "dev", "nsfs", "portal",
)

func (t *tablePass) df() string {
	omitted, rows := 0, 0
	var fields [][]byte
	ok := t.each(func(l []byte) {
		if bytes.IndexByte(l, '%') < 0 { // first, since it is quick
			t.out.Write(l)
			return
		}
		fields = slices.AppendSeq(fields[:0], bytes.FieldsSeq(l))
		if len(fields) < 5 || fields[0][len(fields[0])-1] == ':' {
			t.out.Write(l)
			return
		}
		rows++
		kind := string(fields[0])
		if pseudoFileSystems()[string(fields[1])] {
			kind = string(fields[1])
		}
		loop := bytes.HasPrefix(fields[0], []byte("/dev/loop")) || kind == "squashfs" || strings.HasPrefix(kind, "fuse.")
		mount := fields[len(fields)-1]
		full := false
		for _, f := range fields {
			if n := len(f); n > 1 && f[n-1] == '%' {
				used, _ := strconv.Atoi(string(f[:n-1]))
				full = used >= 90
			}
		}
		inContainer := bytes.Contains(mount, []byte("/docker/")) ||
			bytes.Contains(mount, []byte("/containers/")) ||
			bytes.Contains(mount, []byte("/kubelet/")) ||
			bytes.Contains(mount, []byte("/containerd/")) ||
			bytes.Contains(mount, []byte("/io.containerd")) ||
			bytes.HasPrefix(mount, []byte("/snap/"))
		if loop && inContainer ||
			loop && bytes.HasPrefix(mount, []byte("/var/lib/snapd")) ||
			pseudoFileSystems()[kind] && string(mount) != "/" && (inContainer || !full || loop) {
			omitted++
			return
		}
		t.out.Write(l)
	})
	if !ok || omitted == 0 || omitted == rows {
		return ""
	}
	return quantity.Count(omitted, "pseudo file system")
}

// parseAmount parses a number with a unit.
func parseAmount(body []byte) (n float64, ok bool) {
	end := 0
	for end < len(body) && (text.Class[body[end]] == text.Digit || body[end] == '.' || body[end] == ',') {
		end++
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(string(body[:end]), ",", "."), 64)
	if err != nil {
		return 0, false
	}
	if unit := bytes.TrimRight(body[end:], "iB"); len(unit) == 1 {
		power := strings.IndexByte("kmgtpe", unit[0]|0x20)
		if power < 0 {
			return 0, false
		}
		for range power + 1 {
			n *= 1024
		}
	} else if len(unit) > 0 {
		return 0, false
	}
	return n, true
}

func (t *tablePass) du() string {
	var sizes []float64
	unparsed := 0
	size := func(l []byte) (float64, bool) {
		i := bytes.IndexAny(l, "\t ")
		if i <= 0 {
			return 0, false
		}
		return parseAmount(l[:i])
	}
	t.each(func(l []byte) {
		switch n, ok := size(l); {
		case ok && len(sizes) < 1<<20:
			sizes = append(sizes, n)
		case !ok && !isComplaint(l):
			unparsed++
		}
	})
	if len(sizes) <= t.maxRows+t.maxRows/2 || unparsed*10 > len(sizes) {
		return ""
	}
	slices.SortFunc(sizes, func(a, b float64) int { return cmp.Compare(b, a) })
	least := sizes[t.maxRows-1]
	left := t.maxRows - slices.Index(sizes, least) // rows to keep of those as small as the least
	omitted, complaints := 0, 0
	var last []byte
	ok := t.each(func(l []byte) {
		n, ok := size(l)
		switch {
		case !ok:
			if complaints++; complaints <= 10 || !isComplaint(l) {
				t.out.Write(l)
			} else {
				omitted++
			}
			last = nil
		case n > least || n == least && left > 0:
			if n == least {
				left--
			}
			t.out.Write(l)
			last = nil
		default:
			omitted++
			last = append(last[:0], l...)
		}
	})
	if !ok {
		return ""
	}
	if last != nil && !strings.Contains(t.run.Command, "sort") { // the total comes last
		omitted--
		t.out.Write(last)
	}
	return quantity.Count(omitted, "smaller entry")
}

// top keeps the first processes, those with much memory and those that hang.
func (t *tablePass) top() string {
	omitted, rows, mem, state := 0, -1, -1, -1
	ok := t.each(func(l []byte) {
		fields := bytes.Fields(l)
		switch {
		case len(fields) > 6 && string(fields[0]) == "PID":
			rows = 0
			mem = slices.IndexFunc(fields, func(f []byte) bool { return string(f) == "%MEM" })
			state = slices.IndexFunc(fields, func(f []byte) bool { return string(f) == "S" })
		case rows >= 0 && len(fields) > 6 && text.DigitsEnd(fields[0], 0) == len(fields[0]):
			if rows++; rows > t.maxRows/2 && !(mem >= 0 && mem < len(fields) && isMuchMemory(fields[mem])) &&
				!(state >= 0 && state < len(fields) && isStuck(fields[state])) {
				omitted++
				return
			}
		default:
			rows = -1
		}
		t.out.Write(l)
	})
	if !ok || omitted == 0 {
		return ""
	}
	return quantity.Count(omitted, "process")
}

// isStuck reports whether the state of a process indicates a problem: it waits for a
// device, is stopped, or is a zombie.
func isStuck(state []byte) bool {
	return len(state) > 0 && (state[0] == 'D' || state[0] == 'T' || state[0] == 't' || state[0] == 'Z')
}

// isMuchMemory reports whether a share of memory, in percent, is so high that the row
// stays.
func isMuchMemory(share []byte) bool {
	n, ok := parseAmount(share)
	return ok && n >= 2
}

func (t *tablePass) lsof() string {
	if t.input.Count() < t.maxRows {
		return ""
	}
	mapped, others, shown := 0, 0, 0
	column := -1
	ok := t.each(func(l []byte) {
		fields := bytes.Fields(l)
		if column < 0 {
			for i, f := range fields {
				if string(f) == "FD" {
					column = len(fields) - i
				}
			}
			t.out.Write(l)
			return
		}
		for i, f := range fields {
			if i > 1 && i < 6 &&
				(string(f) == "mem" || string(f) == "txt" || string(f) == "rtd" || string(f) == "DEL") &&
				!bytes.Contains(l, []byte("(deleted)")) {
				mapped++
				return
			}
		}
		if shown++; shown > 2*t.maxRows && !bytes.Contains(l, []byte("LISTEN")) && !bytes.Contains(l, []byte("(deleted)")) {
			others++
			return
		}
		t.out.Write(l)
	})
	if !ok || mapped+others == 0 {
		return ""
	}
	return fmt.Sprintf("%s of mapped files, %d others", quantity.Count(mapped, "row"), others)
}

// keptPerState is how many sockets of a state stay in a long table.
const keptPerState = 4

// sockets keeps listening sockets, the first others and some of each state. It
// counts the rest by state.
func (t *tablePass) sockets() string {
	states, kept := map[string]int{}, map[string]int{}
	shown, omitted := 0, 0
	ok := t.each(func(l []byte) {
		state := socketState(l)
		if state == "" {
			t.out.Write(l)
			return
		}
		if shown++; shown > t.maxRows/2 && kept[state] >= keptPerState {
			states[state]++
			omitted++
			return
		}
		kept[state]++
		t.out.Write(l)
	})
	if !ok || omitted == 0 {
		return ""
	}
	var all []string
	for _, s := range slices.Sorted(maps.Keys(states)) {
		all = append(all, fmt.Sprintf("%d %s", states[s], s))
	}
	return fmt.Sprintf("%s: %s", quantity.Count(omitted, "more socket"), strings.Join(all, ", "))
}

// socketState returns the state of a socket that does not listen, or "".
func socketState(l []byte) string {
	for i, f := range bytes.Fields(l) {
		if i > 6 {
			break
		}
		switch s := string(f); s {
		case "LISTEN", "UNCONN", "LISTENING":
			return ""
		case "ESTAB", "ESTABLISHED", "TIME-WAIT", "TIME_WAIT", "CLOSE-WAIT", "CLOSE_WAIT", "FIN-WAIT-1",
			"FIN-WAIT-2", "FIN_WAIT1", "FIN_WAIT2", "SYN-SENT", "SYN_SENT", "SYN-RECV", "SYN_RECV", "LAST-ACK",
			"LAST_ACK", "CLOSING", "CONNECTED", "CLOSED", "STREAM":
			return s
		}
	}
	return ""
}
