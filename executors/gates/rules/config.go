package rules

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/pattern"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/filter/text/wildcard"
)

// Rule is one entry of [[tools.policy.rules]] or [[tools.authorization.rules]]. It
// matches a call if all its conditions hold.
type Rule struct {
	Effect executors.Decision `toml:"effect" oneof:"allow,deny" doc:"a deny wins, whatever the order of rules"`
	// Tool ignores case. bash, sh and shell are one tool.
	Tool string `toml:"tool" doc:"a pattern for the tool's name"`
	// Paths are patterns in which "*" is any text, including "/". A pattern that does not
	// begin with "/", "~" or "*" is relative to the workspace; one with "://" is an address.
	Paths []string `toml:"paths" doc:"patterns for files and addresses; default: any"`
	// ArgsMatch is an RE2; for a shell, it is about each simple command.
	ArgsMatch    string   `toml:"args_match" doc:"a regular expression for the strings in the input; default: any"`
	Env          []string `toml:"env" doc:"variables that must be set"`
	TrustLevel   string   `toml:"trust_level" doc:"the least trust that the call needs: untrusted, provisional or trusted; default: any"`
	Capabilities []string `toml:"capabilities" doc:"reserved; must be empty"`

	position string // "FILE:LINE"
}

// SetPosition records the position of the rule: FILE:LINE.
func (r *Rule) SetPosition(position string) { r.position = position }

// Config is the table [tools.policy].
type Config struct {
	Enabled       bool               `toml:"enabled" default:"false" doc:"true: check every call by rules; see gates.md"`
	DefaultEffect executors.Decision `toml:"default_effect" default:"deny" oneof:"allow,deny" doc:"for calls that no rule matches"`
	// PolicyFile is absolute, begins with ~/, or is relative to the configuration file.
	PolicyFile string `toml:"policy_file" format:"file" doc:"a file with [[rules]] that replace the configured rules"`
	Rules      []Rule `toml:"rules" doc:"the rules"`

	// File is PolicyFile as it was found, and FileRules are its rules.
	File      string `toml:"-"`
	FileRules []Rule `toml:"-"`

	repository []Rule // that the workspace's file adds; they deny
}

// Authorization is the table [tools.authorization]. If any of its rules allows, calls that no
// rule matches are denied.
type Authorization struct {
	Enabled bool   `toml:"enabled" default:"false" doc:"true: check every call by a second list of rules, after [tools.policy]"`
	Rules   []Rule `toml:"rules" doc:"the rules"`

	repository []Rule // that the workspace's file adds; they deny
}

// Limits of a list of rules.
const (
	MaxRules = 256
	maxRegex = 1 << 10 // bytes
	// MaxFile is the size of the largest file of rules, in bytes.
	MaxFile = 256 << 10
)

// Validate returns a message for each wrong key.
func (c Config) Validate() map[string]string { return validate(c.Rules) }

// Validate returns a message for each wrong key.
func (c Authorization) Validate() map[string]string { return validate(c.Rules) }

// validate returns a message for each wrong key of a list, by key.
func validate(rules []Rule) map[string]string {
	wrong := map[string]string{}
	if len(rules) > MaxRules {
		wrong["rules"] = fmt.Sprintf("has %s, more than the limit of %d", quantity.Count(len(rules), "rule"), MaxRules)
		return wrong
	}
	for i, r := range rules {
		for key, text := range r.validate() {
			wrong[fmt.Sprintf("rules[%d].%s", i, key)] = text
		}
	}
	return wrong
}

// validate returns a message for each invalid key.
func (r Rule) validate() map[string]string {
	wrong := map[string]string{}
	if r.Effect == "" {
		wrong["effect"] = "is missing: allow or deny"
	}
	if strings.TrimSpace(r.Tool) == "" {
		wrong["tool"] = `is missing: "*" matches every tool`
	} else if _, err := wildcard.Compile(r.Tool); err != nil {
		wrong["tool"] = err.Error()
	}
	if r.Paths != nil && len(r.Paths) == 0 {
		wrong["paths"] = "is empty: without the key the rule is about calls with any files"
	}
	for i, p := range r.Paths {
		if _, err := wildcard.Compile(p); err != nil || p == "" {
			wrong[fmt.Sprintf("paths[%d]", i)] = fmt.Sprintf("%q is not a pattern", p)
		}
	}
	if text := checkRegex(r.ArgsMatch); text != "" {
		wrong["args_match"] = text
	}
	if slices.ContainsFunc(r.Env, func(name string) bool { return name == "" || strings.ContainsAny(name, "=\x00") }) {
		wrong["env"] = "has an entry that is not the name of a variable"
	}
	if rank(r.TrustLevel) < 0 {
		wrong["trust_level"] = fmt.Sprintf("%q is not one of untrusted, provisional, trusted", r.TrustLevel)
	}
	if len(r.Capabilities) > 0 {
		wrong["capabilities"] = "is reserved: tools report no capabilities yet"
	}
	return wrong
}

