package web

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// maxURL is the longest URL that is requested, in bytes. Servers refuse longer
// ones, and a URL can carry data off this machine.
const maxURL = 4096

// target returns the normalised URL of a request for raw: https, a host in
// lower-case ASCII without a final dot, no user, no fragment, no default port.
// Rules and the user check this form. It looks up no names, so that no data
// leaves the machine before the user agrees; addresses are checked later. The
// error is a [*executors.Failure].
func (c *client) target(raw string) (*url.URL, error) {
	u, h, err := parseURL(raw)
	if err != nil {
		return nil, err
	}
	if why := c.Config.domainProblem(h.name, h.addr.IsValid()); why != "" {
		return nil, blocked("%s may not be contacted: %s", h.name, why)
	}
	if h.addr.IsValid() {
		if why := addressProblem(h.addr, c.localNetworks()); why != "" {
			return nil, blocked("%s may not be contacted: it is not on the public Internet (%s)", h.name, why)
		}
	}
	return u, nil
}

// blocked returns the failure for a URL that the guard refuses.
func blocked(format string, args ...any) *executors.Failure {
	return executors.Failuref(executors.PolicyBlocked, format, args...).
		Hint("Only https pages of the public Internet can be fetched; for anything else ask the user.")
}

func malformed(format string, args ...any) *executors.Failure {
	return executors.Failuref(executors.InvalidParameters, "url: "+format, args...).
		Hint("Use a whole URL such as https://example.com/page.")
}

// parseURL parses and normalises a URL as client.target describes.
func parseURL(raw string) (*url.URL, host, error) {
	if len(raw) > maxURL {
		return nil, host{}, malformed("has %s, over the limit of %d", quantity.Count(len(raw), "byte"), maxURL)
	}
	// Programs interpret these characters differently, so that the checked host
	// might not be the requested one.
	if i := strings.IndexFunc(raw, func(r rune) bool { return r <= ' ' || r == '\\' || r == 0x7f }); i >= 0 {
		return nil, host{}, malformed("contains %q", raw[i])
	}
	u, err := url.Parse(raw)
	if err != nil {
		if ue, ok := errors.AsType[*url.Error](err); ok {
			err = ue.Err
		}
		return nil, host{}, malformed("%q cannot be parsed: %v", raw, err)
	}
	switch {
	case u.Scheme == "" || u.Host == "" && u.Scheme == "https":
		return nil, host{}, malformed("%q does not begin with https:// and a host", raw)
	case u.Scheme != "https":
		return nil, host{}, blocked("the scheme %q is not allowed, only https is", u.Scheme)
	case u.User != nil:
		return nil, host{}, blocked("a URL with a user or password is not requested")
	}
	h, err := normaliseHost(u)
	if err != nil {
		return nil, host{}, err
	}
	u.Fragment, u.RawFragment = "", ""
	u.RawQuery = asciiQuery(u.RawQuery)
	// A rule for /docs/ must not cover /docs/../admin.
	u.RawPath = dots.Replace(u.EscapedPath())
	u = (&url.URL{}).ResolveReference(u)
	if u.Path == "" {
		u.Path = "/"
	}
	if n := len(u.String()); n > maxURL { // as it is requested, with its characters escaped
		return nil, host{}, malformed("has %s, over the limit of %d", quantity.Count(n, "byte"), maxURL)
	}
	return u, h, nil
}

// normaliseHost sets the host of a URL to its normal form, and returns it.
func normaliseHost(u *url.URL) (host, error) {
	h, err := parseHost(u.Hostname())
	if err != nil {
		return h, err
	}
	bracketed := strings.HasPrefix(u.Host, "[")
	if bracketed != h.addr.Is6() {
		return h, malformed("%q is not a host", u.Host)
	}
	port, err := parsePort(u.Port())
	if err != nil {
		return h, err
	}
	u.Host = h.name + port
	if bracketed {
		u.Host = "[" + h.name + "]" + port
	}
	return h, nil
}

var dots = strings.NewReplacer("%2e", ".", "%2E", ".")

