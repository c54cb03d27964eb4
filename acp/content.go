package acp

import (
	"cmp"
	"encoding/base64"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/filter/text/pathname"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// ContentBlock is a part of a prompt or of a message. Type selects the members:
// https://agentclientprotocol.com/protocol/v1/content
//
// In a prompt's block, Data and Blob are base64 as in RFC 4648, section 4,
// without white space. The MIME type of an image is detected from its bytes,
// whatever the client declared.
type ContentBlock struct {
	Type     string    `json:"type"`                     // text, image, audio, resource_link or resource
	Text     *string   `json:"text,omitempty"`           // text
	Data     string    `json:"data,omitempty" texts:"-"` // image, audio: base64
	MIMEType string    `json:"mimeType,omitempty"`       // image, audio, resource_link
	URI      string    `json:"uri,omitempty"`            // resource_link; image: where it is from
	Name     string    `json:"name,omitempty"`           // resource_link
	Resource *Resource `json:"resource,omitempty"`       // resource
}

// Resource is embedded content: Text, or Blob in base64.
type Resource struct {
	URI      string  `json:"uri"`
	MIMEType string  `json:"mimeType,omitempty"`
	Text     *string `json:"text,omitempty"`
	Blob     *string `json:"blob,omitempty" texts:"-"`
}

// TextBlock returns a block of text.
func TextBlock(text string) ContentBlock { return ContentBlock{Type: "text", Text: &text} }

// ImageBlock returns a block with an image.
func ImageBlock(mimeType string, data []byte) ContentBlock {
	return ContentBlock{Type: "image", MIMEType: mimeType, Data: base64.StdEncoding.EncodeToString(data)}
}

// FileLink returns a link to a file, of an absolute path.
func FileLink(name, path string) ContentBlock {
	return ContentBlock{Type: "resource_link", Name: name, URI: pathname.URI(path)}
}

// Image returns the image of an image block, or of a resource block whose blob
// is an image, in base64. The MIME type is one of the four that every vision
// model accepts. b is a block of a prompt.
func (b ContentBlock) Image() (mimeType, data string, ok bool) {
	switch {
	case b.Type == "image":
		return b.MIMEType, b.Data, true
	case b.Type == "resource" && b.Resource.Blob != nil && slices.Contains(imageTypes, b.Resource.MIMEType):
		return b.Resource.MIMEType, *b.Resource.Blob, true
	}
	return "", "", false
}

var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// imageType returns the MIME type of base64 data, "" if it is not one of
// imageTypes.
func imageType(data string) string {
	head := make([]byte, 512) // DetectContentType reads no more
	n, _ := io.ReadFull(base64.NewDecoder(base64.StdEncoding, strings.NewReader(data)), head)
	if t := http.DetectContentType(head[:n]); slices.Contains(imageTypes, t) {
		return t
	}
	return ""
}

// decodeBlock parses a block of a prompt. The required members of its type must
// be present; others of the wrong type count as absent.
func decodeBlock(raw []byte, field string) (b ContentBlock, err error) {
	if kind := jsonKind(raw); kind != "object" {
		return b, ParamsErrorf(field, "must be an object, not %s", kind)
	}
	o := objectOf(raw, field, "type", "text", "data", "mimeType", "uri", "name", "resource")
	if b.Type, err = o.nonEmptyString("type"); err != nil {
		return b, err
	}
	switch b.Type {
	case "text":
		var text string
		text, err = o.requiredString("text")
		b.Text = &text
	case "image", "audio":
		if b.MIMEType, err = o.requiredString("mimeType"); err == nil {
			b.Data, err = o.requiredString("data")
		}
		b.URI = o.optionalString("uri")
		if _, _, ok := parseDataURI(b.URI); ok { // the image once more
			b.URI = ""
		}
	case "resource_link":
		b.URI, err = o.nonEmptyString("uri")
		b.Name, b.MIMEType = o.optionalString("name"), o.optionalString("mimeType")
		if mime, content, ok := parseDataURI(b.URI); ok {
			b = embeddedBlock(b.Name, cmp.Or(b.MIMEType, mime), content)
		}
	case "resource":
		b.Resource, err = decodeResource(o.members["resource"], field+".resource")
	default:
		err = ParamsErrorf(field+".type", "unknown type %q", b.Type)
	}
	return b, err
}

// parseDataURI parses a URI that contains its resource (RFC 2397). The content is base64,
// which may be invalid.
func parseDataURI(uri string) (mime, content string, ok bool) {
	if len(uri) < 5 || !strings.EqualFold(uri[:5], "data:") {
		return "", "", false
	}
	head, content, ok := strings.Cut(uri[5:], ",")
	if plain, err := url.PathUnescape(content); err == nil {
		content = plain
	}
	mime, isBase64 := strings.CutSuffix(head, ";base64")
	if !isBase64 {
		content = base64.StdEncoding.EncodeToString([]byte(content))
	}
	mime, _, _ = strings.Cut(mime, ";")
	return mime, content, ok
}

// embeddedBlock returns a block with the content of a data URI, which some clients send as
// a link. A model could not read the link.
func embeddedBlock(name, mime, content string) ContentBlock {
	r := &Resource{URI: cmp.Or(name, "attachment"), MIMEType: mime}
	data, err := base64.StdEncoding.DecodeString(content)
	isText := err == nil && utf8.Valid(data) && !slices.Contains(data, 0)
	if isText && imageType(content) == "" {
		text := string(data)
		r.Text = &text
	} else {
		r.Blob = &content
	}
	return ContentBlock{Type: "resource", Resource: r}
}

// decodeResource decodes an embedded resource. It has either a text or a blob.
func decodeResource(raw []byte, field string) (*Resource, error) {
	switch kind := jsonKind(raw); kind {
	case "object":
	case "", "null":
		return nil, ParamsErrorf(field, "is required")
	default:
		return nil, ParamsErrorf(field, "must be an object, not %s", kind)
	}
	o := objectOf(raw, field, "uri", "mimeType", "text", "blob")
	uri, err := o.nonEmptyString("uri")
	if err != nil {
		return nil, err
	}
	r := &Resource{URI: uri, MIMEType: o.optionalString("mimeType")}
	key, to := "text", &r.Text
	if !o.has("text") {
		key, to = "blob", &r.Blob
	}
	if !o.has(key) {
		return nil, ParamsErrorf(field, "must have text or blob")
	}
	content, err := o.requiredString(key)
	if key == "text" && strings.Contains(content, "\x00") { // the client read a binary file as text, and lost bytes
		content = "[unreadable binary data]"
	}
	*to = &content
	return r, err
}

// check checks the contents of a block of a prompt, and ensures the promises of
// ContentBlock.
func (b *ContentBlock) check(field string, limit int) error {
	switch b.Type {
	case "image":
		if err := checkBase64(field+".data", &b.Data, limit); err != nil {
			return err
		}
		if b.MIMEType = imageType(b.Data); b.MIMEType == "" {
			return ParamsErrorf(field+".data", "is not an image of a supported type: PNG, JPEG, GIF or WebP")
		}
	case "audio":
		return checkBase64(field+".data", &b.Data, limit)
	case "resource":
		return b.Resource.check(field+".resource", limit)
	}
	return nil
}

// check checks the size of a text, or the encoding of a blob.
func (r *Resource) check(field string, limit int) error {
	if r.Blob == nil {
		if n := len(*r.Text); n > limit {
			return ParamsErrorf(field+".text", "has %s, over the limit of %d", quantity.Count(n, "byte"), limit)
		}
		return nil
	}
	if *r.Blob == "" { // an empty file
		return nil
	}
	if err := checkBase64(field+".blob", r.Blob, limit); err != nil {
		return err
	}
	if t := imageType(*r.Blob); t != "" {
		r.MIMEType = t
	} else if slices.Contains(imageTypes, r.MIMEType) {
		r.MIMEType = "application/octet-stream"
	}
	return nil
}

// checkBase64 removes white space from data and validates the rest, without
// storing the decoded bytes. limit is in decoded bytes.
func checkBase64(field string, data *string, limit int) error {
	if strings.ContainsAny(*data, " \t\r\n") {
		*data = strings.Join(strings.Fields(*data), "")
	}
	s := *data
	// The decoder accepts text after padding.
	if i := strings.IndexByte(s, '='); len(s)%4 != 0 || i >= 0 && i < len(s)-2 {
		return ParamsErrorf(field, "is not base64")
	}
	n, err := io.Copy(io.Discard, base64.NewDecoder(base64.StdEncoding, strings.NewReader(s)))
	switch {
	case err != nil:
		return ParamsErrorf(field, "is not base64")
	case n == 0:
		return ParamsErrorf(field, "is empty")
	case n > int64(limit):
		return ParamsErrorf(field, "has %s, over the limit of %d", quantity.Count(n, "byte"), limit)
	}
	return nil
}
