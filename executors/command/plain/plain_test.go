package plain

import (
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/executors/command/programs"
)

var shell = Shell{Dir: "/w", Home: "/home/u"}

// The plain form of a script, and the files that it names.
func TestParse(t *testing.T) {
	for script, want := range map[string]struct{ form, files string }{
		"ls -la src":                       {"ls -l -a src", "src"},
		"cat 'a b' c":                      {"cat 'a b' c", "a b,c"},
		"cat -- -n":                        {"cat -- -n", "-n"},
		"ls *.go":                          {"ls -- *.go", "*.go"},
		"ls src/*.go":                      {"ls src/*.go", "src/*.go"},
		"head -20 f | tail -n5":            {"head -20 f | tail -n 5", "f"},
		"ls 2>/dev/null || echo missing":   {"ls 2>/dev/null || echo missing", ""},
		"wc -l <f 2>&1":                    {"wc -l 0<f 2>&1", "f"},
		"echo 2 >/dev/null":                {"echo 2 1>/dev/null", ""},
		"! grep -q x f":                    {"! grep -q x f", "f"},
		"grep -rn \"it's\" --include=*.go": {`grep -r -n '--include=*.go' 'it'\''s'`, ""},
		"grep -e '->x' f":                  {"grep '-e->x' f", "f"},
		"cut -d, -f -2 f | sed -e 1p -e 's/a/b/'": {"cut -d , -f-2 f | sed -e 1p -e s/a/b/", "f"},
		"jq --indent 1 . f":                       {"jq --indent 1 . f", "f"},
		"go list -json=Dir,Name": {"GOTOOLCHAIN=local GOPROXY=off GONOPROXY=none GONOSUMDB=none " +
			"GOSUMDB='none+cd1415b4+AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA file:///none' GOVCS='*:off' GOFLAGS=-buildvcs=false GODEBUG=goindex=0 go list " +
			"'-json=Dir,Name'", ""},
		"fd -E -x y":                                {"fd -E-x y", ""},
		"cd sub && cat ../a":                        {"cd ./sub && cat ../a", "sub,../a"},
		"f=a.go; wc -l \"$f\" $f":                   {"true; wc -l a.go a.go", "a.go,a.go"},
		"for f in a '-b'; do cat $f; done":          {`for v1 in a -b; do cat -- "$v1"; done`, "a,-b"},
		"if [ -f a ]; then cat a; else echo no; fi": {"if '[' -f a ']'; then cat a; else echo no; fi", "a,a"},
		"cat ~/x $HOME/y":                           {"cat /home/u/x /home/u/y", "/home/u/x,/home/u/y"},
		"# list":                                    {"true", ""},
		"ls # list":                                 {"ls", ""},
		"git ls-files | xargs ls -d": {"git --no-pager --no-optional-locks -c 'core.hooksPath=/dev/null' -c 'core.fsmonitor=false' -c " +
			"'log.showSignature=false' ls-files -z | xargs -0 ls -d --", ""},
		"find . -name '*.go' | xargs wc -l": {"find . '(' -name '*.go' ')' -print0 | xargs -0 wc -l --", "."},
		"timeout 5 ls":                      {"timeout 5 ls", ""},
		"go list ./...": {"GOTOOLCHAIN=local GOPROXY=off GONOPROXY=none GONOSUMDB=none " +
			"GOSUMDB='none+cd1415b4+AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA file:///none' GOVCS='*:off' GOFLAGS=-buildvcs=false GODEBUG=goindex=0 go list ./...",
			"./"},
		"gofmt -l . a.go": {"gofmt -l . a.go", ".,a.go"},
		"git stash show stash@{0}": {"git --no-pager --no-optional-locks -c 'core.hooksPath=/dev/null' -c 'core.fsmonitor=false' -c " +
			"'log.showSignature=false' stash show --no-ext-diff --no-textconv '--submodule=short' --stat 'stash@{0}'", ""},
		"git rev-parse --git-path hooks": {"git --no-pager --no-optional-locks -c 'core.hooksPath=/dev/null' -c 'core.fsmonitor=false' -c " +
			"'log.showSignature=false' rev-parse --git-path hooks", ""},
		"xxd -p -c 8 f":                           {"xxd -p -c 8 f", "f"},
		"printf '%-5s|%05.1f%%' a 1":              {`printf '%-5s|%05.1f%%' a 1`, ""},
		"echo $(pwd) \"$(ls *.go)\"":              {`(set -f; echo $(pwd) "$(set +f; ls -- *.go)")`, "*.go"},
		"echo $(ls *.go | head -1) 2>&1":          {"(set -f; echo $(set +f; ls -- *.go | head -1)) 2>&1", "*.go"},
		"LC_ALL=C sort f":                         {"LC_ALL=C sort f", "f"},
		"{ ls; pwd; } | head":                     {"{ ls; pwd; } | head", ""},
		"(cd a; ls)":                              {"(cd ./a; ls)", "a"},
		`echo "$(git rev-parse HEAD)"`:            {`echo "$(git --no-pager --no-optional-locks -c 'core.hooksPath=/dev/null' -c 'core.fsmonitor=false' -c 'log.showSignature=false' rev-parse HEAD)"`, ""},
		"cd a/../b && cat ../c":                   {"cd /w/b && cat ../c", "/w/b,../c"},
		"cd a && cd ../b && ls":                   {"cd ./a && cd /w/b && ls", "a,/w/b"},
		"( (cd a; ls) )":                          {"( (cd ./a; ls))", "a"},
		"ls -d */":                                {"ls -d -- */", "*/"},
		"du -sh * | sort -h":                      {"du -s -h -- * | sort -h", "*"},
		"echo {a,b}.go":                           {"echo a.go b.go", ""},
		"echo /etc/* a":                           {"echo /etc/* a", "/etc/*"},
		"printf '%s\\n' *.go":                     {`printf '%s\n' *.go`, "*.go"},
		"tar tzf a.tgz":                           {"tar tzf a.tgz", "a.tgz"},
		"tar -tvf a.tar 'x/*' | head":             {"tar -tvf a.tar 'x/*' | head", "a.tar"},
		"unzip -l a.zip":                          {"unzip -l a.zip", "a.zip,a.zip.zip,a.zip.ZIP"},
		"zipinfo -1 a.jar":                        {"zipinfo -1 a.jar", "a.jar,a.jar.zip,a.jar.ZIP"},
		"gunzip -c a.gz | head":                   {"gunzip -c a.gz | head", "a.gz"},
		"xz -dc a.xz":                             {"xz -d -c a.xz", "a.xz"},
		"gzip -l a.tgz":                           {"gzip -l a.tgz", "a.tgz"},
		"openssl version":                         {"openssl version", ""},
		"ssh -V":                                  {"ssh -V", ""},
		"pgrep -fl node":                          {"pgrep -f -l node", ""},
		"sort *":                                  {"sort ./*", "./*"},
		"jq . *.json":                             {"jq . ./*.json", "./*.json"},
		"basename $(pwd)":                         {"(set -f; basename -- $(pwd))", ""},
		"echo $PATH":                              {`echo "${PATH}"`, ""},
		"time ls | wc -l":                         {"time ls | wc -l", ""},
		"find . -exec grep -l x {} \\;":           {"find . -exec grep -l -- x '{}' ';'", "."},
		"find . -type l -exec ls -l {} +":         {"find . -type l -exec ls -l -- '{}' +", "."},
		"find . -exec ls -lC {} +":                {"find . -exec ls -l -C -- '{}' +", "."},
		"find . -exec ls -l --format=across {} +": {"find . -exec ls -l '--format=across' -- '{}' +", "."},
		"find . | xargs -I{} cat {}":              {"find . -print0 | xargs -0 -r -n 1 cat --", "."},
		"fd x | xargs ls -l":                      {"fd -0 x | xargs -0 ls -l --", ""},
		"git -c core.pager=cat ls-files | xargs cat": {"git -c 'core.pager=cat' --no-pager --no-optional-locks -c 'core.hooksPath=/dev/null' -c " +
			"'core.fsmonitor=false' -c 'log.showSignature=false' ls-files -z | xargs -0 cat --", ""},
		"basename -a src/*.go":                         {"basename -a src/*.go", "src/*.go"},
		"x=a; cat ${x}.go \"${HOME}\"":                 {"true; cat a.go /home/u", "a.go,/home/u"},
		"x=$(wc -l < f); echo \"$x\" $x":               {"v1=\"$(wc -l 0<f)\"; (set -f; echo \"$v1\" ${v1})", "f"},
		"x=$(ls); echo ${x}b $x$x":                     {"v1=\"$(ls)\"; (set -f; echo ${v1}b ${v1}${v1})", ""},
		"for i in 1 2; do [ $i -gt 1 ]; done":          {"for v1 in 1 2; do '[' \"$v1\" -gt 1 ']'; done", ""},
		"if x=$(ls); then [ -n \"$x\" ]; fi":           {"if v1=\"$(ls)\"; then '[' -n \"$v1\" ']'; fi", ""},
		"[ \"$(wc -l < f)\" -gt 3 ]":                   {"'[' \"$(wc -l 0<f)\" -gt 3 ']'", "f"},
		"ls -d .* src/.*/a .*rc":                       {"ls -d .[!.]* src/.[!.]*/a .*rc", ".[!.]*,src/.[!.]*/a,.*rc"},
		"ps -ef | head":                                {"ps -Af | head", ""},
		"ps -eo pid,etime --sort=-rss":                 {"ps -Ao pid,etime '--sort=-rss'", ""},
		"for f in a b; do wc -l < $f; done":            {`for v1 in a b; do wc -l 0<"$v1"; done`, "a,b"},
		"for f in *; do echo \"$f $(ls $f)\"; done":    {`for v1 in *; do echo "$v1"' '"$(set +f; ls -- "$v1")"; done`, "*,*"},
		"for f in -x y; do grep $f z; done":            {`for v1 in -x y; do grep -- "$v1" z; done`, "z"},
		"for f in x y; do find . -name \"*.$f\"; done": {`for v1 in x y; do find . -name '*.'"$v1"; done`, "."},
		"for f in ../*; do echo a; done":               {"for v1 in ../*; do echo a; done", "../*"},
		"for f in *; do [ ! -d \"$f\" ]; done":         {"for v1 in *; do '[' '!' -d \"$v1\" ']'; done", "*,*"},
		"[[ -f a && ! -d b ]] && ls":                   {"{ '[' -f a ']' && { ! '[' -d b ']'; }; } && ls", "a,b"},
		"[[ \"$(uname)\" == Linux ]]":                  {"'[' \"$(uname)\" '==' Linux ']'", ""},
		"basename \"$(pwd)\"":                          {"basename -- \"$(pwd)\"", ""},
		"jq . <<< '{}'":                                {"jq . 0<<<'{}'", ""},
		"cat <<'E' | wc -l\na $x\nb\nE\n":              {"cat 0<<<'a $x\nb' | wc -l", ""},
		"x=$(ls); cat $x":                              {"v1=\"$(ls)\"; (set -f; cat -- ${v1})", ""},
		"diff <(sort a) <(sort b)":                     {"diff -- <(sort a) <(sort b)", "a,b"},
		"x=a.go; case $x in *.go|b) ls;; c) ;; esac":   {"true; case a.go in (*.go|b) ls;; (c) true;; esac", ""},
		"n=7; echo $((n * (2+3) % 4 - -1))":            {"true; echo 4", ""},
		"ls | while read -r f; do wc -l \"$f\"; done":  {`ls | while read -r v1; do wc -l -- "$v1"; done`, ""},
		"while IFS=: read a b; do echo $a; done < f":   {"while IFS=: read v1 v2; do (set -f; echo ${v1}); done 0<f", "f"},
		"while read a; do echo x; done < <(ls)":        {"while read v1; do echo x; done 0< <(ls)", ""},
		"ls a |& wc && ls &>>/dev/null":                {"ls a 2>&1 | wc && ls 1>>/dev/null 2>&1", "a"},
	} {
		form, err := Parse(NewTree(script), shell, nil)
		if err != nil {
			t.Errorf("%s: %v", script, err)
			continue
		}
		var files []string
		for _, f := range form.Files {
			files = append(files, f.Text)
		}
		got := struct{ form, files string }{form.Script, strings.Join(files, ",")}
		if got != want {
			t.Errorf("%s:\n got %q %q\nwant %q %q", script, got.form, got.files, want.form, want.files)
		}
		if !form.ReadOnly {
			t.Errorf("%s: not read-only", script)
		}
		again, err := Parse(NewTree(form.Script), shell, nil)
		if err != nil && !strings.Contains(form.Script, "GO") && !strings.Contains(form.Script, "set -f") && !strings.Contains(form.Script,
			"set +f") && !strings.Contains(form.Script, "git ") && !strings.Contains(form.Script, "-0 ") {
			t.Errorf("the plain form of %s is not plain: %v", script, err)
		} else if err == nil && again.Script != form.Script && !strings.Contains(script, "cd ") && !strings.Contains(script, "xargs") && !strings.Contains(script,
			"-exec") {
			t.Errorf("%s: the plain form of %q is %q", script, form.Script, again.Script)
		}
	}
}

