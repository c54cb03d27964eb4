package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/executors/permission/approval"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// Config is the table [mcp].
type Config struct {
	// StartupWaitSecs is how long the first prompt of a session waits for servers
	// that are still starting, in seconds. 0 means that it does not wait. Default 5.
	StartupWaitSecs int `toml:"startup_wait_secs"`
	// Servers are the servers of every session. Default none.
	Servers []Server `toml:"servers"`
}

// Server is an entry for a server, such as one [[mcp.servers]].
type Server struct {
	// Name is the name of the server, unique. Tools are called NAME__TOOL.
	Name string `toml:"name"`
	// Command is the program of a server that speaks on stdin and stdout, looked up
	// in PATH. A server has either Command or URL.
	Command string `toml:"command"`
	// Args are the arguments of Command.
	Args []string `toml:"args"`
	// Env are variables for Command, besides those that commands get.
	Env map[string]string `toml:"env"`
	// EnvFrom are names of variables that Command gets from the environment, even if
	// they are named like secrets.
	EnvFrom []string `toml:"env_from"`
	// URL is the address of a server on the web.
	URL string `toml:"url"`
	// Transport is http or sse, the older protocol. Default http, and sse if the
	// server does not speak http.
	Transport string `toml:"transport"`
	// Headers go with every request to URL. "${NAME}" is a variable of the
	// environment.
	Headers map[string]string `toml:"headers"`
	// OAuthClientID is the client id of this program at the authorization server of URL,
	// or the https URL of a client's metadata. Default: registered at the login.
	OAuthClientID string `toml:"oauth_client_id"`
	// OAuthSecretFrom is the name of a variable with the secret of OAuthClientID.
	// Default none.
	OAuthSecretFrom string `toml:"oauth_secret_from"`
	// OAuthPort is the port of the page to which the browser returns after a login, for
	// a client that is registered with it. Default 0: any.
	OAuthPort int `toml:"oauth_port"`
	// TimeoutSecs is how long a call may take, in seconds. Progress extends it, up to
	// ten minutes. Default 60.
	TimeoutSecs int `toml:"timeout_secs"`
	// EnabledTools are the only tools that are offered: the server's names for them, with
	// "*" for any text. Default empty: all tools.
	EnabledTools []string `toml:"enabled_tools"`
	// DisabledTools are not offered. Default none.
	DisabledTools []string `toml:"disabled_tools"`
	// Trust is trusted or untrusted. Tools of a trusted server that it marks as
	// reading run without a question. Default untrusted.
	Trust string `toml:"trust"`
	// Enabled starts the server. Default true.
	Enabled bool `toml:"enabled"`
	// PerSession starts a server for each session. Default false: the sessions of a
	// directory share it.
	PerSession bool `toml:"per_session"`

	// Guarded limits requests to the public Internet and the address that URL itself
	// names. It is set for entries that are not the user's own.
	Guarded bool `toml:"-"`

	subject *approval.Subject // set if the entry runs only after the user's approval; nil if it runs without
	// covered returns the files that the approval covers, as they are now. It is set with subject.
	covered func() ([]string, error)
}

const (
	defaultTimeout = 60
	maxTimeout     = 600 // seconds, even with progress
	maxStartupWait = 300

	trusted   = "trusted"
	untrusted = "untrusted"

	transportHTTP = "http"
	transportSSE  = "sse"
)

// Defaults returns the default settings.
func Defaults() Config { return Config{StartupWaitSecs: 5} }

// NewServer returns an entry with the default settings.
func NewServer() Server { return Server{TimeoutSecs: defaultTimeout, Enabled: true} }

// SetDefaults sets the defaults of an entry before it is decoded.
func (s *Server) SetDefaults() { *s = NewServer() }

// Validate returns a message for each wrong key.
func (c Config) Validate() map[string]string {
	wrong := map[string]string{}
	if c.StartupWaitSecs < 0 || c.StartupWaitSecs > maxStartupWait {
		wrong["startup_wait_secs"] = fmt.Sprintf("must be from 0 to %d, is %d", maxStartupWait, c.StartupWaitSecs)
	}
	seen := map[string]bool{}
	for i, s := range c.Servers {
		for key, text := range s.Validate() {
			wrong[fmt.Sprintf("servers[%d].%s", i, key)] = text
		}
		if seen[s.Name] && s.Name != "" {
			wrong[fmt.Sprintf("servers[%d].name", i)] = fmt.Sprintf("%q is the name of another server", s.Name)
		}
		seen[s.Name] = true
	}
	return wrong
}

