// Package vector compares embeddings of texts.
package vector

import "math"

// Cosine returns the cosine similarity of two embeddings, from -1 to 1, or 0 if they
// cannot be compared: different lengths, or a vector without a direction.
func Cosine(a, b []float32) float64 {
	if len(a) != len(b) {
		return 0
	}
	var dot, aa, bb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot, aa, bb = dot+x*y, aa+x*x, bb+y*y
	}
	c := dot / math.Sqrt(aa*bb)
	if math.IsNaN(c) || math.IsInf(c, 0) {
		return 0
	}
	return c
}
