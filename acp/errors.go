package acp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sourcegraph/jsonrpc2"
)

// Error codes of ACP beyond JSON-RPC's own:
// https://agentclientprotocol.com/protocol/v1/schema#errorcode
const (
	codeAuthRequired     = -32000
	codeResourceNotFound = -32002
	codeVersion          = -32022 // of version 2
	codeCancelled        = -32800
)

// The errors that handlers return, with their codes on the wire.
var (
	// ErrUnknownSession is -32002.
	ErrUnknownSession = errors.New("unknown session")
	// ErrAuthRequired is -32000. Wrap it with the action that the user has to
	// take.
	ErrAuthRequired = errors.New("authentication required")
	// ErrTurnCancelled is the cause of a turn that session/cancel ended. If a
	// turn ends for another reason, such as session/close, its cause wraps
	// ErrTurnCancelled. Either way the prompt is answered with StopCancelled,
	// never with an error.
	ErrTurnCancelled = errors.New("the turn was cancelled")
	// ErrNoTurn means that no turn accepted the text of a _session/steering.
	ErrNoTurn = errors.New("no turn is running")
	// ErrClosed is the cause of every context when the client closes the
	// connection.
	ErrClosed = errors.New("the client closed the connection")

	errInvalidRequest = errors.New("invalid request")
	errUnknownMethod  = errors.New("method not found")
	errCancelled      = errors.New("the request was cancelled")
)

// sessionError is an error about a session of a request.
type sessionError struct {
	id  string
	err error
}

func (e sessionError) Error() string { return fmt.Sprintf("session %s: %v", e.id, e.err) }

func (e sessionError) Unwrap() error { return e.err }

// versionError means that no version is served that the client speaks.
type versionError struct {
	Requested uint64 `json:"requested"`
	Supported []int  `json:"supported"`
}

func (e versionError) Error() string {
	return fmt.Sprintf("protocol version %d is not supported, only %v", e.Requested, e.Supported)
}

// ParamsError is -32602: a member of the params is missing or wrong.
type ParamsError struct {
	Field  string // as on the wire, e.g. "cwd" or "prompt[0].type"
	Reason string // e.g. "must be an absolute path"
}

// Error returns field and reason.
func (e *ParamsError) Error() string { return strings.TrimPrefix(e.Field+": "+e.Reason, ": ") }

// ParamsErrorf returns a *ParamsError about a field, with a formatted reason.
func ParamsErrorf(field, format string, args ...any) error {
	return &ParamsError{Field: field, Reason: fmt.Sprintf(format, args...)}
}

// ClientError is the client's refusal of one of our calls.
type ClientError struct {
	Method  string
	Code    int64 // JSON-RPC; 0 means that the answer did not have the expected shape
	Message string
}

// Error returns method, message and code.
func (e *ClientError) Error() string {
	if e.Code == 0 {
		return e.Method + ": " + e.Message
	}
	return fmt.Sprintf("%s: %s (%d)", e.Method, e.Message, e.Code)
}

// Unsupported reports whether the client does not support the method.
func (e *ClientError) Unsupported() bool { return e.Code == jsonrpc2.CodeMethodNotFound }

// NotFound reports whether the client does not have the requested resource.
func (e *ClientError) NotFound() bool { return e.Code == codeResourceNotFound }

// wireError is the only function that assigns a code to an error. An error that
// the user has to act on also carries its sentence in data.details. Zed shows
// that instead of the message if it is the only member. Toad shows nothing
// else.
func wireError(err error) *jsonrpc2.Error {
	e := &jsonrpc2.Error{Message: err.Error()}
	var params *ParamsError
	var version versionError
	switch {
	case errors.As(err, &params):
		e.Code = jsonrpc2.CodeInvalidParams
	case errors.Is(err, ErrUnknownSession):
		e.Code = codeResourceNotFound
	case errors.Is(err, ErrAuthRequired):
		e.Code = codeAuthRequired
	case errors.As(err, &version):
		e.Code = codeVersion
		e.SetError(version)
	case errors.Is(err, errInvalidRequest):
		e.Code = jsonrpc2.CodeInvalidRequest
	case errors.Is(err, errUnknownMethod):
		e.Code = jsonrpc2.CodeMethodNotFound
	case errors.Is(err, errCancelled), errors.Is(err, ErrTurnCancelled), errors.Is(err, ErrClosed), errors.Is(err, context.Canceled):
		e.Code = codeCancelled
	default:
		e.Code = jsonrpc2.CodeInternalError
	}
	if e.Code == codeAuthRequired || e.Code == jsonrpc2.CodeInternalError {
		e.SetError(map[string]string{"details": e.Message})
	}
	return e
}
