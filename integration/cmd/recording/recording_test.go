package main

import (
	"encoding/xml"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	editor  = flag.String("editor", "nvim", "the Neovim whose panel is drawn")
	plugins = flag.String("plugins", "", "the directories of CodeCompanion and plenary, separated as in PATH")
)

var plainLook = look{title: "a <b>", columns: 20, rows: 2, page: "#000000", text: "#ffffff"}

// TestPicture checks that the picture is XML with each screen, whatever the terminal shows.
func TestPicture(t *testing.T) {
	svg := picture(plainLook, []frame{
		{"$ zeph-acp <run> & \x1b[1;31mred\x1b[0m", 1},
		{"done \x1b[2m│\x1b[22m ok \x1b[48;2;1;2;3m世界\x1b[49m.", 2},
	})
	if diff := cmp.Diff([]string{"$ zeph-acp <run> & ", "red", "done ", "│", " ok ", "世界", "."}, shown(t, svg)); diff != "" {
		t.Error(diff)
	}
	for _, want := range []string{
		`<rect x="98.0" y="14" width="33.6" height="18" fill="#010203"/>`, // a wide character has two columns
		`<text x="131.6" y="28" textLength="8.4">.</text>`,
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s in\n%s", want, svg)
		}
	}
}

// shown returns the texts of a picture.
func shown(t *testing.T, svg string) (texts []string) {
	t.Helper()
	for decoder := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := decoder.Token()
		if err == io.EOF {
			return texts
		}
		if err != nil {
			t.Fatal(err)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "text" {
			var text string
			if err := decoder.DecodeElement(&text, &start); err != nil {
				t.Fatal(err)
			}
			texts = append(texts, text)
		}
	}
}

func TestStyles(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []styled
		end  styled // the style of the next line
	}{
		{
			text: "a\x1b[1mb\x1b[38;5;2mc\x1b[22m\x1b[94md\x1b[me",
			want: []styled{
				{text: "a"}, {text: "b", bold: true}, {text: "c", bold: true, color: colors[2]}, {text: "d", color: colors[12]}, {text: "e"},
			},
		},
		{
			text: "\x1b[38;2;1;2;255;48;2;0;16;32ma\x1b[7;39mb\x1b[27;104mc\x1b[49;58;5;1;3md",
			want: []styled{
				{text: "a", color: "#0102ff", background: "#001020"}, {text: "b", reverse: true, background: "#001020"},
				{text: "c", background: colors[12]}, {text: "d", italic: true},
			},
			end: styled{italic: true},
		},
		{
			text: "\x1b[4:3;38:5:1;1ma\x1b[4:0mb", want: []styled{{text: "a", underline: true, bold: true}, {text: "b", bold: true}},
			end: styled{bold: true},
		},
		{text: "\x1b[38;2;1ma\x1b[48ma\x1b[38;5;99ma", want: []styled{{text: "a"}, {text: "a"}, {text: "a"}}}, // unknown, or cut
	} {
		var s styled
		if diff := cmp.Diff(tt.want, s.runs(tt.text), cmp.AllowUnexported(styled{})); diff != "" {
			t.Errorf("%q: %s", tt.text, diff)
		}
		if s != tt.end {
			t.Errorf("%q ends as %+v, want %+v", tt.text, s, tt.end)
		}
	}
}

func TestStyleOfNextLine(t *testing.T) {
	if got := plainLook.screen("\x1b[31ma\nb"); strings.Count(got, colors[1]) != 2 {
		t.Errorf("the second line lost its color:\n%s", got)
	}
}

// TestPictures checks the pictures of the README.
func TestPictures(t *testing.T) {
	docs := filepath.Join("..", "..", "..")
	readme := read(t, filepath.Join(docs, "README.md"))
	for name, s := range map[string]scene{"docs/recording.svg": conversation, "docs/editor.svg": panelScene("", "")} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(readme, "]("+name+")") {
				t.Error("the README does not show it")
			}
			check(t, s, read(t, filepath.Join(docs, name)))
		})
	}
}

// TestScenes plays the scenes and draws them.
func TestScenes(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("no tmux here: it is the terminal of the pictures")
	}
	t.Run("conversation", func(t *testing.T) { draw(t, conversation) })
	t.Run("panel", func(t *testing.T) {
		if *plugins == "" {
			t.Skip("no -plugins: the panel needs Neovim 0.11 (-editor) and the directories of its plugins CodeCompanion and plenary, which are not here")
		}
		s, err := panel(*editor, filepath.SplitList(*plugins))
		if err != nil {
			t.Fatal(err)
		}
		draw(t, s)
	})
}

func draw(t *testing.T, s scene) {
	t.Parallel()
	svg, err := s.draw()
	if err != nil {
		t.Fatal(err)
	}
	check(t, s, svg)
}

// ofMachine matches what only one machine has.
var ofMachine = regexp.MustCompile(`/tmp|/root|/home|/Users|/var|zeph-recording|https?://[^w]|<script|href=`)

// check checks a picture of the scene.
func check(t *testing.T, s scene, svg string) {
	t.Helper()
	all := strings.Join(shown(t, svg), "\n")
	for _, want := range []string{"greet.go", "I look at the greeting first.", "greet people politely", "good day, ", "Done: "} {
		if !strings.Contains(all, want) {
			t.Errorf("the picture does not show %q", want)
		}
	}
	if found := ofMachine.FindString(svg); found != "" {
		t.Errorf("the picture has %q", found)
	}
	least, most := 0, 0
	for _, step := range s.steps {
		if step.seconds > 0 {
			most++
			if !step.passes {
				least++
			}
		}
	}
	if got := strings.Count(svg, "<g class="); got < least || got > most {
		t.Errorf("%d frames, want %d to %d", got, least, most)
	}
	if width := float64(s.columns)*cell + 2*margin; width > 900 {
		t.Errorf("%g pixels are wider than a README", width)
	}
	if len(svg) > 250_000 {
		t.Errorf("%d bytes", len(svg))
	}
}

// TestConfiguration compares the configuration of Neovim with the one that users are told.
func TestConfiguration(t *testing.T) {
	page := read(t, filepath.Join("..", "..", "..", "docs", "editors.md"))
	_, setup, _ := strings.Cut(initLua, "\n\n")
	setup, _, found := strings.Cut(setup, "  display = ")
	for _, line := range strings.Split(setup, "\n") {
		if !found || !strings.Contains(page, line) {
			t.Errorf("docs/editors.md has no line %q", line)
		}
	}
}

func TestPanelErrors(t *testing.T) {
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := panel("no-such-editor", nil); err == nil || !strings.Contains(err.Error(), "-editor") {
		t.Errorf("a missing editor: %v", err)
	}
	if _, err := panel(self, []string{dir}); err == nil || !strings.Contains(err.Error(), "lua/codecompanion") {
		t.Errorf("a directory without the plugin: %v", err)
	}
}

func TestRunErrors(t *testing.T) {
	out := filepath.Join(t.TempDir(), "a.svg")
	if err := run(out, "", []string{"codecompanion.nvim"}); err == nil || !strings.Contains(err.Error(), "-plugins needs -editor") {
		t.Errorf("plugins without an editor: %v", err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("it wrote a picture")
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
