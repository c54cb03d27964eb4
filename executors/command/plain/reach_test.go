package plain

import "testing"

// The files that a script opens decide whether it needs the box.
func TestReach(t *testing.T) {
	for script, want := range map[string]Reach{
		"cat a b | head -3": ReachesLiterals, "cd src && ls -la": ReachesLiterals, "grep -n x a": ReachesLiterals, "[ -f a ] && wc -l < a": ReachesLiterals,
		"echo $HOME $(pwd)": ReachesLiterals, "x=a; stat $x": ReachesLiterals, "for f in a b; do tail -1 $f; done": ReachesLiterals,
		"cat *.go": ReachesNamed, "for f in *; do wc $f; done": ReachesNamed, "awk 1 f": ReachesNamed, "jq . f": ReachesNamed, "tar tf a": ReachesNamed,
		"ls src/*": ReachesNamed, "ps aux": ReachesNamed,
		"grep -r x .": ReachesOthers, "grep -d recurse x .": ReachesOthers, "tail -f a": ReachesOthers, "ls -R": ReachesOthers, "git status": ReachesOthers,
		"go list": ReachesOthers, "rg x": ReachesOthers, "find .": ReachesOthers, "find . | xargs cat": ReachesOthers, "diff a b": ReachesOthers,
		"node --version": ReachesOthers, "npm ls": ReachesOthers, "cat $(ls)": ReachesOthers, "ls | while read f; do cat \"$f\"; done": ReachesOthers,
		"echo $(git log)": ReachesOthers, "timeout 5 git log": ReachesOthers, "if ls; then fd; fi": ReachesOthers, "stat -L a": ReachesOthers,
		"gofmt -l .": ReachesOthers,
	} {
		form, err := Parse(NewTree(script), shell, nil)
		if err != nil {
			t.Errorf("%s: %v", script, err)
		} else if form.Reach != want {
			t.Errorf("%s: reach %d, want %d", script, form.Reach, want)
		}
	}
}

// Words by which a command prints a control character of the script's choice are found, in the
// spelling of each program.
func TestEmits(t *testing.T) {
	for script, want := range map[string]bool{
		`printf '\033]52;c;eA==\a'`: true, `printf '\x1b[2J'`: true, `printf '\e[0m'`: true, `printf '\u001b'`: true, `printf '\u9b'`: true,
		`printf %b "$(ls)"`: true, `echo -e '\033[0m'`: true, `echo -ne "$(ls)"`: true, `echo -e '\c'`: true, "echo \u009b": true,
		`echo a | tr a '\033'`: true, `tr A-Z '\000-\032' < f`: true, `tr a '\r-~' < f`: true, `sed 's/a/\x1b/' f`: true, `sed 's/a/\o033/' f`: true,
		`sed 's/a/\d027/' f`: true, `sed 's/a/\c[/' f`: true, `awk 'BEGIN{printf "%c", 27}'`: true, `awk 'BEGIN{print "\033"}'`: true,
		`jq -n '[27]|implode'`: true, `jq -n '"G10="|@base64d'`: true, `jq -n '"\u001b"'`: true, `jq -n '"\"\\u00" + "1b\"" | fromjson'`: true,
		`git log --format=%x1b`: true, `git branch --format='%1b'`: true, `find . -printf '\033'`: true, `stat --printf '\033' f`: true,
		`base64 -d <<< G10=`: true, `base64 -d f`: true,
		`printf '%s\n' a`: false, `printf '%5.1f\t%b' 1`: true, `echo 'a\nb'`: false, `echo -e 'a\tb'`: false, `tr a-z A-Z < f`: false, `tr -d '\r' < f`: false,
		`tr '\n' ' ' < f`: false, `sed -n 's/\bx\b/y/p' f`: false, `git log --format='%h %an %cr %b'`: false, `date '+%c %b'`: false, `awk '{print $1}' f`: false,
		`grep -E '\d+\.\w' f`: false, `cat f`: false, `base64 f`: false, `jq '.a' f`: false, `rg '\.go$'`: false, `stat -c '%b %n' f`: false,
	} {
		form, err := Parse(NewTree(script), shell, nil)
		if err != nil {
			t.Errorf("%s: %v", script, err)
		} else if (form.Emits != "") != want {
			t.Errorf("%s: emits %q", script, form.Emits)
		}
	}
}
