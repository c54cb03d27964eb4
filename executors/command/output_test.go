package command

import (
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

func TestOutputs(t *testing.T) {
	for script, want := range map[string]string{
		"cargo test":                                  "cargo test",
		"cp -r a b":                                   "",
		"cp -rv a b":                                  "cp -rv a b",
		"rm --verbose a; rm -- -v":                    "rm --verbose a",
		"cd /x && cargo test 2>&1 | tail -80":         "cargo test",
		"cd /x; cargo clippy -- -D warnings 2>&1":     "cargo clippy -- -D warnings",
		"cargo test || true":                          "cargo test",
		"cargo test; echo \"exit: $?\"":               "cargo test",
		"echo start; go test ./... | tee log":         "go test ./...",
		`echo "a && cargo test"`:                      "echo a && cargo test",
		"RUST_BACKTRACE=1 cargo +nightly test --lib":  "cargo test --lib",
		"env -u C A=b go test":                        "go test",
		"time make -j4":                               "make -j4",
		"timeout 60 npx jest --ci":                    "jest --ci",
		"timeout -k 5 60s pytest -q":                  "pytest -q",
		"npx --yes vitest run":                        "vitest run",
		"uv run pytest":                               "pytest",
		"uv run --with x pytest":                      "pytest",
		"python -m pytest tests":                      "pytest tests",
		"python3.12 -m pip install x":                 "pip install x",
		"python x.py":                                 "python x.py",
		"./node_modules/.bin/eslint .":                "eslint .",
		"/usr/bin/git -C /x --no-pager log --oneline": "git log --oneline",
		"git -c color.ui=always status":               "git status",
		"go -C sub test ./...":                        "go test ./...",
		"npm --prefix web test":                       "npm test",
		"npm exec -- jest":                            "jest",
		"pnpm exec eslint .":                          "eslint .",
		"yarn test":                                   "yarn test",
		"yarn jest --ci":                              "jest --ci",
		"pnpm -s vitest run":                          "vitest run",
		"bun x tsc":                                   "tsc",
		"yarn build":                                  "yarn build",
		"yarn lint":                                   "yarn lint",
		"docker run --rm -v $PWD:/w -w /w go go test": "go test",
		"docker compose run --rm web npm test":        "npm test",
		"docker run -d -p 80:80 nginx":                "docker run -d -p 80:80 nginx",
		"bash -c 'cd x && go vet ./...'":              "go vet ./...",
		"sh -lc \"bash -c 'make'\"":                   "make",
		"(cd x; make)":                                "make",
		"{ make; } 2>&1":                              "make",
		"if make; then echo ok; fi":                   "make",
		"for d in *; do go build ./$d; done":          "go build ./$",
		"cat x.log | grep error":                      "cat x.log",
		"! grep x y":                                  "grep x y",
		"docker compose up -d":                        "docker compose up -d",
		"kubectl -n prod get pods":                    "kubectl get pods",
		"helm -n prod list":                           "helm list",
		"apt-get -o A::B=c -y install x":              "apt-get install x",
		"aws-vault exec prod -- terraform plan":       "terraform plan",
		"op run -- make":                              "make",
		"nix develop -c make -j4":                     "make -j4",
		"script -qec 'go vet ./...' /dev/null":        "go vet ./...",
		"echo hi":                                     "echo hi",
		"cd x":                                        "",
		"":                                            "",
		"if (":                                        "if (",
		"go test \\\n  ./...":                         "go test ./...",
		"sudo -u www FOO=1 make -C x":                 "make -C x",
		"sudo journalctl -u nginx":                    "journalctl -u nginx",
		"cross-env NODE_ENV=test jest":                "jest",
		"watch -n 1 kubectl get pods":                 "kubectl get pods",
		"find . -name '*.go' | xargs grep -n foo":     "grep -n foo",
		"git ls-files | xargs -n 1 -P 4 gofmt -l":     "gofmt -l",
		"find . -name x -exec grep -n y {} +":         "grep -n y {} +",
		"yes | apt-get install x":                     "apt-get install x",
		"echo y | terraform apply":                    "terraform apply",
		"docker exec -it -u root web pytest -q":       "pytest -q",
		"docker compose -f a.yml exec -T web go test": "go test",
		"docker compose exec web":                     "docker compose exec web",
		"kubectl -n x exec pod -c y -- cat a.log":     "cat a.log",
		"kubectl exec pod":                            "kubectl exec pod",
		"ssh -p 22 -i k host 'cd x && make'":          "make",
		"ssh host":                                    "ssh host",
		"su - dev -c 'npm ci'":                        "npm ci",
		"eval \"go vet ./...\"":                       "go vet ./...",
		"make > build.log 2>&1; tail -50 build.log":   "make",
		"make > a.log; cat b.log":                     "cat b.log",
		"make > a.log; cat a.log b.log":               "cat a.log b.log",
		"npx jest &> /tmp/o; head -n 20 /tmp/o":       "jest",
		"nix-shell -p jq --run 'cd x && pytest -q'":   "pytest -q",
		"nix-shell shell.nix":                         "nix-shell shell.nix",
		"mise exec -- pytest":                         "pytest",
		"dotenv -- pytest -q":                         "pytest -q",
		"dotenv -f .env run -- pytest":                "pytest",
		"dotenv -e .env.test npm test":                "npm test",
		"python -X dev -m pytest -x":                  "pytest -x",
		"python3 -W error -u -m unittest":             "unittest",
		"python -c 'print(1)' -m x":                   "python -c print(1) -m x",
		"uv --directory x run pytest":                 "pytest",
		"bash ci.sh":                                  "bash ci.sh",
		"make > build.log":                            "make",
		"make 2> err.log":                             "make",
		"cat > a.py <<'EOF'\nx\nEOF\npython a.py":     "python a.py",
		"npm start & sleep 5; curl -s x; kill %1":     "curl -s x",
		"case $x in a) make;; esac":                   "make",
		"while ! curl -s x; do sleep 1; done":         "curl -s x",
		"cargo test --no-run && cargo test foo | cat": "cargo test foo",
		"a=1 b=2":                        "",
		"# only a comment":               "",
		"FOO=$(git rev-parse HEAD) make": "make",
		"conda run -n ml pytest":         "pytest",
		"find . | xargs":                 "find .",
		"[ -f Makefile ] && make":        "make",
		"[[ -f x ]] || make":             "make",
		"set -euo pipefail\nmake\n":      "make",
		"f() { make; }; f":               "f",
	} {
		if got := OutputsOf(script).Command; got != want {
			t.Errorf("%q: %q, want %q", script, got, want)
		}
	}
	for script, want := range map[string]bool{
		"go test": false, "cd x && go test": false, "git status && go test": true, "go test; echo $?": true, "rm -rf x; make": false, "bash -c 'ls; make'": true,
		"make > x.log; cat x.log": false, "yes | make": false, "npm start & curl x": true, "sudo make": false,
		"bash ci.sh": true, "./ci.sh": true, "bash -c 'make'": false, "make > x.log; tail x.log": false,
	} {
		if got := OutputsOf(script).Mixed; got != want {
			t.Errorf("%q: mixed %t", script, got)
		}
	}
}

// A silent command before a script changes nothing, and the segment of an output is
// never longer than the script.
func FuzzOutputs(f *testing.F) {
	for _, s := range []string{"a && b | c > d; e", "bash -c 'x'", "env -u", "timeout", "a\\", "$(x) y", "python -m", "sudo -u x y=1 z", "git -C x log"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		before := OutputsOf(s)
		segment, mixed := before.Command, before.Mixed
		if len(segment) > len(s) {
			t.Errorf("%q: %q is longer", s, segment)
		}
		if mixed && segment == "" {
			t.Errorf("%q: other commands wrote too, but than which?", s)
		}
		if _, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(s), ""); err != nil {
			return
		}
		if after := OutputsOf("cd x\n" + s); after.Command != segment || after.Mixed != mixed {
			t.Errorf("%q: %+v; after a cd %+v", s, before, after)
		}
	})
}

