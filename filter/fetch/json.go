package fetch

import (
	"bytes"
	"encoding/json"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

// minList is the least size of a list whose items are removed, in bytes.
const minList = 8 << 10

// newJSON makes the strategy "json": a long list in JSON loses items that
// resemble others. The other items stay whole.
func newJSON(p strategy.Params) (strategy.Strategy, error) { return jsonList{}, p.Decode(&struct{}{}) }

type jsonList struct{}

func (jsonList) Begin(_ strategy.Run, out *text.Lines) strategy.Pass { return &jsonPass{out: out} }

// jsonPass collects one JSON text.
type jsonPass struct {
	out     *text.Lines
	text    []byte
	notJSON bool // the output is not JSON, or too large
}

func (p *jsonPass) Line(l []byte) {
	if p.notJSON || len(l) == 0 {
		return
	}
	if p.notJSON = len(p.text) == 0 && l[0] != '{' && l[0] != '[' || len(p.text)+len(l) > maxHeldBody; !p.notJSON {
		p.text = append(append(p.text, l...), '\n')
	}
}

func (p *jsonPass) End() strategy.Confidence {
	filteredBefore := bytes.Contains(p.text, []byte(similarItems)) // the input is the result of an earlier pass
	if p.notJSON || len(p.text) < minList && !filteredBefore {
		return strategy.Fallback
	}
	text := bytes.TrimSuffix(p.text, []byte{'\n'})
	short, ok := foldLists(text)
	switch {
	case ok:
	case filteredBefore || json.Valid(text): // nothing to remove, and other rules must not cut it
		short = text
	default:
		return strategy.Fallback
	}
	for l := range bytes.SplitSeq(short, []byte{'\n'}) {
		p.out.Write(l)
	}
	return strategy.Partial
}
