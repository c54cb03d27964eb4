package git

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

// newGitBlame makes the strategy "git_blame". The first of consecutive lines of
// a commit names the commit; the others keep only their number and text.
func newGitBlame(p strategy.Params) (strategy.Strategy, error) {
	return gitBlame{}, p.Decode(&struct{}{})
}

type gitBlame struct{}

func (gitBlame) Begin(_ strategy.Run, out *text.Lines) strategy.Pass { return &blamePass{out: out} }

// blamePass shortens one output of git blame.
type blamePass struct {
	out        *text.Lines
	lastCommit []byte // the commit of the last line, up to the line number
	shortened  bool
}

func (b *blamePass) Line(l []byte) {
	number := blameNumberAt(l)
	switch {
	case number == 0:
		b.lastCommit = b.lastCommit[:0]
	case bytes.Equal(b.lastCommit, bytes.TrimRight(l[:number], " ")):
		b.shortened = true
		l = l[number:]
	default:
		b.lastCommit = append(b.lastCommit[:0], bytes.TrimRight(l[:number], " ")...)
	}
	b.out.Write(l)
}

// blameNumberAt returns where the line number begins in "1a2b3c4d (Name 2026-01-02
// 03:04:05 +0000 17) text". It returns 0 for other lines.
func blameNumberAt(l []byte) int {
	hash := bytes.TrimPrefix(l, []byte("^"))
	open := bytes.IndexByte(l, '(')
	if n := leadingHexDigits(hash); n < 7 || n == len(hash) || hash[n] != ' ' || open < 0 {
		return 0
	}
	for at := open; ; {
		end := bytes.IndexByte(l[at:], ')')
		if end < 0 {
			return 0
		}
		end += at
		number := end
		for number > at && text.Class[l[number-1]] == text.Digit {
			number--
		}
		if number < end && number > open+1 && l[number-1] == ' ' {
			return number
		}
		at = end + 1 // a digit of a name
	}
}

func (b *blamePass) End() strategy.Confidence {
	if !b.shortened {
		return strategy.Fallback
	}
	return strategy.Full
}
