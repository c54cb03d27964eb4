// Package text has the functions with which every part of the filter reads and
// writes the text of a command.
//
// [Sanitizer] turns raw output into lines and [Lines] stores them, in a file once
// they are many. [Pattern] and [Patterns] match regular expressions at a cost that
// does not grow with their number, [Excerpt] cuts the middle of a text, and
// [Normalize] removes the parts of a log line that vary. The rest are sets of
// bytes, sets of words, and the marks that stand for omitted lines.
//
// Lines are byte slices without a line feed. Functions with a line as argument
// neither change nor keep it.
package text
