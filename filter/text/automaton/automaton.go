// Package automaton reports whether a string matches a regular expression, many
// times faster than package regexp.
//
// Start with [New] and [Automaton.Match], or with [NewPrefix] and [Automaton.Prefix] for the
// longest match at the start of a string. The answer is the same as package regexp's, without
// groups. Memory is bounded; in the rare case that it does not suffice, the answer is unknown.
package automaton

import (
	"regexp/syntax"
	"slices"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"
)

// Automaton reports whether any of several regular expressions matches a text.
// It reads each byte at most once, however many expressions there are, and
// stops as soon as no match is possible. It is safe for concurrent use.
//
// It is deterministic and makes its states when texts first reach them, as RE2
// does: making all of them would take exponential memory. Package regexp takes
// 20 times as long for each expression.
type Automaton struct {
	prog     *syntax.Prog
	anchored bool // a match starts at the start of the text
	words    bool // the expressions use word boundaries
	longest  bool // matching goes on after a match
	bounds   []rune
	ascii    [utf8.RuneSelf]uint8 // the class of each rune: runes between two bounds share one
	cache    atomic.Pointer[stateCache]
}

// stateCache holds the states made so far. A state is identified by the offset of
// its row in the table. The row has the next state for each class of runes and
// for the end of the text, which is one more class.
type stateCache struct {
	a      *Automaton
	table  atomic.Pointer[[]atomic.Uint32] // grows by copying
	stride int                             // number of classes

	mu     sync.Mutex
	byKey  map[string]uint32
	states []autoState
	insts  int // in all states
}

// autoState is the position of all expressions after some runes.
type autoState struct {
	insts  []uint32
	before rune // a rune of the same kind as the last one, for syntax.EmptyOpContext
}

// matchBit marks an entry of the table of a prefix automaton: a match ends before the rune.
const matchBit = 1 << 31

// Special entries of the table, and the first state, where a text begins.
const (
	unknownState uint32 = iota // not computed yet
	matchedState
	deadState // no match is possible any more
	firstState
)

// maxStates limits the size of a cache, in bytes, approximately. Beyond it the
// cache is emptied.
const maxStates = 2 << 20

// New makes an automaton of simplified expressions. It returns nil if they have too
// many classes of runes.
func New(exprs ...*syntax.Regexp) *Automaton {
	const maxClasses = 256
	tree := &syntax.Regexp{Op: syntax.OpAlternate, Sub: exprs}
	if len(exprs) == 1 {
		tree = exprs[0]
	}
	prog, err := syntax.Compile(tree)
	if err != nil {
		return nil
	}
	a := &Automaton{prog: prog}
	for i := range prog.Inst {
		in := &prog.Inst[i]
		switch in.Op {
		case syntax.InstRune, syntax.InstRune1:
			a.ranges(in)
		case syntax.InstRuneAnyNotNL:
			a.bounds = append(a.bounds, '\n', '\n'+1)
		case syntax.InstEmptyWidth:
			a.words = a.words || syntax.EmptyOp(in.Arg)&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0
			a.bounds = append(a.bounds, '\n', '\n'+1) // for ^ and $ within the text
		}
	}
	a.bounds = append(a.bounds, 0, utf8.RuneSelf)
	if a.words {
		a.bounds = append(a.bounds, '0', '9'+1, 'A', 'Z'+1, '_', '_'+1, 'a', 'z'+1)
	}
	slices.Sort(a.bounds)
	a.bounds = slices.Compact(a.bounds)
	if len(a.bounds) > maxClasses {
		return nil
	}
	for b := range a.ascii {
		a.ascii[b] = uint8(a.class(rune(b)))
	}
	t := newThreads(prog)
	t.follow(prog, uint32(prog.Start), ^syntax.EmptyBeginText)
	a.anchored = !slices.ContainsFunc(t.list, func(pc uint32) bool { return consumes(&prog.Inst[pc]) })
	a.cache.Store(a.newCache())
	return a
}

