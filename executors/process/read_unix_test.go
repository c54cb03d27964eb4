//go:build unix

package process

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"
)

// All written output is read, however late the reader is. A context that has
// ended only stops the wait for more.
func TestReadLate(t *testing.T) {
	for name, watch := range map[string]func([]*os.File) readFunc{
		"as watched": newReadFunc,
		"each": func(files []*os.File) readFunc {
			return func(ctx context.Context, sink func(int, []byte)) { readEach(ctx, files, sink) }
		},
	} {
		for _, streams := range []int{1, 2} {
			t.Run(name, func(t *testing.T) {
				readers, writers, err := pipes(streams)
				if err != nil {
					t.Fatal(err)
				}
				defer closeAll(readers)
				defer closeAll(writers) // as by a daemon, which holds them open
				read := watch(readers)
				write := func(text string) {
					for _, w := range writers {
						if _, err := w.WriteString(text); err != nil {
							t.Error(err)
						}
					}
				}
				write("a")
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				long := strings.Repeat("x", chunkSize-1)
				got := make([]strings.Builder, streams)
				read(ctx, func(i int, chunk []byte) {
					if ctx.Err() == nil && i == 0 {
						write(long)
						cancel()
						time.Sleep(5 * time.Millisecond) // so that the reader certainly sees it
					}
					got[i].Write(chunk)
				})
				for i := range got {
					if got[i].String() != "a"+long {
						t.Errorf("stream %d: %d bytes", i, got[i].Len())
					}
				}
			})
		}
	}
}
