package executors

import (
	"cmp"
	"context"
)

// Gate returns the link of a gate. Its verdict can only tighten: "deny" ends the
// call, "ask" adds a reason to the question that the permission link asks, and
// "allow" leaves the decision to the other links. A verdict with an empty Decision
// has no effect and is not recorded.
//
// check is called for each attempt of each call before it runs, and again for each further card
// that a running call wants to admit. It then receives a copy of the call with that card. An error
// ends the turn.
func Gate(name string, check func(ctx context.Context, call *Call) (Verdict, error)) Middleware {
	return func(next Executor) Executor { return gate{next, name, check} }
}

// gate is the link of [Gate].
type gate struct {
	Executor
	name  string
	check func(context.Context, *Call) (Verdict, error)
}

// Execute checks the call, and then each further card that the running call submits to
// [Call.Admit]. The call is already running then: a gate that asks refuses the card.
func (g gate) Execute(ctx context.Context, call *Call) (Result, error) {
	if call.Record == nil {
		call.Record = &Record{}
	}
	v, err := g.verdict(ctx, call, "")
	if err != nil {
		return Result{}, err
	}
	switch v.Decision {
	case Deny:
		return v.failure().Result(), nil
	case Ask:
		call.Ask = append(call.Ask, v.reason())
	}
	earlier := call.Admit
	call.Admit = func(ctx context.Context, card Card) error {
		if earlier != nil {
			if err := earlier(ctx, card); err != nil {
				return err
			}
		}
		further := *call
		further.Card, further.Ask, further.PrepareErr = card, nil, nil
		switch v, err := g.verdict(ctx, &further, cmp.Or(card.URL, card.Title)); {
		case err != nil:
			return err
		case v.Decision == Deny:
			return v.failure()
		case v.Decision == Ask:
			return Failuref(ConfirmationRequired, "it needs a separate call: %s", v.reason())
		}
		return nil
	}
	return g.Executor.Execute(ctx, call)
}

// verdict checks a call and records the verdict. about is the URL of a further card.
func (g gate) verdict(ctx context.Context, call *Call, about string) (Verdict, error) {
	v, err := g.check(ctx, call)
	if err != nil || v.Decision == "" {
		return v, err
	}
	v.Gate, v.About = g.name, about
	call.Record.Add(v)
	return v, nil
}

// reason returns the name of the gate and its reason, for people: "information flow: …".
func (v Verdict) reason() string {
	return v.gateInWords() + ": " + cmp.Or(v.Reason, v.Rule)
}

// failure returns the result of a denied call. Its text for the model does not
// reveal the rule.
func (v Verdict) failure() *Failure {
	if v.Failure != nil {
		return v.Failure
	}
	return Failuref(PolicyBlocked, "tool call denied by policy").ForUser("Denied by %s.", v.reason())
}
