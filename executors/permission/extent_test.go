package permission

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/permission/answers"
)

// afterAlways returns the outcome of a command after an "always" for another one, in the next
// process.
func afterAlways(t *testing.T, allowed, then string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), answers.FileName)
	s := newSetup()
	s.stored(path)
	s.user.give = []string{allowAlways}
	s.do(t, bash(allowed))
	again := newSetup()
	again.stored(path)
	return again.outcome(t, bash(then))
}

// An "always" covers the set of options that the user saw, with their values, and operands that
// are programs. Another set asks, however it is written.
func TestAlwaysIsKeyedByOptions(t *testing.T) {
	for allowed, others := range map[string][]string{
		"kubectl get pods": {
			"kubectl get pods --kubeconfig=evil", "kubectl get --kubeconfig evil pods", "kubectl get pods --kubeconf=evil", "kubectl get pods -s evil.example",
			"kubectl get pods -oyaml -shttps://evil.example", "kubectl get pods --token=x", "kubectl get pods --as=root",
		},
		"sqlite3 x.db 'select 1'": {
			"sqlite3 x.db '.once |./evil.sh'", "sqlite3 x.db .dump", "sqlite3 x.db 'select 1' '.output x'", "sqlite3 -init evil x.db 'select 1'",
			"sqlite3 x.db '.import |./evil t'", "echo '.once |x' | sqlite3 x.db", "sqlite3 x.db <<< '.once |x'", `sqlite3 x.db "select writefile('a','b')"`,
		},
		"go build": {
			"go build -ldflags=-extar=./evil", "go build -gcflags=-memprofile=out", "go build -gcflags -memprofile=out", "go build -o .envrc",
			"go build -overlay=x.json",
			"go build -modfile=evil.mod", "go build --ldflags=-extar=./evil", "go build -pgo=x", "go build -asmflags=-o=x",
		},
		"git fetch .": {"git fetch . +old:main", "git fetch . old:main", "git fetch . --refmap=x", "git fetch -f .", "git fetch . ':x'",
			"git fetch --prune .", "git fetch . --upload-pac=./x"},
		"git pull": {"git pull --rebase", "git pull origin +a:b", "git pull --strategy=evil", "git pull -s evil", "git pull -Xtheirs",
			"git pull --no-verify"},
		"terraform apply": {"terraform apply -destroy", "terraform apply -auto-approve", "terraform apply -replace=x", "terraform apply -var x=y",
			"terraform apply --destroy"},
		"docker build .": {"docker build --push .", "docker build . --push", "docker build -o out .", "docker build --ssh default .",
			"docker build . -f -", "docker build --secret id=x ."},
		"psql -c 'select 1'": {`psql -c '\o |cmd'`, `psql -c'\o |cmd'`, `psql --command='\o |cmd'`, "psql -o out -c 'select 1'",
			`psql -c 'select 1' -c '\copy x to y'`, "psql -c 'select 1' -v x=y"},
		"helm template x .": {"helm template x . --post-renderer ./evil", "helm template x . --post-renderer=./evil",
			"helm template x . --post-render ./evil", "helm template x . --output-dir d"},
		"pandoc a.md": {"pandoc a.md --filter ./evil", "pandoc --filter=./evil a.md", "pandoc a.md -F ./evil", "pandoc -L evil.lua a.md",
			"pandoc a.md --lua-f evil", "pandoc a.md -o .envrc"},
		"pandoc --filter x a.md": {"pandoc --filter ./evil a.md", "pandoc --filter=x --filter=y a.md"},
		"npm audit fix": {"npm audit fix --force", "npm audit fix -f", "npm audit fix --forc", "npm audit fix --no-ignore-scripts",
			"npm audit fix --registry=evil"},
		"npm run build": {"npm run build --script-shell=./evil", "npm run build -- --force", "npm_config_script_shell=./evil npm run build",
			"env npm_config_script_shell=./e npm run build"},
		"cargo build": {"cargo build -Zbuild-std", "cargo build --target-dir=x", "cargo build --manifest-path evil/Cargo.toml",
			"cargo build --config=x", "cargo build --release --out-dir x"},
		"pytest": {"pytest -p evil", "pytest -pevil", "pytest -xpevil", "pytest --pyargs evil", "pytest -c evil.ini",
			"pytest --rootdir=x", "pytest --override-ini=x=y", "pytest @evil"},
		"prettier a.js":          {"prettier --write a.js", "prettier a.js --plugin=./evil.js", "prettier --config evil.js a.js", "prettier a.js --write"},
		"javac A.java":           {"javac A.java @evil", "javac A.java -processor E", "javac A.java -d out"},
		"mysqldump db":           {"mysqldump db -r x", "mysqldump db --result-file=x", "mysqldump db --plugin-dir=x"},
		"ansible-playbook a.yml": {"ansible-playbook a.yml -e x=y", "ansible-playbook a.yml --extra-vars @x", "ansible-playbook a.yml -i evil,"},
		"kubectl apply -f a.yml": {"kubectl apply -f -", "kubectl apply -f b.yml", "kubectl apply -f a.yml --prune", "kubectl apply -k .",
			"kubectl apply -f a.yml --dry-run=none"},
		"golangci-lint run": {"golangci-lint run --out-format=json:.envrc", "golangci-lint run --out-format json:/etc/x"}, // "json:FILE" writes a file
		"pylint a":          {"pylint --output-format=evil.Reporter a", "pylint a --output-format json:.envrc"},           // a class is loaded
		"foo --dry-run a":   {"foo a", "foo --dry-run --no-dry-run a", "foo --no-dry-run a", "foo --dry-run=false a", "foo -- --dry-run a"},
		"docker compose up": {"docker compose up --pull=always", "docker compose up -V", "docker compose up --scale x=9"},
		"gh pr view 1":      {"gh pr view 1 --repo evil/x", "gh pr view 1 -R evil/x"},
		"go test ./...": {"go test ./... -coverprofile=x", "go test -args -x ./...", "go test -v -o x ./...", "go test ./... -toolexec=x",
			"go test -run X -exec x ./..."},
	} {
		for _, other := range others {
			if got := afterAlways(t, allowed, other); got != "ask" {
				t.Errorf("%q after an always for %q: %s, want ask", other, allowed, got)
			}
		}
	}
}

