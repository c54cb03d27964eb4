// Command bare answers one line and ends: the least that a start of a Go program
// takes.
package main

import (
	"bufio"
	"os"
)

func main() {
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		os.Exit(1)
	}
	os.Stdout.WriteString("{}\n")
}
