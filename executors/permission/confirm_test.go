package permission

import "testing"

// An allow rule covers a destructive command only if it names the dangerous
// option. An "always" covers only the exact command.
func TestConfirmations(t *testing.T) {
	for _, tt := range []struct{ pattern, script, want string }{
		{"git *", "git commit -m x", "allow"}, {"git *", "git push", "allow"}, {"git *", "git push --force", "ask"}, {"git *", "git push -f origin x", "ask"},
		{"git *", "git push -uf origin x", "ask"},
		{"git *", "git -C . push --force", "ask"}, {"git *", "git push --force-with-lease=x", "ask"}, {"git *", "git push --forc", "ask"},
		{"git *", "git push origin +main", "ask"}, {"git *", "git push origin :x", "ask"}, {"git *", "git push origin a:b", "allow"},
		{"git *", "git push -", "allow"},
		{"git push*", "git push --force", "ask"}, {"git push --force*", "git push --force x", "allow"},
		{"go test -exec=./run ./...", "go test -exec=./run ./...", "allow"}, {"go test -exec=./run*", "go test -exec=./other ./...", "ask"},
		{"make SHELL=./sh", "make SHELL=./sh", "allow"}, {"make x/SHELL=a", "make SHELL=a", "ask"},
		{"git push --force*", "git push --force-with-lease x", "allow"}, {"git push -f *", "git push -f x", "allow"},
		{"git *", "git reset --hard", "ask"}, {"git *", "git reset HEAD~1", "allow"}, {"git reset --hard*", "git reset --hard HEAD", "allow"},
		{"git *", "git clean -n", "ask"}, {"git clean*", "git clean -fdx", "allow"}, {"git *", "git checkout main", "allow"},
		{"git *", "git checkout -- .", "ask"}, {"git *", "git checkout .", "ask"},
		{"git *", "git branch x", "allow"}, {"git *", "git tag v1", "allow"}, {"git *", "git gc", "allow"}, {"git *", "git checkout -b x main", "allow"},
		{"git *", "git log --output-indicator-new=x -p", "allow"}, {"git log --output*", "git log --output=a", "allow"},
		{"git *", "git format-patch --output-directory x", "allow"}, {"git *", "git branch -D x", "ask"}, {"git *", "git stash drop", "ask"},
		{"git *", "git stash pop", "allow"},
		{"*", "rm x", "ask"}, {"rm *", "rm x", "allow"}, {"rm*", "rm -rf build", "allow"}, {"*", "make && rm x", "ask"}, {"r*", "rm x", "ask"},
		{"*", "timeout 5 rm x", "ask"}, {"*", "bash -c 'rm x'", "ask"}, {"rm x", "rm x", "allow"}, {"/bin/rm *", "/bin/rm x", "allow"},
		{"npm *", "npm publish", "ask"}, {"npm *", "npm test", "allow"}, {"npm publish*", "npm publish --tag x", "allow"},
		{"kubectl *", "kubectl -n x delete pod y", "ask"}, {"kubectl *", "kubectl logs x", "allow"},
		{"psql *", "psql -c 'drop table x'", "ask"}, {"psql *", "psql -c 'DROP  TABLE x'", "ask"}, {"psql *", "psql <<< 'truncate x'", "ask"},
		{"psql *", "echo 'drop table x' | psql", "ask"}, {"psql *", "psql -c 'select 1'", "allow"}, {"grep *", "grep -r 'drop table' .", "allow"},
		{"git *", "git commit -m 'drop table x'", "allow"},
		{"git *", "git fetch --upload-pack=./x .", "ask"}, {"git *", "git fetch --upload-p ./x .", "ask"}, {"git fetch*", "git fetch origin", "allow"},
		{"git fetch --upload-pack*", "git fetch --upload-pack ./x .", "allow"}, {"git *", "git clone -c core.x=y a", "ask"},
		{"git *", "git clone --depth 1 a", "allow"},
		{"git *", "git -C . rebase -ix ./x HEAD~2", "ask"}, {"git *", "git grep -O./x y", "ask"}, {"git *", "git push --exec=./x a", "ask"},
		{"go *", "go test -exec ./x ./...", "ask"}, {"go *", "go build -toolexec=./x", "ask"}, {"go *", "go vet --vettool ./x", "ask"},
		{"go *", "go test -run X ./...", "allow"},
		{"tar *", "tar -xf a.tar --to-command=./x", "ask"}, {"tar *", "tar -I ./x -xf a", "ask"}, {"tar *", "tar -czf a.tar b", "allow"},
		{"ssh *", "ssh -oProxyCommand=./x h", "ask"}, {"ssh *", "ssh h uptime", "allow"}, {"gcc *", "gcc -DBUILD=1 a.c", "allow"},
		{"gcc *", "gcc -wrapper ./x a.c", "ask"},
		{"git *", "git -c core.pager=./x log", "ask"}, {"git *", "git -c core.pager=cat log -p", "allow"},
		{"git *", "git -c core.quotePath=false diff --stat", "allow"}, {"git *", "git -c user.name=x commit -m y", "allow"},
		{"git *", "git -c alias.x='!./x' x", "ask"}, {"git -c *", "git -c core.pager=./x log", "allow"},
		{"git *", "git -c include.path=x log", "ask"}, {"git *", "git -c pager.log=./x log", "ask"}, {"git *", "git -c core.hooksPath=/dev/null commit", "allow"},
		{"git *", "git --config-env=core.pager=X log", "ask"}, {"git *", "git --exec-path=. x", "ask"}, {"git *", "git switch -c x", "allow"},
		{"git *", `git -c "$x" log`, "ask"},
		{"git *", "git config core.pager ./x", "ask"}, {"git *", "git config set --global core.fsmonitor ./x", "ask"},
		{"git *", "git config alias.x '!./x'", "ask"}, {"git config*", "git config core.pager ./x", "allow"}, {"git *", "git config core.pager", "allow"},
		{"git *", "git config user.name x", "allow"},
		{"git *", "git bisect run ./x", "ask"}, {"git bisect run*", "git bisect run ./x", "allow"}, {"git *", "git submodule foreach ./x", "ask"},
		{"git *", "git submodule update", "allow"}, {"git *", "git difftool -x ./x", "ask"}, {"git *", "git init --template x", "ask"},
		{"make *", "make --eval='x:;./x'", "ask"}, {"make *", "make test SHELL=./x", "ask"}, {"make *", "make CC=gcc -j4 test", "allow"},
		{"cargo *", "cargo build --config x", "ask"}, {"cargo *", "cargo run -- --config x", "allow"}, {"npm *", "npm test --script-shell=./x", "ask"},
		{"npm *", "npm test -- --script-shell=./x", "allow"},
		{"npm *", "npm publ", "ask"}, {"npm *", "npm --tag x publish", "ask"}, {"npm *", "npm --silent run publish", "ask"}, {"npm *", "npm p", "allow"},
		{"go *", "go env -w X=y", "ask"}, {"sqlite3 *", "sqlite3 a.db '.load ./x'", "ask"}, {"sqlite3 *", `sqlite3 a.db "select load_extension('./x')"`, "ask"},
		{"*", "shopt -s extglob\necho @($(./x))", "ask"}, {"*", "sh -c 'echo a &>f ./x'", "ask"}, {"*", "bash -c 'make &>f'", "allow"},
		{"*", "dash -c 'a | b && c > d'", "allow"}, {"*", "echo 'a |& b' | sh", "ask"},
		{"*", "fish -c 'a; and b'", "ask"}, {"*", "zsh -c 'repeat 3 x'", "ask"}, {"*", "zsh -lc 'npm test'", "allow"}, {"*", "x='a[$(./x)]' let x", "ask"},
		{"*", "command let x", "ask"},
		{"psql *", `psql -c '\! ./x'`, "ask"}, {"psql *", `psql -c "copy t to program 'x'"`, "ask"}, {"sqlite3 *", "sqlite3 a.db '.shell ls'", "ask"},
		{"sqlite3 *", "sqlite3 a.db '.once |./x'", "ask"}, {"psql *", `psql -c '\o |./x'`, "ask"}, {"mysql *", "mysql -e 'system ls'", "ask"},
		{"psql *", "psql -c 'select * from system.x'", "allow"},
	} {
		s := newSetup()
		s.cfg.Permissions = map[string][]Rule{"bash": {{Pattern: tt.pattern, Action: Allow}}}
		if got := checkScript(t, s.build(), tt.script); got != tt.want {
			t.Errorf("rule %q: %q: %s, want %s", tt.pattern, tt.script, got, tt.want)
		}
	}
	for script, want := range map[string]string{"git fetch --all": "allow", "git fetch --upload-pack=./x .": "ask"} {
		s := newSetup().build()
		s.user.give = []string{allowAlways}
		checkScript(t, s, "git fetch origin")
		if got := checkScript(t, s, script); got != want {
			t.Errorf("after an always: %q: %s, want %s", script, got, want)
		}
	}
	for script, want := range map[string]string{"git push --force origin a": "allow", "git push --force origin b": "ask", "git push origin a": "ask"} {
		s := newSetup().build()
		s.user.give = []string{allowAlways}
		checkScript(t, s, "git push --force origin a")
		if got := checkScript(t, s, script); got != want {
			t.Errorf("after an always: %q: %s, want %s", script, got, want)
		}
	}
}

