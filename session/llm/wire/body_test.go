package wire

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// A body of more parts than one writev(2) sends arrives whole, also on a connection
// that was used before.
func TestManyParts(t *testing.T) {
	var got []byte
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got, _ = io.ReadAll(r.Body) // what is missing fails the comparison
	}))
	defer server.Close()
	c := NewClient(server.URL)
	for _, parts := range []int{1, 3, 5000} {
		var body Body
		for i := range parts {
			body = append(body, fmt.Appendf(nil, "part %d;", i))
		}
		res, err := c.Send(t.Context(), http.MethodPost, server.URL, http.Header{}, body...)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if want := bytes.Join(body, nil); !bytes.Equal(got, want) {
			t.Errorf("%d parts: got %d of %d bytes", parts, len(got), len(want))
		}
	}
}

// A body that is longer than announced is cut where the transport cuts it.
func TestPartsLimited(t *testing.T) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	received := make(chan []byte, 1)
	go func() {
		c, err := server.Accept()
		if err != nil {
			received <- nil
			return
		}
		defer c.Close()
		data, _ := io.ReadAll(c) // as above
		received <- data
	}()
	c, err := net.Dial("tcp", server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	n, err := partsConn{c.(*net.TCPConn)}.ReadFrom(io.LimitReader(Body{[]byte("abc"), []byte("def")}.Reader(), 4))
	if err != nil || n != 4 {
		t.Errorf("%d bytes, %v", n, err)
	}
	c.Close()
	if got := <-received; string(got) != "abcd" {
		t.Errorf("got %q", got)
	}
}
