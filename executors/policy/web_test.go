package policy

import (
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
)

func web(url string) *executors.Call {
	return &executors.Call{Tool: "scrape", Card: executors.Card{Title: "Fetch " + url, URL: url, Kind: executors.KindFetch}}
}

func TestWebRules(t *testing.T) {
	for name, tt := range map[string]struct {
		pattern string
		action  Action
		url     string
		want    string // what becomes of the call: ran, asked or denied
	}{
		"none":                  {"other.org", Allow, "https://docs.rs/x", "asked"},
		"host":                  {"docs.rs", Allow, "https://docs.rs/x?y=1", "ran"},
		"host in capitals":      {"Docs.RS", Allow, "https://docs.rs/x", "ran"},
		"everything":            {"*", Allow, "https://docs.rs/x", "ran"},
		"below":                 {"*.rust-lang.org", Allow, "https://doc.rust-lang.org/std/", "ran"},
		"not the domain itself": {"*.rust-lang.org", Allow, "https://rust-lang.org/", "asked"},
		"not in a path":         {"*.rust-lang.org", Allow, "https://evil.org/x.rust-lang.org", "asked"},
		"not in a path, whole":  {"https://*.rust-lang.org/*", Allow, "https://evil.org/.rust-lang.org/", "asked"},
		"not in a query":        {"*docs.rs", Allow, "https://evil.org/?docs.rs", "asked"},
		"no longer name":        {"docs.rs", Allow, "https://docs.rs.evil.org/", "asked"},
		"no other port":         {"docs.rs", Allow, "https://docs.rs:8443/", "asked"},
		"path":                  {"docs.rs/std/*", Allow, "https://docs.rs/std/io", "ran"},
		"another path":          {"https://docs.rs/std/*", Allow, "https://docs.rs/serde", "asked"},
		"whole":                 {"https://docs.rs/std/*", Allow, "https://docs.rs/std/io", "ran"},
		"broken":                {"docs.rs[z-a]", Allow, "https://docs.rs/", "asked"},
		"http allows nothing":   {"http://docs.rs", Allow, "https://docs.rs/", "asked"},
		"denied host":           {"evil.org", Deny, "https://evil.org/x", "denied"},
		"denied with www":       {"evil.org", Deny, "https://www.evil.org/x", "denied"},
		"denied without www":    {"www.evil.org", Deny, "https://evil.org/x", "denied"},
		"denied word":           {"*token=*", Deny, "https://docs.rs/x?token=1", "denied"},
		"denied path":           {"docs.rs/x*", Deny, "https://docs.rs/xyz", "denied"},
		"denied whole":          {"https://docs.rs/*", Deny, "https://docs.rs/xyz", "denied"},
		"denied broken":         {"docs.rs[z-a]", Deny, "https://docs.rs/", "denied"},
		"not denied":            {"evil.org", Deny, "https://docs.rs/evil.org", "asked"},
		"asked":                 {"docs.rs", Ask, "https://docs.rs/", "asked"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, mode := range []string{"ask", "architect", "code", "auto"} {
				s := newSetup()
				s.mode, s.user.give = mode, []string{rejectOnce}
				s.cfg.Permissions = map[string][]Rule{"scrape": {{Pattern: tt.pattern, Action: tt.action}}}
				res := s.build().do(t, web(tt.url))
				got := "denied"
				if !res.Failed {
					got = "ran"
				} else if len(s.user.asked) > 0 {
					got = "asked"
				}
				if got != tt.want {
					t.Errorf("in mode %s: %s, want %s: %s", mode, got, tt.want, res.Text)
				}
			}
		})
	}
}

func TestWebAlways(t *testing.T) {
	s := newSetup().build()
	s.user.give = []string{allowAlways, rejectAlways}
	for _, tt := range []struct {
		url string
		ran bool
	}{
		{"https://docs.rs/a", true}, {"https://docs.rs/b", true}, {"https://www.docs.rs/", true},
		{"https://evil.org/", false}, {"https://evil.org/x", false},
	} {
		if res := s.do(t, web(tt.url)); res.Failed == tt.ran {
			t.Errorf("%s: %s", tt.url, res.Text)
		}
	}
	if len(s.user.asked) != 2 || s.user.names[0][1].Name != "Always allow reading docs.rs" {
		t.Errorf("asked %q, %v", s.user.asked, s.user.names)
	}
	if res := s.do(t, web("https://other.org/x")); !strings.Contains(res.Text, `pattern = "other.org"`) {
		t.Error(res.Text)
	}
	if res := s.do(t, bash("curl https://docs.rs/a")); !res.Failed {
		t.Error("an always for reading covers curl")
	}
}
