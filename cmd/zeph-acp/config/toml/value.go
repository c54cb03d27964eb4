package toml

import (
	"reflect"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// IsLeaf reports whether values of the type have no keys of their own.
func IsLeaf(t reflect.Type) bool {
	return setting.IsText(t) || isScalar(t) || t.Kind() == reflect.Slice && (setting.IsText(t.Elem()) || isScalar(t.Elem()))
}

// ParseValue parses the text of a variable as a value of the type. A string is
// used unchanged, a list is separated by commas or a TOML array, and everything
// else is TOML.
func ParseValue(t reflect.Type, text string) (*Node, bool) {
	text = strings.TrimSpace(text)
	if Want(t).Fits(unstable.String) {
		return &Node{Kind: unstable.String, Text: text}, true
	}
	if t.Kind() == reflect.Slice && !strings.HasPrefix(text, "[") {
		list := &Node{Kind: unstable.Array}
		for item := range strings.SplitSeq(text, ",") {
			if item = strings.TrimSpace(item); item == "" {
				continue
			}
			n, ok := ParseValue(t.Elem(), item)
			if !ok {
				return nil, false
			}
			list.Items = append(list.Items, n)
		}
		return list, true
	}
	root, mistakes := Parse([]byte("value = " + text))
	if len(mistakes) > 0 || len(root.Keys) != 1 {
		return nil, false
	}
	n := root.Child("value")
	n.Line = 0
	return n, true
}

// bareKey matches a key that needs no quotes.
var bareKey = lazyregexp.New(`^[A-Za-z0-9_-]+$`)

// FormatKey formats a key as TOML.
func FormatKey(key string) string {
	if bareKey.MatchString(key) {
		return key
	}
	return executors.TOMLString(key)
}

var indexPattern = lazyregexp.New(`\[[0-9]+\]`)

// Unindexed returns a path with each index of an array replaced by mark.
func Unindexed(path, mark string) string { return indexPattern.ReplaceAllString(path, mark) }
