package logs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/strategy/strategytest"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

func TestNormal(t *testing.T) {
	for name, tt := range map[string]struct {
		strict, loose bool // whether the texts are equal
		a, b          string
	}{
		"iso":               {true, true, "2026-11-21T03:12:01Z x", "2026-11-22T13:00:59.123Z x"},
		"iso, offset":       {true, true, "2026-11-21 03:12:01,123 x", "2026-11-21 03:12:02,4 x"},
		"syslog":            {true, true, "Nov  1 03:12:01 web app[12]: x", "Nov 21 03:12:01 web app[99123]: x"},
		"nginx":             {true, true, "[21/Nov/2026:03:12:01 +0000] x", "[01/Dec/2026:23:12:01 +0000] x"},
		"nginx error":       {true, true, "2026/11/21 03:12:01 [error] x", "2026/12/01 03:12:01 [error] x"},
		"klog":              {true, true, "I1121 03:12:01.123456 1 x.go:12] y", "I1121 13:12:01.1 1 x.go:12] y"},
		"klog, place":       {false, true, "I1121 03:12:01.123456 1 x.go:12] y", "I1121 03:12:01.123456 1 x.go:13] y"},
		"epoch":             {true, true, "1763694000.123 x", "1763694999 x"},
		"uptime":            {true, true, "[    1.345678] x", "[12345.678901] x"},
		"uuid":              {true, true, "id 0f8fad5b-d9cb-469f-a165-70867728950e x", "id 7c9e6679-7425-40de-944b-e07fc1f90ae7 x"},
		"address":           {true, true, "from 10.0.0.1:5432 x", "from 192.168.100.20:80 x"},
		"address 6":         {true, true, "from [fe80::1ff:fe23:4567:890a]:80 x", "from [2001:db8::1]:443 x"},
		"hardware":          {true, true, "aa:bb:cc:dd:ee:ff x", "00:11:22:33:44:55 x"},
		"pointer":           {true, true, "at 0x7ffdc0de12 x", "at 0x55aa00ff11 x"},
		"hash":              {true, true, "commit d0f631ca x", "commit 0012a3fa x"},
		"duration":          {false, true, "took 12ms", "took 1.5s"},
		"duration, µ":       {false, true, "took 12µs", "took 1.25ms"},
		"size":              {false, true, "read 12kB", "read 4MB"},
		"port":              {true, true, "port=8080 x", "port=9090 x"},
		"pid":               {true, true, "pid 12 x", "pid 4711 x"},
		"number":            {false, true, "order 55812 lost", "order 55813 lost"},
		"thread":            {false, true, "[pool-1] x", "[pool-12] x"},
		"word":              {false, false, "order lost", "order sent"},
		"word with letters": {false, false, "added face", "added bead"},
		"zero errors":       {false, false, "errors: 0", "errors: 3"},
		"status":            {false, false, `"GET /x HTTP/1.1" 200 12`, `"GET /x HTTP/1.1" 500 12`},
		"size as a status":  {false, true, `"GET /x HTTP/1.1" 200 523 "-"`, `"GET /x HTTP/1.1" 200 187 "-"`},
		"status, json":      {false, false, `{"statusCode":200}`, `{"statusCode":503}`},
		"level, json":       {false, false, `{"level":30}`, `{"level":50}`},
		"exit code":         {false, false, "exited with code 1", "exited with code 137"},
		"path":              {false, true, "main.c:12:5: x", "main.c:13:5: x"},
		"column":            {false, true, "main.c:12:5: x", "main.c:12:6: x"},
		"blanks":            {true, true, "a   b", "a\tb"},
	} {
		t.Run(name, func(t *testing.T) {
			if a, b := withColumns(tt.a), withColumns(tt.b); (a == b) != tt.strict {
				t.Errorf("with columns: %q and %q, want equal: %t", a, b, tt.strict)
			}
			if a, b := string(text.Normalize(nil, []byte(tt.a))), string(text.Normalize(nil, []byte(tt.b))); (a == b) != tt.loose {
				t.Errorf("loose: %q and %q, want equal: %t", a, b, tt.loose)
			}
		})
	}
}

// withColumns returns the normalised text of a line and the texts of its columns, apart from ids.
func withColumns(line string) string {
	key, columns := text.NormalizeColumns(nil, []byte(line), nil)
	for _, c := range columns {
		if c.Kind == text.ID {
			continue
		}
		key = append(append(key, '|'), line[c.Start:c.End]...)
	}
	return string(key)
}

