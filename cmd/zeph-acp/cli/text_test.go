package cli

import (
	"strings"
	"testing"
)

func TestWriteRows(t *testing.T) {
	rows := [][]string{{"1", "日本", "a fact"}, {"20", "*", "another one"}, {"3", "x"}}
	for width, want := range map[int]string{
		0:  "1\t日本\ta fact\n20\t*\tanother one\n3\tx\n",
		80: "1   日本  a fact\n20  *     another one\n3   x\n",
	} {
		var b strings.Builder
		if err := WriteRows(&b, rows, width); err != nil || b.String() != want {
			t.Errorf("width %d: %v\n%s", width, err, &b)
		}
	}
	var b strings.Builder
	const want = "7  a fact of several words\n   that needs two lines\n"
	if err := WriteRows(&b, [][]string{{"7", "a fact of several words that needs two lines"}}, 28); err != nil || b.String() != want {
		t.Errorf("%v\n%s", err, &b)
	}
}