// Options that the table declares harmless, and names of files, do not matter, and neither does
// the order of options.
func TestAlwaysIgnoresHarmlessOptions(t *testing.T) {
	for _, tt := range [][2]string{
		{"go test ./...", "go test -run TestX -count=1 -v ./executors/..."}, {"go test -run X ./a", "go test ./b"}, {"go test",
			"go test -race -timeout 5s ./..."},
		{"go test", "CGO_ENABLED=0 go test"}, {"CI=1 npm test", "npm test"}, {"npm test", "npm test --silent"},
		{"kubectl get pods", "kubectl get -n x -o yaml pods"}, {"kubectl get pods", "kubectl get pods --namespace=y"},
		{"pytest", "pytest -xvs"}, {"pytest tests", "pytest -k 'a and not b' --tb=short tests b.py::test_c"}, {"cargo test", "cargo test --release -p x a::b"},
		{"git commit -m a", "git commit -am 'b; c'"}, {"git add a", "git add -A b c"}, {"docker build .", "docker build -t x --no-cache ."},
		{"eslint --fix src", "eslint --fix src"}, {"eslint src --fix", "eslint src --quiet --fix"}, {"foo --a=1 --b=2 x", "foo --b=2 --a=1 x"},
		{"foo x", "foo x y z.txt"}, {"git fetch origin", "git fetch --all origin main"}, {"terraform plan", "terraform plan -no-color"},
		{"sqlite3 x.db 'select 1'", "sqlite3 x.db 'select 1'"}, {"npm run build -- --watch", "npm run build -- --watch"},
		{"npx eslint .", "npx eslint src"}, {"python3 -m pytest", "python3 -m pytest -q tests"}, {"./build.sh all", "./build.sh all"},
		{"x=1; go test ./a$x", "x=1; go test ./a$x"},
	} {
		if got := afterAlways(t, tt[0], tt[1]); got != "allow" {
			t.Errorf("%q after an always for %q: %s, want allow", tt[1], tt[0], got)
		}
	}
}

