package mcp

import (
	"bytes"
	"fmt"
	"io"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// statusError is the error of a request that a web server refused with a status.
type statusError struct{ code int }

func (e *statusError) Error() string {
	return fmt.Sprintf("the server answered with status %d %s", e.code, http.StatusText(e.code))
}

// checkStatus returns the response to a request, or a *statusError if the server refused it
// without an error of JSON-RPC. A server says with 404 that it has ended the session, and the
// SDK itself keeps the connection for an overloaded server.
func checkStatus(req *http.Request, res *http.Response) (*http.Response, error) {
	switch code := res.StatusCode; {
	case code < http.StatusBadRequest, code == http.StatusTooManyRequests, code >= http.StatusBadGateway && code <= http.StatusGatewayTimeout:
		return res, nil
	case code == http.StatusNotFound && req.Header.Get("Mcp-Session-Id") != "":
		return res, nil
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxBody))
	res.Body.Close()
	if err != nil {
		return nil, err
	}
	message, _ := jsonrpc.DecodeMessage(body)
	if answer, ok := message.(*jsonrpc.Response); ok && answer.Error != nil {
		res.Body = io.NopCloser(bytes.NewReader(body))
		return res, nil
	}
	return nil, &statusError{res.StatusCode}
}
