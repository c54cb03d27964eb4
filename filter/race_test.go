//go:build race

package filter

// racing says that the race detector looks on, which takes ten times as long:
// tests of sizes and of chance, where nothing runs at once, take less of it then.
const racing = true
