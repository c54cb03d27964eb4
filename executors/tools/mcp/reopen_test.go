package mcp

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestReopen reads streams that end: idle ones are opened again, and the others reach
// the SDK, which resumes them.
func TestReopen(t *testing.T) {
	const event = "data: {}\n\n"
	for name, tt := range map[string]struct {
		streams []string      // the text of each; after the last none can be opened
		age     time.Duration // of each stream at its end
		text    string
		opened  int
		ends    bool // the end is reported
	}{
		"idle behind a proxy":  {[]string{"", "", "", "", "", "", "", "", event}, time.Minute, event, 9, true},
		"ends at once":         {[]string{"", "", "", "", "", "", "", ""}, 0, "", maxShort + 1, false},
		"after an event":       {[]string{event, event}, time.Minute, event + event, 2, true},
		"within an event":      {[]string{"data: {", event}, time.Minute, "data: {", 1, true},
		"with ids":             {[]string{"id: 1\n" + event, event}, time.Minute, "id: 1\n" + event, 1, true},
		"the server has ended": {[]string{""}, time.Minute, "", 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				opened := 0
				open := func() (io.ReadCloser, error) {
					if opened == len(tt.streams) {
						return nil, errors.New("refused")
					}
					opened++
					return io.NopCloser(io.MultiReader(strings.NewReader(tt.streams[opened-1]), aged(tt.age))), nil
				}
				first, err := open()
				if err != nil {
					t.Fatal(err)
				}
				ended := make(chan string)
				go func() {
					text, _ := io.ReadAll(&reopeningStream{ReadCloser: first, ctx: ctx, open: open, began: time.Now()})
					ended <- string(text)
				}()
				time.Sleep(time.Hour)
				select {
				case text := <-ended:
					if !tt.ends || text != tt.text {
						t.Errorf("ended with %q, want %q (ends %t)", text, tt.text, tt.ends)
					}
				default:
					if tt.ends {
						t.Error("it has not ended")
					}
					cancel()
					<-ended
				}
				cancel()
				if opened != tt.opened {
					t.Errorf("%d streams were opened, want %d", opened, tt.opened)
				}
			})
		})
	}
}

// aged is a reader that ends after a time.
type aged time.Duration

func (a aged) Read([]byte) (int, error) {
	time.Sleep(time.Duration(a))
	return 0, io.EOF
}
