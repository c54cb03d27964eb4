package testreport

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// jvmTests recognises Maven's surefire and Gradle.
type jvmTests struct {
	*testPass
	in       jvmPart
	maven    bool
	warnings int
	installs int
	skipped  int
	classes  []byte // "Running x.FooTest", until its total
}

type jvmPart uint8

const (
	jvmTop     jvmPart = iota
	jvmTrace           // after a failed test
	jvmTry             // Gradle's hints
	jvmWrong           // Gradle: "What went wrong"
	jvmPrinted         // the output of a test
)

func newJVMTests(p *testPass) testRunner { return &jvmTests{testPass: p} }

func claimsJVM(l []byte) bool {
	switch l[0] {
	case '[':
		return beginsAny(l, "[INFO] Scanning for projects...", "[INFO] -----", "[INFO] Running ", "[INFO] Tests run: ", "[ERROR] Tests run: ", "[INFO] BUILD ", "[ERROR] Failed to execute goal ", "[INFO]  T E S T S")
	case '>':
		return begins(l, "> Task :")
	case 'B':
		return begins(l, "BUILD SUCCESSFUL in ") || begins(l, "BUILD FAILED in ")
	}
	return gradleResult(l) != 0
}

// gradleResult matches "FooTest > bar() FAILED".
func gradleResult(l []byte) byte {
	var result byte
	switch { // cheap checks first
	case ends(l, " PASSED"):
		result = 'P'
	case ends(l, " FAILED"):
		result = 'F'
	case ends(l, " SKIPPED"):
		result = 'S'
	case ends(l, " STANDARD_OUT"), ends(l, " STANDARD_ERROR"):
		result = 'O'
	}
	if result == 0 || l[0] <= ' ' || !contains(l, " > ") {
		return 0
	}
	return result
}

var mavenDownloads = newPrefixes("Downloading from ", "Downloaded from ", "Progress (", "Downloading: ", "Downloaded: ", "Download http")

func (j *jvmTests) shape(l []byte) bool {
	switch {
	case begins(l, "[INFO]"):
		j.maven = true
		j.leave()
		j.info(l)
		return true
	case begins(l, "[WARNING]"):
		j.leave()
		return j.warning(l)
	case begins(l, "[ERROR]"):
		return j.failure(l)
	case mavenDownloads.match(l):
		return true
	}
	if l[0] == ' ' || l[0] == '\t' {
		switch j.in {
		case jvmTrace:
			j.failureLine(l, true)
			return true
		case jvmPrinted:
			j.prints(l)
			return true
		}
	}
	return j.gradle(l)
}

func (j *jvmTests) leave() {
	j.close()
	j.in = jvmTop
}

// info handles an information of Maven.
func (j *jvmTests) info(l []byte) {
	rest := bytes.Trim(l[len("[INFO]"):], " ") // "2 errors "
	switch {
	case begins(rest, "Tests run: "):
		j.classes = j.classes[:0]
		if !contains(rest, "Time elapsed: ") {
			j.keep(l)
		}
	case begins(rest, "Running "):
		j.classes = append(j.classes[:0], l...)
	case begins(rest, "BUILD "):
		j.keep(l)
	case begins(rest, "Installing "):
		if j.installs++; j.installs <= maxInstalls {
			j.keep(l)
		}
	case ends(rest, "]") && (contains(rest, " FAILURE [") || contains(rest, " SKIPPED")), contains(rest, " FAILURE ["), ends(rest, " SKIPPED"):
		j.bad = true
		j.keep(l)
	case begins(rest, "No tests to run"), begins(rest, "Tests are skipped"), begins(rest, "Total time: "), begins(rest, "Building jar: "), begins(rest, "Building war: "), ends(rest, " errors"), ends(rest, " error"):
		j.keep(l)
	}
}

// maxInstalls is how many installed files are listed.
const maxInstalls = 8

// warning handles a warning of Maven. The first ones stay.
func (j *jvmTests) warning(l []byte) bool {
	rest := bytes.TrimLeft(l[len("[WARNING]"):], " ")
	if len(rest) == 0 {
		return true
	}
	if begins(rest, "Tests run: ") {
		j.classes = j.classes[:0]
		if !contains(rest, "Time elapsed: ") {
			j.keep(l)
		}
		return true
	}
	const most = 15
	if j.warnings++; j.warnings > most {
		j.count()
		return true
	}
	j.keep(l)
	return true
}