func TestStamped(t *testing.T) {
	for line, want := range map[string]bool{
		"[    1.345678] usb 1-1: new":     true,
		"[0] retry 3.":                    false, // no digit after the point
		"2026-11-21T03:12:01Z x":          true,
		"1763694000 x":                    true,
		`{"time":1,"msg":"x"}`:            true,
		"Nov 21 03:12:01 web app[12]: x":  true,
		"took 12 s, 03:12 in all, so far": false,
	} {
		if got := beginsWithTime([]byte(line)); got != want {
			t.Errorf("beginsWithTime(%q) = %t, want %t", line, got, want)
		}
	}
}

func TestDedup(t *testing.T) {
	pad := strings.Repeat("pad\n", 100) // makes a log long
	epochs := ""
	for i, s := range strings.Fields("2.5/12ms 2.5/12ms 2.5/12ms 0.88/12ms 2.5/12ms 9.71/3ms 2.5/1.5s 2.5/12ms 2.5/12ms") {
		loss, took, _ := strings.Cut(s, "/")
		epochs += fmt.Sprintf("03:00:0%d epoch %d: loss=%s took %s\n", i+1, i+1, loss, took)
	}
	for name, tt := range map[string]struct {
		parameters, in, want string
		confidence           strategy.Confidence
	}{
		"times and addresses": {``, `2024-01-15T12:00:01Z INFO request handled path=/api/health
2024-01-15T12:00:02Z INFO request handled path=/api/health
2024-01-15T12:00:03Z INFO request handled path=/api/health
2024-01-15T12:00:04Z WARN connection timeout addr=192.168.1.1
2024-01-15T12:00:05Z WARN connection timeout addr=10.0.0.1
2024-01-15T12:00:06Z ERROR database unreachable
`, `2024-01-15T12:00:01Z INFO request handled path=/api/health (x3) … 12:00:03
2024-01-15T12:00:04Z WARN connection timeout addr=192.168.1.1
2024-01-15T12:00:05Z WARN connection timeout addr=10.0.0.1
2024-01-15T12:00:06Z ERROR database unreachable
4 unique patterns (6 total lines)
`, strategy.Full},
		"other ids are similar": {``, pad +
			"12:00:01 app[1]: WARN no answer from 10.0.0.1:99\n12:00:02 app[2]: WARN no answer from 10.0.0.1:99\n" +
			"12:00:03 free 0x7ffdc0de12\n12:00:04 free 0x55aa00ff11\n12:00:05 job 7c9e6679-7425-40de-944b-e07fc1f90ae7\n" +
			"12:00:06 job 0f8fad5b-d9cb-469f-a165-70867728950e\n12:00:07 pid=7 port=80\n12:00:08 pid=8 port=81\n" +
			"12:00:09 at 20261121T031201Z\n12:00:09 at 20261121T031202Z\n",
			"pad (x100)\n12:00:01 app[1]: WARN no answer from 10.0.0.1:99 (x2) … 12:00:02\n" +
				"12:00:03 free 0x7ffdc0de12 (2 similar) … 12:00:04\n12:00:05 job 7c9e6679-7425-40de-944b-e07fc1f90ae7 (2 similar) … 12:00:06\n" +
				"12:00:07 pid=7 port=80 (2 similar) … 12:00:08\n12:00:09 at 20261121T031201Z (x2)\n6 unique patterns (110 total lines)\n", strategy.Full},
		"ranges of addresses": {``, pad + "[    0.000000] e820: [mem 0x0000000000000000-0x000000000009fbff] usable\n" +
			"[    0.000000] e820: [mem 0x0000000000100000-0x00000000bfffffff] usable\n",
			"pad (x100)\n[    0.000000] e820: [mem 0x0000000000000000-0x000000000009fbff] usable\n" +
				"[    0.000000] e820: [mem 0x0000000000100000-0x00000000bfffffff] usable\n3 unique patterns (102 total lines)\n", strategy.Full},
		"short, interleaved": {``, "a\nb\na\nb\na\n", "a\nb\na\nb\na\n", strategy.Fallback},
		"few numbers":        {``, pad + "a 1\nb 1\na 2\na 2\nb 1\n", "pad (x100)\na 1\nb 1 (x2)\na 2 (x2)\n4 unique patterns (105 total lines)\n", strategy.Full},
		"numbers": {``, pad + epochs, "pad (x100)\n" +
			"03:00:01 epoch 1: loss=2.5 took 12ms (9 similar: epoch 1…9, loss 0.88…9.71, took 3ms…1.5s) … 03:00:09\n" +
			"03:00:04 epoch 4: loss=0.88 took 12ms [min loss]\n03:00:06 epoch 6: loss=9.71 took 3ms [max loss, min took]\n" +
			"03:00:07 epoch 7: loss=2.5 took 1.5s [max took]\n03:00:09 epoch 9: loss=2.5 took 12ms [last]\n" +
			"2 unique patterns (109 total lines)\n", strategy.Full},
		"short, numbers": {``, epochs, epochs, strategy.Fallback},
		"all different":  {``, "a\nb\nc\nd\n", "a\nb\nc\nd\n", strategy.Fallback},
		"too few":        {``, "a\na\n", "a\na\n", strategy.Fallback},
		"errors differ by numbers": {``, pad + "03:00:01 error: order 1 lost\n03:00:01 error: order 2 lost\n03:00:01 error: order 1 lost\n",
			"pad (x100)\n03:00:01 error: order 1 lost (x2)\n03:00:01 error: order 2 lost\n3 unique patterns (103 total lines)\n", strategy.Full},
		"many errors": {``, pad + strategytest.NumberedAs("03:00:01 error: order %d lost\n", 1, 30),
			"pad (x100)\n" + strategytest.NumberedAs("03:00:01 error: order %d lost\n", 1, 8) +
				"... (22 similar: order 1…30) ...\n03:00:01 error: order 30 lost [last]\n9 unique patterns (130 total lines)\n", strategy.Full},
		"a pattern": {`normalize_patterns = ["user=\\w+"]`, "user=a in\nuser=b in\nuser=c in\n",
			"user=a in (x3)\n1 unique pattern (3 total lines)\n", strategy.Full},
		"a pattern and what stands for it": {`normalize_patterns = [{ pattern = "user=\\w+", replacement = "user=<U>" }]`, "user=a in\nuser=b in\nuser=c in\n",
			"user=a in (x3)\n1 unique pattern (3 total lines)\n", strategy.Full},
		"too many": {`max_unique_patterns = 2`, pad + "b\npad\nc\npad\nd\n",
			"pad (x102)\nb\nc\nd\n2 unique patterns (105 total lines) (capped at 2)\n", strategy.Partial},
		"a stack trace stays with its line": {``, pad +
			"2026-11-21 03:00:00 INFO ok\n2026-11-21 03:00:01 ERROR no\njava.lang.X: y\n\tat a.b(C.java:1)\nCaused by: z\n\tat d.e(F.java:2)\n\t... 3 more\n" +
			"2026-11-21 03:00:02 INFO ok\n2026-11-21 03:00:03 ERROR no\njava.lang.X: y\n\tat a.b(C.java:1)\nCaused by: z\n\tat d.e(F.java:2)\n\t... 3 more\n",
			"pad (x100)\n2026-11-21 03:00:00 INFO ok (x2) … 03:00:02\n2026-11-21 03:00:01 ERROR no (x2) … 03:00:03\njava.lang.X: y\n\tat a.b(C.java:1)\nCaused by: z\n\tat " +
				"d.e(F.java:2)\n\t... 3 more\n3 unique patterns (114 total lines)\n", strategy.Full},
		"another date": {``, "2026-11-21 23:00:00 a\n2026-11-22 00:00:00 a\n2026-11-22 01:00:00 a\n",
			"2026-11-21 23:00:00 a (x3) … 2026-11-22 01:00:00\n1 unique pattern (3 total lines)\n", strategy.Full},
		"time since boot": {``, "[    1.000000] a\n[    2.000000] a\n[   12.500000] a\n",
			"[    1.000000] a (x3) … 12.500000\n1 unique pattern (3 total lines)\n", strategy.Full},
		"of a log only": {`only = '^\w+ \| '`,
			" Container a Started\n Container b Started\na | x\na | x\nb | y\nb exited with code 1\na | x\n",
			" Container a Started\n Container b Started\na | x (x2)\nb | y\nb exited with code 1\na | x\n" +
				"3 unique patterns (4 total lines)\n", strategy.Full},
		"no log": {`only = '^\w+ \| '`, "a 1\na 2\na 3\na 4\n", "a 1\na 2\na 3\na 4\n", strategy.Full},
		"what is near an error without a time": {``, pad + "error: y\n4 | code\n5 | code\n",
			"pad (x100)\nerror: y\n4 | code\n5 | code\n4 unique patterns (103 total lines)\n", strategy.Full},
	} {
		t.Run(name, func(t *testing.T) {
			s := strategytest.Make(t, Strategies["dedup"], tt.parameters)
			got, confidence := strategytest.Filter(t, s, strategy.Run{}, tt.in)
			if got != tt.want || confidence != tt.confidence {
				t.Errorf("%s:\n%s\nwant %s:\n%s", confidence, got, tt.confidence, tt.want)
			}
			if again, _ := strategytest.Filter(t, s, strategy.Run{}, got); again != got {
				t.Errorf("filtered again, the result became\n%s", again)
			}
		})
	}
}

