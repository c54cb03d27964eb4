package permission

import (
	"os"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
)

// In a script that has no plain form the name of a blocked program as a word anywhere blocks, under a
// rule that allows everything and after a yes too.
func TestBlockedWordAnywhere(t *testing.T) {
	s := newSetup()
	s.cfg.Permissions = map[string][]Rule{"bash": {{Pattern: "*", Action: Allow}}}
	s.build()
	for script := range strings.SplitSeq(strings.TrimSpace(blockedForms), "\n---\n") {
		if got := s.outcome(t, bash(script)); got != "block" {
			t.Errorf("with a rule: %q: %s, want block", script, got)
		}
	}
	asks := newSetup()
	asks.build()
	for script := range strings.SplitSeq(strings.TrimSpace(blockedForms), "\n---\n") {
		asks.user.give = []string{allowOnce}
		if got := asks.outcome(t, bash(script)); got != "block" {
			t.Errorf("after a yes: %q: %s, want block", script, got)
		}
	}
}

const blockedForms = `
cat <<$x
$x
sudo id
---
cat <<"$(echo E)"
a
$(echo E)
sudo id
---
cat <<E$((1))
E1
doas id
E$((1))
---
coproc sudo id
---
coproc N=1 sudo id
---
declare -f x; declare "$(sudo id)"
---
declare -x "BASH_ENV=$f" y='sudo id'; bash
---
find . -exe? sudo id +
---
find . -ex[e]c sudo id +
---
find . * sudo id ;
---
rg --pr[e]=sudo x
---
rg --p?e=sudo x
---
fd * sudo
---
tar * --to-command=sudo
---
su""do id; x=$(true)
---
s\udo id | $x
---
$'\x73udo' id & wait
---
$'\163udo' id & wait
---
$'\u0073udo' id & wait
---
/usr/bin/su?o id & wait
---
/usr/bin/su* id & wait
---
/*/bin/s[u]do id & wait
---
su?o id & wait
---
s{u,}do id & wait
---
{su,nothing}do id & wait
---
su${nothing}do id & wait
---
su$@do id & wait
---
su` + "``" + `do id & wait
---
su$()do id & wait
---
eval "${x:-sudo} id"
---
${x:=sudo} id
---
${x+sudo} id
---
printf '\x73\x75\x64\x6f id' | bash -s $x
---
echo -e '\0163udo id' | sh $x
---
alias l='sudo id'
l
---
f() { "$@"; }; f sudo id
---
while read -r c; do $c; done <<< "sudo id"
---
trap 'sudo id' EXIT
---
PROMPT_COMMAND='sudo id' bash -i
---
[[ -v 'a[$(sudo id)]' ]]
---
(( a[$(sudo id)] ))
---
let 'a[$(sudo id)]=1'
---
select x in sudo; do $x id; done
---
case x in x) exec -a y sudo id;; esac
---
x=(sudo id); "${x[@]}"
---
read -r -a x <<< "sudo id"; "${x[@]}"
---
mapfile -t x < <(echo sudo); $x
---
printf -v x %s sudo; $x
---
x=sudo y=$(date); $x
---
time -p -- $x; sudo id & wait
---
sudo\
 id $(date)
---
echo $(date) # \
sudo id
---
if true; then { sudo id; } 3>&1; fi > $f
---
bash -c "$0 \"$@\"" sudo $x
---
xargs -I{} {} id <<< "sudo" $x
---
env -S "sudo id $x"
---
python3 - <<$E
import os; os.system("sudo id")
$E
---
awk -v c="sudo $x" 'BEGIN{system(c)}'
---
x=$(cat f); mkfs.ext4 $x
---
dd if=$x of=y & wait
---
nc.openbsd -l 1 & wait
---
runuser -u root $(date)
---
machinectl --quiet shell root@ & wait
---
systemctl --now poweroff $(date)
---
git commit -m "$(cat <<$x
sudo id
$x
)"
---
bash -c "$(cat <<'EOF'
sudo id
EOF
)" $x
---
eval "git commit -m "$(cat <<'EOF'
sudo id
EOF
)""; $x
---
git commit -m "$(cat <<'EOF'
text
EOF
sudo id
)"
---
git commit -m "$(cat <<'EOF'
text
EOF
)" && sudo id $(date)
---
sudo id <(date)
---
echo a |& $x sudo
---
( sudo id ) 2> $f
---
sudo$IFS-u$IFS$x
---
! { ! sudo id; } & wait
---
[ "$x" = sudo ] && $x
---
case sudo in sudo) $x;; esac
---
f() { grep -rn sudo .; }; $f
---
git commit -m "text" -m "$x" && $x sudo
---
git -c alias.x=commit x -m "$(cat f)" sudo
`

