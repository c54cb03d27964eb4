package text

import "bytes"

// feed gives a pass its lines while they are made: of a long text on a goroutine
// of its own, since a pass takes about as long as all that is done before it. A
// text that fits into one buffer is not worth that.
type feed struct {
	lines  func(text []byte)
	chunks chan []byte // whole lines; nil until there are some
	spare  chan []byte // buffers for more
	done   chan struct{}
}

// feedAhead is how many buffers a pass may be behind.
const feedAhead = 3

// take takes whole lines, with their ends, and gives an empty buffer for more.
func (f *feed) take(text []byte) []byte {
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
		f.lines(text)
		select {
		case f.spare <- text:
		default:
		}
	}
}

// end takes the last lines, and waits until the pass had all.
func (f *feed) end(text []byte) {
	if f.chunks == nil {
		f.lines(text)
		return
	}
	f.chunks <- text
	f.stop()
}

// stop waits for the pass. It may be called again.
func (f *feed) stop() {
	if f.chunks != nil {
		close(f.chunks)
		<-f.done
		f.chunks = nil
	}
}

// EachLine calls do with each whole line, and gives what is behind them.
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
