package web

import (
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// hostile are URLs that are refused before any lookup.
var hostile = []string{
	// other schemes, and URLs without one
	"http://example.com/", "HTTP://example.com/", "ftp://example.com/", "file:///etc/passwd", "file://example.com/x", "gopher://example.com/",
	"dict://example.com:11211/", "ldap://example.com/", "ws://example.com/", "wss://example.com/", "data:text/html,x", "javascript:alert(1)",
	"jar:https://example.com/!/x",
	"view-source:https://example.com/", "blob:https://example.com/1", "about:blank", "unix:///var/run/docker.sock", "http+unix://x/", "example.com",
	"example.com/path",
	"//example.com/", "/etc/passwd", "", " ", "https:", "https:/", "https://", "https:///", "https:///path", "https:example.com", "https:/example.com",
	"https://?x", "https://#x",
	// users and separators that programs read differently
	"https://user@example.com/", "https://user:pass@example.com/", "https://@example.com/", "https://example.com@127.0.0.1/", "https://127.0.0.1@example.com/",
	`https://example.com\@127.0.0.1/`, `https:\\127.0.0.1\`, `https://example.com\.evil.org/`, "https://example.com#@127.0.0.1:99999/x y",
	" https://127.0.0.1/", "https://exa mple.com/", "https://example.com/a b", "https://example.com/\r\nHost: x", "https://example.com/\x00",
	"https://example.com\t/", "https://exam\u007fple.com/",
	"https://127%2e0%2e0%2e1/", "https://%31%32%37.0.0.1/", "https://example.com%00.evil.org/", "https://example%2ecom/",
	// this machine
	"https://127.0.0.1/", "https://127.0.0.1:443/", "https://127.0.0.1:8080/", "https://127.0.0.1./", "https://127.255.255.254/", "https://0.0.0.0/",
	"https://0.0.0.0:8443/", "https://0.1.2.3/",
	"https://localhost/", "https://LOCALHOST/", "https://localhost./", "https://localhost:8443/", "https://a.localhost/", "https://localhost.localdomain/",
	"https://ⓛocalhost/", "https://ｌｏｃａｌｈｏｓｔ/",
	"https://[::1]/", "https://[::1]:8443/", "https://[::]/", "https://[0:0:0:0:0:0:0:1]/", "https://[0000::0001]/",
	// ambiguous spellings of IPv4
	"https://127.1/", "https://127.0.1/", "https://2130706433/", "https://017700000001/", "https://0x7f000001/", "https://0X7F.1/", "https://0177.0.0.1/",
	"https://127.0.0.0x1/",
	"https://0x7f.0x0.0x0.0x1/", "https://127.000.000.001/", "https://0/", "https://1/", "https://0x/", "https://256.256.256.256/", "https://1.2.3.4.5/",
	"https://127.0.0.1.0x1/", "https://4294967297/",
	"https://１２７.０.０.１/", "https://①②⑦.⓪.⓪.①/", "https://127。0。0。1/", "https://[127.0.0.1]/", "https://8.8.8.08/",
	"https://0x08080808/", "https://134744072/", "https://a.b.0x1/", "https://x.1/",
	// private networks and metadata
	"https://10.0.0.1/", "https://10.255.255.255/", "https://172.16.0.1/", "https://172.31.255.255/", "https://192.168.0.1/",
	"https://169.254.169.254/latest/meta-data/", "https://169.254.170.2/v2/credentials",
	"https://100.64.0.1/", "https://100.100.100.200/", "https://168.63.129.16/", "https://192.0.0.192/", "https://[fd00:ec2::254]/", "https://[fd20:ce::254]/",
	"https://metadata.google.internal/", "https://metadata/",
	"https://router.lan/", "https://nas.local/", "https://printer.home/", "https://x.home.arpa/", "https://wiki.corp/", "https://x.intranet/",
	"https://x.private/", "https://1.0.0.127.in-addr.arpa/", "https://intranet/",
	"https://abc.onion/", "https://x.test/", "https://x.invalid/", "https://x.example/", "https://x.alt/", "https://com/",
	// special addresses
	"https://192.0.2.1/", "https://198.51.100.1/", "https://203.0.113.1/", "https://198.18.0.1/", "https://192.88.99.1/", "https://224.0.0.1/",
	"https://239.255.255.250/", "https://240.0.0.1/", "https://255.255.255.255/",
	"https://[fe80::1]/", "https://[fe80::1%25eth0]/", "https://[fe80::1%eth0]/", "https://[2606:4700::1111%25eth0]/", "https://[fec0::1]/",
	"https://[fc00::1]/", "https://[ff02::1]/", "https://[2001:db8::1]/", "https://[3fff::1]/",
	"https://[100::1]/", "https://[5f00::1]/", "https://[4000::1]/", "https://[3ffe::1]/",
	// IPv4 in IPv6
	"https://[::ffff:127.0.0.1]/", "https://[::ffff:7f00:1]/", "https://[::ffff:8.8.8.8]/", "https://[::127.0.0.1]/", "https://[::8.8.8.8]/",
	"https://[::ffff:0:127.0.0.1]/", "https://[2002:7f00:1::]/", "https://[2002:808:808::1]/",
	"https://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/", "https://[64:ff9b::127.0.0.1]/", "https://[64:ff9b::a00:1]/", "https://[64:ff9b::169.254.169.254]/",
	"https://[64:ff9b:1::808:808]/",
	"https://[2606:4700::5efe:7f00:1]/", "https://[2606:4700::200:5efe:808:808]/",
	// broken hosts and ports
	"https://[::1/", "https://::1/", "https://[]/", "https://[1.2]/", "https://[example.com]/", "https://example..com/", "https://.example.com/",
	"https://example.com../", "https://exam!ple.com/",
	"https://example.com:0/", "https://example.com:22/", "https://example.com:25/", "https://example.com:80/", "https://example.com:65536/",
	"https://example.com:-1/", "https://example.com:4 43/", "https://example.com:443:443/", "https://example.com:0x1bb/",
	"https://" + strings.Repeat("a", 64) + ".com/", "https://" + strings.Repeat("a.", 130) + "com/", "https://example.com/" + strings.Repeat("x", maxURL),
	"https://example.com/" + strings.Repeat("é", maxURL/4), "https://xn--\u0080.com/", "https://\u202eexample.com/", "https://exam\u00adple\u200b.\u200b/",
	"https://[é]/", "https://é%25eth0.com/", "https://é%2Fb.com/", "https://é%0d%0aHost:%20b.com/", "https://é,b.com/", "https://é b.com/",
}

func TestHostileURLs(t *testing.T) {
	c, in := offline(t)
	seen := map[string]bool{}
	for _, raw := range hostile {
		if seen[raw] {
			t.Errorf("hostile contains %q twice", raw)
		}
		seen[raw] = true
		res := get(t, c, raw)
		if res.Category() != executors.PolicyBlocked && res.Category() != executors.InvalidParameters {
			t.Errorf("fetch(%q): got %s, want a refusal", raw, res.ForModel())
		}
	}
	if len(in.looked)+len(in.dialed) > 0 {
		t.Errorf("looked up %q, dialed %q", in.looked, in.dialed)
	}
}

// A redirect obeys the rules for a URL. A relative one stays on its host.
func TestHostileRedirects(t *testing.T) {
	to := ""
	c, in := online(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusFound)
	})
	for _, to = range hostile {
		if res := get(t, c, "https://example.com/"); !res.Failed {
			t.Errorf("a redirect to %q: got %s, want a failure", to, res.ForModel())
		}
	}
	for i, name := range in.looked {
		if name != "example.com." || in.dialed[i] != "93.184.215.14:443" {
			t.Errorf("looked up %s, dialed %s", name, in.dialed[i])
		}
	}
}

