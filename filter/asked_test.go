package filter

import (
	"fmt"
	"strings"
	"testing"
)

// Texts that a command was asked for stay whole, however long they are: lists, help, the commands of a
// build and ranges of lines.
func TestAskedFor(t *testing.T) {
	many := func(format string) string {
		var b strings.Builder
		for i := range 500 {
			fmt.Fprintf(&b, format+"\n", i)
		}
		return b.String()
	}
	for command, output := range map[string]string{
		"bundle list":                            "Gems included by the bundle:\n" + many("  * gem%d (1.0)"),
		"flutter pub deps":                       "shop 1.0.0+1\n" + many("├── package_%d 1.0.0"),
		"git lfs ls-files":                       many("1f2e3d4c5b * assets/img%d.png"),
		"uv pip list":                            "Package Version\n------- -------\n" + many("pkg-%d 1.0"),
		"docker compose config":                  "services:\n" + many("  api%d:\n    image: api"),
		"ansible web1 -m setup":                  "web1 | SUCCESS => {\n" + many("    \"ansible_fact_%d\": 1,") + "}\n",
		"go test -list . ./cart":                 many("TestCart%d") + "ok  \texample.test/cart\t0.01s\n",
		"bundle install --help":                  "BUNDLE-INSTALL(1)\n" + many("       --option%d"),
		"docker build --help":                    "Usage:  docker build [OPTIONS] PATH\n\nExamples\n #1 [internal] load build definition from Dockerfile\n #1 DONE 0.1s\n",
		"npm help install":                       many("npm warn %d"),
		"ninja -C b -t commands":                 many("/usr/bin/cc -c src/f%d.c"),
		"make -p":                                many("\tgcc -c f%d.c"),
		"pytest --fixtures -v":                   many("fixture%d -- conftest.py:1\n    passed"),
		"pytest --collect-only -q":               many("tests/test_a.py::test_%d"),
		"make --dry-run all":                     many("gcc -c f%d.c"),
		"npm i --loglevel verbose":               many("npm verbose cache %d"),
		"pnpm install --loglevel=debug":          many("fetching part%d"),
		"npm install --dry-run":                  many("npm warn deprecated a%d@1.0.0: old"),
		"jest --listTests":                       many("/w/a%d.test.js"),
		"cargo test -- --list":                   many("a::b%d: test"),
		"playwright test --list":                 many("  [chromium] › a.spec.ts:%d:1 › passes"),
		"kubectl get -o yaml --dry-run=client x": many("  name: a%d"),
		"git branch -vv":                         many("  topic%d   0123456789ab    [origin/topic: gone] Fix"),
		"pip list -v -v":                         many("pkg-%d      1.0      /usr/lib      pip"),
		"cargo tree -vv":                         many("    Compiling crate%d v1.0.0"),
		"apt show --verbose -vv curl":            many("Get:%d field"),
		"cat a.log | head -900 | tail -501":      many("12:00:01 INFO took %d ms"),
		"cat a.log | tail -n +120 | head -600":   many("12:00:01 INFO took %d ms"),
		"sed -n '100,600p' a.log":                many("12:00:01 INFO took %d ms"),
		"mvn -o dependency:tree":                 "[INFO] a:shop:jar:1.0\n" + many("[INFO]    +- org.test:part%d:jar:1.0:test"),
		"mvn -o versions:display":                "[INFO] The following dependencies have newer versions:\n" + many("[INFO]   org.test:part%d .... 1.0 -> 2.0"),
	} {
		t.Run(command, func(t *testing.T) {
			f, _ := New("")
			if got, confidence := applied(t, f, command, 0, output); got != output {
				t.Errorf("%s, %d of %d bytes:\n%.600s", confidence, len(got), len(output), got)
			}
		})
	}
}
