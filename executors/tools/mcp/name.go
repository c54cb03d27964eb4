package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// maxName is the length of the longest tool name that all providers accept.
const maxName = 64

// hashLen is the number of hex digits that make a name unique.
const hashLen = 8

// separator joins the names of server and tool. No server's name contains it, so a name
// can be split again.
const separator = "__"

// promptSeparator joins the names of server and prompt.
const promptSeparator = ":"

// safeName returns a name of the letters, digits, underscores and dashes that providers
// accept.
func safeName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
}

// toolPrefix returns the first part of the names of a server's tools. It has no
// separator and does not end in an underscore.
func toolPrefix(server string) string {
	p := safeName(server)
	for strings.Contains(p, separator) {
		p = strings.ReplaceAll(p, separator, "_")
	}
	if p = strings.Trim(p, "_"); p == "" {
		return "mcp"
	}
	return p
}

// toolPrefixes returns the prefix of each server. Servers whose names differ have
// different prefixes.
func toolPrefixes(servers []Server) []string {
	count := map[string]int{}
	for _, s := range servers {
		count[strings.ToLower(toolPrefix(s.Name))]++
	}
	out := make([]string, len(servers))
	for i, s := range servers {
		out[i] = toolPrefix(s.Name)
		if count[strings.ToLower(out[i])] > 1 {
			out[i] += "_" + hashDigits(s.Name)
		}
	}
	return out
}

// toolNames returns the names under which the tools of a server are offered.
func toolNames(prefix string, tools []string) []string {
	return uniqueNames(prefix, separator, tools)
}

// uniqueNames returns names that begin with a server's prefix. They depend only on the
// arguments, so they are the same in each run.
func uniqueNames(prefix, separator string, tools []string) []string {
	count := map[string]int{}
	for _, t := range tools {
		count[strings.ToLower(safeName(t))]++
	}
	out := make([]string, len(tools))
	for i, t := range tools {
		name := prefix + separator + safeName(t)
		if count[strings.ToLower(safeName(t))] > 1 || len(name) > maxName {
			name = name[:min(len(name), maxName-hashLen-1)] + "_" + hashDigits(prefix+separator+t)
		}
		out[i] = name
	}
	return out
}

// hashDigits returns hashLen hex digits of a hash of text.
func hashDigits(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])[:hashLen]
}
