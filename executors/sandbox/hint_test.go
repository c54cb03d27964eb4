package sandbox

import (
	"path/filepath"
	"strings"
	"testing"
)

// The hint depends only on the output.
func TestHint(t *testing.T) {
	const write, network, read = "write only in", "allow_network", "deny_read"
	for output, want := range map[string]string{
		"touch: cannot touch '/etc/x': Permission denied":                           write,
		"rename a b: Invalid cross-device link":                                     write,
		"s.connect(('1.1.1.1', 80))\nPermissionError: [Errno 13] Permission denied": network,
		"dial tcp 1.1.1.1:443: connect: permission denied":                          network,
		"bash: connect: Operation not permitted":                                    network,
		"curl: (7) Failed to connect: Network is unreachable":                       network,
		"connect ECONNREFUSED 127.0.0.1:80":                                         network,
		"cat: .env: Permission denied":                                              read,
		"PermissionError: [Errno 13] Permission denied: '.env'":                     read,
		"connected\nPermissionError: [Errno 13] Permission denied: '/w/sub/.env'":   read,
		"open .env: ok\nconnect: permission denied":                                 network,
		"rm: cannot remove 'a': Operation not permitted":                            "",
		"no such file": "",
	} {
		s := &Sandbox{abi: abiTCP, roots: []string{"/w"}, session: Session{Refuses: func(abs string) bool { return filepath.Base(abs) == ".env" }}}
		if got := s.hint(output); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q: %q", output, got)
		}
		s.session.Network, s.session.Refuses = true, nil
		if got := s.hint(output); strings.Contains(got, network) || strings.Contains(got, read) {
			t.Errorf("with all allowed, %q: %q", output, got)
		}
	}
}
