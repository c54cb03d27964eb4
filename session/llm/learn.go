package llm

import "context"

// learner is a model of which its provider knows more.
type learner interface {
	Learn(ctx context.Context) bool
}

// Learn asks the model's provider for what is not known of the model yet, such as
// its window and its levels; most models know it by themselves. It reports whether
// something was learned, so that what is shown of the model should be shown anew.
func Learn(ctx context.Context, m Model) bool {
	l, ok := capability[learner](m)
	return ok && l.Learn(ctx)
}
