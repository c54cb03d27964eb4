package agent

import (
	"context"
	"fmt"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// A server that reads a request for longer than slowRequest is reported to the user, and again after each progressEvery.
const (
	slowRequest   = 10 * time.Second
	progressEvery = 30 * time.Second
)

// showProgress shows the user how far a server has read a request, if it takes long: as notices if the client supports notices, else once
// as a message of the agent, since a message stays.
func (t *turn) showProgress(ctx context.Context, p llm.Progress) error {
	first := t.progressShown == 0
	if p.Total <= p.Done || first && p.Elapsed < slowRequest || !first && (!t.Notices || p.Elapsed < t.progressShown+progressEvery) {
		return nil
	}
	t.progressShown = p.Elapsed
	text := fmt.Sprintf("%s is reading the request: %d of %s after %s.", t.model.Name(), p.Done, quantity.Count(p.Total, "token"), llm.FormatDuration(p.Elapsed))
	if t.Notices {
		return t.Send(ctx, acp.Notice{Update: acp.UpdateNotice, Severity: "info", Title: text})
	}
	return t.sayParagraph(ctx, text)
}