// The new programs of the block list are blocked in plain commands and wherever another program starts them.
func TestBlockedSynonyms(t *testing.T) {
	s := newSetup()
	s.cfg.Permissions = map[string][]Rule{"bash": {{Pattern: "*", Action: Allow}}}
	s.build()
	for _, script := range []string{
		"runuser -u root id", "setpriv --reuid=0 id", "nsenter -t 1 -a", "gosu root id", "su-exec root id", "systemd-run id", "systemd-run --user id",
		"machinectl shell", "machinectl login x",
		"mkdosfs x", "mkntfs x", "mkexfatfs x", "cryptsetup luksFormat x", "blkdiscard x", "timeout 5 gosu root id", "env systemd-run id",
		"bash -c 'nsenter -t 1'", "visudo", "sudo-rs id",
		`psql -c '\! sudo id'`, `psql -c '\o |sudo id'`, `psql --command='\! sudo id'`, `mysql -e '\! sudo id'`, `mysql -e 'system sudo id'`,
		`sqlite3 x '.shell sudo id'`, `sqlite3 x '.system sudo id'`,
		`sqlite3 x '.once |sudo id'`, `sqlite3 x '.output |sudo id'`, `sqlite3 -cmd '.shell sudo id' x`, `duckdb x '.shell sudo id'`,
		"psql <<'E'\n\\! sudo id\nE", `psql -c "copy t from program 'sudo id'"`,
		"cmake -E env sudo id", "cmake -E time sudo id", "cmake -E env A=1 sudo id", "git merge-index sudo -a", "git merge-index -o sudo a",
		"git -C . merge-index sudo a", "git merge-file x y z; sudo x",
		`perl -pe 'system("sudo id")'`, `perl -ne 'exec "sudo"'`, `perl -lane 'print qx(sudo id)'`, `perl -pe '$_=qx{sudo id}'`,
		`perl -e 'exec q(sudo), q(id)'`, `perl -e 'system qq{sudo id}'`, `perl -e 'exec qw/sudo id/'`, `ruby -e 'exec %w[sudo id]'`, `ruby -e 'system %q(sudo id)'`,
		`ruby -e 'system "sudo id"'`, `ruby -ne '%x(sudo id)'`, "ruby -e '`sudo id`'",
		"make -f /dev/stdin <<< 'a: ; sudo id'", "make -f - <<'E'\na:\n\tsudo id\nE", "make --file=/dev/stdin <<< 'a: ; sudo id'",
		"gmake -f/dev/fd/0 <<< 'a: ; sudo id'", "make -f /dev/stdin <<< '$(shell sudo id)'",
		"make -f /dev/stdin <<< 'x != sudo id'",
	} {
		if got := s.outcome(t, bash(script)); got != "block" {
			t.Errorf("%q: %s, want block", script, got)
		}
	}
}

// Ordinary text with the name of a blocked program is not blocked in scripts of the grammar, nor are
// everyday scripts outside of it.
func TestNoFalseBlocks(t *testing.T) {
	s := newSetup()
	s.cfg.Permissions = map[string][]Rule{"bash": {{Pattern: "*", Action: Allow}}}
	s.build()
	scripts := []string{
		`echo "sudo make me a sandwich"`, "grep -rn sudo .", "grep -r 'su root' docs | head", "git commit -m 'Fix graceful shutdown'",
		"git log --grep=reboot --oneline", "rg -n 'dd if=' docs && echo done",
		"cat <<'EOF'\nrun sudo apt install x\nEOF", "for f in *.go; do echo $f; done", "sed -n '/shutdown/p' a.go", "docker compose logs | grep shutdown",
		"npm run halt", "kubectl get pods | awk '{print $1}'",
		"git commit -m \"$(cat <<'EOF'\nFix graceful shutdown\n\nThe server ran halt before reboot, and su and sudo were mixed up.\n\nEOF\n)\"",
		"git add -A && git commit -m \"$(cat <<'EOF'\nUse dd, nc and sudo in the docs\nEOF\n)\" && git status",
		"cd sub && gh pr create --title \"Fix shutdown\" --body \"$(cat <<'EOF'\n## Summary\n- sudo\nEOF\n)\"",
		"NC='\\033[0m'; nc=$(tput sgr0); echo \"$nc\"", "x=$(date +%Y-%m-%d); mkdir -p out/$x", "for i in $(seq 3); do echo $i; done",
		"d=$(mktemp -d); cd \"$d\" && ls", "npm run dev & sleep 1; kill $!",
		"go test ./... 2>&1 | tee $log", "server.shutdown() { :; }; echo $x", "echo $((1+2)); make", "while read -r l; do echo \"$l\"; done < f",
		"curl -s localhost:$PORT/health", "docker run --init -e X=$(id -u) a",
		"systemctl status $x", "diff <(sort a) <(sort b)", "FOO=$(cat .env | head -1) npm test", "pids=$(pgrep -f server); kill $pids",
		"python3 - <<EOF\nprint($x)\nEOF", "rm -rf build/$x", "ls *.go $x",
		"chmod +x *", "python3 - <<'E'\nnc = 1\ndd = nc\nE", "kubectl apply -f - <<'E'\nsu: dd\nE", "git commit -F - <<'E'\nFix shutdown\nE",
		"prettier --write * && git add *.md",
	}
	for _, name := range []string{"daily.txt", "harmless.txtar"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "--") {
				scripts = append(scripts, line)
			}
		}
	}
	blocked := 0
	for _, script := range scripts {
		g := (&Guard{Policy: s.perm.Policy, Roots: roots(root), Home: "/home/u"}).newCheck(s.perm.Policy.Load(), &executors.Call{})
		if f := g.checkAnyWord(bash(script).Card.Script); f != nil {
			t.Errorf("%q is blocked: %s", script, f.Message)
			blocked++
		}
	}
	t.Logf("%d of %d scripts are blocked", blocked, len(scripts))
}
