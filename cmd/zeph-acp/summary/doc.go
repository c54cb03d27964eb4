// Package summary counts the calls of the audit log.
//
// [Counts] are the numbers by tool that "zeph-acp audit stats" prints.
package summary
