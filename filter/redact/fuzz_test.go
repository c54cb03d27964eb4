package redact

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/filter/strategy/strategytest"
)

// secretsOf are credentials that are recognised without a name.
var secretsOf = []string{
	"AKIAYSHVJY65YZQUVVQL", "AIzaSyD" + alnum2 + "a1-_B2c3", "ghp_" + alnum2 + "tR7kQm2XzV9bLs4W", "glpat-" + alnum2, "npm_" + alnum2 + "tR7kQm2XzV9bLs4W",
	"sk-ant-api03-" + alnum4 + "AA",
	"xoxb-123456789012-1234567890123-" + alnum2 + "aB1c", "sk_live_o9dgEbIyjvbl5TxfunRURNRf",
	"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiAiWU9OUVJQSjgiLCAiaWF0Ijog.N8goj9Y7nwgkratxT2iaKVmyz0Z",
}

// assignments are names with a % in place of the value.
var assignments = []string{"DB_PASSWORD=%", "api_key: \"%\"", `{"token":"%","x":1}`, "postgres://app:%@db/x", "Authorization: Bearer %", "--password %",
	"<password>%</password>", "Password=%;Encrypt=true", "?access_token=%&x=1"}

// FuzzMask checks that the surroundings of a credential do not hide it, that
// masking again changes nothing, and that a text does not grow.
func FuzzMask(f *testing.F) {
	f.Add("a ", " b", uint8(0), uint8(0))
	f.Add("\x1b[31m", "\x1b[0m\n", uint8(1), uint8(3))
	f.Add("+  12: \"", "\\n\",", uint8(2), uint8(4))
	f.Add("-----BEGIN PRIVATE KEY-----\n", "\n-----END PRIVATE KEY-----", uint8(3), uint8(5))
	f.Add("x://a:", "@b TOKEN=", uint8(4), uint8(6))
	f.Add("[REDACTED:", "]='", uint8(5), uint8(7))
	f.Fuzz(func(t *testing.T, before, after string, which, how uint8) {
		value := secretsOf[int(which)%len(secretsOf)]
		assignment := strings.ReplaceAll(assignments[int(how)%len(assignments)], "%", "xK9mQ2vLtR7")
		s := &Scanner{}
		for _, text := range []string{before + " " + value + " " + after, before + "\n" + assignment + "\n" + after, before + value + after} {
			got, found := s.Mask(text)
			if len(got) > len(text) || strings.Count(got, "\n") != strings.Count(text, "\n") {
				t.Errorf("%q became %q, which is longer or has other lines", text, got)
			}
			if utf8.ValidString(text) && !utf8.ValidString(got) {
				t.Errorf("%q became %q, which is not UTF-8", text, got)
			}
			if (len(found) > 0) != (got != text) {
				t.Errorf("%q: found %v, masked %q", text, found, got)
			}
			if again, found := s.Mask(got); again != got || found != nil {
				t.Errorf("%q became %q, again %q", text, got, again)
			}
		}
		if got, _ := s.Mask(before + " " + value + " " + after); strings.Contains(got, value) && !strings.Contains(before+after, value) {
			t.Errorf("%q shows %s", got, value)
		}
		if got, _ := s.Mask(before + "\n" + assignment + "\n" + after); strings.Contains(got, "xK9mQ2vLtR7") {
			t.Errorf("%q shows the value", got)
		}
	})
}

// TestScanFindsRandomValues checks that nearly all random values are found after a
// name.
func TestScanFindsRandomValues(t *testing.T) {
	n := 400
	if strategytest.Racing {
		n = 100
	}
	r := rand.New(rand.NewPCG(1, 2))
	s := &Scanner{}
	for _, letters := range []string{"0123456789abcdef", "abcdefghijklmnopqrstuvwxyz0123456789",
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"} {
		for _, size := range []int{16, 20, 32, 40} {
			for _, a := range append(assignments, "  secret: %", "client_secret = '%'", "X-Api-Key: %") {
				shown := 0
				for range n {
					value := make([]byte, size)
					for i := range value {
						value[i] = letters[r.IntN(len(letters))]
					}
					text := strings.ReplaceAll(a, "%", string(value))
					if got, _ := s.Mask(text); strings.Contains(got, string(value[size/2:])) {
						shown++
					}
				}
				if shown > n/50 {
					t.Errorf("%d of %d are shown: %s, %d of %s", shown, n, a, size, letters)
				}
			}
		}
	}
}

// TestScanLines checks that a scanner passes all lines on in order.
func TestScanLines(t *testing.T) {
	text := strings.Repeat("line\n"+alnum4+"\n"+alnum4+"AB\n", 3) + "-----END PRIVATE KEY-----\n" + alnum4
	masked, _ := (&Scanner{}).Mask(text)
	var lines []byte
	m := (&Scanner{}).Stream(func(l []byte) { lines = append(append(lines, l...), '\n') }, nil)
	for l := range bytes.Lines([]byte(text)) {
		m.Line(bytes.TrimSuffix(l, []byte("\n")))
	}
	m.End()
	if string(lines) != masked+"\n" {
		t.Errorf("masked line by line\n%s\nmasked as a text\n%s", lines, masked)
	}
}

// TestLearnConcurrently learns values while texts are masked.
func TestLearnConcurrently(t *testing.T) {
	s := &Scanner{}
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 200 {
				value := fmt.Sprintf("value-%d-%d", i, j)
				s.Learn(value)
				if got, _ := s.Mask("a " + value + " b"); got != "a [REDACTED] b" && got != "a ********* b" {
					t.Errorf("the value %q was masked to %q", value, got)
				}
			}
		})
	}
	wg.Wait()
}
