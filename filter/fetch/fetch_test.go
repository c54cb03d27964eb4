package fetch

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/strategy/strategytest"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

const verbose = `  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current
                                 Dload  Upload   Total   Spent    Left  Speed
  0     0    0     0    0     0      0      0 --:--:-- --:--:-- --:--:--     0* Host api.example.test:443 was resolved.
*   Trying 192.0.2.7:443...
* Connected to api.example.test (192.0.2.7) port 443
* ALPN: curl offers h2,http/1.1
} [5 bytes data]
* TLSv1.3 (OUT), TLS handshake, Client hello (1):
* SSL certificate verify ok.
> GET /me HTTP/2
> Host: api.example.test
> User-Agent: curl/8.5.0
> Accept: */*
> X-Request: 1
>
< HTTP/2 401
< date: Sat, 21 Nov 2026 03:12:01 GMT
< content-type: application/json
< www-authenticate: Bearer error="invalid_token"
<
{ [42 bytes data]
100    42  100    42    0     0    310      0 --:--:-- --:--:-- --:--:--   311
{"error":"invalid_token","hint":"log in"}
* Connection #0 to host api.example.test left intact
`

func TestFetch(t *testing.T) {
	var html strings.Builder
	html.WriteString("HTTP/1.1 200 OK\nServer: x\nContent-Type: text/html\nETag: \"1\"\n\n<html>\n")
	for i := range 400 {
		fmt.Fprintf(&html, "<p>%d</p>\n", i)
	}
	html.WriteString("<p>Fatal error: Uncaught X</p>\n")
	for i := range 400 {
		fmt.Fprintf(&html, "<p>%d</p>\n", i)
	}
	html.WriteString("</html>\n")
	var items []map[string]any
	for i := range 50 {
		item := map[string]any{"id": i, "title": fmt.Sprint("a title ", strings.Repeat("x", i)), "state": "open", "labels": []string{"bug"}, "closed": nil}
		if i == 31 {
			item["state"] = "merged"
		}
		if i == 35 {
			item["id"] = -35
		}
		if i == 40 {
			item["closed"] = "2026-11-21"
		}
		items = append(items, item)
	}
	one, _ := json.Marshal(map[string]any{"total": 50, "items": items})
	wget := "--2026-11-21 03:12:01--  https://example.test/a.tgz\nResolving example.test (example.test)... 192.0.2.7\nConnecting to example.test " +
		"(example.test)|192.0.2.7|:443... connected.\nHTTP request sent, awaiting response... 200 OK\nLength: 300000 (293K) [application/x-tgz]\nSaving to: " +
		"‘a.tgz’\n\n     0K .......... .......... .......... .......... .......... 17% 1.21M 0s\n    50K .......... .......... .......... .......... " +
		".......... 34% 2.41M 0s\n\n2026-11-21 03:12:02 (2.1 MB/s) - ‘a.tgz’ saved [300000/300000]\n"
	pretty, _ := json.MarshalIndent(items, "", " ")
	var lines strings.Builder
	for _, item := range items {
		line, _ := json.Marshal(item)
		lines.Write(append(line, '\n'))
	}
	at := strings.Index(string(pretty), `"title": "a title xxxxxxxxxxxxxxxxxxxxx"`) // where the progress overwrites it
	broken := string(pretty[:at]) + "\r100 14309  100 14309    0     0  1008k      0 --:--:-- --:--:-- --:--:-- 1074k\n" + string(pretty[at+20:]) + "\n"
	for name, tt := range map[string]struct {
		in         string
		exit       int
		want, gone []string
	}{
		"items, broken": {broken, 0,
			[]string{`"id": 0`, `"state": "merged"`, `"id": 31`, `"id": -35`, `"closed": "2026-11-21"`, `"id": 40`, `"id": 49`, "similar items omitted", "100 14309"},
			[]string{`"id": 20,`, `"id": 45,`}},
		"items, a line each": {lines.String(), 0, []string{`"id":0`, `"state":"merged"`, `"id":-35`, `"closed":"2026-11-21"`, `"id":49`, "similar items omitted"},
			[]string{`"id":20,`}},
		"source code": {strategytest.Numbered(1, 400), 0, []string{"line 200\n"}, []string{"omitted"}},
		"verbose": {verbose, 0,
			[]string{"* Connected to", "> GET /me HTTP/2", "> X-Request: 1", "< HTTP/2 401", "< www-authenticate", `{"error":"invalid_token"`},
			[]string{"Dload", "ALPN", "User-Agent", "[5 bytes data]", "Trying"}},
		"a page in one line": {"<!DOCTYPE html><html><head><title>Error 500</title><STYLE>" + strings.Repeat("b{c:d}",
			2000) + "</STYLE></head><body><h1>Internal Server Error</h1>" + strings.Repeat("<p>text</p>",
			900) + "<pre>NullPointerException at Cart.java:12</pre>" + strings.Repeat("<p>text</p>", 900) + "<script src=\"/a.js\">" + strings.Repeat("var a=1;",
			3000) + "</script></body></html>\n", 0,
			[]string{"Error 500", "(12000 bytes)", "<h1>Internal Server Error</h1>", "NullPointerException at Cart.java:12", "src=\"/a.js\"", "</html>"},
			[]string{"b{c:d}", "var a"}},
		"headers and a page": {html.String(), 0,
			[]string{"HTTP/1.1 200 OK", "Content-Type: text/html", "<p>0</p>", "Fatal error: Uncaught X", "</html>", "lines omitted"}, []string{"ETag", "Server"}},
		"items": {string(one) + "\n", 0,
			[]string{`"total":50`, `"id":0`, `"state":"merged"`, `"id":-35`, `"closed":"2026-11-21"`, `"id":49`, "similar items omitted"}, []string{`"id":20`}},
		"wget":         {wget, 0, []string{"--2026", "200 OK", "Length: 300000", "saved [300000/300000]"}, []string{"Resolving", "17%"}},
		"no such host": {"curl: (6) Could not resolve host: x.test\n", 6, []string{"curl: (6) Could not resolve host: x.test"}, nil},
		"wget fails": {"--2026-11-21 03:12:01--  http://x.test/\nResolving x.test (x.test)... failed: Name or service not known.\nwget: unable to " +
			"resolve host address ‘x.test’\n", 4, []string{"Resolving x.test (x.test)... failed", "wget: unable"}, nil},
		"progress and body": {"  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current\n                                 Dload  Upload  " +
			" Total   Spent    Left  Speed\n100  1270  100  1270    0     0   8000      0 --:--:-- --:--:-- --:--:--  8037<!doctype html>\n<p>\n", 0,
			[]string{"<!doctype html>", "<p>"}, []string{"Dload"}},
		"refused, verbose": {"*   Trying 127.0.0.1:1...\n* connect to 127.0.0.1 port 1 from 127.0.0.1 port 4 failed: Connection refused\n* Failed to connect " +
			"to localhost port 1 after 0 ms: Couldn't connect to server\n* Closing connection\ncurl: (7) Failed to connect to localhost port 1\n", 7,
			[]string{"* connect to 127.0.0.1 port 1 from 127.0.0.1 port 4 failed: Connection refused", "curl: (7)"}, []string{"Trying"}},
		"a log": {"12:00:01 x\nkey: value\n", 0, []string{"12:00:01 x", "key: value"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := strategytest.Make(t, Strategies["fetch"], "")
			run := strategy.Run{Command: "curl x", Exit: tt.exit}
			got := strategytest.Pass(t, s, run, string(text.Sanitize([]byte(tt.in))))
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
			for _, gone := range tt.gone {
				if strings.Contains(got, gone) {
					t.Errorf("still %q in\n%s", gone, got)
				}
			}
			if again := strategytest.Pass(t, s, run, got); again != got {
				t.Errorf("filtered again, the result became\n%s", again)
			}
		})
	}
}

