package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/provider"
)

// models reports whether each provider can be reached, accepts its key, and has its
// model. Only the model of new sessions is a failure; the others are warnings.
func (e *examination) models(ctx context.Context) []Finding {
	probes, err := provider.Probes(ctx, e.app.Config.LLM, e.app.Getenv, e.app.Credentials, e.app.Model, !e.Offline)
	if err != nil {
		return []Finding{failure(err.Error(), "correct ZEPH_MODEL or [[llm.providers]]")}
	}
	var out []Finding
	for i, p := range probes {
		f := e.modelFinding(ctx, p)
		if i > 0 && f.State == Failure {
			f.State = Warning
		}
		out = append(out, f)
	}
	return out
}

// modelFinding returns the finding about one model.
func (e *examination) modelFinding(ctx context.Context, p provider.Probe) Finding {
	switch {
	case p.Err != nil:
		return unusableModel(ctx, p)
	case p.Type == provider.TypeDirect && len(e.app.Config.LLM.Providers) == 0:
		return warning(
			"no model is configured: only typed tool calls work",
			`"zeph-acp login" stores a key; docs/models.md lists the providers`,
		)
	case p.Asked && !p.Listed && p.Type == provider.TypeOllama:
		return failure(
			p.Name+": the server at "+p.Address+" does not have this model",
			`fetch it with "ollama pull MODEL", or name another one in [[llm.providers]]`,
		)
	case p.Asked && !p.Listed:
		return warning(
			p.Name+": the server lists no such model",
			"check the model in [[llm.providers]]; some servers accept names that they do not list",
		)
	case p.Window > 0 && p.Window < smallWindow:
		return warning(
			fmt.Sprintf("%s: a context window of %s is small for an agent", p.Name, quantity.CountGrouped(p.Window, "token")),
			"raise context_window of the provider, or pick another model",
		)
	}
	text := p.Name
	if p.Type == provider.TypeDirect {
		text += ": no model, as configured"
	}
	if p.Asked {
		text += " answers at " + p.Address
	} else if p.Address != "" {
		text += " was not asked"
	}
	if len(p.Command) > 0 {
		text += ", key from the command " + filepath.Base(p.Command[0])
	}
	if p.Window > 0 {
		text += ", window " + quantity.CountGrouped(p.Window, "token")
	}
	return passed(text)
}

// smallWindow is a context window, in tokens, into which the instructions, the tools and
// some files hardly fit.
const smallWindow = 16_000

// unusableModel returns the failure of a model that cannot be used.
func unusableModel(ctx context.Context, p provider.Probe) Finding {
	f := failure(p.Name+": "+p.Err.Error(), "check [[llm.providers]]")
	if ctx.Err() != nil {
		f.Text, f.Fix = fmt.Sprintf("%s: %s did not answer in time", p.Name, cmp.Or(p.Address, "the provider")), "check the network and base_url"
	}
	if ctx.Err() != nil && len(p.Command) > 0 {
		f.Text = fmt.Sprintf("%s: the command %s for its key, or %s, did not answer in time", p.Name, filepath.Base(p.Command[0]), p.Address)
		f.Fix = "run the command of api_key_cmd in a terminal"
	}
	known, ok := errors.AsType[*llm.Error](p.Err)
	if !ok {
		return f
	}
	f.Fix = cmp.Or(known.Hint, f.Fix)
	switch {
	case known.Status != 0:
		f.Text = fmt.Sprintf("%s: %s answered %d: %s", p.Name, p.Address, known.Status, known.Message)
	case known.Auth, p.Address == "":
		f.Text = p.Name + ": " + known.Message
	default:
		f.Text = fmt.Sprintf("%s: no answer from %s: %s", p.Name, p.Address, known.Message)
	}
	return f
}
