package files

import (
	"path/filepath"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
)

// maxPlaces bounds the files that a result names for the client, as locations and
// as raw output: clients open the locations.
const maxPlaces = 50

// The raw outputs, for programs: counts, absolute paths and places, never the text
// of the result again.
type (
	rawRead struct {
		Path      string `json:"path"`
		FirstLine int    `json:"first_line"` // 1-based
		Lines     int    `json:"lines"`      // shown
		Total     int    `json:"total_lines,omitempty"`
		More      bool   `json:"truncated"`          // lines follow
		Encoding  string `json:"encoding,omitempty"` // unless it is UTF-8
	}
	rawChange struct {
		Path    string `json:"path"`
		Created bool   `json:"created"`
		Bytes   int    `json:"bytes"` // of the file now
		Line    int    `json:"line,omitempty"`
	}
	rawFound struct {
		Matches int      `json:"matches"`
		Paths   []string `json:"paths"` // at most maxPlaces; directories end in a slash
		More    bool     `json:"truncated"`
	}
	rawListing struct {
		Path        string `json:"path"`
		Directories int    `json:"directories"`
		Files       int    `json:"files"`
		Symlinks    int    `json:"symlinks"`
		Other       int    `json:"other"`
		More        bool   `json:"truncated"` // not all of them are in the text
	}
	rawMatches struct {
		Matches int        `json:"matches"`
		Files   int        `json:"files"`
		Places  []rawPlace `json:"places"` // of the first match of each file; at most maxPlaces
		More    bool       `json:"truncated"`
	}
	rawCode struct {
		Definitions int        `json:"definitions"` // shown
		Texts       int        `json:"texts"`       // lines of text that are shown
		Places      []rawPlace `json:"places"`
		More        bool       `json:"truncated"`
	}
	rawPlace struct {
		Path string `json:"path"`
		Line int    `json:"line"` // 1-based
	}
	rawDirectory struct {
		Path    string `json:"path"`
		Created bool   `json:"created"` // false if it was there
	}
	rawDeleted struct {
		Path        string `json:"path"`
		Files       int    `json:"files"`
		Directories int    `json:"directories"`
		Bytes       int64  `json:"bytes"`
	}
	rawRelocated struct {
		Source      string `json:"source"`
		Destination string `json:"destination"`
	}
)

// matchPlaces collects the first match of each file, for at most maxPlaces files.
type matchPlaces struct {
	locations []executors.Location
	files     int
}

// add records the first match in a file; line is 1-based.
func (p *matchPlaces) add(path string, line int) {
	p.files++
	if len(p.locations) < maxPlaces {
		p.locations = append(p.locations, executors.Location{Path: path, Line: line})
	}
}

// raw returns the places as raw output.
func (p *matchPlaces) raw() []rawPlace {
	out := make([]rawPlace, len(p.locations))
	for i, l := range p.locations {
		out[i] = rawPlace{l.Path, l.Line}
	}
	return out
}

// below returns the absolute path, as the client spells it, of an entry below tg,
// whose path has slashes. A slash at the end stays.
func (tg target) below(path string) string {
	abs := filepath.Join(tg.client, filepath.FromSlash(path))
	if strings.HasSuffix(path, "/") {
		abs += string(filepath.Separator)
	}
	return abs
}
