package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/oauth2"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/tools/mcp/oauth"
)

// errorCode classifies the failure of a call or of a server.
type errorCode string

// The codes.
const (
	transient     errorCode = "transient"      // a temporary failure
	rateLimited   errorCode = "rate_limited"   // the server asks to slow down
	invalidInput  errorCode = "invalid_input"  // the same input would fail again
	authFailure   errorCode = "auth_failure"   // the server does not know the user, or refuses
	serverError   errorCode = "server_error"   // the server failed
	notFound      errorCode = "not_found"      // there is no such tool or resource
	policyBlocked errorCode = "policy_blocked" // a rule of this machine blocks it
)

// retryable reports whether the same call may succeed later.
func (c errorCode) retryable() bool {
	switch c {
	case transient, rateLimited, serverError:
		return true
	}
	return false
}

// classifiedError is a classified failure.
type classifiedError struct {
	Code       errorCode
	Category   executors.Category
	RetryAfter time.Duration // the wait that the server asks for; 0 means none
	Err        error
}

// Error returns the message of the cause.
func (e *classifiedError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *classifiedError) Unwrap() error { return e.Err }

var errClosed = errors.New("the server was stopped")

// errTimeout is the cause of a call's end when it takes too long.
var errTimeout = errors.New("the call took too long")

// Codes of JSON-RPC errors that MCP adds: resources/read of an unknown resource, and
// a call that needs the user to visit an address first.
const (
	codeResourceNotFound = -32002
	codeURLElicitation   = -32042
)

// codeRejected is the code of the SDK's own error for a request that it did not send.
const codeRejected = -32005

// classify returns the failure for an error of the SDK. status is the last HTTP status of
// a web server, or 0.
func classify(err error, status status) *classifiedError {
	if e, ok := errors.AsType[*classifiedError](err); ok {
		return &classifiedError{Code: e.Code, Category: e.Category, RetryAfter: e.RetryAfter, Err: err}
	}
	e := &classifiedError{Code: serverError, Category: executors.ServerError, RetryAfter: status.retryAfter, Err: err}
	if f, ok := errors.AsType[*executors.Failure](err); ok && f.Category == executors.PolicyBlocked {
		e.Code, e.Category = policyBlocked, executors.PolicyBlocked
		return e
	}
	if login, ok := errors.AsType[*oauth.Error](err); ok {
		e.Err = login // without the SDK's names of the requests
		e.Code, e.Category = loginCode(login)
		return e
	}
	if refused, ok := errors.AsType[*statusError](err); ok {
		e.Err = refused // without the SDK's names of the requests
		e.Code, e.Category = httpCode(refused.code)
		return e
	}
	if rpc, ok := errors.AsType[*jsonrpc.Error](err); ok && rpc.Code != codeRejected {
		e.Code, e.Category = rpcCode(rpc)
		return e
	}
	if wrong := executors.PlainJSONError(err); wrong != err {
		e.Err = fmt.Errorf("the response cannot be read: %w", wrong)
		return e
	}
	if status.code >= http.StatusBadRequest {
		e.Code, e.Category = httpCode(status.code)
		return e
	}
	switch _, network := errors.AsType[net.Error](err); {
	case errors.Is(err, errTimeout), errors.Is(err, context.DeadlineExceeded):
		e.Code, e.Category = transient, executors.Timeout
	case errors.Is(err, sdk.ErrConnectionClosed), errors.Is(err, sdk.ErrSessionMissing), errors.Is(err, io.EOF), errors.Is(err, errClosed):
		e.Code = transient
	case network:
		e.Code, e.Category = transient, executors.NetworkError
	}
	return e
}

// rpcCode classifies an error that the server answered with.
func rpcCode(e *jsonrpc.Error) (errorCode, executors.Category) {
	text := strings.ToLower(e.Message)
	unknown := strings.Contains(text, "unknown tool") || strings.Contains(text, "not found")
	switch {
	case e.Code == jsonrpc.CodeMethodNotFound, e.Code == codeResourceNotFound, e.Code == jsonrpc.CodeInvalidParams && unknown:
		return notFound, executors.PermanentFailure
	case e.Code == jsonrpc.CodeInvalidParams, e.Code == jsonrpc.CodeInvalidRequest, e.Code == jsonrpc.CodeParseError:
		return invalidInput, executors.InvalidParameters
	case e.Code == codeURLElicitation:
		return authFailure, executors.PermanentFailure
	}
	return serverError, executors.ServerError
}

// loginCode classifies a request that could not be authorized.
func loginCode(e *oauth.Error) (errorCode, executors.Category) {
	if e.Login {
		return authFailure, executors.PermanentFailure
	}
	if answer, ok := errors.AsType[*oauth2.RetrieveError](e); ok {
		return httpCode(answer.Response.StatusCode)
	}
	return transient, executors.NetworkError
}

// httpCode classifies a status other than success.
func httpCode(status int) (errorCode, executors.Category) {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		return authFailure, executors.PermanentFailure
	case http.StatusNotFound, http.StatusGone:
		return notFound, executors.PermanentFailure
	case http.StatusTooManyRequests:
		return rateLimited, executors.RateLimited
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return transient, executors.ServerError
	}
	if status < http.StatusInternalServerError {
		return invalidInput, executors.PermanentFailure
	}
	return serverError, executors.ServerError
}
