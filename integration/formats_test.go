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