// The name of an option says what it covers.
func TestAlwaysNamesItsExtent(t *testing.T) {
	for script, want := range map[string]string{
		"go test ./...":                        "Always allow `go test`",
		"go test -run X -tags=a ./...":         "Always allow `go test -tags=a`",
		"psql db -c 'select 1'":                "Always allow `psql db -c \"select 1\"`",
		"git fetch . +old:main":                "Always allow `git fetch +old:main`",
		"npm run build -- --watch":             "Always allow `npm run build -- --watch`",
		"curl http://localhost:3000/x":         "Always allow curl to http://localhost:3000",
		"curl https://a.example/x":             "Always allow curl to a.example",
		"curl -L https://a.example/x":          "Always allow exactly `curl -L https://a.example/x`",
		"npm_config_script_shell=./x npm test": "Always allow exactly `npm test`",
	} {
		s := newSetup().build()
		s.do(t, bash(script))
		if got := s.user.names[0][1].Name; got != want {
			t.Errorf("%s: %q, want %q", script, got, want)
		}
	}
}

// Redirects lead to any host, and the scheme belongs to the host.
func TestAlwaysForHosts(t *testing.T) {
	for _, tt := range [][3]string{
		{"curl https://a.example/x", "curl -L https://a.example/y", "ask"},
		{"curl -L https://a.example/x", "curl -L https://a.example/x", "allow"},
		{"curl -L https://a.example/x", "curl -L https://a.example/y", "ask"},
		{"curl https://a.example/x", "curl --location https://a.example/y", "ask"},
		{"curl https://a.example/x", "curl -sSfL https://a.example/y", "ask"},
		{"curl https://a.example/x", "curl --location-trusted https://a.example/y", "ask"},
		{"curl https://a.example/x", "curl http://a.example/x", "ask"},
		{"curl http://a.example/x", "curl https://a.example/x", "ask"},
		{"curl http://a.example/x", "curl -s HTTP://A.example:80/y", "allow"},
		{"wget -qO- https://a.example/x", "wget -qO- https://a.example/y", "ask"},
		{"wget -qO- --max-redirect=0 https://a.example/x", "wget -qO- --max-redirect=5 https://a.example/y", "ask"},
		{"wget -qO- --max-redirect=0 https://a.example/x", "wget -qO- --max-redirect=0 --max-redirect=5 https://a.example/y", "ask"},
		{"wget -qO- --max-redirect=0 https://a.example/x", "wget -qO- --max-redirect=0 http://a.example/y", "ask"},
	} {
		if got := afterAlways(t, tt[0], tt[1]); got != tt[2] {
			t.Errorf("%q after an always for %q: %s, want %s", tt[1], tt[0], got, tt[2])
		}
	}
}

