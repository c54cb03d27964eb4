package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/manifest"
)

// TestRecipes checks the files that name all archives: each has the sums, and the programs that
// read them, as far as they are installed here, accept them.
func TestRecipes(t *testing.T) {
	needGit(t)
	dir := t.TempDir()
	writeFakes(t, dir, "1.2.3")
	files := readFiles(t, dir)
	flake := unpack(t, "zeph-acp", files["flake.tar.gz"])["flake.nix"]
	files["flake.nix"] = flake
	archives, err := manifest.WithSums("1.2.3", dir)
	if err != nil {
		t.Fatal(err)
	}
	const url = "https://github.com/zeph-acp/zeph-acp/releases/download/v1.2.3"
	for recipe, systems := range map[string]string{
		"install.sh": "linux darwin windows", "zeph-acp.rb": "linux darwin", "zeph-acp.json": "windows", "Containerfile": "linux", "flake.nix": "linux darwin",
	} {
		text := string(files[recipe])
		if strings.Contains(text, "<no value>") || recipe != "install.sh" && !strings.Contains(text, url) {
			t.Errorf("%s does not name %s, or lacks a value:\n%s", recipe, url, text)
		}
		for _, a := range archives {
			if strings.Contains(systems, a.OS) && (!strings.Contains(text, a.Name) || !strings.Contains(text, a.SHA256)) {
				t.Errorf("%s does not name %s with its sum %s:\n%s", recipe, a.Name, a.SHA256, text)
			}
		}
	}
	if !json.Valid(files["zeph-acp.json"]) {
		t.Errorf("not JSON: %s", files["zeph-acp.json"])
	}
	t.Run("script", func(t *testing.T) {
		need(t, "shellcheck")
		printed(t, "shellcheck", filepath.Join(dir, "install.sh"))
	})
	t.Run("formula", func(t *testing.T) {
		need(t, "ruby")
		printed(t, "ruby", "-c", filepath.Join(dir, "zeph-acp.rb"))
	})
	t.Run("flake", func(t *testing.T) {
		need(t, "nix-instantiate")
		file := filepath.Join(t.TempDir(), "flake.nix")
		if err := os.WriteFile(file, flake, 0o644); err != nil {
			t.Fatal(err)
		}
		t.Setenv("NIX_STATE_DIR", t.TempDir())
		got := printed(t, "nix-instantiate", "--eval", "--strict", "--json", "--expr", strings.ReplaceAll(flakeTest, "FILE", file))
		if want := `["aarch64-darwin","aarch64-linux","x86_64-darwin","x86_64-linux"]`; !strings.Contains(got, want) || !strings.Contains(got, archives[2].SHA256) {
			t.Errorf("the flake has %s, want the systems %s and the sum %s", got, want, archives[2].SHA256)
		}
	})
	t.Run("image", func(t *testing.T) { runImageStep(t, dir, string(files["Containerfile"])) })

	if err := os.Remove(filepath.Join(dir, archives[0].Name)); err != nil {
		t.Fatal(err)
	}
	r := release{out: dir, version: "1.2.3"}
	if err := os.WriteFile(filepath.Join(dir, "install.sh"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := r.writeRecipes(); err != nil || len(readFiles(t, dir)["install.sh"]) > 0 {
		t.Errorf("without an archive: %v, want no files and no error", err)
	}
}

// flakeTest evaluates a flake with stand-ins for what it uses of Nixpkgs.
const flakeTest = `
let
  pkgs = {
    lib = { licenses.mit = 1; sourceTypes.binaryNativeCode = 1; };
    installShellFiles = 1;
    fetchurl = x: x;
    stdenvNoCC.mkDerivation = x: x // { outPath = "/nix/store/it"; };
  };
  systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
  nixpkgs.legacyPackages = builtins.listToAttrs (map (name: { inherit name; value = pkgs; }) systems);
  flake = (import FILE).outputs { self = flake; inherit nixpkgs; };
in [
  (builtins.attrNames flake.packages)
  (map (system: flake.packages.${system}.default.src) (builtins.attrNames flake.packages))
  flake.apps
]`

// runImageStep runs the step of a Containerfile that downloads and checks the archive, with a
// fake wget that copies it from a directory.
func runImageStep(t *testing.T, dir, text string) {
	_, step, ok := strings.Cut(text, "\nRUN ")
	step, _, found := strings.Cut(step, "\n\n")
	if !ok || !found {
		t.Fatalf("no step that downloads in\n%s", text)
	}
	need(t, "sh", "sha256sum", "tar", "gzip", "uname")
	work := t.TempDir()
	step = strings.ReplaceAll(strings.ReplaceAll(step, "\\\n", " "), "/tmp", work)
	wget := "#!/bin/sh\ncp " + dir + "/\"${4##*/}\" \"$3\"\n"
	if err := os.WriteFile(filepath.Join(work, "wget"), []byte(wget), 0o755); err != nil {
		t.Fatal(err)
	}
	run := func() ([]byte, error) {
		cmd := exec.Command("sh", "-c", step)
		cmd.Env = append(os.Environ(), "PATH="+work+":"+os.Getenv("PATH"))
		return cmd.CombinedOutput()
	}
	program := filepath.Join(work, "zeph-acp", "zeph-acp")
	if out, err := run(); err != nil || !strings.HasPrefix(printed(t, program), "zeph-acp 1.2.3 for linux") {
		t.Errorf("the step: %v\n%s", err, out)
	}
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	step = regexp.MustCompile(`sum=[0-9a-f]{8}`).ReplaceAllString(step, "sum=00000000")
	if out, err := run(); err == nil || !bytes.Contains(out, []byte("FAILED")) {
		t.Errorf("with another sum: %v\n%s", err, out)
	}
	if _, err := os.Stat(program); err == nil {
		t.Error("an archive with another sum was unpacked")
	}
}
