package wire

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A body in parts arrives whole, with its length, also when the request is sent again.
func TestSendParts(t *testing.T) {
	var got []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || int(r.ContentLength) != len(body) {
			t.Errorf("%d of %d bytes: %v", len(body), r.ContentLength, err)
		}
		got = append(got, r.Method+" "+r.URL.String()+" "+r.Header.Get("Content-Type")+" "+string(body))
		_, _ = io.WriteString(w, `{"n":1} and more`)
	}))
	defer s.Close()
	c, parts := NewClient(s.URL+"?key=k"), [][]byte{[]byte(`{"a":`), []byte(`1`), []byte(`}`)}
	for _, body := range [][][]byte{parts, parts, nil} {
		method := http.MethodPost
		if body == nil {
			method = http.MethodGet
		}
		res, err := c.Send(t.Context(), method, s.URL+"/x", http.Header{}, body...)
		if err != nil {
			t.Fatal(err)
		}
		var answer struct{ N int }
		if err := ReadJSON(res, &answer); err != nil || answer.N != 1 {
			t.Errorf("ReadJSON: %v, %+v", err, answer)
		}
	}
	want := `POST /x?key=k application/json {"a":1}`
	if all := strings.Join(got, "\n"); all != want+"\n"+want+"\nGET /x?key=k  " {
		t.Errorf("sent\n%s", all)
	}
	for range 2 { // a reader leaves the parts as they are
		body, err := io.ReadAll(Body(parts).Reader())
		if err != nil || string(body) != `{"a":1}` {
			t.Errorf("%s, %v", body, err)
		}
	}
}