// Scripts that have no plain form.
func TestParseRefuses(t *testing.T) {
	for _, script := range []string{
		"<<E\n$(x)\nE", "> a", "2>&1", "git branch -- x", "git config --list", "git config --get http.extraheader", "git config --get-regexp .",
		"git config user.name x", "git tag -- x", "git stash -- list", "git branch x", "xargs ls", "find . | head -c5 | xargs cat", "cat list | xargs cat",
		"ls ${x}", "ls $x", "x=1; ls ${x:-a}", "RANDOM=1", "for IFS in a; do ls; done", "x+=1", "x=(a)", "declare x", "export x=1", "x='a b'; ls $x", "x='*'; ls $x",
		"ls > a", "ls 3>&1", "ls {fd}>&1", "ls <<< $(ls)", "ls 3<<<x", "cat <<E\n$x\nE\n", "cat <<E\n\\x\nE\n", "cat <<-E\n\tx\n\tE\n", "cat <<E\nE", "ls &",
		"coproc ls", "ls |& tee x", "while true; do ls; done", "while read x < f; do ls; done", "while read; do ls; done", "while read -p a x; do ls; done",
		"while read PATH; do ls; done", "while PATH= read x; do ls; done", "until read x; do ls; done",
		"case a in a) ls;& b) ls;; esac", "case a in $x) ls;; esac", "case a in .*) ls;; esac", "case a in @(a)) ls;; esac", "cat >(ls)", "x=<(ls)", "ls a<(ls)",
		"cat <(touch x)", "echo $[1]", "echo $((x))", "echo $((1/0))", "echo $((a[1]))", "echo $((010))", "echo $((x=1))",
		"echo $((x++))", "x=a; echo $((x))", "x=$(ls); echo $((x))", "echo $((1))$(touch x)", "for i in 1; do echo $((i))$((i)); done", "printenv",
		"printenv TOKEN", "printenv PATH TOKEN", "bash x", "bash -c x", "node x", "node -e x", "openssl rsa -in k -text", "openssl x509 -in k -out f",
		"openssl dgst -sign k f", "openssl s_client", "ssh-keygen -f k", "ssh-keygen -lf k -y", "dpkg -i x", "dpkg -l -i x", "apt install x", "apt list -o x=y",
		"npm ls --prefix x", "npm install", "npm ls --node-options=x", "pip install x", "pip list -i x", "pip show ./x --target=y",
		"cargo tree --config x", "cargo build", "cargo metadata --manifest-path x", "yq -i . f", "yq 'env(A)' f", "yq '.a = load(\"x\")' f",
		"python3 -m http.server", "python3 -c 1", "python3 -m json.tool a b", "python3 x.py", "xmllint --output x f", "xmllint --shell f", "readelf -wk a",
		"objdump --dwarf=follow-links x",
		"rustc x.rs", "rpm -i x", "rpm -e x", "bat --pager=x f", "bat --config-file=x", "shellcheck --rcfile=x f", "numfmt -i", "dpkg -S --root=x",
		"git submodule update", "git submodule foreach ls", "git help -w log", "[[ a ]]", "[[ a == b* ]]", "[[ a =~ b ]]", "[[ a == \"$(ls)\" ]]", "[[ -v x ]]",
		"[ -n \"$(ls)\" -a -v x ]", "[ $(ls) = a ]", "[ a -gt \"$(ls)\" ]", "x=$(ls); [[ $x -gt y ]]", "find . -exec basename $(ls) {} \\;",
		"find . -exec basename \"$(ls)\" {} +", "x=$(ls); find . -exec basename $x {} \\;", "find . | xargs cat < f", "find . | xargs cat <<< f",
		"find . | head -n 5 < f | xargs cat", "find . | sort <<< f | xargs cat", "find . 2>&1 | xargs cat", "for i in 1 b; do [ $i -gt 1 ]; done",
		"find . -exec basename * {} \\;", "for f in a \\;; do find . -exec basename $f {} \\;; done", "[ -f \"$(ls)\" ]", "x=1; if ls; then x=$(ls); fi",
		"x=$(ls); head -n \"$x\" f", "x=$(ls); exit \"$x\"", "for f in *; do x=$f; done", "((1))", "let x=1", "f() { ls; }",
		"echo ${HOME:1}", "echo $\"a\"", "echo $'a\\c'", "echo ~root", "ls [[:alpha:]]*", "ls @(a)", "$x", "\"\"", "x=1 cd a; ls", "if true; then x=1; fi; ls $x",
		"uniq a*", "uniq *",
		"cd", "cd -", "cd a b", "cd $x", "env -i ls", "nice --x ls", "timeout -s 9 1 ls", "timeout 5 cd a", "command ls", "git -c a=b log", "git --git-dir=x log",
		"git blame -- a --output=b", "git blame -- a *b", "git log -- -a", "git log -S -- --output=x",
		"rg -e -- --pre=x .", "find . -name -- -o -fprintf a b", "go list -export ./...", "go list ./x.go", "go env -w a=b", "jq -n '$ ENV'",
		"jq -n '$__prog_args'", "sed -n 'w x' f", "awk 'BEGIN{system(1)}'", "awk '{print $1}' a=b",
		"strings @x", "strings -t @x", "strings -t@x f", "strings @*", "date -d 'TZ=\"/x\" now'", "date --date='TZ=\"x\" now' +%s",
		"find . -newermt 'TZ=\"/x\" now'", "git ls-files | xargs strings",
		"rg -lc x | xargs cat", "rg -l --color=always x | xargs wc -l", "rg --files -p | xargs cat", "grep -rl --color x . | xargs cat",
		"grep -rlo x . | xargs cat", "fd --color=always | xargs wc -l", "git grep -lc x | xargs wc -l",
		"find . -exec touch x \\;", "LC_ALL=zh_CN.GBK sed p a", "LANG=ja_JP sort a", "find . -exec cat {} {} +", "find . -exec cat x{} \\;",
		"find . -exec sh -c {} \\;", "find . -exec {} \\;", "find . -exec cat {}", "find . -exec xxd {} \\;", "find . -exec jq . {} +",
		"find . -exec env cat {} \\;", "find . -execdir cat {} \\;", "find . -exec cat {} \\; -print0 | xargs cat", "find . | xargs -I{} cat {} {}",
		"find . | xargs -I{} cat x", "find . | xargs -I", "find . | xargs -n 2 -I{} cat {}",
		"tar xf a", "tar tf h:a", "tar tf -I", "tar tf a --to-command=x", "tar txf a", "tar -tf a -I x", "tar t a", "tar ctf a", "tar tf $x", "unzip a.zip",
		"unzip -o a.zip", "unzip -l a.zip -d x", "unzip -l 'a*.zip'", "unzip -lo a.zip", "unzip -d x", "zipinfo -h", "zipinfo", "zipinfo -1",
		"gzip a", "gzip -d a.gz", "gunzip a.gz", "gunzip -c a", "xz -l -d a.xz", "xz -dl a.xz", "zstd -d a.zst", "zstd -ld a.zst", "gzip -c *.gz",
		"find . | xargs gunzip -c", "find . -exec gzip -dc {} +", "bzip2 -d a.bz2", "bzip2 -l a.bz2", "git tag -l -id x", "git tag -lf x", "gzip -k a",
		"gzip -cr a.gz", "xz --files=a -c",
		"openssl version -d", "ssh -V h", "psql -c x", "pgrep -F x y", "sw_vers x",
		"time -p ls", "time ! ls", "ls | time wc", "time touch x", "echo $HISTFILE", "echo $PATH*", "cd $GOPATH", "PATH=a; echo $PATH", "ls --help x",
		"command --help", "git --help", "stat -f x f", "stat -f /% f", "shasum -c f",
		"git -c core.pager=less log", "git -c core.fsmonitor=x status", "git -c color.ui log", "PAGER=less git log", "GIT_PAGER=./x git log", "column -n -o x",
		"stat -t x f",
		"sqlite3 ''", `cmake ""`, "git log --format=%+G?", "git tag -l --format='%(*signature)'", "git branch --sort=-signature", "printf '%n' PATH",
		"printf '12345%5n' PATH", "printf '%-*.*n' 1 1 PATH", "printf -- '%n' v1", "printf '%hhn' x", "printf '%%%n' x", "echo $(ls) *.go", "git status -v",
		"git branch -l x", "git reflog ''", "git remote '' x",
		"date -s x", "date 0101", "tail --pid=1 f", "sort --compress-program=x f", "tree -o x", "xxd a b", "hostname x", "exit x", "set -- a", "set -k",
		"printf -v x y", "test -v x", "[ a -eq b ]", "./ls", "/tmp/ls", "ls\x00", "ls\r", "\xff",
		`sed 's/a\/b/p;/e#/p' f`, `sed 's/a\/b/p;/w x/p' f`, `sed 's,a\,b,p;,e#,p' f`, `sed 's/[/]/p;/w x/p' f`, `sed 's/a/b\/p;/e#/p' f`, `sed '/a\/p;/w x/p' f`,
		`sed 's/[^/]/x/p;/w x/p' f`, `sed 's/[\]/]/w x/p' f`,
		`sed 's/a;b/c/;w x' f`, `sed 's@a@b@w x' f`, `sed '/a/{w x
}' f`, `sed '{p;e x
}' f`, `sed 'y/a/b/w x' f`, `sed 's/a/b/2e' f`, `sed 'l;r /x' f`, `sed 'Fw x' f`, `sed '1~2w x' f`,
		`awk '{print > "x"}' f`, `awk '{print | "x"}' f`, `awk '/a|b/{print} /c|d/' f`, `awk '{printf "a" >> x}' f`, `awk '{print $1 > 5}' f`,
		`awk '"x" | getline' f`, `awk '{getline < "/x"}' f`, `awk '{print ENVIRON["A"]}' f`, `awk 'BEGIN{ARGV[1]="/x"}' f`,
		`awk 'BEGIN{f="sys" "tem"; @f("x")}'`, `awk '@include "x"' f`, "awk '{pri\\\nnt > 1}' f", `awk 'function f(x){return x} {print f(1)}' f`,
		`awk '{print close(1)}' f`, `awk '{x=PROCINFO["a"]}' f`, `awk '{print FOO}' f`, `awk -v FS=x 1 f`, `awk -v 'a[1]=x' 1 f`,
		"jq '$ENV' f", "jq 'env.A' f", "jq '.a|env' f", "jq '..env' f", "jq '. env' f", "jq -n '[env]'", `jq '"\(env)"' f`, "jq 'input_filename' f",
		`awk '/[/ {print "]/ {system($0) } #"}' f`, `awk '/\/ {print "/ {system($0) } #"}' f`, `awk '/[]/ {print "]/ {system($0) } #"}' f`, "git config a.b c",
		"git config edit", "git config a.b -- c", "git symbolic-ref HEAD refs/x", "git symbolic-ref HEAD -- refs/x", "git symbolic-ref -d HEAD",
	} {
		if form, err := Parse(NewTree(script), shell, nil); err == nil {
			t.Errorf("%q: %q", script, form.Script)
		}
	}
}

