package command

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var shell = Shell{Dir: "/w", Home: "/home/u"}

func programsOf(s *Script) []string {
	var out []string
	for _, c := range s.Commands {
		out = append(out, c.Program())
	}
	return out
}

func TestParse(t *testing.T) {
	for script, want := range map[string]string{ // programs in order; ? is a computed one; ! means something dynamic
		`ls`:                     "ls",
		``:                       "",
		`# sudo`:                 "",
		`a && b || c; d | e & f`: "a b c d e f",
		"a\nb":                   "a b",
		`(a; { b; })`:            "a b",
		`if a; then b; elif c; then d; else e; fi`:                                    "a b c d e",
		`while a; do b; done; for x in $(c); do d; done; case $(e) in $(f)) g;; esac`: "a b c d e f g",
		`f() { a; }; f`:                      "a function f",
		`time a; ! b; coproc c`:              "a b c",
		`echo $(a $(b)) "$(c)" ` + "`d`":     "b a c d echo",
		`cat <(a) >(b)`:                      "a b cat",
		`x=$(a)`:                             "a",
		`X=1 sudo ls`:                        "sudo",
		`[[ -n $(a) ]] && (( $(b) > 1 ))`:    "a b !",
		`export X=$(a)`:                      "a export",
		`"su"do`:                             "sudo",
		`s\udo`:                              "sudo",
		`$'\x73udo' ls`:                      "sudo",
		`$'\163udo' ls`:                      "sudo",
		"su\\\ndo":                           "sudo",
		`/usr/bin/sudo`:                      "sudo",
		`{su,}do`:                            "sudo",
		`\sudo`:                              "sudo",
		`SUDO x`:                             "sudo",
		`sudoku`:                             "sudoku",
		`$c x`:                               "? x !",
		`c=sudo; $c x`:                       "? sudo !",
		`s?do x`:                             "? !",
		`env sudo`:                           "env sudo",
		`env -i X=1 sudo`:                    "env sudo",
		`env -u X Y=2 nice -n 5 sudo`:        "env nice sudo",
		`env -S 'sudo ls'`:                   "env sudo",
		`env -Ssudo ls`:                      "env sudo",
		`nohup timeout -k 5 60 sudo`:         "nohup timeout sudo",
		`timeout --signal=KILL 5 sudo`:       "timeout sudo",
		`command sudo; builtin eval sudo`:    "command sudo builtin eval sudo",
		`command -v sudo`:                    "command",
		`exec -a x sudo`:                     "exec sudo",
		`xargs -n1 sudo`:                     "xargs sudo !",
		`xargs -I {} sudo {}`:                "xargs sudo !",
		`find . -name x -exec sudo rm {} \;`: "find sudo !",
		`find . -exec rm {} +`:               "find rm !",
		`bash -c 'sudo ls'`:                  "bash sudo",
		`bash -lc 'sudo ls'`:                 "bash sudo",
		`sh -e -c "bash -c 'sudo ls'"`:       "sh bash sudo",
		`bash -c "$x"`:                       "bash !",
		`bash -o pipefail -c 'a'`:            "bash a",
		`bash x.sh`:                          "bash",
		`alias q='a;'`:                       "alias a !",
		`compgen -W "$x"`:                    "compgen -w ? !",
		`fc -s`:                              "fc !",
		`bash <<< 'sudo ls'`:                 "bash sudo",
		"bash <<EOF\nsudo ls\nEOF":           "bash sudo",
		"bash <<'EOF'\nsudo $x\nEOF":         "bash sudo",
		"cat <<EOF\n$(sudo ls)\nEOF":         "sudo cat",
		`echo sudo ls | bash`:                "echo bash sudo",
		`echo c3Vkbw== | base64 -d | sh`:     "echo base64 sh !",
		`curl x | sh`:                        "curl sh !",
		`eval sudo ls`:                       "eval sudo",
		`eval -- sudo ls`:                    "eval sudo",
		`eval "$x"`:                          "eval !",
		`eval 'a; b' c`:                      "eval a b",
		`trap 'sudo ls' EXIT`:                "trap sudo",
		`busybox rm x`:                       "busybox rm",
		`watch 'sudo ls'`:                    "watch sudo ls sudo",
		`flock /tmp/l -c 'sudo ls'`:          "flock sudo",
		`flock /tmp/l sudo ls`:               "flock sudo",
		`script -c 'sudo ls' /dev/null`:      "script sudo",
		`strace -f -o out sudo`:              "strace sudo",
		`git -c alias.x=push x -f`:           "git push alias.x=push git",
		`git config alias.x push`:            "git push git",
		`git-push origin`:                    "git-push git",
		`git commit -m "use sudo"`:           "git",
		`grep sudo file`:                     "grep",
		`source x`:                           "source",
	} {
		s := Parse(script, shell)
		if err := s.Err; err != nil {
			t.Errorf("%q: %v", script, err)
			continue
		}
		var got []string
		for _, p := range programsOf(s) {
			if p == "" {
				p = "?"
			}
			got = append(got, p)
		}
		for range s.Dynamic {
			got = append(got, "!")
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q\n got %s %q\nwant %s", script, strings.Join(got, " "), s.Dynamic, want)
		}
	}
}

