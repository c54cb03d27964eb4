package trust

import (
	"encoding/json"
	"maps"
	"strings"
)

// levelOf returns the level of a subject, and its reason for people; the caller holds
// t.mu. A block comes first, then the user, then the configuration.
func (t *Trust) levelOf(subject string) (Level, string) {
	if why, ok := t.overrides.Blocked[subject]; ok {
		return Blocked, why
	}
	configured := t.configured(subject)
	if level, ok := t.overrides.Set[subject]; ok && !t.tooHigh(level, configured) {
		return level, "set by /trust"
	}
	return configured, "the configuration"
}

// tooHigh reports whether the user may not set a level.
func (t *Trust) tooHigh(level, configured Level) bool { return t.LowerOnly && level > configured }

// configured returns the configured level of a subject.
func (t *Trust) configured(subject string) Level {
	if level, ok := t.cfg.Levels[subject]; ok {
		return level
	}
	switch server, isServer := strings.CutPrefix(subject, serverPrefix); {
	case isServer && t.Entry != nil && t.Entry(server):
		return Trusted
	case isServer:
		return t.cfg.Servers
	case strings.HasPrefix(subject, skillPrefix):
		return t.cfg.Skills
	case subject == content:
		return t.cfg.Content
	}
	return Trusted
}

// Skill returns the level of a skill.
func (t *Trust) Skill(name string) Level { return t.LevelOf(skillPrefix + name) }

// explain returns the level of a subject, and its reason as the end of a sentence.
func (t *Trust) explain(subject string) (Level, string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	level, why := t.levelOf(subject)
	return level, " (" + why + ")"
}

// BlockTool blocks a tool until [Trust.Reset]; why is the reason for people.
func (t *Trust) BlockTool(name, why string) {
	t.change(func() { t.overrides.Blocked[toolPrefix+name] = why })
}

// BlockedTool returns why BlockTool blocked a tool, or "".
func (t *Trust) BlockedTool(name string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.overrides.Blocked[toolPrefix+name]
}

// Set sets the level of a subject, and ends a block.
func (t *Trust) Set(subject string, level Level) {
	t.change(func() {
		delete(t.overrides.Blocked, subject)
		t.overrides.Set[subject] = level
	})
	t.forget(subject)
}

// Reset returns a subject to its configured level, and ends a block.
func (t *Trust) Reset(subject string) {
	t.change(func() {
		delete(t.overrides.Blocked, subject)
		delete(t.overrides.Set, subject)
	})
	t.forget(subject)
}

func (t *Trust) forget(subject string) {
	if tool, ok := strings.CutPrefix(subject, toolPrefix); ok && t.Forget != nil {
		t.Forget(tool)
	}
}

// change changes the session's own levels and saves them.
func (t *Trust) change(do func()) {
	t.mu.Lock()
	do()
	raw, err := json.Marshal(t.overrides)
	t.mu.Unlock()
	if err == nil && t.Save != nil {
		t.Save(raw)
	}
}

// Restore sets the levels that Save received last.
func (t *Trust) Restore(raw json.RawMessage) {
	var stored overrides
	if len(raw) == 0 || json.Unmarshal(raw, &stored) != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.overrides = overrides{map[string]Level{}, map[string]string{}}
	maps.Copy(t.overrides.Set, stored.Set)
	maps.Copy(t.overrides.Blocked, stored.Blocked)
}