// The directories from which a relative name may be seen.
func TestDirectories(t *testing.T) {
	for script, want := range map[string][]string{
		"cat x":                              {"/w"},
		"cd a && cat x":                      {"/w/a"},
		"cd a; cat x":                        {"/w/a", "/w"},
		"cd a && cd ../b && cat x":           {"/w/b"},
		"cd a && ls && cat x":                {"/w/a"},
		"(cd a); cat x":                      {"/w"},
		"cd a | ls; cat x":                   {"/w"},
		"if [ -d a ]; then cd a; fi; cat x":  {"/w/a", "/w"},
		"cd a || cd b; cat x":                {"/w/a", "/w", "/w/a/b", "/w/b"},
		"! cd a && cat x":                    {"/w/a", "/w"},
		"cd /tmp && cat x":                   {"/tmp"},
		"git -C a diff -- /x; cat x":         {"/w"},
		"x=a; cd $x && cat x":                {"/w/a"},
		"ls && cd a && cat x":                {"/w/a"},
		"cd a && cat y; cd b && ls && cat x": {"/w/a/b", "/w/b"},
	} {
		form, err := Parse(NewTree(script), shell, nil)
		if err != nil {
			t.Errorf("%s: %v", script, err)
			continue
		}
		got := slices.Clone(form.Files[len(form.Files)-1].Dirs)
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", script, diff)
		}
	}
}

