// Package text holds what every part of the filter needs to read and write the
// text of a command.
//
// [Sanitizer] turns raw output into lines and [Lines] stores them, in a file once
// they are many. [Pattern] and [Patterns] match regular expressions at a cost that
// does not grow with their number, [Excerpt] cuts the middle of a text, and
// [Normalize] removes the parts of a log line that vary. The rest are sets of
// bytes, sets of words, and the marks that stand for omitted lines.
//
// Lines are byte slices without a line feed. Functions that take a line neither
// change nor keep it.
package text
