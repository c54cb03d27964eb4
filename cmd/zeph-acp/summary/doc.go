// Package summary counts the calls of the audit log, and describes who decided about
// them.
//
// [Counts] are the numbers by tool that "zeph-acp audit stats" prints. [Report] has more:
// denials with their rules, answers of people, savings of filters. Its page is written by
// [Report.HTML].
//
// It promises that the time in which calls waited for people does not count as their duration.
package summary