// The caller decides about a command that the table lacks.
func TestAllow(t *testing.T) {
	var seen []string
	allow := func(c *Command, why error) error {
		switch {
		case why == ErrOnlyReads:
			return why
		case c.Words[0] == "rm":
			return errors.New("no")
		}
		text := strings.Join(c.Words, " ")
		for _, w := range c.Writes {
			text += " >" + w.Text
		}
		seen = append(seen, text)
		return nil
	}
	form, err := Parse(NewTree("go test ./... 2>&1 | tail -5 && CGO_ENABLED=0 timeout 60 make 'a b' > log"), shell, allow)
	if err != nil {
		t.Fatal(err)
	}
	if want := "go test ./... 2>&1 | tail -5 && CGO_ENABLED=0 timeout 60 make 'a b' 1>log"; form.Script != want || form.ReadOnly {
		t.Errorf("%q, %v", form.Script, form.ReadOnly)
	}
	if diff := cmp.Diff([]string{"go test ./...", "make a b >log"}, seen); diff != "" {
		t.Error(diff)
	}
	if _, err := Parse(NewTree("make; rm x"), shell, allow); err == nil {
		t.Error("a refused command is in a plain form")
	}
	for _, script := range []string{"make $(ls)", "make $x", "make *", "make -*", "for x in a; do make $x; done", "{ make; } <<< x",
		"if ls; then make; fi <<< x", "make &", "make <<E\nE", "FOO=$(ls) make", "make {a,b} > $x"} {
		if form, err := Parse(NewTree(script), shell, allow); err == nil {
			t.Errorf("%s: %s", script, form.Script)
		}
	}
}