func TestTarget(t *testing.T) {
	c, _ := offline(t)
	for raw, want := range map[string]string{
		"https://example.com":                     "https://example.com/",
		"HTTPS://Example.COM.:443/A?b=C#d":        "https://example.com/A?b=C",
		"https://example.com:8443/":               "https://example.com:8443/",
		"https://example.com:08443/":              "https://example.com:8443/",
		"https://example.com:/":                   "https://example.com/",
		"https://example.com?x":                   "https://example.com/?x",
		"https://example.com/a/../b/./c/%2e%2E/d": "https://example.com/b/d",
		"https://example.com/../../x":             "https://example.com/x",
		"https://example.com/a%2Fb%20c":           "https://example.com/a%2Fb%20c",
		"https://example.com/é?ü=\"<>'":           "https://example.com/%C3%A9?%C3%BC=%22%3C%3E'",
		"https://münchen.de/":                     "https://xn--mnchen-3ya.de/",
		"https://BÜCHER。de/":                      "https://xn--bcher-kva.de/",
		"https://xn--mnchen-3ya.de/":              "https://xn--mnchen-3ya.de/",
		"https://r3---sn-x_y.example.com/":        "https://r3---sn-x_y.example.com/",
		"https://1.1.1.1/":                        "https://1.1.1.1/",
		"https://[2606:4700:4700::1111]:443/":     "https://[2606:4700:4700::1111]/",
		"https://[2606:4700:4700:0:0:0:0:1111]/x": "https://[2606:4700:4700::1111]/x",
		"https://[64:ff9b::8.8.8.8]/":             "https://[64:ff9b::808:808]/",
		"https://127.0.0.1.nip.io/":               "https://127.0.0.1.nip.io/", // its address decides
		"https://123.com/":                        "https://123.com/",
		"https://localhost.example.com/":          "https://localhost.example.com/",
		"https://example.com/https://127.0.0.1/":  "https://example.com/https://127.0.0.1/",
		"https://example.com/@127.0.0.1":          "https://example.com/@127.0.0.1",
	} {
		u, err := c.target(raw)
		if err != nil || u.String() != want {
			t.Errorf("target(%q): got %v, %v, want %s", raw, u, err, want)
		}
	}
}

