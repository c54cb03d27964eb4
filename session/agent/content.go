package agent

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// promptBlocks puts a prompt into the model's terms. What the model cannot be
// shown it is told of, so that nothing is dropped in silence.
func promptBlocks(prompt []acp.ContentBlock) []llm.Block {
	var blocks []llm.Block
	for _, p := range prompt {
		if text := promptBlock(p); text != "" {
			blocks = append(blocks, llm.Block{Text: text})
		}
	}
	return blocks
}

func promptBlock(p acp.ContentBlock) string {
	switch p.Type {
	case "text":
		return *p.Text
	case "resource_link":
		name := p.Name
		if name == "" {
			name = p.URI
		}
		return fmt.Sprintf("[The user refers to %q: %s]", name, linkTarget(p.URI))
	case "resource":
		if p.Resource.Text != nil {
			return fmt.Sprintf("[The user attached %s]\n%s", p.Resource.URI, *p.Resource.Text)
		}
		return fmt.Sprintf("[The user attached %s, %d bytes of binary data that cannot be shown]",
			p.Resource.URI, base64.StdEncoding.DecodedLen(len(*p.Resource.Blob)))
	}
	return ""
}

// typedText is what the user typed: the text, with the paths or addresses of the
// files that the client offered in its place.
func typedText(prompt []acp.ContentBlock) string {
	var b strings.Builder
	for _, p := range prompt {
		switch p.Type {
		case "text":
			b.WriteString(*p.Text)
		case "resource_link":
			b.WriteString(linkTarget(p.URI))
		}
	}
	return b.String()
}

// linkTarget is the path of a file's URI, any other URI as it is.
func linkTarget(uri string) string {
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
