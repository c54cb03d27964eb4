package flow

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
)

// label is one source of each label, as people read it; "" means no source.
type label struct{ untrusted, private string }

// or fills the missing sources of l from other.
func (l label) or(other label) label {
	return label{cmp.Or(l.untrusted, other.untrusted), cmp.Or(l.private, other.private)}
}

// sources are the sources of both labels, oldest first.
type sources struct {
	Untrusted []string `json:"untrusted,omitempty"`
	Private   []string `json:"private,omitempty"`
}

// maxSources bounds the sources of a label, and maxSource the bytes of one. People
// need the first few.
const (
	maxSources = 8
	maxSource  = 300
)

// encoded returns the sources as JSON.
func (s sources) encoded() json.RawMessage {
	state, err := json.Marshal(s)
	if err != nil { // lists of strings always encode
		panic(err)
	}
	return state
}

// bounded returns sources within the limits: a stored session may come from elsewhere.
func (s sources) bounded() sources {
	var out labels
	out.addAll(s)
	return out.sources
}

// labels are the labels of a session.
type labels struct {
	mu      sync.Mutex
	sources sources
}

// add adds sources, and reports whether one is new.
func (l *labels) add(found label) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	untrusted := addSource(&l.sources.Untrusted, found.untrusted)
	return addSource(&l.sources.Private, found.private) || untrusted
}

// addAll is add for all sources of another session.
func (l *labels) addAll(from sources) (added bool) {
	for _, source := range from.Untrusted {
		added = l.add(label{untrusted: source}) || added
	}
	for _, source := range from.Private {
		added = l.add(label{private: source}) || added
	}
	return added
}

func addSource(list *[]string, source string) bool {
	source = executors.Shown(source[:line.RuneOffset(source, maxSource)])
	if source == "" || len(*list) == maxSources || slices.Contains(*list, source) {
		return false
	}
	*list = append(*list, source)
	return true
}

// set replaces the sources, and reports whether that changed them.
func (l *labels) set(to sources) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.sources
	l.sources = to
	return !slices.Equal(was.Untrusted, to.Untrusted) || !slices.Equal(was.Private, to.Private)
}

// all returns a copy of the sources.
func (l *labels) all() sources {
	l.mu.Lock()
	defer l.mu.Unlock()
	return sources{slices.Clone(l.sources.Untrusted), slices.Clone(l.sources.Private)}
}

// first returns the oldest source of each label.
func (l *labels) first() label {
	l.mu.Lock()
	defer l.mu.Unlock()
	return label{firstOf(l.sources.Untrusted), firstOf(l.sources.Private)}
}

func firstOf(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// status returns a line for people, or no line without labels.
func (l *labels) status() []string {
	now := l.all()
	var parts []string
	for _, of := range []struct {
		name string
		from []string
	}{{"untrusted", now.Untrusted}, {"private", now.Private}} {
		if len(of.from) > 0 {
			parts = append(parts, of.name+" ("+strings.Join(of.from, ", ")+")")
		}
	}
	if len(parts) == 0 {
		return nil
	}
	line := "Labels: " + strings.Join(parts, " and ")
	if len(parts) == 2 {
		line += "; a call that can send data out asks"
	}
	return []string{line}
}
