package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
)

func pipes(n int) (readers, writers []*os.File, err error) {
	for range n {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(readers)
			closeAll(writers)
			return nil, nil, fmt.Errorf("make a pipe: %w", err)
		}
		readers, writers = append(readers, r), append(writers, w)
	}
	return readers, writers, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// readFunc reads files to their ends, and passes each chunk to sink with the index
// of its file. Sink must not keep the chunk. When ctx ends, readFunc reads the
// bytes that were written already and returns: on a busy machine the reader may
// be late.
type readFunc func(ctx context.Context, sink func(i int, chunk []byte))

// readEach reads each file in its own goroutine.
func readEach(ctx context.Context, files []*os.File, sink func(i int, chunk []byte)) {
	defer context.AfterFunc(ctx, func() { stopWaiting(files) })()
	var wg sync.WaitGroup
	for i, f := range files {
		wg.Go(func() { readToEnd(f, func(chunk []byte) { sink(i, chunk) }) })
	}
	wg.Wait()
}

// readToEnd reads a file until it ends, or until its deadline and then the bytes that were
// written already.
func readToEnd(f *os.File, sink func(chunk []byte)) {
	buf := make([]byte, chunkSize)
	for {
		n, err := f.Read(buf)
		if n > 0 {
			sink(buf[:n])
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			readBuffered(f, buf, sink)
		}
		if err != nil {
			return
		}
	}
}

const (
	chunkSize     = 64 << 10 // the capacity of a pipe on Linux
	maxLateChunks = 16       // chunks read after ctx ended: the capacity of a pipe may be set to 1 MiB
)
