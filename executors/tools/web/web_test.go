package web

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// internet is a resolver and a network in which every address leads to one
// server on loopback. Addresses are checked as always.
type internet struct {
	mu     sync.Mutex
	names  map[string][]string // a name with its dot, to addresses
	errs   map[string]error
	looked []string
	dialed []string
}

// online returns a client whose internet is handler, under the names
// example.com and www.example.com.
func online(t testing.TB, handler http.HandlerFunc) (*client, *internet) {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	in := &internet{names: map[string][]string{
		"example.com.": {"93.184.215.14"}, "www.example.com.": {"93.184.215.14"},
	}, errs: map[string]error{}}
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	return &client{Config: setting.Default[Config](), net: network{
		lookup: func(_ context.Context, name string) ([]netip.Addr, error) {
			in.mu.Lock()
			defer in.mu.Unlock()
			in.looked = append(in.looked, name)
			if err := in.errs[name]; err != nil {
				return nil, err
			}
			addrs, ok := in.names[name]
			if !ok {
				return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
			}
			var out []netip.Addr
			for _, a := range addrs {
				out = append(out, netip.MustParseAddr(a))
			}
			return out, nil
		},
		dial: func(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
			in.mu.Lock()
			in.dialed = append(in.dialed, addr.String())
			in.mu.Unlock()
			return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
		},
		localNetworks: func() []netip.Prefix { return nil },
		roots:         roots,
	}}, in
}

// offline returns a client that must not reach its internet.
func offline(t testing.TB) (*client, *internet) {
	return online(t, func(http.ResponseWriter, *http.Request) { t.Error("the server was asked") })
}

