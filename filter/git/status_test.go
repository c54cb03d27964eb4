package git

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/strategy/strategytest"
)

func TestGitStatus(t *testing.T) {
	many := func(prefix string, dirs, files int) string {
		var b strings.Builder
		for d := range dirs {
			for f := range files {
				fmt.Fprintf(&b, "%sgen/d%d/f%d.txt\n", prefix, d, f)
			}
		}
		return b.String()
	}
	for name, tt := range map[string]struct {
		parameters string
		in, want   string
		confidence strategy.Confidence
	}{
		"clean": {``, "On branch main\nnothing to commit, working tree clean\n", "On branch main\nnothing to commit, working tree clean\n", strategy.Full},
		"hints": {``,
			"On branch main\nYour branch is behind 'origin/main' by 2 commits, and can be fast-forwarded.\n  (use \"git pull\" to update your local branch)\n\n" +
				"Changes not staged for commit:\n  (use \"git add <file>...\" to update what will be committed)\n  (use \"git restore <file>...\" to discard changes " +
				"in working directory)\n  (commit or discard the untracked or modified content in submodules)\n\tmodified:   a.go\n\tmodified:   sub (modified " +
				"content, untracked content)\n\nno changes added to commit (use \"git add\" and/or \"git commit -a\")\n",
			"On branch main\nYour branch is behind 'origin/main' by 2 commits, and can be fast-forwarded.\n\nChanges not staged for commit:\n\tmodified:   a.go\n" +
				"\tmodified:   sub (modified content, untracked content)\nno changes added to commit\n", strategy.Full},
		"many untracked": {`max_untracked = 10`,
			"On branch main\n\nUntracked files:\n  (use \"git add <file>...\" to include in what will be committed)\n" + many("\t", 3,
				6) + "\ttop.txt\n\nnothing added to commit but untracked files present (use \"git add\" to track)\n",
			"On branch main\n\nUntracked files:\n\tgen/d0/ (6 files)\n\tgen/d1/ (6 files)\n\tgen/d2/ (6 files)\n\ttop.txt\nnothing added to commit but untracked " +
				"files present\n", strategy.Full},
		"many directories": {`max_changed = 10`,
			"On branch main\nChanges to be committed:\n" + many("\tmodified:   ", 20, 1),
			"On branch main\nChanges to be committed:\n\tmodified:   gen/ (20 files)\n", strategy.Full},
		"conflicts stay": {`max_changed = 3`,
			"On branch main\nUnmerged paths:\n" + many("\tboth modified:   ", 1, 6), "On branch main\nUnmerged paths:\n" + many("\tboth modified:   ", 1, 6),
			strategy.Full},
		"short": {`max_untracked = 5`,
			"## main...origin/main [ahead 1]\nUU c\n M a.go\nR  old -> new\n" + many("?? ", 1, 9),
			"## main...origin/main [ahead 1]\nUU c\n M a.go\nR  old -> new\n?? gen/d0/ (9 files)\n", strategy.Full},
		"for programs": {``,
			"# branch.oid 1\n# branch.head main\n1 .M N... 100644 100644 100644 8500ef61d300530c2b9d55a4b28300eb2d210797 8500ef61d300530c2b9d55a4b28300eb2d210797 a " +
				"b.go\n1 .M N... 100644 100644 100755 8500ef61d300530c2b9d55a4b28300eb2d210797 8500ef61d300530c2b9d55a4b28300eb2d210797 run.sh\n? new\n",
			"# branch.oid 1\n# branch.head main\n1 .M a b.go\n1 .M N... 100644 100644 100755 8500ef61d300530c2b9d55a4b28300eb2d210797 " +
				"8500ef61d300530c2b9d55a4b28300eb2d210797 run.sh\n? new\n", strategy.Full},
		"another language": {``, "Auf Branch main\nÄnderungen, die nicht zum Commit vorgemerkt sind:\n\tgeändert:       a.go\n",
			"Auf Branch main\nÄnderungen, die nicht zum Commit vorgemerkt sind:\n\tgeändert:       a.go\n", strategy.Fallback},
		"no repository": {``, "fatal: not a git repository\n", "fatal: not a git repository\n", strategy.Fallback},
		"what else is written": {``,
			"warning: could not open directory 'x/': Permission denied\nOn branch main\nUntracked files:\n\ta\n\nafter\n",
			"warning: could not open directory 'x/': Permission denied\nOn branch main\nUntracked files:\n\ta\nafter\n", strategy.Full},
	} {
		t.Run(name, func(t *testing.T) {
			s := strategytest.Make(t, Strategies["git_status"], tt.parameters)
			got, confidence := strategytest.Filter(t, s, strategy.Run{Command: "git status"}, tt.in)
			if got != tt.want || confidence != tt.confidence {
				t.Errorf("%s:\n%s\nwant %s:\n%s", confidence, got, tt.confidence, tt.want)
			}
			if again, _ := strategytest.Filter(t, s, strategy.Run{Command: "git status"}, got); again != got {
				t.Errorf("again:\n%s\nwant:\n%s", again, got)
			}
		})
	}
}

// Files beyond the limit are counted by directory at once.
func TestGitStatusHuge(t *testing.T) {
	var b strings.Builder
	b.WriteString("On branch main\nUntracked files:\n")
	for i := range 300_000 {
		fmt.Fprintf(&b, "\tout/d%d/f%d.txt\n", i%3, i)
	}
	got, confidence := strategytest.Filter(t, strategytest.Make(t, Strategies["git_status"], ``), strategy.Run{}, b.String())
	want := "On branch main\nUntracked files:\n\tout/d0/ (100000 files)\n\tout/d1/ (100000 files)\n\tout/d2/ (100000 files)\n"
	if got != want || confidence != strategy.Full {
		t.Errorf("%s: got %.500s\nwant %s: %.500s", confidence, got, strategy.Full, want)
	}
}

func TestGitParameters(t *testing.T) {
	for kind, tt := range map[string]map[string]string{
		"git_status": {`max_changed = 0`: "max_changed", `max = 1`: `unknown key "max"`},
		"git_diff":   {`max_diff_lines = 0`: "max_diff_lines", `context = -1`: "context", `generated = ["["]`: "generated"},
		"git_log":    {`max_commits = 0`: "max_commits", `max_bodies = -1`: "max_bodies"},
	} {
		for parameters, want := range tt {
			if _, err := strategytest.Build(Strategies[kind], parameters); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s %s: %v, want %q", kind, parameters, err, want)
			}
		}
	}
}
