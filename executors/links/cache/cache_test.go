package cache

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

const (
	reads = executors.Reads
	web   = executors.Reads | executors.Network | executors.Idempotent
)

// tools count their runs, and report the count in their text.
type tools struct {
	mu   sync.Mutex
	runs int
	// do changes the results of the next calls.
	do func(ctx context.Context, call *executors.Call, res *executors.Result) error
}

func (*tools) Tools() []executors.Tool {
	var all []executors.Tool
	for name, effect := range map[string]executors.Effect{
		"read": reads, "grep": reads, "fetch": web, "edit": executors.Reads | executors.Mutates, "bash": executors.Reads | executors.Mutates | executors.Network,
		"plan": executors.Internal | executors.Idempotent, "remember": executors.Reads | executors.Internal, "foreign": 0,
	} {
		all = append(all, executors.Tool{Name: name, Effect: effect})
	}
	return all
}

func (*tools) Prepare(context.Context, *executors.Call) (executors.Card, error) {
	return executors.Card{}, nil
}

func (t *tools) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	t.mu.Lock()
	t.runs++
	res := executors.Result{Text: fmt.Sprint("run ", t.runs), Valid: func() bool { return true }}
	t.mu.Unlock()
	if t.do != nil {
		if err := t.do(ctx, call, &res); err != nil {
			return executors.Result{}, err
		}
	}
	return res, nil
}

// session is a chain with a cache in it.
type session struct {
	t     testing.TB
	inner *tools
	cache *Cache
	chain executors.Executor
}

func start(t testing.TB, change func(*Config)) *session {
	cfg := setting.Default[Config]()
	if change != nil {
		change(&cfg)
	}
	s := &session{t: t, inner: &tools{}, cache: New(cfg)}
	s.chain = executors.Chain(s.inner, s.cache.Middleware)
	return s
}

// newCall makes a call of "TOOL PATH" or "TOOL URL", whose paths may be several.
func newCall(spec string) *executors.Call {
	tool, rest, _ := strings.Cut(spec, " ")
	input, _ := json.Marshal(map[string]string{"at": rest})
	call := &executors.Call{Tool: tool, Input: input, Record: &executors.Record{}, Attempt: 1}
	switch {
	case strings.HasPrefix(rest, "https:"):
		call.Card.URL = rest
	case rest != "":
		for p := range strings.SplitSeq(rest, ",") {
			call.Card.Paths = append(call.Card.Paths, filepath.FromSlash(p))
		}
	}
	return call
}

// run runs a call and reports whether it came from the cache.
func (s *session) run(spec string) bool {
	s.t.Helper()
	call := newCall(spec)
	runs := s.inner.runs
	res, err := s.chain.Execute(context.Background(), call)
	if err != nil {
		s.t.Fatal(err)
	}
	ran := s.inner.runs > runs
	if ran == call.Record.Cached {
		s.t.Errorf("%s: ran %t, on record as cached %t", spec, ran, call.Record.Cached)
	}
	if res.ForModel() == "" {
		s.t.Errorf("%s: no text", spec)
	}
	return !ran
}

func TestDropped(t *testing.T) {
	for name, tt := range map[string]struct {
		first, between string
		hit            bool
	}{
		"nothing between":           {"read /w/a", "", true},
		"another file":              {"read /w/a", "edit /w/b", true},
		"the file":                  {"read /w/a", "edit /w/a", false},
		"a name that begins so":     {"read /w/ab", "edit /w/a", true},
		"in the directory":          {"grep /w", "edit /w/d/b", false},
		"beside the directory":      {"grep /w/d", "edit /w/e/b", true},
		"the directory above":       {"read /w/d/a", "edit /w/d", false},
		"one end of two":            {"read /w/d/a", "edit /w/x,/w/d/a", false},
		"the root":                  {"grep /", "edit /w/a", false},
		"other letter case":         {"read /w/README", "edit /w/Readme", false},
		"what is ignored":           {"grep /w/d", "edit /w/.gitignore", false},
		"what is ignored elsewhere": {"grep /w/d", "edit /w/e/.ignore", true},
		"git's own":                 {"grep /w/d", "edit /w/.git/info/exclude", false},
		"git's own, elsewhere":      {"grep /w/d", "edit /w/e/.git/config", true},
		"a command":                 {"read /w/a", "bash", false},
		"a tool that says nothing":  {"read /w/a", "foreign", false},
		"an unknown tool":           {"read /w/a", "gone", false},
		"a plan":                    {"read /w/a", "plan", true},
		"another read":              {"read /w/a", "grep /w", true},
		"a read without a path":     {"grep", "edit /w/a", false},
		"a page, a command":         {"fetch https://a.example/", "bash", true},
		"a page, an edit":           {"fetch https://a.example/", "edit /", true},
		"another page":              {"fetch https://a.example/", "fetch https://b.example/", true},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, nil)
			if s.run(tt.first) {
				t.Error("a hit before there was anything")
			}
			if tt.between != "" && s.run(tt.between) {
				t.Error("a hit between")
			}
			if got := s.run(tt.first); got != tt.hit {
				t.Errorf("hit %t, want %t", got, tt.hit)
			}
		})
	}
}

