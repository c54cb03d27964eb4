package walk

import (
	"cmp"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// jobs is a heap, ordered by key.
type jobs []*job

func (j jobs) Len() int           { return len(j) }
func (j jobs) Less(a, b int) bool { return j[a].key < j[b].key }
func (j jobs) Swap(a, b int)      { j[a], j[b] = j[b], j[a] }
func (j *jobs) Push(x any)        { *j = append(*j, x.(*job)) }
func (j *jobs) Pop() any {
	last := len(*j) - 1
	x := (*j)[last]
	(*j)[last] = nil
	*j = (*j)[:last]
	return x
}

// inOrder compares entries of one directory. A directory is compared as its name
// with a slash, so that the paths of the whole walk come sorted.
func inOrder(a, b workspace.Entry) int {
	n := min(len(a.Name), len(b.Name))
	if c := strings.Compare(a.Name[:n], b.Name[:n]); c != 0 {
		return c
	}
	return cmp.Compare(sortByte(a, n), sortByte(b, n))
}

// sortByte returns the byte of the sortName at n, -1 at its end.
func sortByte(e workspace.Entry, n int) int {
	switch {
	case n < len(e.Name):
		return int(e.Name[n])
	case e.Type.IsDir():
		return '/'
	}
	return -1
}

func sortName(e workspace.Entry) string {
	if e.Type.IsDir() {
		return e.Name + "/"
	}
	return e.Name
}