// do makes a call as the chain does.
func do(t testing.TB, c *client, tool string, input any) executors.Result {
	t.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	chain := executors.Chain(tools(c), executors.Validate)
	call := &executors.Call{Tool: tool, Input: raw}
	if call.Card, err = chain.Prepare(t.Context(), call); err != nil {
		return executors.FailWith(err)
	}
	res, err := chain.Execute(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// get fetches a URL as a call of the model does.
func get(t testing.TB, c *client, url string) executors.Result {
	t.Helper()
	return do(t, c, "fetch", map[string]any{"url": url})
}

// write answers with a header, one field per line, and a body.
func write(header, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for _, line := range strings.Split(header, "\n") {
			if k, v, ok := strings.Cut(line, ": "); ok {
				w.Header().Set(k, v)
			}
		}
		w.Write([]byte(body))
	}
}

func TestFetch(t *testing.T) {
	for name, tt := range map[string]struct{ header, body, want string }{
		"html": {"Content-Type: text/html; charset=utf-8",
			`<html><head><title> A  page </title><style>x{}</style></head><body><nav>menu</nav><h2>Top</h2><p>Some <b>bold</b> text, <a href="/x?a=1#f">a link</a> and <a href="#here">none</a>.<script>evil()</script></p>
			<ul><li>one<li>two</ul><pre><code class="language-go">x := 1</code></pre><img src="data:image/png;base64,AAAA" alt="pic"><div hidden>secret</div><p style="display: none">orders</p></body></html>`,
			"# A page\n\n## Top\n\nSome **bold** text, [a link](https://example.com/x?a=1#f) and none.\n\n- one\n- two\n\n```go\nx := 1\n```"},
		"main alone":        {"Content-Type: text/html", `<body><header>site</header><main><h1>M</h1><p>text</p></main><footer>foot</footer>`, "# M\n\ntext"},
		"empty main":        {"Content-Type: text/html", `<body><main></main><p>text</p>`, "text"},
		"a table":           {"Content-Type: text/html", `<table><tr><th>a<th>b<tr><td>1<td>2</table>`, "| a | b |\n|---|---|\n| 1 | 2 |"},
		"base":              {"Content-Type: text/html", `<base href="/docs/"><a href="x">y</a>`, "[y](https://example.com/docs/x)"},
		"a script's link":   {"Content-Type: text/html", `<a href="javascript:x()">y</a>`, "y"},
		"json":              {"Content-Type: application/json", `{"a": [1,  2]}`, `{"a": [1,  2]}`},
		"json of a kind":    {"Content-Type: application/vnd.api+json; charset=utf-8", `{}`, `{}`},
		"text":              {"Content-Type: text/plain", "a <b> c\n\n d", "a <b> c\n\n d"},
		"latin 1":           {"Content-Type: text/plain; charset=iso-8859-1", "caf\xe9", "café"},
		"latin 1 unsaid":    {"Content-Type: text/plain", "caf\xe9", "café"},
		"shift_jis by meta": {"Content-Type: text/html", "<meta charset=shift_jis><p>\x93\xfa\x96\x7b", "日本"},
		"7 bits by header":  {"Content-Type: text/plain; charset=iso-2022-jp", "\x1b$BF|K\\\x1b(B", "日本"},
		"utf-16 by mark":    {"Content-Type: text/plain", "\xff\xfeh\x00\xe9\x00", "hé"},
		"utf-16 by header":  {"Content-Type: text/plain; charset=utf-16le", "h\x00\xe9\x00", "hé"},
		"utf-8 by mark":     {"Content-Type: text/html; charset=latin1", "\xef\xbb\xbf<p>é", "é"},
		"utf-8 after 1024":  {"Content-Type: text/html", strings.Repeat("<!--x-->", 200) + "<p>é日", "é日"},
		"broken utf-8":      {"Content-Type: text/plain; charset=utf-8", "a\xffb", "a\uFFFDb"},
		"unknown charset":   {"Content-Type: text/plain; charset=klingon", "abc", "abc"},
		"no type, html":     {"Content-Type: ", "<!DOCTYPE html><p>hi", "hi"},
		"too deep for a tree": {"Content-Type: text/html",
			strings.Repeat("<div>", 600) + "one <b>bold</b> <span>word</span><p>next</p><style>no</style><script>no</script>", "one bold word\nnext"},
		"a list too deep": {"Content-Type: text/html", strings.Repeat("<ul><li>", maxBlocks) + "last<ul><li>deeper",
			"- " + strings.Repeat("- ", maxBlocks-1) + "last\n" + strings.Repeat("  ", maxBlocks) + "\n" + strings.Repeat("  ", maxBlocks) + "deeper"},
		"a long link": {"Content-Type: text/html", "<a href=/" + strings.Repeat("x", maxAttribute) + ">y</a>", "y"},
		"no text":     {"Content-Type: text/html", "<script>x</script>", "(the page has no text)"},
		"nothing":     {"Content-Type: text/plain", "", "(the page has no text)"},
	} {
		t.Run(name, func(t *testing.T) {
			c, in := online(t, write(tt.header, tt.body))
			res := get(t, c, "https://example.com/")
			if res.Failed || res.ForModel() != tt.want {
				t.Errorf("got %q\nwant %q", res.ForModel(), tt.want)
			}
			if len(in.dialed) != 1 || in.dialed[0] != "93.184.215.14:443" {
				t.Errorf("dialed %q, want only 93.184.215.14:443", in.dialed)
			}
		})
	}
}

func TestScrape(t *testing.T) {
	const page = `<body><h1>T</h1><ul id=l class="a b"><li>one <b>1</b></li><li></li><li><a href="/2" title=x>two</a></li><li><a href="/3">three</a></li></ul><p>last</p>`
	for name, tt := range map[string]struct {
		selector, extract string
		limit             int
		want              string
	}{
		"text":               {"li", "", 0, "one 1\ntwo\nthree"},
		"empty do not count": {"li", "text", 2, "one 1\ntwo\n[stopped after 3 of 4 elements that match the selector: raise limit, or narrow select]"},
		"html": {"li", "html", 2,
			"one <b>1</b>\n<a href=\"/2\" title=\"x\">two</a>\n[stopped after 3 of 4 elements that match the selector: raise limit, or narrow select]"},
		"attribute":             {"a", "attr:href", 0, "/2\n/3"},
		"attribute in capitals": {"a", "attr:HREF", 1, "/2\n[stopped after 1 of 2 elements that match the selector: raise limit, or narrow select]"},
		"descendant":            {"body ul.a b", "", 0, "1"},
		"child":                 {"ul > li > a", "", 0, "two\nthree"},
		"child without":         {"body>a", "", 0, "No results for selector: body>a (0 elements match it)"},
		"sibling":               {"h1 ~ p", "", 0, "last"},
		"next":                  {"h1+ul>li:first-child", "", 0, "one 1"},
		"not next":              {"h1 + p", "", 0, "No results for selector: h1 + p (0 elements match it)"},
		"groups":                {"p, h1 , a[title]", "", 0, "T\ntwo\nlast"},
		"attribute quoted":      {`a[href="/3"]`, "", 0, "three"},
		"a comma in quotes":     {`li:contains("one 1"), a[href=", >"]`, "", 0, "one 1"},
		"has":                   {"li:has(a)", "", 0, "two\nthree"},
		"not":                   {"li:not(:empty)", "", 0, "one 1\ntwo\nthree"},
		"not simple":            {"a:not([title])", "", 0, "three"},
		"nth":                   {"li:nth-child(2n + 1)", "", 0, "one 1\ntwo"},
		"missing attribute":     {"li", "attr:href", 0, "No results for selector: li (4 elements match it)"},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := online(t, write("Content-Type: text/html", page))
			in := map[string]any{"url": "https://example.com/", "select": tt.selector}
			if tt.extract != "" {
				in["extract"] = tt.extract
			}
			if tt.limit > 0 {
				in["limit"] = tt.limit
			}
			if res := do(t, c, "web_scrape", in); res.Failed || res.ForModel() != tt.want {
				t.Errorf("got %q\nwant %q", res.ForModel(), tt.want)
			}
		})
	}
}

