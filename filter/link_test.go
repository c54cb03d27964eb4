package filter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/executors/filechange"
	"github.com/zeph-acp/zeph-acp/filter/redact"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

// tool returns a result, and may first report progress of the call.
type tool struct {
	executors.Executor
	res  executors.Result
	err  error
	tell func(call *executors.Call)
}

func (t tool) Execute(_ context.Context, call *executors.Call) (executors.Result, error) {
	if t.tell != nil {
		t.tell(call)
	}
	return t.res, t.err
}

// A made-up key, and random text of 20, 40 and 32 characters.
const (
	fakeKey = "AKIA" + "Q3EGZ7WLM2T5XK4V"
	alnum2  = "tR7kQm2XzV9bLs4Wd8Yc"
	alnum4  = "tR7kQm2XzV9bLs4Wd8YcHn3Jf6Gp1ZaEu5KxBo0T"
	hex32   = "9f2b6c0d4e7a81530bd2f4961ce8a73d"
)

// testLink drops the lines of "tool" that begin with "noise".
func testLink(t testing.TB) *Link {
	t.Helper()
	path := filepath.Join(t.TempDir(), "filters.toml")
	rules := `
[[rules]]
name = "test"
match = { prefix = "tool" }
strategy = { type = "strip_noise", patterns = ["^noise"] }
`
	if err := os.WriteFile(path, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	f, warnings := New(path)
	if len(warnings) > 0 {
		t.Fatalf("the rules cause warnings: %q", warnings)
	}
	return &Link{Filter: f, Metrics: &Metrics{}}
}

func spoolOf(t testing.TB, text string) *executors.Spool {
	t.Helper()
	s, err := executors.NewSpool(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// noise are lines that the rule drops.
func noise(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "noise that nobody needs, line %d\n", i)
	}
	return b.String()
}

func allOf(t testing.TB, s *executors.Spool) string {
	t.Helper()
	if s == nil {
		return ""
	}
	b, err := io.ReadAll(s.Reader())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestLinkOnCommands(t *testing.T) {
	failure := executors.Failf(executors.Timeout, "stopped").Failure
	for name, tt := range map[string]struct {
		script, text string // text is the output
		failure      *executors.Failure
		notes        []string
		out          executors.Output
		exit         *int
		spooled      bool
		want, full   string
		counts       Counts
	}{
		"short": {script: "tool", text: "hi\n", want: "hi\n",
			counts: Counts{Commands: 1, BytesBefore: 3, BytesAfter: 3, LinesBefore: 1, LinesAfter: 1, Fallback: 1}},
		"without an end": {script: "other", text: "hi", want: "hi",
			counts: Counts{Commands: 1, BytesBefore: 2, BytesAfter: 3, LinesBefore: 1, LinesAfter: 1}},
		"exit": {script: "other", text: "hi", notes: []string{"[exit 1]"}, want: "hi\n[exit 1]",
			counts: Counts{Commands: 1, BytesBefore: 2, BytesAfter: 3, LinesBefore: 1, LinesAfter: 1}},
		"sanitised": {script: "other", text: "\x1b[31mred\x1b[0m\n\n\n10%\r100%\n", want: "red\n\n100%\n",
			counts: Counts{Commands: 1, BytesBefore: 24, BytesAfter: 10, LinesBefore: 3, LinesAfter: 3}},
		"filtered": {script: "cd x && tool run 2>&1 | tail -50", text: noise(9) + "kept\n", notes: []string{"[exit 1]"}, exit: new(1),
			want: "kept\n[exit 1]\n[shell] 10 lines -> 1 lines, 90.0% filtered", full: noise(9) + "kept\n",
			counts: Counts{Commands: 1, Filtered: 1, BytesBefore: 293, BytesAfter: 5, LinesBefore: 10, LinesAfter: 1, Full: 1}},
		"filtered, of a file": {script: "tool", text: noise(9) + "kept", exit: new(0), spooled: true,
			want: "kept\n[shell] 10 lines -> 1 lines, 90.0% filtered", full: noise(9) + "kept\n",
			counts: Counts{Commands: 1, Filtered: 1, BytesBefore: 292, BytesAfter: 5, LinesBefore: 10, LinesAfter: 1, Full: 1}},
		"all goes": {script: "tool", text: noise(9), exit: new(0), want: "[shell] 9 lines -> 0 lines, 100.0% filtered", full: noise(9),
			counts: Counts{Commands: 1, Filtered: 1, BytesBefore: 288, LinesBefore: 9, Full: 1}},
		"too little goes": {script: "tool", text: noise(2) + "kept\n", want: noise(2) + "kept\n",
			counts: Counts{Commands: 1, BytesBefore: 69, BytesAfter: 69, LinesBefore: 3, LinesAfter: 3, Full: 1}},
		"around it": {script: "tool", text: noise(9) + "[exit 7]\n", failure: failure, notes: []string{"[exit 7]", "noise is a word"}, exit: new(7), spooled: true,
			want:   executors.Result{Failure: failure}.ForModel() + "\n[exit 7]\n[exit 7]\nnoise is a word\n[shell] 10 lines -> 1 lines, 90.0% filtered",
			full:   noise(9) + "[exit 7]\n",
			counts: Counts{Commands: 1, Filtered: 1, BytesBefore: 297, BytesAfter: 9, LinesBefore: 10, LinesAfter: 1, Full: 1}},
		"a part": {script: "tool", text: noise(9) + "kept\n", out: executors.Output{Partial: true}, want: noise(9) + "kept\n"},
		"lost": {script: "tool", text: noise(9) + "kept\n", out: executors.Output{Lost: true}, exit: new(0),
			want: "kept\n[shell] 10 lines -> 1 lines, 90.0% filtered, and more was written than was kept", full: noise(9) + "kept\n",
			counts: Counts{Commands: 1, Filtered: 1, BytesBefore: 293, BytesAfter: 5, LinesBefore: 10, LinesAfter: 1, Full: 1}},
		"credential": {script: "tool", text: noise(9) + "key " + fakeKey + "\n", notes: []string{"[exit 1]"}, exit: new(1),
			want:   "key [REDACTED:aws key]\n[exit 1]\n[security] 1 credential masked: aws key\n[shell] 10 lines -> 1 lines, 90.0% filtered",
			full:   noise(9) + "key [REDACTED:aws key]\n",
			counts: Counts{Commands: 1, Filtered: 1, BytesBefore: 313, BytesAfter: 23, LinesBefore: 10, LinesAfter: 1, Full: 1, Masked: 1}},
		"killed": {script: "tool", text: noise(19) + "kept\nnoise at the end", notes: []string{"[killed by SIGKILL]"},
			want:   "kept\n(when it was stopped:)\nnoise that nobody needs, line 18\nnoise at the end\n[killed by SIGKILL]\n[shell] 21 lines -> 4 lines, 81.0% filtered",
			full:   noise(19) + "kept\nnoise at the end\n",
			counts: Counts{Commands: 1, Filtered: 1, BytesBefore: 638, BytesAfter: 78, LinesBefore: 21, LinesAfter: 4, Full: 1}},
		"blank": {script: "other", text: "\n", want: "(no output)",
			counts: Counts{Commands: 1, BytesBefore: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			l := testLink(t)
			res := executors.Result{Failure: tt.failure, Text: tt.text, Notes: tt.notes, Output: &tt.out, Raw: "stdout"}
			var spool *executors.Spool
			if tt.spooled {
				spool = spoolOf(t, tt.text)
				res.Long, res.Text = spool, ""
			}
			call := &executors.Call{Card: executors.Card{Script: command.Parse(tt.script, command.Shell{})}, Record: &executors.Record{ExitCode: tt.exit}}
			got, err := l.Middleware(tool{res: res}).Execute(t.Context(), call)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.ForModel()); diff != "" {
				t.Errorf("text (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(tt.full, allOf(t, got.Full)); diff != "" {
				t.Errorf("full (-want +got)\n%s", diff)
			}
			got.Full.Close()
			if diff := cmp.Diff(tt.counts, l.Metrics.Session()); diff != "" {
				t.Errorf("counts (-want +got)\n%s", diff)
			}
			if named := len(call.Record.Filters) == 1 && call.Record.Filters[0] == "test"; named != (tt.counts.Full > 0) {
				t.Errorf("the record names %q", call.Record.Filters)
			}
			if got.Raw != "stdout" {
				t.Errorf("raw is %v", got.Raw)
			}
			if spool != nil {
				if _, err := spool.Write(nil); err == nil {
					t.Error("the raw text is not closed")
				}
			}
		})
	}
}

// A filtered output that is still too long keeps its ends, and all of it can be
// read.
func TestLinkBounds(t *testing.T) {
	l := testLink(t)
	kept := strings.Repeat("kept\n", 1000)
	for script, full := range map[string]string{"tool": noise(100) + kept, "other": kept} {
		res := executors.Result{Notes: []string{"[exit 1]"}, Long: spoolOf(t, full), Output: &executors.Output{}}
		got, err := l.Middleware(tool{res: res}).Execute(t.Context(), &executors.Call{Card: executors.Card{Script: command.Parse(script, command.Shell{})}})
		if err != nil {
			t.Fatal(err)
		}
		got.Bound(1000)
		if n := len([]rune(got.ForModel())); n > 1000 || n < 900 || !strings.HasPrefix(got.ForModel(), "kept\n") || !strings.Contains(got.ForModel(),
			"characters cut …]\n") {
			t.Errorf("%s: %d characters, want from 900 to 1000 with a note of the cut: %q", script, n, got.ForModel())
		}
		if diff := cmp.Diff(full, allOf(t, got.Full)); diff != "" {
			t.Errorf("%s: full (-want +got)\n%s", script, diff)
		}
		got.Full.Close()
	}
}

// envelope is a rawOutput with its own texts.
type envelope struct{ Out, Err string }

func TestLinkMasksEveryTool(t *testing.T) {
	const masked = "[REDACTED:aws key]"
	warning := []string{"[security] 1 credential masked: aws key"}
	coloured := fakeKey[:7] + "\x1b[1m" + fakeKey[7:] + "\x1b[0m"
	type document struct {
		B []string `json:"b"`
		A int      `json:"a"`
	}
	report, maskedReport := document{[]string{"x", fakeKey}, 1}, document{[]string{"x", masked}, 1}
	named := map[string]any{"api_key": "hV7tZq9LmX2nRc8W"}
	secret := fakeKey
	for name, tt := range map[string]struct{ in, want executors.Result }{
		"text": {executors.Result{Text: "id " + fakeKey + "\n\n\nx"}, executors.Result{Text: "id " + masked + "\n\n\nx", Notes: warning}},
		"none": {executors.Result{Text: "a\r\n\n\n\x1b[1mb"}, executors.Result{Text: "a\r\n\n\n\x1b[1mb"}},
		"failure": {executors.Failf(executors.NetworkError, "get %s", fakeKey),
			executors.Result{Failed: true, Failure: executors.Failf(executors.NetworkError, "get %s", masked).Failure, Notes: warning}},
		"in colours":  {executors.Result{Text: coloured}, executors.Result{Text: masked, Notes: warning}},
		"raw text":    {executors.Result{Raw: "a " + coloured}, executors.Result{Raw: "a " + masked}},
		"raw, a file": {executors.Result{Raw: "a\n\n\n\tb\n"}, executors.Result{Raw: "a\n\n\n\tb\n"}},
		"raw, drawn": {executors.Result{Raw: envelope{"10%\r\x1b[32m20%\x1b[0m\r\nb", "\x1b]0;title\ashown\n"}},
			executors.Result{Raw: envelope{"20%\nb", "shown\n"}}},
		"raw, a list":  {executors.Result{Raw: []string{"\x1b[1ma", "b"}}, executors.Result{Raw: []string{"a", "b"}}},
		"envelope":     {executors.Result{Raw: envelope{"a " + fakeKey, fakeKey}}, executors.Result{Raw: envelope{"a " + masked, masked}}},
		"report":       {executors.Result{Raw: report}, executors.Result{Raw: maskedReport}},
		"by its name":  {executors.Result{Raw: named}, executors.Result{Raw: map[string]any{"api_key": "[REDACTED]"}}},
		"clean report": {executors.Result{Raw: []int{1}}, executors.Result{Raw: []int{1}}},
		"diff": {executors.Result{Content: []executors.Content{{Change: &filechange.Change{New: &secret}}}},
			executors.Result{Content: []executors.Content{{Change: &filechange.Change{New: &secret}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := testLink(t).Middleware(tool{res: tt.in}).Execute(t.Context(), &executors.Call{})
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("%v, (-want +got)\n%s", err, diff)
			}
			off := Link{Filter: &Filter{}}
			got, err = off.Middleware(tool{res: tt.in}).Execute(t.Context(), &executors.Call{})
			tt.in.Raw = off.Filter.scan.Raw(tt.in.Raw) // still sanitised
			if diff := cmp.Diff(tt.in, got); err != nil || diff != "" {
				t.Errorf("without the scan: %v, (-want +got)\n%s", err, diff)
			}
		})
	}
}

func TestLinkMasksTheFullText(t *testing.T) {
	long := strings.Repeat("x", 3*text.MaxLine)
	text := "a\n\n\n" + long + "\n" + fakeKey + "\nend"
	got, err := testLink(t).Middleware(tool{res: executors.Result{Text: "a", Full: spoolOf(t, text)}}).Execute(t.Context(), &executors.Call{})
	if err != nil {
		t.Fatal(err)
	}
	defer got.Full.Close()
	if diff := cmp.Diff(strings.ReplaceAll(text, fakeKey, "[REDACTED:aws key]"), allOf(t, got.Full)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if want := "a\n[security] 1 credential masked: aws key"; got.ForModel() != want {
		t.Errorf("text is %q, want %q", got.ForModel(), want)
	}
}

// Live output may come in pieces of any size.
func TestLinkMasksWhatIsShownLive(t *testing.T) {
	body := alnum4 + alnum2 + "Ab1+"
	all := "first\nkey " + fakeKey + "\n-----BEGIN PRIVATE KEY-----\n" + body + "\n" + body + "\n-----END PRIVATE KEY-----\n" + body +
		"\n\x1b[32mfile\x1b[0m\npassword: |\n  " + alnum2 + "\n10%\r20%\rdone " + fakeKey
	link := testLink(t)
	for size := 1; size <= len(all); size++ {
		var got strings.Builder
		exited := false
		call := &executors.Call{Notify: func(ev executors.Event) {
			if exited && ev.Output != nil {
				t.Error("output after the exit")
			}
			exited = exited || ev.Exit != nil
			got.Write(ev.Output)
		}}
		told := tool{tell: func(call *executors.Call) {
			for rest := []byte(all); len(rest) > 0; {
				n := min(size, len(rest))
				call.Notify(executors.Event{Output: append([]byte(nil), rest[:n]...)})
				rest = rest[n:]
			}
			call.Notify(executors.Event{Exit: &executors.Exit{}})
		}}
		if _, err := link.Middleware(told).Execute(t.Context(), call); err != nil {
			t.Fatal(err)
		}
		want := strings.NewReplacer(fakeKey, "[REDACTED:aws key]", "-\n"+body+"\n"+body, "-\n[REDACTED:private key]\n[REDACTED:private key]", alnum2+"\n1",
			"[REDACTED:secret]\n1").Replace(all)
		if got.String() != want || !exited {
			t.Errorf("in pieces of %d: %q, want %q", size, got.String(), want)
		}
	}
}

// Line ends, colours and other control characters do not hide a credential that
// follows from the lines before, in pieces of any size and in a whole text.
func TestEndsAndColoursHideNothing(t *testing.T) {
	body, second, end := alnum4+alnum2+"Ab1+", alnum2+alnum4+"Cd2/", alnum4[20:]
	key := "-----BEGIN PRIVATE KEY-----\n" + body + "\n" + second + "\n" + alnum4[5:] + "\n-----END PRIVATE KEY-----\n"
	for name, tt := range map[string]struct{ text, secret string }{
		"a key, CR LF":           {strings.ReplaceAll(key, "\n", "\r\n"), end},
		"a key, coloured":        {"\x1b[32m" + strings.ReplaceAll(key, "\n", "\x1b[0m\n\x1b[32m"), end},
		"a key, half coloured":   {strings.ReplaceAll(key, second, "\x1b[1m"+second+"\x1b[0m"), end},
		"a key, lines erased":    {"\x1b[2K\r" + strings.ReplaceAll(key, "\n", "\n\x1b[2K\r"), end},
		"a block":                {"\x1b[34mpassword\x1b[0m: |\n  \x1b[32ms3cr3tPa55\x1b[0m\n", "s3cr3tPa55"},
		"a name":                 {"- name: DB_PASSWORD\r\n  value: \x1b[32ms3cr3tPa55\x1b[0m\r\n", "s3cr3tPa55"},
		"the installer's, CR LF": {"Please use the following password:\r\n\r\n" + hex32 + "\r\n", hex32},
		"NUL":                    {"password=s3c\x00r3tPa55\n", "s3cr3tPa55"},
		"NUL in a key":           {"id " + fakeKey[:7] + "\x00" + fakeKey[7:] + "\n", fakeKey},
		"NUL in a name":          {"pass\x00word=s3cr3tPa55\n", "s3cr3tPa55"},
		"DEL, BEL, VT and SO":    {fakeKey[:5] + "\x7f" + fakeKey[5:6] + "\a\v\x0e" + fakeKey[6:] + "\n", fakeKey},
		"Latin-1's controls":     {fakeKey[:5] + "\u0085" + fakeKey[5:9] + "\u009b31m" + fakeKey[9:] + "\n", fakeKey},
		"an open title before":   {"\x1b]0;title\nid " + fakeKey + "\n", fakeKey},
		"drawn over a blank":     {"password: |\n\rs3cr3tPa55\n", "s3cr3tPa55"},
		"drawn over another":     {"password: |\nwait\r  s3cr3tPa55\n", "s3cr3tPa55"},
		"drawn over twice":       {"password: |\n10%\r20%\r  s3cr3tPa55\n", "s3cr3tPa55"},
		"a value drawn over":     {"- name: DB_PASSWORD\nvalue: x\rvalue: s3cr3tPa55\n", "s3cr3tPa55"},
		"a block drawn over":     {strings.Replace(key, "\n"+body, "\nwait\r"+body, 1), body},
		"a name drawn over":      {"10%\rpassword: |\n  s3cr3tPa55\n", "s3cr3tPa55"},
		"one half in a colour":   {"github_pat_11ABCDEFG0" + alnum2 + "_\x1b[1m" + alnum4 + "abcdefgHIJ123456789\x1b[0m\n", alnum4},
	} {
		scan := &redact.Scanner{}
		if got, _ := scan.Visible(tt.text); strings.Contains(string(text.Sanitize([]byte(got))), tt.secret) {
			t.Errorf("%s: the secret is visible in %q", name, got)
		}
		var copied strings.Builder
		found, err := scan.Copy(&copied, strings.NewReader(tt.text))
		if err != nil {
			t.Fatal(err)
		}
		if got := copied.String(); strings.Contains(string(text.Sanitize([]byte(got))), tt.secret) || len(found) == 0 {
			t.Errorf("%s, copied: %q, found %v", name, got, found)
		}
		whole := ""
		for size := len(tt.text); size > 0; size-- {
			var live strings.Builder
			mask := &liveMask{scanner: scan, next: func(ev executors.Event) { live.Write(ev.Output) }}
			for piece := range slices.Chunk([]byte(tt.text), size) {
				mask.notify(executors.Event{Output: piece})
			}
			mask.flush()
			if whole == "" {
				whole = live.String()
			}
			if live.String() != whole || strings.Contains(string(text.Sanitize([]byte(whole))), tt.secret) {
				t.Fatalf("%s, in pieces of %d: %q, whole %q", name, size, live.String(), whole)
			}
		}
	}
}

// A credential in a long line is found wherever it is.
func TestLongLinesHideNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("long lines on one goroutine: nothing for the race detector")
	}
	const secret, item = `"token": "` + alnum4 + `",`, `{"id":1234567,"name":"abc"},`
	scan := &redact.Scanner{}
	for at := text.MaxLine - 100; at < text.MaxLine+100; at += 3 {
		line := strings.Repeat(item, at/len(item)) + strings.Repeat(" ", at%len(item)) + secret + strings.Repeat(item, 2*text.MaxLine/len(item))
		var live strings.Builder
		mask := &liveMask{scanner: scan, next: func(ev executors.Event) { live.Write(ev.Output) }}
		for piece := range slices.Chunk([]byte(line), 1000+at%1000) {
			mask.notify(executors.Event{Output: piece})
		}
		mask.flush()
		var copied strings.Builder
		if _, err := scan.Copy(&copied, strings.NewReader(line)); err != nil {
			t.Fatal(err)
		}
		o, err := (&Filter{scan: scan}).Apply("tool", 0, strings.NewReader(line))
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Replace(line, alnum4, "[REDACTED:secret]", 1)
		for way, got := range map[string]string{"live": live.String(), "copied": copied.String(),
			"a command's": strings.ReplaceAll(allOf(t, o.Text.Spool()), "\n", "")} {
			if strings.Contains(got, alnum4) || len(got) != len(want) {
				t.Errorf("at %d, %s: %d bytes, want %d", at, way, len(got), len(want))
			}
		}
		o.Close()
	}
}

func TestLinkPassesErrorsOn(t *testing.T) {
	broken := errors.New("broken")
	if _, err := testLink(t).Middleware(tool{err: broken}).Execute(t.Context(), &executors.Call{}); !errors.Is(err, broken) {
		t.Errorf("the tool's error became %v, want %v", err, broken)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(broken)
	full, done := spoolOf(t, noise(99)), false
	res := executors.Result{Long: full, Output: &executors.Output{}, Done: func() { done = true }}
	got, err := testLink(t).Middleware(tool{res: res}).Execute(ctx, &executors.Call{})
	if !errors.Is(err, broken) || got.Done == nil || got.Full != nil || got.Long != nil {
		t.Errorf("got %+v, %v, want %v, Done and no full text", got, err, broken)
	}
	if got.Done(); !done {
		t.Error("Done is another")
	}
	if _, err := full.Write(nil); err == nil {
		t.Error("the text is not closed")
	}
}

// An output for which the disk has no more room is returned as far as memory has room for it.
func TestLinkWithoutTheFullText(t *testing.T) {
	full := spoolOf(t, noise(2)+fakeKey+"\n"+strings.Repeat("x", 2<<20))
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	t.Setenv("TMP", filepath.Join(t.TempDir(), "missing"))
	res := executors.Result{Long: full, Output: &executors.Output{}}
	got, err := testLink(t).Middleware(tool{res: res}).Execute(t.Context(), &executors.Call{Card: executors.Card{Script: command.Parse("other", command.Shell{})}})
	want := noise(2) + "[REDACTED:aws key]\nxxx"
	if err != nil || got.Full != nil || got.Long != nil || !got.Output.Lost || !strings.HasPrefix(got.ForModel(), want) ||
		!strings.Contains(got.ForModel(), "\n[security] 1 credential masked: aws key\n[the output could not be filtered or kept: ") {
		t.Errorf("got %.300q, %v, want %q at the beginning and no full text", got.ForModel(), err, want)
	}
	if _, err := full.Write(nil); err == nil {
		t.Error("the raw text is not closed")
	}
}

// The link's own time for typical output.
func BenchmarkLink(b *testing.B) {
	for name, output := range map[string]string{
		"line":    "ok\n",
		"2 KiB":   strings.Repeat("drwxr-xr-x 2 dev dev 4096 Jan  2 10:11 internal\n", 42),
		"dropped": noise(60),
	} {
		b.Run(name, func(b *testing.B) {
			l := testLink(b)
			chain := l.Middleware(tool{res: executors.Result{Text: output, Notes: []string{"[exit 1]"}, Output: &executors.Output{}, Raw: envelope{output, ""}}})
			call := &executors.Call{Card: executors.Card{Script: command.Parse("cd internal && tool ./... 2>&1 | tail -100", command.Shell{})},
				Notify: func(executors.Event) {}}
			b.ReportAllocs()
			for b.Loop() {
				res, err := chain.Execute(b.Context(), call)
				if err != nil {
					b.Fatal(err)
				}
				res.Full.Close()
			}
		})
	}
}

// aKey matches fakeKey as a whole word.
var aKey = regexp.MustCompile(`\b` + fakeKey + `\b`)

// The messages of the tool stay, and so do lines that no rule drops. No key is
// shown.
func FuzzLink(f *testing.F) {
	f.Add("noise\nkept\n", "", "[exit 1]", "tool", true, false)
	rules := testLink(f).Filter
	f.Add("a\x1b[1m\xff\r\n\n\n"+fakeKey, "[tool_error]\nerror: x", "", "cd x; tool", false, true)
	f.Fuzz(func(t *testing.T, output, before, after, script string, spooled, partial bool) {
		output = strings.ToValidUTF8(output, "?") // as a runner does
		before, after = strings.Trim(strings.ToValidUTF8(before, "?"), "\n"), strings.Trim(strings.ToValidUTF8(after, "?"), "\n")
		if output == "" || len(output) > 1<<16 {
			return
		}
		var log bytes.Buffer
		l := &Link{Filter: rules, Metrics: &Metrics{}, Log: slog.New(slog.NewTextHandler(&log, nil))}
		res := executors.Result{Text: output, Raw: envelope{output, ""}, Output: &executors.Output{Partial: partial}}
		if before != "" {
			res.Failure = &executors.Failure{Message: before}
		}
		res.Below(after)
		body := res.ForModel()
		if spooled {
			res.Text, res.Long = "", spoolOf(t, output)
		}
		got, err := l.Middleware(tool{res: res}).Execute(t.Context(), &executors.Call{Card: executors.Card{Script: command.Parse(script, command.Shell{})}})
		if err != nil {
			t.Fatal(err)
		}
		defer got.Full.Close()
		if log.Len() > 0 {
			t.Errorf("the log has %s", log.String())
		}
		all := got.ForModel() + "\n" + allOf(t, got.Full)
		if !utf8.ValidString(all) {
			t.Errorf("no UTF-8: %q", all)
		}
		if aKey.MatchString(all) || aKey.MatchString(got.Raw.(envelope).Out) {
			t.Errorf("shows a key: %q, %+v", all, got.Raw)
		}
		if c := l.Metrics.Session(); c.Masked == 0 && (!strings.Contains(got.ForModel(), before) || !strings.Contains(got.ForModel(), after)) {
			t.Errorf("%q and %q are not around %q", before, after, got.ForModel())
		}
		if more := len(got.ForModel()) - len(text.Sanitize([]byte(body))); more > 100+len(before)+len(after) {
			t.Errorf("%d bytes longer", more)
		}
	})
}

// Copy masks a text as Mask does, wherever its pieces end. Where a terminal shows
// a line differently from its bytes, no key is visible in it.
func FuzzMaskCopy(f *testing.F) {
	f.Add("a\n\n" + fakeKey + "\npassword = hunter2222\n")
	f.Add("-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----")
	f.Add("m\b\b\bpassword = hunt\x1b[1mer2222\r\n" + fakeKey)
	f.Fuzz(func(t *testing.T, body string) {
		if len(body) > text.MaxLine {
			return
		}
		s := &redact.Scanner{}
		want, found := s.Mask(body)
		var out strings.Builder
		all, err := s.Copy(&out, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		masked := out.String()
		if strings.Contains(body, "\r") || text.TextHasControls(body) { // only the visible text counts
			if seen := string(text.Sanitize([]byte(masked))); aKey.MatchString(seen) {
				t.Errorf("%q: a key is seen: %q", body, seen)
			}
			return
		}
		if diff := cmp.Diff(want, masked) + cmp.Diff(found, all); diff != "" && body != "" {
			t.Errorf("%q: (-text +copy)\n%s", body, diff)
		}
	})
}

// A file with the output of a command is filtered like that output, in later calls too.
func TestLinkKnowsSavedOutputs(t *testing.T) {
	l := testLink(t)
	run := func(script, text string) string {
		zero := 0
		call := &executors.Call{
			Card:   executors.Card{Script: command.Parse(script, command.Shell{})},
			Record: &executors.Record{ExitCode: &zero},
		}
		res := executors.Result{Text: text, Output: &executors.Output{}}
		got, err := l.Middleware(tool{res: res}).Execute(t.Context(), call)
		if err != nil {
			t.Fatal(err)
		}
		return got.Text
	}
	const text = "noise\nfine\n"
	long := strings.Repeat("noise\n", 60) + "fine\n"
	for _, step := range []struct{ script, text, want string }{
		{"cat a.txt", long, long},
		{"tool > a.txt 2>&1", "", "(no output)"},
		{"cat ./a.txt", long, "fine\n"},
		{"tail -n 90 a.txt", long, "fine\n"},
		{"cat a.txt b.txt", long, long},
		{"other | tee a.txt", text, text},
		{"cat a.txt", long, long},
	} {
		if got := run(step.script, step.text); got != step.want {
			t.Errorf("%s: got %.60q, want %.60q", step.script, got, step.want)
		}
	}
}
