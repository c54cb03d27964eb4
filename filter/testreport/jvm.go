package testreport

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// jvmTests recognises Maven's surefire and Gradle.
type jvmTests struct {
	*testPass
	part         jvmPart
	maven        bool   // a line of Maven was seen
	warnings     int    // of Maven
	installs     int    // installed files
	omitted      int    // lines in the pending mark of omitted lines
	runningClass []byte // "Running x.FooTest", until its total
}

// jvmPart is a part of the output.
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
		return text.HasAnyPrefix(
			l, "[INFO] Scanning for projects...", "[INFO] -----", "[INFO] Running ", "[INFO] Tests run: ",
			"[ERROR] Tests run: ", "[INFO] BUILD ", "[ERROR] Failed to execute goal ", "[INFO]  T E S T S",
		)
	case '>':
		return begins(l, "> Task :")
	case 'B':
		return begins(l, "BUILD SUCCESSFUL in ") || begins(l, "BUILD FAILED in ")
	}
	return parseGradleResult(l) != 0
}

// parseGradleResult matches "FooTest > bar() FAILED".
func parseGradleResult(l []byte) byte {
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

func (j *jvmTests) handle(l []byte) bool {
	switch {
	case begins(l, "[INFO]"):
		j.maven = true
		j.leavePart()
		j.handleInfo(l)
		return true
	case begins(l, "[WARNING]"):
		j.leavePart()
		return j.handleWarning(l)
	case begins(l, "[ERROR]"):
		return j.handleError(l)
	case mavenDownloads.match(l):
		return true
	}
	if l[0] == ' ' || l[0] == '\t' {
		switch j.part {
		case jvmTrace:
			j.addFailureLine(l, isReason)
			return true
		case jvmPrinted:
			j.addPrinted(l)
			return true
		}
	}
	return j.handleGradle(l)
}

func (j *jvmTests) leavePart() {
	j.endFailure()
	j.part = jvmTop
}

// handleInfo handles an information of Maven.
func (j *jvmTests) handleInfo(l []byte) {
	rest := bytes.Trim(l[len("[INFO]"):], " ") // "2 errors "
	switch {
	case begins(rest, "Tests run: "):
		j.runningClass = j.runningClass[:0]
		if !contains(rest, "Time elapsed: ") {
			j.keep(l)
		}
	case begins(rest, "Running "):
		j.runningClass = append(j.runningClass[:0], l...)
	case begins(rest, "BUILD "):
		j.keep(l)
	case begins(rest, "Installing "):
		if j.installs++; j.installs <= maxInstalls {
			j.keep(l)
		}
	case ends(rest, "]") && (contains(rest, " FAILURE [") || contains(rest, " SKIPPED")),
		contains(rest, " FAILURE ["),
		ends(rest, " SKIPPED"):
		j.problemSeen = true
		j.keep(l)
	case begins(rest, "No tests to run"),
		begins(rest, "Tests are skipped"),
		begins(rest, "Total time: "),
		begins(rest, "Building jar: "),
		begins(rest, "Building war: "),
		ends(rest, " errors"),
		ends(rest, " error"):
		j.keep(l)
	}
}

// maxInstalls is how many installed files are listed.
const maxInstalls = 8

// handleWarning handles a warning of Maven. The first ones stay.
func (j *jvmTests) handleWarning(l []byte) bool {
	rest := bytes.TrimLeft(l[len("[WARNING]"):], " ")
	if len(rest) == 0 {
		return true
	}
	if begins(rest, "Tests run: ") {
		j.runningClass = j.runningClass[:0]
		if !contains(rest, "Time elapsed: ") {
			j.keep(l)
		}
		return true
	}
	const maxWarnings = 15
	if j.warnings++; j.warnings > maxWarnings {
		j.countOmitted()
		return true
	}
	j.keep(l)
	return true
}

// countOmitted counts a line that is dropped because there were many.
func (j *jvmTests) countOmitted() {
	if !j.hasPending {
		j.omitted = 0
	}
	j.omitted++
	j.keepReplaceable(text.Omission(j.omitted))
}

var mavenHints = newPrefixes(
	"To see the full stack trace", "Re-run Maven using", "For more information about the errors", "[Help ",
	"-> [Help ", "See dump files", "Please refer to dump files", "After correcting the problems",
)

// handleError handles an error line of Maven.
func (j *jvmTests) handleError(l []byte) bool {
	rest := bytes.TrimLeft(l[len("[ERROR]"):], " ")
	j.problemSeen = true
	switch {
	case len(rest) == 0:
		j.leavePart()
		return true
	case mavenHints.match(rest):
		j.leavePart()
		return true
	case begins(rest, "Tests run: "):
		j.leavePart()
		j.runningClass = j.runningClass[:0]
		j.keepFailure(l)
	case contains(rest, " <<< FAILURE!"), contains(rest, " <<< ERROR!"):
		j.beginFailure(rest, l)
		j.part = jvmTrace
	default:
		j.leavePart()
		if j.namedFailures++; j.namedFailures > maxNamedFailures {
			j.countOmitted()
			return true
		}
		j.keepFailure(l)
	}
	return true
}

var gradleHints = newPrefixes(
	"Starting a Gradle Daemon", "Deprecated Gradle features", "You can use '--warning-mode",
	"For more on this, please refer to", "To honour the JVM settings", "Daemon will be stopped",
	"Welcome to Gradle", "Here are the highlights",
	"For more details see https://docs.gradle", "Calculating task graph", "Configuration cache entry",
	"Reusing configuration cache", "See the profiling report at:", "Unzipping ", "Set executable permissions",
)

// handleGradle handles lines of Gradle and all others.
func (j *jvmTests) handleGradle(l []byte) bool {
	switch parseGradleResult(l) {
	case 'P', 'S':
		j.leavePart()
		return true
	case 'F':
		if !begins(l, "> Task ") {
			j.beginFailure(l, l)
			j.part = jvmTrace
			return true
		}
	case 'O':
		j.leavePart()
		j.part = jvmPrinted
		j.addPrinted(l)
		return true
	}
	switch {
	case begins(l, "> Task "), begins(l, "> Configure project"), begins(l, "> Transform "):
		j.leavePart()
		if ends(l, " FAILED") {
			j.keepFailure(l)
		}
		return true
	case isGradleNoise(l):
		return true
	case begins(l, "FAILURE: "), begins(l, "BUILD "), begins(l, "Execution failed for task"):
		j.leavePart()
		if !begins(l, "BUILD SUCC") {
			j.problemSeen = true
		}
		j.keep(l)
		return true
	case begins(l, "* Try:"):
		j.leavePart()
		j.part = jvmTry
		return true
	case begins(l, "* "):
		j.leavePart()
		j.part = jvmWrong
		j.keepFailure(l)
		return true
	case j.part == jvmTry && (l[0] == '>' || begins(l, "Run with ") || begins(l, "Get more help")):
		return true
	case contains(l, " completed") && (contains(l, " tests completed") || contains(l, " test completed")):
		j.leavePart()
		j.keep(l)
		return true
	case j.part == jvmTrace && j.failureOpen: // the exception, which Maven does not indent
		j.addFailureLine(l, isReason)
		return true
	case j.part == jvmWrong:
		j.keepFailure(l)
		return true
	}
	return false
}

// isGradleNoise reports whether a line of Gradle is progress or a hint.
func isGradleNoise(l []byte) bool {
	return l[0] == '<' && contains(l, "% ") && contains(l, "-") ||
		begins(l, "> :") && contains(l, " > ") ||
		text.HasAnyPrefix(l, "> IDLE", "> Resolve ", "> Starting ") ||
		l[0] >= '0' && l[0] <= '9' && contains(l, " actionable task") ||
		gradleHints.match(l)
}

func (j *jvmTests) blank() bool {
	if j.part == jvmTrace && j.maven {
		j.leavePart()
	}
	return false
}

func (j *jvmTests) handleOther(l []byte) {
	if len(j.runningClass) > 0 || j.part == jvmPrinted {
		j.addPrinted(l)
		return
	}
	j.addOutside(l)
}

func (j *jvmTests) end() {
	j.leavePart()
	if len(j.runningClass) > 0 { // it did not end
		j.keepFailure(j.runningClass)
	}
}
