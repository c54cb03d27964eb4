package client

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

const (
	// maxFrame is the length of the longest frame that a server may write, in bytes.
	maxFrame = 8 << 20
	// maxUnasked bounds all that a server writes between two changes of documents, in bytes. A
	// server in a large workspace reports on every file of it; reading that much takes some
	// seconds.
	maxUnasked = 32 << 20
	// maxHeader bounds one line of a frame's header, and maxHeaders their number.
	maxHeader  = 1 << 10
	maxHeaders = 16
	// maxWrite is how long a server may take to read a message.
	maxWrite = 10 * time.Second
)

var errFlood = fmt.Errorf("it sent more than %d MiB unasked", maxUnasked>>20)

// codec frames messages as the protocol does, within limits. Reading ends at the first
// frame that breaks one. VSCodeObjectCodec writes frames, and reads them without limits.
type codec struct {
	jsonrpc2.VSCodeObjectCodec
	unasked *atomic.Int64 // bytes that were read since the last change
}

// ReadObject reads the next message.
func (c codec) ReadObject(r *bufio.Reader, v any) error {
	length, err := readHeader(r)
	switch {
	case err != nil:
		return err
	case length > maxFrame:
		return fmt.Errorf("it sent a message of more than %d MiB", maxFrame>>20)
	case c.unasked.Add(int64(length)) > maxUnasked:
		return errFlood
	}
	data := make([]byte, length)
	if _, err := io.ReadFull(r, data); err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("it sent a message that is not JSON-RPC: %w", err)
	}
	return nil
}

var errNoFrame = errors.New("it sent a line that is not of the protocol")

// readHeader reads the header of a frame and returns the length of the content.
func readHeader(r *bufio.Reader) (length int, err error) {
	length = -1
	for range maxHeaders {
		line, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) || len(line) > maxHeader {
			return 0, errNoFrame
		}
		if err != nil {
			return 0, err
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			if length < 0 {
				return 0, errNoFrame
			}
			return length, nil
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			return 0, errNoFrame
		}
		if bytes.EqualFold(name, []byte("Content-Length")) {
			n, err := strconv.ParseUint(string(bytes.TrimSpace(value)), 10, 31)
			if err != nil {
				return 0, errNoFrame
			}
			length = int(n)
		}
	}
	return 0, errNoFrame
}

// pipes are the streams of a server.
type pipes struct {
	in  *os.File // the server reads it
	out io.Reader
}

// Read reads from the server.
func (p pipes) Read(b []byte) (int, error) { return p.out.Read(b) }

// Write writes to the server. It fails if the server does not read for too long.
func (p pipes) Write(b []byte) (int, error) {
	_ = p.in.SetWriteDeadline(time.Now().Add(maxWrite))
	return p.in.Write(b)
}

// Close does nothing: ending the program closes its streams.
func (p pipes) Close() error { return nil }
