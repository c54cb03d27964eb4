package openai

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// TestResponsesAnswer reads streams of servers that omit events that others send.
func TestResponsesAnswer(t *testing.T) {
	const (
		added     = `{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"i","call_id":"c","name":"x"}}`
		delta     = `{"type":"response.function_call_arguments.delta","item_id":"i","delta":"{\"k\":"}`
		allArgs   = `{"type":"response.function_call_arguments.done","item_id":"i","arguments":"{\"k\":1}"}`
		completed = `{"type":"response.completed","response":{"status":"completed"}}`
	)
	call := llm.Event{Call: &llm.ToolCall{ID: "c", Name: "x", Input: json.RawMessage(`{"k":1}`)}}
	stop := func(reason llm.StopReason) llm.Event { return llm.Event{Stop: reason} }
	for name, tt := range map[string]struct {
		stream []string
		want   []llm.Event
	}{
		"arguments only as a whole":   {[]string{added, allArgs, completed}, []llm.Event{call, stop(llm.StopTools)}},
		"the whole after a piece":     {[]string{added, delta, allArgs, completed}, []llm.Event{call, stop(llm.StopTools)}},
		"a call only in the response": {[]string{`{"type":"response.completed","response":{"status":"completed","output":[{"type":"function_call","call_id":"c","name":"x","arguments":"{\"k\":1}"}]}}`}, []llm.Event{call, stop(llm.StopTools)}},
		"a call cut off": {[]string{added, delta,
			`{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}}`},
			[]llm.Event{stop(llm.StopMaxTokens)}},
		"incomplete without a reason": {[]string{`{"type":"response.incomplete","response":{"status":"incomplete"}}`}, []llm.Event{stop(llm.StopMaxTokens)}},
		"blocked by a filter":         {[]string{`{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"content_filter"}}}`}, []llm.Event{stop(llm.StopRefusal)}},
		"a refusal":                   {[]string{`{"type":"response.refusal.delta","delta":"no"}`, completed}, []llm.Event{{Text: "no"}, stop(llm.StopRefusal)}},
		"an event without a type": {[]string{`{"ping":1}`, `{"type":"response.output_text.delta","delta":"a"}`, completed},
			[]llm.Event{{Text: "a"}, stop(llm.StopEnd)}},
		"the text twice": {[]string{`{"type":"response.output_text.delta","delta":"a"}`, `{"type":"response.output_text.done","text":"a"}`,
			completed}, []llm.Event{{Text: "a"}, stop(llm.StopEnd)}},
	} {
		t.Run(name, func(t *testing.T) {
			checkStops(t, tt.stream, len(tt.want))
			var a responsesReader
			var got []llm.Event
			for i, data := range tt.stream {
				done, err := a.ReadChunk([]byte(data), func(ev llm.Event) bool { got = append(got, ev); return true })
				if last := i == len(tt.stream)-1; err != nil || done != last {
					t.Fatalf("ReadChunk(%s) = %t, %v, want %t", data, done, err, last)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("events of %s (-want +got)\n%s", tt.stream, diff)
			}
		})
	}
}

// checkStops checks that a reader emits nothing after the consumer has stopped at any of n events.
func checkStops(t *testing.T, stream []string, n int) {
	t.Helper()
	for last := 1; last <= n; last++ {
		var a responsesReader
		emitted := 0
		for _, data := range stream {
			if _, err := a.ReadChunk([]byte(data), func(llm.Event) bool { emitted++; return emitted < last }); err != nil {
				t.Fatalf("ReadChunk(%s): %v", data, err)
			}
			if emitted >= last {
				break
			}
		}
		if emitted != last {
			t.Errorf("%d events were emitted, want none after number %d of %s", emitted, last, stream)
		}
	}
}
