package trace

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// identity names a span in its trace.
type identity struct {
	trace   [16]byte
	span    [8]byte
	sampled bool
	state   string // tracestate of the caller, passed on unchanged
}

// maxState bounds a tracestate, in bytes: https://www.w3.org/TR/trace-context/#tracestate-limits
const maxState = 512

// Remote is a span of the caller, in the form of W3C Trace Context. An invalid Parent means that there
// is none: https://www.w3.org/TR/trace-context/#traceparent-header
type Remote struct {
	Parent string // traceparent
	State  string // tracestate
}

// identity returns the identity of the span; zero if there is none.
func (r Remote) identity() identity {
	id, ok := parse(r.Parent)
	if ok && len(r.State) <= maxState && !strings.ContainsFunc(r.State, func(c rune) bool { return c < ' ' || c > '~' }) {
		id.state = r.State
	}
	return id
}

// Parent returns the traceparent and the tracestate for a request that belongs to the
// context's span. Both are empty if the context has no span.
func Parent(ctx context.Context) (traceparent, tracestate string) {
	s, ok := ctx.Value(spanKey{}).(*Span)
	if !ok {
		return "", ""
	}
	flags := 0
	if s.id.sampled {
		flags = 1
	}
	return fmt.Sprintf("00-%x-%x-%02x", s.id.trace, s.id.span, flags), s.id.state
}

// parse parses a traceparent: version, trace, span and flags in lower-case hexadecimal
// digits. Later versions may have more fields.
func parse(s string) (id identity, ok bool) {
	const length = len("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	if len(s) < length || len(s) > length && (s[:2] == "00" || s[length] != '-') || s[:2] == "ff" || s != strings.ToLower(s) {
		return id, false
	}
	fields := strings.Split(s[:length], "-")
	if len(fields) != 4 || len(fields[0]) != 2 || len(fields[1]) != 32 || len(fields[2]) != 16 {
		return id, false
	}
	_, err := hex.Decode(id.trace[:], []byte(fields[1]))
	if err == nil {
		_, err = hex.Decode(id.span[:], []byte(fields[2]))
	}
	flags, flagErr := strconv.ParseUint(fields[3], 16, 8)
	_, versionErr := strconv.ParseUint(fields[0], 16, 8)
	if err != nil || flagErr != nil || versionErr != nil || id.trace == [16]byte{} || id.span == [8]byte{} {
		return identity{}, false
	}
	id.sampled = flags&1 == 1
	return id, true
}

// sampler decides which traces are sent:
// https://opentelemetry.io/docs/specs/otel/trace/sdk/#built-in-samplers
type sampler struct {
	followParent bool
	ratio        float64 // of traces without a parent, or of all
}

func (s sampler) sample(trace [16]byte, remote identity) bool {
	if s.followParent && remote.trace != [16]byte{} {
		return remote.sampled
	}
	return float64(binary.BigEndian.Uint64(trace[8:])>>1) < s.ratio*math.MaxInt64
}

// samplerNamed returns the sampler of a value of OTEL_TRACES_SAMPLER. A negative ratio
// stands for OTEL_TRACES_SAMPLER_ARG.
func samplerNamed(name string) (s sampler, ok bool) {
	name, s.followParent = strings.CutPrefix(name, "parentbased_")
	switch name {
	case "always_on":
		s.ratio = 1
	case "always_off":
		s.ratio = 0
	case "traceidratio":
		s.ratio = -1
	default:
		return s, false
	}
	return s, true
}
