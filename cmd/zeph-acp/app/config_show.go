package app

import (
	"encoding"
	"fmt"
	"io"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Show writes all keys as TOML, each with its origin as a comment: default,
// FILE:LINE, the name of an environment variable, or command line. What may be a
// secret in a URL is masked; other secrets are never in a configuration.
func (l *Loaded) Show(w io.Writer) error {
	s := &shower{Loaded: l}
	s.table(reflect.ValueOf(l.Config), "", "")
	_, err := io.WriteString(w, strings.TrimPrefix(s.b.String(), "\n"))
	return err
}

type shower struct {
	*Loaded
	b strings.Builder
}

// table writes the keys of a table, then the tables in it, as TOML needs it. All
// tables are structs. For header and path see below.
func (s *shower) table(v reflect.Value, header, path string) {
	for _, f := range fieldsOf(v.Type()) {
		if isLeaf(f.typ) {
			s.key(f.key, v.FieldByIndex(f.index), dotted(path, f.key))
		}
	}
	for _, f := range fieldsOf(v.Type()) {
		if !isLeaf(f.typ) {
			s.below(v.FieldByIndex(f.index), dotted(header, f.key), dotted(path, f.key))
		}
	}
}

// below writes a table, an array of tables or a map of these. Its header is
// written as header; its keys are recorded under path, which has indexes.
func (s *shower) below(v reflect.Value, header, path string) {
	switch v.Kind() {
	case reflect.Struct:
		if slices.ContainsFunc(fieldsOf(v.Type()), func(f field) bool { return isLeaf(f.typ) }) {
			fmt.Fprintf(&s.b, "\n[%s]\n", header)
		}
		s.table(v, header, path)
	case reflect.Slice:
		for i := range v.Len() {
			fmt.Fprintf(&s.b, "\n[[%s]]\n", header)
			s.table(v.Index(i), header, fmt.Sprintf("%s[%d]", path, i))
		}
		if v.Len() == 0 {
			fmt.Fprintf(&s.b, "\n# [[%s]]: none # %s\n", header, s.from(path))
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, key := range keys {
			s.below(v.MapIndex(key), header+"."+bareOrQuoted(key.String()), dotted(path, key.String()))
		}
		if len(keys) == 0 {
			fmt.Fprintf(&s.b, "\n# [%s]: none # %s\n", header, s.from(path))
		}
	}
}

// key writes one line.
func (s *shower) key(key string, v reflect.Value, path string) {
	fmt.Fprintf(&s.b, "%s = %s # %s\n", bareOrQuoted(key), literal(v), s.from(path))
}

func (s *shower) from(path string) string {
	if origin, ok := s.origin[path]; ok {
		return printable(origin)
	}
	return "default"
}

// literal writes a leaf as TOML.
func literal(v reflect.Value) string {
	if text, ok := v.Interface().(encoding.TextMarshaler); ok {
		b, err := text.MarshalText()
		if err != nil {
			return quote(err.Error())
		}
		return quote(string(b))
	}
	switch v.Kind() {
	case reflect.String:
		return quote(masked(v.String()))
	case reflect.Slice:
		items := make([]string, v.Len())
		for i := range items {
			items[i] = literal(v.Index(i))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case reflect.Float32, reflect.Float64:
		// TOML tells a float by its point or exponent, and spells inf and nan so.
		text := strings.ToLower(strconv.FormatFloat(v.Float(), 'g', -1, 64))
		if !strings.ContainsAny(text, ".en") {
			text += ".0"
		}
		return text
	}
	return fmt.Sprint(v.Interface())
}

// quote writes a basic string.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\U%08X`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// masked hides what may be a secret in a URL: who asks, and the query.
func masked(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return text
	}
	if u.User != nil {
		u.User = url.User("xxxxx")
	}
	if u.RawQuery != "" {
		u.RawQuery = "xxxxx"
	}
	return u.String()
}