// checkRegex returns the fault of a regular expression, "" if it is valid.
func checkRegex(text string) string {
	if len(text) > maxRegex {
		return fmt.Sprintf("has %s, more than the limit of %d", quantity.Count(len(text), "byte"), maxRegex)
	}
	if _, err := pattern.Compile(text); err != nil {
		if wrong, ok := err.(*syntax.Error); ok {
			return wrong.Error()
		}
		return err.Error()
	}
	return ""
}

// Warnings returns a line for each setting that does not do what it seems to do.
func (c Config) Warnings() []string {
	if !c.Enabled {
		if len(c.Rules) > 0 || c.PolicyFile != "" {
			return []string{"[tools.policy] is off, so its rules check no call: set enabled = true in it"}
		}
		return nil
	}
	var out []string
	if len(c.ruleset()) == 0 && c.DefaultEffect == executors.Deny {
		out = append(out, "[tools.policy] denies every call: it has no rules, and default_effect is deny")
	}
	return append(out, trustWarnings(c.ruleset())...)
}

// Warnings returns a line for each setting that does not do what it seems to do.
func (c Authorization) Warnings() []string {
	switch {
	case c.Enabled:
		return trustWarnings(c.Rules)
	case len(c.Rules) > 0:
		return []string{"[tools.authorization] is off, so its rules check no call: set enabled = true in it"}
	}
	return nil
}

// trustWarnings warns of rules that deny a trusted call and not a less trusted one.
func trustWarnings(rules []Rule) (out []string) {
	for _, r := range rules {
		if r.Effect == executors.Deny && rank(r.TrustLevel) > rank(untrusted) {
			out = append(out, fmt.Sprintf("%s: the rule denies calls at the level %q, but not less trusted ones", r.position, r.TrustLevel))
		}
	}
	return out
}

// ruleset returns the rules in force.
func (c Config) ruleset() []Rule {
	if c.File != "" {
		return c.FileRules
	}
	return c.Rules
}

// Tighten adopts the deny rules of a repository's file. They hold even if the user's
// own policy is off.
func (c *Config) Tighten(repo any, keys *setting.Keys) {
	theirs := repo.(Config)
	keys.Adopt("enabled", theirs.Enabled || !c.Enabled, func() {})
	keys.Adopt("default_effect", theirs.DefaultEffect == c.DefaultEffect || theirs.DefaultEffect == executors.Deny && c.Enabled,
		func() { c.DefaultEffect = theirs.DefaultEffect })
	c.repository = denials(theirs.Rules, keys)
}

// Tighten adopts the deny rules of a repository's file, as Config does.
func (c *Authorization) Tighten(repo any, keys *setting.Keys) {
	theirs := repo.(Authorization)
	keys.Adopt("enabled", theirs.Enabled || !c.Enabled, func() {})
	c.repository = denials(theirs.Rules, keys)
}

// denials returns the deny rules of a repository's file, which ignores all others.
func denials(rules []Rule, keys *setting.Keys) (deny []Rule) {
	if !keys.Has("rules") {
		return nil
	}
	for i, r := range rules {
		if r.Effect == executors.Deny {
			deny = append(deny, r)
		} else {
			keys.Ignore(fmt.Sprintf("rules[%d]", i))
		}
	}
	return deny
}

// The levels of trust.
const (
	untrusted = "untrusted"
	trusted   = "trusted"
)

// levels are the levels of trust, the lowest first, each with its older names.
var levels = [][]string{{"blocked"}, {untrusted, "quarantined"}, {"provisional", "verified"}, {trusted}}

// rank returns the rank of a level, -1 for an unknown one. Rules without a level hold
// at every level.
func rank(level string) int {
	if level == "" {
		return 0
	}
	return slices.IndexFunc(levels, func(names []string) bool { return slices.Contains(names, level) })
}