// Pseudo-classes are refused on a page where each element has so many siblings that they
// would take minutes.
func TestCostlyPseudoClasses(t *testing.T) {
	c, _ := online(t, write("Content-Type: text/html", "<div>"+strings.Repeat("<p>x", 10_000)))
	scrape := func(selector string) executors.Result {
		return do(t, c, "web_scrape", map[string]any{"url": "https://example.com/", "select": selector, "limit": 1})
	}
	if res := scrape("p:nth-last-child(2n)"); !res.Failed || !strings.Contains(res.ForModel(), "too large for them") {
		t.Errorf("got %s, want a failure with %q", res.ForModel(), "too large for them")
	}
	if res := scrape("p"); res.Failed {
		t.Errorf("without pseudo-classes: got %s, want success", res.ForModel())
	}
}

func TestUnfitScrape(t *testing.T) {
	c, in := offline(t)
	for name, input := range map[string]map[string]any{
		"no selector":    {},
		"empty":          {"select": ""},
		"spaces":         {"select": "  "},
		"bad":            {"select": "a["},
		"dangling":       {"select": "a >"},
		"leading":        {"select": "> a"},
		"two":            {"select": "a > > b"},
		"no group":       {"select": "a,,b"},
		"end comma":      {"select": "a,"},
		"element":        {"select": "a::before"},
		"search in part": {"select": "a:has(b c)"},
		"has in has":     {"select": "a:has(b:has(c))"},
		"not in not":     {"select": "a:not(:not(b))"},
		"long":           {"select": strings.Repeat("a", 501)},
		"many parts":     {"select": strings.Repeat("a ", 33)},
		"extract":        {"select": "a", "extract": "markdown"},
		"no attribute":   {"select": "a", "extract": "attr:"},
		"limit 0":        {"select": "a", "limit": 0},
		"limit":          {"select": "a", "limit": 1001},
		"limit text":     {"select": "a", "limit": "some"},
		"unknown":        {"selector": "b"},
	} {
		input["url"] = "https://example.com/"
		if res := do(t, c, "web_scrape", input); !res.Failed || !res.Category().Quality() {
			t.Errorf("%s: web_scrape(%v): got %s, want a failure for its input", name, input, res.ForModel())
		}
	}
	if len(in.looked) > 0 {
		t.Errorf("looked up %q before the input was checked", in.looked)
	}
}

