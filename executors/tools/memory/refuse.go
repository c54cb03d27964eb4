package memory

import (
	"regexp"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// refusal matches the beginning of a model's refusal.
var refusal = lazyregexp.New(`(?i)^\W*(?:(?:i(?:['’]m| am) )?(?:so |very )?sorry(?:[,.!]| but\b| i\b)|as an? (?:ai|language model|assistant)\b|` +
	`i (?:can(?:no|['’])?t|can not|won['’]?t|will not|must (?:decline|refuse)|refuse to|decline to|do not have (?:access|permission)|don['’]t have (?:access|permission))\b|` +
	`i(?:['’]m| am) (?:unable|not able|not allowed|not permitted)\b)`)

// isRefusal reports whether a text is a model's refusal to do something.
func isRefusal(text string) bool { return refusal.MatchString(text) }

// policyPattern returns an expression for accounts of the agent's own permissions: lines of its
// failures, and sentences that say that one of its tools is denied. A name that is also an English
// word counts only before "tool" or "call".
func policyPattern(tools []executors.Tool) *regexp.Regexp {
	alone, words := []string{}, []string{"shell", "mcp"}
	for _, t := range tools {
		if strings.Contains(t.Name, "_") || t.RunsScripts() {
			alone = append(alone, regexp.QuoteMeta(t.Name))
		} else {
			words = append(words, regexp.QuoteMeta(t.Name))
		}
	}
	tool := `(?:` + strings.Join(append(alone, `(?:`+strings.Join(words, "|")+`) (?:tool|call)s?`), "|") +
		`|tool calls?|(?:the |this )?(?:agent|assistant|session)|i|you)`
	const (
		denied = `(?:denied|blocked|not (?:allowed|permitted|available)|forbidden|disallowed|prohibited|rejected|disabled|refused|restricted)`
		by     = `(?:polic(?:y|ies)|permissions?|sandbox|modes?|gates?|trust|by (?:the )?(?:user|rules?|system))`
	)
	return regexp.MustCompile(`(?i)\[tool_error\]|\bpolicy_?blocked\b|\bconfirmation_?required\b|\[mode: |it needs the user['’]s permission|` +
		`\b` + tool + `\b[^.\n]{0,40}\b` + denied + `\b[^.\n]{0,60}\b` + by + `\b|` +
		`\b` + by + `\b[^.\n]{0,40}\b(?:denies|blocks|forbids|disallows|prohibits|rejects|refuses)\b[^.\n]{0,40}\b` + tool + `\b`)
}

// isToolPolicy reports whether a text says that a tool of the agent is not allowed.
func (m *Memory) isToolPolicy(text string) bool {
	m.policyOnce.Do(func() {
		var tools []executors.Tool
		if m.KnownTools != nil {
			tools = m.KnownTools()
		}
		m.policy = policyPattern(tools)
	})
	return m.policy.MatchString(text)
}
