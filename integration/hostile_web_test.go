package integration

import (
	"fmt"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// hostileURLs returns addresses of this machine or of private networks, and invalid
// URLs. $PORT is the port of a server that counts its connections.
func hostileURLs() []string {
	urls := []string{
		"http://example.com/",
		"ftp://example.com/",
		"file:///etc/passwd",
		"gopher://127.0.0.1:$PORT/x",
		"dict://127.0.0.1:$PORT/",
		"ws://127.0.0.1:$PORT/",
		"data:text/html,hi",
		"javascript:alert(1)",
		"unix:///var/run/docker.sock",
		"//127.0.0.1:$PORT/",
		"127.0.0.1:$PORT",
		"",
		" ",
		"https://",
		"https:///",
		"https://user:pass@127.0.0.1:$PORT/",
		"https://example.com@127.0.0.1:$PORT/",
		"https://127.0.0.1:$PORT#@example.com/",
		"https://127.0.0.1:$PORT?@example.com/",
		"https://example.com\\@127.0.0.1:$PORT/",
		"https:\\\\127.0.0.1:$PORT\\",
		"https://127.0.0.1:$PORT\r\nHost: example.com",
		"https://127.0.0.1:$PORT\x00.example.com/",
		"https://127%2e0%2e0%2e1:$PORT/",
		"https://metadata.google.internal/computeMetadata/v1/",
		"https://example.com:22/",
		"https://example.com:0/",
		"https://example.com:99999/",
		"https://127.0.0.1:$PORT:443/",
		"https://xn--80ak6aa92e.local/",
		"https://printer.local/",
		"https://wiki.internal/",
		"https://router/",
		"https://a.b.c.localhost/",
		"https://localhost.localdomain/",
		"https://169.254.169.254/latest/meta-data/iam/",
		"https://169.254.170.2/v2/credentials",
		"https://100.100.100.200/",
		"https://168.63.129.16/",
		"https://[fd00:ec2::254]/",
	}
	for _, host := range []string{
		"127.0.0.1",
		"127.0.0.1.",
		"127.1",
		"127.0.1",
		"127.127.127.127",
		"2130706433",
		"0x7f000001",
		"0x7f.0.0.1",
		"0177.0.0.1",
		"017700000001",
		"0",
		"0.0.0.0",
		"0.0.0.1",
		"127.000.000.001",
		"localhost",
		"LOCALHOST",
		"localhost.",
		"ⓛⓞⓒⓐⓛⓗⓞⓢⓣ",
		"１２７.０.０.１",
		"127。0。0。1",
		"[::1]",
		"[::]",
		"[0:0:0:0:0:0:0:1]",
		"[::ffff:127.0.0.1]",
		"[::ffff:7f00:1]",
		"[::127.0.0.1]",
		"[64:ff9b::7f00:1]",
		"[2002:7f00:1::]",
		"[2001:0:0:0:0:0:80ff:fffe]",
		"[::1%25lo]",
		"[fe80::1%25lo]",
		"[fc00::1]",
		"[fec0::1]",
		"[ff02::1]",
		"10.0.0.1",
		"172.16.0.1",
		"172.31.255.254",
		"192.168.1.1",
		"100.64.0.1",
		"198.18.0.1",
		"192.0.0.1",
		"192.0.2.1",
		"198.51.100.7",
		"203.0.113.9",
		"224.0.0.1",
		"240.0.0.1",
		"255.255.255.255",
		"192.88.99.1",
		"[100::1]",
		"[2001:db8::1]",
		"[3fff::1]",
		"[5f00::1]",
		"[64:ff9b:1::1]",
	} {
		urls = append(urls, "https://"+host+"/", "https://"+host+":$PORT/")
	}
	return urls
}

// TestHostileURLs makes the model fetch addresses outside the public web, with a
// user who allows everything.
func TestHostileURLs(t *testing.T) {
	w := newWorld(t, "", sdk.PermissionOptionKindAllowOnce, sdk.ClientCapabilities{})
	urls := hostileURLs()
	attacks(t, len(urls))
	if len(urls) < 80 {
		t.Errorf("only %d URLs", len(urls))
	}
	var calls []modelCall
	for i, u := range urls {
		if i%2 == 0 {
			calls = append(calls, modelCall{"fetch", map[string]any{"url": u}})
		} else {
			calls = append(calls, modelCall{"web_scrape", map[string]any{"url": u, "select": "body"}})
		}
	}
	for _, e := range w.run(calls) {
		refused := e.blocked() || strings.Contains(e.result, "category: invalid_parameters")
		if !e.failed || e.asked || !refused {
			t.Errorf("%s: failed %t, asked %t: %.300s", e, e.failed, e.asked, e.result)
		}
	}
}

// TestHostileLinks puts such URLs into a prompt as resource links, which are not
// followed either.
func TestHostileLinks(t *testing.T) {
	w := newWorld(t, "", sdk.PermissionOptionKindAllowOnce, sdk.ClientCapabilities{})
	w.p.Then(fakemodel.Answer(fakemodel.Say("I see.")))
	prompt := []sdk.ContentBlock{sdk.TextBlock("look at these")}
	for i, u := range []string{
		fmt.Sprintf("https://127.0.0.1:%d/", w.port),
		fmt.Sprintf("http://localhost:%d/", w.port),
		"file://" + w.root + "/outside/secret.txt",
		"file:///etc/passwd",
		"https://[::1]/",
		"file://" + w.dir + "/link/secret.txt",
		"file://" + w.dir + "/file-link",
	} {
		prompt = append(prompt, sdk.ResourceLinkBlock(fmt.Sprint("link", i), u))
	}
	s := w.session()
	if _, err := w.conn.Prompt(t.Context(), sdk.PromptRequest{SessionId: s, Prompt: prompt}); err != nil {
		t.Fatal(err)
	}
	w.intact()
}