func TestNeverKept(t *testing.T) {
	for name, tt := range map[string]struct {
		spec string
		do   func(call *executors.Call, res *executors.Result)
	}{
		"mutates":             {"edit /w/a", nil},
		"a command":           {"bash", nil},
		"internal":            {"plan", nil},
		"reads and internal":  {"remember", nil},
		"says no effect":      {"foreign", nil},
		"unknown":             {"gone", nil},
		"not valid for ever":  {"read /w/a", func(_ *executors.Call, res *executors.Result) { res.Valid = nil }},
		"not valid any more":  {"read /w/a", func(_ *executors.Call, res *executors.Result) { res.Valid = func() bool { return false } }},
		"failed":              {"read /w/a", func(_ *executors.Call, res *executors.Result) { res.Failed = true }},
		"has more":            {"read /w/a", func(_ *executors.Call, res *executors.Result) { res.Full = &executors.Spool{} }},
		"holds something":     {"read /w/a", func(_ *executors.Call, res *executors.Result) { res.Done = func() {} }},
		"needs a terminal":    {"read /w/a", func(_ *executors.Call, res *executors.Result) { res.Content = []executors.Content{{Terminal: "t1"}} }},
		"of an MCP server":    {"read /w/a", func(call *executors.Call, _ *executors.Result) { call.Record.ClaimSource = "mcp" }},
		"too large":           {"read /w/a", func(_ *executors.Call, res *executors.Result) { res.Text = strings.Repeat("x", maxEntry) }},
		"raw too large":       {"read /w/a", func(_ *executors.Call, res *executors.Result) { res.Raw = strings.Repeat("x", maxEntry) }},
		"raw cannot be sized": {"read /w/a", func(_ *executors.Call, res *executors.Result) { res.Raw = func() {} }},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, nil)
			if tt.do != nil {
				s.inner.do = func(_ context.Context, call *executors.Call, res *executors.Result) error {
					tt.do(call, res)
					return nil
				}
			}
			for range 3 {
				if s.run(tt.spec) {
					t.Error("a hit")
				}
			}
			if got := s.cache.Stats(); got.Hits != 0 || got.Entries > 1 {
				t.Errorf("got %+v, want no hit and at most one entry", got)
			}
		})
	}
}

// A cached result is identical each time that it is read.
func TestSameAgain(t *testing.T) {
	s := start(t, nil)
	want := executors.Result{
		Text: "text", Raw: map[string]any{"a": 1.0}, Locations: []executors.Location{{Path: "/w/a", Line: 3}},
		Content: []executors.Content{{Image: &executors.Image{MIME: "image/png", Data: []byte("png")}}},
	}
	s.inner.do = func(_ context.Context, call *executors.Call, res *executors.Result) error {
		want.Valid = res.Valid
		*res = want
		want.Valid = nil
		call.Record.Truncated, call.Record.OutputBytes = true, 99
		call.Record.Add(executors.Verdict{Gate: executors.PermissionGate, Rule: "of the first"})
		return nil
	}
	s.run("read /w/a")
	call := newCall("read /w/a")
	second := executors.Verdict{Gate: executors.PermissionGate, Decision: executors.Allow, Rule: "of the second"}
	call.Record.Add(second)
	got, err := s.chain.Execute(t.Context(), call)
	got.Valid = nil
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	if diff := cmp.Diff(&executors.Record{Verdicts: []executors.Verdict{second}, Truncated: true, OutputBytes: 99, Cached: true}, call.Record); diff != "" {
		t.Errorf("record (-want +got)\n%s", diff)
	}
}

// A path that now leads elsewhere names another file.
func TestLeadsElsewhere(t *testing.T) {
	s := start(t, nil)
	call := newCall("read /w/a")
	for _, target := range []string{"/w/one", "/w/two", "/w/one"} {
		again := *call
		again.Card.Paths = []string{target}
		if _, err := s.chain.Execute(t.Context(), &again); err != nil || again.Record.Cached {
			t.Errorf("%s: %v, cached %t", target, err, again.Record.Cached)
		}
	}
}