// An entry of an older version covers the command without options. The question explains that.
func TestOlderAnswers(t *testing.T) {
	path := filepath.Join(t.TempDir(), answers.FileName)
	if err := os.WriteFile(path,
		[]byte("[[project.\""+root+"\".allow]]\ncommand = \"go test\"\n\n[[project.\""+root+"\".allow]]\nhost = \"a.example\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for script, want := range map[string]string{
		"go test ./...": "allow", "go test -v ./...": "allow", "go test -exec=./x": "ask", "go test -tags=x ./...": "ask",
		"curl https://a.example/": "allow", "curl http://a.example/": "ask", "curl -L https://a.example/": "ask",
	} {
		s := newSetup()
		s.stored(path)
		call := bash(script)
		if got := s.outcome(t, call); got != want {
			t.Errorf("%s: %s, want %s", script, got, want)
		}
		if explained := strings.Contains(call.Record.Explain(), "your \"always\" for `go test` does not cover `-tags=x`"); explained != strings.Contains(script,
			"-tags") {
			t.Errorf("%s: the question says %q", script, call.Record.Explain())
		}
	}
}

// An "always reject" holds for the command with any further options.
func TestRejectedForGood(t *testing.T) {
	s := newSetup().build()
	_ = s.perm.Remembered.Set([]string{"command terraform apply", "command foo x -a"}, Deny) // held for the session
	for script, want := range map[string]string{
		"terraform apply": "block", "terraform apply -destroy": "block", "terraform apply -var 'a b' +x": "block", "terraform plan": "ask",
		"foo x": "ask", "foo x -a": "block", "foo -a x": "block", "foo -a x -b": "block", "foo -b": "ask",
	} {
		if got := s.outcome(t, bash(script)); got != want {
			t.Errorf("%s: %s, want %s", script, got, want)
		}
	}
}

// Only declared variables may stand before a command that a rule or an "always" covers.
func TestVariablesBelongToTheCommand(t *testing.T) {
	for script, want := range map[string]string{
		"npm run x": "allow", "CI=1 npm run x": "allow", "npm_config_script_shell=bin/evil npm run x": "ask",
		"env npm_config_script_shell=bin/evil npm run x":     "ask",
		"export npm_config_script_shell=bin/evil; npm run x": "ask", "npm_config_script_shell=bin/evil; npm run x": "ask",
		"x=1; export x; npm run x": "ask", "declare -x x=1; npm run x": "ask", "set -a; x=1; npm run x": "ask", "set -o allexport; x=1; npm run x": "ask",
		"x=1 npm run x": "ask", "https_proxy=evil npm run x": "ask", "x=1; npm run $x": "allow", "x=1; npm run x": "allow",
		"for i in 1 2; do npm run x; done":        "allow",
		"NODE_OPTIONS=--require=./evil npm run x": "ask", "npm_config_node_options=-r./evil npm run x": "ask", "PATH=bin npm run x": "ask",
		"pip_index_url=evil npm run x": "ask", "FOO=1 npm run x": "ask", "typeset -x y=1; npm run x": "ask", "NO_COLOR=1 CI=true npm run x": "allow",
		"env CI=1 npm run x": "allow",
	} {
		s := newSetup()
		s.cfg.Permissions = map[string][]Rule{"bash": {
			{Pattern: "npm run *", Action: Allow}, {Pattern: "export *", Action: Allow}, {Pattern: "declare *", Action: Allow}, {Pattern: "typeset *",
				Action: Allow}, {Pattern: "set *", Action: Allow},
		}}
		if got := s.build().outcome(t, bash(script)); got != want {
			t.Errorf("with a rule, %s: %s, want %s", script, got, want)
		}
		if got := afterAlways(t, "npm run x", script); got == "allow" && want != "allow" {
			t.Errorf("after an always, %s: %s, want %s", script, got, want)
		}
	}
}

// A rule that denies or asks matches from every later word on; a rule that allows does not.
func TestRestrictingRulesMatchLaterWords(t *testing.T) {
	deny := []string{"git push*", "kubectl delete*", "docker compose down*", "yarn publish*", "terraform dest*", "make deploy", "npm run release*",
		"helm uninstall *"}
	for script, want := range map[string]string{
		"git --shallow-file /dev/null push": "block", "git --unknown x push origin a": "block", "git --unknown push": "block", "git --a --b c -d push": "block",
		"kubectl --profile none delete pod x": "block", "kubectl --profile=none delete pod x": "block", "kubectl -x delete": "block",
		"docker compose -f x down -v": "block", "docker --x y compose --z down": "block", "docker --debug compose -f a -p b down": "block",
		"yarn workspace a publish": "block", "yarn workspaces foreach publish": "block", "yarn --cwd x publish": "block", "yarn workspace a npm publish": "block",
		"terraform -chdir=x destroy": "block", "terraform -chdir x destroy": "block", "terraform x destroy": "block", "make -j 4 -f x deploy": "block",
		"make a deploy":                 "block",
		"/usr/bin/git --unknown x push": "block", "timeout 5 git --unknown x push": "block", "sh -c 'git --unknown x push'": "block",
		"npm --x y run release:all": "block",
		"npm run --x release":       "block", "helm --x y uninstall z": "block", "helm uninstall --x y z": "block", "GIT --x push": "block",
		"c=push; git --x $c": "block",
		"git log":            "allow", "git commit -m 'git push'": "allow", "git commit -m 'please push it'": "allow", "git add push.go": "allow",
		"git diff -- sub/push":  "allow",
		"git checkout push-fix": "allow", "git add push_test.go": "allow", "kubectl get pods": "allow", "echo git push": "allow",
		"docker compose up": "allow", "make deployment": "allow",
		"yarn workspace a build": "allow", "terraform plan": "allow", "gh push": "allow", "git log --grep=push": "allow",
		"git log --grep 'a push'": "allow", "make x.deploy": "allow",
	} {
		for i, action := range []Action{Deny, Ask} {
			s := newSetup()
			for _, pattern := range deny {
				s.cfg.Permissions = map[string][]Rule{"bash": append(s.cfg.Permissions["bash"], Rule{Pattern: pattern, Action: action})}
			}
			s.cfg.Permissions["bash"] = append(s.cfg.Permissions["bash"], Rule{Pattern: "*", Action: Allow})
			expect := want
			if want == "block" {
				expect = []string{"block", "ask"}[i]
			}
			if got := s.build().outcome(t, bash(script)); got != expect {
				t.Errorf("%s, rules that %s: %s, want %s", script, action, got, expect)
			}
		}
	}
	// The project's own rules, and those that allow.
	s := newSetup()
	s.cfg.repository = map[string][]Rule{"bash": {{Pattern: "git push*", Action: Deny}}}
	if got := s.build().outcome(t, bash("git --x y push")); got != "block" {
		t.Errorf("a rule of the project: %s, want block", got)
	}
	s = newSetup()
	s.cfg.Permissions = map[string][]Rule{"bash": {{Pattern: "git push*", Action: Allow}}}
	if got := s.build().outcome(t, bash("git -c core.sshCommand=x push")); got != "ask" {
		t.Errorf("a rule that allows: %s, want ask", got)
	}
	// blocked_commands, and the commands that rules must name.
	s = newSetup()
	s.shell.BlockedCommands = []string{"git push"}
	s.cfg.Permissions = map[string][]Rule{"bash": {{Pattern: "*", Action: Allow}}}
	s.build()
	for script, want := range map[string]string{
		"git --x y push": "block", "git --x push": "block", "git commit -m push": "allow", "git --x y clean": "ask", "git --x y reset --hard": "ask",
		"kubectl --x y delete z": "ask", "docker compose -f x push": "ask", "npm --silent run publish": "ask", "npm --silent run build": "allow",
	} {
		if got := s.outcome(t, bash(script)); got != want {
			t.Errorf("%s: %s, want %s", script, got, want)
		}
	}
}

// An example of a rule is matched as a command is.
func TestExamplesMatchLaterWords(t *testing.T) {
	for action, want := range map[Action]bool{Deny: true, Ask: true, Allow: false} {
		if got, err := (Rule{Pattern: "git push*", Action: action}).Matches(executors.CommandSubject, "git --x y push"); got != want || err != nil {
			t.Errorf("%s: %t, %v", action, got, err)
		}
	}
	if slices.ContainsFunc([]string{"git add push.go"}, func(s string) bool {
		got, _ := Rule{Pattern: "git push*", Action: Deny}.Matches(executors.CommandSubject, s)
		return got
	}) {
		t.Error("a file is taken for a subcommand")
	}
}