func TestOutputsOthers(t *testing.T) {
	for script, want := range map[string]string{
		"cargo test":                             "",
		"cargo clippy && cargo test":             "cargo clippy",
		"npm run lint; echo ok; tsc > x && jest": "npm run lint",
		"cd x && eslint . && tsc && npx jest":    "tsc, eslint .",
	} {
		if got := strings.Join(OutputsOf(script).Others, ", "); got != want {
			t.Errorf("%q: %q, want %q", script, got, want)
		}
	}
}

func TestOutputsWindow(t *testing.T) {
	for script, want := range map[string]bool{
		"make | head -60":                          false,
		"make | tail -n +20":                       false,
		"make | head -60 | tail -30":               true,
		"make | tail -n +120 | head -80":           true,
		"head -60 a.log | tail -30":                true,
		"cd x && make 2>&1 | grep a | head | tail": true,
		"cat a.log | sed -n '100,200p'":            true,
		"sed -n 7p a.log":                          true,
		"sed -n '10,20p;30q' a.log":                true,
		"sed -n '/error/p' a.log":                  false,
		"sed 3p a.log":                             false,
		"head -5 a; tail -5 b":                     false,
		"bash -c 'make | head -9 | tail -3'":       true,
	} {
		if got := OutputsOf(script).Window; got != want {
			t.Errorf("OutputsOf(%q).Window: %t, want %t", script, got, want)
		}
	}
}

func TestOutputsSelected(t *testing.T) {
	for script, want := range map[string]bool{
		"pytest -v":                                 false,
		"pytest -v 2>&1 | tail -20":                 false,
		"pytest -v | grep PASSED":                   true,
		"pytest -v | grep -v PASSED":                false,
		"pytest -v | grep -vE 'a|b' | head":         false,
		"pytest -v | head -90 | grep -c x":          true,
		"npm ci && npm test 2>&1 | grep Tests":      true,
		"npm ci | grep added && npm test":           false,
		"bash -c 'go test ./... | grep ok'":         true,
		"ls -la | awk '{print $5}'":                 true,
		"make | sed 's/x/y/'":                       false,
		"make | sed -n '/x/p'":                      true,
		"make | cut -c1-200":                        false,
		"make | cut -d: -f1":                        true,
		"find . | xargs eslint | grep error":        true,
		"grep x a.txt":                              false,
		"cat a.log | grep x":                        true,
		"echo a | grep a":                           false,
		"x | perl -pe 's/a//'":                      false,
		"docker inspect a | jq .":                   true,
		"for f in a b; do go vet $f | grep x; done": true,
	} {
		if got := OutputsOf(script).Selected; got != want {
			t.Errorf("OutputsOf(%q).Selected: %t, want %t", script, got, want)
		}
	}
}
