package digest

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

// terraform is a digest of plans: each resource, its action and its changes.
type terraform struct{ *digest }

// newTerraform makes the strategy "terraform": a digest that also drops from a
// plan the values known after apply, unchanged attributes, and the attributes
// of destroyed resources.
func newTerraform(p strategy.Params) (strategy.Strategy, error) {
	d, err := readDigest(p)
	if err != nil {
		return nil, err
	}
	return terraform{d}, nil
}

func (t terraform) Begin(run strategy.Run, out *text.Lines) strategy.Pass {
	return &planPass{digestPass: t.begin(run, out)}
}

type planPass struct {
	*digestPass
	block   resource // the action of the current block
	around  resource // the action of an unfinished block around it
	blank   bool     // a blank line is pending
	heredoc []byte   // the word that ends the current here-document, or nil
}

// resource is the action of a plan on a resource.
type resource uint8

const (
	noResource resource = iota
	resourceCreated
	resourceDestroyed
	resourceUpdated // or replaced
)

func (p *planPass) Line(l []byte) {
	switch {
	case p.block == noResource:
		p.outside(l)
	case len(l) == 0:
		p.blank = true
	case bytes.Equal(l, []byte("    }")):
		if p.block == resourceDestroyed {
			p.changed = true
			p.leave()
			p.block, p.around = p.around, noResource
		} else {
			p.write(l)
			p.leave()
		}
	case l[0] != ' ' && (p.noise.Match(l) || p.foldable.Match(l) || text.IsFolded(l)): // a line of another resource in between
		p.digestPass.Line(l)
	case resourceLine(l) == resourceDestroyed:
		p.changed = true
		if p.block != resourceDestroyed {
			p.around, p.block = p.block, resourceDestroyed
		}
	case l[0] != ' ' || bytes.HasPrefix(l, []byte("  # ")) || resourceLine(l) != noResource:
		blank := p.blank
		p.leave()
		if blank {
			p.digestPass.Line(nil)
		}
		p.outside(l)
	default:
		p.changed = p.changed || p.blank // a blank line in a block only separates
		p.blank = false
		if p.drops(l) {
			p.changed = true
		} else {
			p.write(l)
		}
	}
}

// outside handles a line outside of blocks, or one that begins a block.
func (p *planPass) outside(l []byte) {
	p.block = resourceLine(l)
	if p.block == resourceDestroyed {
		p.changed = true
		return
	}
	p.digestPass.Line(l)
}

func (p *planPass) leave() { p.block, p.heredoc, p.blank = noResource, nil, false }

// resourceLine returns the action of the block that a line begins.
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
		return resourceCreated
	case string(rest[:sign]) == "-":
		return resourceDestroyed
	case string(rest[:sign]) == "~", string(rest[:sign]) == "-/+", string(rest[:sign]) == "+/-":
		return resourceUpdated
	}
	return noResource
}

// drops reports whether a line of a block is dropped.
func (p *planPass) drops(l []byte) bool {
	if p.block == resourceDestroyed {
		return true
	}
	text := bytes.TrimLeft(l, " ")
	if p.heredoc != nil {
		if bytes.HasPrefix(text, p.heredoc) { // also "EOT -> (known after apply)"
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
	case p.block == resourceCreated || signed && text[0] == '+':
		return bytes.HasSuffix(text, []byte("(known after apply)")) && !bytes.Contains(text, []byte(" -> "))
	case signed, len(text) == 0:
		return false
	case bytes.HasPrefix(text, []byte("# (")):
		return bytes.HasSuffix(text, []byte(" hidden)"))
	}
	// Unchanged, and it neither opens nor closes a part with changes.
	last := text[len(text)-1]
	return bytes.Contains(text, []byte(" = ")) && last != '{' && last != '[' && last != '(' && bytes.IndexByte([]byte("}])"), text[0]) < 0 && !bytes.Contains(text, []byte("# forces replacement"))
}
