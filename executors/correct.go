package executors

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/zeph-acp/zeph-acp/filter/text/line"
	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
)

// corrector fixes common mistakes in the arguments of models: null for an
// omitted parameter, "3" for a number, an object as JSON in a string. It
// corrects them by the schema, before any link checks the call. It never
// invents a value and never changes one that fits.
type corrector struct {
	root        *jsonschema.Schema // resolves local references
	keepUnknown bool               // keep unknown members, for the message of a failure

	work    *int // values that may still be examined or copied
	depth   int  // attempts within attempts
	changed bool
	renamed []string // notes about members that are called otherwise
	unknown []string // members that were dropped, as the note shows them
}

// Limits on the work for one input, since a schema may refer to itself: values examined
// or copied, and nested attempts. Beyond them, values stay unchanged.
const (
	maxCorrected = 200_000
	maxAttempts  = 8
)

func newCorrector(root *jsonschema.Schema) *corrector {
	work := maxCorrected
	return &corrector{root: root, work: &work}
}

// correct returns the input as the tool's schema requires it, and notes for the model about
// members that were renamed or dropped. An input that needs no change is returned byte for byte.
func correct(schema *jsonschema.Schema, raw json.RawMessage) (json.RawMessage, []string, error) {
	c := newCorrector(schema)
	tree, err := c.object(raw)
	if err != nil || !c.changed {
		return raw, nil, err
	}
	out, err := plainjson.Marshal(tree)
	return out, append(c.renamed, ignoredNote(c.unknown)...), err
}

// object decodes and corrects an input. An input that is an object as JSON in a
// string is that object.
func (c *corrector) object(raw []byte) (map[string]any, error) {
	v, err := decodeStrict(raw)
	if err != nil {
		return nil, err
	}
	if text, ok := v.(string); ok {
		if inner, err := decodeStrict([]byte(text)); err == nil {
			v, c.changed = inner, true
		} else if errors.Is(err, errTwice) {
			return nil, err
		}
	}
	members, ok := v.(map[string]any)
	if !ok {
		return nil, errNoObject
	}
	members = c.unwrap(members)
	c.members(c.root, "", members)
	return members, nil
}

// value returns v as s requires it; at is the path to it: entries[1].status.
func (c *corrector) value(s *jsonschema.Schema, at string, v any) any {
	s = c.follow(s)
	if *c.work--; s == nil || *c.work < 0 {
		return v
	}
	for _, branches := range [][]*jsonschema.Schema{s.AnyOf, s.OneOf} {
		if len(branches) > 0 {
			v = c.branch(branches, at, v)
		}
	}
	if types := typesOf(s); len(types) > 0 && !hasAnyType(v, types) {
		var done bool
		if v, done = c.convert(s, types, at, v); done {
			return v
		}
	}
	switch v := v.(type) {
	case map[string]any:
		c.members(s, at, v)
	case []any:
		for i := range v {
			if i >= len(s.PrefixItems) {
				v[i] = c.value(s.Items, fmt.Sprintf("%s[%d]", at, i), v[i])
			}
		}
	case json.Number:
		if types := typesOf(s); slices.Contains(types, "integer") && !slices.Contains(types, "number") {
			return c.integer(v)
		}
	}
	return v
}

// members corrects the members of an object in place.
func (c *corrector) members(s *jsonschema.Schema, at string, members map[string]any) {
	c.rename(s, at, members)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		sub, known := s.Properties[name]
		path := strings.TrimPrefix(at+"."+name, ".")
		switch {
		case !known && closed(s):
			if !c.keepUnknown {
				delete(members, name)
				c.changed, c.unknown = true, append(c.unknown, describeUnknown(s, at, name))
			}
		case !known:
			if len(s.PatternProperties) == 0 {
				members[name] = c.value(s.AdditionalProperties, path, members[name])
			}
		case members[name] == nil && !slices.Contains(s.Required, name) && !c.allowsNull(sub):
			delete(members, name)
			c.changed = true
		default:
			members[name] = c.value(sub, path, members[name])
		}
	}
}

// convert returns v as a value of one of the types, if it can be parsed as one,
// else v. done reports that its parts are corrected too.
func (c *corrector) convert(s *jsonschema.Schema, types []string, at string, v any) (got any, done bool) {
	if text, ok := v.(string); ok {
		for _, t := range types {
			got, ok := parseAs(t, text)
			if ok && t == "array" { // the string may be the only item
				got, ok = c.try(s, at, got)
				done = ok
			}
			if ok {
				c.changed = true
				return got, done
			}
		}
	}
	if v != nil && slices.Contains(types, "array") {
		if list, ok := c.try(s, at, []any{v}); ok {
			return list, true
		}
	}
	return v, false
}

// parseAs returns the value of type t that is written in a string.
func parseAs(t, text string) (any, bool) {
	switch text = strings.TrimSpace(text); t {
	case "boolean":
		b, err := strconv.ParseBool(strings.ToLower(text))
		return b, err == nil && len(text) > 1 // not "1", "t"
	case "null":
		return nil, text == "null"
	}
	v, err := decodeStrict([]byte(text))
	return v, err == nil && hasType(v, t)
}

// branch corrects a value by the first of several schemas that it then fits. A
// schema that it fits unchanged comes before all others.
func (c *corrector) branch(branches []*jsonschema.Schema, at string, v any) any {
	var best *corrector
	var corrected any
	for _, s := range branches {
		sub := c.nested()
		got, ok := sub.attempt(s, at, v)
		if ok && !sub.changed {
			return v
		}
		if ok && best == nil {
			best, corrected = sub, got
		}
	}
	if best == nil {
		return v
	}
	c.adopt(best)
	return corrected
}

