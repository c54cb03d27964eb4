package filter

import (
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/filter/strategy/strategytest"
)

// A successful command that tested nothing says so; one that tested something keeps no such line.
func TestHollow(t *testing.T) {
	tasks := "> Task :compileJava UP-TO-DATE\n> Task :processResources NO-SOURCE\n> Task :classes UP-TO-DATE\n" +
		strings.Repeat("Downloading https://x.test/a.jar\n", 9)
	for name, tt := range map[string]struct{ command, output, want, never string }{
		"Gradle": {
			"gradle build", tasks + "> Task :test UP-TO-DATE\n> Task :check UP-TO-DATE\n\nBUILD SUCCESSFUL in 1s\n3 actionable tasks: 3 up-to-date\n",
			"> Task :test UP-TO-DATE", "classes",
		},
		"Gradle, many modules": {
			"./gradlew build", tasks + "> Task :a:test NO-SOURCE\n> Task :b:test UP-TO-DATE\n> Task :c:test UP-TO-DATE\n> Task :d:test UP-TO-DATE\n" +
				"> Task :e:testDebugUnitTest UP-TO-DATE\n\nBUILD SUCCESSFUL in 1s\n",
			"> Task :c:test UP-TO-DATE\n... (2 lines omitted) ...", ":d:test",
		},
		"Gradle, one module tested": {
			"./gradlew build", tasks + "> Task :a:test NO-SOURCE\n> Task :b:test\n> Task :c:compileTestJava\n\nBUILD SUCCESSFUL in 1s\n", "BUILD SUCCESSFUL", "a:test",
		},
		"Maven": {
			"mvn -B install", strings.Repeat("[INFO] Downloading from central: https://x.test/a.jar\n", 9) +
				"[INFO] --- surefire:3.2.5:test (default-test) @ shop ---\n[INFO] No tests to run.\n[INFO] BUILD SUCCESS\n",
			"[INFO] No tests to run.", "surefire",
		},
		"go, some packages": {
			"go test ./...", strings.Repeat("go: downloading example.test/x v1.0.0\n", 9) + "ok  \texample.test/a\t0.004s\n?   \texample.test/b\t[no test files]\n",
			"example.test/a", "example.test/b",
		},
		"cargo, a part": {
			"cargo test", strings.Repeat("   Compiling x v1.0.0\n", 9) + "\nrunning 1 test\ntest a ... ok\n\ntest result: ok. 1 passed; 0 failed\n\n" +
				"   Doc-tests x\n\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed\n",
			"1 passed", "running 0",
		},
		"a user's script": {
			"npm test", "\n> x@1.0.0 test\n> run-all\n\n" + strings.Repeat("✓ prepared\n", 20) + "No tests found, exiting with code 0\n",
			"No tests found, exiting with code 0", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := builtin(t).Apply(tt.command, 0, strings.NewReader(tt.output))
			if err != nil {
				t.Fatal(err)
			}
			defer o.Close()
			noPanic(t, o)
			got := strategytest.Text(t, o.Text)
			if !strings.Contains(got, tt.want) || tt.never != "" && strings.Contains(got, tt.never) {
				t.Errorf("filtered to %s\nwant %q and never %q", got, tt.want, tt.never)
			}
		})
	}
}
