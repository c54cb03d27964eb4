package app

import (
	"context"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/session/agent"
)

// Jobs carries out the rest of the command /jobs: it lists the commands in the
// background, or stops one or all of them.
func (st *sessionTools) Jobs(ctx context.Context, rest string) string {
	words := strings.Fields(rest)
	switch {
	case len(words) == 0:
		return st.listJobs()
	case len(words) != 2 || words[0] != "stop":
		return "Type `/jobs`, `/jobs stop ID` or `/jobs stop all`."
	}
	ids := words[1:]
	if ids[0] == "all" {
		ids = st.shell.Jobs()
	}
	if len(ids) == 0 {
		return st.listJobs()
	}
	var b strings.Builder
	for _, id := range ids {
		if err := st.shell.StopJob(ctx, id); err != nil {
			fmt.Fprintf(&b, "- %v\n", err)
		} else {
			fmt.Fprintf(&b, "- `%s` was stopped\n", id)
		}
	}
	return b.String()
}

// news returns the events since the last turn: results of scheduled tasks, and
// commands in the background that have ended.
func (st *sessionTools) news(ctx context.Context, direct bool) agent.News {
	n := st.tasks.news(ctx, direct)
	if direct { // the model learns of ended commands at the next prompt that it sees
		return n
	}
	for _, f := range st.shell.Finished() {
		n.User = strings.TrimPrefix(n.User+"\n\n"+f.Text(), "\n\n")
		n.Model = executors.JoinLines(n.Model, "[background] "+f.Text()+" bash_output "+f.ID+" returns its output.")
	}
	return n
}

// listJobs describes the commands in the background, in Markdown.
func (st *sessionTools) listJobs() string {
	jobs := st.shell.Background()
	if len(jobs) == 0 {
		return "There are no commands in the background."
	}
	var b strings.Builder
	for _, line := range jobs {
		id, rest, _ := strings.Cut(line, ": ")
		fmt.Fprintf(&b, "- `%s`: %s\n", id, rest)
	}
	b.WriteString("\nStop one with `/jobs stop ID`, or all with `/jobs stop all`.")
	return b.String()
}
