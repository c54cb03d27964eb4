package outline

import "github.com/zeph-acp/zeph-acp/filter/text"

// kind is a kind of block. A line belongs to the block that began before it, until another begins.
type kind struct {
	noun   string                // of one block, for the mark that replaces bodies
	begins func() *text.Patterns // the first line of a block
	head   func() *text.Patterns // further lines that always stay; nil means none
	body   func() *text.Patterns // every other line of a block; nil means any line
	ends   func() *text.Patterns // the first line after a block; nil means none
	first  func() *text.Patterns // the first line after begins that matches stays too; nil means none
	// closes is the last line of a block that repeats its name, the last word of the first line. The first
	// line then is a part of the body.
	closes func() *text.Patterns
	// place keeps the line that says where a test failed: the first one that also says why, or the
	// last one if lastPlace is set, or else the first.
	place, lastPlace bool
	smallFirst       bool // small bodies are worth more than large ones; otherwise earlier ones are
}

const commitNoun = "commit"

// kinds are the kinds of blocks. Bodies of the first kinds are worth more.
var kinds = []kind{
	{
		noun: "failure", place: true, ends: endsTests,
		begins: text.CompileOnce(
			`^_{3,} .+ _{3,}$`,                                // pytest
			`^(FAIL|ERROR): \S+ \(`,                           // unittest
			`^---- .+ (stdout|stderr) ----$`,                  // cargo
			`^\s+(FAIL|TIMEOUT|SIG[A-Z]+) \[ *[\d.]+s\] `,     // nextest
			`^ {1,2}● |^ FAIL +\S+|^\s+(×|✕|✖) `,              // jest, vitest, node
			`^ {1,3}\d+\) `,                                   // mocha, rspec, minitest, ExUnit
			`^\s*not ok \d+`,                                  // TAP
			`^\[ERROR\] .+<<< (FAILURE|ERROR)!|^\S.* FAILED$`, // Maven, Gradle
			`^\s+Failed \S+.* \[[^\]]+\]$`,                    // dotnet
		),
	},
	{
		noun: "test", place: true, lastPlace: true, ends: endsTests,
		begins: text.CompileOnce(`^\s*--- FAIL: \S`, `^=== (RUN|CONT|NAME) +\S`, `^\[ RUN {6}\] \S`),
		closes: text.CompileOnce(`^\s*--- FAIL: \S`, `^\[ {2}FAILED {2}\] \S`), // go, googletest
	},
	{
		noun: "goroutine", place: true,
		begins: text.CompileOnce(`^goroutine \d+ .*\[.+\]:$`),
		ends:   text.CompileOnce(`^$`, `^exit status \d`, `^FAIL\b`),
	},
	{
		noun:   "diagnostic",
		begins: text.CompileOnce(`^(error|warning)(\[[\w:-]+\])?: `, `^[^\s:][^:]*:\d+(:\d+)?: (fatal )?(error|warning|note)\b`),
		head:   text.CompileOnce(`^\s*(-->|:::) \S`),
		body:   text.CompileOnce(`^\s`),
	},
	{
		noun: "hunk", smallFirst: true,
		first:  text.CompileOnce(`^[+-]\s*\S.{7}`),
		begins: text.CompileOnce(`^@@+ -\d[\d, +-]* @@`),
		body:   text.CompileOnce(`^[ +\\-]`, `^$`),
		ends:   text.CompileOnce(`^(---|\+\+\+) (\S+\t|[abciwo]/|/dev/null)`), // the next file of "diff -u"
	},
	{
		noun: commitNoun, smallFirst: true,
		begins: text.CompileOnce(`^[*|/\\ ]*(commit [0-9a-f]{7,64}\b|[0-9a-f]{7,64} \d{4}-\d\d-\d\d )`),
		head: text.CompileOnce(
			`^[*|/\\ ]*(Merge|Author|AuthorDate|Commit|CommitDate|Date): `,
			`^[*|/\\ ]* \d+ files? changed`,
		),
		body: text.CompileOnce(`^[\s|*/\\]`, `^$`, `^\.\.\. `),
	},
}

// endsTests are the lines after the last failure of a run or of a package: totals and names.
var endsTests = text.CompileOnce(
	`^\(when it was stopped:\)$`,                                                         // from package filter
	`^\.\.\. and \d+ more failures:$`,                                                    // from package testreport
	`^=+ .* =+$`, `^(FAIL|ok|\?) *\t`, `^(FAIL|PASS)$`, `^exit status \d`, `^coverage: `, // pytest, go
	`^FAILED `, `^ERROR `, `^Ran \d+ tests? in `,
	`^failures:$`, `^test result: `, `^error: `, `^ +Summary \[`, // cargo
	`^(Test Suites|Tests|Snapshots|Time): `, `^ *(Test Files|Tests|Duration) +\d`, `^FAIL \S`, `^[⎯─]{3,}`, // jest, vitest
	`^ +\d+ (passing|failing|pending)\b`, `^Finished in `, `^Failed examples:`, `^\d+ examples?, `, // mocha, rspec
	`^ℹ tests \d`, `^✖ failing tests:`, `^# (tests|pass|fail) \d`, `^1\.\.\d+$`, // node, TAP
	`^\[(ERROR|INFO|WARNING)\] `, `^BUILD (FAILED|SUCCESSFUL)`, `^\d+ tests completed`, // Maven, Gradle
	`^(Failed|Passed)! +- `, `^Total tests: `, // dotnet
	`^\[(=|-){10}\] `, `^\[  (PASSED|SKIPPED) +\] `, // googletest
)

// places are the ways in which tools name a line of a file.
var places = text.CompileOnce(`[\w)\]-]\.[A-Za-z]\w{0,5}[:(]\d+`, `File "[^"]+", line \d+`, `\.\w+:line \d+`)
