package flow

// flow is the direction of data through a program.
type flow uint8

const (
	sends flow = 1 << iota // it can send data out
	reads                  // it prints data that a stranger may have written

	both = sends | reads
)

// listingTools are tools that name files without their content.
var listingTools = map[string]bool{"create_directory": true, "delete_path": true, "find_path": true, "list_directory": true}
