package digest

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

// terraform is a digest of plans: each resource with what is done to it and what
// changes of it.
type terraform struct{ *digest }

// newTerraform makes the strategy "terraform": a digest that also takes out of a
// plan what is only known later, what does not change, and what resources looked
// like that are destroyed.
func newTerraform(p strategy.Params) (strategy.Strategy, error) {
	d, err := readDigest(p)
	if err != nil {
		return nil, err
	}
	return terraform{d}, nil
}

func (t terraform) Begin(run strategy.Run, out *text.Lines) strategy.Pass {
	return &planning{digesting: t.begin(run, out)}
}

type planning struct {
	*digesting
	block   resource // what the current block is of
	around  resource // the same of one without an end, in which one of a destroyed resource is
	blank   bool     // a blank line waits for what follows it
	heredoc []byte   // the word that ends the text that a line of the block is in; nil if none
}

// resource is what a plan does to one.
type resource uint8

const (
	noResource resource = iota
	created
	destroyed
	updated // replaced ones too
)

func (p *planning) Line(l []byte) {
	switch {
	case p.block == noResource:
		p.outside(l)
	case len(l) == 0:
		p.blank = true
	case bytes.Equal(l, []byte("    }")):
		if p.block == destroyed {
			p.changed = true
			p.leave()
			p.block, p.around = p.around, noResource
		} else {
			p.write(l)
			p.leave()
		}
	case l[0] != ' ' && (p.noise.Match(l) || p.foldable.Match(l) || text.IsFolded(l)): // of another resource, in between
		p.digesting.Line(l)
	case resourceLine(l) == destroyed:
		p.changed = true
		if p.block != destroyed {
			p.around, p.block = p.block, destroyed
		}
	case l[0] != ' ' || bytes.HasPrefix(l, []byte("  # ")) || resourceLine(l) != noResource:
		blank := p.blank
		p.leave()
		if blank {
			p.digesting.Line(nil)
		}
		p.outside(l)
	default:
		p.changed = p.changed || p.blank // within a block it only divides
		p.blank = false
		if p.drops(l) {
			p.changed = true
		} else {
			p.write(l)
		}
	}
}

// outside takes a line that is of no block, or begins one.
func (p *planning) outside(l []byte) {
	p.block = resourceLine(l)
	if p.block == destroyed {
		p.changed = true
		return
	}
	p.digesting.Line(l)
}

func (p *planning) leave() { p.block, p.heredoc, p.blank = noResource, nil, false }

// resourceLine tells what the block is of that a line begins.
func resourceLine(l []byte) resource {
	if len(l) < 14 || l[len(l)-1] != '{' {
		return noResource
	}
	rest := bytes.TrimLeft(l[:6], " ")
	sign := len(rest)
	if i := bytes.IndexByte(rest, ' '); i > 0 {
		sign = i
	}
	switch kind := l[4:]; {
	case !bytes.HasPrefix(kind, []byte("resource \"")) && !bytes.HasPrefix(kind, []byte("data \"")):
		return noResource
	case string(rest[:sign]) == "+", string(rest[:sign]) == "<=":
		return created
	case string(rest[:sign]) == "-":
		return destroyed
	case string(rest[:sign]) == "~", string(rest[:sign]) == "-/+", string(rest[:sign]) == "+/-":
		return updated
	}
	return noResource
}

// drops reports whether a line of a block goes.
func (p *planning) drops(l []byte) bool {
	if p.block == destroyed {
		return true
	}
	text := bytes.TrimLeft(l, " ")
	if p.heredoc != nil {
		if bytes.HasPrefix(text, p.heredoc) { // "EOT -> (known after apply)" too
			p.heredoc = nil
		}
		return false
	}
	if i := bytes.IndexByte(text, '<'); i >= 0 && bytes.HasPrefix(text[i:], []byte("<<-")) && len(text)-i < 20 {
		p.heredoc = bytes.Clone(text[i+3:])
		return false
	}
	signed := len(text) > 1 && text[1] == ' ' && (text[0] == '+' || text[0] == '-' || text[0] == '~')
	switch {
	case p.block == created || signed && text[0] == '+':
		return bytes.HasSuffix(text, []byte("(known after apply)")) && !bytes.Contains(text, []byte(" -> "))
	case signed, len(text) == 0:
		return false
	case bytes.HasPrefix(text, []byte("# (")):
		return bytes.HasSuffix(text, []byte(" hidden)"))
	}
	// unchanged, and nothing that opens or closes what has changes in it
	last := text[len(text)-1]
	return bytes.Contains(text, []byte(" = ")) && last != '{' && last != '[' && last != '(' && bytes.IndexByte([]byte("}])"), text[0]) < 0 && !bytes.Contains(text, []byte("# forces replacement"))
}