var serverName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$`)

// Validate returns a message for each wrong key of an entry.
func (s Server) Validate() map[string]string {
	wrong := map[string]string{}
	if !serverName.MatchString(s.Name) {
		wrong["name"] = fmt.Sprintf("%q is not a name of at most 32 letters, digits, dots, dashes and underscores", s.Name)
	}
	switch {
	case s.Command == "" && s.URL == "":
		wrong["command"] = "is missing: a server has a command or a url"
	case s.Command != "" && s.URL != "":
		wrong["url"] = "a server has a command or a url, not both"
	case s.URL != "":
		if u, err := url.Parse(s.URL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			wrong["url"] = fmt.Sprintf("%q is not an address such as https://example.com/mcp", s.URL)
		}
	}
	if !slices.Contains([]string{"", transportHTTP, transportSSE}, s.Transport) {
		wrong["transport"] = fmt.Sprintf("%q is not one of http, sse", s.Transport)
	}
	if s.TimeoutSecs < 1 || s.TimeoutSecs > maxTimeout {
		wrong["timeout_secs"] = fmt.Sprintf("must be from 1 to %d, is %d", maxTimeout, s.TimeoutSecs)
	}
	if s.OAuthPort < 0 || s.OAuthPort > 65535 {
		wrong["oauth_port"] = fmt.Sprintf("must be from 0 to 65535, is %d", s.OAuthPort)
	}
	if !slices.Contains([]string{"", trusted, untrusted}, s.Trust) {
		wrong["trust"] = fmt.Sprintf("%q is not one of trusted, untrusted", s.Trust)
	}
	for key, list := range map[string][]string{"enabled_tools": s.EnabledTools, "disabled_tools": s.DisabledTools} {
		for _, pattern := range list {
			if _, err := path.Match(pattern, ""); err != nil {
				wrong[key] = fmt.Sprintf("%q is not a pattern", pattern)
			}
		}
	}
	for name := range s.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			wrong["env"] = fmt.Sprintf("%q is not the name of a variable", name)
		}
	}
	for name, value := range s.Headers {
		if name == "" || strings.ContainsAny(name+value, "\r\n\x00") || http.CanonicalHeaderKey(name) == "Host" {
			wrong["headers"] = fmt.Sprintf("%q cannot be sent as a header", name)
		}
	}
	return wrong
}

// offers reports whether a tool of the server is to be offered.
func (s Server) offers(tool string) bool {
	matches := func(pattern string) bool {
		ok, _ := path.Match(pattern, tool)
		return ok || pattern == tool
	}
	return (len(s.EnabledTools) == 0 || slices.ContainsFunc(s.EnabledTools, matches)) && !slices.ContainsFunc(s.DisabledTools, matches)
}

func (s Server) timeout() time.Duration {
	if s.TimeoutSecs == 0 {
		return defaultTimeout * time.Second
	}
	return time.Duration(s.TimeoutSecs) * time.Second
}

// shared reports whether the sessions of a directory share the server.
func (s Server) shared() bool { return !s.PerSession }

// hash identifies the entry with all of its settings, and the files that its approval covers.
func (s Server) hash() string {
	covers := []string(nil)
	if s.subject != nil {
		covers = s.subject.Covers
	}
	text, err := json.Marshal([]any{s, covers})
	if err != nil { // strings, numbers and lists always encode
		panic(err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// checkFiles returns an error if a file that the approval of the entry covers has changed.
func (s Server) checkFiles() error {
	if s.subject == nil {
		return nil
	}
	if now, err := s.covered(); err != nil || !slices.Equal(now, s.subject.Covers) {
		return errors.New("a file that it names has changed since it was approved; a new session asks about it again")
	}
	return nil
}

// Target returns the command or the address of an entry, on one line.
func (s Server) Target() string {
	if s.URL != "" {
		return s.URL
	}
	return strings.Join(append([]string{s.Command}, s.Args...), " ")
}
