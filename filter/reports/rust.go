package reports

import (
	"fmt"
	"path"
	"strings"
)

// cargoLines returns what cargo writes for one of its messages: the text of a diagnostic, or a line about a
// part of the build.
func cargoLines(report any, _ *form) (lines []byte, ok bool) {
	switch plain(at(report, "reason")) {
	case "compiler-message":
		return rustcLines(at(report, "message"), nil)
	case "compiler-artifact":
		state := "Compiling"
		if plain(at(report, "fresh")) == "true" {
			state = "Fresh"
		}
		lines = fmt.Appendf(nil, "%12s %s\n", state, packageName(report))
		if program := plain(at(report, "executable")); program != "" {
			lines = fmt.Appendf(lines, "%12s %s\n", "Executable", program)
		}
		return lines, true
	case "build-script-executed":
		return fmt.Appendf(nil, "%12s %s (build script)\n", "Compiling", packageName(report)), true
	case "build-finished":
		if plain(at(report, "success")) == "true" {
			return fmt.Appendf(nil, "%12s build\n", "Finished"), true
		}
		return []byte("build-finished: failed\n"), true
	}
	return nil, false
}

// packageName returns the name and version of a package by its id: "itoa v1.0.19" of
// "registry+https://github.com/rust-lang/crates.io-index#itoa@1.0.19", "app v0.1.0" of "path+file:///w/app#0.1.0".
func packageName(report any) string {
	place, name, ok := strings.Cut(plain(at(report, "package_id")), "#")
	if !ok { // before cargo 1.77: "itoa 1.0.19 (registry+https://…)"
		name, _, _ = strings.Cut(place, " (")
		return name
	}
	if !strings.Contains(name, "@") {
		name = path.Base(place) + "@" + name
	}
	return strings.Replace(name, "@", " v", 1)
}

// rustcLines returns a diagnostic as rustc writes it.
func rustcLines(report any, _ *form) (lines []byte, ok bool) {
	text := plain(at(report, "rendered"))
	return []byte(text), text != ""
}
