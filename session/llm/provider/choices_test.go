package provider

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestModels(t *testing.T) {
	const script = "testdata/text.jsonl"
	lines := func(provider string) []string {
		return []string{provider + ":claude-sonnet-5-5", provider + ":claude-opus-5-5", provider + ":claude-fable-5-1", provider + ":claude-haiku-5-5"}
	}
	for name, tt := range map[string]struct {
		providers []Provider
		env       map[string]string
		names     []string
		titles    string
	}{
		"nothing": {nil, nil, []string{"direct"}, "Direct"},
		"a key": {nil, map[string]string{"ANTHROPIC_API_KEY": "k"}, lines("claude"),
			"Claude Sonnet 5.5, Claude Opus 5.5, Claude Fable 5.1, Claude Haiku 5.5"},
		"a key for elsewhere": {nil, map[string]string{"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"},
			[]string{"claude:claude-sonnet-5-5"}, "Claude Sonnet 5.5"},
		"all, the default first": {
			[]Provider{
				{Type: "direct"},
				{Name: "old", Type: "claude", Model: "claude-opus-4-8", BaseURL: "https://api.anthropic.com/v1/"},
				{Name: "lab", Type: "claude", Model: "llama", BaseURL: "http://lab.example"},
				{Name: "play", Type: "script", Model: script, Default: true},
			}, nil,
			append([]string{"play:" + script, "direct", "old:claude-opus-4-8", "lab:llama"}, lines("old")...),
			"text.jsonl, Direct, claude-opus-4-8, llama, Claude Sonnet 5.5, Claude Opus 5.5, Claude Fable 5.1, Claude Haiku 5.5"},
		"two of a kind": {
			[]Provider{{Name: "a", Type: "claude", Model: "claude-opus-5-5"}, {Name: "b", Type: "claude", BaseURL: "http://b.example"}}, nil,
			[]string{"a:claude-opus-5-5", "b:claude-sonnet-5-5", "a:claude-sonnet-5-5", "a:claude-fable-5-1", "a:claude-haiku-5-5"},
			"Claude Opus 5.5, Claude Sonnet 5.5 (b), Claude Sonnet 5.5 (a), Claude Fable 5.1, Claude Haiku 5.5"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, getenv := Config{Providers: tt.providers}, func(k string) string { return tt.env[k] }
			var names, titles []string
			for _, c := range Models(cfg, getenv) {
				names, titles = append(names, c.Name), append(titles, c.Title)
				if m, err := Select(cfg, getenv, nil, c.Name); err != nil || m.Name() != c.Name {
					t.Errorf("Select(%s): %v", c.Name, err)
				}
				if c.Description == "" {
					t.Errorf("%s has no description", c.Name)
				}
			}
			if diff := cmp.Diff(tt.names, names) + cmp.Diff(tt.titles, strings.Join(titles, ", ")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if m, err := Select(cfg, getenv, nil, ""); err != nil || m.Name() != names[0] {
				t.Errorf("the first is not the default: %v", err)
			}
		})
	}
}

func TestKeys(t *testing.T) {
	var others []Key // the public types after claude
	for _, k := range kinds[1:] {
		if k.public {
			others = append(others, Key{k.name, k.keyEnv})
		}
	}
	for name, tt := range map[string]struct {
		providers []Provider
		want      []Key
	}{
		"nothing": {nil, append([]Key{{"claude", "ANTHROPIC_API_KEY"}}, others...)},
		"unnamed": {[]Provider{{Type: "claude"}}, append([]Key{{"claude", "ANTHROPIC_API_KEY"}}, others...)},
		"named, the default first": {
			[]Provider{{Type: "direct"}, {Name: "a", Type: "claude"}, {Type: "script", Model: "m"}, {Name: "b", Type: "claude", APIKeyEnv: "B", Default: true}},
			append([]Key{{"b", "B"}, {"a", "ANTHROPIC_API_KEY"}, {"claude", "B"}}, others...)},
		"others":         {[]Provider{{Type: "direct"}}, append([]Key{{"claude", "ANTHROPIC_API_KEY"}}, others...)},
		"the name taken": {[]Provider{{Name: "claude", Type: "direct"}}, others},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Keys(Config{Providers: tt.providers})); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
