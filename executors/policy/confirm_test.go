package policy

import "testing"

// An allow rule covers a destructive command only if it names the dangerous
// option. An "always" covers only the exact command.
func TestConfirmations(t *testing.T) {
	for _, tt := range []struct{ pattern, script, want string }{
		{"git *", "git commit -m x", "allow"}, {"git *", "git push", "allow"}, {"git *", "git push --force", "ask"}, {"git *", "git push -f origin x", "ask"}, {"git *", "git push -uf origin x", "ask"},
		{"git *", "git -C . push --force", "ask"}, {"git *", "git push --force-with-lease=x", "ask"}, {"git *", "git push --forc", "ask"}, {"git *", "git push origin +main", "ask"}, {"git *", "git push origin :x", "ask"}, {"git *", "git push origin a:b", "allow"}, {"git *", "git push -", "allow"},
		{"git push*", "git push --force", "ask"}, {"git push --force*", "git push --force x", "allow"}, {"git push --force*", "git push --force-with-lease x", "allow"}, {"git push -f *", "git push -f x", "allow"},
		{"git *", "git reset --hard", "ask"}, {"git *", "git reset HEAD~1", "allow"}, {"git reset --hard*", "git reset --hard HEAD", "allow"}, {"git *", "git clean -n", "ask"}, {"git clean*", "git clean -fdx", "allow"}, {"git *", "git checkout main", "allow"}, {"git *", "git checkout -- .", "ask"}, {"git *", "git checkout .", "ask"},
		{"git *", "git branch x", "allow"}, {"git *", "git branch -D x", "ask"}, {"git *", "git stash drop", "ask"}, {"git *", "git stash pop", "allow"},
		{"*", "rm x", "ask"}, {"rm *", "rm x", "allow"}, {"rm*", "rm -rf build", "allow"}, {"*", "make && rm x", "ask"}, {"r*", "rm x", "ask"}, {"*", "timeout 5 rm x", "ask"}, {"*", "bash -c 'rm x'", "ask"}, {"rm x", "rm x", "allow"}, {"/bin/rm *", "/bin/rm x", "allow"},
		{"npm *", "npm publish", "ask"}, {"npm *", "npm test", "allow"}, {"npm publish*", "npm publish --tag x", "allow"}, {"kubectl *", "kubectl -n x delete pod y", "ask"}, {"kubectl *", "kubectl logs x", "allow"},
		{"psql *", "psql -c 'drop table x'", "ask"}, {"psql *", "psql -c 'DROP  TABLE x'", "ask"}, {"psql *", "psql <<< 'truncate x'", "ask"}, {"psql *", "echo 'drop table x' | psql", "ask"}, {"psql *", "psql -c 'select 1'", "allow"}, {"grep *", "grep -r 'drop table' .", "allow"}, {"git *", "git commit -m 'drop table x'", "allow"},
		{"git *", "git fetch --upload-pack=./x .", "ask"}, {"git *", "git fetch --upload-p ./x .", "ask"}, {"git fetch*", "git fetch origin", "allow"}, {"git fetch --upload-pack*", "git fetch --upload-pack ./x .", "allow"}, {"git *", "git clone -c core.x=y a", "ask"}, {"git *", "git clone --depth 1 a", "allow"},
		{"git *", "git -C . rebase -ix ./x HEAD~2", "ask"}, {"git *", "git grep -O./x y", "ask"}, {"git *", "git push --exec=./x a", "ask"}, {"go *", "go test -exec ./x ./...", "ask"}, {"go *", "go build -toolexec=./x", "ask"}, {"go *", "go vet --vettool ./x", "ask"}, {"go *", "go test -run X ./...", "allow"},
		{"tar *", "tar -xf a.tar --to-command=./x", "ask"}, {"tar *", "tar -I ./x -xf a", "ask"}, {"tar *", "tar -czf a.tar b", "allow"}, {"ssh *", "ssh -oProxyCommand=./x h", "ask"}, {"ssh *", "ssh h uptime", "allow"}, {"gcc *", "gcc -DBUILD=1 a.c", "allow"}, {"gcc *", "gcc -wrapper ./x a.c", "ask"},
		{"psql *", `psql -c '\! ./x'`, "ask"}, {"psql *", `psql -c "copy t to program 'x'"`, "ask"}, {"sqlite3 *", "sqlite3 a.db '.shell ls'", "ask"}, {"mysql *", "mysql -e 'system ls'", "ask"}, {"psql *", "psql -c 'select * from system.x'", "allow"},
	} {
		s := newSetup()
		s.cfg.Permissions = map[string][]Rule{"bash": {{Pattern: tt.pattern, Action: Allow}}}
		if got := judged(t, s.build(), tt.script); got != tt.want {
			t.Errorf("rule %q: %q: %s, want %s", tt.pattern, tt.script, got, tt.want)
		}
	}
	for script, want := range map[string]string{"git fetch --all": "allow", "git fetch --upload-pack=./x .": "ask"} {
		s := newSetup().build()
		s.user.give = []string{allowAlways}
		judged(t, s, "git fetch origin")
		if got := judged(t, s, script); got != want {
			t.Errorf("after an always: %q: %s, want %s", script, got, want)
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