// ranges adds the bounds of the runes that an instruction matches.
func (a *Automaton) ranges(in *syntax.Inst) {
	if len(in.Rune) == 1 {
		r := in.Rune[0]
		a.bounds = append(a.bounds, r, r+1)
		if syntax.Flags(in.Arg)&syntax.FoldCase != 0 {
			for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
				a.bounds = append(a.bounds, f, f+1)
			}
		}
		return
	}
	for i := 0; i < len(in.Rune); i += 2 {
		a.bounds = append(a.bounds, in.Rune[i], in.Rune[i+1]+1)
	}
}

// class returns the index of the last bound that is not greater than r.
func (a *Automaton) class(r rune) int {
	i, found := slices.BinarySearch(a.bounds, r)
	if !found {
		i--
	}
	return i
}

// NewPrefix makes an automaton of a simplified expression for [Automaton.Prefix]. It returns nil
// if the expression has too many classes of runes.
func NewPrefix(expr *syntax.Regexp) *Automaton {
	begin := &syntax.Regexp{Op: syntax.OpBeginText}
	a := New(&syntax.Regexp{Op: syntax.OpConcat, Sub: []*syntax.Regexp{begin, expr}})
	if a != nil {
		a.longest = true
	}
	return a
}

func consumes(in *syntax.Inst) bool {
	switch in.Op {
	case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL, syntax.InstMatch:
		return true
	}
	return false
}

func (a *Automaton) newCache() *stateCache {
	c := &stateCache{a: a, stride: len(a.bounds) + 1, byKey: map[string]uint32{}}
	c.table.Store(&[]atomic.Uint32{})
	c.state([]uint32{uint32(a.prog.Start)}, -1)
	return c
}

// Match reports whether a text has a match. known is false in the rare case
// that the states grew too many.
func (a *Automaton) Match(text []byte) (found, known bool) {
	c := a.cache.Load()
	table, s := *c.table.Load(), firstState
	for i := 0; i < len(text); {
		var class int
		if b := text[i]; b < utf8.RuneSelf {
			class = int(a.ascii[b])
			i++
		} else {
			r, n := utf8.DecodeRune(text[i:])
			class = a.class(r)
			i += n
		}
		next := table[int(s)+class].Load()
		switch {
		case next == s: // the most frequent case first, so that the processor does not wait for the load
			continue
		case next == unknownState:
			if next = c.step(s, class); next == unknownState {
				return false, false
			}
			table = *c.table.Load()
		}
		if next <= deadState {
			return next == matchedState, true
		}
		s = next
	}
	end := table[int(s)+c.stride-1].Load()
	if end == unknownState {
		end = c.end(s)
	}
	return end == matchedState, true
}

// Prefix returns the length of the longest match at the start of a text, or -1. a was made by
// [NewPrefix]. known is false in the rare case that the states grew too many.
func (a *Automaton) Prefix(text []byte) (length int, known bool) {
	c := a.cache.Load()
	table, s := *c.table.Load(), firstState
	length = -1
	for i := 0; i < len(text); {
		class, size := 0, 1
		if b := text[i]; b < utf8.RuneSelf {
			class = int(a.ascii[b])
		} else {
			var r rune
			r, size = utf8.DecodeRune(text[i:])
			class = a.class(r)
		}
		next := table[int(s)+class].Load()
		if next == unknownState {
			if next = c.step(s, class); next == unknownState {
				return -1, false
			}
			table = *c.table.Load()
		}
		if next&matchBit != 0 {
			length = i
			next &^= matchBit
		}
		if next == deadState {
			return length, true
		}
		s = next
		i += size
	}
	if end := table[int(s)+c.stride-1].Load(); end == matchedState || end == unknownState && c.end(s) == matchedState {
		length = len(text)
	}
	return length, true
}

