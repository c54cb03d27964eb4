package transcript

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// maxEmbedded bounds the text of an embedded resource that goes to the model, in
// bytes, where nobody keeps the rest. A larger one is cut, and the model is told
// so.
const maxEmbedded = 200 << 10

// blocks puts a prompt into the model's terms; instead has, by index, the texts of
// the files that its resource links name, and what is shown of embedded ones that
// are too long. What the model cannot be shown it is told of, so that nothing is
// dropped in silence.
func (p Prompt) Blocks(instead map[int]string) []llm.Block {
	var blocks []llm.Block
	if p.Mode != "" {
		blocks = append(blocks, llm.Block{Text: p.Mode})
	}
	if p.Instead != "" {
		blocks = append(blocks, llm.Block{Text: p.Instead})
	}
	for i, c := range p.Content {
		if p.Alone || p.Instead != "" && c.Type == "text" {
			continue
		}
		if b := promptBlock(c, instead[i]); b.Text != "" || b.Image != nil {
			blocks = append(blocks, b)
		}
	}
	return blocks
}

// modeMark begins what the model is told of the mode.
const modeMark = "[mode: "

// tellsMode reports whether the first block of a message is the line on the mode.
// That stands before a prompt: what stands alone is the user's.
func TellsMode(m llm.Message) bool {
	return m.Role == llm.User && len(m.Blocks) > 1 && strings.HasPrefix(m.Blocks[0].Text, modeMark)
}

func promptBlock(c acp.ContentBlock, instead string) llm.Block {
	if mime, data, ok := c.Image(); ok {
		image, err := base64.StdEncoding.DecodeString(data)
		if err != nil { // acp has looked at it
			return llm.Block{Text: "[The user attached an image that cannot be read]"}
		}
		return llm.Block{Image: &llm.Image{MIME: mime, Data: image}}
	}
	switch c.Type {
	case "text":
		return llm.Block{Text: *c.Text}
	case "audio":
		return llm.Block{Text: "[The user attached audio, which cannot be heard here]"}
	case "resource_link":
		name := cmp.Or(c.Name, c.URI)
		if instead != "" {
			return llm.Block{Text: fmt.Sprintf("[The user refers to %q: %s]\n%s", name, shownTarget(c.URI), instead)}
		}
		return llm.Block{Text: fmt.Sprintf("[The user refers to %q: %s]", name, shownTarget(c.URI))}
	case "resource":
		if instead != "" {
			return llm.Block{Text: fmt.Sprintf("[The user attached %s, %d bytes]\n%s", shownTarget(c.Resource.URI), len(*c.Resource.Text), instead)}
		}
		return llm.Block{Text: embedded(*c.Resource)}
	}
	return llm.Block{}
}

// embedded shows an embedded resource.
func embedded(r acp.Resource) string {
	if r.Text == nil {
		return fmt.Sprintf("[The user attached %s, %d bytes of binary data that cannot be shown]",
			shownTarget(r.URI), base64.StdEncoding.DecodedLen(len(*r.Blob)))
	}
	text := *r.Text
	if len(text) <= maxEmbedded {
		return fmt.Sprintf("[The user attached %s]\n%s", shownTarget(r.URI), text)
	}
	n := maxEmbedded
	for !utf8.RuneStart(text[n]) {
		n--
	}
	return fmt.Sprintf("[The user attached %s, %d bytes; this is its beginning]\n%s\n[%d more bytes are left out]",
		shownTarget(r.URI), len(text), text[:n], len(text)-n)
}

// Typed is what the user typed: the text, with the paths or addresses of the
// files that the client offered in its place.
func Typed(prompt []acp.ContentBlock) string {
	var b strings.Builder
	for _, p := range prompt {
		switch p.Type {
		case "text":
			b.WriteString(*p.Text)
		case "resource_link":
			b.WriteString(LinkTarget(p.URI))
		}
	}
	return b.String()
}

// Attached counts what a prompt brings along besides text and links.
func Attached(prompt []acp.ContentBlock) int {
	n := 0
	for _, b := range prompt {
		if b.Type != "text" && b.Type != "resource_link" {
			n++
		}
	}
	return n
}

// linkTarget is the path of a file's URI, any other URI as it is.
func LinkTarget(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" {
		return uri
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/") // file:///C:/x
	}
	return filepath.FromSlash(path)
}

// shownTarget is linkTarget with the part of the file that is meant, such as
// "#L1:10".
func shownTarget(uri string) string {
	target := LinkTarget(uri)
	if u, err := url.Parse(uri); err == nil && target != uri && u.Fragment != "" {
		target += "#" + u.Fragment
	}
	return target
}