// The middle of a long record goes: of a line that reports no error, and the
// library's frames of a stack trace.
func TestDedupLongRecord(t *testing.T) {
	long := "2026-11-21 03:00:02 INFO payload " + strings.Repeat("x", 2000) + " end"
	in := strings.Repeat("2026-11-21 03:00:00 INFO ok\n", 9) + long + "\n2026-11-21 03:00:03 ERROR no\njava.lang.X: y\n" +
		strategytest.NumberedAs("\tat own.a.B.c%d(B.java:1)\n", 1, 4) + strategytest.NumberedAs("\tat org.springframework.X.y%d(X.java:1)\n", 1,
		30) + "\tat own.d.E.f(E.java:9)\n" +
		strategytest.NumberedAs("\tat java.lang.Thread.run%d(Thread.java:1)\n", 1, 3)
	got, _ := strategytest.Filter(t, strategytest.Make(t, Strategies["dedup"], ""), strategy.Run{}, in)
	for _, want := range []string{"INFO payload xxx", "bytes omitted) ... xxx", "xxx end", "own.a.B.c4", "... (30 lines omitted) ...\n\tat own.d.E.f",
		"Thread.run3"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in the result", want)
		}
	}
	if strings.Contains(got, "springframework") || len(got) > 2000 || t.Failed() {
		t.Errorf("%d bytes, want at most 2000 without lines of springframework:\n%s", len(got), got)
	}
}

