package git

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/strategy/strategytest"
)

// fileDiff returns a diff of a new file of n lines.
func fileDiff(name string, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "diff --git a/%s b/%s\nnew file mode 100644\n--- /dev/null\n+++ b/%s\n@@ -0,0 +1,%d @@\n", name, name, name, n)
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "+line %d\n", i)
	}
	return b.String()
}

func TestGitDiff(t *testing.T) {
	const begin = "diff --git a/x.go b/x.go\n--- a/x.go\n+++ b/x.go\n"
	for name, tt := range map[string]struct {
		command, parameters string
		in, want            string
		confidence          strategy.Confidence
	}{
		"context": {"git diff", ``,
			"diff --git a/x.go b/x.go\nindex 1..2 100644\n--- a/x.go\n+++ b/x.go\n@@ -10,7 +10,7 @@ func a() {\n 1\n 2\n 3\n-4\n+5\n 6\n 7\n 8\n",
			begin + "@@ -12,3 +12,3 @@ func a() {\n 3\n-4\n+5\n 6\n", strategy.Full},
		"context, in the next function": {"git diff", ``,
			begin + "@@ -10,7 +10,7 @@ func a() {\n }\n \tx\n func b() {\n 1\n-4\n+5\n 6\n 8\n",
			begin + "@@ -13,3 +13,3 @@ func b() {\n 1\n-4\n+5\n 6\n", strategy.Full},
		"two changes": {"git diff", ``,
			begin + "@@ -10,9 +10,8 @@ f\n 1\n 2\n-3\n 4\n 5\n 6\n 7\n-8\n+9\n 10\n",
			begin + "@@ -11,3 +11,2 @@ f\n 2\n-3\n 4\n@@ -16,3 +15,3 @@ f\n 7\n-8\n+9\n 10\n", strategy.Full},
		"two changes, near": {"git diff", ``,
			begin + "@@ -10,8 +10,7 @@\n 1\n 2\n-3\n 4\n 5\n-8\n+9\n 10\n 11\n",
			begin + "@@ -11,6 +11,5 @@\n 2\n-3\n 4\n 5\n-8\n+9\n 10\n", strategy.Full},
		"context that was asked for": {"git diff -U3 x.go", ``,
			begin + "@@ -1,5 +1,5 @@\n 1\n 2\n-3\n+4\n 5\n 6\n", begin + "@@ -1,5 +1,5 @@\n 1\n 2\n-3\n+4\n 5\n 6\n", strategy.Full},
		"a hunk that is cut off": {"git diff", ``,
			begin + "@@ -1,9 +1,9 @@\n 1\n 2\n-3\n+4\n", begin + "@@ -1,9 +1,9 @@\n 1\n 2\n-3\n+4\n", strategy.Full},
		"blank lines without their sign": {"git diff", ``,
			begin + "@@ -1,5 +1,5 @@\n 1\n\n-3\n+4\n 5\n 6\n", begin + "@@ -2,3 +2,3 @@\n\n-3\n+4\n 5\n", strategy.Full},
		"a hunk without changes": {"git diff", ``,
			begin + "@@ -1,2 +1,2 @@\n 1\n 2\n", begin + "@@ -1,2 +1,2 @@\n 1\n 2\n", strategy.Full},
		"no end of file": {"git diff", ``,
			begin + "@@ -1,4 +1,4 @@\n 1\n 2\n-3\n+4\n 5\n\\ No newline at end of file\n",
			begin + "@@ -2,3 +2,3 @@\n 2\n-3\n+4\n 5\n\\ No newline at end of file\n", strategy.Full},
		"many lines": {"git diff", `max_diff_lines = 30`,
			fileDiff("big", 100) + fileDiff("small", 5),
			cutLines(fileDiff("big", 100), 4+24) + "... (+77 -0, 77 lines omitted) ...\n" + fileDiff("small", 5), strategy.Partial},
		"many files": {"git diff", `max_diff_lines = 20`,
			fileDiff("a", 9) + fileDiff("b", 9) + fileDiff("c", 9),
			fileDiff("a", 9) + fileDiff("b", 9) + "diff --git a/c b/c\nnew file mode 100644\n@@ -0,0 +1,9 @@\n... (+9 -0, 9 lines omitted) ...\n", strategy.Partial},
		"hunks of a long file": {"git diff", `max_diff_lines = 20`,
			fileDiff("a", 19) + begin + "@@ -1,9 +1,9 @@ f\n-1\n-func longer() {\n-2\n-3\n-4\n-5\n-6\n-7\n-8\n-9\n@@ -50 +50 @@ g\n+}\n@@ -70 +71 @@ h\n+var much = 1\n",
			cutLines(fileDiff("a", 19), 5+9) + "... (+10 -0, 10 lines omitted) ...\n" + begin +
				"@@ -1,9 +1,9 @@ f\n-1\n-func longer() {\n-2\n-3\n-4\n... (+0 -5, 5 lines omitted) ...\n" +
				"@@ -50 +50 @@ g\n+}\n@@ -70 +71 @@ h\n+var much = 1\n", strategy.Partial},
		"generated": {"git diff", ``,
			fileDiff("web/package-lock.json", 20) + fileDiff("go.sum", 2),
			"diff --git a/web/package-lock.json b/web/package-lock.json\nnew file mode 100644\n... (+20 -0, 21 lines omitted) ...\n" + fileDiff("go.sum", 2),
			strategy.Partial},
		"generated, and asked for": {"git diff -- package-lock.json", ``, fileDiff("package-lock.json", 20), fileDiff("package-lock.json", 20), strategy.Full},
		"binary patch": {"git diff --binary", ``,
			"diff --git a/b b/b\nindex 1..2 100644\nGIT binary patch\nliteral 3\nKcmZQz\n\nliteral 2\nJcmZ\n\ndiff --git a/c b/c\nold mode 100644\nnew mode 100755\n",
			"diff --git a/b b/b\nGIT binary patch\n\n... (4 lines omitted) ...\ndiff --git a/c b/c\nold mode 100644\nnew mode 100755\n", strategy.Full},
		"conflict": {"git diff", ``,
			"diff --cc x\nindex 1,2..0\n--- a/x\n+++ b/x\n@@@ -1,2 -1,2 +1,6 @@@\n  a\n++<<<<<<< HEAD\n +b\n++=======\n+ c\n++>>>>>>> x\n",
			"diff --cc x\n--- a/x\n+++ b/x\n@@@ -1,2 -1,2 +1,6 @@@\n  a\n++<<<<<<< HEAD\n +b\n++=======\n+ c\n++>>>>>>> x\n", strategy.Full},
		"statistics": {"git diff --stat", ``,
			" a/long/name.go |  12 ++++++++----\n b              | Bin 0 -> 12 bytes\n 2 files changed, 8 insertions(+), 4 deletions(-)\n",
			" a/long/name.go | 12 +-\n b | Bin 0 -> 12 bytes\n 2 files changed, 8 insertions(+), 4 deletions(-)\n", strategy.Full},
		"names":   {"git diff --name-only", ``, "a.go\nb.go\n", "a.go\nb.go\n", strategy.Fallback},
		"no diff": {"git diff", ``, "fatal: not a git repository\n", "fatal: not a git repository\n", strategy.Fallback},
		"with a word": {"git diff", ``, "warning: LF will be replaced by CRLF in x.go\n" + begin + "@@ -1 +1 @@\n-a\n+b\n",
			"warning: LF will be replaced by CRLF in x.go\n" + begin + "@@ -1 +1 @@\n-a\n+b\n", strategy.Full},
	} {
		t.Run(name, func(t *testing.T) {
			s := strategytest.Make(t, Strategies["git_diff"], tt.parameters)
			run := strategy.Run{Command: tt.command}
			got, confidence := strategytest.Filter(t, s, run, tt.in)
			if got != tt.want || confidence != tt.confidence {
				t.Errorf("%s:\n%s\nwant %s:\n%s", confidence, got, tt.confidence, tt.want)
			}
			if again, _ := strategytest.Filter(t, s, run, got); again != got {
				t.Errorf("again:\n%s\nwant:\n%s", again, got)
			}
		})
	}
}

// cutLines returns the first n lines.
func cutLines(s string, n int) string {
	return strings.Join(strings.SplitAfter(s, "\n")[:n], "")
}

// A line of thousands of bytes is not code.
func TestGitDiffLongLine(t *testing.T) {
	s := strategytest.Make(t, Strategies["git_diff"], ``)
	in := "diff --git a/x b/x\n@@ -0,0 +1 @@\n+" + strings.Repeat("é", 5000) + "\n"
	got, _ := strategytest.Filter(t, s, strategy.Run{}, in)
	if len(got) > maxDiffLine+100 || !strings.Contains(got, "bytes omitted) ...\n") {
		t.Errorf("the diff of a long line has %d bytes, want at most %d and a note: %.200s", len(got), maxDiffLine+100, got)
	}
	if again, _ := strategytest.Filter(t, s, strategy.Run{}, got); again != got {
		t.Error("again it is another")
	}
}
