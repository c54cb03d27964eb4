package filter

// New makes a filter of the built-in rules and the user's file over them; no
// path means no such file. The warnings name what of it cannot be used, and why.
func New(path string) (*Filter, []string) {
	rules, warnings := load(path)
	return &Filter{rules: rules, scan: &Scanner{}}, warnings
}
