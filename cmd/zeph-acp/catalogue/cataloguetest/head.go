// Package cataloguetest is for tests: the agent's tools, and one more, http_head. No other package
// knows that tool, so a test with it shows that gates, hooks, rules and importers learn all they need
// about a tool from its description.
package cataloguetest

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/tools/web"
)

type input struct {
	URL string `json:"url"`
}

// Head returns the tool http_head, which requests the header of a page.
func Head() executors.Registry {
	client := &http.Client{Transport: &http.Transport{DialContext: web.DialPublic}}
	return executors.Registry{executors.Bind(web.Spec("http_head", "Get the header of an https page."), prepare, func(ctx context.Context, _ *executors.Call, in *input) (executors.Result, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodHead, in.URL, nil)
		if err != nil {
			return executors.FailWith(err), nil
		}
		res, err := client.Do(req)
		if err != nil {
			return executors.Failf(executors.NetworkError, "%v", err), nil
		}
		defer res.Body.Close()
		return executors.Result{Text: fmt.Sprintf("%s\n%v", res.Status, res.Header)}, nil
	})}
}

// Known returns the agent's tools and http_head.
func Known() []executors.Tool { return slices.Concat(catalogue.Known(), Head().Tools()) }

// Spec returns the description of a known tool; empty if there is no such tool.
func Spec(name string) executors.Tool {
	t, _ := executors.Find(Known(), name)
	return t
}

// Subject returns what the calls of a known tool act on.
func Subject(name string) executors.SubjectKind { return Spec(name).Subject.Of }

func prepare(_ context.Context, _ *executors.Call, in *input) (executors.Card, error) {
	u, err := url.Parse(in.URL)
	if err == nil && !web.IsPublic(u.Hostname()) {
		err = executors.Failuref(executors.PolicyBlocked, "%s is not a public host", u.Hostname())
	}
	if err != nil {
		return executors.Card{}, err
	}
	return executors.Card{Title: in.URL, Kind: executors.KindFetch, URL: u.String()}, nil
}
