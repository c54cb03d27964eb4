package mcp

import (
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

var reference = lazyregexp.New(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?\}`)

// expand replaces ${NAME} and ${NAME:-default} in a text. A variable that is not set
// and has no default is an error.
func expand(text string, getenv func(string) string) (string, error) {
	var missing []string
	out := reference.ReplaceAllStringFunc(text, func(m string) string {
		parts := reference.FindStringSubmatch(m)
		if value := getenv(parts[1]); value != "" {
			return value
		}
		if parts[2] == "" {
			missing = append(missing, parts[1])
		}
		return parts[3]
	})
	if len(missing) > 0 {
		return "", fmt.Errorf("the variable %s is not set", strings.Join(missing, ", "))
	}
	return out, nil
}
