package llmtest

import (
	"context"
	"time"
)

// idle is a clock whose time passes in waits alone.
type IdleClock struct {
	At    time.Time
	Waits []time.Duration
	Wait  func(ctx context.Context) // called before each, if not nil
}

func (c *IdleClock) Now() time.Time { return c.At }

func (c *IdleClock) Sleep(ctx context.Context, d time.Duration) error {
	if c.Wait != nil {
		c.Wait(ctx)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	c.At = c.At.Add(d)
	c.Waits = append(c.Waits, d)
	return nil
}
