package rules

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/workspace/tighten"
	"github.com/zeph-acp/zeph-acp/filter/text/pattern"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/filter/text/wildcard"
)

// Rule is one entry of [[tools.policy.rules]] or [[tools.authorization.rules]]. It
// matches a call if all its conditions hold.
type Rule struct {
	// Effect is allow or deny.
	Effect executors.Decision `toml:"effect"`
	// Tool is a pattern for the name of the tool, such as "*" or "github__*", without
	// regard to case. bash, sh and shell are one tool.
	Tool string `toml:"tool"`
	// Paths are patterns for the files and addresses that the call concerns. "*" is
	// any text, including "/". A pattern that does not begin with "/", "~" or "*"
	// is relative to the workspace; one with "://" is an address. Default any.
	Paths []string `toml:"paths"`
	// ArgsMatch is a regular expression (RE2) for the texts of the input; for a shell,
	// for each simple command. Default any.
	ArgsMatch string `toml:"args_match"`
	// Env are names of variables that must be set. Default none.
	Env []string `toml:"env"`
	// TrustLevel is the least trusted level at which the rule holds: untrusted,
	// provisional or trusted. Default any.
	TrustLevel string `toml:"trust_level"`
	// Capabilities is reserved; it must be empty.
	Capabilities []string `toml:"capabilities"`

	position string // "FILE:LINE"
}

// SetPosition records the position of the rule: FILE:LINE.
func (r *Rule) SetPosition(position string) { r.position = position }

// Config is the table [tools.policy].
type Config struct {
	// Enabled judges every call by the rules. Default false.
	Enabled bool `toml:"enabled"`
	// DefaultEffect is the decision about calls that no rule matches: deny or allow.
	// Default deny.
	DefaultEffect executors.Decision `toml:"default_effect"`
	// PolicyFile is a file with [[rules]], which replace Rules. It is absolute, begins
	// with ~/, or is relative to the configuration file. Default none.
	PolicyFile string `toml:"policy_file"`
	// Rules are the rules. Default none.
	Rules []Rule `toml:"rules"`

	// File is PolicyFile as it was found, and FileRules are its rules.
	File      string `toml:"-"`
	FileRules []Rule `toml:"-"`

	repository []Rule // that the workspace's file adds; they deny
}

// Authorization is the table [tools.authorization].
type Authorization struct {
	// Enabled judges every call by the rules, after [tools.policy]. Default false.
	Enabled bool `toml:"enabled"`
	// Rules are the rules. If any of them allows, calls that no rule matches are
	// denied. Default none.
	Rules []Rule `toml:"rules"`

	repository []Rule // that the workspace's file adds; they deny
}

// Limits of a list of rules.
const (
	MaxRules = 256
	maxRegex = 1 << 10 // bytes
	// MaxFile is the size of the largest file of rules, in bytes.
	MaxFile = 256 << 10
)

// Defaults returns the default settings of [tools.policy].
func Defaults() Config { return Config{DefaultEffect: executors.Deny} }

// AuthorizationDefaults returns the default settings of [tools.authorization].
func AuthorizationDefaults() Authorization { return Authorization{} }

// Validate returns a message for each wrong key.
func (c Config) Validate() map[string]string {
	wrong := validate(c.Rules)
	if !slices.Contains(effects, c.DefaultEffect) {
		wrong["default_effect"] = fmt.Sprintf("%q is not one of allow, deny", c.DefaultEffect)
	}
	if strings.ContainsRune(c.PolicyFile, 0) {
		wrong["policy_file"] = "a file name cannot contain NUL"
	}
	return wrong
}

// Validate returns a message for each wrong key.
func (c Authorization) Validate() map[string]string { return validate(c.Rules) }

// effects are the effects of rules.
var effects = []executors.Decision{executors.Allow, executors.Deny}

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
	} else if !slices.Contains(effects, r.Effect) {
		wrong["effect"] = fmt.Sprintf("%q is not one of allow, deny", r.Effect)
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
			return []string{"[tools.policy] is off, so its rules judge no call: set enabled = true in it"}
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
		return []string{"[tools.authorization] is off, so its rules judge no call: set enabled = true in it"}
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
func (c Config) Tighten(repo Config, keys *tighten.Keys) Config {
	keys.Adopt("enabled", repo.Enabled || !c.Enabled, func() {})
	keys.Adopt("default_effect", repo.DefaultEffect == c.DefaultEffect || repo.DefaultEffect == executors.Deny && c.Enabled,
		func() { c.DefaultEffect = repo.DefaultEffect })
	c.repository = denials(repo.Rules, keys)
	return c
}

// Tighten adopts the deny rules of a repository's file, as that of [Config] does.
func (c Authorization) Tighten(repo Authorization, keys *tighten.Keys) Authorization {
	keys.Adopt("enabled", repo.Enabled || !c.Enabled, func() {})
	c.repository = denials(repo.Rules, keys)
	return c
}

// denials returns the deny rules of a repository's file, which ignores all others.
func denials(rules []Rule, keys *tighten.Keys) (deny []Rule) {
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
