package ollama

import (
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// DefaultAddress is where an Ollama listens by default.
const DefaultAddress = "127.0.0.1:" + defaultPort

// defaultPort is the port of an Ollama by default.
const defaultPort = "11434"

// ParseAddress parses an address in the form of OLLAMA_HOST: host, host:port, :port, or
// a URL with the default port of its scheme. A wildcard address becomes this machine.
// Anything unreadable becomes the default. A path is kept, except an API path, which people
// copy along.
// https://github.com/ollama/ollama/blob/v0.17.4/envconfig/config.go
func ParseAddress(text string) *url.URL {
	text, _ = wire.SplitQuery(strings.Trim(strings.TrimSpace(text), `"'`))
	port := defaultPort
	scheme, rest, ok := strings.Cut(text, "://")
	switch {
	case !ok && text == "ollama.com":
		scheme, rest, port = "https", text, "443"
	case !ok:
		scheme, rest = "http", text
	case strings.EqualFold(scheme, "https"):
		scheme, port = "https", "443"
	default:
		scheme, port = "http", "80"
	}
	hostport, path, _ := strings.Cut(rest, "/")
	user := (*url.Userinfo)(nil)
	if at := strings.LastIndex(hostport, "@"); at >= 0 {
		if u, err := url.Parse("http://" + hostport[:at] + "@host"); err == nil {
			user = u.User
		}
		hostport = hostport[at+1:]
	}
	host := strings.Trim(hostport, "[]")
	if h, p, err := net.SplitHostPort(hostport); err == nil {
		host = h
		if n, err := strconv.ParseUint(p, 10, 16); err == nil && n > 0 {
			port = p
		}
	}
	u := &url.URL{Scheme: scheme, User: user, Host: net.JoinHostPort(reachableHost(host), port)}
	path = strings.Trim(path, "/")
	for _, api := range []string{"v1/chat/completions", "api/chat", "v1", "api"} {
		if path == api {
			path = ""
		}
		path = strings.TrimSuffix(path, "/"+api)
	}
	if path != "" {
		u.Path = "/" + path
	}
	return u
}

// reachableHost returns the host to ask for a server that listens on host.
func reachableHost(host string) string {
	ip := net.ParseIP(host)
	switch {
	case host == "", ip != nil && ip.IsUnspecified() && ip.To4() != nil:
		return "127.0.0.1"
	case ip != nil && ip.IsUnspecified():
		return "::1"
	}
	return host
}

// IsHosted reports whether an address belongs to ollama.com.
func IsHosted(u *url.URL) bool {
	host := strings.ToLower(u.Hostname())
	return host == "ollama.com" || strings.HasSuffix(host, ".ollama.com")
}
