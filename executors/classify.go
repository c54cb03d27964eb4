package executors

import (
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"syscall"
)

// ClassifyHTTPStatus returns the category of a status other than success.
func ClassifyHTTPStatus(status int) Category {
	switch {
	case status == http.StatusBadRequest, status == http.StatusUnprocessableEntity:
		return InvalidParameters
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return PolicyBlocked
	case status == http.StatusTooManyRequests:
		return RateLimited
	case status >= 500 && status <= 599:
		return ServerError
	}
	return PermanentFailure
}

// ClassifyExit returns the category of a shell's exit code which means that the
// program did not run. It is empty for any other code: the model interprets the
// codes of programs that ran.
func ClassifyExit(code int) Category {
	switch code {
	case 126: // found, may not be executed
		return PolicyBlocked
	case 127: // not found; ToolNotFound is for tools alone
		return PermanentFailure
	}
	return ""
}

// ClassifyIO returns the category of an error of the system, or of a reader or
// writer. Any other error is a PermanentFailure.
func ClassifyIO(err error) Category {
	var timeout interface{ Timeout() bool }
	switch {
	case errors.Is(err, syscall.EINTR), errors.Is(err, syscall.EAGAIN): // their Timeout method returns true
		return ServerError
	case errors.As(err, &timeout) && timeout.Timeout(), errors.Is(err, os.ErrDeadlineExceeded):
		return Timeout
	case errors.Is(err, fs.ErrPermission):
		return PolicyBlocked
	case errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.ECONNREFUSED),
		errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.ECONNABORTED):
		return NetworkError
	}
	if _, ok := errors.AsType[*net.OpError](err); ok {
		return NetworkError
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok && !dns.IsNotFound {
		return NetworkError
	}
	return PermanentFailure
}