// count counts a line that is dropped because there were many.
func (j *jvmTests) count() {
	if !j.waits {
		j.skipped = 0
	}
	j.skipped++
	j.wait(text.Omission(j.skipped))
}

var mavenHints = newPrefixes("To see the full stack trace", "Re-run Maven using", "For more information about the errors", "[Help ", "-> [Help ", "See dump files", "Please refer to dump files", "After correcting the problems")

// failure handles an error line of Maven.
func (j *jvmTests) failure(l []byte) bool {
	rest := bytes.TrimLeft(l[len("[ERROR]"):], " ")
	j.bad = true
	switch {
	case len(rest) == 0:
		j.leave()
		return true
	case mavenHints.match(rest):
		j.leave()
		return true
	case begins(rest, "Tests run: "):
		j.leave()
		j.classes = j.classes[:0]
		j.failed(l)
	case contains(rest, " <<< FAILURE!"), contains(rest, " <<< ERROR!"):
		j.fail(rest, l)
		j.in = jvmTrace
	default:
		j.leave()
		if j.named++; j.named > toldFailures {
			j.count()
			return true
		}
		j.failed(l)
	}
	return true
}

var gradleHints = newPrefixes(
	"Starting a Gradle Daemon", "Deprecated Gradle features", "You can use '--warning-mode", "For more on this, please refer to", "To honour the JVM settings", "Daemon will be stopped", "Welcome to Gradle", "Here are the highlights",
	"For more details see https://docs.gradle", "Calculating task graph", "Configuration cache entry", "Reusing configuration cache", "See the profiling report at:", "Unzipping ", "Set executable permissions",
)

// gradle handles lines of Gradle and all others.
func (j *jvmTests) gradle(l []byte) bool {
	switch gradleResult(l) {
	case 'P', 'S':
		j.leave()
		return true
	case 'F':
		if !begins(l, "> Task ") {
			j.fail(l, l)
			j.in = jvmTrace
			return true
		}
	case 'O':
		j.leave()
		j.in = jvmPrinted
		j.prints(l)
		return true
	}
	switch {
	case begins(l, "> Task "), begins(l, "> Configure project"), begins(l, "> Transform "):
		j.leave()
		if ends(l, " FAILED") {
			j.failed(l)
		}
		return true
	case l[0] == '<' && contains(l, "% ") && contains(l, "-"), begins(l, "> :") && contains(l, " > "), begins(l, "> IDLE"), begins(l, "> Resolve "), begins(l, "> Starting "):
		return true
	case begins(l, "FAILURE: "), begins(l, "BUILD "), begins(l, "Execution failed for task"):
		j.leave()
		if !begins(l, "BUILD SUCC") {
			j.bad = true
		}
		j.keep(l)
		return true
	case begins(l, "* Try:"):
		j.leave()
		j.in = jvmTry
		return true
	case begins(l, "* "):
		j.leave()
		j.in = jvmWrong
		j.failed(l)
		return true
	case j.in == jvmTry && (l[0] == '>' || begins(l, "Run with ") || begins(l, "Get more help")):
		return true
	case gradleHints.match(l):
		return true
	case l[0] >= '0' && l[0] <= '9' && contains(l, " actionable task"):
		return true
	case contains(l, " completed") && (contains(l, " tests completed") || contains(l, " test completed")):
		j.leave()
		j.keep(l)
		return true
	case j.in == jvmTrace && j.open: // the exception, which Maven does not indent
		j.failureLine(l, true)
		return true
	case j.in == jvmWrong:
		j.failed(l)
		return true
	}
	return false
}

func (j *jvmTests) blank() bool {
	if j.in == jvmTrace && j.maven {
		j.leave()
	}
	return false
}

func (j *jvmTests) other(l []byte) {
	if len(j.classes) > 0 || j.in == jvmPrinted {
		j.prints(l)
		return
	}
	j.loose(l)
}

func (j *jvmTests) end() {
	j.leave()
	if len(j.classes) > 0 { // it did not end
		j.failed(j.classes)
	}
}
