package shell

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// slow is a Runner whose commands end with their time.
type slow struct{ Runner }

func (slow) Run(ctx context.Context, _ Command) (Output, error) {
	<-ctx.Done()
	return Output{}, context.Cause(ctx)
}

func TestTimeoutOfACall(t *testing.T) {
	for name, tt := range map[string]struct {
		input   string
		timeout time.Duration // of the executor
		want    time.Duration
		text    string
	}{
		"not asked for":           {`{"command":"make"}`, 30 * time.Second, 30 * time.Second, "Call it with a longer timeout, up to 600 seconds."},
		"longer":                  {`{"command":"make","timeout":180}`, 30 * time.Second, 180 * time.Second, "stopped after 3m0s"},
		"the longest":             {`{"command":"make","timeout":600}`, 30 * time.Second, 600 * time.Second, "suggestion: Split the work into shorter commands"},
		"shorter":                 {`{"command":"make","timeout":2}`, 30 * time.Second, 2 * time.Second, "stopped after 2s"},
		"where there is no limit": {`{"command":"make","timeout":2}`, 0, 2 * time.Second, "stopped after 2s"},
		"too long":                {`{"command":"make","timeout":601}`, 30 * time.Second, 0, "timeout must be at most 600, got 601"},
		"of another unit":         {`{"command":"make","timeout":120000}`, 30 * time.Second, 0, "timeout must be at most 600, got 120000"},
		"none":                    {`{"command":"make","timeout":0}`, 30 * time.Second, 30 * time.Second, "stopped after 30s"},
		"less":                    {`{"command":"make","timeout":-1}`, 30 * time.Second, 0, "timeout must be from 1 to 600 seconds, got -1"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				cfg := setting.Default[Config]()
				cfg.OnTimeout = killLate
				e := New(slow{}, root, cfg)
				e.Timeout = tt.timeout
				start := time.Now()
				got, err := executors.Chain(e, executors.Validate).Execute(t.Context(), call(Tool, tt.input))
				if took := time.Since(start); err != nil || !got.Failed || took != tt.want || !strings.Contains(got.ForModel(), tt.text) {
					t.Errorf("%v, %v: %s", took, err, got.ForModel())
				}
			})
		})
	}
}

// The schema has the bound of the configuration.
func TestSchemaOfTimeout(t *testing.T) {
	cfg := setting.Default[Config]()
	cfg.MaxTimeout = 3600
	for want, e := range map[float64]*Executor{600: New(nil, "", setting.Default[Config]()), 3600: New(nil, "", cfg)} {
		tool, _ := executors.Find(e.Tools(), Tool)
		var schema struct {
			Properties map[string]map[string]any `json:"properties"`
		}
		if err := json.Unmarshal(tool.Offered(), &schema); err != nil || schema.Properties["timeout"]["maximum"] != want {
			t.Errorf("%s, %v; want %v", tool.Offered(), err, want)
		}
	}
}

// cut is a Runner whose command the user stops after it wrote something.
type cut struct {
	Runner
	stop context.CancelCauseFunc
}

func (c cut) Run(ctx context.Context, _ Command) (Output, error) {
	c.stop(errCut)
	return Output{Text: "so far\n", Stdout: "so far\n"}, context.Cause(ctx)
}

var errCut = errors.New("cut")

func TestCancelKeepsTheOutput(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	got, err := New(cut{nil, stop}, t.TempDir(), setting.Default[Config]()).Execute(ctx, call(Tool, `{"command":"make"}`))
	if !errors.Is(err, errCut) || got.ForModel() != "so far\n" || got.Raw.(Envelope).Stdout != "so far\n" {
		t.Errorf("%+v, %v", got, err)
	}
}
