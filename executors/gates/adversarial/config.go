package adversarial

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Config is the table [tools.adversarial_policy].
type Config struct {
	// Enabled turns the gate on. Default false.
	Enabled bool `toml:"enabled"`
	// PolicyProvider is the provider, "name" or "name:model", whose model judges.
	// Default empty: the session's model.
	PolicyProvider string `toml:"policy_provider"`
	// Policies are the policies to enforce, each a sentence in plain language.
	// Default none.
	Policies []string `toml:"policies"`
	// PolicyFile is a file of further policies, one per line; empty lines and those
	// that begin with # are skipped. It is absolute or begins with ~/, and has at
	// most 256 KiB. Default empty: no file.
	PolicyFile string `toml:"policy_file"`
	// FailOpen runs a call that could not be judged, because of an error, a
	// timeout or an answer of another form. Default false: it is denied.
	FailOpen bool `toml:"fail_open"`
	// TimeoutMS limits the time for an answer, in milliseconds. Default 3000, from
	// 100 to 600000.
	TimeoutMS int `toml:"timeout_ms"`
	// ExemptTools are the names of tools whose calls are not judged.
	ExemptTools []string `toml:"exempt_tools"`
	// OnDeny is the effect of a DENY of the model: "deny" denies the call, "ask" asks
	// the user. Default deny.
	OnDeny string `toml:"on_deny"`
}

const (
	onDenyDeny = "deny"
	onDenyAsk  = "ask"
)

// Defaults returns the default settings.
func Defaults() Config {
	return Config{
		TimeoutMS: 3000, OnDeny: onDenyDeny,
		ExemptTools: []string{"memory_save", "memory_search", "read_overflow", "load_skill", "schedule_deferred"},
	}
}

const minTimeout, maxTimeout = 100, 600_000 // milliseconds

// Validate returns a message for each invalid value, by key.
func (c Config) Validate() map[string]string {
	wrong := map[string]string{}
	if c.TimeoutMS < minTimeout || c.TimeoutMS > maxTimeout {
		wrong["timeout_ms"] = fmt.Sprintf("%d is not from %d to %d", c.TimeoutMS, minTimeout, maxTimeout)
	}
	if c.OnDeny != onDenyDeny && c.OnDeny != onDenyAsk {
		wrong["on_deny"] = fmt.Sprintf("%q is not one of deny, ask", c.OnDeny)
	}
	for i, p := range c.Policies {
		if strings.TrimSpace(p) == "" {
			wrong[fmt.Sprintf("policies[%d]", i)] = "is empty"
		}
	}
	if f := c.PolicyFile; f != "" && !filepath.IsAbs(f) && !strings.HasPrefix(f, "~/") || strings.ContainsRune(f, 0) {
		wrong["policy_file"] = fmt.Sprintf("%q is not an absolute path, nor one that begins with ~/", f)
	}
	if c.Enabled && len(c.Policies) == 0 && c.PolicyFile == "" {
		wrong["policies"] = "is empty, and there is no policy_file: the gate would have no policy to enforce"
	}
	return wrong
}

func (c Config) timeout() time.Duration { return time.Duration(c.TimeoutMS) * time.Millisecond }

// maxFile limits the file of policies, in bytes.
const maxFile = 256 << 10

// Load returns all policies. home replaces a leading "~"; empty means unknown.
func (c Config) Load(home string) ([]string, error) {
	all := slices.Clone(c.Policies)
	name := c.PolicyFile
	if name == "" {
		return all, nil
	}
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		if home == "" {
			return nil, fmt.Errorf("%s: the home directory is unknown", name)
		}
		name = filepath.Join(home, rest)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > maxFile:
		return nil, fmt.Errorf("%s is larger than %d bytes", name, maxFile)
	}
	for line := range bytes.Lines(data) {
		if p := strings.TrimSpace(string(line)); p != "" && p[0] != '#' {
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s holds no policy", name)
	}
	return all, nil
}
