package main

import (
	"strings"
	"testing"
)

func TestWriteRows(t *testing.T) {
	rows := [][]string{{"1", "日本", "a fact"}, {"20", "*", "another one"}, {"3", "x"}}
	for screen, want := range map[bool]string{
		false: "1\t日本\ta fact\n20\t*\tanother one\n3\tx\n",
		true:  "1   日本  a fact\n20  *     another one\n3   x\n",
	} {
		var b strings.Builder
		if err := writeRows(&b, rows, screen); err != nil || b.String() != want {
			t.Errorf("screen %t: %v\n%s", screen, err, &b)
		}
	}
}