// parsePort returns the port as a suffix of the host, "" for 443. It also
// accepts other ports that no system service uses.
func parsePort(port string) (string, error) {
	if port == "" {
		return "", nil
	}
	n, err := strconv.ParseUint(port, 10, 16)
	switch {
	case err != nil || n == 0:
		return "", malformed("%q is not a port", port)
	case n == 443:
		return "", nil
	case n < 1024:
		return "", blocked("port %d is not allowed, only 443 and those from 1024", n)
	}
	return ":" + strconv.FormatUint(n, 10), nil
}

// asciiQuery escapes the characters that url.Parse leaves in a query but that a
// request line must not contain.
func asciiQuery(q string) string {
	var b strings.Builder
	for i := range len(q) {
		if c := q[i]; c >= 0x80 || c == '"' || c == '<' || c == '>' {
			b.WriteString("%" + strings.ToUpper(strconv.FormatUint(uint64(c)+0x100, 16)[1:]))
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// host is the host of a URL: a name, or an address in netip's spelling.
type host struct {
	name string
	addr netip.Addr // invalid for a name
}

// privateDomains are the domains that are never on the public Internet: special-use
// domains, and domains of internal networks.
//
//	https://www.iana.org/assignments/special-use-domain-names
//	https://www.rfc-editor.org/rfc/rfc6762#appendix-G
var privateDomains = []string{
	"localhost", "localdomain", "local", "internal", "intranet", "private", "corp", "home", "lan", "arpa",
	"test", "example", "invalid", "onion", "alt",
}

// parseHost parses the host of a URL.
func parseHost(name string) (host, error) {
	if addr, err := netip.ParseAddr(name); err == nil {
		if addr.Zone() != "" {
			return host{}, blocked("%s is an address of the local network", name)
		}
		return host{addr.String(), addr}, nil
	}
	ascii := name
	if strings.IndexFunc(name, func(r rune) bool { return r >= 0x80 }) >= 0 {
		ascii = dialedName(name)
	}
	ascii = strings.ToLower(strings.TrimSuffix(ascii, "."))
	labels := strings.Split(ascii, ".")
	last := labels[len(labels)-1]
	switch {
	case len(ascii) > 253 || slices.ContainsFunc(labels, func(l string) bool { return !isLabel(l) }):
		return host{}, malformed("%q is not a host name", name)
	case isNumber(last): // 127.1, 0x7f000001, 017700000001: programs interpret them differently
		return host{}, blocked("%q is an ambiguous spelling of an address", name)
	case slices.Contains(privateDomains, last):
		return host{}, blocked("%q is a name of a private network", name)
	case len(labels) == 1:
		return host{}, blocked("%q is a name of the local network: it has no domain", name)
	}
	return host{name: ascii}, nil
}

// dialedName returns the name that net/http dials for a host name: with punycode if
// it is valid, else unchanged.
//
// Why not golang.org/x/net/idna? net/http has a copy of it, which shows its result
// only to a dialer. A second one would be 0.2 MB.
func dialedName(name string) string {
	dialed := name
	dial := func(_ context.Context, _, addr string) (net.Conn, error) {
		dialed, _, _ = net.SplitHostPort(addr)
		return nil, net.ErrClosed
	}
	t := http.Transport{DialContext: dial}
	_, _ = t.RoundTrip(&http.Request{URL: &url.URL{Scheme: "http", Host: name}, Header: http.Header{}})
	return dialed
}

// isLabel reports whether l may be a label of a host name. Underscores and
// double hyphens violate the standard but are in use.
func isLabel(l string) bool {
	odd := func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_' }
	return l != "" && len(l) <= 63 && strings.IndexFunc(l, odd) < 0
}

// isNumber reports whether some programs interpret a name with this last label
// as an IPv4 address: https://url.spec.whatwg.org/#ends-in-a-number-checker
func isNumber(label string) bool {
	digits, set := label, "0123456789"
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		digits, set = hex, "0123456789abcdef"
	}
	return strings.Trim(digits, set) == ""
}
