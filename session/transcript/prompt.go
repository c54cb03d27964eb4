package transcript

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// maxEmbedded bounds the text of an embedded resource for the model, in bytes, where
// the rest is not kept elsewhere. A larger text is truncated, with a note.
const maxEmbedded = 200 << 10

// Replacement is what the model gets in place of a part of a prompt: the content of the file that a
// resource link names, or the short form of a long embedded resource.
type Replacement struct {
	Text   string
	Images []llm.Image // which belong below Text
}

// Blocks translates a prompt for the model. Instead holds the replacements of parts, by index. Content that
// the model cannot read becomes a line of text, so that nothing is dropped silently.
func (p Prompt) Blocks(instead map[int]Replacement) []llm.Block {
	var blocks []llm.Block
	if p.Mode != "" {
		blocks = append(blocks, llm.Block{Text: p.Mode})
	}
	if p.Memory != "" && !p.OmitContent {
		blocks = append(blocks, llm.Block{Text: p.Memory})
	}
	if p.ModelText != "" {
		blocks = append(blocks, llm.Block{Text: p.ModelText})
	}
	for i, c := range p.Parts() {
		if p.OmitContent || p.ModelText != "" && c.Type == "text" {
			continue
		}
		if b := promptBlock(c, instead[i].Text); b.Text != "" || b.Image != nil {
			blocks = append(blocks, b)
		}
		for _, image := range instead[i].Images {
			blocks = append(blocks, llm.Block{Image: &image})
		}
	}
	if p.Context != "" && !p.OmitContent {
		blocks = append(blocks, llm.Block{Text: p.Context})
	}
	return blocks
}

// modeMark begins the line on the mode.
const modeMark = "[mode: "

// HasModeLine reports whether the first block of a message is the line on the mode. The
// line precedes a prompt; a single block is the user's text.
func HasModeLine(m llm.Message) bool {
	return m.Role == llm.User && len(m.Blocks) > 1 && strings.HasPrefix(m.Blocks[0].Text, modeMark)
}

// memoryMark begins the line on saved memories.
const memoryMark = "[memory: "

// MemoryLineIndex returns the index of the block with the line on saved memories, or -1. The
// line precedes a prompt, after the line on the mode.
func MemoryLineIndex(m llm.Message) int {
	if m.Role != llm.User {
		return -1
	}
	for i := range min(2, len(m.Blocks)-1) {
		if strings.HasPrefix(m.Blocks[i].Text, memoryMark) {
			return i
		}
	}
	return -1
}

// promptBlock translates one part of a prompt. instead, if not empty, is the text of the
// file or command that the part refers to.
func promptBlock(c acp.ContentBlock, instead string) llm.Block {
	if mime, data, ok := c.Image(); ok {
		image, err := base64.StdEncoding.DecodeString(data)
		if err != nil { // acp has checked it
			return llm.Block{Text: "[The user attached an image that cannot be read]"}
		}
		return llm.Block{Image: &llm.Image{MIME: mime, Data: image}}
	}
	switch c.Type {
	case "text": // the output of a command replaces its place
		return llm.Block{Text: cmp.Or(instead, *c.Text)}
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
			return llm.Block{Text: fmt.Sprintf("[The user attached %s, %s]\n%s", shownTarget(c.Resource.URI), quantity.Count(len(*c.Resource.Text), "byte"), instead)}
		}
		return llm.Block{Text: embeddedText(*c.Resource)}
	}
	return llm.Block{}
}

// embeddedText returns the text for an embedded resource.
func embeddedText(r acp.Resource) string {
	if r.Text == nil {
		return fmt.Sprintf("[The user attached %s, %s of binary data that cannot be shown]",
			shownTarget(r.URI), quantity.Count(base64.StdEncoding.DecodedLen(len(*r.Blob)), "byte"))
	}
	text := *r.Text
	if len(text) <= maxEmbedded {
		return fmt.Sprintf("[The user attached %s]\n%s", shownTarget(r.URI), text)
	}
	n := maxEmbedded
	for !utf8.RuneStart(text[n]) {
		n--
	}
	return fmt.Sprintf("[The user attached %s, %s; this is its beginning]\n%s\n[%s left out]",
		shownTarget(r.URI), quantity.Count(len(text), "byte"), text[:n], quantity.Count(len(text)-n, "more byte"))
}

// TypedText returns the text that the user typed, with the paths or addresses of files
// that the client inserted. Links before a command are left out: some clients put the
// files of their context first.
func TypedText(prompt []acp.ContentBlock) string {
	first := slices.IndexFunc(prompt, func(p acp.ContentBlock) bool { return p.Type == "text" })
	if first < 0 || !strings.HasPrefix(strings.TrimSpace(*prompt[first].Text), "/") {
		first = 0
	}
	var b strings.Builder
	for _, p := range prompt[first:] {
		switch p.Type {
		case "text":
			b.WriteString(*p.Text)
		case "resource_link":
			b.WriteString(LinkTarget(p.URI))
		}
	}
	return b.String()
}

// CountAttachments counts the parts of a prompt other than text and links.
func CountAttachments(prompt []acp.ContentBlock) int {
	n := 0
	for _, b := range prompt {
		if b.Type != "text" && b.Type != "resource_link" {
			n++
		}
	}
	return n
}

// LinkTarget returns the path of a file's URI; other URIs are unchanged. Some clients do not
// escape the path, so "%", "#" and "?" may stand for themselves.
func LinkTarget(uri string) string {
	u, err := parseURI(uri)
	if path, ok := strings.CutPrefix(uri, "file://"); err != nil && ok && strings.HasPrefix(path, "/") {
		u, err = &url.URL{Scheme: "file", Path: path}, nil
	}
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" {
		return uri
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/") // file:///C:/x
	}
	return filepath.FromSlash(path)
}

// parseURI parses a URI. In the URI of a file a fragment begins only at the last "#", and only if
// the text after it looks like a part of the file, such as "L1:10". A query has a "=".
func parseURI(uri string) (*url.URL, error) {
	if strings.HasPrefix(uri, "file:") {
		path, part := uri, ""
		if i := strings.LastIndexByte(uri, '#'); i >= 0 && i+1 < len(uri) && !strings.ContainsAny(uri[i:], "/.") {
			path, part = uri[:i], uri[i:]
		}
		if _, query, _ := strings.Cut(path, "?"); !strings.Contains(query, "=") {
			path = strings.ReplaceAll(path, "?", "%3F")
		}
		uri = strings.ReplaceAll(path, "#", "%23") + part
	}
	return url.Parse(uri)
}

// shownTarget is LinkTarget with the part of the file, such as "#L1:10".
func shownTarget(uri string) string {
	target := LinkTarget(uri)
	if u, err := parseURI(uri); err == nil && target != uri && u.Fragment != "" {
		target += "#" + u.Fragment
	}
	return target
}
