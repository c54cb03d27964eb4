package stopped

import (
	"github.com/zeph-acp/zeph-acp/filter/text"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// kind is a kind of tests or tasks whose tool announces the beginning and the end. The last group of an
// expression is the name.
type kind struct {
	begin, end *lazyregexp.Regexp
	// serial begins the lines of tasks that run one after the other: each ends, at the latest, when the next
	// task with the same name up to the last "/" begins. No task is serial if it is empty.
	serial string
}

var kinds = []kind{
	{
		begin:  lazyregexp.New(`^=== (?:RUN|CONT) +(\S+)`), // go test -v
		end:    lazyregexp.New(`^(?:=== PAUSE| *--- (?:PASS|FAIL|SKIP|BENCH):) +(\S+)`),
		serial: "=== RUN",
	},
	{
		begin: lazyregexp.New(`^\{.*"Action":"(?:run|cont)".*"Test":"([^"]+)"`), // go test -json
		end:   lazyregexp.New(`^\{.*"Action":"(?:pause|pass|fail|skip)".*"Test":"([^"]+)"`),
	},
	{
		begin: lazyregexp.New(`^((?:\S+/)?\S+\.py::\S.*?) *$`), // pytest -v, with several processes
		end:   lazyregexp.New(`^(?:\[gw\d+\] .*[A-Z]+ ((?:\S+/)?\S+\.py::\S.*?)|((?:\S+/)?\S+\.py::\S.*?) [A-Z]+(?: .*)?) *$`),
	},
	{
		begin:  lazyregexp.New(`^(test\w* \([\w.]+\))(?: \.\.\.|$)`), // unittest -v
		end:    lazyregexp.New(`^(test\w* \([\w.]+\)) \.\.\. (?:ok|FAIL|ERROR|skipped .*|expected failure)$`),
		serial: "test",
	},
	{
		begin: lazyregexp.New(`^\[ RUN {6}\] (\S+)`), // googletest
		end:   lazyregexp.New(`^\[ {2}(?:     OK|FAILED |SKIPPED) \] ([^\s,]+)`),
	},
	{
		begin: lazyregexp.New(`^ +Start +(\d+): `), // ctest
		end:   lazyregexp.New(`^ *\d+/\d+ Test +#(\d+): `),
	},
	{
		begin: lazyregexp.New(`^(?:\[INFO\] )?Running ([\w$.]+)$`), // Maven
		end:   lazyregexp.New(`^(?:\[[A-Z]+\] )?Tests run: .* in ([\w$.]+)$`),
	},
	{
		begin: lazyregexp.New(`^(.+ > .+) STARTED$`), // Gradle
		end:   lazyregexp.New(`^(.+ > .+) (?:PASSED|FAILED|SKIPPED)$`),
	},
	{
		begin: lazyregexp.New(`^Test Case '(.+)' started`), // XCTest
		end:   lazyregexp.New(`^Test Case '(.+)' (?:passed|failed|skipped)`),
	},
	{
		begin: lazyregexp.New(`^test (\S+) has been running for over`), // cargo
		end:   lazyregexp.New(`^test (\S+) \.\.\. \w`),
	},
	{
		begin: lazyregexp.New(`^ +SLOW \[.*?\] (?:\( *\d+/\d+\) )?(\S.*)$`), // nextest
		end:   lazyregexp.New(`^ +(?:PASS|FAIL|TIMEOUT|SIG[A-Z]+|ABORT|LEAK) \[.*?\] (?:\( *\d+/\d+\) )?(\S.*)$`),
	},
	{
		begin: lazyregexp.New(`^ {3,}(\d+) \S.* › `), // Playwright
		end:   lazyregexp.New(`^ +[^\s\d]\S* +(\d+) \S.* › `),
	},
	{
		begin: lazyregexp.New(`^ *# Subtest: (.+)$`), // node
		end:   lazyregexp.New(`^ *(?:not )?ok \d+ - (.+?)(?: # .*)?$`),
	},
	{
		begin: lazyregexp.New(`^#(\d+) \[`), // docker build
		end:   lazyregexp.New(`^#(\d+) (?:DONE|CACHED|ERROR|CANCELED)`),
	},
	{
		begin: lazyregexp.New(`^(\S+): (?:Creat|Destroy|Modify|Read|Refresh|Still [a-z]+)ing.*\.\.\.`), // terraform
		end:   lazyregexp.New(`^(\S+): (?:Creation|Destruction|Modifications|Read|Refresh) complete`),
	},
}

// step matches a line that announces what the command does next. Of each step, the first group, the
// last line counts.
var step = lazyregexp.New(`(?i)^(?:\[INFO\] )?[^\w\[(/]{0,6}(` +
	`(?:collect|runn|compil|build|link|test|check|execut|install|download|fetch|resolv|updat|start|wait|generat|bundl|transform|process|` +
	`upload|pull|push|prepar|unpack|configur|analyz|migrat|sett|load|connect|copy|creat)(?:ing|ed)\b` +
	`|(?:TASK|PLAY|RUNNING HANDLER) \[|(?:Task|Configure project) :|--- \S+ \(|STEP \d|\[ *\d+/\d+\]|\[ *\d+%\]).`)

// announces matches every line that one of the expressions above could match.
var announces = text.CompileOnce(
	`^=== `, `^ *--- `, `^\{.*"Action":`, `\.py::`, `^\[ `, `^ +Start +\d`, `^ *\d+/\d+ Test `, `^(\[[A-Z]+\] )?(Running|Tests run:) `,
	` (STARTED|PASSED|FAILED|SKIPPED)$`, `^Test Case '`, `^test\w* \S`, `^ +(SLOW|PASS|FAIL|TIMEOUT|SIG[A-Z]+|ABORT|LEAK) \[`, `^ *# Subtest`, ` › `, `^ *(not )?ok \d`,
	`^#\d+ `, `^\S+: .+ing.*\.\.\.`, `^\S+: \S+ complete`,
)
