package certify

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/executors/process"
	"github.com/zeph-acp/zeph-acp/protocol-fixtures/certify"
)

// client is one run of the client.
type client struct {
	options
	dir      string // for the agent and its report
	scenario string
}

// look is how often the report of a running agent is read.
const look = 100 * time.Millisecond

// run runs the client until it ends, and returns the agent's report and how the client ended.
func (c client) run(ctx context.Context) (r *certify.Report, ended string, err error) {
	agent, err := c.launcher()
	if err != nil {
		return nil, "", err
	}
	p, err := c.start(agent)
	if err != nil {
		return nil, "", fmt.Errorf("start the client: %w", err)
	}
	defer p.Release()
	timeout := time.NewTimer(c.timeout)
	defer timeout.Stop()
	tick := time.NewTicker(look)
	defer tick.Stop()
	interrupted, late := false, false
	for done := false; !done; {
		select {
		case <-p.Done():
			done = true
		case <-ctx.Done():
			return &certify.Report{}, "", nil
		case <-timeout.C:
			late = true
			p.Release()
		case <-tick.C:
			if r, err := c.readReports(); err == nil && r.Waiting == "cancel" && !interrupted {
				interrupted = true
				p.Interrupt()
			}
		}
	}
	r, err = c.readReports()
	if err != nil {
		return nil, "", err
	}
	if late {
		r.Late(c.scenario, c.timeout)
	}
	return r, describeEnd(p), nil
}

// describeEnd says how a process ended, with the end of its output.
func describeEnd(p *process.Process) string {
	how := "it ended"
	out, _, exit := p.Output()
	switch {
	case exit == nil: // it was ended at the timeout
	case exit.Signal != "":
		how = "it was ended by " + exit.Signal
	case exit.Code != nil:
		how = fmt.Sprintf("it exited with %d", *exit.Code)
	}
	return how + " and printed: " + cmp.Or(cli.OneLine(strings.TrimSpace(out)), "nothing")
}
