package app

import (
	"fmt"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config/toml"
	"github.com/zeph-acp/zeph-acp/executors/gates/adversarial"
	"github.com/zeph-acp/zeph-acp/executors/links/overflow"
	"github.com/zeph-acp/zeph-acp/executors/permission"
	"github.com/zeph-acp/zeph-acp/filter/text"
	"github.com/zeph-acp/zeph-acp/session/agent"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/provider"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// model opens a model by name. It refuses a model without a key, so that the
// client can ask for one before the first prompt. The error mentions a key file
// that cannot be used, since the key may be in it.
func (a *App) model(name string) (llm.Model, error) {
	return a.modelOf(a.Config.LLM, name)
}

// modelOf opens a model by name with the providers of cfg; see model.
func (a *App) modelOf(cfg provider.Config, name string) (llm.Model, error) {
	m, err := provider.Select(cfg, a.Getenv, &a.servers, name)
	if err != nil {
		return nil, a.nameSelector(name, err)
	}
	if err := llm.Ready(m); err != nil {
		err = fmt.Errorf("%w: %w", acp.ErrAuthRequired, err)
		if locked := a.locked(); locked != nil {
			err = fmt.Errorf("%w; %w", err, locked)
		}
		return nil, err
	}
	return m, nil
}

// IsDirect reports whether a name, which is empty for the default model, selects no model.
func (a *App) IsDirect(name string) bool {
	m, err := a.Sessions().Model(name)
	return err == nil && isDirect(m)
}

// nameSelector adds to a model's error the place that selected the model: the environment,
// or the only configured provider. Any other name was just entered by the user.
func (a *App) nameSelector(name string, err error) error {
	switch {
	case name != "" && name == a.envModel:
		return fmt.Errorf("ZEPH_MODEL: %w", err)
	case name == "" && a.origin != nil && len(a.Config.LLM.Providers) == 1:
		const key = "llm.providers[0].model"
		return fmt.Errorf("%s: key %q: %w", toml.Printable(a.origin(key)), key, err)
	}
	return err
}

// locked returns the reason why the saved keys cannot be used, or nil.
func (a *App) locked() error {
	if a.Locked == nil {
		return nil
	}
	return a.Locked()
}

// helperModel opens the model that a configuration key names for work outside the
// conversation; nil if the key is empty. The error is meant for the user.
func (b *sessionBuilder) helperModel(key, name string) (llm.Model, error) {
	if name == "" {
		return nil, nil
	}
	alone := b.cfg.LLM
	alone.Fallback = nil // the user chose this model for the purpose
	m, err := b.app.modelOf(alone, name)
	if err == nil {
		return m, nil
	}
	if b.app.origin != nil {
		return nil, fmt.Errorf("%s: key %q is not used: %w", toml.Printable(b.app.origin(key)), key, err)
	}
	return nil, fmt.Errorf("%s is not used: %w", key, err)
}

// countHelper adds the tokens of a helper model's answer to the session's usage.
func (b *sessionBuilder) countHelper(m llm.Model, u llm.Usage) {
	b.session.Spend(m, u)
	b.session.Record(transcript.Answer{Model: m.Name(), Usage: &u})
}

// helperModels are the models for work outside the conversation.
type helperModels struct {
	reformatter *agent.Reformatter  // nil: the session's model repairs its own calls
	compaction  llm.Model           // nil: the session's model
	summarizer  overflow.Summarizer // nil: long outputs are not summarized
	arbiter     permission.Arbiter  // judges in the mode auto-judge
	adversarial *adversarial.Gate   // nil: the gate is off
}

// helperModels opens the configured helper models. It returns a warning for the
// user about each that cannot be used.
func (b *sessionBuilder) helperModels() (made helperModels, warnings []string) {
	var errs [5]error
	made.reformatter, errs[0] = b.reformatter()
	made.compaction, errs[1] = b.helperModel("agent.compress_provider", b.cfg.Agent.CompressProvider)
	made.summarizer, errs[2] = b.summarizer()
	made.arbiter, errs[3] = b.arbiter()
	made.adversarial, errs[4] = b.adversarialGate()
	for _, err := range errs {
		if err != nil {
			warnings = append(warnings, err.Error())
		}
	}
	return made, warnings
}

// reformatter returns the repairer of inputs that do not fit their tool, or nil
// if it is off. The error is meant for the user. The main model never replaces
// a reformatter that cannot be used.
func (b *sessionBuilder) reformatter() (*agent.Reformatter, error) {
	m, err := b.helperModel("tools.retry.parameter_reformat_provider", b.cfg.Tools.Retry.ParameterReformatProvider)
	if m == nil {
		return nil, err
	}
	return &agent.Reformatter{Model: m, Timeout: b.cfg.Tools.Retry.ReformatTimeout()}, nil
}

// summaryTimeout limits the time for a summary: the tool call waits for it.
const summaryTimeout = time.Minute

// summarizer returns the summarizer of long outputs, or nil if it is off.
func (b *sessionBuilder) summarizer() (overflow.Summarizer, error) {
	if !b.cfg.Tools.SummarizeOutput {
		return nil, nil
	}
	model := b.session.Model
	if name := b.cfg.Tools.SummarizeProvider; name != "" {
		m, err := b.helperModel("tools.summarize_provider", name)
		if err != nil {
			return nil, err
		}
		model = func() llm.Model { return m }
	}
	mask := b.mask()
	return &agent.OutputSummarizer{
		Model: model, Timeout: summaryTimeout,
		Count: b.countHelper,
		Clean: func(output string) string { return mask(string(text.Sanitize([]byte(output)))) },
	}, nil
}
