package git

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/strategy/strategytest"
)

// longCommit returns commit n of a log in git's own format.
func longCommit(n int) string {
	return fmt.Sprintf("commit %040x\nAuthor: Ada Lovelace <ada@example.test>\nDate:   Thu Jan 1 22:57:48 2026 +0100\n\n    Subject %d\n\n    Body of %d.\n\n",
		0xabc0000+n, n, n)
}

func longCommits(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(longCommit(i))
	}
	return b.String()
}

func TestGitLog(t *testing.T) {
	line := func(i int) string {
		return fmt.Sprintf("%.12s 2026-01-01 Ada Lovelace: Subject %d\n", fmt.Sprintf("%040x", 0xabc0000+i), i)
	}
	bodies := func(from, to int) (all string) {
		for i := from; i < to; i++ {
			all += fmt.Sprintf("%s    Body of %d.\n", line(i), i)
		}
		return all
	}
	essay := strings.Replace(longCommit(9), "    Body of 9.\n",
		strings.Repeat("    "+strings.Repeat("word ", 9)+"word\n", 81)+"    Refs: 4711\n    See CVE-2026-1234.\n", 1)
	late := ""
	for i := range 9 {
		late += fmt.Sprintf("000000000000 Subject %d\n", i+1)
	}
	long := strings.Repeat(" word", 20)
	raw := fmt.Sprintf("commit %040x\ntree %040x\nauthor A <a@example.test> 1 +0000\n\n    Subject\n", 1, 2)
	for name, tt := range map[string]struct {
		command, parameters string
		in, want            string
		confidence          strategy.Confidence
	}{
		"few":            {"git log -2", ``, longCommits(2), line(0) + "\n    Body of 0.\n\n" + line(1) + "\n    Body of 1.\n", strategy.Full},
		"short messages": {"git log", ``, longCommits(4), bodies(0, 4), strategy.Full},
		"some": {"git log", ``, longCommits(4) + essay, line(0) + line(1) + line(2) + line(3) + line(9) + "    Refs: 4711\n    See CVE-2026-1234.\n" +
			"... (85 lines of commit messages omitted) ...\n", strategy.Full},
		"asked for few": {"git log -n 5", ``, longCommits(4) + essay, bodies(0, 4) + line(9) + strings.Repeat("    "+strings.Repeat("word ", 9)+"word\n", 81) +
			"    Refs: 4711\n    See CVE-2026-1234.\n", strategy.Full},
		"many": {"git log", `max_commits = 5`, longCommits(7),
			bodies(0, 5) + "000000000000 Subject 5\n000000000000 Subject 6\n", strategy.Full},
		"very many": {"git log", `max_commits = 1`, longCommits(12), bodies(0, 1) + late + "... (2 commits omitted) ...\n",
			strategy.Partial},
		"merge and names": {"git log -1", ``,
			"commit 0123456789012345678901234567890123456789 (HEAD -> main, tag: v1)\nMerge: 1234567 89abcde\nAuthor: A <a@example.test>\nDate:   3 days ago\n\n    " +
				"Merge branch 'x'\n",
			"012345678901 3 days ago A (merge of 1234567 89abcde) (HEAD -> main, tag: v1): Merge branch 'x'\n", strategy.Full},
		"statistics": {"git log --stat", `max_bodies = 0`,
			longCommit(1) + " a.go     |  9 ++++++---\n 1 file changed, 6 insertions(+), 3 deletions(-)\n\n" + longCommit(2) +
				" b.go | 1 +\n 1 file changed, 1 insertion(+)\n",
			line(1) + " a.go | 9 +-\n 1 file changed, 6 insertions(+), 3 deletions(-)\n\n" + line(2) +
				" b.go | 1 +\n 1 file changed, 1 insertion(+)\n... (2 lines of commit messages omitted) ...\n", strategy.Full},
		"no message": {"git log", `max_bodies = 0`,
			"commit 0123456789012345678901234567890123456789\nAuthor: A <a@example.test>\nDate:   Thu Jan 1 22:57:48 2026 +0100\n\n a.go | 1 +\n\n" + longCommit(2),
			"012345678901 2026-01-01 A\n a.go | 1 +\n\n" + line(2) + "... (1 line of commit messages omitted) ...\n", strategy.Full},
		"patch": {"git show", ``,
			longCommit(1) + "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,5 +1,5 @@\n 1\n 2\n-3\n+4\n 5\n 6\n",
			line(1) + "\n    Body of 1.\n\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -2,3 +2,3 @@\n 2\n-3\n+4\n 5\n", strategy.Full},
		"oneline": {"git log --oneline", ``, "abcdef1 A\n1234567 (HEAD) B\n", "abcdef1 A\n1234567 (HEAD) B\n", strategy.Full},
		"oneline, many": {"git log --oneline", `max_commits = 1`, "abcdef1 A" + long + "\n1234567 B" + long + strings.Repeat("\n1234567 C", 10) + "\n",
			"abcdef1 A" + long + "\n1234567 B" + long[:51] + " …" + strings.Repeat("\n1234567 C", 8) + "\n... (2 commits omitted) ...\n", strategy.Partial},
		"raw": {"git log --format=raw", ``, raw, raw, strategy.Full},
		"oneline graph": {"git log --graph --oneline", ``, "* abcdef1 A\n|\\\n| * 1234567 B\n|/\n* abcdef2 C\n",
			"* abcdef1 A\n|\\\n| * 1234567 B\n|/\n* abcdef2 C\n", strategy.Full},
		"patches and notes in a graph": {"git log --graph -p", `max_bodies = 0`, "" +
			"*   commit 0123456789012345678901234567890123456789\n|\\  Merge: 1234567 89abcde\n| | Author: A <a@b.c>\n" +
			"| | Date:   Thu Jan 1 22:57:48 2026 +0100\n| | \n| |     Merge x\n| | \n" +
			"| * commit 1123456789012345678901234567890123456789\n|/  Author: A <a@b.c>\n|   Date:   Thu Jan 1 22:57:48 2026 +0100\n|   \n" +
			"|       Change x\n|       \n|       A body.\n|   \n|   Notes:\n|       perf: 3 ms\n|   \n|   diff --git a/x b/x\n|   index 1..2 100644\n" +
			"|   --- a/x\n|   +++ b/x\n|   @@ -1,5 +1,5 @@\n|    1\n|    \n|   -\n|   +*\n|    5\n|    6\n|   \n",
			"* 012345678901 2026-01-01 A (merge of 1234567 89abcde): Merge x\n|\\\n| * 112345678901 2026-01-01 A: Change x\n|/\n" +
				"Notes:\n    perf: 3 ms\n\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -2,3 +2,3 @@\n\n-\n+*\n 5\n\n" +
				"... (1 line of commit messages omitted) ...\n", strategy.Full},
		"own format": {"git log --format=%s", ``, "Fix it\nBreak it\n", "Fix it\nBreak it\n", strategy.Fallback},
		"a file": {"git show HEAD:x.patch", ``, "diff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n 1\n-2\n+3\n 4\n",
			"diff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n 1\n-2\n+3\n 4\n", strategy.Fallback},
		"failed": {"git log x", ``, "fatal: ambiguous argument 'x'\n", "fatal: ambiguous argument 'x'\n", strategy.Fallback},
	} {
		t.Run(name, func(t *testing.T) {
			s := strategytest.Make(t, Strategies["git_log"], tt.parameters)
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
