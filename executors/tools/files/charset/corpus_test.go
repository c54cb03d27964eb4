package charset

import (
	"archive/zip"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// sample is a real file with its encoding.
type sample struct{ encoding, name, content string }

// samples returns the corpus, and the files of the directory CHARSET_CORPUS.
func samples(t *testing.T) []sample {
	t.Helper()
	z, err := zip.OpenReader("testdata/corpus.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var all []sample
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, sample{path.Dir(f.Name), path.Base(f.Name), string(data)})
	}
	more, _ := filepath.Glob(filepath.Join(os.Getenv("CHARSET_CORPUS"), "*", "*"))
	for _, file := range more {
		if data, err := os.ReadFile(file); err == nil && os.Getenv("CHARSET_CORPUS") != "" {
			all = append(all, sample{strings.ToLower(filepath.Base(filepath.Dir(file))), filepath.Base(file), string(data)})
		}
	}
	return all
}

// right returns the encoding of a sample. Samples of a smaller set are decoded alike by a larger one.
func (s sample) right() *Encoding {
	switch s.encoding {
	case "latin1", "iso-8859-1":
		return windows1252()
	case "gbk", "gb2312":
		return Named("gb18030")
	case "utf-16":
		big := strings.HasPrefix(s.content, markBig) || !strings.HasPrefix(s.content, markLittle) && s.content[0] == 0
		return utf16(big, true)
	}
	return Named(s.encoding)
}

// Detect is right or unsure about each file, and right about most.
func TestCorpusDetect(t *testing.T) {
	counts := map[string][3]int{} // right, unsure, all
	for _, s := range samples(t) {
		want := s.right()
		if want == nil {
			continue
		}
		n := counts[s.encoding]
		n[2]++
		switch got := Detect(s.content); {
		case got == nil:
			n[1]++
			t.Logf("unsure: %s/%s", s.encoding, s.name)
		case got.Decode(s.content) == want.Decode(s.content):
			n[0]++
		case IsUTF8(s.content):
		default:
			t.Errorf("%s/%s is said to be %s", s.encoding, s.name, got.Name())
		}
		counts[s.encoding] = n
	}
	for encoding, n := range counts {
		t.Logf("%s: %d right, %d unsure of %d", encoding, n[0], n[1], n[2])
		if n[0]*4 < n[2]*3 && os.Getenv("CHARSET_CORPUS") == "" {
			t.Errorf("%s: %d of %d files are detected", encoding, n[0], n[2])
		}
	}
}

// A file keeps its bytes when it is read and written, a change of one line changes only this line, and the change back restores the file.
func TestCorpusEncode(t *testing.T) {
	for _, s := range samples(t) {
		e := s.right()
		if e == nil {
			continue
		}
		text := e.Decode(s.content)
		if same, err := e.Encode(s.content, text); err != nil || same != s.content {
			t.Errorf("%s/%s does not keep its bytes: %v", s.encoding, s.name, err)
			continue
		}
		var lines, texts []string
		for line := range e.lines(s.content) {
			lines, texts = append(lines, line), append(texts, e.Decode(line))
		}
		for _, n := range []int{0, len(lines) / 2, len(lines) - 1} {
			changed := append([]string(nil), texts...)
			end := strings.TrimRight(texts[n], "\r\n")
			changed[n] = end + "!" + texts[n][len(end):]
			got, err := e.Encode(s.content, strings.Join(changed, ""))
			head, tail := strings.Join(lines[:n], ""), strings.Join(lines[n+1:], "")
			if err != nil || !strings.HasPrefix(got, head) || !strings.HasSuffix(got, tail) || len(got) > len(s.content)+2 {
				t.Errorf("%s/%s: a change of line %d changes other lines: %v", s.encoding, s.name, n+1, err)
				continue
			}
			if back, err := e.Encode(got, text); err != nil || back != s.content {
				t.Errorf("%s/%s: the change of line %d cannot be changed back: %v", s.encoding, s.name, n+1, err)
			}
		}
	}
}
