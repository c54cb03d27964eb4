package openai

import (
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// feature is a part of a request that some servers refuse. There are no lists of
// servers. A feature that a server has refused is left out from then on, unless the
// server refuses the request without it for the same reason.
type feature uint32

const (
	withThoughts   feature = 1 << iota // thoughts sent back
	withSummaries                      // summaries of thoughts; some organizations must be verified first
	withEncrypted                      // encrypted thoughts to send back; models that don't think have none
	withUsage                          // usage in a stream
	withCacheKey                       // see cacheKey
	withMaxTokens                      // as max_tokens, not max_completion_tokens
	withImages                         // images next to text
	withForeignIDs                     // IDs of calls in another server's form
	withUserNext                       // a user's message right after the results of calls
	withNull                           // null as the content next to calls
	withGaps                           // calls without the thoughts that led to them
	withSystem                         // a role for the system prompt
)

// supports reports whether a feature may be used: the server has not refused it.
func (o *Model) supports(f feature) bool { return o.refusedFeatures.Load()&uint32(f) == 0 }

// refusals match the messages of servers, in lower case. The first match counts whose
// feature the request uses.
//
//	https://github.com/mistralai/client-js/issues/69
//	https://github.com/charmbracelet/crush/issues/279
//	https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/261
//	https://api-docs.deepseek.com/guides/thinking_mode
var refusals = []struct {
	feature
	words string // a regular expression
}{
	{withUsage, `stream_options`},
	{withCacheKey, `prompt_cache_key`},
	{withMaxTokens, `max_completion_tokens`},
	{withSummaries, `reasoning summar|reasoning\.summary`},
	{withEncrypted, `encrypted content is not supported|reasoning\.encrypted_content`},
	{withSystem, `system role (is )?not supported|developer instruction is not enabled|does(n't| not) support (the )?system`},
	{withForeignIDs, `tool[ _]?call[ _]ids? |tool_call_id|tool_calls\[\d+\]\.id|tool_use\.id`},
	{withUserNext, `after role 'tool'|roles must alternate`},
	{withGaps, `missing .?reasoning_content|reasoning_content.{1,30}(is missing|must be passed|must be returned)`},
	{withImages, `images?(_url)?.{0,30} not (currently )?(supported|enabled)|not support .{0,20}image|support image|multimodal|unsupported content part|` +
		"unknown variant .image_url|at most 0 image|content must be a string"},
	{withNull, `content.{0,60}(must be a string|valid string|<nil>|null|none)`},
	{withThoughts, `encrypted[ _]content|reasoning|signature|'rs_`},
}

var refusalWords = sync.OnceValue(func() map[feature]*regexp.Regexp {
	words := make(map[feature]*regexp.Regexp, len(refusals))
	for _, r := range refusals {
		words[r.feature] = regexp.MustCompile(r.words)
	}
	return words
})

// refusedBy reports whether a request may have failed because of the feature.
func (f feature) refusedBy(err error) bool {
	e, ok := errors.AsType[*wire.StatusError](err)
	// Some servers answer 404 to features that no model has, and local ones 500 where a template
	// fails. A request that is too long must become shorter, even if the message mentions a
	// feature.
	statuses := []int{http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity, http.StatusInternalServerError}
	return ok && slices.Contains(statuses, e.Status) &&
		!wire.IsTooLong(e.Status, e.Kind, e.Message) && refusalWords()[f].MatchString(e.Kind+" "+strings.ToLower(e.Message))
}

// refusedFeature returns the feature that the server refused, or 0 if the request failed for
// another reason. It ignores the features in without: the request did not have them, or to
// remove them did not help.
func refusedFeature(err error, messages []llm.Message, without feature) feature {
	if err == nil {
		return 0
	}
	for _, r := range refusals {
		if without&r.feature == 0 && usesFeature(r.feature, messages) && r.refusedBy(err) {
			return r.feature
		}
	}
	return 0
}

// usesFeature reports whether a history uses a feature.
func usesFeature(f feature, messages []llm.Message) bool {
	anyBlock := func(matches func(b llm.Block) bool) bool {
		return slices.ContainsFunc(messages, func(m llm.Message) bool { return slices.ContainsFunc(m.Blocks, matches) })
	}
	switch f {
	case withImages:
		return anyBlock(func(b llm.Block) bool { return b.Image != nil || b.Result != nil && len(b.Result.Images) > 0 })
	case withForeignIDs, withUserNext, withNull, withGaps:
		return anyBlock(func(b llm.Block) bool { return b.Call != nil })
	case withThoughts:
		return anyBlock(func(b llm.Block) bool { return b.Opaque != nil })
	}
	return true
}
