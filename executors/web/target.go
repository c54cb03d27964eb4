package web

import (
	"errors"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/idna"

	"github.com/zeph-acp/zeph-acp/executors"
)

// maxURL is the longest URL that is asked for, in bytes: servers refuse longer
// ones, and what is in a URL leaves the machine.
const maxURL = 4096

// Target returns the URL that a call for raw would request, in one form for all
// ways to write it: https, a host in lower-case ASCII without a dot at its end,
// no user, no fragment, no default port. Rules are matched against it and people
// are asked about it. Nothing is looked up, so that nothing leaves the machine
// before the user agreed; addresses are checked again when they are known. The
// error is a [*executors.Failure].
func (c *Client) Target(raw string) (*url.URL, error) {
	u, h, err := parseURL(raw)
	if err != nil {
		return nil, err
	}
	if why := c.Config.unfitDomain(h.name, h.addr.IsValid()); why != "" {
		return nil, blocked("%s may not be asked: %s", h.name, why)
	}
	if h.addr.IsValid() {
		if why := unfitAddress(h.addr, c.near()); why != "" {
			return nil, blocked("%s may not be asked: it is not on the public Internet (%s)", h.name, why)
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
		Hint("Give a whole URL such as https://example.com/page.")
}

// parseURL parses a URL into the form of [Client.Target].
func parseURL(raw string) (*url.URL, host, error) {
	if len(raw) > maxURL {
		return nil, host{}, malformed("is %d bytes long, more than %d", len(raw), maxURL)
	}
	// Programs disagree on what these mean, which is how one host is checked and
	// another asked.
	if i := strings.IndexFunc(raw, func(r rune) bool { return r <= ' ' || r == '\\' || r == 0x7f }); i >= 0 {
		return nil, host{}, malformed("has a %q in it", raw[i])
	}
	u, err := url.Parse(raw)
	if err != nil {
		if ue, ok := errors.AsType[*url.Error](err); ok {
			err = ue.Err
		}
		return nil, host{}, malformed("%q cannot be read: %v", raw, err)
	}
	switch {
	case u.Scheme == "" || u.Host == "" && u.Scheme == "https":
		return nil, host{}, malformed("%q has no https:// and host at its beginning", raw)
	case u.Scheme != "https":
		return nil, host{}, blocked("the scheme %q is not allowed, only https is", u.Scheme)
	case u.User != nil:
		return nil, host{}, blocked("a URL with a user or password in it is not asked for")
	}
	h, err := parseHost(u.Hostname())
	if err != nil {
		return nil, host{}, err
	}
	bracketed := strings.HasPrefix(u.Host, "[")
	if bracketed != h.addr.Is6() {
		return nil, host{}, malformed("%q is no host", u.Host)
	}
	port, err := parsePort(u.Port())
	if err != nil {
		return nil, host{}, err
	}
	u.Host = h.name
	if bracketed {
		u.Host = "[" + h.name + "]"
	}
	u.Host += port
	u.Fragment, u.RawFragment = "", ""
	u.RawQuery = asciiQuery(u.RawQuery)
	// A rule for /docs/ must not cover /docs/../admin.
	u.RawPath = dots.Replace(u.EscapedPath())
	u = (&url.URL{}).ResolveReference(u)
	if u.Path == "" {
		u.Path = "/"
	}
	return u, h, nil
}

var dots = strings.NewReplacer("%2e", ".", "%2E", ".")

// parsePort returns the suffix of a host that names the port. Other than 443 only
// ports are asked that no system service listens on.
func parsePort(port string) (string, error) {
	if port == "" {
		return "", nil
	}
	n, err := strconv.ParseUint(port, 10, 16)
	switch {
	case err != nil || n == 0:
		return "", malformed("%q is no port", port)
	case n == 443:
		return "", nil
	case n < 1024:
		return "", blocked("port %d is not asked, only 443 and those from 1024", n)
	}
	return ":" + strconv.FormatUint(n, 10), nil
}

// asciiQuery escapes what url.Parse leaves in a query as it is and a request
// line must not have.
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

// host is who is asked: a name, or an address spelled as netip does.
type host struct {
	name string
	addr netip.Addr // not valid for a name
}

// private are the domains that are never on the public Internet: those for
// special use, and those that networks use inside.
//
//	https://www.iana.org/assignments/special-use-domain-names
//	https://www.rfc-editor.org/rfc/rfc6762#appendix-G
var private = []string{
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
		var err error
		if ascii, err = idna.Lookup.ToASCII(name); err != nil {
			return host{}, malformed("%q is no name of a host", name)
		}
	}
	ascii = strings.ToLower(strings.TrimSuffix(ascii, "."))
	labels := strings.Split(ascii, ".")
	last := labels[len(labels)-1]
	switch {
	case len(ascii) > 253 || slices.ContainsFunc(labels, func(l string) bool { return !isLabel(l) }):
		return host{}, malformed("%q is no name of a host", name)
	case isNumber(last): // 127.1, 0x7f000001, 017700000001: what it means differs
		return host{}, blocked("%q is an odd spelling of an address", name)
	case slices.Contains(private, last):
		return host{}, blocked("%q is a name of a private network", name)
	case len(labels) == 1:
		return host{}, blocked("%q is a name of the local network: it has no domain", name)
	}
	return host{name: ascii}, nil
}

// isLabel reports whether l may stand between the dots of a name. Underscores
// and double hyphens are out of the standard and in use.
func isLabel(l string) bool {
	odd := func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_' }
	return l != "" && len(l) <= 63 && strings.IndexFunc(l, odd) < 0
}

// isNumber reports whether a name that ends in this label is taken for an IPv4
// address by some programs: https://url.spec.whatwg.org/#ends-in-a-number-checker
func isNumber(label string) bool {
	digits, set := label, "0123456789"
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		digits, set = hex, "0123456789abcdef"
	}
	return strings.Trim(digits, set) == ""
}
