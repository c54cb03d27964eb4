package setting

import (
	"math"
	"reflect"
	"strings"
)

// Describe returns the sentence about a key: its unit and doc, the accepted values, and
// the meaning of 0. It has no full stop.
func (f Field) Describe() string {
	text := strings.TrimSpace(f.Tag.Get("unit") + " " + f.Tag.Get("doc"))
	if choices := f.Choices(); len(choices) > 1 {
		last := len(choices) - 1
		text += ": " + strings.Join(choices[:last], ", ") + " or " + choices[last]
	}
	var more []string
	if r := f.Tag.Get("range"); r != "" {
		switch b := boundsOf(r); {
		case math.IsInf(b.high, 1) && b.low > 1:
			more = append(more, "at least "+digits(b.low))
		case math.IsInf(b.high, 1):
		case b.low == 0 && f.Tag.Get("zero") != "":
			more = append(more, "at most "+digits(b.high))
		default:
			more = append(more, digits(b.low)+" to "+digits(b.high))
		}
	}
	if zero := f.Tag.Get("zero"); zero != "" {
		name := "0"
		if k := f.Type.Kind(); k == reflect.String || k == reflect.Slice {
			name = "empty"
		}
		more = append(more, name+": "+zero)
	}
	if len(more) > 0 {
		text += "; " + strings.Join(more, ", ")
	}
	return text
}