// step makes the state after a rune of a class. It returns unknownState if there is
// no room.
func (c *stateCache) step(from uint32, class int) uint32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	a, r, s := c.a, c.a.bounds[class], c.states[(from-firstState)/uint32(c.stride)]
	const perState, perClass, perInst = 200, 4, 8
	if len(c.byKey)*(perState+perClass*c.stride)+c.insts*perInst > maxStates {
		a.cache.CompareAndSwap(c, a.newCache())
		return unknownState
	}
	t := newThreads(a.prog)
	next := matchedState
	matched := t.followAll(a, s, syntax.EmptyOpContext(s.before, r))
	if !matched || a.longest {
		var insts []uint32
		for _, pc := range t.list {
			if in := &a.prog.Inst[pc]; consumes(in) && in.Op != syntax.InstMatch && in.MatchRune(r) {
				insts = append(insts, in.Out)
			}
		}
		slices.Sort(insts)
		insts = slices.Compact(insts)
		if len(insts) == 0 && a.anchored {
			next = deadState
		} else {
			next = c.state(insts, a.representative(r))
		}
	}
	if matched && a.longest {
		next |= matchBit
	}
	(*c.table.Load())[int(from)+class].Store(next)
	return next
}

// end returns the state after the end of the text: matchedState or deadState.
func (c *stateCache) end(from uint32) uint32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.states[(from-firstState)/uint32(c.stride)]
	t := newThreads(c.a.prog)
	next := deadState
	if t.followAll(c.a, s, syntax.EmptyOpContext(s.before, -1)) {
		next = matchedState
	}
	(*c.table.Load())[int(from)+c.stride-1].Store(next)
	return next
}

// representative returns a rune that stands for all runes of the same kind.
func (a *Automaton) representative(r rune) rune {
	switch {
	case r == '\n':
		return r
	case a.words && syntax.IsWordChar(r):
		return 'a'
	}
	return ' '
}

// state returns the state with these instructions, and makes it if needed.
func (c *stateCache) state(insts []uint32, before rune) uint32 {
	key := make([]byte, 0, 4*len(insts)+1)
	key = append(key, byte(before))
	for _, pc := range insts {
		key = append(key, byte(pc), byte(pc>>8), byte(pc>>16))
	}
	at, ok := c.byKey[string(key)]
	if !ok {
		at = firstState + uint32(len(c.states)*c.stride)
		c.byKey[string(key)] = at
		c.states = append(c.states, autoState{insts, before})
		c.insts += len(insts)
		c.grow(int(at) + c.stride)
	}
	return at
}

// grow makes room in the table. Readers of the old table miss the new entries
// and ask for them.
func (c *stateCache) grow(size int) {
	old := *c.table.Load()
	if size <= len(old) {
		return
	}
	table := make([]atomic.Uint32, max(size, 2*len(old)))
	for i := range old {
		table[i].Store(old[i].Load())
	}
	c.table.Store(&table)
}

// threads are the instructions reached without consuming a rune.
type threads struct {
	list []uint32
	seen []bool
}

func newThreads(prog *syntax.Prog) threads { return threads{seen: make([]bool, len(prog.Inst))} }

// followAll follows all instructions of a state and starts a match here. It reports
// whether a match is complete.
func (t *threads) followAll(a *Automaton, s autoState, holds syntax.EmptyOp) bool {
	for _, pc := range s.insts {
		t.follow(a.prog, pc, holds)
	}
	if !a.anchored {
		t.follow(a.prog, uint32(a.prog.Start), holds)
	}
	return slices.ContainsFunc(t.list, func(pc uint32) bool { return a.prog.Inst[pc].Op == syntax.InstMatch })
}

// follow adds the instructions reached from pc where holds is true.
func (t *threads) follow(prog *syntax.Prog, pc uint32, holds syntax.EmptyOp) {
	for !t.seen[pc] {
		t.seen[pc] = true
		t.list = append(t.list, pc)
		switch in := &prog.Inst[pc]; in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			t.follow(prog, in.Out, holds)
			pc = in.Arg
		case syntax.InstCapture, syntax.InstNop:
			pc = in.Out
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(in.Arg)&^holds != 0 {
				return
			}
			pc = in.Out
		default:
			return
		}
	}
}
