package acp

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// largePrompts are lines of 20 MiB.
func largePrompts() map[string][]byte {
	source, _ := json.Marshal(strings.Repeat("\tif err != nil { return \"größer\" }\n", 20<<20/42))
	picture := base64.StdEncoding.EncodeToString(append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, 15<<20)...))
	frame := func(block string) []byte {
		return []byte(`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"hi"},` + block + "]}}\n")
	}
	return map[string][]byte{
		"text":  frame(`{"type":"resource","resource":{"uri":"file:///w/a.go","text":` + string(source) + `}}`),
		"image": frame(`{"type":"image","mimeType":"image/png","data":"` + picture + `"}`),
	}
}

func BenchmarkLargePrompt(b *testing.B) {
	for name, line := range largePrompts() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				s := &stream{
					in: bufio.NewReaderSize(bytes.NewReader(line), 64<<10), maxLine: setting.Default[Config]().MaxLineBytes,
					out: newWriter(nil, 1, nil), beforeWait: func() {}, log: slog.New(slog.DiscardHandler),
				}
				var stub json.RawMessage
				if err := s.ReadObject(&stub); err != nil {
					b.Fatal(err)
				}
				var p PromptRequest
				if err := DecodeParams(s.frame.params, &p); err != nil {
					b.Fatal(err)
				}
				if err := p.check(setting.Default[Config]()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
