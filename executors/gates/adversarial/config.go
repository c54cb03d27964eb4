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
	Enabled        bool     `toml:"enabled" default:"false" doc:"true: a model judges each call by your policies"`
	PolicyProvider string   `toml:"policy_provider" format:"model" needs:"enabled" zero:"the session's model" doc:"the model that judges, provider or provider:model"`
	Policies       []string `toml:"policies" format:"filled" doc:"policies in plain language"`
	// PolicyFile has at most 256 KiB. Empty lines, and those that begin with #, are skipped.
	PolicyFile  string   `toml:"policy_file" format:"absolute" zero:"no file" doc:"a file with more policies, one a line; # begins a comment"`
	FailOpen    bool     `toml:"fail_open" default:"false" doc:"true: a call runs if the check fails"`
	TimeoutMS   int      `toml:"timeout_ms" default:"3000" range:"100..600000" unit:"milliseconds" doc:"for an answer"`
	ExemptTools []string `toml:"exempt_tools" default:"memory_save,memory_search,read_overflow,load_skill,schedule_deferred" doc:"tools whose calls are not judged"`
	OnDeny      string   `toml:"on_deny" default:"deny" oneof:"deny,ask" doc:"what a DENY of the model does"`
}

const onDenyAsk = "ask"

// Validate returns a message if there is nothing to enforce.
func (c Config) Validate() map[string]string {
	if c.Enabled && len(c.Policies) == 0 && c.PolicyFile == "" {
		return map[string]string{"policies": "is empty, and there is no policy_file: the gate would have no policy to enforce"}
	}
	return nil
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
