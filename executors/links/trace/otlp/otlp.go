// Package otlp has the parts of OpenTelemetry's messages that traces and logs share, in the
// JSON form of the protocol.
//
// Start with [Attribute]; [String], [Int], [Bool] and [Strings] make its values. 64-bit integers
// are strings, as the JSON mapping of Protocol Buffers requires:
// https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
package otlp

import (
	"strconv"
	"time"
)

// Resource describes the process.
type Resource struct {
	Attributes []Attribute `json:"attributes"`
}

// Scope is the part of the program that records.
type Scope struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Attribute is a named value.
type Attribute struct {
	Key   string `json:"key"`
	Value Value  `json:"value"`
}

// Value is an AnyValue: exactly one field is set.
type Value struct {
	String *string `json:"stringValue,omitempty"`
	Int    *string `json:"intValue,omitempty"` // decimal digits
	Bool   *bool   `json:"boolValue,omitempty"`
	Array  *Array  `json:"arrayValue,omitempty"`
}

// Array is a list of values.
type Array struct {
	Values []Value `json:"values"`
}

// String returns the value of a text.
func String(s string) Value { return Value{String: &s} }

// Int returns the value of a number.
func Int(n int64) Value {
	digits := strconv.FormatInt(n, 10)
	return Value{Int: &digits}
}

// Bool returns the value of a boolean.
func Bool(b bool) Value { return Value{Bool: &b} }

// Strings returns the value of a list of texts.
func Strings(list []string) Value {
	a := &Array{}
	for _, s := range list {
		a.Values = append(a.Values, String(s))
	}
	return Value{Array: a}
}

// Time returns a time in the form of the protocol: nanoseconds since 1970. The zero time is 0,
// which means unknown.
func Time(t time.Time) string {
	if t.IsZero() {
		return "0"
	}
	return strconv.FormatInt(t.UnixNano(), 10)
}