// A text that a number, a test or a declaration evaluates once more is never known.
func TestParseEvaluatesAgain(t *testing.T) {
	for _, script := range []string{
		`[[ -v 'a[$(x)]' ]]`, `[[ -R 'a[$(x)]' ]]`, `y='a[$(x)]'; [[ -v $y ]]`, `y='a[$(x)]'; [[ 1 -lt $y ]]`,
		`y='a[$(x)]'; echo $((1 + y))`, `y='a[$(x)]'; echo $((y + 1))`, `y='a[$(x)]'; echo $((1 + $y))`, `y='a[$(x)]'; (( z = y ))`,
		`command declare y='a[$(x)]'; echo $((y))`, `command declare -i y='a[$(x)]'`, `builtin typeset -n y=z`, `read y; echo $((y))`,
	} {
		if s := Parse(script, shell); s.Err != nil || len(s.Dynamic) == 0 {
			t.Errorf("%s: %v, and nothing in it is computed at run time", script, s.Err)
		}
	}
}

// A script with very many commands is refused.
func TestParseBounds(t *testing.T) {
	if s := Parse(strings.Repeat("x\n", maxCommands), shell); s.Err != nil {
		t.Errorf("%d commands are refused: %v", maxCommands, s.Err)
	}
	if s := Parse(strings.Repeat("x\n", maxCommands+1), shell); s.Err == nil {
		t.Errorf("%d commands are accepted", maxCommands+1)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, script := range []string{"(\n$x#; sudo x\n)", "(echo $(x)#; sudo x\n)", "(echo $x\\\n#; sudo x\n)", "ls\x00", "echo \\\r\nsudo x",
		"echo \"$\\\n(sudo x)\"", "cat <<E\n$\\\n\\\n(sudo x)\nE", "x=sudo; $\\\n{x} y", "$\\\n'sudo' x", "cat <\\\n(sudo x)", "cat <<\\\n-E\nx\nE\nsudo x\n-E\n",
		"cat <<E\nE\\\n\nsudo x\nE\n", "cat <<-E\n\t\\\nE\nsudo x\nE\n", "cat <<-E\n\tx\\\n\tE\ncat <<F\nE\nsudo x\nF\n", "(\\\n(echo '$(sudo x)'))",
		"echo $(\\\n\\\n(echo '$(sudo x)'))", "echo \"`(\\\n(echo '$(sudo x)'))`\"", "cd / &\\\n> f; cat x", "echo `(\\\\\n(echo '$(sudo x)'))`",
		"cat <<$'a\\x62'\nab\nsudo x\na\\x62\n", "cat <<\"a\\$b\"\na$b\nsudo x\na\\$b\n", "cat <<E\n${x:-\nE\nsudo x\n}\nE\n", `$'sudo\c@' x`, `$'sud\x{6f}' x`,
		"coproc a=1 sudo x", "coproc 2>&1 sudo x", "coproc 1>f sudo x", "coproc {y}>f sudo x", "coproc make a=1", "coproc sudo x | y", "coproc sudo x |& y",
		"coproc sudo ! x", "coproc sudo export x", "coproc sudo time x", "coproc sudo coproc x", "x=(@(\nsudo x\n))",
		"declare -a y=(a\n[0]=b+(c)); echo '\nsudo x\n'", `a "`, `a )`, `if a`, `<<`, "a | ", strings.Repeat("$(", 5000)} {
		if s := Parse(script, shell); s.Err == nil {
			t.Errorf("%.20q parsed: %v", script, programsOf(s))
		}
	}
	deep := "ls"
	for range 40 {
		deep = "eval " + deep
	}
	if s := Parse(deep, shell); s.Err == nil && len(s.Dynamic) == 0 {
		t.Error("nesting without end is taken for known")
	}
}

func TestPaths(t *testing.T) {
	for script, want := range map[string]string{ // absolute paths; ? before one that only looks like one
		`cat a /etc/passwd`:               "/w/a /etc/passwd",
		`cat "/etc/pass wd"`:              "/etc/pass wd",
		`cat ~/.ssh/id "$HOME/x"`:         "/home/u/.ssh/id /home/u/x",
		`cat ../x`:                        "/x",
		`cd sub && cat ../x`:              "/w/sub /w/x",
		`cd /tmp && rm -rf y`:             "/tmp /tmp/y",
		`cd sub; cat ../x`:                "/w/sub /w/x|/x",
		`(cd /etc && ls); cat x`:          "/etc /w/x",
		`cd /etc | cat x`:                 "/etc /w/x",
		`cd "$d" && cat x`:                "unknown unknown",
		`grep -r /etc/x .`:                "/w",
		`grep -e /etc/x /etc/y`:           "/etc/y",
		`sed -n '/foo/p' f`:               "/w/f",
		`sed -i s/a/b/ /etc/hosts`:        "/etc/hosts",
		`head -n 5 f`:                     "/w/f",
		`go build -o /etc/x ./...`:        "?/etc/x ?/w/...",
		`go build -o=/etc/x`:              "?/etc/x",
		`gcc -I/usr/include a.c`:          "?/usr/include",
		`git commit -m "see /etc/hosts"`:  "",
		`git push git@github.com:a/b.git`: "",
		`curl https://example.com/a/b`:    "",
		`docker run -v /:/host x`:         "?/:/host",
		`/usr/bin/cat x`:                  "/w/x",
		`../evil x`:                       "/evil",
		`tee /etc/x`:                      "/etc/x",
		`awk -f p.awk /etc/x`:             "/w/p.awk /etc/x",
		`cp -t /etc a`:                    "/etc /w/a",
		`python3 /etc/x.py`:               "?/etc/x.py",
		`cat file:///etc/passwd`:          "/w/file:/etc/passwd",
	} {
		s := Parse(script, shell)
		if err := s.Err; err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range s.Commands {
			for _, p := range c.Paths() {
				text := cleaned(p)
				if len(p.Abs) == 0 {
					text = "unknown"
				}
				if !p.Sure {
					text = "?" + text
				}
				got = append(got, text)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q\n got %q\nwant %q", script, strings.Join(got, " "), want)
		}
	}
}

func cleaned(p Path) string {
	var out []string
	for _, abs := range p.Abs {
		out = append(out, filepath.Clean(abs))
	}
	return strings.Join(out, "|")
}

func TestRedirects(t *testing.T) {
	s := Parse(`a > /etc/x 2>&1 < in >> "$f" &> b <<< word; echo "a > b"; c >&/etc/y`, shell)
	if err := s.Err; err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range s.Redirects {
		op := "<"
		if r.Write {
			op = ">"
		}
		got = append(got, op+cleaned(r.Path()))
	}
	if want := `>/etc/x </w/in > >/w/b >/etc/y`; strings.Join(got, " ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, " "), want)
	}
	if len(s.Dynamic) != 1 {
		t.Errorf("got %v, want 1 of them", s.Dynamic)
	}
}

func TestReadOnly(t *testing.T) {
	for script, want := range map[string]bool{
		"go version": true, "go env": true, "go env -w X=1": false, "go run .": false, "go test ./...": false, "go": false,
		"ls -la": true, "cat a b": true, "./ls": false, "/bin/ls": true, "/tmp/ls": false, "bin/ls": false,
		"git status": true, "git -c x=y status": false, "git -C sub status": true, "git log --oneline -5": true, "git diff": true, "git diff --ext-diff": false,
		"git diff --output=x": false, "git diff --outp=x": false, "git log -p": true, "git branch": true, "git branch x": false, "git branch -D x": false,
		"git tag": true, "git tag x": false,
		"git remote -v": true, "git remote add a b": false, "git stash list": true, "git stash": false, "git config --get user.name": true,
		"git config user.name x": false,
		"git push":               false, "git grep -O x": false,
		"find . -name x": true, "find . -delete": false, "find . -exec ls {} ;": false, "find . -fprintf a b": false,
		"sed -n 5p f": true, "sed -n '1,20p' f": true, "sed -i s/a/b/ f": false, "sed s/a/b/ f": true, "sed s/a/b/e f": false, "sed -n 'w x' f": false,
		"sed -n '/x/e' f": false, "sed -n -i 5p f": false,
		"rg x": true, "rg --pre cat x": false, "rg --pre=cat x": false, "sort f": true, "sort -o f f": false, "sort -uo f f": false, "sort --out=f f": false,
		"uniq a": true, "uniq a b": false, "tree": true, "tree -o x": false, "date": true, "date +%s": true, "date -s x": false, "date 010100002030": false,
		"echo $x": true, "cat $x": false, "echo hi": true, "printf '%s' x": true, "printf -v PATH x": false,
		"env": false, "printenv": false, "awk 1 f": true, "awk '{print > 1}' f": false, "xargs ls": true, "xargs touch": false, "node --version": true,
		"node --version -e x": false, "node -e 1": false,
		"hostname": true, "hostname evil": false, "command -v x": true, "ps aux": true, "ps auxe": false, "jq . f": true, "jq 'env' f": false,
		"tail -f x": true, "fd -x rm": false, "fd x": true, "xxd -r f": false, "xxd f g": false, "tee x": false, "dd": false, "ls*": false, "$x": false,
		"set -euo pipefail": true, "set -- x": false, "cd sub": true,
	} {
		s := Parse(script, shell)
		if err := s.Err; err != nil {
			t.Fatal(script, err)
		}
		if got := s.Commands[0].ReadOnly(); got != want {
			t.Errorf("ReadOnly(%s) = %v", script, got)
		}
	}
}

// Whatever is put around a script, the programs that it runs stay listed.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`ls`, `sudo x`, `a && b`, `$(a)`, `echo "x"`, "a\nb", `{a,b}`, `$'\x41'`, `a > b`, `f() { a; }`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, script string) {
		if strings.ContainsRune(script, 0) || strings.HasSuffix(script, `\`) {
			return // no script holds a NUL; a last backslash would escape what is put behind it
		}
		plain := Parse(script, shell)
		plain.Outputs()
		if plain.Err != nil {
			for _, c := range plain.Commands {
				if !c.Guess {
					t.Errorf("%q: a command of a script that cannot be parsed is no guess: %q", script, c.Text())
				}
				c.Paths()
			}
			return
		}
		for _, c := range plain.Commands {
			c.Paths()
			c.ReadOnly()
			c.Text()
		}
		quoted := "'" + strings.ReplaceAll(script, "'", `'\''`) + "'"
		for _, around := range []string{"(\n" + script + "\n)", "bash -c -- " + quoted, "eval -- " + quoted} {
			got := Parse(around, shell)
			if got.Err != nil {
				continue // cannot be parsed: the policy asks
			}
			if len(got.Dynamic) > len(plain.Dynamic) {
				continue // something is said to be unknown: the policy asks
			}
			rest := programsOf(got)
			for _, p := range programsOf(plain) {
				i := slices.Index(rest, p)
				if i < 0 {
					t.Fatalf("%q hides %q of %q: %q", around, p, script, programsOf(got))
				}
				rest = rest[i+1:]
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if s := Parse(`cd sub && go test ./... 2>&1 | tail -80`, shell); s.Err != nil {
			b.Fatal(s.Err)
		}
	}
}
