package search

import (
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// Matches collects the results of all files for the model. It adds whole files
// in order and applies the limits of the Searcher. So the result does not
// depend on which files were searched in parallel.
type Matches struct {
	*Searcher      // required
	Hits      int  // matches shown
	More      bool // there are more matches than are shown
	out       strings.Builder
}

// Add adds the result of the next file. It returns false when nothing more can be
// shown.
func (m *Matches) Add(f Found) bool {
	from := 0
	for i, end := range f.ends {
		if m.Hits == m.maxMatches || m.Hits > 0 && m.out.Len()+end-from > m.maxBytes {
			m.More = true
			return false
		}
		if i == 0 && m.Hits > 0 && m.context > 0 {
			m.out.WriteString(separator)
		}
		m.out.WriteString(f.text[from:end])
		from = end
		m.Hits++
	}
	m.More = f.more
	return !f.more
}

// Text returns all matches, and a note if there are more. pattern is the regex as
// the model wrote it.
func (m *Matches) Text(pattern string) string {
	if m.Hits == 0 {
		return "No matches for: " + executors.OneLine(pattern)
	}
	text := strings.TrimSuffix(m.out.String(), "\n")
	if m.More {
		text += fmt.Sprintf("\n[the first %s; there are more: narrow the pattern, or set path or include]",
			quantity.Count(m.Hits, "match"))
	}
	return text
}
