package acp

import (
	"encoding/base64"
	"strings"
)

// ContentBlock is a piece of a prompt or of a message; Type tells which members
// count: https://agentclientprotocol.com/protocol/v1/content
type ContentBlock struct {
	Type     string    `json:"type"`               // text, image, audio, resource_link or resource
	Text     *string   `json:"text,omitempty"`     // text
	Data     string    `json:"data,omitempty"`     // image, audio: base64
	MIMEType string    `json:"mimeType,omitempty"` // image, audio, resource_link
	URI      string    `json:"uri,omitempty"`      // resource_link
	Name     string    `json:"name,omitempty"`     // resource_link
	Resource *Resource `json:"resource,omitempty"` // resource
}

// Resource is embedded content: Text, or Blob in base64.
type Resource struct {
	URI      string  `json:"uri"`
	MIMEType string  `json:"mimeType,omitempty"`
	Text     *string `json:"text,omitempty"`
	Blob     *string `json:"blob,omitempty"`
}

// TextBlock makes a block of text.
func TextBlock(text string) ContentBlock { return ContentBlock{Type: "text", Text: &text} }

func (b ContentBlock) validate(field string) error {
	switch b.Type {
	case "text":
		if b.Text == nil {
			return paramsErrorf(field+".text", "is required")
		}
	case "resource_link":
		if b.URI == "" {
			return paramsErrorf(field+".uri", "is required")
		}
	case "resource":
		switch r := b.Resource; {
		case r == nil:
			return paramsErrorf(field+".resource", "is required")
		case r.URI == "":
			return paramsErrorf(field+".resource.uri", "is required")
		case r.Text == nil && r.Blob == nil:
			return paramsErrorf(field+".resource", "needs text or blob")
		}
	case "image", "audio":
		return paramsErrorf(field+".type", "%s is not supported: see promptCapabilities", b.Type)
	case "":
		return paramsErrorf(field+".type", "is required")
	default:
		return paramsErrorf(field+".type", "unknown type %q", b.Type)
	}
	return nil
}

// blank reports whether there is nothing but white space.
func blank(blocks []ContentBlock) bool {
	for _, b := range blocks {
		if b.Type != "text" || strings.TrimSpace(*b.Text) != "" {
			return false
		}
	}
	return true
}

// ImageBlock makes a block of a picture.
func ImageBlock(mimeType string, data []byte) ContentBlock {
	return ContentBlock{Type: "image", MIMEType: mimeType, Data: base64.StdEncoding.EncodeToString(data)}
}