func TestRefusedAnswers(t *testing.T) {
	gone := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
	}
	for name, tt := range map[string]struct {
		handler  http.HandlerFunc
		category executors.Category
		want     string
	}{
		"400":           {gone(400), executors.InvalidParameters, "400"},
		"401":           {gone(401), executors.PolicyBlocked, "login"},
		"403":           {gone(403), executors.PolicyBlocked, "403"},
		"404":           {gone(404), executors.PermanentFailure, "404 Not Found"},
		"410":           {gone(410), executors.PermanentFailure, "410"},
		"418":           {gone(418), executors.PermanentFailure, "418"},
		"422":           {gone(422), executors.InvalidParameters, "422"},
		"429":           {gone(429), executors.RateLimited, "429"},
		"500":           {gone(500), executors.ServerError, "500"},
		"503":           {gone(503), executors.ServerError, "503"},
		"304":           {gone(304), executors.PermanentFailure, "304"},
		"nowhere":       {gone(302), executors.PermanentFailure, "without an address"},
		"image":         {write("Content-Type: image/png", "x"), executors.PermanentFailure, `"image/png", not text`},
		"svg":           {write("Content-Type: image/svg+xml", "<svg>"), executors.PermanentFailure, "image/svg+xml"},
		"pdf":           {write("Content-Type: application/pdf; x", "x"), executors.PermanentFailure, "application/pdf"},
		"bytes":         {write("Content-Type: application/octet-stream", "x"), executors.PermanentFailure, "octet-stream"},
		"no type":       {write("Content-Type: ", "\x89PNG\r\n\x1a\n\x00"), executors.PermanentFailure, "binary"},
		"a zero first":  {write("Content-Type: text/plain", "\x00ab"), executors.PermanentFailure, "binary"},
		"a zero":        {write("Content-Type: text/plain", "a\x00b"), executors.PermanentFailure, "binary"},
		"large":         {write("Content-Type: text/plain", strings.Repeat("x", 1<<20+1)), executors.PermanentFailure, "larger than 1048576 bytes"},
		"large said":    {write("Content-Type: text/plain\nContent-Length: 2000000", ""), executors.PermanentFailure, "larger"},
		"bomb":          {bomb(50 << 20), executors.PermanentFailure, "larger than 1048576 bytes"},
		"endless empty": {emptyBlocks, executors.PermanentFailure, "larger"},
		"not gzip":      {write("Content-Type: text/plain\nContent-Encoding: gzip", "hello hello hello"), executors.PermanentFailure, "does not have the encoding"},
		"brotli":        {write("Content-Type: text/plain\nContent-Encoding: br", "x"), executors.PermanentFailure, `"br"`},
		"twice":         {write("Content-Type: text/plain\nContent-Encoding: gzip, gzip", "x"), executors.PermanentFailure, `"gzip, gzip"`},
		"headers":       {write("X-A: "+strings.Repeat("x", 70<<10), "x"), executors.NetworkError, "header"},
		"hangs up":      {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, executors.NetworkError, "did not answer"},
		"breaks off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			w.Header().Set("Content-Length", "10")
			w.Write([]byte("x"))
		}, executors.NetworkError, "broke off"},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := online(t, tt.handler)
			res := get(t, c, "https://example.com/")
			if res.Category() != tt.category || !strings.Contains(res.ForModel(), tt.want) || len(res.ForModel()) > 500 {
				t.Errorf("got %s, want %s with %q", res.ForModel(), tt.category, tt.want)
			}
			if res.Denied() {
				t.Errorf("a server's answer counts as our own denial: %s", res.ForModel())
			}
		})
	}
}

func TestLookup(t *testing.T) {
	for name, tt := range map[string]struct {
		addrs    []string
		err      error
		category executors.Category
		dialed   bool
	}{
		"public":           {addrs: []string{"93.184.215.14", "2606:2800:220:1:248:1893:25c8:1946"}, dialed: true},
		"mapped public":    {addrs: []string{"::ffff:93.184.215.14"}, dialed: true}, // as some resolvers give IPv4
		"nat64 public":     {addrs: []string{"64:ff9b::93.184.215.14"}, dialed: true},
		"none":             {addrs: []string{}, category: executors.PermanentFailure},
		"loopback":         {addrs: []string{"127.0.0.1"}, category: executors.PolicyBlocked},
		"one of two":       {addrs: []string{"93.184.215.14", "10.0.0.1"}, category: executors.PolicyBlocked},
		"fifth of five":    {addrs: []string{"1.1.1.1", "1.1.1.2", "1.1.1.3", "1.0.0.1", "::1"}, category: executors.PolicyBlocked},
		"mapped loopback":  {addrs: []string{"::ffff:127.0.0.1"}, category: executors.PolicyBlocked},
		"nat64 private":    {addrs: []string{"64:ff9b::10.0.0.1"}, category: executors.PolicyBlocked},
		"metadata":         {addrs: []string{"169.254.169.254"}, category: executors.PolicyBlocked},
		"unknown":          {err: &net.DNSError{Err: "no such host", IsNotFound: true}, category: executors.PermanentFailure},
		"resolver is down": {err: &net.DNSError{Err: "server misbehaving", IsTemporary: true}, category: executors.NetworkError},
		"some error":       {err: errors.New("boom"), category: executors.NetworkError},
	} {
		t.Run(name, func(t *testing.T) {
			c, in := online(t, write("Content-Type: text/plain", "hi"))
			in.names["example.com."], in.errs["example.com."] = tt.addrs, tt.err
			res := get(t, c, "https://example.com./")
			if res.Category() != tt.category || (len(in.dialed) > 0) != tt.dialed || len(in.looked) != 1 {
				t.Errorf("got %s, looked up %q, dialed %q; want category %q, one lookup, dialed %t", res.ForModel(), in.looked, in.dialed, tt.category, tt.dialed)
			}
		})
	}
}

