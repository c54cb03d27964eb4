package fixtures

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
)

// Bindings are the values of the names of a fixture, as JSON values decoded with
// UseNumber.
type Bindings map[string]any

// Difference is the first place where a frame differs from the fixture.
type Difference struct {
	Path string // into the frame: params.update.status; empty for the frame itself
	Want string // JSON, or "nothing"
	Got  string
}

// Error returns the place, the wanted and the actual value, one line each.
func (d *Difference) Error() string {
	return fmt.Sprintf("at %s\n\twant %s\n\tgot  %s", d.Path, d.Want, d.Got)
}

const nothing = "nothing"

var (
	nameWhole  = lazyregexp.New(`^\$[A-Z][A-Z0-9_]*$`)
	nameInside = lazyregexp.New(`\$\{[A-Z][A-Z0-9_]*\}`)
)

// Match compares a frame with a fixture's line. In want, the string "$ANY" matches any
// value. "$NAME" matches the value that NAME is bound to; the first value it meets
// binds it. ${NAME} inside a longer string matches the text that NAME is bound to, or
// a UUID, which binds it. Everything else must be equal, and got may have no more
// members. If the two differ, b does not change; b may be nil.
func Match(want, got []byte, b Bindings) *Difference {
	w, err := decode(want)
	if err != nil {
		return &Difference{"the fixture", "JSON", err.Error()}
	}
	g, err := decode(got)
	if err != nil {
		return &Difference{"the frame", "JSON", strconv.Quote(string(got))}
	}
	tried := maps.Clone(b)
	if tried == nil {
		tried = Bindings{}
	}
	if d := match("", w, g, tried); d != nil {
		return d
	}
	if b != nil {
		maps.Copy(b, tried)
	}
	return nil
}

func decode(text []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	return v, err
}

// match compares the values at a path, and binds names in b.
func match(path string, want, got any, b Bindings) *Difference {
	switch w := want.(type) {
	case string:
		if w == "$ANY" {
			return nil
		}
		if nameWhole.MatchString(w) {
			bound, ok := b[w[1:]]
			if !ok {
				b[w[1:]] = got
				return nil
			}
			return compare(path, bound, got, w)
		}
		if g, ok := got.(string); ok && b.bindInside(w, g) {
			return nil
		}
		return compare(path, b.expand(w), got, "")
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			break
		}
		return matchMembers(path, w, g, b)
	case []any:
		g, ok := got.([]any)
		if !ok {
			break
		}
		for i := range min(len(w), len(g)) {
			if d := match(fmt.Sprintf("%s[%d]", path, i), w[i], g[i], b); d != nil {
				return d
			}
		}
		switch n := len(w); {
		case n < len(g):
			return &Difference{fmt.Sprintf("%s[%d]", path, n), nothing, compactJSON(g[n])}
		case n > len(g):
			return &Difference{fmt.Sprintf("%s[%d]", path, len(g)), compactJSON(w[len(g)]), nothing}
		}
		return nil
	}
	return compare(path, want, got, "")
}

// matchMembers compares the members of two objects: first the wanted ones, then the others.
func matchMembers(path string, want, got map[string]any, b Bindings) *Difference {
	keys := slices.Sorted(maps.Keys(want))
	for _, k := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[k]; !ok {
			keys = append(keys, k) // after the missing members, which explain more
		}
	}
	for _, k := range keys {
		at := strings.TrimPrefix(path+"."+k, ".")
		w, wanted := want[k]
		g, there := got[k]
		switch {
		case !there:
			return &Difference{at, compactJSON(w), nothing}
		case !wanted:
			return &Difference{at, nothing, compactJSON(g)}
		}
		if d := match(at, w, g, b); d != nil {
			return d
		}
	}
	return nil
}

// compare compares values without names; name is the fixture's name for want.
func compare(path string, want, got any, name string) *Difference {
	w, g := compactJSON(want), compactJSON(got)
	if w == g {
		return nil
	}
	if name != "" {
		w += ", which is " + name
	}
	return &Difference{path, w, g}
}

// compactJSON returns v as JSON with sorted members, so that equal values look the same, and
// without escapes for HTML.
func compactJSON(v any) string {
	data, err := plainjson.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(data)
}

// expand replaces ${NAME} if NAME is bound to a string. Other text of that form, such
// as a shell variable, stays.
func (b Bindings) expand(s string) string {
	return nameInside.ReplaceAllStringFunc(s, func(m string) string {
		if v, ok := b[m[2:len(m)-1]].(string); ok {
			return v
		}
		return m
	})
}

// bindInside binds the unbound names in a longer string to the UUIDs in their places in
// got. It reports whether the strings are then equal.
func (b Bindings) bindInside(want, got string) bool {
	want = b.expand(want)
	at, names := 0, map[string]any{}
	for _, m := range nameInside.FindAllStringIndex(want, -1) {
		text := want[at:m[0]]
		id := uuid.FindString(got[min(len(text), len(got)):])
		if !strings.HasPrefix(got, text) || id == "" || !strings.HasPrefix(got[len(text):], id) {
			return false
		}
		name := want[m[0]+2 : m[1]-1]
		if bound, ok := names[name]; ok && bound != id {
			return false
		}
		names[name], got, at = id, got[len(text)+len(id):], m[1]
	}
	if want[at:] != got {
		return false
	}
	maps.Copy(b, names)
	return true
}

// fill replaces the names in a frame by their values.
func (b Bindings) fill(frame []byte) ([]byte, error) {
	unbound := ""
	filled := mapStrings(frame, func(_, s string) string {
		v, ok := b[strings.TrimPrefix(s, "$")]
		switch {
		case !nameWhole.MatchString(s):
			return compactJSON(b.expand(s))
		case ok:
			return compactJSON(v)
		}
		unbound = s
		return compactJSON(s)
	})
	if unbound != "" {
		return filled, fmt.Errorf("%s is not bound: no frame of the agent before this one has it", unbound)
	}
	return filled, nil
}
