package agent

import (
	"context"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// News are events outside of the turns of a session, such as the end of a scheduled task.
type News struct {
	User  string // a message for the user; empty means no news
	Model string // a text for the model below the prompt; may be empty
	// Events are the events that mark the news as shown. They are stored together with the
	// prompt, so that no news is lost or shown twice.
	Events []transcript.Event
}

// news returns the news, and adds them to the prompt.
func (a *Agent) news(ctx context.Context, prompt *transcript.Prompt) News {
	if a.News == nil {
		return News{}
	}
	n := a.News(ctx, prompt.OmitContent)
	prompt.Context = executors.JoinLines(prompt.Context, n.Model)
	return n
}
