package config

import (
	"reflect"

	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// Changed returns the keys whose values differ, by path. A list counts as one key.
func Changed(a, b Config) []string { return changedKeys(reflect.ValueOf(a), reflect.ValueOf(b), "") }

// changedKeys returns the keys at or below path whose values differ.
func changedKeys(a, b reflect.Value, path string) []string {
	if a.Kind() == reflect.Slice && a.Type().Elem().Kind() == reflect.Struct && a.Len() == b.Len() {
		for i := range a.Len() {
			if len(changedKeys(a.Index(i), b.Index(i), path)) > 0 {
				return []string{path}
			}
		}
		return nil // positions in the file may differ
	}
	if a.Kind() != reflect.Struct || setting.IsText(a.Type()) {
		if reflect.DeepEqual(a.Interface(), b.Interface()) || a.Kind() == reflect.Slice && a.Len() == 0 && b.Len() == 0 {
			return nil
		}
		return []string{path}
	}
	var keys []string
	for _, f := range setting.Fields(a.Type()) {
		keys = append(keys, changedKeys(a.FieldByIndex(f.Index), b.FieldByIndex(f.Index), setting.Join(path, f.Key))...)
	}
	return keys
}
