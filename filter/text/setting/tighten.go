package setting

import (
	"reflect"
	"slices"
)

// A Tightener adopts stricter values that no tag describes, after the tags were applied.
// Repo is a value of the same struct with the values of the workspace.
type Tightener interface {
	Tighten(repo any, keys *Keys)
}

// Tighten returns ours with the values of a workspace's configuration that make it
// stricter. Set are the paths of the keys that the workspace sets. A key without a
// direction is the user's alone. Ignored are the keys whose values were not adopted and
// differ from ours, or the elements of lists, sorted.
func Tighten[T any](ours, repo T, set ...string) (result T, ignored []string) {
	result = ours
	k := &Keys{set: set}
	k.table(reflect.ValueOf(&result).Elem(), reflect.ValueOf(&repo).Elem())
	slices.Sort(k.ignored) // a list stands before its elements
	for _, key := range slices.Compact(k.ignored) {
		if !slices.ContainsFunc(ignored, func(above string) bool { return Within(key, above) }) {
			ignored = append(ignored, key)
		}
	}
	return result, ignored
}

// Keys are the keys that a workspace sets in one table.
type Keys struct {
	path    string
	set     []string
	asked   []string // by a Tightener; the others of its table are the user's
	ignored []string
}

// Has reports whether the workspace sets the key, or a key below it.
func (k *Keys) Has(key string) bool {
	path := Join(k.path, key)
	k.asked = append(k.asked, path)
	return slices.ContainsFunc(k.set, func(set string) bool { return Within(set, path) })
}

// Ignore records that a key, or a part of its value, is ignored.
func (k *Keys) Ignore(key string) { k.ignored = append(k.ignored, Join(k.path, key)) }

// Adopt calls set if the workspace sets the key, and strict reports that its value is at
// least as strict as the user's. It ignores a looser value.
func (k *Keys) Adopt(key string, strict bool, set func()) {
	switch {
	case !k.Has(key):
	case strict:
		set()
	default:
		k.Ignore(key)
	}
}

// table tightens a table and the tables in it.
func (k *Keys) table(ours, repo reflect.Value) {
	var rest []int // the fields without a direction
	path := k.path
	for i := range ours.NumField() {
		f := ours.Type().Field(i)
		key, embedded := keyOf(f)
		direction := directions[f.Tag.Get("tighten")]
		switch {
		case f.Tag.Get("tighten") == "-":
			k.userOnly(key, ours.Field(i), repo.Field(i))
		case embedded:
			k.table(ours.Field(i), repo.Field(i))
		case key == "":
		case isTable(f.Type):
			k.path = Join(path, key)
			k.table(ours.Field(i), repo.Field(i))
			k.path = path
		case direction != nil:
			k.adopt(Field{Key: key, Tag: f.Tag}, direction, ours.Field(i), repo.Field(i))
		default:
			rest = append(rest, i)
		}
	}
	if t, ok := declares[Tightener](ours); ok {
		t.Tighten(repo.Interface(), k)
	}
	for _, i := range rest {
		key, _ := keyOf(ours.Type().Field(i))
		if !slices.Contains(k.asked, Join(path, key)) {
			k.userOnly(key, ours.Field(i), repo.Field(i))
		}
	}
}

// adopt sets a key to what a direction adopts of the workspace's value. A wrong value is
// ignored.
func (k *Keys) adopt(f Field, direction direction, ours, repo reflect.Value) {
	if !k.Has(f.Key) {
		return
	}
	if repo.Kind() != reflect.Slice && f.fault(repo) != "" {
		k.Ignore(f.Key)
		return
	}
	v, strict := direction(f, ours, repo)
	if ours.Set(v); !strict {
		k.Ignore(f.Key)
	}
}

// userOnly ignores the keys at or below a key that only the user may set.
func (k *Keys) userOnly(key string, ours, repo reflect.Value) {
	path := Join(k.path, key)
	if reflect.DeepEqual(ours.Interface(), repo.Interface()) {
		return
	}
	for _, set := range k.set {
		if Within(set, path) {
			k.ignored = append(k.ignored, set)
		}
	}
}

// A direction returns the user's value with what is adopted of the workspace's, and reports
// whether that is all of it.
type direction func(f Field, ours, repo reflect.Value) (reflect.Value, bool)

// directions are the values of the tag "tighten".
var directions = map[string]direction{
	"on": func(_ Field, ours, repo reflect.Value) (reflect.Value, bool) {
		return strictest(ours, repo, repo.Bool() || !ours.Bool())
	},
	"off": func(_ Field, ours, repo reflect.Value) (reflect.Value, bool) {
		return strictest(ours, repo, !repo.Bool() || ours.Bool())
	},
	"lower": func(_ Field, ours, repo reflect.Value) (reflect.Value, bool) {
		return strictest(ours, repo, asFloat(repo) <= asFloat(ours))
	},
	"raise": func(_ Field, ours, repo reflect.Value) (reflect.Value, bool) {
		return strictest(ours, repo, asFloat(repo) >= asFloat(ours))
	},
	// A lower limit, where 0 is none.
	"limit": func(_ Field, ours, repo reflect.Value) (reflect.Value, bool) {
		a, b := asFloat(ours), asFloat(repo)
		return strictest(ours, repo, a == b || b > 0 && (a == 0 || b < a))
	},
	// An earlier one of the choices.
	"earlier": func(f Field, ours, repo reflect.Value) (reflect.Value, bool) {
		return strictest(ours, repo, f.choice(repo) <= f.choice(ours))
	},
	// The empty text.
	"clear": func(_ Field, ours, repo reflect.Value) (reflect.Value, bool) {
		return strictest(ours, repo, repo.Len() == 0 || repo.String() == ours.String())
	},
	// More elements.
	"add": func(_ Field, ours, repo reflect.Value) (reflect.Value, bool) {
		all := slices.Clone(ours.Interface().([]string))
		for _, s := range repo.Interface().([]string) {
			if !slices.Contains(all, s) {
				all = append(all, s)
			}
		}
		return reflect.ValueOf(all), true
	},
	// Some of the elements.
	"remove": func(_ Field, ours, repo reflect.Value) (reflect.Value, bool) {
		mine, theirs := ours.Interface().([]string), repo.Interface().([]string)
		kept := slices.DeleteFunc(slices.Clone(mine), func(s string) bool { return !slices.Contains(theirs, s) })
		return reflect.ValueOf(kept), !slices.ContainsFunc(theirs, func(s string) bool { return !slices.Contains(mine, s) })
	},
	"": nil,
}

// strictest returns the workspace's value if it is strict, and else the user's.
func strictest(ours, repo reflect.Value, strict bool) (reflect.Value, bool) {
	if strict {
		return repo, true
	}
	return ours, false
}
