// Package commands reads the lists of shell commands for tests of the policy, and
// creates the directories in which they run.
//
// [Hostile] returns scripts that do harm in a plain bash: they run a program, write
// a file, or print files from outside the workspace. [Daily] returns commands that
// only read. [Refused] returns disguised commands. All run in a [TestDir], which a [Pool]
// creates and which reports the changes of a script.
package commands

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Script is one line of the lists.
type Script struct {
	Text   string
	Class  string   // hostile: the kind of attack
	Tree   string   // the section of trees.txtar that it needs
	Effect string   // hostile: "runs", "writes" or "leaks"
	Needs  []string // daily: programs that may be missing
	Varies bool     // daily: its output differs from run to run
}

// Hostile reads effects.txtar in dir. A section is called "CLASS | TREE |
// EFFECT" and has one script per line, quoted as in Go where necessary.
func Hostile(dir string) ([]Script, error) {
	var list []Script
	var section Script
	err := lines(filepath.Join(dir, "effects.txtar"), func(line string) error {
		if name, ok := header(line); ok {
			parts := strings.Split(name, " | ")
			if len(parts) != 3 {
				return fmt.Errorf("a section is called CLASS | TREE | EFFECT, not %q", name)
			}
			section = Script{Class: parts[0], Tree: parts[1], Effect: parts[2]}
			return nil
		}
		if section.Class == "" { // the comment at the top
			return nil
		}
		section.Text = unquoted(line)
		list = append(list, section)
		return nil
	})
	return list, err
}

// Refused reads hostile.txtar in dir: scripts that the policy blocks or asks about. A
// section is called "CLASS: OUTCOME".
func Refused(dir string) ([]Script, error) {
	var list []Script
	section := Script{Tree: "clean"}
	err := lines(filepath.Join(dir, "hostile.txtar"), func(line string) error {
		if name, ok := header(line); ok {
			section.Class, _, _ = strings.Cut(name, ": ")
			return nil
		}
		if section.Class != "" { // after the comment at the top
			section.Text = unquoted(line)
			list = append(list, section)
		}
		return nil
	})
	return list, err
}

// unquoted returns the script of a line, which may be quoted as in Go.
func unquoted(line string) string {
	if text, err := strconv.Unquote(line); err == nil && strings.HasPrefix(line, `"`) {
		return text
	}
	return line
}

// Daily reads daily.txt in dir.
func Daily(dir string) ([]Script, error) {
	var list []Script
	section := Script{Tree: "clean"}
	err := lines(filepath.Join(dir, "daily.txt"), func(line string) error {
		note, isNote := strings.CutPrefix(line, "#")
		switch {
		case line == "":
			section = Script{Tree: "clean"}
		case !isNote:
			section.Text = line
			list = append(list, section)
		case strings.TrimSpace(note) == "varies":
			section.Varies = true
		default:
			if programs, ok := strings.CutPrefix(note, " needs "); ok {
				section.Needs = strings.Fields(programs)
			}
		}
		return nil
	})
	return list, err
}

// header returns the name of a txtar section that begins on this line.
func header(line string) (name string, ok bool) {
	name, ok = strings.CutPrefix(line, "-- ")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(name, " --")
}

// lines calls each for every line of a file.
func lines(file string, each func(line string) error) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	scan := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; scan.Scan(); n++ {
		if err := each(scan.Text()); err != nil {
			return fmt.Errorf("%s:%d: %w", file, n, err)
		}
	}
	return scan.Err()
}