// The table itself: short options are single letters, each command has options that can be parsed, and
// what it names by a word is a function here.
func TestTable(t *testing.T) {
	declared := 0
	for _, words := range programs.Words() {
		facts := programs.Block(words)
		p := program{}
		switch {
		case facts.Plain != nil:
			p = program{*facts.Plain}
		case facts.Asks != nil:
			p.Options = *facts.Asks
		default:
			continue
		}
		declared++
		for option := range p.table() {
			if p.SingleDash || strings.HasPrefix(option, "--") || option == "-#" {
				continue
			}
			if len(option) != 2 || !strings.Contains("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.", option[1:]) {
				t.Errorf("%s: got the option %q, want a letter or a digit", words, option)
			}
		}
		if _, ok := checkNamed(p.Check); !ok {
			t.Errorf("%s: got the check %q, want the name of one", words, p.Check)
		}
		if p.Accept != "" && acceptNamed(p.Accept) == nil {
			t.Errorf("%s: got plain.accept = %q, want the name of a function", words, p.Accept)
		}
	}
	if declared < 250 {
		t.Errorf("got %d commands with options, want at least 250", declared)
	}
}

// Programs of sed and awk that people type to inspect something.
func TestPrintingPrograms(t *testing.T) {
	for _, script := range []string{
		`sed 's/[[:space:]]*$//' f`, `sed -n '/[a-z]\+/p' f`, `sed -E 's/([a-z]+) .*/\1/' f`, `sed 's/\./,/g' f`, `sed 's/[^0-9]//g; s|a/b|c|' f`,
		`sed '/^#/s/x/y/' f`, `sed -n '/^\[a\]/,/^\[/p' f`, `sed '/^$/d;5q' f`, `sed 's/\x1b\[[0-9;]*m//g' f`, `sed 's@a/b@c@' f`, `sed -n '/a/{p;q}' f`,
		`sed 'y/abc/xyz/' f`, `sed G f`, `sed 's/a;b/c/' f`, `sed -n '1~2p' f`,
		`awk '/[0-9]+/ {print $1}' f`, `awk '/^\s*func/' f`, `awk '{print NR": "$0}' f`, `awk '{s+=$1} END {print s}' f`, `awk 'NR>=1 && NR<=3' f`,
		`awk -F: '$3 > 5 {print $1 " " $3}' f`,
		`awk '!seen[$0]++' f`, `awk 'length($0) > 80 {print FILENAME": "FNR}' f`, `awk '{c[$1]++} END {for (k in c) print c[k], k}' f`,
		`awk 'BEGIN{FS=","} NR>1 && $3 == "a" {printf "%s\n", $2}' f`, `awk '/ERROR|WARN/{n++} END{print n+0}' f`,
		`awk -v n=3 'NR==n' f`, `awk '{print substr($0,1,80)}' f`, `awk '{if ($1>max) max=$1} END {print max}' f`, `awk '{gsub(/"/,""); print toupper($2)}' f`,
		`awk '/BEGIN/,/END/' f`, `awk '{print $(NF-1)}' f`, `awk 'NR%2' f`,
		`jq '.env' f`, `jq '.jobs.build.env[]' f`, `jq . config/env.json`,
		"git status -uno", "git status -u", "git config user.name", "git symbolic-ref --short HEAD",
	} {
		if _, err := Parse(NewTree(script), shell, nil); err != nil {
			t.Errorf("%s: %v", script, err)
		}
	}
}

// Bash parses every plain form without an error.
func FuzzPlain(f *testing.F) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		f.Skip("no bash here to compare with")
	}
	for _, s := range []string{"ls -la", "cat 'a b'", `echo "a$HOME"`, `x='$(b)'; echo "$x"`, "for f in a b; do cat \"$f\"; done", `grep '\' f`, "echo {a,b}",
		`echo a\ b`, "echo '`x`' \"\\$(x)\"", "cat <a", "echo ~", `echo $'a\nb'`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, script string) {
		form, err := Parse(NewTree(script), shell, nil)
		if err != nil {
			return
		}
		out, err := exec.Command(bash, "--norc", "--noprofile", "-n", "-c", form.Script).CombinedOutput()
		if err != nil {
			t.Fatalf("%q: bash does not read %q: %v %s", script, form.Script, err, out)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(NewTree(`cd sub && git diff --stat 2>/dev/null | tail -80`), shell, nil); err != nil {
			b.Fatal(err)
		}
	}
}
