package digest

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

// ghLog is a digest of logs of runs, without job, step and time on each line.
type ghLog struct{ *digest }

// newGHLog makes the strategy "gh_log": a digest of the logs that gh shows. The
// name of a job and its step is written once before their lines. Only the lines
// of a collapsed group that report problems stay.
func newGHLog(p strategy.Params) (strategy.Strategy, error) {
	d, err := readDigest(p)
	if err != nil {
		return nil, err
	}
	return ghLog{d}, nil
}

func (g ghLog) Begin(run strategy.Run, out *text.Lines) strategy.Pass {
	return &runLogPass{digestPass: g.begin(run, out)}
}

// runLogPass digests the log of one run.
type runLogPass struct {
	*digestPass
	jobAndStep []byte // job and step of the current lines
	inGroup    bool   // within a collapsed group
}

func (r *runLogPass) Line(l []byte) {
	place, body, ok := splitRunLine(l)
	if !ok {
		r.digestPass.Line(l)
		return
	}
	r.changed = true
	if !bytes.Equal(place, r.jobAndStep) {
		r.jobAndStep = append(r.jobAndStep[:0], place...)
		r.inGroup = false
		r.write(bytes.ReplaceAll(place, []byte("\t"), []byte(" / ")))
	}
	switch {
	case bytes.HasPrefix(body, []byte("##[group]")):
		r.inGroup = true
		r.write(body)
		return
	case bytes.HasPrefix(body, []byte("##[endgroup]")):
		r.inGroup = false
		return
	case r.inGroup && !text.Important(body):
		return
	}
	r.Line(body) // which may be the line of another log, if a step shows one
}

// splitRunLine splits a line of a log: job, tab, step, tab, time, text.
func splitRunLine(l []byte) (place, text []byte, ok bool) {
	first := bytes.IndexByte(l, '\t')
	if first <= 0 {
		return nil, nil, false
	}
	second := bytes.IndexByte(l[first+1:], '\t')
	if second < 0 {
		return nil, nil, false
	}
	second += first + 1
	text = bytes.TrimPrefix(l[second+1:], []byte("\uFEFF"))
	if len(text) < 20 || text[4] != '-' || text[10] != 'T' {
		return nil, nil, false
	}
	stamp := bytes.IndexByte(text[:min(len(text), 40)], 'Z')
	if stamp < 19 {
		return nil, nil, false
	}
	text = text[stamp+1:]
	if len(text) > 0 && text[0] == ' ' {
		text = text[1:]
	}
	return l[:second], bytes.TrimPrefix(text, []byte("\uFEFF")), true
}
