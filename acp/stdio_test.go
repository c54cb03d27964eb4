package acp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// An answer over the limit fails the call that waits for it, in any order of
// its members. Any other line over the limit is refused and settles no call.
func TestAnswerTooLong(t *testing.T) {
	x := strings.Repeat("x", 300<<10)                                        // longer than the reader's buffer
	escaped := strings.Repeat(`a\"b,\"id\":1}`, 30<<10)                      // looks like members
	nested := strings.Repeat(`{"a":[1,"id",{"id":7,"method":"x"}]},`, 9<<10) // are members, further in
	for name, tt := range map[string]struct {
		line   string
		fails  bool // the call with id 1; else the line must be refused, or ignored if it is silent
		silent bool
		id     string // a second refusal has it; empty means that there is none
	}{
		"id first":            {line: `{"jsonrpc":"2.0","id":1,"result":{"content":"` + x + `"}}`, fails: true},
		"id last":             {line: `{"jsonrpc":"2.0","result":{"content":"` + x + `"},"id":1}`, fails: true},
		"id before jsonrpc":   {line: `{"result":{"content":"` + x + `"},"id":1,"jsonrpc":"2.0"}`, fails: true},
		"spaced out":          {line: ` { "result" : { "content" : "` + x + `" } , "id" : 1 , "_meta" : { "id" : [ 3, 4 ] } } ` + "\r", fails: true},
		"result seen at last": {line: `{"id":1,"_meta":"` + x + `","result":{"content":""}}`, fails: true},
		"an error":            {line: `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"` + x + `"}}`, fails: true},
		"mark before it":      {line: "\xef\xbb\xbf" + `{"jsonrpc":"2.0","id":1,"result":"` + x + `"}`, fails: true},
		"escapes":             {line: `{"result":{"content":"` + escaped + `"},"id":1}`, fails: true},
		"escapes at the end":  {line: `{"id":1,"result":{"content":"` + escaped + `"}}`, fails: true},
		"nested":              {line: `{"id":1,"result":[` + nested + `{"id":8}]}`, fails: true},
		"nested, id last":     {line: `{"result":[` + nested + `{"id":8}],"id":1}`, fails: true},
		"little over":         {line: `{"result":{"content":"` + x[:1<<10] + `"},"id":1}`, fails: true},
		"null members":        {line: `{"id":1,"method":null,"params":null,"result":"` + x + `"}`, fails: true},
		"no end":              {line: `{"jsonrpc":"2.0","id":1,"result":{"content":"` + x, fails: true},
		"another call's":      {line: `{"id":77,"result":"` + x + `"}`, silent: true},
		"text for an id":      {line: `{"id":"1","result":"` + x + `"}`, silent: true},
		"no id":               {line: `{"result":[` + nested + `{"id":1}]}`, silent: true},
		"request":             {line: `{"jsonrpc":"2.0","id":1,"method":"m","params":{"result":"` + x + `"}}`, id: "1"},
		"request, id last":    {line: `{"params":{"result":"` + x + `"},"method":"m","id":1}`, id: "1"},
		"request with result": {line: `{"id":1,"result":"` + x + `","method":"m"}`, id: "1"},
		"request in use":      {line: `{"id":5,"method":"m","params":"` + x + `"}`},
		"batch":               {line: `[{"id":1,"result":"` + x + `"},{"id":1,"result":1}]`},
		"no object":           {line: x + `,"id":1,"result":1}`},
		"result in a string":  {line: `{"id":1,"a":"` + x + `,\"result\":1}"}`},
	} {
		t.Run(name, func(t *testing.T) {
			asked := make(chan error, 1)
			s := newServer(t, &fakeSessions{turn: func(ctx context.Context, c *Client, _ []ContentBlock) (StopReason, error) {
				_, err := c.ReadTextFile(ctx, "s1", "/w/a")
				asked <- err
				return StopEndTurn, nil
			}})
			s.Config.MaxLineBytes = 1 << 10
			w := serve(t, s)
			w.send(open)
			w.read()
			w.send(promptFrame("5"))
			w.read() // the request of the file
			w.send(tt.line)
			if !tt.fails {
				if !tt.silent {
					for _, id := range []string{"null", tt.id} {
						if id == "" {
							continue
						}
						if got := w.read(); !strings.Contains(got, `"id":`+id) || !strings.Contains(got, "-32600") {
							t.Errorf("w.read(): got %v, want id %s and -32600 in it", got, id)
						}
					}
				}
				w.send(`{"jsonrpc":"2.0","id":1,"result":{"content":"a"}}`)
			}
			err := <-asked
			refused, ok := errors.AsType[*ClientError](err)
			if tt.fails != ok || ok && (refused.Unsupported() || refused.NotFound() || !strings.Contains(refused.Message, "over 1024 bytes")) {
				t.Error(err)
			}
			if got := w.read(); !strings.Contains(got, `"end_turn"`) {
				t.Errorf("w.read(): got %v, want %q in it", got, `"end_turn"`)
			}
		})
	}
}

// A line over the limit is skipped to its end, and only its ends are stored.
func TestEndsOfLongLine(t *testing.T) {
	const limit = 1 << 20
	for _, n := range []int{limit, limit + 1, limit + 2, 3 * limit} {
		line := "{" + strings.Repeat("x", n-2) + "}"
		s := &stream{in: bufio.NewReaderSize(strings.NewReader(line+"\nnext"), 64<<10), maxLine: limit, beforeWait: func() {}}
		got, tooLong, err := s.readLine()
		if tooLong != (n > limit) || err != nil || got[0] != '{' || !bytes.HasSuffix(got, []byte("x}\n")) {
			t.Errorf("%d bytes: %t, %v, %.9q", n, tooLong, err, got)
		}
		if tooLong && (len(got) != 2*endBytes || cap(got) > 256<<10) {
			t.Errorf("%d bytes: %d of %d held", n, len(got), cap(got))
		}
		if got, tooLong, err := s.readLine(); string(got) != "next" || tooLong || err != io.EOF {
			t.Errorf("%d bytes: then %q, %t, %v", n, got, tooLong, err)
		}
	}
}

// The members that are visible at the ends of an object are members of the
// object.
func FuzzOuterMembers(f *testing.F) {
	f.Add(`{"id":1,"result":{"a":"b"},"x":[1,{"y":"\",\""}],"id":12}`, 9)
	f.Add(`{"a,":",b","c":"\\\",\"d\":1}","e":12345}`, 3)
	f.Add(`{"a":{"b":1,"c":2},"d":[3,"e",{"f":4}]}`, 12)
	f.Fuzz(func(t *testing.T, line string, n int) {
		if n < 0 || n > len(line) {
			return
		}
		got := outerMembers([]byte(line[:n]), []byte(line[len(line)-n:]))
		var all map[string]json.RawMessage
		if json.Unmarshal([]byte(line), &all) != nil {
			return
		}
		for name, value := range got {
			if whole, ok := all[name]; !ok || len(value) > 0 && string(value) != string(whole) && !twice(line, name) {
				t.Errorf("%q: %s, want %s", name, value, whole)
			}
		}
	})
}

// twice reports whether an object has a member more than once. The last one
// counts, and may be between the ends.
func twice(line, name string) bool {
	dec := json.NewDecoder(strings.NewReader(line))
	_, _ = dec.Token()
	n := 0
	for dec.More() {
		key, _ := dec.Token()
		var value json.RawMessage
		if dec.Decode(&value) == nil && fmt.Sprint(key) == name {
			n++
		}
	}
	return n > 1
}
