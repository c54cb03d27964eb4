package export

import (
	"io"
	"strings"
	"unicode"

	"github.com/zeph-acp/zeph-acp/audit"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/summary"
)

// CEF writes entries in the Common Event Format, version 0: one line for each, without a
// syslog header. Keys have the lengths of the format's dictionary:
// https://www.microfocus.com/documentation/arcsight/arcsight-smartconnectors/pdfdoc/cef-implementation-standard/cef-implementation-standard.pdf
type CEF struct {
	Product Product
	Mask    func(string) string // redacts secrets; nil redacts none
}

// header escapes a field of the header, and extension a value of the extension. A line
// must not end inside of either.
var (
	header    = strings.NewReplacer(`\`, `\\`, `|`, `\|`, "\n", " ", "\r", " ")
	extension = strings.NewReplacer(`\`, `\\`, `=`, `\=`, "\n", `\n`, "\r", `\r`)
)

// Write writes an entry.
func (c CEF) Write(w io.Writer, e *audit.Entry) error {
	t := texts{c.Mask}
	var b strings.Builder
	field := func(s string) { b.WriteString(header.Replace(visible(s)) + "|") }
	b.WriteString("CEF:0|")
	field(c.Product.Name)
	field(c.Product.Name)
	field(c.Product.Version)
	field(e.Tool)
	field("tool call: " + string(e.Result))
	field(number(int64(severityOf(e).cef)))
	first := true
	add := func(key, s string, limit int) {
		if s == "" {
			return
		}
		if !first {
			b.WriteByte(' ')
		}
		first = false
		b.WriteString(key + "=" + extension.Replace(visible(t.bounded(s, limit))))
	}
	custom := func(n, label, s string) {
		if s != "" {
			add("cs"+n+"Label", label, 1023)
			add("cs"+n, s, 4000)
		}
	}
	if at := e.When(); !at.IsZero() {
		add("rt", number(at.UnixMilli()), 20)
	}
	add("externalId", e.ID, 40)
	add("act", e.Decision, 63)
	add("outcome", string(e.Result), 63)
	add("reason", string(e.Category), 1023)
	add("msg", summary.Subject(e), 1023)
	add("request", e.URL, 1023)
	if len(e.Paths) > 0 {
		add("filePath", e.Paths[0], 1023)
	}
	custom("1", "session", e.Session)
	custom("2", "rule", e.Rule)
	custom("3", "gates", gates(e))
	custom("4", "phase", e.Phase)
	custom("5", "mcpServer", e.MCPServer)
	custom("6", "hooks", hooks(e))
	if e.Reason != "" {
		add("flexString1Label", "userReason", 128)
		add("flexString1", e.Reason, 1023)
	}
	if e.ExitCode != nil {
		add("cn1Label", "exitCode", 1023)
		add("cn1", number(int64(*e.ExitCode)), 20)
	}
	add("cn2Label", "durationMs", 1023)
	add("cn2", number(e.DurationMS), 20)
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}

// visible replaces control characters other than line ends.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\r' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			return '\uFFFD'
		}
		return r
	}, s)
}
