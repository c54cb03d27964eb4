package oracle

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
	"github.com/zeph-acp/zeph-acp/session/llm/provider"
)

// The account of all tests.
const (
	awsID     = "AKIDEXAMPLE"
	awsSecret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
	awsToken  = "session/token+with=signs"
	awsRegion = "eu-west-3"
)

// bedrockServer answers with one stream, checks the signature of each request, and keeps the requests.
type bedrockServer struct {
	*httptest.Server
	t        *testing.T
	mu       sync.Mutex
	requests []*http.Request
	bodies   [][]byte
}

func newBedrock(t *testing.T, stream []byte) *bedrockServer {
	s := &bedrockServer{t: t}
	s.Server = llmtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if err := checkSignature(r, body); err != nil {
			t.Error(err)
			w.WriteHeader(http.StatusForbidden)
			return
		}
		s.mu.Lock()
		s.requests, s.bodies = append(s.requests, r), append(s.bodies, body)
		s.mu.Unlock()
		w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
		_, _ = w.Write(stream)
	})
	return s
}

// official returns the SDK's client of the server.
func (s *bedrockServer) official() *bedrockruntime.Client {
	return bedrockruntime.New(bedrockruntime.Options{Region: awsRegion, BaseEndpoint: &s.URL, RetryMaxAttempts: 1,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: awsID, SecretAccessKey: awsSecret, SessionToken: awsToken}, nil
		})})
}

// ours returns the model as a user configures it.
func (s *bedrockServer) ours(model string) llm.Model {
	env := map[string]string{"AWS_ACCESS_KEY_ID": awsID, "AWS_SECRET_ACCESS_KEY": awsSecret, "AWS_SESSION_TOKEN": awsToken}
	p := provider.Provider{Type: provider.TypeBedrock, Model: model, Region: awsRegion, BaseURL: s.URL}
	m, err := provider.Select(provider.Config{Providers: []provider.Provider{p}}, func(name string) string { return env[name] }, nil, "")
	if err != nil {
		s.t.Fatal(err)
	}
	return m
}

// bedrockModels are IDs of every form: their paths are escaped once in the address, and twice in the signature.
var bedrockModels = []string{
	"us.anthropic.claude-sonnet-4-5-20250929-v1:0", "global.anthropic.claude-sonnet-4-6", "anthropic.claude-opus-4-8",
	"arn:aws:bedrock:eu-west-3:123456789012:inference-profile/eu.anthropic.claude-haiku-4-5-20251001-v1:0",
	"arn:aws:bedrock:eu-west-3:123456789012:application-inference-profile/abc+def =ü",
	"amazon.nova-pro-v1:0", "us.amazon.nova-2-lite-v1:0", "openai.gpt-oss-120b-1:0", "mistral.mistral-large-2402-v1:0",
}

// Each request is one that the SDK sends: it has the same path, and the SDK encodes its types to the same JSON. Both are signed so that
// a verifier, written from AWS's description, accepts them.
func TestBedrockRequests(t *testing.T) {
	stream := recordedStream(t, "bedrock/text.txt")
	for _, model := range bedrockModels {
		s := newBedrock(t, stream)
		m := s.ours(model)
		thoughts := []string{`{"text":"as it was","signature":"sig"}`, `{"redacted":"eHl6"}`}
		for name, history := range histories(m.Name(), thoughts...) {
			t.Run(model+"/"+name, func(t *testing.T) {
				for _, level := range append(llm.Levels(m), "") {
					for _, req := range []llm.Request{{}, {System: "Be brief.", Project: "Rules.", Tools: llmtest.Tools()}} {
						s.requests, s.bodies = nil, nil
						req.Messages, req.Thought = history, level
						if _, err := llmtest.Collect(m, t.Context(), req); err != nil || len(s.bodies) != 1 {
							t.Fatalf("%d requests: %v", len(s.bodies), err)
						}
						s.compare(t, model)
					}
				}
			})
		}
	}
}

// compare sends the same request by the SDK.
func (s *bedrockServer) compare(t *testing.T, model string) {
	t.Helper()
	input := &bedrockruntime.ConverseStreamInput{}
	if err := decodeAs(s.bodies[0], input); err != nil {
		t.Fatalf("no request of the SDK: %v\n%s", err, s.bodies[0])
	}
	input.ModelId = &model
	out, err := s.official().ConverseStream(t.Context(), input)
	if err != nil {
		t.Fatalf("the SDK: %v", err)
	}
	defer out.GetStream().Close()
	if ours, theirs := s.requests[0].RequestURI, s.requests[1].RequestURI; ours != theirs {
		t.Errorf("path: got %s, the SDK has %s", ours, theirs)
	}
	var got, want any
	if err := json.Unmarshal(s.bodies[0], &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(s.bodies[1], &want); err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("another request (-SDK +ours)\n%s", diff)
	}
}

