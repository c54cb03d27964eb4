// Package stdio connects to MCP servers that run as child processes and speak on
// stdin and stdout.
//
// Start with [Start], then pass the [Server] to the client of the SDK as its transport. It promises
// that stdout lines other than JSON-RPC are dropped. A frame over [maxFrame] ends only its own
// server, and a shorter one of more than 8 MiB fails its request. Memory stays bounded for any
// output of the server. No process of the server's session runs after [Server.End].
//
// It does not choose the environment or the directory; the caller does.
//
// Why not the SDK's CommandTransport? It ends the connection at the first line that is
// not JSON. It signals only the leader, which may be a launcher such as npx. It leaves
// the server running when this process is killed.
package stdio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sync/semaphore"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/process"
)

// maxFrame is the length of the longest frame that a server may write, in bytes.
const maxFrame = 64 << 20

// GracePeriod is the time from closing a server's stdin to SIGTERM, and from SIGTERM to
// SIGKILL:
// https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#shutdown
const GracePeriod = 2 * time.Second

// Server is a running server. It fits the SDK's Transport, for one connection.
type Server struct {
	log   func(stream, line string)
	piped *process.Piped

	messages chan jsonrpc.Message
	closed   chan struct{}
	close    sync.Once
	readers  sync.WaitGroup // the readers of stdout and stderr

	writing      *semaphore.Weighted // of 1: held during a write
	probe        probe
	openRequests openRequests

	mu         sync.Mutex
	lastStderr string // line of stderr
	readErr    error  // why stdout is no longer read; nil while it is read
}

// Start starts the program of a server. log receives lines that belong to no
// message: the last argument is one line, without its end, cut to a few kilobytes.
// It is called for the first lines of each stream, "stdout" or "stderr".
func Start(prog process.Program, log func(stream, line string)) (*Server, error) {
	piped, err := process.StartPiped(prog)
	if err != nil {
		if errors.Is(err, exec.ErrNotFound) && strings.Contains(prog.Path, " ") {
			err = fmt.Errorf("%w; arguments of the command belong in args", err)
		}
		return nil, fmt.Errorf("start %s: %w", prog.Path, err)
	}
	s := &Server{log: log, piped: piped, messages: make(chan jsonrpc.Message), closed: make(chan struct{}),
		writing: semaphore.NewWeighted(1)}
	s.readers.Go(s.readFrames)
	s.readers.Go(s.readStderr)
	return s, nil
}

// Connect implements the SDK's Transport.
func (s *Server) Connect(context.Context) (sdk.Connection, error) { return s, nil }

// SessionID implements the SDK's Connection; such a connection has none.
func (s *Server) SessionID() string { return "" }

// Read returns the next message. At the end of stdout it returns io.EOF, or the
// reason why the server was ended.
func (s *Server) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m, ok := <-s.messages:
		if !ok {
			return nil, s.failure()
		}
		s.probe.answered(m)
		return m, nil
	case m := <-s.probe.timeoutError():
		return m, nil
	case <-s.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (s *Server) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.readErr
}

// Write writes a message. It ends with ctx even if the server does not read, and other
// messages wait.
func (s *Server) Write(ctx context.Context, m jsonrpc.Message) error {
	frame, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return fmt.Errorf("encode a message: %w", err)
	}
	defer s.openRequests.answered(m)
	if s.writing.Acquire(ctx, 1) != nil {
		return context.Cause(ctx)
	}
	defer s.writing.Release(1)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.probe.sent(m)
	interrupted := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(interrupted)
		_ = s.piped.Stdin.SetWriteDeadline(time.Unix(1, 0))
	})
	frame = append(frame, '\n')
	n, err := s.piped.Stdin.Write(frame)
	if stop() {
		return err
	}
	<-interrupted
	if n > 0 && n < len(frame) {
		return err // no message can follow a part of one
	}
	_ = s.piped.Stdin.SetWriteDeadline(time.Time{})
	if n == 0 {
		return context.Cause(ctx)
	}
	return nil
}

// Close ends the server as the protocol asks for.
func (s *Server) Close() error {
	s.End(GracePeriod)
	return nil
}

// End stops the server and all processes of its session, and waits until they have
// ended. It closes stdin, sends SIGTERM after grace, and SIGKILL after twice
// that time.
func (s *Server) End(grace time.Duration) {
	s.close.Do(func() {
		close(s.closed)
		s.probe.stop()
	})
	s.piped.End(grace)
	s.readers.Wait()
	s.piped.Release()
}

// Done is closed when the program and its session have ended.
func (s *Server) Done() <-chan struct{} { return s.piped.Done() }

// Exit returns how the program ended. It may be called once Done is closed.
func (s *Server) Exit() executors.Exit { return s.piped.Exit() }

// LastLine returns the last line of stderr that is not empty.
func (s *Server) LastLine() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lastStderr
}