// try corrects a value that differs from the model's, if it then fits.
func (c *corrector) try(s *jsonschema.Schema, at string, v any) (any, bool) {
	sub := c.nested()
	got, ok := sub.attempt(s, at, v)
	if ok {
		c.adopt(sub)
	}
	return got, ok
}

// adopt copies the notes of the attempt whose result is returned.
func (c *corrector) adopt(sub *corrector) {
	c.changed, c.unknown, c.renamed = true, append(c.unknown, sub.unknown...), append(c.renamed, sub.renamed...)
}

// nested returns a corrector for an attempt, whose result c may discard.
func (c *corrector) nested() *corrector {
	return &corrector{root: c.root, keepUnknown: c.keepUnknown, work: c.work, depth: c.depth + 1}
}

// attempt corrects a copy of v and reports whether it then fits.
func (c *corrector) attempt(s *jsonschema.Schema, at string, v any) (any, bool) {
	if c.depth > maxAttempts || *c.work < 0 {
		return v, false
	}
	s = c.follow(s)
	v = c.value(s, at, c.clone(v))
	_, wrong := firstFault(s, at, v)
	return v, wrong == ""
}

// integer writes 3.0 and 3e0 as 3: not every reader of an integer accepts those.
func (c *corrector) integer(n json.Number) any {
	f, err := n.Float64()
	if err != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<53 || !strings.ContainsAny(string(n), ".eE") {
		return n
	}
	c.changed = true
	return json.Number(strconv.FormatInt(int64(f), 10))
}

// maxRefs bounds the length of a chain of references.
const maxRefs = 8

// follow returns the schema that a chain of local references leads to.
func (c *corrector) follow(s *jsonschema.Schema) *jsonschema.Schema {
	for range maxRefs {
		if s == nil || s.Ref == "" {
			return s
		}
		if name, ok := strings.CutPrefix(s.Ref, "#/$defs/"); ok {
			s = c.root.Defs[name]
		} else if name, ok := strings.CutPrefix(s.Ref, "#/definitions/"); ok {
			s = c.root.Definitions[name]
		} else {
			return nil
		}
	}
	return nil
}

func (c *corrector) allowsNull(s *jsonschema.Schema) bool {
	if s = c.follow(s); s == nil {
		return true
	}
	if types := typesOf(s); len(types) > 0 {
		return slices.Contains(types, "null")
	}
	if branches := slices.Concat(s.AnyOf, s.OneOf); len(branches) > 0 {
		return slices.ContainsFunc(branches, c.allowsNull)
	}
	return s.Enum == nil || slices.Contains(s.Enum, nil)
}

// maxIgnored bounds how many dropped members a note names, maxIgnoredName the
// characters of each.
const (
	maxIgnored     = 8
	maxIgnoredName = 64
)

// describeUnknown returns a dropped member as the note shows it.
func describeUnknown(s *jsonschema.Schema, at, name string) string {
	text := strconv.Quote(name[:line.RuneOffset(name, maxIgnoredName)])
	if at != "" {
		text += " in " + at
	}
	if meant := similarName(name, slices.Sorted(maps.Keys(s.Properties))); meant != "" {
		text += fmt.Sprintf(" (did you mean %q?)", meant)
	}
	return text
}

// ignoredNote returns the note about dropped members, if there are any.
func ignoredNote(names []string) []string {
	if len(names) == 0 {
		return nil
	}
	what := "parameter "
	if len(names) > 1 {
		what = "parameters "
	}
	if more := len(names) - maxIgnored; more > 0 {
		names = append(names[:maxIgnored:maxIgnored], fmt.Sprintf("%d more", more))
	}
	return []string{"[ignored unknown " + what + joinNames(names) + "]"}
}

var (
	errNoObject = errors.New("the input must be a JSON object")
	errTwice    = errors.New("is given twice, with different values")
)

// decodeStrict decodes JSON whose objects have no member twice. Readers disagree
// on which of two members counts, so one could be checked and the other run. Equal
// members count as one.
func decodeStrict(raw []byte) (any, error) {
	if !json.Valid(raw) {
		return nil, errNoObject
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return decodeValue(dec)
}

// decodeValue decodes the next value.
func decodeValue(dec *json.Decoder) (any, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		members := map[string]any{}
		for dec.More() {
			name, err := dec.Token()
			if err != nil {
				return nil, err
			}
			v, err := decodeValue(dec)
			if err != nil {
				return nil, err
			}
			if before, twice := members[name.(string)]; twice && !sameJSON(before, v) {
				return nil, fmt.Errorf("%.80q %w", name, errTwice)
			}
			members[name.(string)] = v
		}
		_, err = dec.Token()
		return members, err
	case json.Delim('['):
		items := []any{}
		for dec.More() {
			v, err := decodeValue(dec)
			if err != nil {
				return nil, err
			}
			items = append(items, v)
		}
		_, err = dec.Token()
		return items, err
	}
	return token, nil
}

func sameJSON(a, b any) bool {
	x, errX := plainjson.Marshal(a)
	y, errY := plainjson.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// clone returns a deep copy of a JSON value.
func (c *corrector) clone(v any) any {
	*c.work--
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			out[name] = c.clone(member)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = c.clone(item)
		}
		return out
	}
	return v
}
