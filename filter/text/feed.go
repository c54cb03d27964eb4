package text

import "bytes"

// feed sends lines to a reader while they are written. It uses a goroutine if
// the text does not fit into one buffer: a strategy takes about as long as all
// the work before it.
type feed struct {
	read   func(text []byte) // the reader; it must not keep text
	chunks chan []byte       // whole lines; nil before the first
	spare  chan []byte       // buffers for reuse
	done   chan struct{}     // closed when the reader has read all chunks
}

// feedAhead is the number of buffers that may wait for the reader.
const feedAhead = 3

// send passes whole lines on and returns an empty buffer for more.
func (f *feed) send(text []byte) []byte {
	if f.chunks == nil {
		f.chunks, f.spare, f.done = make(chan []byte, feedAhead), make(chan []byte, feedAhead), make(chan struct{})
		go f.run()
	}
	f.chunks <- text
	select {
	case buf := <-f.spare:
		return buf[:0]
	default:
		return make([]byte, 0, cap(text))
	}
}

func (f *feed) run() {
	defer close(f.done)
	for text := range f.chunks {
		f.read(text)
		select {
		case f.spare <- text:
		default:
		}
	}
}

// end passes the last lines on and waits until all were read.
func (f *feed) end(text []byte) {
	if f.chunks == nil {
		f.read(text)
		return
	}
	f.chunks <- text
	f.stop()
}

// stop waits for the reader. It may be called more than once.
func (f *feed) stop() {
	if f.chunks != nil {
		close(f.chunks)
		<-f.done
		f.chunks = nil
	}
}

// EachLine calls do with each whole line and returns the rest of text.
func EachLine(text []byte, do func(line []byte)) (rest []byte) {
	for {
		end := bytes.IndexByte(text, '\n')
		if end < 0 {
			return text
		}
		do(text[:end])
		text = text[end+1:]
	}
}
