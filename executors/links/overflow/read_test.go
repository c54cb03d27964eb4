package overflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/pattern"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// keptAs returns the reference of a text.
func keptAs(t testing.TB, o *Overflow, session, text string) string {
	t.Helper()
	line, _ := o.store(context.Background(), session, strings.NewReader(text), int64(len(text)))
	if id := reference.FindString(line); id != "" {
		return id
	}
	t.Fatal(line)
	return ""
}

func TestReadOverflow(t *testing.T) {
	giant := "short\n" + strings.Repeat("日本", 600) + "needle" + strings.Repeat("x", 100) + "\r\nlast"
	for name, tt := range map[string]struct {
		text string
		in   map[string]any
		want string // regex
	}{
		"whole":      {"a\n\nc\r\nd", nil, `^a\n\nc\nd\n\[lines 1-4; the text ends here\]$`},
		"first page": {numbered(200), nil, `^line 1\n(.*\n)+\[line 100\]\nline 100\n\[lines 1-100; continue with offset 100\]$`},
		"last page": {numbered(200), map[string]any{"offset": 195},
			`^\[line 196\]\nline 196\n(.*\n)+\[line 200\]\nline 200\n\[lines 196-200; the text ends here\]$`},
		"limit":          {numbered(200), map[string]any{"offset": 7, "limit": 2}, `^\[line 8\]\nline 8\nline 9\n\[lines 8-9; continue with offset 9\]$`},
		"limit, at end":  {numbered(9), map[string]any{"offset": 7, "limit": 2}, `^\[line 8\]\nline 8\nline 9\n\[lines 8-9; the text ends here\]$`},
		"behind the end": {numbered(9), map[string]any{"offset": 9}, `^\[no lines after line 9: the text ends at line 9\]$`},
		"empty":          {"", nil, `^\[the text is empty\]$`},
		"giant line":     {giant, nil, `^short\n[日本]{450}\n\[lines 1-2; continue with offset 2\]$`},
		"giant line, on": {giant, map[string]any{"offset": 2},
			`^\[line 3\]\n[日本]{450}\n[日本]{300}needlex{100}\nlast\n\[lines 3-5; the text ends here\]$`},
		"not UTF-8": {"a\xff\xfeb", nil, "^a\uFFFD\uFFFDb\n"},
		"pattern": {numbered(100), map[string]any{"pattern": "line 50$"},
			`^48- line 48\n49- line 49\n50: line 50\n51- line 51\n52- line 52\n\[1 matching line; the text ends at line 100\]$`},
		"gaps": {numbered(30), map[string]any{"pattern": "^line [1]?[05]$"},
			`^3- line 3\n4- line 4\n5: line 5\n6- line 6\n7- line 7\n8- line 8\n9- line 9\n10: line 10\n11- line 11\n12- line 12\n13- line 13\n14- line 14\n15: line 15\n16- line 16\n17- line 17\n\[3 matching lines; the text ends at line 30\]$`},
		"apart": {numbered(30), map[string]any{"pattern": "line (1|30)$"},
			`^1: line 1\n2- line 2\n3- line 3\n--\n28- line 28\n29- line 29\n30: line 30\n\[2 matching lines; the text ends at line 30\]$`},
		"neighbours": {numbered(30), map[string]any{"pattern": "line [12]$"}, `^1: line 1\n2: line 2\n3- line 3\n4- line 4\n\[2 matching lines`},
		"most matches": {numbered(30), map[string]any{"pattern": "line", "limit": 2},
			`^1: line 1\n2: line 2\n\[2 matching lines; there are more: continue with offset 2\]$`},
		"go on": {numbered(30), map[string]any{"pattern": "0$", "offset": 10, "limit": 1},
			`^18- line 18\n19- line 19\n20: line 20\n21- line 21\n22- line 22\n\[1 matching line after line 10; there are more: continue with offset 29\]$`},
		"context before": {numbered(30), map[string]any{"pattern": "line 11$", "offset": 10}, `^9- line 9\n10- line 10\n11: line 11\n`},
		"full": {numbered(999), map[string]any{"pattern": "line"},
			`^1: line 1\n(\d+: line \d+\n)+\[(\d+) matching lines; there are more: continue with offset \d+\]$`},
		"no match":        {numbered(30), map[string]any{"pattern": "Line"}, `^\[no line matches; the text ends at line 30\]$`},
		"no match behind": {numbered(30), map[string]any{"pattern": "line 1$", "offset": 1}, `^\[no line matches after line 1; the text ends at line 30\]$`},
		"in a giant line": {giant, map[string]any{"pattern": "needle"}, `^3- [日本]{450}\n4: [日本]{300}needlex{100}\n5- last\n\[1 matching line; `},
		"over two rows":   {giant, map[string]any{"pattern": "^[日本]+n"}, `^1- short\n2: [日本]{450}\n`},
		"empty match":     {"a\n\nb", map[string]any{"pattern": "^$"}, `^1- a\n2: \n3- b\n\[1 matching line`},
		"pattern, empty":  {"", map[string]any{"pattern": "x*"}, `^\[no line matches; the text ends at line 0\]$`},
		"CRLF":            {"a\r\nb\r\n", map[string]any{"pattern": "a$"}, `^1: a\n2- b\n`},
	} {
		t.Run(name, func(t *testing.T) {
			o := small()
			id := keptAs(t, o, "s", tt.text)
			in := map[string]any{"id": id}
			for k, v := range tt.in {
				in[k] = v
			}
			res := run(t, o, "s", in)
			if res.Failed || !regexp.MustCompile(tt.want).MatchString(res.ForModel()) {
				t.Errorf("%s\ndoes not match %s", res.ForModel(), tt.want)
			}
			if n := utf8.RuneCountInString(res.ForModel()); n > o.MaxChars {
				t.Errorf("got %d characters, want %d at most", n, o.MaxChars)
			}
		})
	}
}

