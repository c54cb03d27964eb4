package filter

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// infraCommands are of the rules for git, packages and infrastructure.
var infraCommands = []string{
	"git status", "git diff", "git log", "git show", "git push", "git commit", "git pull", "gh run view --log-failed", "docker build .", "docker compose up -d", "docker pull x", "npm install", "pnpm install", "yarn add x",
	"pip install x", "uv sync", "terraform plan", "terraform apply", "kubectl get pods", "kubectl describe pod x", "kubectl apply -f x", "brew install x", "apt-get install -y x", "cargo update", "bundle install", "composer install",
}

// FuzzInfra puts texts, and lines of the samples in any order, through the rules
// for git, packages and infrastructure: what comes out is not larger, and filtering
// it again changes nothing.
func FuzzInfra(f *testing.F) {
	pool := strings.Split(infraText, "\n")
	for _, s := range samples(f, "testdata/samples") {
		seg, _ := segment(s.cmd)
		for i, c := range infraCommands {
			if strings.Fields(seg + " x")[0] == strings.Fields(c)[0] {
				if len(s.output) < 4000 {
					f.Add(string(s.output), []byte(nil), uint8(i), int8(s.exit))
				}
				pool = append(pool, strings.Split(string(s.output[:min(len(s.output), 8000)]), "\n")...)
				break
			}
		}
	}
	for i := range infraCommands {
		f.Add(infraText, []byte{1, 2, 0, 4, 5, 6, 1, 8, 2, 10, 3, 12}, uint8(i), int8(i%2))
	}
	filter, warnings := New("")
	if len(warnings) > 0 {
		f.Fatal(warnings)
	}
	filter.scan = nil
	f.Fuzz(func(t *testing.T, text string, lines []byte, which uint8, exit int8) {
		var b strings.Builder
		b.WriteString(text)
		for len(lines) > 1 {
			b.WriteString("\n" + pool[(int(lines[0])<<8|int(lines[1]))%len(pool)])
			lines = lines[2:]
		}
		checkAgain(t, filter, infraCommands[int(which)%len(infraCommands)], int(exit), b.String())
	})
}

// checkAgain filters a text, and what comes out again.
func checkAgain(t *testing.T, f *Filter, command string, exit int, text string) {
	t.Helper()
	once, confidence := applied(t, f, command, exit, text)
	again, _ := applied(t, f, command, exit, once)
	if !utf8.ValidString(once) {
		t.Errorf("%s: no UTF-8: %q", command, once)
	}
	if again != once {
		t.Fatalf("%s, exit %d, %s: %s\n--- text\n%s\n--- once\n%s\n--- again\n%s", command, exit, confidence, firstDifference(once, again), text, once, again)
	}
}

// applied filters a text by the rules of a command.
func applied(t testing.TB, f *Filter, command string, exit int, text string) (string, Confidence) {
	t.Helper()
	o, err := f.Apply(command, exit, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	noPanic(t, o)
	got := textOf(t, o.Text)
	if o.Text.Size() > o.Full.Size() {
		t.Errorf("%s: %d bytes, from %d", command, o.Text.Size(), o.Full.Size())
	}
	return got, o.Confidence
}

// infraText has lines of which the tools' outputs are made.
const infraText = `On branch main
Changes to be committed:
	modified:   a/b.go
?? x
diff --git a/x b/x
--- a/x
+++ b/x
@@ -1,3 +1,3 @@ f
 a
-b
+c
 d
... (+1 -1, 2 lines omitted) ...
commit 0123456789012345678901234567890123456789
Author: A <a@example.test>
Date:   Thu Jan 1 22:57:48 2026 +0100

    Subject

 a.go | 3 ++-
#5 [1/2] RUN make
#5 0.5 gcc: error: x
#5 ERROR: process
#6 DONE 0.1s
------
 > [1/2] RUN make:
0.5 gcc: error: x
------
Step 1/2 : RUN x
 ---> 0123456789ab
y
Container a-1  Creating
Container a-1  Started
npm warn deprecated a@1: no
npm error code E404
Collecting x
error: y
  # a.b will be created
  + resource "a" "b" {
      + id = (known after apply)
      + n  = 1
    }
  # a.c will be destroyed
  - resource "a" "c" {
      - id = "x" -> null
    }
Plan: 1 to add.
NAME   READY   STATUS    RESTARTS   AGE
a      1/1     Running   0          1d
b      0/1     Error     3          1d
==> New Formulae
foo
==> Pouring a
test	Run make	2024-05-01T10:00:00.0000000Z ##[group]Run make
test	Run make	2024-05-01T10:00:01.0000000Z hidden
test	Run make	2024-05-01T10:00:02.0000000Z ##[error]x
... (2 deprecated: a, b) ...
... (3 lines omitted) ...
`
