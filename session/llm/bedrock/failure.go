package bedrock

import (
	"errors"
	"net/http"
	"strings"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// feature is a set of features that a request can have.
type feature uint32

const (
	caching   feature = 1 << iota // marks for the provider's cache
	streaming                     // an answer in pieces; some models do not stream when they have tools
	images
	thoughts // thoughts of earlier answers; refused for one request only
)

// refusals are the words of the service when it refuses a feature. Each of the alternatives has several words.
var refusals = []struct {
	feature feature
	any     [][]string
}{
	{caching, [][]string{{"caching"}, {"cachepoint"}, {"cache point"}, {"cache checkpoint"}}},
	{streaming, [][]string{{"streaming mode"}, {"streaming", "not supported"}}},
	{images, [][]string{{"support", "the image content block"}, {"support image"}, {"image", "modality", "not"}}},
	{thoughts, [][]string{{"thinking", "signature"}, {"thinking", "block"}, {"reasoningcontent"}, {"reasoning content"}, {"reasoning", "signature"}}},
}

// refusedFeature returns the feature for which a request was refused, or 0.
func refusedFeature(err error) feature {
	e, ok := errors.AsType[*wire.StatusError](err)
	if !ok || e.Status != http.StatusBadRequest && e.Status != http.StatusForbidden {
		return 0
	}
	message := strings.ToLower(e.Message)
	for _, r := range refusals {
		for _, words := range r.any {
			has := true
			for _, w := range words {
				has = has && strings.Contains(message, w)
			}
			if has {
				return r.feature
			}
		}
	}
	return 0
}

// refuses reports whether the model has refused a feature.
func (b *Model) refuses(f feature) bool { return feature(b.refused.Load())&f != 0 }

// advice is what the user can do about failures, by a part of the message in lower case.
var advice = []struct{ part, hint string }{
	{"signature expired", "set the clock of this machine"},
	{"signature not yet current", "set the clock of this machine"},
	{"on-demand throughput", "name an inference profile of the model instead, which begins with a region's group, such as us. or eu."},
	{"model identifier is invalid", "check the model and the region of the provider"},
	{"access to the model", "ask for access to the model in the console of Bedrock"},
	{"use case details", "send the use case of the model in the console of Bedrock"},
	{"is not authorized to perform", "the account's policy has to allow bedrock:InvokeModelWithResponseStream for the model"},
	{"end of its life", "pick another model"},
	{"too many tokens per day", "the account's quota for the day is used up: pick another model, or wait until tomorrow"},
}

// advise adds Bedrock's own hints to a failure. A refused access is not a matter of the credentials.
func advise(f *llm.Error, err error) {
	message := strings.ToLower(f.Message)
	for _, a := range advice {
		if strings.Contains(message, a.part) {
			f.Hint = a.hint
			break
		}
	}
	if s, ok := errors.AsType[*wire.StatusError](err); ok && s.Kind == "AccessDeniedException" && !strings.Contains(message, "token") {
		f.Auth = false
	}
}
