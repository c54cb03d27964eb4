package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// rules is all that the helper enforces. Rights are Landlock's own bits.
type rules struct {
	FS     uint64  `json:"fs"` // rights that nobody has without a grant
	Net    uint64  `json:"net,omitempty"`
	Scoped uint64  `json:"scoped,omitempty"`
	NoTCP  bool    `json:"no_tcp,omitempty"` // nor any other stream socket that is not local
	Grants []grant `json:"grants"`
}

// grant returns rights on files and directories, and on all below these.
type grant struct {
	Dir   []byte  `json:"dir"` // absolute, without links; not always UTF-8
	Right uint64  `json:"right"`
	Names []entry `json:"names"` // in Dir; "." is Dir
}

// entry is known by its identity too: what has taken its place since is another
// file, for which nothing was decided.
type entry struct {
	Name []byte `json:"n"`
	ID   id     `json:"i"`
}

// id tells one file from all others.
type id struct{ Dev, Ino uint64 }

// The variables that hold the rules: argv would show them to everybody, and a
// file would have to be removed. Linux takes 128 KiB in one variable.
const (
	variable  = "ZEPH_SANDBOX_RULES_"
	chunkSize = 100 << 10
	maxChunks = 10
)

// errTooMany says that a system call could not take the rules.
var errTooMany = errors.New("too many files beside such that must not be read")

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
		env = append(env, variable+strconv.Itoa(len(env))+"="+string(chunk))
	}
	return env, nil
}

// decode takes the rules out of an environment.
func decode(environ []string) (*rules, []string, error) {
	var chunks [maxChunks]string
	rest := slices.DeleteFunc(slices.Clone(environ), func(v string) bool {
		name, value, _ := strings.Cut(v, "=")
		number, ok := strings.CutPrefix(name, variable)
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
		return nil, nil, errors.New("there are no rules; zeph-acp starts this itself, for [tools.sandbox], and there is nothing to call by hand")
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

// fit encodes the rules; where they are too many it gives up the largest grants,
// so that what they name cannot be read.
func (r *rules) fit(notes *[]string) ([]string, error) {
	for {
		env, err := r.encode()
		if !errors.Is(err, errTooMany) || len(r.Grants) == 0 {
			return env, err
		}
		most := 0
		for i, g := range r.Grants {
			if len(g.Names) > len(r.Grants[most].Names) {
				most = i
			}
		}
		*notes = append(*notes, fmt.Sprintf("the %d files beside refused ones in %q are too many; commands cannot read them", len(r.Grants[most].Names), r.Grants[most].Dir))
		r.Grants = slices.Delete(r.Grants, most, most+1)
	}
}

// withoutRules is env without variables that the helper would take for rules.
func withoutRules(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool { return strings.HasPrefix(v, variable) })
}
