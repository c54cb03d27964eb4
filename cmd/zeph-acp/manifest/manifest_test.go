package manifest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
)

var update = flag.Bool("update", false, "write agent.json")

// valid checks an entry by the rules of the registry.
func valid(t *testing.T, text []byte) {
	t.Helper()
	schema, err := jsonschema.NewCompiler().Compile("testdata/entry.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(doc); err != nil {
		t.Errorf("the entry breaks the rules of the registry: %v\n%s", err, text)
	}
}

// The entry in the repository is generated from this version. The registry's copy also has
// the checksums of the archives.
func TestEntry(t *testing.T) {
	got, err := New(app.Version, URL(app.Version), Archives(app.Version)).JSON()
	if err != nil {
		t.Fatal(err)
	}
	valid(t, got)
	if *update {
		if err := os.WriteFile("agent.json", got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("agent.json")
	if diff := cmp.Diff(string(want), string(got)); err != nil || diff != "" {
		t.Errorf("%v, agent.json (-file +this version): run this test with -update\n%s", err, diff)
	}
}

func TestWithSums(t *testing.T) {
	dir := t.TempDir()
	for _, a := range Archives("1.2.3") {
		if err := os.WriteFile(filepath.Join(dir, a.Name), []byte(a.Name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, err := WithSums("1.2.3", dir)
	if err != nil {
		t.Fatal(err)
	}
	e := New("1.2.3", "https://example.com/v1.2.3/", all)
	text, err := e.JSON()
	if err != nil {
		t.Fatal(err)
	}
	valid(t, text)
	if len(e.Distribution.Binary) != len(platforms) {
		t.Errorf("%d platforms, want %d", len(e.Distribution.Binary), len(platforms))
	}
	for name, got := range map[string]NPX{"the release": e.Distribution.NPX, "the preview": e.Preview.Distribution.NPX} {
		if got.Package != "zeph-acp@1.2.3" || e.Preview.Version != "1.2.3" {
			t.Errorf("%s is the package %s, and the preview is %s, want version 1.2.3", name, got.Package, e.Preview.Version)
		}
	}
	sum := sha256.Sum256([]byte("zeph-acp_1.2.3_windows_amd64.zip"))
	want := Binary{"https://example.com/v1.2.3/zeph-acp_1.2.3_windows_amd64.zip", hex.EncodeToString(sum[:]), "./zeph-acp/zeph-acp.exe", []string{"serve"}}
	if diff := cmp.Diff(want, e.Distribution.Binary["windows-x86_64"]); diff != "" {
		t.Errorf("the binary for Windows (-want +got)\n%s", diff)
	}
	if err := os.Remove(filepath.Join(dir, "zeph-acp_1.2.3_linux_arm64.tar.gz")); err != nil {
		t.Fatal(err)
	}
	if _, err := WithSums("1.2.3", dir); err == nil || !strings.Contains(err.Error(), "linux_arm64") {
		t.Errorf("without an archive: %v, want an error that names linux_arm64", err)
	}
}

// The registry takes square icons of 16 pixels that have no color of their own.
func TestIcon(t *testing.T) {
	var svg struct {
		Width   string `xml:"width,attr"`
		Height  string `xml:"height,attr"`
		ViewBox string `xml:"viewBox,attr"`
	}
	if err := xml.Unmarshal(Icon, &svg); err != nil || svg.Width != "16" || svg.Height != "16" || svg.ViewBox != "0 0 16 16" {
		t.Errorf("the icon is %+v, %v, want a square of 16", svg, err)
	}
	painted := regexp.MustCompile(`\b(?:fill|stroke)="([^"]*)"`).FindAllStringSubmatch(string(Icon), -1)
	for _, p := range painted {
		if p[1] != "currentColor" && p[1] != "none" {
			t.Errorf("the icon has the color %s, want currentColor or none", p[1])
		}
	}
	if !bytes.Contains(Icon, []byte("currentColor")) || bytes.Contains(Icon, []byte("style")) || bytes.Contains(Icon, []byte("<!--")) {
		t.Error("the icon does not follow the color of the text, or has a comment, which the registry refuses")
	}
}
