package app

import (
	"context"
	"runtime"
	"sync"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/session/agent"
	"github.com/zeph-acp/zeph-acp/session/agent/prompt"
	"github.com/zeph-acp/zeph-acp/session/agent/skills"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// systemPrompt is the system prompt of one session. It is written when a model
// first needs it, so that a session costs nothing before. It then stays the
// same until the conversation is cleared: if it followed changes of the
// project's files, each change would invalidate the provider's cache.
type systemPrompt struct {
	write func(warn func(string)) (system, project string)
	warn  func(string)

	mu              sync.Mutex
	system, project string
}

// texts returns the prompt and the part of it that differs between projects.
func (p *systemPrompt) texts() (system, project string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.system == "" {
		p.system, p.project = p.write(p.warn)
	}
	return p.system, p.project
}

// ready writes the prompt for a model that needs one, so that the user sees its
// warnings before the turn.
func (p *systemPrompt) ready(m llm.Model) {
	if !isDirect(m) {
		p.texts()
	}
}

// isWritten reports whether the prompt is written.
func (p *systemPrompt) isWritten() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.system != ""
}

// forget discards the prompt; the next use writes it again.
func (p *systemPrompt) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.system, p.project = "", ""
}

// promptFeature is the system prompt.
func (b *sessionBuilder) promptFeature(p *systemPrompt, set *skills.Set) Feature {
	return Feature{
		Name: "prompt", Reset: p.forget,
		BeforeTurn: func() {
			if m := b.session.Model(); !isDirect(m) && !p.isWritten() {
				b.app.learn(context.Background(), m) // the window limits the rules
			}
			if !set.Waiting() { // else the user is asked about some of them first
				p.ready(b.session.Model())
			}
		},
		Turns: func(a *agent.Agent) {
			a.System = func() string { system, _ := p.texts(); return b.scan.Text(system) }
			a.Project = func() string { _, project := p.texts(); return b.scan.Text(project) }
		},
	}
}

// systemPrompt returns the system prompt of a session: about its directories,
// read as the file tools read them, its skills, and the offered tools. Nil means unknown tools.
func (b *sessionBuilder) systemPrompt(set *skills.Set, offered func() []executors.Tool) *systemPrompt {
	warn := func(w string) {
		b.app.Log.Warn(w, "session", b.session.ID)
		b.session.Warn(w)
	}
	return &systemPrompt{warn: warn, write: func(warn func(string)) (system, project string) {
		mask := b.mask()
		p := prompt.Read(projectFiles{b.dirs.files}, b.dirs.roots.Dirs(), maxRules(b.cfg.Agent.MaxRulesBytes, b.session.Model), mask)
		for _, w := range p.Warnings {
			warn(w)
		}
		f := prompt.Facts{
			Dirs: p.Dirs, OS: runtime.GOOS, Shell: "bash", Rules: p.Rules,
			NoTools: !b.cfg.Tools.Enabled,
		}
		if client := b.clientPrompt(); client.Override {
			f.Instructions = client.Text
		} else {
			f.Append = append(f.Append, client.Text)
		}
		f.Append = append(f.Append, b.app.SystemAppend)
		if b.cfg.Tools.Enabled {
			f.Skills = promptSkills(set)
			if offered != nil {
				f.Advice = executors.NewAdvice(catalogue.Known(), offered())
				f.Advice.SavedOnly = b.savedOnly()
			}
		}
		return prompt.System(f), prompt.Context(f)
	}}
}

// clientPrompt returns the client's instructions; its text is empty if there are none.
func (b *sessionBuilder) clientPrompt() acp.SystemPrompt {
	if b.session.SystemPrompt == nil {
		return acp.SystemPrompt{}
	}
	if p := b.session.SystemPrompt(); p != nil {
		return *p
	}
	return acp.SystemPrompt{}
}

// rulesShare is the share of the model's window that the rules of a project may take, as its reciprocal.
const rulesShare = 4

// maxRules returns how much of the rules a model gets, in bytes: the configured size, or less in a small window.
func maxRules(configured int, model func() llm.Model) int {
	window := 0
	if model != nil {
		window = model().Window()
	}
	if window == 0 {
		return configured
	}
	return min(configured, window*7/2/rulesShare) // 3.5 bytes for a token
}