// A name that resolves to a public address first, and to a private one later,
// is looked up only once.
func TestRebinding(t *testing.T) {
	c, in := online(t, write("Content-Type: text/plain", "hi"))
	lookup := c.net.lookup
	c.net.lookup = func(ctx context.Context, name string) ([]netip.Addr, error) {
		defer func() { in.names[name] = []string{"127.0.0.1"} }()
		return lookup(ctx, name)
	}
	if res := get(t, c, "https://example.com/"); res.ForModel() != "hi" || len(in.looked) != 1 || in.dialed[0] != "93.184.215.14:443" {
		t.Errorf("the first fetch: got %s, looked up %q, dialed %q; want the page after one lookup", res.ForModel(), in.looked, in.dialed)
	}
	if res := get(t, c, "https://example.com/"); res.Category() != executors.PolicyBlocked || len(in.dialed) != 1 {
		t.Errorf("the second fetch: got %s, dialed %q; want %s and no further connection", res.ForModel(), in.dialed, executors.PolicyBlocked)
	}
}

// The real dialer refuses the address itself.
func TestDialerChecks(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := system().dial(t.Context(), netip.MustParseAddrPort(l.Addr().String()))
	if err == nil {
		conn.Close()
		t.Fatal("dialed loopback")
	}
	if f, ok := errors.AsType[*executors.Failure](err); !ok || f.Category != executors.PolicyBlocked {
		t.Errorf("dial(%s): got %v, want a failure of category %s", l.Addr(), err, executors.PolicyBlocked)
	}
}

// A second address is tried if the first does not answer.
func TestNextAddress(t *testing.T) {
	c, in := online(t, write("Content-Type: text/plain", "hi"))
	in.names["example.com."] = []string{"2606:2800:220:1:248:1893:25c8:1946", "93.184.215.14"}
	dial := c.net.dial
	c.net.dial = func(ctx context.Context, a netip.AddrPort) (net.Conn, error) {
		if a.Addr().Is6() {
			return nil, errors.New("network is unreachable")
		}
		return dial(ctx, a)
	}
	if res := get(t, c, "https://example.com:8443/"); res.ForModel() != "hi" || in.dialed[0] != "93.184.215.14:8443" {
		t.Errorf("got %s, dialed %q; want the page from 93.184.215.14:8443", res.ForModel(), in.dialed)
	}
}

func TestCertificate(t *testing.T) {
	c, in := offline(t)
	in.names["other.org."] = []string{"93.184.215.14"}
	if res := get(t, c, "https://other.org/"); res.Category() != executors.PermanentFailure || !strings.Contains(res.ForModel(), "certificate") {
		t.Errorf(`get(t, c, "https://other.org/"): got %s, want the category %s and %q in it`, res.ForModel(), executors.PermanentFailure, "certificate")
	}
}

func TestRequest(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	var got []*http.Request
	c, _ := online(t, func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r)
		http.SetCookie(w, &http.Cookie{Name: "s", Value: "1"})
		if len(got) == 1 {
			http.Redirect(w, r, "https://www.example.com/b", http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "text/plain")
	})
	if res := get(t, c, "https://EXAMPLE.com:443/a?q=é&r=\"#frag"); res.Failed || len(got) != 2 {
		t.Fatalf("got %s, %v, want success and %v", res.ForModel(), len(got), 2)
	}
	if uri := got[0].RequestURI; uri != "/a?q=%C3%A9&r=%22" || got[0].Host != "example.com" || got[1].Host != "www.example.com" {
		t.Errorf("requested %q of %q, then of %q", uri, got[0].Host, got[1].Host)
	}
	for _, r := range got {
		for _, h := range []string{"Cookie", "Referer", "Authorization"} {
			if r.Header.Get(h) != "" {
				t.Errorf("the request has the header %s: %s", h, r.Header.Get(h))
			}
		}
		if !strings.HasPrefix(r.UserAgent(), "zeph-acp ") || r.ProtoMajor != 1 {
			t.Errorf("the request is by %q over %s, want zeph-acp over HTTP/1", r.UserAgent(), r.Proto)
		}
	}
}

