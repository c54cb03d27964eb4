package overflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/session/store"
)

var _ Store = (*store.DB)(nil)

// broken is a Store that cannot be used.
type broken struct{}

var errBroken = errors.New("/home/u/.local/share/zeph-acp/zeph.db is locked")

func (broken) PutOverflow(context.Context, string, string, io.Reader) error { return errBroken }

func (broken) Overflow(context.Context, string, string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) { yield(nil, errBroken) }
}

// fixedTool is a tool that returns a fixed result.
type fixedTool struct {
	executors.Executor
	res executors.Result
	err error
}

func (g fixedTool) Execute(context.Context, *executors.Call) (executors.Result, error) {
	return g.res, g.err
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

func spool(t *testing.T, text string) *executors.Spool {
	t.Helper()
	s, err := executors.NewSpool(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func isClosed(s *executors.Spool) bool {
	_, err := s.Write([]byte("x"))
	return err != nil
}

// small is a session whose limit is 1000 characters.
func small() *Overflow {
	return &Overflow{Memory: NewMemory(1 << 20), MaxChars: 1000, Config: Config{MaxOverflowBytes: 100_000}}
}

var reference = regexp.MustCompile(`overflow:[0-9a-f-]{36}`)

// all reads a kept text to its end.
func all(t *testing.T, o *Overflow, session, text string) string {
	t.Helper()
	var b strings.Builder
	id := strings.TrimPrefix(reference.FindString(text), refPrefix)
	for piece, err := range o.open(t.Context(), session, id) {
		if err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		b.Write(piece)
	}
	return b.String()
}

func lastLine(s string) string { return s[strings.LastIndexByte(s, '\n')+1:] }

func TestMiddleware(t *testing.T) {
	long, short := numbered(2000), "line 1\nline 2"
	for name, tt := range map[string]struct {
		tool, text, full string
		failure          *executors.Failure
		notes            []string
		filtered         bool // the last note is the filter's
		pages            bool
		want             string // regex of the text; empty: as it was
		kept             string // what is kept
	}{
		"short":            {text: short},
		"empty":            {},
		"at the threshold": {text: strings.Repeat("é", 1000)},
		"over the threshold": {text: strings.Repeat("é", 1001),
			want: `^é+ \[…\]\n\[… [\d,]+ characters cut …\]\n\[…\] é+\n\[full output: 3 lines, 2.0 KiB: read_overflow overflow:[0-9a-f-]{36}, until the agent ends\]$`, kept: strings.Repeat("é", 1001)},
		"lines": {text: long,
			want: `^line 1\n(line \d+\n)+\[… 1,896 lines, [\d,]+ characters cut …\]\n(line \d+\n)+line 2000\n\[full output: 2,000 lines, 18.5 KiB: read_overflow overflow:\S{36}, until the agent ends\]$`, kept: long},
		"full and short": {text: short, full: long, want: `^line 1\nline 2\n\[full output: 2,000 lines, .*\]$`, kept: long},
		"full and long": {text: numbered(500), full: long,
			want: `^line 1\n(line \d+\n)+\[… .* cut …\]\n(line \d+\n)+line 500\n\[full output: 2,000 lines, .*\]$`, kept: long},
		"full, no text":    {full: long, want: `^\[full output: 2,000 lines, .*\]$`, kept: long},
		"full is the text": {text: short, full: short + "\r\n"},
		"full is another":  {text: short, full: "line 1\nline 3\n", want: `\n\[full output: 2 lines, 14 bytes: .*\]$`, kept: "line 1\nline 3\n"},
		"filtered": {text: "a", notes: []string{"[exit 1]", "[shell] 9 lines -> 1 lines, 88.9% filtered"}, filtered: true, full: long,
			want: `^a\n\[exit 1\]\n\[shell\] 9 lines -> 1 lines, 88\.9% filtered \[full output: 2,000 lines, .* overflow:\S{36}, until the agent ends\]$`, kept: long},
		"filtered and long": {text: long, notes: []string{"[shell] 9 lines -> 8 lines, 11.1% filtered"}, filtered: true, full: "x" + long,
			want: `\n\[… .* cut …\]\n(line \d+\n)+\[shell\] 9 lines -> 8 lines, 11\.1% filtered \[full output: .*\]$`, kept: "x" + long},
		"read_overflow": {tool: toolName, text: short, full: "x" + long},
		"paged":         {tool: "read", pages: true, text: short},
		"paged and full": {tool: "read", pages: true, text: numbered(100), full: "x" + long, want: `^(line \d+\n)+line 100\n\[full output: 2,000 lines, .*\]$`,
			kept: "x" + long},
		"paged and too long": {tool: "read", pages: true, text: long,
			want: `^line 1\n(line \d+\n)+\[… .* cut …\]\n(line \d+\n)+line 2000\n\[full output: 2,000 lines, .*\]$`, kept: long},
		"like the filter's": {text: "a\n[shell] 2 lines", full: long, want: `^a\n\[shell\] 2 lines\n\[full output: 2,000 lines, .*\]$`, kept: long},
		"exit code": {text: long, notes: []string{"[exit 3]"},
			want: `^line 1\n(line \d+\n)+\[… .* cut …\]\n(line \d+\n)+\[exit 3\]\n\[full output: .*\]$`, kept: long},
		"tool error": {text: long, failure: executors.Failf(executors.Timeout, "%s", strings.Repeat("w", 500)).Failure, kept: long,
			want: `^\[tool_error\]\n(.+\n){3}retryable: true\n(line \d+\n)+\[… .* cut …\]\n(line \d+\n)+line 2000\n\[full output: .*\]$`},
	} {
		t.Run(name, func(t *testing.T) {
			o := small()
			res := executors.Result{Failure: tt.failure, Text: tt.text, Notes: tt.notes}
			if tt.filtered {
				res.Output = &executors.Output{Filtered: true}
			}
			if tt.full != "" {
				res.Full = spool(t, tt.full)
			}
			call := &executors.Call{Tool: tt.tool, Session: "s", Record: &executors.Record{}}
			if tt.pages {
				call.Spec.Traits = executors.Pages
			}
			got, err := o.Middleware(fixedTool{res: res}).Execute(t.Context(), call)
			if err != nil || got.Full != nil {
				t.Fatalf("%+v, %v", got, err)
			}
			if res.Full != nil && !isClosed(res.Full) {
				t.Error("the spool is still open")
			}
			if tt.want == "" {
				if got.ForModel() != tt.text || !cmp.Equal(*call.Record, executors.Record{}) {
					t.Errorf("%.200q, %+v", got.ForModel(), *call.Record)
				}
				return
			}
			if !regexp.MustCompile(tt.want).MatchString(got.ForModel()) {
				t.Errorf("%q does not match %s", got.ForModel(), tt.want)
			}
			if !call.Record.Truncated || call.Record.OutputBytes != max(len(tt.full), len(tt.text)) && tt.full == "" {
				t.Errorf("record: got %+v, want it truncated, with %d bytes", *call.Record, max(len(tt.full), len(tt.text)))
			}
			if n := utf8.RuneCountInString(got.Text); n > 1000 {
				t.Errorf("got %d characters, want 1000 at most", n)
			}
			if tt.kept != "" {
				if diff := cmp.Diff(tt.kept, all(t, o, "s", got.ForModel())); diff != "" {
					t.Errorf("kept (-want +got)\n%s", diff)
				}
			}
		})
	}
}

func TestErrorClosesTheSpool(t *testing.T) {
	full := spool(t, numbered(2000))
	o := small()
	_, err := o.Middleware(fixedTool{res: executors.Result{Full: full}, err: io.ErrClosedPipe}).Execute(t.Context(), &executors.Call{})
	if !errors.Is(err, io.ErrClosedPipe) || !isClosed(full) || len(o.Memory.entries) > 0 {
		t.Errorf("%v, closed %t", err, isClosed(full))
	}
}

func TestRawAndRecord(t *testing.T) {
	long := numbered(2000)
	call := &executors.Call{Record: &executors.Record{OutputBytes: 77}}
	o := small()
	got, err := o.Middleware(fixedTool{res: executors.Result{Text: long, Raw: long}}).Execute(t.Context(), call)
	if raw, _ := got.Raw.(string); err != nil || utf8.RuneCountInString(raw) > 1000 || !strings.HasPrefix(raw, "line 1\n") || call.Record.OutputBytes != 77 {
		t.Errorf("%q, %+v, %v", raw, *call.Record, err)
	}
	if _, err := o.Middleware(fixedTool{res: executors.Result{Text: long}}).Execute(t.Context(), &executors.Call{}); err != nil { // without a record
		t.Error(err)
	}
}

// The same text has the same reference, in one session.
func TestSameAgain(t *testing.T) {
	o := small()
	long := numbered(2000)
	a, b := o.Shorten(t.Context(), "s", long), o.Shorten(t.Context(), "s", long)
	other := o.Shorten(t.Context(), "t", long)
	if a != b || a == other || len(o.Memory.entries) != 2 {
		t.Errorf("got %q and %q for one text, and %q for another, want one entry for each text", lastLine(a), lastLine(b), lastLine(other))
	}
	if got := o.Shorten(t.Context(), "s", "short"); got != "short" {
		t.Errorf(`o.Shorten(t.Context(), "s", "short"): got %q, want %q`, got, "short")
	}
	if id := strings.TrimPrefix(reference.FindString(a), refPrefix); all(t, o, "s", a) != long {
		t.Error(id)
	}
}

func TestTooLarge(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		max  int64
		kept string
		want string // in the last line
	}{
		"lines":      {numbered(2000), 1000, numbered(123), "[full output: 18.5 KiB, its first 123 lines (999 bytes): read_overflow overflow:"},
		"exactly":    {strings.Repeat("0123456789abcde\n", 100), 160, strings.Repeat("0123456789abcde\n", 10), "its first 10 lines (160 bytes)"},
		"one line":   {strings.Repeat("x", 2000), 1000, strings.Repeat("x", 1000), "its first 3 lines (1,000 bytes)"},
		"runes":      {strings.Repeat("日", 2000), 1000, strings.Repeat("日", 333), "its first 1 line (999 bytes)"},
		"a byte":     {strings.Repeat("日", 2000), 1, "", "its first 0 lines (0 bytes)"},
		"unlimited":  {numbered(2000), 0, numbered(2000), "[full output: 2,000 lines, 18.5 KiB: "},
		"just fits":  {numbered(2000), int64(len(numbered(2000))), numbered(2000), "[full output: 2,000 lines, 18.5 KiB: "},
		"far behind": {"x\n" + strings.Repeat("y", 3*pieceSize), 2 * pieceSize, "x\n" + strings.Repeat("y", 2*pieceSize-2), "; the rest was dropped"},
	} {
		t.Run(name, func(t *testing.T) {
			o := small()
			o.Config.MaxOverflowBytes = tt.max
			got := lastLine(o.Shorten(t.Context(), "s", tt.text))
			if !strings.Contains(got, tt.want) || (tt.kept != tt.text) != strings.Contains(got,
				"; the rest was dropped: tools.overflow.max_overflow_bytes is "+quantity.Grouped(tt.max)+"]") {
				t.Errorf("%s, want %s", got, tt.want)
			}
			if diff := cmp.Diff(tt.kept, all(t, o, "s", got)); diff != "" {
				t.Errorf("kept (-want +got)\n%.300s", diff)
			}
		})
	}
}

// Whatever fails, the call has its result. Its last line says how much of the
// text was kept, and names no path of the store.
func TestBrokenStore(t *testing.T) {
	text := numbered(2000)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tt := range map[string]struct {
		o    *Overflow
		ctx  context.Context
		want string
	}{
		"memory":    {&Overflow{Store: broken{}, Memory: NewMemory(1 << 20)}, t.Context(), ", until the agent ends]"},
		"no store":  {&Overflow{Memory: NewMemory(1 << 20)}, t.Context(), ", until the agent ends]"},
		"nothing":   {&Overflow{}, t.Context(), "[full output: 36.9 KiB; the rest of it was lost: the session store cannot be used"},
		"no memory": {&Overflow{Store: broken{}}, t.Context(), "the rest of it was lost: the session store cannot be used"},
		"not enough memory": {&Overflow{Store: broken{}, Memory: NewMemory(1 << 10)}, t.Context(),
			"too large for the memory; if you need it, rerun the call with a narrower scope]"},
		"cancelled": {&Overflow{Store: broken{}, Memory: NewMemory(1 << 20)}, cancelled, "the rest of it was lost: the turn was cancelled"},
	} {
		t.Run(name, func(t *testing.T) {
			tt.o.Config = setting.Default[Config]()
			tt.o.MaxChars = 1000
			res, err := tt.o.Middleware(fixedTool{res: executors.Result{Text: text, Full: spool(t, text+text)}}).
				Execute(tt.ctx, &executors.Call{Session: "s", Record: &executors.Record{}})
			last := lastLine(res.ForModel())
			if err != nil || res.Failed || strings.Contains(last, "/home") {
				t.Errorf("%s, %v", last, err)
			}
			if !strings.Contains(last, tt.want) || strings.Contains(last, toolName) != strings.HasSuffix(tt.want, "ends]") {
				t.Errorf("%s, want %s", last, tt.want)
			}
			if strings.HasSuffix(tt.want, "ends]") && all(t, tt.o, "s", last) != text+text {
				t.Error("it is not as it was")
			}
		})
	}
}

func TestMemory(t *testing.T) {
	ctx, m := t.Context(), NewMemory(10)
	for _, e := range [][2]string{{"a", "12345"}, {"b", "123"}, {"a", "12345"}, {"c", "1234"}} {
		if err := m.PutOverflow(ctx, "s", e[0], strings.NewReader(e[1])); err != nil {
			t.Fatal(err)
		}
	}
	for id, want := range map[string]bool{"a": true, "b": false, "c": true} {
		if m.has("s", id) != want {
			t.Errorf("%s is there: %t", id, !want)
		}
	}
	if err := m.PutOverflow(ctx, "s", "d", strings.NewReader("12345678901")); !errors.Is(err, errTooLarge) || !m.has("s", "a") || m.size != 9 {
		t.Errorf("%v, %d bytes", err, m.size)
	}
	if err := m.PutOverflow(ctx, "s", "e", strings.NewReader("1234567890")); err != nil || m.has("s", "a") || m.size != 10 {
		t.Errorf("%v, %d bytes", err, m.size)
	}
}

// database returns a stored session "s".
func database(t testing.TB) *store.DB {
	t.Helper()
	db := store.New(filepath.Join(t.TempDir(), "zeph.db"), store.Options{})
	t.Cleanup(func() { _ = db.Close() })
	for _, id := range []string{"s", "t"} {
		if _, err := db.Append(context.Background(), store.Batch{Session: store.Session{ID: id, CWD: "/w"}, Create: true}); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

func TestWithDatabase(t *testing.T) {
	o := &Overflow{Store: database(t), Memory: NewMemory(1 << 20), MaxChars: 50_000, Config: setting.Default[Config]()}
	text := numbered(500_000) // several MiB
	var group sync.WaitGroup
	for range 4 { // concurrent calls may return the same one
		group.Go(func() {
			res, err := o.Middleware(fixedTool{res: executors.Result{Text: "x", Full: spool(t, text)}}).Execute(t.Context(), &executors.Call{Session: "s"})
			if err != nil || strings.Contains(res.ForModel(), "until") {
				t.Errorf("%s, %v", res.ForModel(), err)
			}
			if all(t, o, "s", res.ForModel()) != text {
				t.Error("it is not as it was")
			}
		})
	}
	group.Wait()
	late := lastLine(o.Shorten(t.Context(), "not stored", text[:100_000])) // the session
	if !strings.Contains(late, "until the agent ends") || all(t, o, "not stored", late) != text[:100_000] {
		t.Error(late)
	}
}

func run(t *testing.T, o *Overflow, session string, in map[string]any) executors.Result {
	t.Helper()
	raw, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	call := &executors.Call{Tool: toolName, Session: session, Input: raw, Record: &executors.Record{}}
	res, err := o.Tools().Execute(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestConfig(t *testing.T) {
	if wrong := setting.Check(setting.Default[Config]()); len(wrong) > 0 {
		t.Errorf("setting.Check(setting.Default[Config]()): got %v, want none", wrong)
	}
	if wrong := setting.Check(Config{-1, -1}); len(wrong) != 2 {
		t.Errorf("setting.Check(Config{-1, -1}): got %v, want 2 of them", wrong)
	}
	if wrong := setting.Check(Config{RetentionDays: 36_501}); wrong["retention_days"] == "" {
		t.Error(wrong)
	}
	if time.Duration(36_500)*24*time.Hour <= 0 {
		t.Error("the longest retention is no time.Duration")
	}
	for _, tt := range []struct {
		ours, repo, want Config
		ignored          []string
	}{
		{Config{7, 500}, Config{7, 400}, Config{7, 400}, nil},
		{Config{7, 500}, Config{1, 501}, Config{7, 500}, []string{"max_overflow_bytes", "retention_days"}},
		{Config{7, 500}, Config{1, 0}, Config{7, 500}, []string{"max_overflow_bytes", "retention_days"}},
		{Config{7, 0}, Config{1, 9}, Config{7, 9}, []string{"retention_days"}},
		{Config{7, 0}, Config{1, -9}, Config{7, 0}, []string{"max_overflow_bytes", "retention_days"}},
	} {
		got, ignored := setting.Tighten(tt.ours, tt.repo, setting.Paths[Config]()...)
		if diff := cmp.Diff([]any{tt.want, tt.ignored}, []any{got, ignored}); diff != "" {
			t.Errorf("%+v over %+v (-want +got)\n%s", tt.repo, tt.ours, diff)
		}
	}
	if got, ignored := setting.Tighten(setting.Default[Config](), Config{}); got != setting.Default[Config]() || ignored != nil {
		t.Errorf("%+v, %v", got, ignored)
	}
}

func BenchmarkShortResult(b *testing.B) {
	o := &Overflow{Memory: NewMemory(1 << 20), MaxChars: 50_000, Config: setting.Default[Config]()}
	chain := o.Middleware(fixedTool{res: executors.Result{Text: strings.Repeat("some output\n", 1000)}})
	call := &executors.Call{Tool: "bash", Session: "s", Record: &executors.Record{}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := chain.Execute(b.Context(), call); err != nil {
			b.Fatal(err)
		}
	}
}

// Text of 60,000 characters, each time another, into the database.
func BenchmarkKeep60K(b *testing.B) {
	o := &Overflow{Store: database(b), MaxChars: 50_000, Config: setting.Default[Config]()}
	text := numbered(6000)
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		n++
		if got := o.Shorten(b.Context(), "s", fmt.Sprint(n, text)); strings.Contains(got, "gone") {
			b.Fatal(lastLine(got))
		}
	}
}

func benchmark10MiB(b *testing.B, in string) {
	o := &Overflow{Store: database(b), MaxChars: 50_000, Config: setting.Default[Config]()}
	text := numbered(900_000)[:10<<20]
	id := reference.FindString(o.Shorten(b.Context(), "s", text))
	call := &executors.Call{Tool: toolName, Session: "s", Input: json.RawMessage(fmt.Sprintf(in, id))}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if res, err := o.Tools().Execute(b.Context(), call); err != nil || res.Failed {
			b.Fatal(res.ForModel(), err)
		}
	}
}

func BenchmarkReadLast10MiB(b *testing.B) { benchmark10MiB(b, `{"id":%q,"offset":800000}`) }

func BenchmarkSearch10MiB(b *testing.B) { benchmark10MiB(b, `{"id":%q,"pattern":"line 79\\d*99$"}`) }

func BenchmarkKeep10MiB(b *testing.B) {
	o := &Overflow{Store: database(b), MaxChars: 50_000, Config: setting.Default[Config]()}
	text := numbered(900_000)[:10<<20-10]
	n := 0
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		n++
		if got := o.Shorten(b.Context(), "s", fmt.Sprint(n, text)); strings.Contains(got, "gone") {
			b.Fatal(lastLine(got))
		}
	}
}
