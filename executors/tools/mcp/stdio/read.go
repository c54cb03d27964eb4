package stdio

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/zeph-acp/zeph-acp/executors"
)

const (
	maxLogged = 200     // lines of stderr
	maxNoise  = 20      // lines of stdout that are not messages
	maxLine   = 4 << 10 // bytes of a logged line
	chunk     = 1 << 20 // the pieces in which a long line is kept
)

// errTooLong ends a server whose frame is longer than maxFrame.
var errTooLong = fmt.Errorf("the server sent a message of more than %d MiB", maxFrame>>20)

// readFrames passes on the messages of stdout, in order.
func (s *Server) readFrames() {
	defer close(s.messages)
	noise := 0
	err := lines(s.piped.Stdout, lineLimit{bytes: maxFrame}, func(line []byte) bool {
		messages := decode(line)
		if len(messages) == 0 && len(line) > 0 {
			if noise++; noise <= maxNoise {
				s.log("stdout", logText(line))
			}
		}
		for _, m := range messages {
			if !s.openRequests.add(m, s.closed) {
				return false
			}
			select {
			case s.messages <- m:
			case <-s.closed:
				return false
			}
		}
		return true
	})
	if err == nil {
		err = io.EOF
	}
	s.mu.Lock()
	s.readErr = err
	s.mu.Unlock()
	_ = s.piped.Stdin.Close() // ends a write to a server that reads nothing; no answer could arrive
}

// readStderr logs the first lines of stderr and keeps the last one.
func (s *Server) readStderr() {
	n := 0
	_ = lines(s.piped.Stderr, lineLimit{bytes: maxLine, cut: true}, func(line []byte) bool {
		text := logText(line)
		if text == "" {
			return true
		}
		s.mu.Lock()
		s.lastStderr = text
		s.mu.Unlock()
		if n++; n <= maxLogged {
			s.log("stderr", text)
		}
		return true
	})
}

// logText returns a line as it is logged: valid UTF-8, cut to maxLine.
func logText(line []byte) string {
	line = bytes.TrimSpace(line)
	return strings.ToValidUTF8(string(line[:min(len(line), maxLine)]), "\uFFFD")
}

// decode returns the messages of a line; none if it has no message. A banner
// without a line end may be before the first message.
func decode(line []byte) []jsonrpc.Message {
	line = bytes.TrimSpace(line)
	if i := bytes.Index(line, []byte(`{"jsonrpc"`)); i > 0 && line[0] != '{' && line[0] != '[' {
		line = line[i:]
	}
	if len(line) == 0 {
		return nil
	}
	if line[0] != '[' {
		if m := decodeOne(line); m != nil {
			return []jsonrpc.Message{m}
		}
		return nil
	}
	var batch []json.RawMessage // of revision 2025-03-26
	if json.Unmarshal(line, &batch) != nil {
		return nil
	}
	var messages []jsonrpc.Message
	for _, raw := range batch {
		if m := decodeOne(raw); m != nil {
			messages = append(messages, m)
		}
	}
	return messages
}

// decodeOne returns a message, or nil if there is no message. A response that cannot
// be decoded, such as one nested too deep, becomes an error, since a request waits
// for it.
func decodeOne(raw []byte) jsonrpc.Message {
	m, err := jsonrpc.DecodeMessage(raw)
	if err == nil {
		return m
	}
	var response struct {
		JSONRPC string
		ID      any
		Method  json.RawMessage
	}
	if json.Unmarshal(raw, &response) != nil || response.JSONRPC != "2.0" || response.Method != nil {
		return nil
	}
	id, wrong := jsonrpc.MakeID(response.ID)
	if wrong != nil || !id.IsValid() {
		return nil
	}
	return &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: jsonrpc.CodeInternalError,
		Message: "the response cannot be read: " + executors.PlainJSONError(err).Error()}}
}

// lineLimit is the length of the longest line. A longer line is an error, or is cut there.
type lineLimit struct {
	bytes int
	cut   bool
}

// lines calls each with every line of r, without its end, until each returns false.
// The end of r is not an error. each may keep the line.
func lines(r io.Reader, limit lineLimit, each func(line []byte) bool) error {
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		line, end, err := readLine(in, limit)
		if err != nil {
			return err
		}
		if (len(line) > 0 || !end) && !each(line) || end {
			return nil
		}
	}
}

// readLine returns the next line in its own memory. end reports that nothing
// follows.
func readLine(in *bufio.Reader, limit lineLimit) (line []byte, end bool, err error) {
	var full [][]byte // pieces before line: to grow one slice would need twice the memory
	var long *longLine
	size := 0
	for {
		part, err := in.ReadSlice('\n')
		if size += len(part); size > limit.bytes+1 && !limit.cut {
			return nil, true, errTooLong
		}
		if size > maxMessage && !limit.cut {
			if long == nil {
				long = newLongLine(append(full, line)[0])
				full, line = nil, nil
			}
			long.add(part)
			if errors.Is(err, bufio.ErrBufferFull) {
				continue
			}
			return long.errorResponse(size), err != nil, nil
		}
		if keep := limit.bytes - (size - len(part)); keep < len(part) {
			part = part[:max(keep, 0)]
		}
		if len(line)+len(part) > chunk && len(line) > 0 {
			full, line = append(full, line), nil
		}
		if line == nil && len(full) > 0 {
			line = make([]byte, 0, chunk)
		}
		line = append(line, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if len(full) > 0 {
			line = bytes.Join(append(full, line), nil)
		}
		return bytes.TrimSuffix(line, []byte("\n")), err != nil, nil
	}
}
