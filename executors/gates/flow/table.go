package flow

// flow is the direction of data through a program.
type flow uint8

const (
	sends flow = 1 << iota // it can send data out
	reads                  // it prints data that a stranger may have written

	both = sends | reads
)
