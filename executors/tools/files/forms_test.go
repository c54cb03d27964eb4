package files

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

const (
	composed   = "caf\u00e9"  // NFC
	decomposed = "cafe\u0301" // NFD
)

// TestUnicodeForms checks that a file is found by its name in another Unicode form.
func TestUnicodeForms(t *testing.T) {
	if runtime.GOOS == "darwin" {
		t.Skip("the file system of macOS finds a file by any Unicode form of its name, so there is nothing for us to find")
	}
	for disk, asked := range map[string]string{composed: decomposed, decomposed: composed} {
		b := newBench(t, map[string]string{disk + "/" + disk + ".txt": "old\n", "x": ""})
		path, onDisk := asked+"/"+asked+".txt", disk+"/"+disk+".txt"
		if res := b.run("read", in{"path": path}); res.Failed || !strings.Contains(res.ForModel(), "old") {
			t.Errorf("%+q: read: %s", asked, res.ForModel())
		}
		for _, pattern := range []string{asked + "/*.txt", "**/" + asked + ".*", asked + ".txt"} {
			if res := b.run("find_path", in{"pattern": pattern}); !strings.Contains(res.ForModel(), disk+".txt") {
				t.Errorf("%+q: find_path: %s", pattern, res.ForModel())
			}
		}
		if res := b.run("grep", in{"pattern": "old", "include": asked + ".txt"}); !strings.Contains(res.ForModel(), disk+".txt") {
			t.Errorf("%+q: grep: %s", asked, res.ForModel())
		}
		if res := b.run("edit", in{"path": path, "old_string": "old", "new_string": "new"}); res.Failed || b.content(onDisk) != "new\n" {
			t.Errorf("%+q: edit: %s", asked, res.ForModel())
		}
		if res := b.run("write", in{"path": path, "content": "newer\n"}); res.Failed || b.content(onDisk) != "newer\n" {
			t.Errorf("%+q: write: %s", asked, res.ForModel())
		}
		if res := b.run("delete_path", in{"path": path}); res.Failed {
			t.Errorf("%+q: delete_path: %s", asked, res.ForModel())
		}
		if entries, _ := os.ReadDir(b.path(disk)); len(entries) != 0 {
			t.Errorf("%+q: left %v", asked, entries)
		}
		if entries, _ := os.ReadDir(b.dir); len(entries) != 2 {
			t.Errorf("%+q: created %v", asked, entries)
		}
	}
}

// TestAmbiguousForm checks that a name that stands for two files is refused, and that each file's
// own name is not.
func TestAmbiguousForm(t *testing.T) {
	if runtime.GOOS == "darwin" {
		t.Skip("the file system of macOS finds a file by any Unicode form of its name, so there is nothing for us to find")
	}
	const suffix = "\u00fc"
	both := map[string]string{composed + suffix: "C\n", decomposed + "u\u0308": "D\n"}
	b := newBench(t, both)
	for name, content := range both {
		if res := b.run("read", in{"path": name}); !strings.Contains(res.ForModel(), strings.TrimSpace(content)) {
			t.Errorf("%+q: %s", name, res.ForModel())
		}
	}
	mixed := decomposed + suffix
	for _, tool := range []string{"read", "delete_path"} {
		res := b.run(tool, in{"path": mixed})
		if text := res.ForModel(); !res.Failed || !strings.Contains(text, `"caf\u00e9\u00fc" or "cafe\u0301u\u0308"`) {
			t.Errorf("%s: %s", tool, text)
		}
	}
}

// TestFormsInRules checks that a rule for reading holds for all forms of a name.
func TestFormsInRules(t *testing.T) {
	for _, disk := range []string{composed, decomposed} {
		for _, rule := range []string{composed, decomposed} {
			b := newBench(t, map[string]string{disk + "/secret": "x\n"})
			for _, pattern := range []string{rule, rule + "/*", "**/" + rule + "/**", filepath.Join(b.dir, rule)} {
				all, err := workspace.New(b.dir)
				must(t, err)
				roots, err := all.Reading(workspace.ReadRules{Deny: []string{pattern}})
				must(t, err)
				for _, asked := range []string{composed, decomposed} {
					abs, err := roots.Resolve(asked + "/secret")
					if err == nil {
						_, err = roots.Lstat(abs)
					}
					if err == nil {
						t.Errorf("%+q on the disk: the rule %+q does not deny %+q", disk, pattern, asked)
					}
				}
			}
		}
	}
}
