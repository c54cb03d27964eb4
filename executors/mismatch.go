package executors

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/zeph-acp/zeph-acp/filter/text/line"
	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// inputFailure returns a failure that explains why an input does not fit: the
// parameter, and its fault. For other faults it uses the validator's words.
func inputFailure(tool Tool, schema *jsonschema.Schema, input any, err error) *Failure {
	if category, text := firstFault(schema, "", input); text != "" {
		return Failuref(category, "%s: %s", tool.Name, text)
	}
	text := strings.TrimPrefix(err.Error(), "validating root: ")
	if rest, ok := strings.CutPrefix(text, "validating /properties/"); ok {
		text = rest
	}
	return Failuref(InvalidParameters, "%s: %s", tool.Name, text)
}

// firstFault returns the first fault of a value, "" if it finds no fault. at is
// the path to the value: entries[1].status.
func firstFault(s *jsonschema.Schema, at string, v any) (Category, string) {
	if s == nil {
		return "", ""
	}
	if n, ok := v.(json.Number); ok {
		if f, err := n.Float64(); err == nil {
			v = f
		}
	}
	types := typesOf(s)
	if len(types) > 0 && !hasAnyType(v, types) {
		return TypeMismatch, fmt.Sprintf("%s must be %s, got %s", paramName(at), typeNames(types), abbreviated(v))
	}
	if s.Enum != nil && !containsJSON(s.Enum, v) {
		return InvalidParameters, fmt.Sprintf("%s must be one of %s, got %s", paramName(at), listJSON(s.Enum), abbreviated(v))
	}
	switch v := v.(type) {
	case map[string]any:
		return memberFault(s, at, v)
	case []any:
		return itemFault(s, at, v)
	case string:
		if text := sizeFault(at, "character", len([]rune(v)), s.MinLength, s.MaxLength); text != "" {
			return InvalidParameters, text
		}
	case float64:
		switch {
		case s.Minimum != nil && v < *s.Minimum:
			return InvalidParameters, fmt.Sprintf("%s must be at least %v, got %v", paramName(at), *s.Minimum, v)
		case s.Maximum != nil && v > *s.Maximum:
			return InvalidParameters, fmt.Sprintf("%s must be at most %v, got %v", paramName(at), *s.Maximum, v)
		}
	}
	return "", ""
}

// containsJSON reports whether a list contains a value, compared by the JSON that
// abbreviated prints.
func containsJSON(list []any, v any) bool {
	text := abbreviated(v)
	return slices.ContainsFunc(list, func(e any) bool { return abbreviated(e) == text })
}

// listJSON returns values as a list for a message, with texts as they are.
func listJSON(values []any) string {
	words := make([]string, len(values))
	for i, v := range values {
		if words[i], _ = v.(string); words[i] == "" {
			words[i] = abbreviated(v)
		}
	}
	return strings.Join(words, ", ")
}

// itemFault returns the first fault of a list: its size, then the fault of an item.
func itemFault(s *jsonschema.Schema, at string, v []any) (Category, string) {
	if text := sizeFault(at, "item", len(v), s.MinItems, s.MaxItems); text != "" {
		return InvalidParameters, text
	}
	for i, item := range v {
		if len(s.PrefixItems) > i {
			continue
		}
		if c, text := firstFault(s.Items, fmt.Sprintf("%s[%d]", at, i), item); text != "" {
			return c, text
		}
	}
	return "", ""
}

// memberFault returns the first fault of an object: missing members, else the fault of a
// member.
func memberFault(s *jsonschema.Schema, at string, v map[string]any) (Category, string) {
	missing := slices.DeleteFunc(slices.Clone(s.Required), func(n string) bool { _, ok := v[n]; return ok })
	if len(missing) > 0 {
		return InvalidParameters, missingFault(s, at, v, missing)
	}
	for _, n := range slices.Sorted(maps.Keys(v)) {
		if c, text := firstFault(s.Properties[n], strings.TrimPrefix(at+"."+n, "."), v[n]); text != "" {
			return c, text
		}
	}
	return "", ""
}

// missingFault names the missing members of an object, and its unknown members, which may
// be meant for them.
func missingFault(s *jsonschema.Schema, at string, v map[string]any, missing []string) string {
	var wrong []string
	for _, n := range slices.Sorted(maps.Keys(v)) {
		if _, ok := s.Properties[n]; ok || !closed(s) {
			continue
		}
		text := fmt.Sprintf("there is no parameter %q", n)
		if meant := similarName(n, slices.Sorted(maps.Keys(s.Properties))); meant != "" {
			text += fmt.Sprintf(" (did you mean %q?)", meant)
			missing = slices.DeleteFunc(missing, func(m string) bool { return m == meant })
		}
		if at != "" {
			text = "in " + at + " " + text
		}
		wrong = append(wrong, text)
	}
	if len(missing) > 0 {
		verb := "is"
		if len(missing) > 1 {
			verb = "are"
		}
		for i, n := range missing {
			missing[i] = strings.TrimPrefix(at+"."+n, ".")
		}
		wrong = append(wrong, fmt.Sprintf("%s %s missing", joinNames(missing), verb))
	}
	return strings.Join(wrong, "; ")
}