// A rule that allows everything covers none of these commands.
func TestEachConfirmation(t *testing.T) {
	for _, script := range []string{
		"shred x", "truncate -s 0 x", "crontab -r", "dropdb x",
		"git push --mirror", "git push --delete o b", "git push -d o b", "git push --prune o", "git push --force-if-includes o b",
		"git checkout -f x", "git checkout --force x", "git restore a", "git switch -f x", "git switch --force x", "git switch --discard-changes x",
		"git stash clear", "git branch -M a", "git branch -C a b", "git branch -f a b", "git branch --force a b",
		"git filter-branch --all", "git filter-repo --path x", "git reflog expire --all", "git update-ref -d refs/heads/x", "git apply --unsafe-paths x",
		"git log --output=a", "git diff --outp a", "git -C . show --output a HEAD", "git stash show -p --output=a", "git checkout --theirs a",
		"git checkout -B x", "git switch -C x", "git reset --merge", "git rm -rf a", "git worktree remove --force x",
		"git submodule deinit -f .", "git checkout-index -fa", "git read-tree -u --reset HEAD", "git gc --prune=now", "git prune", "git reflog delete x",
		"git tag -d x", "git tag -f x", "git update-ref --stdin", "git credential fill", "git maintenance start",
		"git send-email x", "git svn dcommit", "git p4 submit", "find . -name x -delete", "find . -fprint x", "find . -fprintf x y", "find . -fls x",
		"sort -uo a b", "sort --output=a b",
		"npm dist-tag add x y", "npm deprecate x y", "npm owner add x y", "npm access set status=public", "yarn npm publish", "docker push x",
		"docker compose down -v", "docker compose push", "docker volume prune", "podman push x", "podman system prune",
		"npm test --userconfig=x", "npm install --git=./x y", "npm init --init-module ./x", "pnpm run x --script-shell=./y",
		"pnpm --config.script-shell=./x test",
		"cargo publish", "gem push x", "npm unpublish x", "pnpm publish", "poetry publish", "twine upload x", "uv publish", "yarn publish",
		"docker system prune", "docker volume rm x", "gh repo delete x", "helm uninstall x", "terraform destroy", "tofu destroy",
		"git difftool --extcmd ./x", "git grep --open-files-in-pager=./x y", "git fetch --receive-pack=./x", "git clone -u ./x a",
		"git clone --template=x a", "git clone --config core.x=y a",
		"git send-email --sendmail-cmd=./x a", "git send-email --smtp-server=./x a", "git send-email --to-cmd=./x a", "git send-email --cc-cmd=./x a",
		"git send-email --header-cmd=./x a",
		"go test --exec ./x ./...", "go build --toolexec=./x", "go vet -vettool=./x", "go env -u X", "gmake SHELL=./x", "make -E x", "make .SHELLFLAGS=x",
		"make MAKEFLAGS=x",
		"npm test --node-options=x", "gtar -F ./x -xf a", "bsdtar --use-compress-program ./x -xf a", "tar --checkpoint-action=exec=./x -cf a b",
		"tar --info-script=./x -xf a",
		"tar --new-volume-script=./x -xf a", "tar --rmt-command=./x -xf a", "tar --rsh-command=./x -xf a",
		"rg --pre ./x y", "rg --hostname-bin=./x y", "sort --compress-program=./x a", "man -P ./x y", "man --pager=./x y", "man -H./x y", "man --html=./x y",
		"zip -TT ./x a b", "zip --unzip-command ./x a b", "wget --use-askpass=./x https://a.b", "rsync --rsync-path=./x a h:b",
		"ssh -F ./x h", "scp -S ./x a h:b", "scp -o ProxyCommand=./x a h:b", "sftp -D ./x h", "sftp -b ./x h",
		"g++ -fplugin=./x a.c", "cc -specs=x a.c", "c++ --specs=x a.c", "clang -load ./x a.c", "clang++ -fpass-plugin=./x a.c", "gcc -B./x a.c",
		"gcc --ld-path=./x a.c", "gcc --wrapper ./x a.c",
		"rustc -Clinker=./x a.rs", "rustc -C linker=./x a.rs", "rustc -Zcodegen-backend=./x a.rs",
	} {
		s := newSetup()
		s.cfg.Permissions = map[string][]Rule{"bash": {{Pattern: "*", Action: Allow}}}
		if got := checkScript(t, s.build(), script); got != "ask" {
			t.Errorf("%q: %s, want ask", script, got)
		}
	}
}
