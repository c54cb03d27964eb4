package bedrock

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"

	// AWS's own decoder, which checks both checksums of each frame.
	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// streamType is the type of a stream of events.
const streamType = "application/vnd.amazon.eventstream"

const (
	// maxFrame bounds one frame, in bytes. AWS's limit is 16 MiB.
	maxFrame = 24 << 20
	// maxWhole bounds an answer that is not streamed, in bytes.
	maxWhole = 32 << 20
)

// Frames returns the events of a stream, each as an object with one member, which has the name of the event; or the whole answer
// of a model that does not stream. The first byte decides.
// https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html
func Frames(res *http.Response) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		body := bufio.NewReader(res.Body)
		first, err := body.Peek(1)
		switch {
		case err == io.EOF:
			return
		case err != nil:
			yield(nil, err)
			return
		case first[0] == '{':
			yield(io.ReadAll(io.LimitReader(body, maxWhole)))
			return
		case first[0] > maxFrame>>24:
			yield(nil, wire.NotAStream(res))
			return
		}
		decoder := eventstream.NewDecoder()
		var buffer []byte
		for {
			chunk, err := nextFrame(decoder, body, &buffer)
			switch {
			case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF): // the reader of the answer finds out whether it is complete
				return
			case err != nil:
				yield(nil, err)
				return
			case chunk != nil && !yield(chunk, nil):
				return
			}
		}
	}
}

// nextFrame reads one frame, and returns its event; nil for a frame without one. Buffer holds the payload.
func nextFrame(decoder *eventstream.Decoder, body *bufio.Reader, buffer *[]byte) ([]byte, error) {
	head, err := body.Peek(4)
	if err != nil {
		return nil, err
	}
	if n := binary.BigEndian.Uint32(head); n > maxFrame {
		return nil, fmt.Errorf("a frame of its stream has %s", quantity.Count(int(n), "byte"))
	}
	m, err := decoder.Decode(body, (*buffer)[:0])
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, io.EOF
	}
	if _, ok := errors.AsType[eventstream.ChecksumError](err); ok {
		return nil, errors.New("a frame of its stream is damaged")
	}
	if err != nil {
		return nil, fmt.Errorf("reading its stream: %w", err)
	}
	*buffer = m.Payload
	text := func(name string) string {
		v, _ := m.Headers.Get(name).(eventstream.StringValue)
		return string(v)
	}
	switch text(":message-type") {
	case "event":
		return member(text(":event-type"), m.Payload), nil
	case "exception":
		_, message := wire.ParseRefusal(m.Payload)
		return nil, &wire.StreamError{Kind: text(":exception-type"), Message: message}
	case "error":
		return nil, &wire.StreamError{Kind: text(":error-code"), Message: text(":error-message")}
	}
	return nil, nil
}

// member returns an object with one member, whose value is JSON.
func member(name string, value []byte) []byte {
	out := append([]byte{'{'}, plainjson.MustMarshal(name)...)
	return append(append(append(out, ':'), value...), '}')
}
