package stdio

import (
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// A response of the wrong shape fails its request with an error in the words of JSON.
func TestWrongResponse(t *testing.T) {
	for raw, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"error":"busy"}`:                 "the response cannot be read: error must be object, got string",
		`{"jsonrpc":"2.0","id":1,"error":{"code":"busy"}}`:        "the response cannot be read: error.code must be integer, got string",
		`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":5}}`: "the response cannot be read: error.message must be string",
	} {
		r, ok := decodeOne([]byte(raw)).(*jsonrpc.Response)
		if !ok || r.Error == nil {
			t.Errorf("%s: no error", raw)
		} else if r.Error.Error() != want {
			t.Errorf("%s: %v, want %s", raw, r.Error, want)
		}
	}
}