func TestDedupParameters(t *testing.T) {
	for parameters, want := range map[string]string{
		`max_unique_patterns = 0`:                                      "max_unique_patterns",
		`max_unique_patterns = "x"`:                                    "max_unique_patterns",
		`normalize_patterns = ["("]`:                                   "normalize_patterns",
		`normalize_patterns = [1]`:                                     "normalize_patterns",
		`normalize_patterns = [{ replacement = "x" }]`:                 "pattern",
		`normalize_patterns = [{ pattern = "x", replacement = "$1" }]`: "$$",
		`normalize_patterns = [{ pattern = "x", with = "y" }]`:         `unknown key "with"`,
		`normalize_patterns = ["` + strings.Repeat("x", 513) + `"]`:    "513",
		`max = 3`:    `unknown key "max"`,
		`only = "("`: "only",
	} {
		if _, err := strategytest.Build(Strategies["dedup"], parameters); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", parameters, err, want)
		}
	}
}

// TestDedupKeepsRare looks for one line of each kind among thousands of others.
func TestDedupKeepsRare(t *testing.T) {
	rare := []string{
		"2026-11-21 03:10:00 INFO  config reloaded from /etc/app.toml",
		"2026-11-21 03:10:01 WARN  queue is 93% full",
		"2026-11-21 03:10:02 ERROR payment 4711 rejected: insufficient funds",
		"2026-11-21 03:10:03 INFO  leader changed to node-b",
		"Segmentation fault (core dumped)",
	}
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, "2026-11-21 %02d:%02d:%02d INFO  user %s did thing %d in %dms\n", i/3600, i/60%60, i%60,
			[]string{"ann", "bob", "cyd", "dan", "eve", "flo", "gus", "hal", "ida", "jon", "kim", "leo"}[i%12], i, i%977)
		if i%4000 == 2000 {
			b.WriteString(rare[i/4000] + "\n")
		}
	}
	got, _ := strategytest.Filter(t, strategytest.Make(t, Strategies["dedup"], ""), strategy.Run{}, b.String())
	for _, line := range rare {
		if !strings.Contains(got, line) {
			t.Errorf("lost %q", line)
		}
	}
	if len(got) > 4500 { // of twelve users the least, the greatest and the last
		t.Errorf("%d bytes are left:\n%s", len(got), got)
	}
}