func TestExpires(t *testing.T) {
	for name, tt := range map[string]struct {
		ttl  int
		wait time.Duration
		hit  bool
	}{
		"in time":   {300, 300*time.Second - 1, true},
		"too late":  {300, 300 * time.Second, false},
		"for ever":  {0, 1000 * time.Hour, true},
		"one":       {1, time.Second, false},
		"the limit": {1 << 30, 1000 * time.Hour, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := start(t, func(c *Config) { c.TTLSecs = tt.ttl })
				s.run("read /w/a")
				time.Sleep(tt.wait)
				if got := s.run("read /w/a"); got != tt.hit {
					t.Errorf("hit %t, want %t", got, tt.hit)
				}
				if !s.run("read /w/a") {
					t.Error("not kept anew")
				}
			})
		})
	}
}

func TestStats(t *testing.T) {
	s := start(t, nil)
	for _, spec := range []string{"read /w/a", "read /w/a", "read /w/b", "bash", "plan", "fetch https://a.example/", "fetch https://a.example/"} {
		s.run(spec)
	}
	got := s.cache.Stats()
	if got.Bytes <= 0 {
		t.Error("nothing takes no room")
	}
	got.Bytes = 0
	if diff := cmp.Diff(Stats{Hits: 2, Misses: 3, Entries: 1}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	s.cache.Clear()
	if got := s.cache.Stats(); got != (Stats{}) || s.run("fetch https://a.example/") {
		t.Errorf("after Clear: %+v", got)
	}
}

func TestOff(t *testing.T) {
	s := start(t, func(c *Config) { c.Enabled = false })
	for range 2 {
		if s.run("read /w/a") || s.cache.Stats() != (Stats{}) {
			t.Error("a hit")
		}
	}
}

// No result is returned or stored while a command runs in the background, even
// if it ran during only a part of the read.
func TestBusy(t *testing.T) {
	s := start(t, nil)
	busy := false
	s.cache.Busy = func() bool { return busy }
	s.run("read /w/a")
	busy = true
	if s.run("read /w/a") || s.run("fetch https://a.example/") {
		t.Error("given")
	}
	busy = false
	if !s.run("read /w/a") || s.run("fetch https://a.example/") {
		t.Error("kept meanwhile, or dropped")
	}
	for _, ends := range []bool{false, true} {
		busy = ends
		s.inner.do = func(context.Context, *executors.Call, *executors.Result) error { busy = !ends; return nil }
		s.run(fmt.Sprint("read /w/", ends))
		s.inner.do, busy = nil, false
		if s.run(fmt.Sprint("read /w/", ends)) {
			t.Errorf("a result was cached, want none (ends %t)", ends)
		}
	}
}

// A read is not stored if a call that may change its file ran at the same time,
// whichever of them began or ended first.
func TestBeside(t *testing.T) {
	for name, order := range map[string][]string{
		"inside":     {"read", "edit", "edit ends", "read ends"},
		"around":     {"edit", "read", "read ends", "edit ends"},
		"ends later": {"read", "edit", "read ends", "edit ends"},
		"was first":  {"edit", "read", "edit ends", "read ends"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := start(t, nil)
				gates := map[string]chan struct{}{"read": make(chan struct{}), "edit": make(chan struct{})}
				s.inner.do = func(_ context.Context, call *executors.Call, _ *executors.Result) error {
					<-gates[call.Tool]
					return nil
				}
				var running sync.WaitGroup
				for _, step := range order {
					if tool, ends := strings.CutSuffix(step, " ends"); ends {
						close(gates[tool])
					} else {
						running.Go(func() { _, _ = s.chain.Execute(t.Context(), newCall(tool+" /w/a")) })
					}
					synctest.Wait()
				}
				running.Wait()
				if s.run("read /w/a") {
					t.Error("kept")
				}
				if !s.run("read /w/a") {
					t.Error("not kept any more")
				}
			})
		})
	}
}

// No result is returned while a mutating call runs.
func TestNotGivenMeanwhile(t *testing.T) {
	s := start(t, nil)
	s.run("fetch https://a.example/")
	s.inner.do = func(_ context.Context, call *executors.Call, _ *executors.Result) error {
		if call.Tool == "bash" && s.run("fetch https://a.example/") {
			t.Error("given")
		}
		return nil
	}
	s.run("bash")
	if !s.run("fetch https://a.example/") {
		t.Error("not given afterwards")
	}
}

