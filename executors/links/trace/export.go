package trace

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/filter/text/backoff"
)

// The limits of the queue, as OpenTelemetry's batch processor has them.
const (
	maxQueue      = 2048
	maxBatch      = 512
	flushInterval = 5 * time.Second
)

// closeWithin limits how long the end of the process waits for the collector.
const closeWithin = 2 * time.Second

// attempts limit how often and how long the sending of one batch is tried.
var attempts = backoff.Limits{MaxAttempts: 3, BaseMS: 1000, MaxMS: 5000, BudgetSecs: 30}

// exporter sends ended spans to a collector, in batches, from a goroutine that begins with
// the first span.
type exporter struct {
	url      string
	headers  http.Header
	timeout  time.Duration // of one request
	client   *http.Client
	log      *slog.Logger
	product  Product
	resource []slog.Attr
	interval time.Duration // how long a span waits for others
	clock    backoff.Clock

	queue  chan *Span
	ending context.Context // done when the process ends
	end    context.CancelFunc
	done   chan struct{} // closed when the goroutine has ended

	mu      sync.Mutex
	begun   bool
	dropped int
}

// newExporter completes e.
func newExporter(e *exporter) *exporter {
	e.queue, e.done, e.clock = make(chan *Span, maxQueue), make(chan struct{}), backoff.SystemClock()
	e.ending, e.end = context.WithCancel(context.Background())
	return e
}

// add queues a span. It never waits.
func (e *exporter) add(s *Span) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ending.Err() != nil {
		return
	}
	if !e.begun {
		e.begun = true
		go e.run()
	}
	select {
	case e.queue <- s:
	default:
		e.dropped++
	}
}

// close sends the queued spans, and returns when they are sent or the time is over.
func (e *exporter) close() {
	e.mu.Lock()
	e.end()
	begun := e.begun
	e.mu.Unlock()
	if begun {
		<-e.done
	}
}

// run sends batches until close.
func (e *exporter) run() {
	defer close(e.done)
	var batch []*Span
	timer := time.NewTimer(e.interval)
	defer timer.Stop()
	for {
		select {
		case s := <-e.queue:
			if batch = append(batch, s); len(batch) == 1 {
				timer.Reset(e.interval)
			}
			if len(batch) < maxBatch {
				continue
			}
		case <-timer.C:
		case <-e.ending.Done():
			e.sendRest(batch)
			return
		}
		e.send(e.ending, batch)
		batch = nil
	}
}

// sendRest sends the remaining spans.
func (e *exporter) sendRest(batch []*Span) {
	ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
	defer cancel()
	for len(e.queue) > 0 {
		batch = append(batch, <-e.queue)
	}
	for part := range slices.Chunk(batch, maxBatch) {
		e.send(ctx, part)
	}
}

// send sends a batch, with further attempts if the collector asks for them. It logs a
// failure: no turn depends on it.
func (e *exporter) send(ctx context.Context, batch []*Span) {
	if len(batch) == 0 {
		return
	}
	body, err := encode(e.product, e.resource, batch)
	if err != nil {
		e.log.Warn("encode traces", "err", err)
		return
	}
	var schedule *backoff.Schedule
	for attempt := 0; ; attempt++ {
		again, asked, err := e.post(ctx, body)
		if err == nil {
			break
		}
		if schedule == nil {
			schedule = attempts.Begin(e.clock)
		}
		wait, ok := schedule.Next(asked)
		if !again || !ok || attempt == attempts.MaxAttempts || e.clock.Sleep(ctx, wait) != nil {
			e.log.Warn("send traces", "spans", len(batch), "err", err)
			break
		}
	}
	e.mu.Lock()
	dropped := e.dropped
	e.dropped = 0
	e.mu.Unlock()
	if dropped > 0 {
		e.log.Warn("traces are incomplete: the collector is too slow", "spans", dropped)
	}
}

// maxAnswer bounds the bytes read of the collector's answer.
const maxAnswer = 64 << 10

// post sends one request. again reports that another attempt may succeed, after the wait
// that the collector asked for:
// https://opentelemetry.io/docs/specs/otlp/#otlphttp-response
func (e *exporter) post(ctx context.Context, body []byte) (again bool, asked time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return false, 0, err
	}
	for name, values := range e.headers {
		req.Header[name] = values
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", e.product.Name+"/"+e.product.Version)
	res, err := e.client.Do(req)
	if err != nil {
		if failed, ok := errors.AsType[*url.Error](err); ok {
			err = failed.Err // without the URL, which may hold a password
		}
		return true, 0, err
	}
	defer res.Body.Close()
	answer, _ := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	switch code := res.StatusCode; {
	case code/100 == 2:
		e.logRejected(answer)
		return false, 0, nil
	case code == http.StatusTooManyRequests, code == http.StatusBadGateway, code == http.StatusServiceUnavailable, code == http.StatusGatewayTimeout:
		return true, backoff.RetryAfter(res.Header, e.clock.Now()), fmt.Errorf("the collector answered %s", res.Status)
	}
	return false, 0, fmt.Errorf("the collector answered %s", res.Status)
}

// logRejected logs that the collector accepted only a part.
func (e *exporter) logRejected(answer []byte) {
	var a struct {
		Partial struct {
			Rejected json.RawMessage `json:"rejectedSpans"` // a number or a string of digits
			Message  string          `json:"errorMessage"`
		} `json:"partialSuccess"`
	}
	if json.Unmarshal(answer, &a) == nil && (a.Partial.Message != "" || len(bytes.Trim(a.Partial.Rejected, `"0`)) > 0) {
		e.log.Warn("the collector rejected spans", "spans", string(a.Partial.Rejected), "reason", a.Partial.Message)
	}
}