func TestRedirects(t *testing.T) {
	for name, tt := range map[string]struct {
		to       string
		category executors.Category
		want     string
	}{
		"within":       {"/end", "", "end"},
		"relative":     {"end", "", "end"},
		"to www":       {"https://www.example.com/end", "", "end"},
		"three":        {"/2", "", "end"},
		"four":         {"/1", executors.PermanentFailure, "more than 3 redirects"},
		"loop":         {"/", executors.PermanentFailure, "more than 3 redirects"},
		"another host": {"https://other.org/x", executors.ConfirmationRequired, "another host: https://other.org/x"},
		"below it":     {"https://a.example.com/", executors.ConfirmationRequired, "another host"},
		"another port": {"https://example.com:8443/", executors.ConfirmationRequired, "another host"},
		"downgrade":    {"http://example.com/", executors.PolicyBlocked, "only https"},
		"loopback":     {"https://127.0.0.1/", executors.PolicyBlocked, "this machine"},
		"metadata":     {"http://169.254.169.254/latest/meta-data/", executors.PolicyBlocked, "redirects"},
		"localhost":    {"https://localhost/", executors.PolicyBlocked, "private network"},
		"no scheme":    {"//127.0.0.1/", executors.PolicyBlocked, "this machine"},
		"file":         {"file:///etc/passwd", executors.PolicyBlocked, "only https"},
		"user":         {"https://a:b@example.com/end", executors.PolicyBlocked, "user"},
		"not a URL":    {"https://exa mple.com/", executors.PermanentFailure, ""},
		"a backslash":  {`https://example.com\@127.0.0.1/`, executors.PermanentFailure, ""},
		"now private":  {"https://www.example.com/moved", executors.PolicyBlocked, "10.0.0.1"},
		"denied":       {"https://www.example.com/denied", executors.PolicyBlocked, "denied_domains"},
	} {
		t.Run(name, func(t *testing.T) {
			c, in := online(t, func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/":
					w.Header().Set("Location", tt.to)
					w.WriteHeader(http.StatusMovedPermanently)
				case "/1", "/2", "/3":
					w.Header().Set("Location", map[string]string{"/1": "/2", "/2": "/3", "/3": "/end"}[r.URL.Path])
					w.WriteHeader(http.StatusTemporaryRedirect)
				case "/end":
					write("Content-Type: text/plain", "end")(w, r)
				default:
					t.Errorf("asked for %s", r.URL)
				}
			})
			in.names["other.org."], in.names["a.example.com."] = []string{"1.1.1.1"}, []string{"1.1.1.1"}
			if name == "now private" {
				in.names["www.example.com."] = []string{"10.0.0.1"}
			}
			if name == "denied" {
				c.Config.DeniedDomains = []string{"www.example.com"}
			}
			res := get(t, c, "https://example.com/")
			if res.Category() != tt.category || !strings.Contains(res.ForModel(), tt.want) {
				t.Errorf("got %s, want %q %s", res.ForModel(), tt.category, tt.want)
			}
		})
	}
}

func TestTimeout(t *testing.T) {
	stop := make(chan struct{})
	c, _ := online(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Write([]byte("x"))
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
		case <-stop:
		}
	})
	defer close(stop)
	c.Config.Timeout = 1
	if res := get(t, c, "https://example.com/"); res.Category() != executors.Timeout || !strings.Contains(res.ForModel(), "longer than 1 second\n") {
		t.Errorf(`get(t, c, "https://example.com/"): got %s, want the category %s and %q in it`, res.ForModel(), executors.Timeout, "longer than 1 second\n")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("the user cancelled")
	cancel(cause)
	call := &executors.Call{Tool: "fetch", Input: json.RawMessage(`{"url":"https://example.com/"}`)}
	if _, err := executors.Chain(tools(c)).Execute(ctx, call); !errors.Is(err, cause) {
		t.Errorf("Execute after a cancel: got error %v, want %v", err, cause)
	}
}

