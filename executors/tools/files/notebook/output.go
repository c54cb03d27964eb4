package notebook

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// Output is an output of a code cell.
type Output struct {
	Name  string // of its stream or kind: "stdout", "error", "text/plain"
	Text  string // what people read; empty for other data
	Data  []Data // its other forms
	Error bool
}

// Data is an output that is not text.
type Data struct {
	MIME  string
	Size  int    // in bytes
	Image []byte // of a PNG, JPEG or GIF
}

// parseOutputs returns the outputs of a cell. Malformed ones are left out.
func parseOutputs(value string) []Output {
	var list []json.RawMessage
	if json.Unmarshal([]byte(value), &list) != nil {
		return nil
	}
	var out []Output
	for _, item := range list {
		var o struct {
			Kind      string                     `json:"output_type"`
			Name      string                     `json:"name"`
			Stream    string                     `json:"stream"` // before nbformat 4
			Text      json.RawMessage            `json:"text"`
			Data      map[string]json.RawMessage `json:"data"`
			Exception string                     `json:"ename"`
			Value     string                     `json:"evalue"`
			Traceback []string                   `json:"traceback"`
		}
		if json.Unmarshal(item, &o) != nil {
			out = append(out, Output{Name: "of an unknown kind"})
			continue
		}
		switch o.Kind {
		case "stream":
			one := Output{Name: o.Name + o.Stream}
			one.Text, _ = text(string(o.Text))
			out = append(out, one)
		case "error", "pyerr":
			trace := strings.Join(o.Traceback, "\n")
			if strings.TrimSpace(trace) == "" {
				trace = o.Exception + ": " + o.Value
			}
			out = append(out, Output{Name: "error", Text: trace, Error: true})
		default:
			if o.Data == nil {
				o.Data = oldData(item)
			}
			out = append(out, richOutput(o.Kind, o.Data))
		}
	}
	return out
}

// oldData returns the data of an output before nbformat 4, whose forms are members of the output.
func oldData(item json.RawMessage) map[string]json.RawMessage {
	var all map[string]json.RawMessage
	if json.Unmarshal(item, &all) != nil {
		return nil
	}
	data := map[string]json.RawMessage{}
	for name, mime := range map[string]string{"text": "text/plain", "html": "text/html", "svg": "image/svg+xml", "png": "image/png", "jpeg": "image/jpeg",
		"latex": "text/latex", "json": "application/json", "javascript": "application/javascript"} {
		if v, ok := all[name]; ok {
			data[mime] = v
		}
	}
	return data
}

// textForms are the forms of an output that people read, the best first.
var textForms = []string{"text/plain", "text/markdown", "text/latex", "text/html"}

func richOutput(kind string, data map[string]json.RawMessage) Output {
	o := Output{Name: kind}
	for _, mime := range textForms {
		if v, ok := data[mime]; ok {
			o.Name = mime
			o.Text, _ = text(string(v))
			break
		}
	}
	for _, mime := range slices.Sorted(maps.Keys(data)) {
		if mime == o.Name && o.Text != "" {
			continue
		}
		d := Data{MIME: mime, Size: len(data[mime])}
		if s, ok := text(string(data[mime])); ok {
			d.Size = len(s)
			if mime == "image/png" || mime == "image/jpeg" || mime == "image/gif" {
				if image, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(s), "")); err == nil {
					d.Image, d.Size = image, len(image)
				}
			}
		}
		o.Data = append(o.Data, d)
	}
	return o
}

// Limits bounds the outputs that Show shows of a cell.
type Limits struct{ Lines, Chars int }

// Heading returns the line about the notebook. name is its path.
func (n *Notebook) Heading(name string) string {
	parts := []string{quantity.Count(len(n.Cells), "cell")}
	if n.Language != "" {
		parts = append(parts, n.Language)
	}
	return fmt.Sprintf("[notebook %s: %s, nbformat %s]", name, strings.Join(parts, ", "), n.Format)
}

// Show returns a cell as text: a line about it, its source and its outputs, which limits bounds. clean
// makes text printable.
func (n *Notebook) Show(i int, limits Limits, clean func(string) string) string {
	c := n.Cells[i]
	var b strings.Builder
	fmt.Fprintf(&b, "[cell %d: %s", i+1, clean(c.Type))
	if c.ID != "" {
		fmt.Fprintf(&b, ", id %s", clean(c.ID))
	}
	if c.Run != "" {
		fmt.Fprintf(&b, ", run %s", clean(c.Run))
	}
	b.WriteString("]\n")
	writeLine(&b, c.Source)
	for _, o := range c.Outputs {
		var other []string
		for _, d := range o.Data {
			other = append(other, fmt.Sprintf("%s, %s", clean(d.MIME), quantity.Count(d.Size, "byte")))
		}
		name := clean(o.Name)
		if o.Text == "" && len(other) > 0 {
			name = strings.Join(other, "; ")
		} else if len(other) > 0 {
			name += "; also " + strings.Join(other, "; ")
		}
		fmt.Fprintf(&b, "[output: %s]\n", name)
		shown, left := limits.cut(clean(o.Text))
		writeLine(&b, shown)
		if left > 0 {
			fmt.Fprintf(&b, "[%s of this output]\n", quantity.Count(left, "more byte"))
		}
	}
	return b.String()
}

// writeLine writes text that ends its last line.
func writeLine(b *strings.Builder, text string) {
	b.WriteString(text)
	if text != "" && !strings.HasSuffix(text, "\n") {
		b.WriteByte('\n')
	}
}

// cut returns the beginning of text, and how many bytes are left out.
func (l Limits) cut(text string) (shown string, left int) {
	end, lines := 0, 0
	for line := range strings.Lines(text) {
		if lines++; lines > l.Lines || end+len(line) > l.Chars {
			if end == 0 {
				end = len(strings.ToValidUTF8(line[:min(len(line), l.Chars)], ""))
			}
			break
		}
		end += len(line)
	}
	return text[:end], len(text) - end
}
