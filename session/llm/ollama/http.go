package ollama

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"

	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// post sends a request with a JSON body.
func (o *Model) post(ctx context.Context, path string, body any, accept string) (*http.Response, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return o.do(ctx, http.MethodPost, path, data, accept)
}

func (o *Model) do(ctx context.Context, method, path string, body []byte, accept string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, o.base.JoinPath(path).String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", accept)
	if len(body) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	if key := o.endpoint.Key(); key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	return o.client.Do(req)
}

// call sends a request whose answer is one JSON object. In is the body; nil means no
// body.
func (o *Model) call(ctx context.Context, method, path string, in, out any) error {
	var body []byte
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = data
	}
	res, err := o.do(ctx, method, path, body, "application/json")
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if err := wire.RefusePage(res); err != nil {
		return err
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, wire.MaxReply)).Decode(out); err != nil {
		return fmt.Errorf("reading its answer: %w", err)
	}
	return nil
}

// reply returns the outcome of a call as an *llm.Error or ctx's cause.
func (o *Model) reply(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return o.endpoint.Failure(err)
}

// maxLine bounds a line of a stream, in bytes. A call that writes a file is one line.
const maxLine = 32 << 20

// NDJSON returns the lines of a stream. A last line that was cut off is dropped; the
// answer then lacks its end.
func NDJSON(res *http.Response) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		lines := bufio.NewScanner(res.Body)
		lines.Buffer(nil, maxLine)
		lines.Split(func(data []byte, atEOF bool) (int, []byte, error) {
			if i := bytes.IndexByte(data, '\n'); i >= 0 {
				return i + 1, data[:i], nil
			}
			if atEOF && json.Valid(data) {
				return len(data), data, nil
			}
			return 0, nil, nil
		})
		for lines.Scan() {
			if line := bytes.TrimSpace(lines.Bytes()); len(line) > 0 && !yield(line, nil) {
				return
			}
		}
		err := lines.Err()
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("a line of its stream is longer than %d MiB", maxLine>>20)
		}
		if err != nil {
			yield(nil, err)
		}
	}
}