// closed reports whether an object may have no other members: the schema for
// them is "false", which is {"not": {}}.
func closed(s *jsonschema.Schema) bool {
	other := s.AdditionalProperties
	return other != nil && other.Not != nil && len(s.PatternProperties) == 0
}

// sizeFault returns why a value with n units does not fit its limits, which may be nil; "" if
// it fits.
func sizeFault(at, unit string, n int, least, most *int) string {
	switch {
	case least != nil && n < *least:
		return fmt.Sprintf("%s must have at least %s, got %d", paramName(at), quantity.Count(*least, unit), n)
	case most != nil && n > *most:
		return fmt.Sprintf("%s must have at most %s, got %d", paramName(at), quantity.Count(*most, unit), n)
	}
	return ""
}

func paramName(at string) string {
	if at == "" {
		return "the input"
	}
	return at
}

func typesOf(s *jsonschema.Schema) []string {
	if s.Type != "" {
		return []string{s.Type}
	}
	return s.Types
}

func hasAnyType(v any, types []string) bool {
	return slices.ContainsFunc(types, func(t string) bool { return hasType(v, t) })
}

// hasType reports whether a JSON value has a type of JSON Schema.
func hasType(v any, t string) bool {
	switch v := v.(type) {
	case json.Number:
		f, err := v.Float64()
		return err == nil && hasType(f, t)
	case nil:
		return t == "null"
	case bool:
		return t == "boolean"
	case string:
		return t == "string"
	case float64:
		return t == "number" || t == "integer" && v == math.Trunc(v)
	case []any:
		return t == "array"
	case map[string]any:
		return t == "object"
	}
	return false
}

// typeNames returns types in words: "a string or an array".
func typeNames(types []string) string {
	words := make([]string, len(types))
	for i, t := range types {
		switch t {
		case "integer", "array", "object":
			words[i] = "an " + t
		case "null":
			words[i] = t
		default:
			words[i] = "a " + t
		}
	}
	return strings.Join(words, " or ")
}

// joinNames returns "a, b and c".
func joinNames(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// abbreviated returns a value as JSON, cut if it is long.
func abbreviated(v any) string {
	data, err := plainjson.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return line.TruncateRunes(string(data), 80)
}

// maxSimilarName bounds the wrong name that similarName compares, in bytes.
const maxSimilarName = 256

// similarName returns the name that a wrong name was probably meant to be, "" if no name
// is similar.
func similarName(wrong string, names []string) string {
	plain := strings.NewReplacer("_", "", "-", "")
	if len(wrong) > maxSimilarName {
		return ""
	}
	w := strings.ToLower(plain.Replace(wrong))
	distance, meant := min(2, len(w)/3)+1, ""
	for _, n := range names {
		if d := Distance(w, strings.ToLower(plain.Replace(n)), distance); d < distance {
			distance, meant = d, n
		}
	}
	return meant
}

// Closest returns at most three tools that a wrong name may mean, the most
// similar first. It returns nil if no name shares a word with it.
func Closest(tools []Tool, wrong string) []string {
	wrong = wrong[:min(len(wrong), 64)]
	words := nameWords(wrong)
	var found []string
	for _, t := range tools {
		if t.Name == similarName(wrong, []string{t.Name}) {
			found = slices.Insert(found, 0, t.Name)
		} else if shareWord(words, nameWords(t.Name)) {
			found = append(found, t.Name)
		}
	}
	return found[:min(len(found), 3)]
}

// shareWord reports whether a word of a is the beginning of a word of b, or the reverse.
func shareWord(a, b []string) bool {
	return slices.ContainsFunc(a, func(x string) bool {
		return slices.ContainsFunc(b, func(y string) bool { return strings.HasPrefix(x, y) || strings.HasPrefix(y, x) })
	})
}

// nameWords returns the significant words of a name, in lower case.
func nameWords(name string) []string {
	var spaced strings.Builder
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) {
			spaced.WriteByte(' ')
		}
		spaced.WriteRune(unicode.ToLower(r))
	}
	all := strings.FieldsFunc(spaced.String(), func(r rune) bool { return !unicode.IsLetter(r) })
	return slices.DeleteFunc(all, func(w string) bool { return len(w) < 3 })
}
