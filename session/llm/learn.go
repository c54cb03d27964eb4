package llm

import "context"

// Learn asks the model's provider for what is not known of the model yet, such as
// its window and its levels; most models know it by themselves. It reports whether
// something was learned, so that what is shown of the model should be shown anew.
func Learn(ctx context.Context, m Model) bool {
	l, ok := capability[interface {
		Learn(ctx context.Context) bool
	}](m)
	return ok && l.Learn(ctx)
}
