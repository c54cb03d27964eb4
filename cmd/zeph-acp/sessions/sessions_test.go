package sessions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless/layout"
	"github.com/zeph-acp/zeph-acp/session"
	"github.com/zeph-acp/zeph-acp/session/store"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

func sessionRows(ids ...string) (rows []store.Session) {
	for _, id := range ids {
		rows = append(rows, store.Session{ID: id})
	}
	return rows
}

func TestFind(t *testing.T) {
	all := sessionRows("abcd-1", "abcd-2", "abcd", "x", "wxyz-1")
	for id, want := range map[string]string{
		"abcd":   "abcd", // a whole id is not treated as a prefix
		"abcd-":  `"abcd-" is the prefix of 2 sessions: abcd-1, abcd-2`,
		"abcd-2": "abcd-2",
		"x":      "x",
		"wxyz":   "wxyz-1",
		"wxy":    `no session "wxy" is stored: the prefix of an id needs at least 4 characters`,
		"":       `no session "" is stored: the prefix of an id needs at least 4 characters`,
		"none-":  `no session "none-" is stored: "zeph-acp sessions list" lists the stored ones`,
	} {
		s, err := Find(all, id)
		if got := s.ID; err == nil && got != want || err != nil && err.Error() != want {
			t.Errorf("find(%q) = %q, %v; want %q", id, got, err, want)
		}
	}
}

func TestShortID(t *testing.T) {
	for _, tt := range []struct {
		ids  string
		want int
	}{
		{"", 8},
		{"0123456789abcdef 1123456789abcdef", 8},
		{"0123456789abcdef 01234567a9abcdef", 12},
		{"0123456789ab 0123456789abcdef", 16},
		{"a b", 8},
		{"0123456789 0123456789", 12}, // impossible, but it must end
	} {
		if got := ShortID(sessionRows(strings.Fields(tt.ids)...)); got != tt.want {
			t.Errorf("shortID(%s) = %d, want %d", tt.ids, got, tt.want)
		}
	}
}

func TestListScreen(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	all := []store.Session{
		{ID: "0123456789", CWD: "/home/u/w", Title: "short", Updated: at},
		{ID: "1123456789", CWD: "/home/user/a/rather/long/directory", Title: strings.Repeat("a title that is too long ", 9), Updated: at},
		{ID: "2\x1b", CWD: "/日本語日本語日本語日本語", Title: "日本語日本語日本語日本語日本語日本語日本語", Updated: at},
		{ID: "3", CWD: "/", Updated: at},
	}
	for width, want := range map[int]string{
		80: `
01234567   2026-01-02 03:04  ~/w                  short
11234567   2026-01-02 03:04  …her/long/directory  a title that is too long a ti…
2<U+001B>  2026-01-02 03:04  …日本語日本語日本語  日本語日本語日本語日本語日本…
3          2026-01-02 03:04  /                    no title
`,
		0: `
01234567   2026-01-02 03:04  ~/w           short
11234567   2026-01-02 03:04  …g/directory  a title that is t…
2<U+001B>  2026-01-02 03:04  …本語日本語   日本語日本語日本…
3          2026-01-02 03:04  /             no title
`,
	} {
		var b strings.Builder
		if err := sessionsScreen(&b, all, all, "/home/u", width); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), b.String()); diff != "" {
			t.Errorf("%d columns (-want +got)\n%s", width, diff)
		}
		for line := range strings.Lines(b.String()) {
			if n := layout.Columns(strings.TrimSuffix(line, "\n")); n > max(width, 80) {
				t.Errorf("%d columns: line of %d: %s", width, n, line)
			}
		}
	}
}

