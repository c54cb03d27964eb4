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
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// Config is the table [mcp].
type Config struct {
	StartupWaitSecs int      `toml:"startup_wait_secs" default:"5" range:"0..300" unit:"seconds" doc:"that the first prompt waits for starting MCP servers"`
	Servers         []Server `toml:"servers" doc:"the servers of every session"`
}

// Server is an entry for a server, such as one [[mcp.servers]]. It has either Command or URL.
type Server struct {
	Name    string   `toml:"name" doc:"unique; tools are called NAME__TOOL"`
	Command string   `toml:"command" doc:"the program of a server on stdin and stdout; or a url"`
	Args    []string `toml:"args" doc:"its arguments"`
	// Env is set besides the variables that commands get.
	Env       map[string]string `toml:"env" doc:"more variables for the program"`
	EnvFrom   []string          `toml:"env_from" doc:"names of variables that the program gets, even those named like secrets"`
	URL       string            `toml:"url" doc:"address of a server on the web"`
	Transport string            `toml:"transport" oneof:"http,sse" zero:"http, or sse if the server lacks http" doc:"the protocol"`
	Headers   map[string]string `toml:"headers" doc:"of each request; ${NAME} is a variable of the environment"`
	// OAuthClientID may also be the https URL of a client's metadata.
	OAuthClientID   string `toml:"oauth_client_id" zero:"registered at the login" doc:"client id at the authorization server"`
	OAuthSecretFrom string `toml:"oauth_secret_from" doc:"name of a variable with the secret of that id"`
	// OAuthPort is for a client that is registered with a port.
	OAuthPort   int `toml:"oauth_port" default:"0" range:"0..65535" zero:"any" doc:"port to which the browser returns after a login"`
	TimeoutSecs int `toml:"timeout_secs" default:"60" range:"1..600" unit:"seconds" doc:"for a call; progress extends it"`
	// EnabledTools and DisabledTools are the server's names.
	EnabledTools  []string `toml:"enabled_tools" zero:"all of the server's" doc:"the only tools to offer, * is any text"`
	DisabledTools []string `toml:"disabled_tools" doc:"tools that are not offered"`
	Trust         string   `toml:"trust" oneof:"untrusted,trusted" doc:"tools of a trusted server that it marks as read-only run without a question"`
	Enabled       bool     `toml:"enabled" default:"true" doc:"false: it is not started"`
	// PerSession is for servers whose state sessions must not share.
	PerSession bool `toml:"per_session" default:"false" doc:"true: one process for each session, not for each directory"`

	// Guarded limits requests to the public Internet and the address that URL itself
	// names. It is set for entries that are not the user's own.
	Guarded bool `toml:"-"`

	// verify returns an error if the plug-in of the server has changed since the user approved it; nil if it is of no
	// plug-in.
	verify  func() error
	subject *approval.Subject // set if the entry runs only after the user's approval; nil if it runs without
	// covered returns the files that the approval covers, as they are now. It is set with subject.
	covered func() ([]string, error)
}

const (
	maxTimeout = 600 // seconds, even with progress

	trusted   = "trusted"
	untrusted = "untrusted"

	transportHTTP = "http"
	transportSSE  = "sse"
)

// NewServer returns an entry with the default settings.
func NewServer() Server { return setting.Default[Server]() }

// Validate returns a message for each name that occurs twice.
func (c Config) Validate() map[string]string {
	wrong := map[string]string{}
	seen := map[string]bool{}
	for i, s := range c.Servers {
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

func (s Server) timeout() time.Duration { return time.Duration(s.TimeoutSecs) * time.Second }

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
	if s.verify != nil {
		return s.verify()
	}
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
