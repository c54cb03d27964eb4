package integration

import (
	"bytes"
	"encoding/base64"
	"image"
	"regexp"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/integration/fakemcp"
	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

var sentImage = regexp.MustCompile(`"tool_result".*"source":\{"type":"base64","media_type":"image/png","data":"([^"]+)"`)

// TestMCPImages checks that the editor gets an image of a server as it is, and the model
// a smaller one, unless the image is a bomb or the model has no vision.
func TestMCPImages(t *testing.T) {
	for name, config := range map[string]string{"sees": "", "blind": "[[llm.providers]]\ntype = \"claude\"\nimages = \"no\"\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := fakemodel.NewAnthropic(t,
				fakemodel.Answer(fakemodel.Call("c1", "io__screenshot", `{}`)), fakemodel.Answer(fakemodel.Call("c2", "io__bomb", `{}`)),
				fakemodel.Answer(fakemodel.Say("done")))
			a := connect(t, start{env: m.Env(), config: config + allowMCP})
			s := a.openWith(stdioServer(t, "io", "images"))
			a.checkContains(a.turnOf(s, "look"), `"type":"image","data":"`+base64.StdEncoding.EncodeToString(fakemcp.Screenshot())+`"`)
			sent := m.Requests()
			if len(sent) != 3 {
				t.Fatalf("%d requests", len(sent))
			}
			a.checkContains(sent[1], "[image, image/png, ", "shown to the user]")
			found := sentImage.FindStringSubmatch(sent[1])
			if name == "blind" {
				if found != nil || strings.Contains(sent[2], "not shown to you") {
					t.Error("a model without vision gets an image")
				}
				return
			}
			if found == nil {
				t.Fatalf("no image in %s", sent[1])
			}
			data, err := base64.StdEncoding.DecodeString(found[1])
			if err != nil {
				t.Fatal(err)
			}
			if c, kind, err := image.DecodeConfig(bytes.NewReader(data)); err != nil || kind != "png" || c.Width != 1568 || c.Height != 500 {
				t.Errorf("the model gets %d × %d pixels, %v", c.Width, c.Height, err)
			}
			a.checkContains(sent[2], "[an image is not shown to you: it has 65535 × 65535 pixels, which is too large]")
		})
	}
}