func FuzzDedup(f *testing.F) {
	for _, root := range strategytest.SampleDirs("../testdata/samples") {
		paths, _ := filepath.Glob(filepath.Join(root, "log-dedup", "*", "output"))
		for _, path := range paths {
			if b, err := os.ReadFile(path); err == nil {
				f.Add(string(b[:min(len(b), 4000)]))
			}
		}
	}
	f.Add("a 1\na 2\na 3\n2 unique patterns (3 total lines)\na 4\n")
	f.Add("Traceback (most recent call last):\n  x\nE: y\n\nDuring handling of the above exception\n")
	f.Add("goroutine 1 [running]:\nx\n\ngoroutine 2 [x]:\n")
	f.Fuzz(func(t *testing.T, text string) {
		strategytest.Check(t, strategytest.Make(t, Strategies["dedup"], "max_unique_patterns = 50"), text)
	})
}

func BenchmarkDedup(b *testing.B) {
	var text []byte
	for i := 0; len(text) < 10<<20; i++ {
		switch i % 4 {
		case 0:
			text = fmt.Appendf(text, "Nov 21 %02d:%02d:%02d web01 nginx[%d]: 10.0.%d.%d - - \"GET /healthz HTTP/1.1\" 200 2\n", i/3600%24, i/60%60, i%60, i%9999, i%9,
				i%255)
		case 1:
			text = fmt.Appendf(text, "Nov 21 %02d:%02d:%02d web01 app[2211]: level=info msg=\"request done\" id=%016x ms=%d\n", i/3600%24, i/60%60, i%60, i*7919, i%977)
		case 2:
			text = fmt.Appendf(text, "2026-11-21 %02d:%02d:%02d,%03d INFO  [pool-%d] c.e.shop.CartService - cart %08x saved\n", i/3600%24, i/60%60, i%60, i%1000,
				i%12, i*7919)
		case 3:
			text = fmt.Appendf(text, "{\"level\":30,\"time\":%d,\"pid\":17,\"req\":{\"id\":\"%08x-ad4b-b0db-463c-e9e9b7e94763\",\"method\":\"GET\",\"url\":\"/users/%d\"},\"res\":{\"statusCode\":200},\"msg\":\"request completed\"}\n", 1763694000000+i, i*7919, i%999)
		}
	}
	strategytest.Benchmark(b, strategytest.Make(b, Strategies["dedup"], ""), strategy.Run{}, text)
}

// Records that differ in a name keep the names: their range if they differ in a number, or else a list with
// the number of those that it lacks.
func TestDedupNames(t *testing.T) {
	var numbered, named strings.Builder
	for i := range 120 {
		fmt.Fprintf(&numbered, "12:00:%02d INFO served /items/%d to web-%d\n", i%60, 30+i*7%120, 1+i%3)
		if i < 110 {
			fmt.Fprintf(&named, "12:00:%02d INFO installed lib%c%c\n", i%60, 'a'+i/20, 'a'+i%20)
		}
	}
	var arguments strings.Builder
	for i := range 100 {
		fmt.Fprintf(&arguments, "[    0.31%04d]   --part.%c%c\n", i, 'a'+i/20, 'a'+i%20)
	}
	for name, tt := range map[string]struct{ in, want string }{
		"nothing in common": {arguments.String(), arguments.String()},
		"numbered": {numbered.String(), "12:00:00 INFO served /items/30 to web-1 (120 similar: /items/30…/items/149, web-1…web-3) … 12:00:59\n" +
			"12:00:59 INFO served /items/143 to web-3 [last]\n1 unique pattern (120 total lines)\n"},
		"listed": {named.String(), "12:00:00 INFO installed libaa (110 similar: libab, libac, libad, libae, libaf, libag, libah, libai, libaj … libfj, " +
			"over 90 more names) … 12:00:49\n1 unique pattern (110 total lines)\n"},
		"a few listed": {strings.Repeat("12:00:00 INFO pad\n", 100) + strings.Join(strings.SplitAfter(named.String(), "\n")[:41], ""),
			"12:00:00 INFO pad (x100)\n12:00:00 INFO installed libaa (41 similar: libab, libac, libad, libae, libaf, libag, libah, libai, libaj … libca, " +
				"30 more names) … 12:00:40\n2 unique patterns (141 total lines)\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s := strategytest.Make(t, Strategies["dedup"], "")
			if got, _ := strategytest.Filter(t, s, strategy.Run{}, tt.in); got != tt.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.want)
			}
		})
	}
}
