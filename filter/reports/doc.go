// Package reports turns what tools write as data into the lines that they write for people: the JSON of
// linters and test runners, and the annotations of GitHub's workflows. So the rules for these lines
// filter both.
//
// Start with [Decoder]. A form is recognised by its members, not by the name of a tool. JSON that is
// incomplete, or of another form, passes through as it is.
package reports
