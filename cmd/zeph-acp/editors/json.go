package editors

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson" // keeps comments and layout, which editors' settings have
)

// byteOrderMark begins the files of some editors on Windows.
var byteOrderMark = []byte("\ufeff")

// edit returns the settings with the entry.
func (e Editor) edit(data []byte, entry Entry) ([]byte, error) {
	text := bytes.TrimPrefix(data, byteOrderMark)
	mark := data[:len(data)-len(text)]
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	root, err := parse(text)
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
	}
	settings, ok := root.Value.(*hujson.Object)
	if !ok {
		return nil, errors.New("it is not a JSON object")
	}
	w := writer{newline: newline(text), unit: indentOf(settings)}
	if agents, found := member(settings, e.table); !found {
		w.add(settings, e.table, "", object{{entry.Name, e.members(entry)}})
	} else if err := e.editAgents(w, agents, entry); err != nil {
		return nil, err
	}
	return slices.Concat(mark, root.Pack()), nil
}

// editAgents adds the entry to the table of agents, or corrects the one that is there.
func (e Editor) editAgents(w writer, agents *hujson.Value, entry Entry) error {
	table, ok := agents.Value.(*hujson.Object)
	if !ok {
		return fmt.Errorf("%q is not a JSON object", e.table)
	}
	known, err := findEntry(table, entry)
	switch {
	case err != nil:
		return err
	case known == nil:
		w.add(table, entry.Name, w.unit, e.members(entry))
	default:
		w.set(known, e.members(entry))
	}
	return nil
}

// parse parses settings. They may have only comments, and a comment may end them without a
// line break. hujson refuses both.
func parse(text []byte) (hujson.Value, error) {
	root, err := hujson.Parse(text)
	if err == nil {
		return root, nil
	}
	if empty, again := hujson.Parse(slices.Concat(bytes.TrimRight(text, "\r\n"), []byte(newline(text)+"{}"+newline(text)))); again == nil {
		return empty, nil
	}
	if bytes.HasSuffix(text, []byte("\n")) {
		return root, err
	}
	ended, again := hujson.Parse(append(bytes.Clone(text), '\n'))
	if again != nil {
		return root, err // the first error, which has the position in the file
	}
	ended.AfterExtra = bytes.TrimSuffix(ended.AfterExtra, []byte("\n"))
	return ended, nil
}

// object is a JSON object with its members in order. A value is a string, an object, or a
// value of hujson.
type object []struct {
	name  string
	value any
}

// members returns the entry as the editor wants it.
func (e Editor) members(entry Entry) object {
	o := object{{"command", entry.Command}, {"args", &hujson.Array{}}}
	if e.kind != "" {
		o = append(object{{"type", e.kind}}, o...)
	}
	return o
}

// findEntry returns the entry of a table that starts zeph-acp: the one of that name, else
// the one with such a command; nil if there is no such entry.
func findEntry(table *hujson.Object, entry Entry) (*hujson.Object, error) {
	if v, found := member(table, entry.Name); found {
		o, ok := v.Value.(*hujson.Object)
		if !ok {
			return nil, fmt.Errorf("%q is not a JSON object", entry.Name)
		}
		return o, nil
	}
	for _, m := range table.Members {
		o, ok := m.Value.Value.(*hujson.Object)
		if ok && startsZeph(o) {
			return o, nil
		}
	}
	return nil, nil
}

// startsZeph reports whether the command of an entry is zeph-acp.
func startsZeph(o *hujson.Object) bool {
	name := filepath.Base(filepath.FromSlash(commandOf(o)))
	return name == "zeph-acp" || name == "zeph-acp.exe"
}

// commandOf returns the command of an entry; "" if it is not a string.
func commandOf(o *hujson.Object) string {
	v, _ := member(o, "command")
	if v == nil || v.Value.Kind() != '"' {
		return ""
	}
	return v.Value.(hujson.Literal).String()
}

// member returns the value of a member. Of two with one name the last counts, as for the
// editors.
func member(o *hujson.Object, name string) (*hujson.Value, bool) {
	for i := len(o.Members) - 1; i >= 0; i-- {
		if lit, ok := o.Members[i].Name.Value.(hujson.Literal); ok && lit.String() == name {
			return &o.Members[i].Value, true
		}
	}
	return nil, false
}

// newline returns the line ending of a text.
func newline(text []byte) string {
	if bytes.Contains(text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// indentOf returns the indentation of the first member of an object that has its own line;
// two spaces if no member has one.
func indentOf(o *hujson.Object) string {
	for _, m := range o.Members {
		extra := m.Name.BeforeExtra
		if i := bytes.LastIndexByte(extra, '\n'); i >= 0 {
			line := string(extra[i+1:])
			if indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]; indent != "" {
				return indent
			}
		}
	}
	return "  "
}

// writer writes members in the layout of a file.
type writer struct{ newline, unit string }

// add appends a member to an object whose own members are indented by one unit more than
// indent. A comment after the last member stays on its line.
func (w writer) add(o *hujson.Object, name, indent string, value any) {
	before := strings.TrimRight(string(o.AfterExtra), " \t\r\n")
	m := hujson.ObjectMember{
		Name:  hujson.Value{Value: hujson.String(name), BeforeExtra: []byte(before + w.newline + indent + w.unit)},
		Value: w.value(value, indent+w.unit),
	}
	if n := len(o.Members); n > 0 {
		m.Value.AfterExtra = o.Members[n-1].Value.AfterExtra // not nil if there is a trailing comma
		if m.Value.AfterExtra != nil {
			m.Value.AfterExtra = []byte{}
		}
	}
	o.Members = append(o.Members, m)
	o.AfterExtra = []byte(w.newline + indent)
}

// set replaces the members that differ and adds those that are missing. Arguments and
// other members of the user stay.
func (w writer) set(o *hujson.Object, want object) {
	for _, m := range want {
		v, found := member(o, m.name)
		text, isText := m.value.(string)
		switch {
		case !found && isText:
			w.add(o, m.name, w.unit+w.unit, m.value)
		case found && isText && !isString(v, text):
			v.Value = hujson.String(text)
		}
	}
}

func isString(v *hujson.Value, text string) bool {
	lit, ok := v.Value.(hujson.Literal)
	return ok && lit.Kind() == '"' && lit.String() == text
}

// value returns a value; the members of an object are indented by one unit more than
// indent.
func (w writer) value(value any, indent string) hujson.Value {
	v := hujson.Value{BeforeExtra: []byte(" ")}
	switch value := value.(type) {
	case string:
		v.Value = hujson.String(value)
	case hujson.ValueTrimmed:
		v.Value = value
	case object:
		o := &hujson.Object{}
		for _, m := range value {
			w.add(o, m.name, indent, m.value)
		}
		v.Value = o
	}
	return v
}
