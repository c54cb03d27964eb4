package rank

import "testing"

func TestCosine(t *testing.T) {
	for _, tt := range []struct {
		a, b []float32
		want float64
	}{{[]float32{1, 0}, []float32{2, 0}, 1}, {[]float32{1, 0}, []float32{0, 1}, 0}, {[]float32{1}, []float32{1, 2}, 0}, {nil, nil, 0},
		{[]float32{0}, []float32{0}, 0}} {
		if got := Cosine(tt.a, tt.b); got != tt.want {
			t.Errorf("%v, %v: %v", tt.a, tt.b, got)
		}
	}
}
