package bedrock

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
)

var update = flag.Bool("update", false, "write the transcripts in ../provider/testdata/wire/bedrock")

// The transcripts of the wire format are binary. They are written from the events in testdata/events, a line for each frame: the
// name of an event, or "!" and the name of an exception, and its payload.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "events", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no events: %v", err)
	}
	for _, file := range files {
		events, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		transcript := filepath.Join("..", "provider", "testdata", "wire", "bedrock", filepath.Base(file))
		want := append([]byte("HTTP/1.1 200 OK\nContent-Type: "+streamType+"\nx-amzn-RequestId: 8b4f1c52-6c0e-4a3b-9b0e-5f0b2a9a7c11\n\n"),
			stream(t, string(events))...)
		if *update {
			if err := os.WriteFile(transcript, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(transcript); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs from %s: %v; go test ./session/llm/bedrock -run TestTranscripts -update", transcript, file, err)
		}
	}
}

// stream returns the frames of events, which are as in testdata/events.
func stream(t testing.TB, events string) []byte {
	var out bytes.Buffer
	for line := range strings.Lines(events) {
		name, payload, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		m := eventstream.Message{Payload: []byte(payload)}
		kind := "event"
		if exception, ok := strings.CutPrefix(name, "!"); ok {
			name, kind = exception, "exception"
		}
		m.Headers.Set(":"+kind+"-type", eventstream.StringValue(name))
		m.Headers.Set(":content-type", eventstream.StringValue("application/json"))
		m.Headers.Set(":message-type", eventstream.StringValue(kind))
		if err := eventstream.NewEncoder().Encode(&out, m); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}
