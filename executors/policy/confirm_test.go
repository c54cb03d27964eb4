package policy

import "testing"

// An allow rule covers a destructive command only if it names the dangerous
// option. An "always" covers only the exact command.
func TestConfirmations(t *testing.T) {
	for _, tt := range []struct{ pattern, script, want string }{
		{"git *", "git commit -m x", "allow"}, {"git *", "git push", "allow"}, {"git *", "git push --force", "ask"}, {"git *", "git push -f origin x", "ask"}, {"git *", "git push -uf origin x", "ask"},
		{"git *", "git -C . push --force", "ask"}, {"git *", "git push --force-with-lease=x", "ask"}, {"git *", "git push --forc", "ask"}, {"git *", "git push origin +main", "ask"}, {"git *", "git push origin :x", "ask"}, {"git *", "git push origin a:b", "allow"},
		{"git push*", "git push --force", "ask"}, {"git push --force*", "git push --force x", "allow"}, {"git push --force*", "git push --force-with-lease x", "allow"}, {"git push -f *", "git push -f x", "allow"},
		{"git *", "git reset --hard", "ask"}, {"git *", "git reset HEAD~1", "allow"}, {"git reset --hard*", "git reset --hard HEAD", "allow"}, {"git *", "git clean -n", "ask"}, {"git clean*", "git clean -fdx", "allow"}, {"git *", "git checkout main", "allow"}, {"git *", "git checkout -- .", "ask"}, {"git *", "git checkout .", "ask"},
		{"git *", "git branch x", "allow"}, {"git *", "git branch -D x", "ask"}, {"git *", "git stash drop", "ask"}, {"git *", "git stash pop", "allow"},
		{"*", "rm x", "ask"}, {"rm *", "rm x", "allow"}, {"rm*", "rm -rf build", "allow"}, {"*", "make && rm x", "ask"}, {"r*", "rm x", "ask"}, {"*", "timeout 5 rm x", "ask"}, {"*", "bash -c 'rm x'", "ask"}, {"rm x", "rm x", "allow"}, {"/bin/rm *", "/bin/rm x", "allow"},
		{"npm *", "npm publish", "ask"}, {"npm *", "npm test", "allow"}, {"npm publish*", "npm publish --tag x", "allow"}, {"kubectl *", "kubectl -n x delete pod y", "ask"}, {"kubectl *", "kubectl logs x", "allow"},
		{"psql *", "psql -c 'drop table x'", "ask"}, {"psql *", "psql -c 'DROP  TABLE x'", "ask"}, {"psql *", "psql <<< 'truncate x'", "ask"}, {"psql *", "echo 'drop table x' | psql", "ask"}, {"psql *", "psql -c 'select 1'", "allow"}, {"grep *", "grep -r 'drop table' .", "allow"}, {"git *", "git commit -m 'drop table x'", "allow"},
	} {
		s := newSetup()
		s.cfg.Permissions = map[string][]Rule{"bash": {{Pattern: tt.pattern, Action: Allow}}}
		if got := judged(t, s.build(), tt.script); got != tt.want {
			t.Errorf("rule %q: %q: %s, want %s", tt.pattern, tt.script, got, tt.want)
		}
	}
	for script, want := range map[string]string{"git push --force origin a": "allow", "git push --force origin b": "ask", "git push origin a": "ask"} {
		s := newSetup().build()
		s.user.give = []string{allowAlways}
		judged(t, s, "git push --force origin a")
		if got := judged(t, s, script); got != want {
			t.Errorf("after an always: %q: %s, want %s", script, got, want)
		}
	}
}
