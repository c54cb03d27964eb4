package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// rules are the restrictions that the helper enforces. Rights are Landlock's
// own bits.
type rules struct {
	FS     uint64  `json:"fs"` // rights that require a grant
	Net    uint64  `json:"net,omitempty"`
	Scoped uint64  `json:"scoped,omitempty"`
	NoTCP  bool    `json:"no_tcp,omitempty"` // no TCP, and no other stream socket that is not local
	Grants []grant `json:"grants"`
}

// grant allows rights on files and directories, and on everything below these.
type grant struct {
	Dir    []byte  `json:"dir"` // absolute, without links; not always UTF-8
	Rights uint64  `json:"right"`
	Names  []entry `json:"names"` // in Dir; "." is Dir
}

// entry is a file identified by name and inode, so that a grant never applies
// to a file that has replaced it.
type entry struct {
	Name []byte `json:"n"`
	ID   fileID `json:"i"`
}

// fileID identifies a file.
type fileID struct{ Dev, Ino uint64 }

// The environment variables that hold the rules. Arguments would be visible to
// every process, and a file would have to be removed. Linux accepts 128 KiB in
// one variable.
const (
	rulesVariable = "ZEPH_SANDBOX_RULES_"
	chunkSize     = 100 << 10
	maxChunks     = 10
)

// errTooMany reports that the rules do not fit into a system call.
var errTooMany = errors.New("too many files next to files that must not be read")

// encode returns the rules as variables.
func (r *rules) encode() ([]string, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode the rules: %w", err)
	}
	if len(text) > chunkSize*maxChunks {
		return nil, errTooMany
	}
	var env []string
	for chunk := range slices.Chunk(text, chunkSize) {
		env = append(env, rulesVariable+strconv.Itoa(len(env))+"="+string(chunk))
	}
	return env, nil
}

// decode removes the rules from an environment and parses them.
func decode(environ []string) (*rules, []string, error) {
	var chunks [maxChunks]string
	rest := slices.DeleteFunc(slices.Clone(environ), func(v string) bool {
		name, value, _ := strings.Cut(v, "=")
		number, ok := strings.CutPrefix(name, rulesVariable)
		if !ok {
			return false
		}
		if i, err := strconv.Atoi(number); err == nil && i >= 0 && i < maxChunks {
			chunks[i] = value
		}
		return true
	})
	text := strings.Join(chunks[:], "")
	if text == "" {
		return nil, nil, errors.New("there are no rules; zeph-acp itself starts this command, for [tools.sandbox]")
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	r := &rules{}
	if err := dec.Decode(r); err != nil {
		return nil, nil, fmt.Errorf("the rules are damaged: %w", err)
	}
	if r.FS == 0 || dec.More() {
		return nil, nil, errors.New("the rules are damaged: they restrict nothing")
	}
	return r, rest, nil
}

// encodeToFit encodes the rules. If they do not fit, it drops the largest grants, so
// that commands cannot read those files.
func (r *rules) encodeToFit(notes *[]string) ([]string, error) {
	for {
		env, err := r.encode()
		if !errors.Is(err, errTooMany) || len(r.Grants) == 0 {
			return env, err
		}
		largest := 0
		for i, g := range r.Grants {
			if len(g.Names) > len(r.Grants[largest].Names) {
				largest = i
			}
		}
		*notes = append(*notes, fmt.Sprintf("commands cannot read the %s next to refused ones in %q: they are too many for the kernel's rules", quantity.Count(len(r.Grants[largest].Names), "file"), r.Grants[largest].Dir))
		r.Grants = slices.Delete(r.Grants, largest, largest+1)
	}
}

// withoutRules returns env without the variables that the helper would read as
// rules.
func withoutRules(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool { return strings.HasPrefix(v, rulesVariable) })
}
