package ollama

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"

	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// send sends a request to a path below the address.
func (o *Model) send(ctx context.Context, method, path, accept string, body ...[]byte) (*http.Response, error) {
	return o.client.Send(ctx, method, o.base.JoinPath(path).String(), http.Header{"Accept": {accept}}, body...)
}

// call sends a request whose answer is one JSON object. In is the body; nil means no
// body.
func (o *Model) call(ctx context.Context, method, path string, in, out any) error {
	var body [][]byte
	if in != nil {
		body = append(body, plainjson.MustMarshal(in))
	}
	res, err := o.send(ctx, method, path, "application/json", body...)
	if err != nil {
		return err
	}
	return wire.ReadJSON(res, out)
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
