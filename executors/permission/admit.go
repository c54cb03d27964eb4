package permission

import (
	"context"
	"net/url"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
)

// callWithCard returns a copy of a call with another card, so that the card is
// checked on its own.
func callWithCard(call *executors.Call, card executors.Card) *executors.Call {
	next := *call
	next.Card, next.Ask, next.PrepareErr = card, nil, nil
	next.Record = &executors.Record{}
	return &next
}

// admit returns the guard's part of [executors.Call.Admit].
func (g *Guard) admit(p *ShellPolicy, call *executors.Call) func(context.Context, executors.Card) error {
	return func(_ context.Context, card executors.Card) error {
		blocked, ask := g.newCheck(p, call).checkCall(callWithCard(call, card), call.Spec.Effect.ReadOnly())
		g.record(call, card.URL, blocked, ask)
		switch {
		case blocked != nil:
			return blocked
		case len(ask) > 0:
			return executors.Failuref(executors.ConfirmationRequired, "it needs a separate call: %s", strings.Join(ask, "; "))
		}
		return nil
	}
}

// admit returns the permission link's part of [executors.Call.Admit]. It asks
// the user if no rule and no "always" decides. It asks about a site once per
// call, because a retry meets the same redirects.
func (p permissionCheck) admit(call *executors.Call) func(context.Context, executors.Card) error {
	guard := call.Admit
	granted := map[string]bool{siteOf(call.Card.URL): true}
	return func(ctx context.Context, card executors.Card) error {
		if guard != nil {
			if err := guard(ctx, card); err != nil {
				return err
			}
		}
		next := callWithCard(call, card)
		d, site := p.decide(next, call.Spec), siteOf(card.URL)
		if d.action == Ask && granted[site] {
			return nil
		}
		if d.action == Ask {
			var err error
			if d, err = p.resolveQuestion(ctx, next, call.Spec); err != nil {
				return err
			}
		} else {
			next.Record.Add(d.onRecord(call.Tool))
		}
		call.Record.Waited += next.Record.Waited
		for _, v := range next.Record.Verdicts {
			v.About = card.URL
			call.Record.Add(v)
		}
		switch d.action {
		case Allow:
			granted[site] = true
			return nil
		case Deny:
			return executors.Failuref(executors.PolicyBlocked, "%s is not allowed: %s", card.URL, d.why)
		}
		return executors.Failuref(executors.ConfirmationRequired, "%s needs the user's permission (%s), and the question was not answered", card.URL, d.why).
			Hint("If that is the page you want, call the tool with this URL.")
	}
}

// siteOf returns the host of a URL without a leading "www.". An "always" covers
// the host in both forms.
func siteOf(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(u.Host, "www.")
}