func TestDomains(t *testing.T) {
	for name, tt := range map[string]struct {
		allowed, denied, repo []string
		yes, no               string // hosts
	}{
		"none": {yes: "example.com docs.rs 1.1.1.1"},
		"allowed": {allowed: []string{"example.com", "*.docs.rs"}, yes: "example.com EXAMPLE.com. a.docs.rs a.b.docs.rs",
			no: "www.example.com docs.rs evildocs.rs docs.rs.evil.org 1.1.1.1"},
		"denied":          {denied: []string{"evil.org", "*.evil.org", "1.1.1.1"}, yes: "example.com notevil.org", no: "evil.org a.evil.org EVIL.org. 1.1.1.1"},
		"deny wins":       {allowed: []string{"*.docs.rs"}, denied: []string{"x.docs.rs"}, yes: "a.docs.rs", no: "x.docs.rs"},
		"in another form": {denied: []string{"München.de"}, no: "münchen.de xn--mnchen-3ya.de"},
		"both lists":      {allowed: []string{"a.com", "b.com"}, repo: []string{"b.com", "c.com"}, yes: "b.com", no: "a.com c.com"},
		"theirs alone":    {repo: []string{"b.com"}, yes: "b.com", no: "a.com 1.1.1.1"},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := offline(t)
			c.Config.AllowedDomains, c.Config.DeniedDomains = tt.allowed, tt.denied
			if tt.repo != nil {
				c.Config, _ = setting.Tighten(c.Config, Config{AllowedDomains: tt.repo}, "allowed_domains")
			}
			for _, h := range strings.Fields(tt.yes) {
				if _, err := c.target("https://" + h + "/"); err != nil {
					t.Errorf("%s is refused: %v", h, err)
				}
			}
			for _, h := range strings.Fields(tt.no) {
				if _, err := c.target("https://" + h + "/"); err == nil {
					t.Errorf("%s passes", h)
				}
			}
		})
	}
}

func TestUnfitAddress(t *testing.T) {
	near := []netip.Prefix{netip.MustParsePrefix("93.184.215.0/24"), netip.MustParsePrefix("2606:4700:1:2::/64")}
	for addr, public := range map[string]bool{
		"93.184.216.1": true, "93.184.215.200": false, "2606:4700:1:2::9": false, "2606:4700:1:3::9": true, "64:ff9b::93.184.215.9": false,
		"8.8.8.8": true, "9.255.255.255": true, "11.0.0.0": true, "100.63.255.255": true, "100.128.0.0": true, "126.255.255.255": true, "128.0.0.0": true,
		"169.253.255.255": true, "169.255.0.0": true, "172.15.255.255": true, "172.32.0.0": true, "192.0.1.0": true, "192.167.255.255": true, "192.169.0.0": true,
		"198.17.255.255": true, "198.20.0.0": true, "223.255.255.255": true, "224.0.0.0": false, "2001:200::1": true, "2001:1ff::1": false, "2003::1": true,
		"2a00:1450::1":  true,
		"2001:4:112::1": false, "2620:4f:8000::1": false, "::2": false, "8000::1": false, "fe80::1%eth0": false, "2606:4700::1%eth0": false,
	} {
		if why := addressProblem(netip.MustParseAddr(addr), near); (why == "") != public {
			t.Errorf("addressProblem(%s) = %q, want public %t", addr, why, public)
		}
	}
	for _, s := range specialBlocks {
		b := s.block.Masked()
		if b != s.block {
			t.Errorf("%s is not the beginning of a block", s.block)
		}
		last := b.Addr().AsSlice()
		for i := b.Bits(); i < len(last)*8; i++ {
			last[i/8] |= 0x80 >> (i % 8)
		}
		end, _ := netip.AddrFromSlice(last)
		for _, a := range []netip.Addr{b.Addr(), end} {
			if addressProblem(a, nil) == "" {
				t.Errorf("%s of %s passes", a, s.block)
			}
		}
	}
}