// The full text is kept if the result is truncated: the overflow link returns a
// reference to it.
func TestCut(t *testing.T) {
	page := strings.Repeat("é line\n", 1000)
	c, _ := online(t, write("Content-Type: text/plain", page))
	res := get(t, c, "https://example.com/")
	res.Bound(1000)
	if want := strings.Repeat("é line\n", 142) + "[… 6,007 of 7,000 characters cut …]"; res.ForModel() != want {
		t.Errorf("got %q, want %q", res.ForModel(), want)
	}
	if res.Full == nil {
		t.Fatal("the page is not kept")
	}
	defer res.Full.Close()
	if kept := res.Full.Window(0, res.Full.Size()); kept != page {
		t.Errorf("%d bytes are kept, want all %d of the page", len(kept), len(page))
	}
}

// A redirect to another host is checked within the same call, like a separate
// call.
func TestAdmit(t *testing.T) {
	refused := executors.Failuref(executors.PolicyBlocked, "no")
	for name, tt := range map[string]struct {
		hops   []string // from https://example.com/
		refuse string   // a URL
		judged string
		want   string
		cached bool
	}{
		"another host":  {hops: []string{"https://docs.example.com/x"}, judged: "docs.example.com/x redirected from example.com", want: "end"},
		"the same host": {hops: []string{"/x"}, judged: "example.com/x redirected from example.com", want: "end", cached: true},
		"refused": {hops: []string{"https://docs.example.com/x"}, refuse: "https://docs.example.com/x",
			judged: "docs.example.com/x redirected from example.com", want: "error: no\n"},
		"the page refused": {hops: []string{"/x"}, refuse: "https://example.com/x", judged: "example.com/x redirected from example.com", want: "error: no\n"},
		"and back": {hops: []string{"https://docs.example.com/", "https://example.com/y"},
			judged: "docs.example.com/ redirected from example.com, example.com/y redirected from docs.example.com", want: "end"},
		"private":      {hops: []string{"https://10.0.0.1/"}, want: "redirects"},
		"private name": {hops: []string{"https://inside.example.com/"}, want: "10.0.0.1"},
		"too many": {hops: []string{"/1", "/2", "/3", "https://docs.example.com/"}, want: "more than 3 redirects",
			judged: "example.com/1 redirected from example.com, example.com/2 redirected from example.com, example.com/3 redirected from example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			c, in := online(t, func(w http.ResponseWriter, r *http.Request) {
				if asked == len(tt.hops) {
					write("Content-Type: text/plain", "end")(w, r)
					return
				}
				w.Header().Set("Location", tt.hops[asked])
				asked++
				w.WriteHeader(http.StatusFound)
			})
			in.names["docs.example.com."], in.names["inside.example.com."] = []string{"93.184.215.14"}, []string{"10.0.0.1"}
			var judged []string
			call := &executors.Call{Tool: "fetch", Input: json.RawMessage(`{"url":"https://example.com/"}`)}
			call.Admit = func(_ context.Context, card executors.Card) error {
				judged = append(judged, card.Title)
				if card.URL == tt.refuse {
					return refused
				}
				return nil
			}
			res, err := executors.Chain(tools(c)).Execute(t.Context(), call)
			if err != nil || !strings.Contains(res.ForModel(), tt.want) || strings.Join(judged, ", ") != tt.judged {
				t.Errorf("got %q, %v, judged %q; want %q in it, judged %q", res.ForModel(), err, judged, tt.want, tt.judged)
			}
			if cached := res.Valid != nil; cached != tt.cached {
				t.Errorf("may be cached: %t, want %t", cached, tt.cached)
			}
		})
	}
}

// A refused URL is shown, unless it may contain a password.
func TestAsked(t *testing.T) {
	for raw, shown := range map[string]bool{
		"http://10.0.0.1/a": true, "file:///etc/passwd": true, "ftp://example.com": true,
		"http://u:secret@10.0.0.1": false, "": false, "a\x00b": false, "mailto:u:secret@a": false,
	} {
		if got := shownURL(raw); (got == raw) != shown || strings.Contains(got, "secret") {
			t.Errorf("shownURL(%q) = %q, want the URL itself: %t", raw, got, shown)
		}
	}
}
