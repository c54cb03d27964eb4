package llmtest

import (
	"context"
	"time"
)

// IdleClock is a clock that advances only in waits.
type IdleClock struct {
	At    time.Time
	Waits []time.Duration
	Wait  func(ctx context.Context) // called before each wait, if not nil
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
