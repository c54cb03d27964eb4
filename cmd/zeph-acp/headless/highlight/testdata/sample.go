// Package sample has comments, strings and numbers.
package sample

import "fmt"

/*
	A comment

with "a string" and func main
*/
const text = `raw // no comment
func inside() {
`

// Open returns 0x1f.
func Open(name string) (n int, err error) {
	for i := range 10 {
		fmt.Printf("%d /* no comment\n", i, 'x', 1.5e3)
	}
	return 0x1f, nil
}