// A request that the SDK would not send, and a signature of other bytes, are detected.
func TestBedrockMistakes(t *testing.T) {
	for name, body := range map[string]string{
		"no mistake":     `{"messages":[{"role":"user","content":[{"text":"a"}]}],"toolConfig":{"tools":[{"toolSpec":{"name":"n","inputSchema":{"json":{}}}}]}}`,
		"unknown member": `{"messages":[],"model":"m"}`,
		"unknown block":  `{"messages":[{"role":"user","content":[{"texts":"a"}]}]}`,
		"two kinds":      `{"messages":[{"role":"user","content":[{"text":"a","image":{}}]}]}`,
		"another type":   `{"messages":[{"role":"user","content":[{"text":1}]}]}`,
		"another number": `{"inferenceConfig":{"maxTokens":"1"}}`,
	} {
		if err := decodeAs([]byte(body), &bedrockruntime.ConverseStreamInput{}); (err != nil) != (name != "no mistake") {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := newBedrock(t, recordedStream(t, "bedrock/text.txt"))
	if _, err := llmtest.Collect(s.ours("m"), t.Context(), llmtest.Hello()); err != nil {
		t.Fatal(err)
	}
	if err := checkSignature(s.requests[0], append(s.bodies[0], ' ')); err == nil {
		t.Error("the signature of another body is accepted")
	}
	s.requests[0].Header.Set("X-Amz-Security-Token", "another")
	if err := checkSignature(s.requests[0], s.bodies[0]); err == nil {
		t.Error("the signature with another token is accepted")
	}
}

// The SDK and the adapter read the same from the recorded streams.
func TestBedrockStreams(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(openAIData, "bedrock", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		stream := recordedStream(t, "bedrock/"+name+".txt")
		if bytes.HasPrefix(stream, []byte("{")) || name == "cut" || name == "unreadable" {
			continue // a refusal, or an answer that the SDK leaves to its user
		}
		t.Run(name, func(t *testing.T) {
			s := newBedrock(t, stream)
			want, wantErr := s.readOfficial(t)
			events, err := llmtest.Collect(s.ours("m"), t.Context(), llmtest.Hello())
			if (err != nil) != (wantErr != nil) && name != "error" {
				t.Fatalf("ours: %v, the SDK: %v", err, wantErr)
			}
			if wantErr != nil {
				if !strings.Contains(fmt.Sprint(events, err), "wait before trying again") && len(events) == 0 {
					t.Errorf("ours: %v, the SDK: %v", err, wantErr)
				}
				return
			}
			var kept []llm.Event
			var thoughts []string
			for _, e := range events {
				if e.Opaque == nil {
					kept = append(kept, e)
					continue
				}
				var thought struct{ Text, Signature string }
				if err := json.Unmarshal(e.Opaque.Data, &thought); err != nil {
					t.Error(err)
				}
				thoughts = append(thoughts, fmt.Sprintf("thinking %q %q", thought.Text, thought.Signature))
			}
			got := oursOf(kept)
			got.Blocks = append(thoughts, got.Blocks...)
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("answer (-SDK +ours)\n%s", diff)
			}
		})
	}
}

// readOfficial returns the answer that the SDK reads.
func (s *bedrockServer) readOfficial(t *testing.T) (a answer, err error) {
	t.Helper()
	role, text := types.ConversationRoleUser, "hi"
	out, err := s.official().ConverseStream(t.Context(), &bedrockruntime.ConverseStreamInput{ModelId: aws.String("m"),
		Messages: []types.Message{{Role: role, Content: []types.ContentBlock{&types.ContentBlockMemberText{Value: text}}}}})
	if err != nil {
		t.Fatal(err)
	}
	stream := out.GetStream()
	defer stream.Close()
	var id, name, args, thought, signature string
	for e := range stream.Events() {
		switch e := e.(type) {
		case *types.ConverseStreamOutputMemberContentBlockStart:
			if start, ok := e.Value.Start.(*types.ContentBlockStartMemberToolUse); ok {
				id, name, args = *start.Value.ToolUseId, *start.Value.Name, ""
			}
		case *types.ConverseStreamOutputMemberContentBlockDelta:
			switch d := e.Value.Delta.(type) {
			case *types.ContentBlockDeltaMemberText:
				a.Text += d.Value
			case *types.ContentBlockDeltaMemberToolUse:
				args += *d.Value.Input
			case *types.ContentBlockDeltaMemberReasoningContent:
				switch r := d.Value.(type) {
				case *types.ReasoningContentBlockDeltaMemberText:
					thought += r.Value
				case *types.ReasoningContentBlockDeltaMemberSignature:
					signature += r.Value
				}
			}
		case *types.ConverseStreamOutputMemberContentBlockStop:
			if thought != "" {
				a.Blocks = append(a.Blocks, fmt.Sprintf("thinking %q %q", thought, signature))
			}
			if args == "" {
				args = "{}"
			}
			if name != "" && json.Valid([]byte(args)) { // else it is cut off
				a.Blocks = append(a.Blocks, fmt.Sprintf("call %q %q %s", id, name, compact(json.RawMessage(args))))
			}
			name, thought = "", ""
		case *types.ConverseStreamOutputMemberMessageStop:
			a.Stop = map[types.StopReason]llm.StopReason{types.StopReasonEndTurn: llm.StopEnd, types.StopReasonToolUse: llm.StopTools,
				types.StopReasonMaxTokens: llm.StopMaxTokens, types.StopReasonGuardrailIntervened: llm.StopRefusal}[e.Value.StopReason]
		case *types.ConverseStreamOutputMemberMetadata:
			u := e.Value.Usage
			a.Usage = llm.Usage{Output: int(*u.OutputTokens), CacheRead: int(*u.CacheReadInputTokens), CacheWrite: int(*u.CacheWriteInputTokens)}
			a.Usage.Input = int(*u.InputTokens) + a.Usage.CacheRead + a.Usage.CacheWrite
		}
	}
	return a, stream.Err()
}
