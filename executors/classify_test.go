package executors

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

func TestClassifyHTTPStatus(t *testing.T) {
	for status, want := range map[int]Category{
		400: InvalidParameters, 422: InvalidParameters, 401: PolicyBlocked, 403: PolicyBlocked, 429: RateLimited,
		500: ServerError, 502: ServerError, 503: ServerError, 529: ServerError, 599: ServerError,
		404: PermanentFailure, 410: PermanentFailure, 408: PermanentFailure, 418: PermanentFailure,
		200: PermanentFailure, 304: PermanentFailure, 600: PermanentFailure, 0: PermanentFailure, -1: PermanentFailure,
	} {
		if got := ClassifyHTTPStatus(status); got != want {
			t.Errorf("%d: %s, want %s", status, got, want)
		}
	}
}

func TestClassifyExit(t *testing.T) {
	for code, want := range map[int]Category{126: PolicyBlocked, 127: PermanentFailure, 0: "", 1: "", 2: "", 125: "", 128: "", 130: "", 255: "", -1: ""} {
		if got := ClassifyExit(code); got != want {
			t.Errorf("%d: %q, want %q", code, got, want)
		}
	}
}

func TestClassifyIO(t *testing.T) {
	missing := exec.Command("/no/such/program").Run()
	for name, tt := range map[string]struct {
		err  error
		want Category
	}{
		"no such program":   {missing, PermanentFailure},
		"no such file":      {&fs.PathError{Op: "open", Path: "x", Err: syscall.ENOENT}, PermanentFailure},
		"a directory":       {syscall.EISDIR, PermanentFailure},
		"permission":        {&fs.PathError{Op: "open", Path: "x", Err: syscall.EACCES}, PolicyBlocked},
		"permission, plain": {fs.ErrPermission, PolicyBlocked},
		"deadline":          {fmt.Errorf("read: %w", os.ErrDeadlineExceeded), Timeout},
		"context":           {context.DeadlineExceeded, Timeout},
		"timed out":         {&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ETIMEDOUT)}, Timeout},
		"refused":           {&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, NetworkError},
		"reset":             {fmt.Errorf("read: %w", syscall.ECONNRESET), NetworkError},
		"aborted":           {syscall.ECONNABORTED, NetworkError},
		"broken pipe":       {syscall.EPIPE, NetworkError},
		"unreachable":       {&net.OpError{Op: "dial", Err: errors.New("no route")}, NetworkError},
		"name server":       {&net.DNSError{Err: "server misbehaving", Name: "x"}, NetworkError},
		"no such host":      {&net.DNSError{Err: "no such host", Name: "x", IsNotFound: true}, PermanentFailure},
		"would block":       {syscall.EAGAIN, ServerError},
		"interrupted":       {syscall.EINTR, ServerError},
		"end of file":       {io.ErrUnexpectedEOF, PermanentFailure},
		"anything":          {errors.New("x"), PermanentFailure},
		"none":              {nil, PermanentFailure},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ClassifyIO(tt.err); got != tt.want {
				t.Errorf("%v: %s, want %s", tt.err, got, tt.want)
			}
			if tt.err != nil {
				if got := FailWith(tt.err).Category(); got != tt.want {
					t.Errorf("FailWith(%v): %s, want %s", tt.err, got, tt.want)
				}
			}
		})
	}
}

// A failure outside the call never counts as the model's fault, and the other
// way round.
func TestCategories(t *testing.T) {
	all := []Category{
		ToolNotFound, InvalidParameters, TypeMismatch, PolicyBlocked, ConfirmationRequired, PermanentFailure, Cancelled,
		RateLimited, ServerError, NetworkError, Timeout,
	}
	infrastructure := map[Category]bool{RateLimited: true, ServerError: true, NetworkError: true, Timeout: true}
	quality := map[Category]bool{ToolNotFound: true, InvalidParameters: true, TypeMismatch: true}
	for _, c := range append(all, "", "quota_blocked", "of_a_version_to_come") {
		if c.Infrastructure() != infrastructure[c] || c.Quality() != quality[c] {
			t.Errorf("%q: infrastructure %t, quality %t, want %t, %t", c, c.Infrastructure(), c.Quality(), infrastructure[c], quality[c])
		}
	}
}