func TestTurns(t *testing.T) {
	for name, tt := range map[string]struct {
		events []transcript.Event
		want   string
	}{
		"no events": {nil, ""},
		"settings": {
			[]transcript.Event{transcript.Setting{}, transcript.Prompt{}, transcript.TurnEnd{}, transcript.Title{}},
			"[setting] [prompt turn_end title]",
		},
		"killed": {
			[]transcript.Event{transcript.Prompt{}, transcript.Call{}, transcript.Prompt{}, transcript.Note{}},
			"[prompt tool_call] [prompt note]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, turn := range splitTurns(tt.events) {
				var kinds []string
				for _, e := range turn {
					kinds = append(kinds, e.Kind())
				}
				got = append(got, fmt.Sprint(kinds))
			}
			if got := strings.Join(got, " "); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// TestShowKilled checks that a turn without an end may still run only if it is the last.
func TestShowKilled(t *testing.T) {
	for name, tt := range map[string]struct {
		events []transcript.Event
		want   []string // in order
	}{
		"the last without an end": {[]transcript.Event{transcript.Prompt{}, transcript.TurnEnd{Error: "e1"}, transcript.Prompt{}}, []string{"e1", "still runs"}},
		"the first without an end": {
			[]transcript.Event{transcript.Prompt{}, transcript.Prompt{}, transcript.TurnEnd{Error: "e2"}},
			[]string{"not ended: the agent was killed", "e2"},
		},
		"both without an end": {[]transcript.Event{transcript.Prompt{}, transcript.Prompt{}}, []string{"not ended: the agent was killed", "still runs"}},
		"after a setting":     {[]transcript.Event{transcript.Setting{}, transcript.Prompt{}}, []string{"still runs"}},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := Show(&b, headless.NewScreen(&b, false), store.Session{ID: "s", CWD: "/w"}, tt.events); err != nil {
				t.Fatal(err)
			}
			rest := b.String()
			for _, part := range tt.want {
				var ok bool
				if _, rest, ok = strings.Cut(rest, part); !ok {
					t.Errorf("no %q where it should be in\n%s", part, b.String())
				}
			}
			if strings.Count(b.String(), "still runs") != strings.Count(strings.Join(tt.want, " "), "still runs") {
				t.Errorf("a turn before the last still runs:\n%s", b.String())
			}
		})
	}
}

// Anyone may have written an imported session: both forms can show it, and it
// cannot control the terminal.
func FuzzShow(f *testing.F) {
	for _, events := range []string{
		`{"kind":"prompt","data":{"messageId":"1","content":[{"type":"text","text":"\u001b[2J"},{"type":"image","data":"x"}]}}`,
		`{"kind":"block","data":{"block":{"text":"a\u009b"}}},{"kind":"block","data":{"messageId":"2","block":{"thought":"b"}}},{"kind":"turn_end","data":{"error":"\u0007"}}`,
		`{"kind":"prompt","data":{}},{"kind":"tool_call","data":{"shown":{"sessionUpdate":"tool_call","toolCallId":"c","title":"\u202e"}}}`,
		`{"kind":"tool_result","data":{"shown":{"toolCallId":"c","status":"failed","content":[{"type":"diff","path":"/\r"},{"type":"terminal"},{"type":"content"}]}}}`,
		`{"kind":"plan","data":{}},{"kind":"note","data":{"text":"n"}},{"kind":"cleared","data":{}},{"kind":"compaction","data":{"summary":"s"}},{"kind":"compaction","data":{"id":"1","strategy":"manual","summary":"s\u009b"}}`,
	} {
		f.Add([]byte(`{"events":[` + events + `]}`))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var doc session.Export
		if json.Unmarshal(data, &doc) != nil {
			return
		}
		var events []transcript.Event
		for _, ev := range doc.Events {
			if e, err := transcript.Decode(ev.Kind, ev.Data); err == nil && e != nil {
				events = append(events, e)
			}
		}
		var screen, lines bytes.Buffer
		if err := Show(&screen, headless.NewScreen(&screen, false), store.Session{ID: doc.ID, CWD: doc.CWD, Title: doc.Title}, events); err != nil {
			t.Errorf("the session cannot be shown: %v", err)
		}
		if err := replaySession(&headless.JSON{W: cli.JSONWriter{W: &lines}}, doc.ID, events); err != nil {
			t.Errorf("the session cannot be replayed: %v", err)
		}
		for _, r := range screen.String() + lines.String() {
			if unicode.IsControl(r) && !strings.ContainsRune("\n\t\r", r) || unicode.Is(unicode.Bidi_Control, r) {
				t.Errorf("%U is shown", r)
			}
		}
		for line := range bytes.Lines(lines.Bytes()) {
			if !json.Valid(line) {
				t.Errorf("not JSON: %s", line)
			}
		}
		transcript.History(events)
	})
}