func TestConfig(t *testing.T) {
	if wrong := setting.Check(setting.Default[Config]()); len(wrong) > 0 {
		t.Errorf("setting.Check(setting.Default[Config]()): got %v, want none", wrong)
	}
	bad := Config{MaxBodyBytes: 1 << 30, OutputLimit: executors.OutputLimit{MaxOutputChars: 10}, AllowedDomains: []string{"https://example.com"},
		DeniedDomains: []string{"*.*.com"}}
	for _, key := range []string{"timeout", "max_body_bytes", "max_output_chars", "allowed_domains", "denied_domains"} {
		if wrong := setting.Check(bad); wrong[key] == "" && wrong[key+"[0]"] == "" {
			t.Errorf("Validate accepts a wrong %s", key)
		}
	}
	got, ignored := setting.Tighten(setting.Default[Config](),
		Config{Timeout: 5, MaxBodyBytes: 2 << 20, OutputLimit: executors.OutputLimit{MaxOutputChars: 1000},
			DeniedDomains: []string{"a.com"}}, setting.Paths[Config]()...)
	if diff := cmp.Diff([]string{"allowed_domains", "max_body_bytes"}, ignored); diff != "" {
		t.Errorf("ignored keys (-want +got)\n%s", diff)
	}
	if got.Timeout != 5 || got.MaxBodyBytes != 1<<20 || got.MaxOutputChars != 1000 || len(got.DeniedDomains) != 1 {
		t.Errorf("tightened: %+v", got)
	}
}

func FuzzTarget(f *testing.F) {
	for _, raw := range hostile {
		f.Add(raw)
	}
	f.Add("https://example.com/a?b#c")
	c, _ := offline(f)
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := c.target(raw)
		if err != nil {
			if f, ok := errors.AsType[*executors.Failure](err); !ok || f.Category == "" {
				t.Fatalf("%q: %v", raw, err)
			}
			return
		}
		// One form: the user, the rules and the request see the same URL.
		again, err := c.target(u.String())
		if err != nil || again.String() != u.String() {
			t.Fatalf("%q: %s, then %v (%v)", raw, u, again, err)
		}
		back, err := url.Parse(u.String())
		if err != nil || back.Host != u.Host || back.User != nil || back.Scheme != "https" || back.Fragment != "" {
			t.Fatalf("%q: %s is %+v", raw, u, back)
		}
		if a, err := netip.ParseAddr(u.Hostname()); err == nil && addressProblem(a, nil) != "" {
			t.Fatalf("%q: %s", raw, u)
		}
		for _, r := range u.String() {
			if r <= ' ' || r > '~' {
				t.Fatalf("%q: %q", raw, u)
			}
		}
	})
}

func TestDialPublic(t *testing.T) {
	for _, address := range []string{"127.0.0.1:80", "[::1]:80", "10.0.0.1:443", "localhost:80", "169.254.169.254:80", "printer.local:80", "127.1:80"} {
		conn, err := DialPublic(t.Context(), "tcp", address)
		if f, ok := errors.AsType[*executors.Failure](err); !ok || f.Category != executors.PolicyBlocked {
			t.Errorf("DialPublic(%s): got error %v, want category %s", address, err, executors.PolicyBlocked)
		}
		if conn != nil {
			conn.Close()
		}
	}
	for host, want := range map[string]bool{"example.com": true, "1.1.1.1": true, "127.0.0.1": false, "localhost": false, "10.1.2.3": false, "nas": false} {
		if got := IsPublic(host); got != want {
			t.Errorf("IsPublic(%s) = %t, want %t", host, got, want)
		}
	}
}

// The lists also decide about hosts that are not contacted, such as those of search results.
func TestExcludes(t *testing.T) {
	denying, allowing := Config{DeniedDomains: []string{"evil.org", "*.ads.example.com"}}, Config{AllowedDomains: []string{"*.go.dev"}}
	for host, want := range map[string][3]bool{ // denied, excluded by the denied domains, excluded by the allowed ones
		"evil.org":          {true, true, true},
		"EVIL.org.":         {true, true, true},
		"www.evil.org":      {false, false, true},
		"x.ads.example.com": {true, true, true},
		"pkg.go.dev":        {false, false, false},
		"localhost":         {false, false, true},
		"127.0.0.1":         {false, false, true},
		"a_b":               {false, false, true},
	} {
		if got := [3]bool{denying.Denies(host), denying.Excludes(host), allowing.Excludes(host)}; got != want {
			t.Errorf("%s: got %v, want %v", host, got, want)
		}
	}
}