func TestCancelled(t *testing.T) {
	s := start(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	s.inner.do = func(context.Context, *executors.Call, *executors.Result) error { cancel(); return nil }
	if _, err := s.chain.Execute(ctx, newCall("read /w/a")); err != nil {
		t.Fatal(err)
	}
	stop := errors.New("stop")
	s.inner.do = func(context.Context, *executors.Call, *executors.Result) error { return stop }
	if _, err := s.chain.Execute(t.Context(), newCall("read /w/a")); !errors.Is(err, stop) {
		t.Fatal(err)
	}
	s.inner.do = nil
	if s.run("read /w/a") {
		t.Error("kept")
	}
}

// A call that panics releases everything that it held.
func TestPanics(t *testing.T) {
	s := start(t, nil)
	s.inner.do = func(context.Context, *executors.Call, *executors.Result) error { panic("tool") }
	func() {
		defer func() { _ = recover() }()
		s.run("edit /w/a")
	}()
	s.inner.do = nil
	if s.run("read /w/a") || !s.run("read /w/a") {
		t.Error("not kept any more")
	}
}

// The cache stays within its limits and keeps the entry used last.
func TestBounds(t *testing.T) {
	s := start(t, nil)
	for i := range 2 * maxEntries {
		s.run(fmt.Sprint("read /w/", i))
		if i > 0 && !s.run("read /w/0") {
			t.Fatalf("%d: the one in use is gone", i)
		}
	}
	if got := s.cache.Stats(); got.Entries != maxEntries {
		t.Errorf("got %+v, want %d entries", got, maxEntries)
	}
	s.inner.do = func(_ context.Context, _ *executors.Call, res *executors.Result) error {
		res.Text = strings.Repeat("x", maxEntry/2)
		return nil
	}
	for i := range 64 {
		s.run(fmt.Sprint("read /w/large/", i))
	}
	if got := s.cache.Stats(); got.Bytes > maxBytes || got.Bytes < maxBytes-maxEntry {
		t.Errorf("got %+v, want %d to %d bytes", got, maxBytes-maxEntry, maxBytes)
	}
	s.cache.Clear()
	if s.cache.bytes != 0 || s.cache.recent.Len() != 0 || len(s.cache.entries) != 0 {
		t.Errorf("after Clear: %d bytes, %d in use", s.cache.bytes, s.cache.recent.Len())
	}
}

// The statistics stay correct under concurrent calls.
func TestConcurrent(t *testing.T) {
	s := start(t, nil)
	var running sync.WaitGroup
	for i := range 8 {
		running.Go(func() {
			for n := range 200 {
				spec := fmt.Sprintf("read /w/%d", n%7)
				switch {
				case i == 0 && n%5 == 0:
					spec = fmt.Sprintf("edit /w/%d", n%7)
				case i == 1 && n%50 == 0:
					s.cache.Clear()
				}
				if _, err := s.chain.Execute(t.Context(), newCall(spec)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	running.Wait()
	total := 0
	for _, at := range s.cache.entries {
		total += at.Value.(*entry).size
	}
	if s.cache.mutating != 0 || total != s.cache.bytes || len(s.cache.entries) != s.cache.recent.Len() {
		t.Errorf("%d mutate, %d bytes of %d, %d entries of %d", s.cache.mutating, s.cache.bytes, total, len(s.cache.entries), s.cache.recent.Len())
	}
}

func TestConfig(t *testing.T) {
	for ttl, ok := range map[int]bool{0: true, 1: true, 300: true, 1 << 30: true, -1: false, 1<<30 + 1: false} {
		if got := len(setting.Check(Config{TTLSecs: ttl})) == 0; got != ok {
			t.Errorf("ttl_secs %d: fine %t", ttl, got)
		}
	}
	for name, tt := range map[string]struct {
		ours, repo, want Config
		ignored          []string
	}{
		"off":     {Config{true, 300}, Config{false, 300}, Config{false, 300}, nil},
		"on":      {Config{false, 300}, Config{true, 300}, Config{false, 300}, []string{"enabled"}},
		"shorter": {Config{true, 300}, Config{true, 10}, Config{true, 10}, nil},
		"longer":  {Config{true, 300}, Config{true, 301}, Config{true, 300}, []string{"ttl_secs"}},
		"endless": {Config{true, 300}, Config{true, 0}, Config{true, 300}, []string{"ttl_secs"}},
		"bounded": {Config{true, 0}, Config{true, 10}, Config{true, 10}, nil},
	} {
		got, ignored := setting.Tighten(tt.ours, tt.repo, setting.Paths[Config]()...)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
		if diff := cmp.Diff(tt.ignored, ignored); diff != "" {
			t.Errorf("%s: ignored (-want +got)\n%s", name, diff)
		}
	}
}

func BenchmarkHit(b *testing.B) {
	s := start(b, nil)
	call := newCall("read /w/a")
	call.Input = json.RawMessage(`{"path": "internal/server/handler.go", "offset": 120, "limit": 80}`)
	if _, err := s.chain.Execute(b.Context(), call); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.chain.Execute(b.Context(), call); err != nil || !call.Record.Cached {
			b.Fatal(err)
		}
	}
}
