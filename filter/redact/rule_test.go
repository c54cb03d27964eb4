package redact

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pelletier/go-toml/v2"
)

// writtenRule is a rule with the fields that only tests need.
type writtenRule struct {
	rule
	Match, Miss []string
	Source      string
	Date        toml.LocalDate
}

// readRules parses rules.toml and refuses unknown fields.
func readRules(t testing.TB) []*writtenRule {
	t.Helper()
	rules, _ := readContent(t)
	return rules
}

// readContent parses rules.toml. It returns the rules with their lines, and the content without them.
func readContent(t testing.TB) ([]*writtenRule, content) {
	t.Helper()
	source, err := os.Open("rules.toml")
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	var file struct {
		Kind   []Credential
		Words  map[string][]string
		Shapes map[string]string
		Rule   []*writtenRule
	}
	if err := toml.NewDecoder(source).DisallowUnknownFields().Decode(&file); err != nil {
		t.Fatal(err)
	}
	if len(file.Kind) != int(credKindCount) {
		t.Fatalf("rules.toml has %d kinds, want %d", len(file.Kind), credKindCount)
	}
	c := content{Kinds: file.Kind}
	for _, r := range file.Rule {
		c.Rules = append(c.Rules, &r.rule)
	}
	for _, name := range slices.Sorted(maps.Keys(file.Words)) {
		c.Words = append(c.Words, namedList{name, file.Words[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(file.Shapes)) {
		c.Shapes = append(c.Shapes, namedShape{name, file.Shapes[name]})
	}
	return file.Rule, c
}

var update = flag.Bool("update", false, "write data.go anew from rules.toml")

// TestData checks that data.go has the content of rules.toml. With -update, it writes the file.
func TestData(t *testing.T) {
	_, c := readContent(t)
	var code bytes.Buffer
	code.WriteString("// Code generated from rules.toml by go generate. DO NOT EDIT.\n\npackage redact\n\nvar data = ")
	writeGo(&code, reflect.ValueOf(c))
	want, err := format.Source(append(code.Bytes(), '\n'))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("data.go", want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile("data.go"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("data.go does not have the content of rules.toml (%v): run go generate ./filter/redact", err)
	}
}

// writeGo writes a value as Go code: a slice of structs with a line for each, everything else in one
// line. Fields with the zero value are left out.
func writeGo(w *bytes.Buffer, v reflect.Value) {
	name := func(t reflect.Type) string { return strings.ReplaceAll(t.String(), "redact.", "") }
	switch v.Kind() {
	case reflect.Pointer:
		writeGo(w, v.Elem())
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[content]() {
			w.WriteString(name(v.Type()))
		}
		w.WriteString("{")
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() && !v.Field(i).IsZero() {
				w.WriteString(field.Name + ": ")
				writeGo(w, v.Field(i))
				w.WriteString(", ")
			}
		}
		w.WriteString("}")
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.String {
			fmt.Fprintf(w, "%#v", v.Interface())
			return
		}
		w.WriteString(name(v.Type()) + "{\n")
		for i := range v.Len() {
			writeGo(w, v.Index(i))
			w.WriteString(",\n")
		}
		w.WriteString("}")
	default:
		fmt.Fprintf(w, "%#v", v.Interface())
	}
}

var randomPart = regexp.MustCompile(`%([xX]?)(\d+)`)

// expanded returns a line with random characters in place of %20, %x20 and %X20.
func expanded(line string) string {
	seed := uint32(len(line))
	return randomPart.ReplaceAllStringFunc(line, func(part string) string {
		m := randomPart.FindStringSubmatch(part)
		letters := map[string]string{
			"":  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
			"x": "0123456789abcdef",
			"X": "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
		}[m[1]]
		n, _ := strconv.Atoi(m[2])
		var b strings.Builder
		for range n {
			seed = seed*1664525 + 1013904223
			b.WriteByte(letters[int(seed>>16)%len(letters)])
		}
		return b.String()
	})
}

// Each rule is complete, finds its values, and finds nothing in the lines without one.
func TestRules(t *testing.T) {
	kinds := map[string]bool{}
	for _, c := range Credentials() {
		kinds[c.Kind] = true
	}
	for name, s := range rules().Shapes {
		if s.match(nil) {
			t.Errorf("the shape %s matches the empty text", name)
		}
	}
	seen := map[string]bool{}
	written := readRules(t)
	if len(written) != len(rules().Rules) {
		t.Fatal("data.go does not have the rules of rules.toml: run go generate ./filter/redact")
	}
	for i, r := range written {
		compiled := rules().Rules[i]
		switch {
		case r.ID == "" || seen[r.ID]:
			t.Errorf("rule %d: the id %q is missing or used twice", i, r.ID)
		case !kinds[r.Kind]:
			t.Errorf("%s: unknown kind %q", r.ID, r.Kind)
		case len(r.Keywords) == 0:
			t.Errorf("%s: no keywords", r.ID)
		case checks[r.Check] == nil || r.Find != "" && mechanisms[r.Find] == nil:
			t.Errorf("%s: unknown check %q or mechanism %q", r.ID, r.Check, r.Find)
		case len(r.Match) == 0 || len(r.Miss) == 0:
			t.Errorf("%s: it needs lines that match and lines that do not", r.ID)
		case r.Source == "" || r.Date.AsTime(time.UTC).Year() < 2020:
			t.Errorf("%s: source %q of %v, want a source and a date", r.ID, r.Source, r.Date)
		}
		seen[r.ID] = true
		compiled.compile()
		for _, line := range r.Match {
			line = expanded(line)
			if masked, found := (&Scanner{}).Mask(line); Count(found) == 0 || found[0].Kind != r.Kind {
				t.Errorf("%s: %q is masked as %q with %v, want a %s", r.ID, line, masked, found, r.Kind)
			}
		}
		for _, line := range r.Miss {
			line = expanded(line)
			if masked, found := (&Scanner{}).Mask(line); masked != line {
				t.Errorf("%s: %q is masked as %q with %v, want it unchanged", r.ID, line, masked, found)
			}
		}
	}
}

// BenchmarkRule masks 64 KiB of lines that match a rule, and reports the slowest rule.
func BenchmarkRule(b *testing.B) {
	slowest, of := 1e9, ""
	for _, r := range readRules(b) {
		var text strings.Builder
		for text.Len() < 64<<10 {
			for _, line := range append(r.Match, r.Miss...) {
				text.WriteString(expanded(line) + "\n")
			}
		}
		b.Run(r.ID, func(b *testing.B) {
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				(&Scanner{}).Mask(text.String())
			}
			if speed := float64(text.Len()*b.N) / b.Elapsed().Seconds() / 1e6; speed < slowest {
				slowest, of = speed, r.ID
			}
		})
	}
	b.Logf("slowest: %.0f MB/s (%s)", slowest, of)
}
