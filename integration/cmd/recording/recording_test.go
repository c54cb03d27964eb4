package main

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPicture checks that the picture is XML with each screen, whatever the terminal shows.
func TestPicture(t *testing.T) {
	svg := picture([]frame{{"$ zeph-acp <run> & \x1b[1;31mred\x1b[0m", 1}, {"done \x1b[2m│\x1b[22m ok", 2}})
	var shown []string
	for decoder := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := decoder.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "text" {
			var text string
			if err := decoder.DecodeElement(&text, &start); err != nil {
				t.Fatal(err)
			}
			shown = append(shown, text)
		}
	}
	if diff := cmp.Diff([]string{"$ zeph-acp <run> & ", "red", "done ", "│", " ok"}, shown); diff != "" {
		t.Error(diff)
	}
}

func TestStyles(t *testing.T) {
	got := runs("a\x1b[1mb\x1b[38;5;2mc\x1b[22m\x1b[94md\x1b[me")
	want := []styled{
		{text: "a"}, {text: "b", bold: true}, {text: "c", bold: true, color: colors[2]}, {text: "d", color: colors[12]}, {text: "e"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(styled{})); diff != "" {
		t.Error(diff)
	}
}
