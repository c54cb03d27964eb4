package integration

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// TestImageFiles reads an image by a call of the model and by a link in a prompt. A model with vision
// gets its pixels both times, the editor gets the image, and a model without vision gets a sentence.
func TestImageFiles(t *testing.T) {
	pixels, err := base64.StdEncoding.DecodeString(png)
	if err != nil {
		t.Fatal(err)
	}
	const line = "[image dot.png: PNG, 1 × 1 pixel, 70 bytes]"
	for name, config := range map[string]string{"sees": "", "blind": "[[llm.providers]]\ntype = \"claude\"\nimages = \"no\"\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := fakemodel.NewAnthropic(t, fakemodel.Answer(fakemodel.Call("c1", "read", `{"path":"dot.png"}`)),
				fakemodel.Answer(fakemodel.Say("a dot")), fakemodel.Answer(fakemodel.Say("again")))
			e := (&editor{}).start(t, start{env: m.Env(), config: config})
			e.file("dot.png", string(pixels))
			e.initialize(`{"fs":{"readTextFile":true}}`)
			s := e.open()
			e.checkContains(e.turnOf(s, "look"), `"type":"image","data":"`+png+`"`, line)
			e.request("1", "session/prompt", `{"sessionId":`+quote(s)+`,"prompt":[{"type":"resource_link","uri":"file://`+e.dir+`/dot.png","name":"dot.png"}]}`)
			e.ends("1")
			sent := m.Requests()
			if len(sent) != 3 {
				t.Fatalf("%d requests", len(sent))
			}
			e.checkContains(sent[1], line)
			if name == "blind" {
				e.checkContains(sent[1], "[only the user sees the image: claude:claude-sonnet-5-5 takes no images]")
				if strings.Contains(sent[2], png) {
					t.Error("a model without vision gets an image")
				}
				return
			}
			e.checkContains(sent[1], `"media_type":"image/png","data":"`+png+`"`)
			if n := strings.Count(sent[2], png); n != 2 {
				t.Errorf("the model gets the image of the link and that of the call %d times, want 2, in %s", n, sent[2])
			}
		})
	}
}

// TestDocumentFiles reads a PDF and a notebook, and edits a cell in the editor's buffer. Their text is masked like
// other text, and the link to a PDF in a prompt brings its text.
func TestDocumentFiles(t *testing.T) {
	t.Parallel()
	const token = "ghp_WOsW7yvSQC1UQ3cSSThJpxwTZ74h8NNp5cus"
	pdf := "%PDF-1.4\n\x00\n1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj 2 0 obj <</Kids [3 0 R]>> endobj " +
		"3 0 obj <</Type/Page/Contents 4 0 R/Resources <</Font <</F 5 0 R>>>>>> endobj\n" +
		"4 0 obj <<>> stream\nBT /F 12 Tf (the words " + token + ") Tj ET\nendstream endobj 5 0 obj <</Subtype/Type1>> endobj trailer <</Root 1 0 R>>"
	notebook := `{"cells": [{"cell_type": "code", "id": "c", "metadata": {}, "outputs": [], "source": ["x = 1"]}], "nbformat": 4, "nbformat_minor": 5}`
	m := fakemodel.NewAnthropic(t, fakemodel.Answer(fakemodel.Call("c1", "read", `{"path":"a.pdf","pages":"1"}`)),
		fakemodel.Answer(fakemodel.Call("c2", "read", `{"path":"a.ipynb"}`)),
		fakemodel.Answer(fakemodel.Call("c3", "edit", `{"path":"a.ipynb","old_string":"x = 2","new_string":"x = 3"}`)),
		fakemodel.Answer(fakemodel.Say("done")))
	e := (&editor{}).start(t, start{env: m.Env(), config: "[agent]\nmode = \"auto\"\n"})
	e.file("a.pdf", pdf)
	e.file("a.ipynb", notebook)
	e.SetBuffer(e.dir+"/a.ipynb", strings.Replace(notebook, "x = 1", "x = 2", 1))
	e.initialize(`{"fs":{"readTextFile":true,"writeTextFile":true}}`)
	s := e.open()
	e.request("1", "session/prompt", `{"sessionId":`+quote(s)+`,"prompt":[{"type":"resource_link","uri":"file://`+e.dir+`/a.pdf","name":"a.pdf"}]}`)
	e.ends("1")
	sent := m.Requests()
	if len(sent) != 4 {
		t.Fatalf("%d requests", len(sent))
	}
	e.checkContains(sent[0], `[PDF a.pdf: 1 page]\n[page 1]\nthe words `)
	e.checkContains(sent[2], `[notebook a.ipynb: 1 cell, nbformat 4.5]\n[cell 1: code, id c]\nx = 2`)
	e.checkContains(sent[3], "Edited a.ipynb: 1 replacement in cell 1")
	if strings.Contains(strings.Join(sent, ""), token) {
		t.Error("the model gets a credential of a PDF")
	}
	if got, want := e.Buffer(e.dir+"/a.ipynb"), strings.Replace(notebook, "x = 1", "x = 3", 1); got != want {
		t.Errorf("the editor has %s, want %s", got, want)
	}
}
