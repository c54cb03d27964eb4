package permission

import (
	"context"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
)

func web(url string) *executors.Call {
	return &executors.Call{Tool: "http_head", Card: executors.Card{Title: "Fetch " + url, URL: url, Kind: executors.KindFetch}}
}

func TestWebRules(t *testing.T) {
	for name, tt := range map[string]struct {
		pattern string
		action  Action
		url     string
		want    string // the outcome of the call: ran, asked or denied
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
				s.cfg.Permissions = map[string][]Rule{"http_head": {{Pattern: tt.pattern, Action: tt.action}}}
				res := s.build().do(t, web(tt.url))
				got := "denied"
				if !res.Failed {
					got = "ran"
				} else if len(s.user.asked) > 0 {
					got = "asked"
				}
				if got != tt.want {
					t.Errorf("in mode %s: %s, want %s: %s", mode, got, tt.want, res.ForModel())
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
			t.Errorf("%s: %s", tt.url, res.ForModel())
		}
	}
	if len(s.user.asked) != 2 || s.user.names[0][1].Name != "Always allow reading docs.rs" {
		t.Errorf("asked %q, %v", s.user.asked, s.user.names)
	}
	if res := s.do(t, web("https://other.org/x")); !strings.Contains(res.ForModel(), `pattern = "other.org"`) {
		t.Errorf(`s.do(t, web("https://other.org/x")): got %s, want %q in it`, res.ForModel(), `pattern = "other.org"`)
	}
	if res := s.do(t, bash("curl https://docs.rs/a")); !res.Failed {
		t.Error("an always for reading covers curl")
	}
}

// forwarded is a tool whose page forwards to others: it asks about each.
type forwarded struct {
	ran
	to   []string
	errs []error
}

func (f *forwarded) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	for _, to := range f.to {
		if err := call.Admit(ctx, executors.Card{Title: "Fetch " + to, URL: to, Kind: executors.KindFetch}); err != nil {
			f.errs = append(f.errs, err)
			return executors.FailWith(err), nil
		}
	}
	return executors.Result{Text: "ran"}, nil
}

// A redirect is checked like a separate call, within the same call.
func TestAdmit(t *testing.T) {
	for name, tt := range map[string]struct {
		rules   []Rule
		give    []string
		to      []string
		asked   string
		failure string
	}{
		"a rule allows": {rules: []Rule{{Pattern: "b.org", Action: Allow}}, give: []string{allowOnce}, to: []string{"https://b.org/x"},
			asked: "Fetch https://a.org/"},
		"a rule denies": {rules: []Rule{{Pattern: "b.org", Action: Deny}}, give: []string{allowOnce}, to: []string{"https://b.org/x"},
			asked: "Fetch https://a.org/", failure: "not allowed"},
		"denied on the same host": {rules: []Rule{{Pattern: "a.org/private*", Action: Deny}}, give: []string{allowOnce},
			to: []string{"https://a.org/private"}, asked: "Fetch https://a.org/", failure: "not allowed"},
		"asked": {give: []string{allowOnce, allowOnce}, to: []string{"https://b.org/x"}, asked: "Fetch https://a.org/,Fetch https://b.org/x"},
		"asked once in a call": {give: []string{allowOnce, allowOnce}, to: []string{"https://b.org/x", "https://a.org/", "https://www.b.org/y"},
			asked: "Fetch https://a.org/,Fetch https://b.org/x"},
		"rejected": {give: []string{allowOnce, rejectOnce}, to: []string{"https://b.org/x"}, asked: "Fetch https://a.org/,Fetch https://b.org/x",
			failure: "rejected"},
		"no answer": {give: []string{allowOnce}, to: []string{"https://b.org/x"}, asked: "Fetch https://a.org/,Fetch https://b.org/x",
			failure: "the question was not answered"},
		"the same host": {give: []string{allowOnce}, to: []string{"https://a.org/x", "https://www.a.org/"}, asked: "Fetch https://a.org/"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSetup()
			tool := &forwarded{to: tt.to}
			s.cfg.Permissions = map[string][]Rule{"http_head": tt.rules}
			s.user.give = tt.give
			s.build()
			policy := s.perm.Policy
			s.chain = executors.Chain(tool, (&Guard{Policy: policy, Roots: roots(root)}).Middleware, s.perm.Middleware)
			call := web("https://a.org/")
			res := s.do(t, call)
			if got := strings.Join(s.user.asked, ","); got != tt.asked {
				t.Errorf("asked %q, want %q", got, tt.asked)
			}
			if res.Failed != (tt.failure != "") || !strings.Contains(res.ForModel(), tt.failure) {
				t.Errorf("%s", res.ForModel())
			}
			if denied := call.Record.Decision() == "deny"; denied != (tt.failure == "not allowed" || tt.failure == "rejected") {
				t.Errorf("on record: %+v", call.Record)
			}
		})
	}
	t.Run("an always", func(t *testing.T) {
		s := newSetup().build()
		tool := &forwarded{to: []string{"https://b.org/x"}}
		s.chain = executors.Chain(tool, (&Guard{Policy: s.perm.Policy, Roots: roots(root)}).Middleware, s.perm.Middleware)
		s.user.give = []string{allowOnce, allowAlways, allowOnce}
		for range 2 {
			if res := s.do(t, web("https://a.org/")); res.Failed {
				t.Errorf(`s.do(t, web("https://a.org/")): got %s, want success`, res.ForModel())
			}
		}
		if got := strings.Join(s.user.asked, ","); got != "Fetch https://a.org/,Fetch https://b.org/x,Fetch https://a.org/" {
			t.Errorf("asked %q", got)
		}
	})
}
