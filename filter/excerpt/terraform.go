package excerpt

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

// planPass digests one plan.
type planPass struct {
	*digestPass
	action       blockAction // of the current block
	outerAction  blockAction // of the unfinished block that a destroyed resource interrupts
	blankPending bool
	heredocEnd   []byte // the word that ends the current here-document, or nil
}

// blockAction is the action of a plan on the resource of a block.
type blockAction uint8

const (
	outsideBlocks blockAction = iota // the line is in no block
	createdBlock
	destroyedBlock
	updatedBlock // or replaced
)

func (p *planPass) Line(l []byte) {
	switch {
	case p.action == outsideBlocks:
		p.handleOutside(l)
	case len(l) == 0:
		p.blankPending = true
	case bytes.Equal(l, []byte("    }")):
		if p.action == destroyedBlock {
			p.changed = true
			p.leaveBlock()
			p.action, p.outerAction = p.outerAction, outsideBlocks
		} else {
			p.write(l)
			p.leaveBlock()
		}
	case l[0] != ' ' && (p.noise.Match(l) || p.foldable.Match(l) || text.IsFolded(l)): // a line of another resource in between
		p.digestPass.Line(l)
	case blockActionOf(l) == destroyedBlock:
		p.changed = true
		if p.action != destroyedBlock {
			p.outerAction, p.action = p.action, destroyedBlock
		}
	case l[0] != ' ' || bytes.HasPrefix(l, []byte("  # ")) || blockActionOf(l) != outsideBlocks:
		blank := p.blankPending
		p.leaveBlock()
		if blank {
			p.digestPass.Line(nil)
		}
		p.handleOutside(l)
	default:
		p.changed = p.changed || p.blankPending // a blank line in a block only separates
		p.blankPending = false
		if p.isDropped(l) {
			p.changed = true
		} else {
			p.write(l)
		}
	}
}

// handleOutside handles a line outside of blocks, or one that begins a block.
func (p *planPass) handleOutside(l []byte) {
	p.action = blockActionOf(l)
	if p.action == destroyedBlock {
		p.changed = true
		return
	}
	p.digestPass.Line(l)
}

func (p *planPass) leaveBlock() { p.action, p.heredocEnd, p.blankPending = outsideBlocks, nil, false }

// blockActionOf returns the action of the block that a line begins.
func blockActionOf(l []byte) blockAction {
	if len(l) < 14 || l[len(l)-1] != '{' {
		return outsideBlocks
	}
	rest := bytes.TrimLeft(l[:6], " ")
	sign := len(rest)
	if i := bytes.IndexByte(rest, ' '); i > 0 {
		sign = i
	}
	switch kind := l[4:]; {
	case !bytes.HasPrefix(kind, []byte("resource \"")) && !bytes.HasPrefix(kind, []byte("data \"")):
		return outsideBlocks
	case string(rest[:sign]) == "+", string(rest[:sign]) == "<=":
		return createdBlock
	case string(rest[:sign]) == "-":
		return destroyedBlock
	case string(rest[:sign]) == "~", string(rest[:sign]) == "-/+", string(rest[:sign]) == "+/-":
		return updatedBlock
	}
	return outsideBlocks
}

// isDropped reports whether a line of a block is dropped.
func (p *planPass) isDropped(l []byte) bool {
	if p.action == destroyedBlock {
		return true
	}
	trimmed := bytes.TrimLeft(l, " ")
	if p.heredocEnd != nil {
		if bytes.HasPrefix(trimmed, p.heredocEnd) { // also "EOT -> (known after apply)"
			p.heredocEnd = nil
		}
		return false
	}
	if i := bytes.IndexByte(trimmed, '<'); i >= 0 && bytes.HasPrefix(trimmed[i:], []byte("<<-")) && len(trimmed)-i < 20 {
		p.heredocEnd = bytes.Clone(trimmed[i+3:])
		return false
	}
	signed := len(trimmed) > 1 && trimmed[1] == ' ' && (trimmed[0] == '+' || trimmed[0] == '-' || trimmed[0] == '~')
	switch {
	case p.action == createdBlock || signed && trimmed[0] == '+':
		return bytes.HasSuffix(trimmed, []byte("(known after apply)")) && !bytes.Contains(trimmed, []byte(" -> "))
	case signed, len(trimmed) == 0:
		return false
	case bytes.HasPrefix(trimmed, []byte("# (")):
		return bytes.HasSuffix(trimmed, []byte(" hidden)"))
	}
	// The line is unchanged and does not begin or end a part with changes.
	last := trimmed[len(trimmed)-1]
	return bytes.Contains(trimmed, []byte(" = ")) && last != '{' && last != '[' && last != '(' &&
		bytes.IndexByte([]byte("}])"), trimmed[0]) < 0 && !bytes.Contains(trimmed, []byte("# forces replacement"))
}
