package filter

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/strategy/strategytest"
)

// infraCommands are commands of the rules for git, packages and infrastructure.
var infraCommands = []string{
	"git status", "git diff", "git log", "git show", "git push", "git commit", "git pull", "gh run view --log-failed", "docker build .", "docker compose up -d",
	"docker pull x", "npm install", "pnpm install", "yarn add x",
	"pip install x", "uv sync", "terraform plan", "terraform apply", "kubectl get pods", "kubectl describe pod x", "kubectl apply -f x", "brew install x",
	"apt-get install -y x", "cargo update", "bundle install", "composer install",
	"docker compose up", "git blame x", "helm list", "rsync -a a b", "gh api x", "kubectl get pods -o json", "gh pr checks", "pip list",
}

// FuzzInfra filters texts mixed with lines of the samples through the rules for
// git, packages and infrastructure. The result is not larger, and filtering it
// again changes nothing.
func FuzzInfra(f *testing.F) {
	pool := strings.Split(infraText, "\n")
	for _, s := range samples(f, "testdata/samples") {
		seg := command.OutputsOf(s.cmd).Command
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
	filter := builtin(f)
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

// TestInfraKeeps hides lines that matter among many others.
func TestInfraKeeps(t *testing.T) {
	many := func(n int, format string, middle string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
			if i == n/2 {
				b.WriteString(middle)
			}
		}
		return b.String()
	}
	trace := "api-1  | Traceback (most recent call last):\napi-1  |   File \"/app/a.py\", line 8, in run\napi-1  |     return f(x)\napi-1  |   File " +
		"\"/app/b.py\", line 17, in f\napi-1  |     y = 1 / x\napi-1  | ZeroDivisionError: division by zero\n"
	jest := "#9 1.0 FAIL src/cart.test.js\n#9 1.0   ● cart › adds tax\n#9 1.0 \n#9 1.0     expect(received).toBe(expected)\n#9 1.0 \n#9 1.0     Expected: " +
		"119\n#9 1.0     Received: 100\n#9 1.0 \n#9 1.0   ● cart › is empty\n#9 1.0 \n#9 1.0     expect(received).toHaveLength(expected)\n#9 1.0 \n#9 1.0    " +
		" Expected length: 0\n#9 1.0     Received length: 1\n"
	pods := `{"items": [` + strings.TrimSuffix(many(90,
		`{"metadata": {"name": "api-%d", "labels": {"app": "api", "tier": "web"}}, "spec": {"env": [{"name": "A"}, {"name": "B"}]}, "status": {"phase": "Running"}},`, `{"metadata": {"name": "bad", "labels": {"app": "api", "tier": "web"}}, "spec": {"env": [`+strings.TrimSuffix(strings.Repeat(`{"name": "E"},`, 30), ",")+`]}, "status": {"phase": "Failed"}},`), ",") + "]}\n"
	for name, tt := range map[string]struct {
		command string
		exit    int
		in      string
		want    []string // lines that stay; empty means all
		atMost  int      // bytes
	}{
		"manifest": {"kubectl get deploy -A -o yaml", 0, many(900, "  - name: VAR_%d\n", ""), nil, 0},
		"chart":    {"helm template x .", 0, many(900, "  key: value %d\n", ""), nil, 0},
		"packages": {"apt list --installed", 0, many(900, "lib%d/stable 1.0 amd64 [installed]\n", ""),
			[]string{"with it: /stable, amd64, [installed])\nlib0 1.0\n", "lib899 1.0\n"}, 9900},
		"tags":     {"git tag -l", 0, many(900, "v1.%d\n", ""), nil, 0},
		"branches": {"git branch -a", 0, many(900, "  remotes/origin/b%d\n", ""), nil, 0},
		"issue":    {"gh issue view 7 --comments", 0, many(900, "a sentence, the %dth\n", ""), nil, 0},
		"attached": {"docker compose up", 1,
			" Container a-1  Created\nAttaching to api-1\n" + many(900, "api-1  | GET /orders/%d 200\n", trace+"worker-1 exited with code 137\n"),
			[]string{"line 8, in run", "line 17, in f", "y = 1 / x", "ZeroDivisionError", "exited with code 137", "GET /orders/899"}, 1000},
		"tests in a step": {"docker build --progress=plain .", 1,
			"#9 [4/5] RUN npm test\n" + many(200, "#9 1.0 PASS src/a%d.test.js\n",
				jest) + "#9 ERROR: process \"/bin/sh -c npm test\" did not complete successfully: exit code: 1\n",
			[]string{"● cart › adds tax", "Expected: 119", "Received: 100", "● cart › is empty", "Expected length: 0", "Received length: 1", "exit code: 1"},
			3000},
		"tests, cut off": {"docker build --progress=plain . 2>&1 | tail -300", 1,
			many(200, "#9 1.0 PASS src/a%d.test.js\n", jest) + "#9 ERROR: process \"/bin/sh -c npm test\" did not complete successfully: exit code: 1\n",
			[]string{"● cart › adds tax", "Expected: 119", "Received: 100", "● cart › is empty", "Expected length: 0", "Received length: 1", "exit code: 1"},
			3000},
		"helm's table": {"helm list -A", 0,
			"NAME\tNAMESPACE\tREVISION\tSTATUS  \tCHART\n" + many(90, "svc-%d\tprod     \t7       \tdeployed\tsvc-1.0.0\n",
				"bad\tprod     \t7       \tpending-upgrade\tbad-2.0.0\n"), []string{"bad  prod  7  pending-upgrade  bad-2.0.0", "svc-0"}, 2000},
		"events": {"kubectl get events", 0,
			"LAST SEEN   TYPE     REASON   OBJECT   MESSAGE\n" + many(200, "5m   Normal   Pulled   pod/a-%d   Image pulled\n",
				"4m   Normal   NodeNotReady   node/b   Node b status is now: NodeNotReady\n"),
			[]string{"node/b  Node b status is now: NodeNotReady", "179 more Normal Pulled: pod/a-21"}, 2000},
		"nodes": {"kubectl get nodes", 0,
			"NAME   STATUS   ROLES   AGE   VERSION\n" + many(200, "n-%d   Ready   <none>   5d   v1.29.2\n", "old   Ready   <none>   5d   v1.28.1\n"),
			[]string{"1 more Ready v1.28.1: old"}, 2000},
		"containers": {"docker ps -a", 0,
			"CONTAINER ID   IMAGE   STATUS   NAMES\n" + many(200, "%012x   img   Up 3 weeks   web\n",
				"0123456789ab   img   Exited (137) 4 hours ago   bad\n0123456789ac   img   Up 3 weeks (unhealthy)   sick\n"),
			[]string{"Exited (137) 4 hours ago", "(unhealthy)  sick"}, 4000},
		"pods in JSON": {"kubectl get pods -o json", 0, pods,
			[]string{`"name": "bad"`, `"phase": "Failed"`, strings.TrimSuffix(strings.Repeat(`{"name": "E"},`, 30), ","), "api-0", "similar items omitted"}, 2000},
		"checks": {"gh pr checks 7", 1, many(60, "job-%d\tpass\t1m\thttps://example.test/1\t\n", "build (windows)\tfail\t3m\thttps://example.test/9\t\n"),
			[]string{"build (windows)\tfail\t3m\thttps://example.test/9", "60 pass: job-0, job-1"}, 800},
		"copies": {"rsync -av a/ b/", 23,
			"sending incremental file list\n" + many(300, "dir/file%d.txt\n",
				"rsync: [sender] send_files failed to open \"/a/key\": Permission denied (13)\n") +
				"\nsent 1 bytes  received 2 bytes\nrsync error: some files/attrs were not transferred (code 23)\n",
			[]string{"Permission denied (13)", "dir/file0.txt", "270 more files", "sent 1 bytes", "(code 23)"}, 3000},
		"verbose copies": {"cp -rv a b", 1, many(300, "'a/f%d' -> 'b/f%[1]d'\n", "cp: cannot open 'a/key' for reading: Permission denied\n"),
			[]string{"'a/f0' -> 'b/f0'", "cp: cannot open 'a/key'", "280 more copied: a/f20"}, 1500},
		"verbose removal": {"rm -rfv a", 0, many(300, "removed 'a/f%d'\n", ""), []string{"removed 'a/f0'", "280 more removed: a/f20"}, 1500},
		"an archive": {"zip -r a.zip a", 18, many(300, "  adding: a/f%d (deflated 23%%)\n", "zip warning: could not open for reading: a/key\n"),
			[]string{"adding: a/f0 (deflated 23%)", "zip warning: could not open", "280 more added: a/f20"}, 1500},
		"itemized copies": {"rsync -ai a/ b/", 0, many(300, ">f+++++++++ f%d.txt\n", "*deleting   old.txt\n"),
			[]string{">f+++++++++ f0.txt", "old.txt", "270 more files: f30.txt"}, 2000},
		"added files": {"git add -v .", 0, many(300, "add 'f%d.txt'\n", "warning: LF will be replaced by CRLF in x\n"),
			[]string{"add 'f0.txt'", "warning: LF", "280 more files added or removed: f20.txt"}, 2000},
		"downloads": {"wget -r http://x.test", 8,
			many(60, "--2026-11-21 03:12:01--  http://x.test/f%d\nHTTP request sent, awaiting response... 200 OK\nLength: 3 [text/plain]\nSaving to: ‘f%[1]d’\n"+
				"\n     0K ..    100%%  312M=0s\n\n2026-11-21 03:12:02 (312 MB/s) - ‘f%[1]d’ saved [3/3]\n\n",
				"--2026-11-21 03:12:01--  http://x.test/gone\nHTTP request sent, awaiting response... 404 Not Found\n2026-11-21 03:12:02 ERROR 404: Not Found.\n\n") +
				"Downloaded: 60 files, 180 in 0s (1 MB/s)\n",
			[]string{"saved [3/3]", "http://x.test/gone", "404 Not Found", "52 more files saved", "Downloaded: 60 files"}, 2500},
		"broken archive": {"unzip a.zip", 2,
			"Archive:  a.zip\n" + many(300, "  inflating: dir/file%d.txt  \n",
				"  inflating: dir/bad.bin             bad CRC 3e8e3e0a  (should be 12345678)\n  error:  invalid compressed data to inflate dir/b\n"),
			[]string{"bad.bin             bad CRC", "file0.txt", "280 more extracted"}, 2000},
		"deleted": {"aws s3 sync dist s3://b --delete", 0, many(300, "upload: dist/%d.js to s3://b/%[1]d.js\n", "delete: s3://b/old.js\n"),
			[]string{"delete: s3://b/old.js", "280 more copied"}, 2500},
		"log last": {"make -k ; cat app.log", 0,
			many(90, "src/f%d.c:2:1: warning: unused\n", "") + many(90, "2026-01-02T03:04:05 worker %d is ready\n", ""),
			[]string{"src/f7.c:2:1", "src/f77.c:2:1", "worker 0 is ready"}, 5000},
		"rows first": {"./report ; npm install", 0, many(500, "row %d of the report\n", "") + "npm notice\nadded 3 packages in 1s\n",
			[]string{"row 250 of the report", "added 3 packages"}, 12000},
		"JSON last":      {"git status -sb ; curl -s x", 0, "## main\n" + pods, []string{"## main", `"name": "bad"`, "similar items omitted"}, 3000},
		"archive's text": {"unzip -p a.zip numbers.txt", 0, many(300, "dir/%d\n", "1.5\n"), nil, 0},
		"audit in JSON": {"npm audit --json", 1,
			`{"vulnerabilities": {` + "\n" + many(120,
				"\"p%d\": {\n\"severity\": \"low\",\n\"a\": 1,\n\"b\": 2,\n\"range\": \"<%[1]d\",\n\"effects\": [\n\"a-%[1]d\"\n]},\n",
				"") + "\"bad\": {\n\"severity\": \"critical\"},\n" + strings.TrimSuffix(many(9,
				"\"q%d\": {\n\"severity\": \"low\",\n\"range\": \"\",\n\"effects\": []},\n", ""), ",\n") + "}}\n",
			[]string{"\"bad\": {\n\"severity\": \"critical\"", "\"p50\"", "similar items omitted"}, 6000},
		"blame": {"git blame a.go", 0,
			many(60, "1a2b3c4d (Ada (x) 2026-01-02 03:04:05 +0000 %d) code (y 7)\n", "2a2b3c4d a.go (Bob 2026-01-02 03:04:05 +0000 31) fix\n"),
			[]string{"1a2b3c4d (Ada (x) 2026-01-02 03:04:05 +0000 0) code (y 7)\n1) code (y 7)\n",
				"2a2b3c4d a.go (Bob 2026-01-02 03:04:05 +0000 31) fix\n1a2b3c4d (Ada (x)"}, 2000},
	} {
		t.Run(name, func(t *testing.T) {
			f := builtin(t)
			f.scan = nil
			got, _ := applied(t, f, tt.command, tt.exit, tt.in)
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
			if len(tt.want) == 0 && got != tt.in || len(tt.want) > 0 && len(got) > tt.atMost {
				t.Errorf("%d bytes of %d, want at most %d (0: all of them):\n%s", len(got), len(tt.in), tt.atMost, got)
			}
			checkAgain(t, f, tt.command, tt.exit, tt.in)
		})
	}
}

// checkAgain filters a text and the result.
func checkAgain(t *testing.T, f *Filter, command string, exit int, text string) {
	t.Helper()
	once, confidence := applied(t, f, command, exit, text)
	again, _ := applied(t, f, command, exit, once)
	if !utf8.ValidString(once) {
		t.Errorf("%s: no UTF-8: %q", command, once)
	}
	if again != once {
		t.Fatalf("%s, exit %d, %s: %s\n--- text\n%s\n--- once\n%s\n--- again\n%s", command, exit, confidence, strategytest.Difference(once, again), text, once, again)
	}
}

// applied filters a text by the rules of a command.
func applied(t testing.TB, f *Filter, command string, exit int, text string) (string, strategy.Confidence) {
	t.Helper()
	o, err := f.Apply(command, exit, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	noPanic(t, o)
	got := strategytest.Text(t, o.Text)
	if o.Text.Size() > o.Full.Size() {
		t.Errorf("%s: the result has %d bytes, more than the text with %d", command, o.Text.Size(), o.Full.Size())
	}
	return got, o.Confidence
}

// infraText returns text with typical lines of the tools.
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
