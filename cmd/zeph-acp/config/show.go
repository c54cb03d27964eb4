package config

import (
	"cmp"
	"encoding"
	"fmt"
	"io"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config/toml"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// Show writes all keys as TOML, each with its origin as a comment: default,
// FILE:LINE, the name of an environment variable, or command line. It redacts
// the parts of a URL that may be secret; a configuration has no other secrets.
func (l *Loaded) Show(w io.Writer) error {
	s := &configPrinter{Loaded: l}
	s.table(reflect.ValueOf(l.Config), "", "")
	if l.managed.file != "" {
		s.section(reflect.ValueOf(l.managed.Managed), "managed", "managed")
	}
	_, err := io.WriteString(w, strings.TrimPrefix(s.out.String(), "\n"))
	return err
}

// configPrinter writes a configuration as TOML.
type configPrinter struct {
	*Loaded
	out strings.Builder
}

// table writes the keys of a table and then the tables in it, the order that
// TOML requires. All tables are structs. See section for header and path.
func (s *configPrinter) table(v reflect.Value, header, path string) {
	for _, f := range setting.Fields(v.Type()) {
		if toml.IsLeaf(f.Type) {
			s.key(f.Key, v.FieldByIndex(f.Index), setting.Join(path, f.Key))
		}
	}
	for _, f := range setting.Fields(v.Type()) {
		if !toml.IsLeaf(f.Type) {
			s.section(v.FieldByIndex(f.Index), setting.Join(header, f.Key), setting.Join(path, f.Key))
		}
	}
}

// section writes a table, an array of tables, or a map of tables or of named values. header
// is the text between the brackets; path is the path of its keys, with indexes.
func (s *configPrinter) section(v reflect.Value, header, path string) {
	switch v.Kind() {
	case reflect.Struct:
		if slices.ContainsFunc(setting.Fields(v.Type()), func(f setting.Field) bool { return toml.IsLeaf(f.Type) }) {
			fmt.Fprintf(&s.out, "\n[%s]\n", header)
		}
		s.table(v, header, path)
	case reflect.Slice:
		for i := range v.Len() {
			fmt.Fprintf(&s.out, "\n[[%s]]\n", header)
			s.table(v.Index(i), header, fmt.Sprintf("%s[%d]", path, i))
		}
		if v.Len() == 0 {
			fmt.Fprintf(&s.out, "\n# [[%s]]: none # %s\n", header, s.originOf(path))
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
		named := v.Type().Elem().Implements(reflect.TypeFor[encoding.TextMarshaler]()) // other leaves of maps may be secret
		if named && len(keys) > 0 {
			fmt.Fprintf(&s.out, "\n[%s]\n", header)
		}
		for _, key := range keys {
			if named {
				s.key(key.String(), v.MapIndex(key), setting.Join(path, key.String()))
				continue
			}
			s.section(v.MapIndex(key), header+"."+toml.FormatKey(key.String()), setting.Join(path, key.String()))
		}
		if len(keys) == 0 {
			fmt.Fprintf(&s.out, "\n# [%s]: none # %s\n", header, s.originOf(path))
		}
	}
}

// key writes the line of one key.
func (s *configPrinter) key(key string, v reflect.Value, path string) {
	fmt.Fprintf(&s.out, "%s = %s # %s\n", toml.FormatKey(key), literal(v), s.originOf(path))
}

// originOf returns the place where a key was set.
func (s *configPrinter) originOf(path string) string {
	if origin, ok := s.origins[path]; ok {
		return toml.Printable(origin)
	}
	return "default"
}

// literal writes a leaf as TOML.
func literal(v reflect.Value) string {
	if text, ok := v.Interface().(encoding.TextMarshaler); ok {
		b, err := text.MarshalText()
		if err != nil {
			return executors.TOMLString(err.Error())
		}
		return executors.TOMLString(string(b))
	}
	switch v.Kind() {
	case reflect.String:
		return executors.TOMLString(maskURL(v.String()))
	case reflect.Slice:
		items := make([]string, v.Len())
		for i := range items {
			items[i] = literal(v.Index(i))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case reflect.Float32, reflect.Float64:
		// TOML recognises a float by its point or exponent, and writes inf and nan.
		text := strings.ToLower(strconv.FormatFloat(v.Float(), 'g', -1, 64))
		if !strings.ContainsAny(text, ".en") {
			text += ".0"
		}
		return text
	}
	return fmt.Sprint(v.Interface())
}

// maskURL redacts the parts of a URL that may be secret: user info and query.
func maskURL(text string) string {
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
