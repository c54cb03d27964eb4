package app

import (
	"github.com/zeph-acp/zeph-acp/executors/gates/adversarial"
	"github.com/zeph-acp/zeph-acp/executors/gates/judge"
	"github.com/zeph-acp/zeph-acp/executors/permission"
	"github.com/zeph-acp/zeph-acp/session/agent"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/local"
)

// arbiter returns the judge of the mode auto-judge. The error is meant for the
// user, who is then asked.
func (b *sessionBuilder) arbiter() (permission.Arbiter, error) {
	model, err := b.judgeModel("tools.judge.provider", b.cfg.Tools.Judge.Provider)
	return &judge.Auto{Model: model, Timeout: b.cfg.Tools.Judge.Timeout(), Mask: b.mask()}, err
}

// adversarialGate returns the gate adversarial_policy, or nil if it is off. The error is
// meant for the user; the gate then treats each call as not judged.
func (b *sessionBuilder) adversarialGate() (*adversarial.Gate, error) {
	c := b.cfg.Tools.Adversarial
	if !c.Enabled {
		return nil, nil
	}
	g := &adversarial.Gate{Config: c, Mask: b.mask()}
	if g.Policies, g.LoadErr = c.Load(b.dirs.home); g.LoadErr != nil {
		g.Model = func() judge.Model { return nil }
		return g, g.LoadErr
	}
	var err error
	g.Model, err = b.judgeModel("tools.adversarial_policy.policy_provider", c.PolicyProvider)
	return g, err
}

// adversarialFeature lets a model judge calls by the user's policies.
func (b *sessionBuilder) adversarialFeature() Feature {
	f := Feature{Name: "adversarial_policy", Link: b.models.adversarial.Link(), OwnCalls: true}
	if b.models.adversarial != nil {
		f.Status = func() []string { return []string{b.models.adversarial.Status()} }
	}
	return f
}

// judgeModel returns a function that returns the model for questions about calls: the one
// that a configuration key selects, or the session's if the key is empty. With an error the
// function returns nil.
func (b *sessionBuilder) judgeModel(key, name string) (func() judge.Model, error) {
	chosen, err := b.helperModel(key, name)
	return func() judge.Model {
		m := chosen
		if name == "" {
			m = b.session.Model()
		}
		if m == nil || isDirect(m) {
			return nil
		}
		return &agent.Judge{Model: m, Count: b.countHelper}
	}, err
}

// isDirect reports whether a model is the built-in one, which cannot judge.
func isDirect(m llm.Model) bool {
	_, ok := m.(local.Direct)
	return ok
}
