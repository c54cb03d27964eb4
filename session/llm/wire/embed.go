package wire

import (
	"fmt"
)

// CheckVectors returns an error if these cannot be the vectors of n texts.
func CheckVectors(vectors [][]float32, n int) error {
	if len(vectors) != n {
		return fmt.Errorf("it sent %d vectors for %d texts", len(vectors), n)
	}
	for _, v := range vectors {
		if len(v) == 0 || len(v) != len(vectors[0]) {
			return fmt.Errorf("it sent vectors of %d and %d numbers", len(vectors[0]), len(v))
		}
	}
	return nil
}
