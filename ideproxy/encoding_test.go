package ideproxy

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A client that decodes a file in another encoding also encodes it. If it saves the file as UTF-8 instead, the
// file gets its encoding back; a character that the encoding lacks does not reach it.
func TestEncodedFile(t *testing.T) {
	const (
		config = "[*]\ncharset = shift_jis\n"
		file   = "// \x83e\x83X\x83g\r\n\xee\xf9\x81\xca\r\n"
		text   = "// テスト\n\uffe2\uffe2\n"
	)
	for name, tt := range map[string]struct {
		answer string // to a request to read
		save   string // what the client makes of the file; empty: it waits for its user
		text   string // that is written, with a changed first line
		want   string
		err    string
	}{
		"saves as UTF-8":     {text, "// 値\n\uffe2\uffe2\n", "// 値\n\uffe2\uffe2\n", "// \x92l\r\n\xee\xf9\x81\xca\r\n", ""},
		"saves as Shift_JIS": {text, "// \x92l\r\n\x81\xca\x81\xca\r\n", "// 値\n\uffe2\uffe2\n", "// \x92l\r\n\x81\xca\x81\xca\r\n", ""},
		"waits":              {text, "", "// 値\n\uffe2\uffe2\n", file, ""},
		"lacks a character":  {text, "?", "// 😀\n\uffe2\uffe2\n", file, "Shift_JIS has no character"},
		"garbled":            {"// \uFFFDe\uFFFDX\uFFFDg\n\uFFFD\uFFFD\uFFFD\uFFFD\n", "?", "// \x92l\r\n", "// \x92l\r\n", ""},
		"taken for Latin-1":  {"// \u0083e\u0083X\u0083g\n\u00ee\u00f9\u0081\u00ca\n", "?", "// \x92l\r\n", "// \x92l\r\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var path string
			f, dir := setup(t, func(method string, _ json.RawMessage) string {
				if method == "fs/write_text_file" {
					if tt.save != "" {
						if err := os.WriteFile(path, []byte(tt.save), 0o600); err != nil {
							t.Error(err)
						}
					}
					return `{}`
				}
				answer, _ := json.Marshal(map[string]string{"content": tt.answer})
				return string(answer)
			}, true, true)
			path = filepath.Join(dir, "a")
			for name, content := range map[string]string{path: file, filepath.Join(dir, ".editorconfig"): config} {
				if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, err := f.ReadFile(t.Context(), path)
			if want := tt.answer; err != nil || got != want && (want == text || got != file) {
				t.Errorf("read %q, %v", got, err)
			}
			err = f.WriteFile(t.Context(), path, tt.text)
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("write: %v, want %q", err, tt.err)
			}
			if got, _ := os.ReadFile(path); string(got) != tt.want {
				t.Errorf("the file has %q, want %q", got, tt.want)
			}
		})
	}
}
