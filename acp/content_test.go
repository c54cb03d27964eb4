package acp

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	png  = "\x89PNG\r\n\x1a\n"
	jpeg = "\xff\xd8\xff\xe0"
	gif  = "GIF89a"
	webp = "RIFF\x00\x00\x00\x00WEBPVP8 "
)

func b64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

func image(mime, data string) string {
	return `{"type":"image","mimeType":"` + mime + `","data":"` + data + `"}`
}

func resource(rest string) string {
	return `{"type":"resource","resource":{"uri":"file:///a",` + rest + `}}`
}

func link(uri, rest string) string {
	return `{"type":"resource_link","uri":"` + uri + `",` + rest + `}`
}

func textOf(s string) *string { return &s }

// The blocks of a prompt that reach the session, and those that are refused.
// Texts may have 64 bytes and attachments 32.
func TestPromptContent(t *testing.T) {
	picture := func(mime, data string) ContentBlock {
		return ContentBlock{Type: "image", MIMEType: mime, Data: b64(data)}
	}
	in := func(uri string, r Resource) ContentBlock {
		r.URI = uri
		return ContentBlock{Type: "resource", Resource: &r}
	}
	embedded := func(r Resource) ContentBlock { return in("file:///a", r) }
	for name, tt := range map[string]struct {
		block string
		want  ContentBlock
		err   string
	}{
		"text":        {`{"type":"text","text":"a\u00e9\ud83d\ude00\n","annotations":7,"_meta":[]}`, TextBlock("aé😀\n"), ""},
		"text twice":  {`{"type":"text","text":1,"text":"b"}`, TextBlock("b"), ""},
		"text number": {`{"type":"text","text":1}`, ContentBlock{}, "prompt[0].text: must be a string, not number"},
		"text null":   {`{"type":"text","text":null}`, ContentBlock{}, "prompt[0].text: is required"},
		"text too long": {`{"type":"text","text":"` + strings.Repeat("é", 33) + `"}`, ContentBlock{},
			"prompt: has 66 bytes of text, over the limit of 64; attach long text as a file"},
		"only spaces":   {`{"type":"text","text":" \n\u00a0"}`, ContentBlock{}, "prompt: is empty"},
		"png":           {image("image/png", b64(png)), picture("image/png", png), ""},
		"jpeg":          {image("image/jpeg", b64(jpeg)), picture("image/jpeg", jpeg), ""},
		"gif":           {image("image/gif", b64(gif)), picture("image/gif", gif), ""},
		"webp":          {image("image/webp", b64(webp)), picture("image/webp", webp), ""},
		"mistaken type": {image("image/png", b64(jpeg)), picture("image/jpeg", jpeg), ""},
		"odd type":      {image("IMAGE/JPG", b64(jpeg)), picture("image/jpeg", jpeg), ""},
		"with its uri": {`{"type":"image","mimeType":"","data":"` + b64(gif) + `","uri":"file:///a.gif"}`,
			ContentBlock{Type: "image", MIMEType: "image/gif", Data: b64(gif), URI: "file:///a.gif"}, ""},
		"uri a number":  {`{"type":"image","mimeType":"x","data":"` + b64(gif) + `","uri":7}`, picture("image/gif", gif), ""},
		"line breaks":   {image("image/png", b64(png)[:4]+`\r\n `+b64(png)[4:]+`\n`), picture("image/png", png), ""},
		"no padding":    {image("image/png", strings.TrimRight(b64(png), "=")), ContentBlock{}, "prompt[0].data: is not base64"},
		"URL alphabet":  {image("image/png", "_-__"), ContentBlock{}, "prompt[0].data: is not base64"},
		"two in one":    {image("image/png", b64(png)+b64(png)), ContentBlock{}, "prompt[0].data: is not base64"},
		"data URL":      {image("image/png", "data:image/png;base64,"+b64(png)), ContentBlock{}, "prompt[0].data: is not base64"},
		"no data":       {`{"type":"image","mimeType":"image/png"}`, ContentBlock{}, "prompt[0].data: is required"},
		"empty data":    {image("image/png", ""), ContentBlock{}, "prompt[0].data: is empty"},
		"no type":       {`{"type":"image","data":"` + b64(png) + `"}`, ContentBlock{}, "prompt[0].mimeType: is required"},
		"svg":           {image("image/svg+xml", b64("<svg></svg>")), ContentBlock{}, "prompt[0].data: is not an image of a supported type: PNG, JPEG, GIF or WebP"},
		"text as image": {image("image/png", b64("hello")), ContentBlock{}, "prompt[0].data: is not an image of a supported type: PNG, JPEG, GIF or WebP"},
		"too large":     {image("image/png", b64(png+strings.Repeat("x", 25))), ContentBlock{}, "prompt[0].data: has 33 bytes, over the limit of 32"},
		"just fits":     {image("image/png", b64(png+strings.Repeat("x", 24))), picture("image/png", png+strings.Repeat("x", 24)), ""},
		"audio":         {`{"type":"audio","mimeType":"audio/wav","data":"UklGRg=="}`, ContentBlock{Type: "audio", MIMEType: "audio/wav", Data: "UklGRg=="}, ""},
		"broken audio":  {`{"type":"audio","mimeType":"audio/wav","data":"?"}`, ContentBlock{}, "prompt[0].data: is not base64"},
		"link": {`{"type":"resource_link","uri":"zed:///agent/thread/1","name":"t","mimeType":null,"size":"x"}`,
			ContentBlock{Type: "resource_link", URI: "zed:///agent/thread/1", Name: "t"}, ""},
		"link, no uri": {`{"type":"resource_link","name":"t"}`, ContentBlock{}, "prompt[0].uri: is required"},
		"text in link": {link("data:text/plain;charset=utf-8;base64,"+b64("hé"), `"name":"a.txt"`),
			in("a.txt", Resource{MIMEType: "text/plain", Text: textOf("hé")}), ""},
		"text escaped":  {link("DATA:,a%20b%2C", `"mimeType":"text/csv"`), in("attachment", Resource{MIMEType: "text/csv", Text: textOf("a b,")}), ""},
		"image in link": {link("data:image/png;base64,"+b64(gif), `"name":"a.png"`), in("a.png", Resource{MIMEType: "image/gif", Blob: textOf(b64(gif))}), ""},
		"bytes in link": {link("data:;base64,"+b64("a\x00"), `"name":"a"`), in("a", Resource{Blob: textOf(b64("a\x00"))}), ""},
		"empty link":    {link("data:text/plain;base64,", `"name":"a"`), in("a", Resource{MIMEType: "text/plain", Text: textOf("")}), ""},
		"no comma":      {link("data:text/plain", `"name":"a"`), ContentBlock{Type: "resource_link", URI: "data:text/plain", Name: "a"}, ""},
		"broken link":   {link("data:text/plain;base64,?", `"name":"a"`), ContentBlock{}, "prompt[0].resource.blob: is not base64"},
		"large link":    {link("data:,"+strings.Repeat("x", 33), `"name":"a"`), ContentBlock{}, "prompt[0].resource.text: has 33 bytes, over the limit of 32"},
		"uri with data": {`{"type":"image","mimeType":"image/gif","data":"` + b64(gif) + `","uri":"data:image/gif;base64,` + b64(gif) + `"}`,
			picture("image/gif", gif), ""},
		"bytes as text": {resource(`"text":"\ufffdPNG\u0000","mimeType":"image/png"`),
			embedded(Resource{Text: textOf("[unreadable binary data]"), MIMEType: "image/png"}), ""},
		"empty blob": {resource(`"blob":""`), embedded(Resource{Blob: textOf("")}), ""},
		"resource":   {resource(`"text":"x","mimeType":"text/plain"`), embedded(Resource{Text: textOf("x"), MIMEType: "text/plain"}), ""},
		"large text": {resource(`"text":"` + strings.Repeat("x", 33) + `"`), ContentBlock{}, "prompt[0].resource.text: has 33 bytes, over the limit of 32"},
		"blob":       {resource(`"blob":"` + b64("\x00\x01") + `"`), embedded(Resource{Blob: textOf(b64("\x00\x01"))}), ""},
		"image in blob": {resource(`"text":null,"blob":"` + b64(gif) + `","mimeType":"image/png"`),
			embedded(Resource{Blob: textOf(b64(gif)), MIMEType: "image/gif"}), ""},
		"no such image": {resource(`"blob":"` + b64("x") + `","mimeType":"image/png"`),
			embedded(Resource{Blob: textOf(b64("x")), MIMEType: "application/octet-stream"}), ""},
		"broken blob":  {resource(`"blob":"x"`), ContentBlock{}, "prompt[0].resource.blob: is not base64"},
		"large blob":   {resource(`"blob":"` + b64(strings.Repeat("x", 33)) + `"`), ContentBlock{}, "prompt[0].resource.blob: has 33 bytes, over the limit of 32"},
		"blob number":  {resource(`"blob":7`), ContentBlock{}, "prompt[0].resource.blob: must be a string, not number"},
		"no content":   {resource(`"mimeType":"x"`), ContentBlock{}, "prompt[0].resource: must have text or blob"},
		"no resource":  {`{"type":"resource"}`, ContentBlock{}, "prompt[0].resource: is required"},
		"odd resource": {`{"type":"resource","resource":[]}`, ContentBlock{}, "prompt[0].resource: must be an object, not array"},
		"unknown type": {`{"type":"smell"}`, ContentBlock{}, `prompt[0].type: unknown type "smell"`},
		"type null":    {`{"type":null}`, ContentBlock{}, "prompt[0].type: is required"},
		"no object":    {`"hi"`, ContentBlock{}, "prompt[0]: must be an object, not string"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []ContentBlock
			f := &fakeSessions{turn: func(_ context.Context, _ *Client, prompt []ContentBlock) (StopReason, error) {
				got = prompt
				return StopEndTurn, nil
			}}
			s := newServer(t, f)
			s.Config.MaxPromptTextBytes, s.Config.MaxAttachmentBytes = 64, 32
			w := serve(t, s)
			w.send(open)
			w.read()
			w.send(request(1, "session/prompt", `{"sessionId":"s1","prompt":[`+tt.block+`]}`))
			want := result(1, `{"stopReason":"end_turn"}`)
			if tt.err != "" {
				want = refusal(1, -32602, tt.err)
			}
			if diff := cmp.Diff(canonical(t, want), canonical(t, w.read())); diff != "" {
				t.Fatalf("(-want +got)\n%s", diff)
			}
			if tt.err != "" {
				return
			}
			if diff := cmp.Diff([]ContentBlock{tt.want}, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestTooManyBlocks(t *testing.T) {
	raw := `{"sessionId":"s","prompt":[` + strings.Repeat(`{"type":"text","text":"a"},`, maxBlocks) + `{"type":"text","text":"a"}]}`
	var p PromptRequest
	if wrong, ok := errors.AsType[*ParamsError](p.decode([]byte(raw))); !ok || wrong.Field != "prompt" {
		t.Errorf("%d blocks were taken: %v", len(p.Prompt), wrong)
	}
}

func TestImage(t *testing.T) {
	blob := b64(gif)
	for _, tt := range []struct {
		block ContentBlock
		mime  string
	}{
		{ImageBlock("image/png", []byte(png)), "image/png"},
		{ContentBlock{Type: "resource", Resource: &Resource{Blob: &blob, MIMEType: "image/gif"}}, "image/gif"},
		{ContentBlock{Type: "resource", Resource: &Resource{Blob: &blob, MIMEType: "application/pdf"}}, ""},
		{ContentBlock{Type: "resource", Resource: &Resource{Text: &blob, MIMEType: "image/gif"}}, ""},
		{TextBlock("x"), ""},
	} {
		if mime, data, ok := tt.block.Image(); mime != tt.mime || ok != (mime != "") || ok != (data != "") {
			t.Errorf("%+v: %q, %q, %v", tt.block, mime, data, ok)
		}
	}
}
