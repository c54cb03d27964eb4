package testreport

import "bytes"

// heldLines are lines that stay unless a better line replaces them.
type heldLines struct {
	text  []byte // with line feeds
	count int    // lines
}

// add holds a line. If there are too many, it writes all.
func (h *heldLines) add(l []byte, write func([]byte)) {
	h.text = append(append(h.text, l...), '\n')
	if h.count++; len(h.text) > 1<<20 {
		h.write(write)
	}
}

// dropContaining drops the first line that contains a name.
func (h *heldLines) dropContaining(name []byte) {
	if h.count == 0 {
		return
	}
	at := bytes.Index(h.text, name)
	if at < 0 {
		return
	}
	begin := bytes.LastIndexByte(h.text[:at], '\n') + 1
	end := at + bytes.IndexByte(h.text[at:], '\n') + 1
	h.text = append(h.text[:begin], h.text[end:]...)
	h.count--
}

// drop drops all lines.
func (h *heldLines) drop() { h.text, h.count = h.text[:0], 0 }

// write writes and drops all lines.
func (h *heldLines) write(write func([]byte)) {
	for line := range bytes.Lines(h.text) {
		write(bytes.TrimSuffix(line, []byte("\n")))
	}
	h.drop()
}