func TestIDs(t *testing.T) {
	o := small()
	ref := keptAs(t, o, "s", "text")
	bare := strings.TrimPrefix(ref, refPrefix)
	for id, want := range map[string]executors.Category{
		ref: "", bare: "", " " + ref + "\n": "", refPrefix + strings.ToUpper(bare): "",
		"": executors.InvalidParameters, refPrefix: executors.InvalidParameters, "x": executors.InvalidParameters,
		"{" + bare + "}": executors.InvalidParameters, "urn:uuid:" + bare: executors.InvalidParameters,
		strings.ReplaceAll(bare, "-", ""): executors.InvalidParameters, refPrefix + ref: executors.InvalidParameters,
		bare + "'": executors.InvalidParameters, "' OR 1=1 --": executors.InvalidParameters, "../../etc/passwd": executors.InvalidParameters,
		strings.Repeat("é", 9999):              executors.InvalidParameters,
		"00000000-0000-0000-0000-000000000000": executors.PermanentFailure,
	} {
		res := run(t, o, "s", map[string]any{"id": id})
		if res.Category() != want || want == "" && !strings.HasPrefix(res.ForModel(), "text\n") || len(res.ForModel()) > 1000 {
			t.Errorf("%.100q: %q, want %s", id, res.ForModel(), want)
		}
	}
	for name, in := range map[string]map[string]any{
		"offset":  {"id": ref, "offset": -1},
		"limit":   {"id": ref, "limit": -1},
		"pattern": {"id": ref, "pattern": "("},
		"long":    {"id": ref, "pattern": strings.Repeat("x", maxPattern+1)},
	} {
		res := run(t, o, "s", in)
		_, err := o.Tools().Prepare(t.Context(), &executors.Call{Tool: toolName, Input: must(json.Marshal(in))})
		if f, ok := errors.AsType[*executors.Failure](err); res.Category() != executors.InvalidParameters || !ok || f.Category != executors.InvalidParameters {
			t.Errorf("%s: %q, %v", name, res.ForModel(), err)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestScope checks that another session's text reads like an unknown one.
func TestScope(t *testing.T) {
	for name, s := range map[string]Store{"memory": nil, "database": database(t)} {
		o := &Overflow{Store: s, Memory: NewMemory(1 << 20), MaxChars: 50_000, Config: setting.Default[Config]()}
		ref := keptAs(t, o, "s", "secret")
		if res := run(t, o, "s", map[string]any{"id": ref}); !strings.Contains(res.ForModel(), "secret") {
			t.Errorf("%s: got %q, want the secret", name, res.ForModel())
		}
		for _, session := range []string{"t", "", "unknown"} {
			theirs := run(t, o, session, map[string]any{"id": ref})
			nobodys := run(t, o, session, map[string]any{"id": strings.Repeat("0", 8) + ref[len(refPrefix)+8:]})
			want := strings.ReplaceAll(nobodys.ForModel(), strings.Repeat("0", 8)+ref[len(refPrefix)+8:], ref[len(refPrefix):])
			if theirs.ForModel() != want || theirs.Category() != executors.PermanentFailure || !strings.Contains(theirs.ForModel(), "not found or expired") {
				t.Errorf("%s, session %q: %q, of nobody %q", name, session, theirs.ForModel(), nobodys.ForModel())
			}
		}
	}
}

func TestStoreCannotBeRead(t *testing.T) {
	o := &Overflow{Store: broken{}, Memory: NewMemory(1 << 20), MaxChars: 50_000, Config: setting.Default[Config]()}
	res := run(t, o, "s", map[string]any{"id": "00000000-0000-0000-0000-000000000000"})
	if res.Category() != executors.ServerError || strings.Contains(res.ForModel(), "/home") {
		t.Errorf("got %s, %q, want a server error without a path", res.Category(), res.ForModel())
	}
	ref := keptAs(t, o, "s", "in memory")
	if res := run(t, o, "s", map[string]any{"id": ref}); !strings.Contains(res.ForModel(), "in memory") {
		t.Errorf("got %q, want the text in memory", res.ForModel())
	}
}

func TestReadCancelled(t *testing.T) {
	for name, s := range map[string]Store{"memory": nil, "database": database(t)} {
		o := &Overflow{Store: s, Memory: NewMemory(1 << 20), MaxChars: 50_000, Config: setting.Default[Config]()}
		ref := keptAs(t, o, "s", numbered(1000))
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(io.ErrClosedPipe)
		_, err := o.Tools().Execute(ctx, &executors.Call{Tool: toolName, Session: "s", Input: fmt.Appendf(nil, `{"id":%q}`, ref)})
		if !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTool(t *testing.T) {
	tool := small().Tools().Tools()[0]
	if !tool.Effect.ReadOnly() || tool.Kind != executors.KindRead || len(tool.Description)+len(tool.Schema) > 600 {
		t.Errorf("got %+v with the schema %s, want a short description of a tool that only reads", tool, tool.Schema)
	}
	card, err := small().Tools().Prepare(t.Context(), &executors.Call{Tool: toolName, Input: []byte(`{"id":"00000000-0000-0000-0000-000000000000"}`)})
	if err != nil || card.Kind != executors.KindRead || len(card.Paths) > 0 || card.Title != "the rest of output 00000000-0000-0000-0000-000000000000" {
		t.Errorf("%+v, %v", card, err)
	}
}

// A regex that takes minutes ends soon after the cancel.
func TestSearchIsStopped(t *testing.T) {
	re, err := pattern.Compile(`(?s)` + strings.Repeat(`.*`, 300) + `[YZ]`)
	if err != nil {
		t.Fatal(err)
	}
	looks := 0
	s := &search{re: re, room: 1000, width: 450, stopped: func() bool { looks++; return looks >= 3 }}
	l := lines{width: 450, emit: s.add}
	l.feed([]byte(strings.Repeat("x", 5<<20)))
	if !l.done || looks < 3 || looks > 6 || s.hits > 0 {
		t.Errorf("done %t, %d looks, %d matches", l.done, looks, s.hits)
	}
}
