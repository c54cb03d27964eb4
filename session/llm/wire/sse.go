package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"
)

const (
	// maxEvent bounds one event of a stream, with the keep-alive data before it. A call
	// that writes a file may be one event.
	maxEvent = 32 << 20
	// maxAnswer bounds an answer that is not streamed, in bytes.
	maxAnswer = 32 << 20
)

// JSONOrSSE returns the events of a stream, or the whole answer of a server that does
// not stream. The first byte decides, since some servers label streams as JSON and JSON
// as streams.
func JSONOrSSE(res *http.Response) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		kind := res.Header.Get("Content-Type")
		body := bufio.NewReaderSize(res.Body, 64) // large reads go past it
		first, err := firstByte(body)
		switch {
		case err != nil && err != io.EOF:
			yield(nil, err)
		case first == '{', first == '[':
			wholeAnswer(body, kind)(yield)
		case first == '<', strings.Contains(kind, "html"):
			yield(nil, &notAStream{kind})
		default:
			res.Body = struct {
				io.Reader
				io.Closer
			}{body, res.Body}
			sseEvents(res)(yield)
		}
	}
}

// firstByte skips a byte order mark and white space, and returns the next byte without
// consuming it.
func firstByte(r *bufio.Reader) (byte, error) {
	for {
		b, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		if strings.IndexByte("\xef\xbb\xbf \t\r\n", b) < 0 {
			return b, r.UnreadByte()
		}
	}
}

// wholeAnswer returns a body of JSON: an answer or an error in any dialect. Google sends a list: of an error alone, or of
// the chunks of an answer.
func wholeAnswer(r io.Reader, kind string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		body, err := io.ReadAll(io.LimitReader(r, maxAnswer))
		if err != nil {
			yield(nil, err)
			return
		}
		var list []json.RawMessage
		if json.Unmarshal(body, &list) != nil || len(list) == 0 {
			list = []json.RawMessage{body}
		}
		for _, one := range list {
			if !isAnswer(one) {
				yield(nil, &notAStream{kind})
				return
			}
			if !yield(one, nil) {
				return
			}
		}
	}
}

// isAnswer reports whether JSON is an answer or an error in some dialect.
func isAnswer(data []byte) bool {
	var members map[string]json.RawMessage
	known := func(key string) bool { return members[key] != nil }
	return json.Unmarshal(data, &members) == nil &&
		(slices.ContainsFunc([]string{"choices", "output", "candidates", "promptFeedback", "usageMetadata", "error"}, known) ||
			string(members["object"]) == `"error"` || string(members["type"]) == `"message"`)
}

// sseEvents returns the data of each event of a stream. Unlike the standard it
// tolerates a missing blank line after an event, which many servers leave out:
// https://html.spec.whatwg.org/multipage/server-sent-events.html
func sseEvents(res *http.Response) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		body := &limitedBody{ReadCloser: res.Body, remaining: maxEvent, limit: maxEvent}
		lines := bufio.NewScanner(body)
		lines.Buffer(nil, maxEvent)
		lines.Split(sseLine)
		var data []byte
		rows := 0 // lines of the event's data so far
		var halves surrogates
		// emit passes the event on; it returns false if the consumer has stopped.
		emit := func() bool {
			ok := true
			if len(data) > 0 { // keep-alive data alone does not reset the bound
				body.remaining = maxEvent
				ok = yield(halves.join(data), nil)
			}
			data, rows = data[:0], 0
			return ok
		}
		for lines.Scan() {
			name, value, _ := bytes.Cut(lines.Bytes(), []byte(":"))
			value = bytes.TrimPrefix(value, []byte(" "))
			switch {
			case len(lines.Bytes()) == 0:
				if !emit() {
					return
				}
			case string(name) != "data":
			case rows > 1 || rows == 1 && !isWhole(data): // the event continues
				data, rows = append(append(data, '\n'), value...), rows+1
			default:
				if rows > 0 && !emit() {
					return
				}
				data, rows = append(data, value...), 1
			}
		}
		err := lines.Err()
		if errors.Is(err, bufio.ErrTooLong) {
			err = &tooLarge{maxEvent, " without an end"}
		}
		if err != nil {
			yield(nil, err)
		} else if isWhole(data) {
			emit()
		}
	}
}

// isWhole reports whether the data of an event is complete.
func isWhole(data []byte) bool { return json.Valid(data) || string(data) == "[DONE]" }

// sseLine splits a stream into lines, which end with a line feed, a carriage return, or
// both.
func sseLine(data []byte, atEOF bool) (advance int, line []byte, err error) {
	end, size := bytes.IndexByte(data, '\n'), 1
	if end < 0 {
		end, size = len(data), 0
	}
	if i := bytes.IndexByte(data[:end], '\r'); i >= 0 && (i+1 < len(data) || atEOF) {
		if i+1 < end || size == 0 { // without a line feed
			return i + 1, data[:i], nil
		}
		return end + 1, data[:i], nil
	}
	if size == 0 && !atEOF || len(data) == 0 {
		return 0, nil, nil
	}
	return end + size, data[:end], nil
}