// A long list may be within the only item of another. Short lists within items
// stay whole.
func TestListWithinItem(t *testing.T) {
	var machines []map[string]any
	for i := range 60 {
		disks := make([]map[string]any, 9)
		for j := range disks {
			disks[j] = map[string]any{"disk": fmt.Sprint("d", j), "state": "ok"}
		}
		m := map[string]any{"id": fmt.Sprint("m-", i), "state": "running", "disks": disks}
		if i == 17 {
			m["state"] = "stopped"
		}
		machines = append(machines, m)
	}
	list, _ := json.MarshalIndent(map[string]any{"racks": []any{map[string]any{"machines": machines}}}, "", "  ")
	s := strategytest.Make(t, Strategies["json"], "")
	got := strategytest.Pass(t, s, strategy.Run{}, string(list))
	for _, want := range []string{`"m-0"`, `"m-17"`, `"stopped"`, "similar items omitted", `"d7"`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if strings.Contains(got, `"m-9"`) {
		t.Errorf("the list stayed:\n%s", got)
	}
	if again := strategytest.Pass(t, s, strategy.Run{}, got); again != got {
		t.Errorf("filtered again, the result became\n%s", again)
	}
}

func FuzzFetch(f *testing.F) {
	f.Add(verbose, 0)
	f.Add("[\n"+strings.Repeat(" {\n  \"a\": 1,\n  \"b\": \"x\"\n },\n", 30)+" {\n  \"a\": 2\n }\n", 0)
	f.Add("HTTP/1.1 404 Not Found\nServer: x\nDate: y\n\n"+strings.Repeat("<p>\n", 60), 22)
	f.Add("["+strings.Repeat(`{"a":1,"b":"x","c":[1,2]},`, 40)+`{"a":2}]`, 0)
	f.Add(" 49 28.6M   49 14.0M    0     0  11.8M      0  0:00:02  0:00:01  0:00:01 11.9M\n100 28.6M  100 28.6M    0     0  14.8M      0  0:00:01  0:00:01 "+
		"--:--:-- 14.8M\ncurl: (18) x\n", 18)
	f.Fuzz(func(t *testing.T, text string, exit int) {
		strategytest.Check(t, strategytest.Make(t, Strategies["fetch"], "max_lines = 20, max_bytes = 2000"), text)
	})
}

// FuzzFoldJSON checks that the rest of a JSON text stays as it is.
func FuzzFoldJSON(f *testing.F) {
	f.Add([]byte(strings.Repeat("{\"a\": {\"b\": 1}}\n", 40)))
	f.Add([]byte(`{"a":[` + strings.Repeat(`{"k":"v","n":[1,2,{"x":null}]},`, 30) + `{}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		short, ok := foldJSON(text)
		if ok && len(short) > len(text)+100 {
			t.Errorf("%q was folded to %q, which is longer", text, short)
		}
	})
}

func BenchmarkFetch(b *testing.B) {
	var items []map[string]any
	for i := range 5000 {
		items = append(items, map[string]any{"id": i, "title": fmt.Sprint("title ", i), "state": "open", "labels": []string{"bug"}, "closed": nil})
	}
	for name, indent := range map[string]string{"one line": "", "pretty": "  "} {
		text, _ := json.MarshalIndent(items, "", indent)
		b.Run(name, func(b *testing.B) {
			strategytest.Benchmark(b, strategytest.Make(b, Strategies["fetch"], ""), strategy.Run{Command: "curl x"}, text)
		})
	}
}

// The mark of items that are left out has the ranges of their numbers, but not of ids.
func TestRangesOfItems(t *testing.T) {
	var items []string
	for i := range 60 {
		items = append(items, fmt.Sprintf(`{"id": %d, "user_id": %d, "state": "open", "size": %d, "seconds": %.2f}`, i, i*7, 100+i*37%90, float64(i*11%70)-5))
	}
	got, ok := foldJSON([]byte("[" + strings.Join(items, ",\n") + "]"))
	if want := "... (57 similar items omitted: size 102…189, seconds -4.00…64.00) ..."; !ok || !strings.Contains(string(got), want) {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
