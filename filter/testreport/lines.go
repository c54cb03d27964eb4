package testreport

import "bytes"

func begins(l []byte, with string) bool { return len(l) >= len(with) && string(l[:len(with)]) == with }

func ends(l []byte, with string) bool {
	return len(l) >= len(with) && string(l[len(l)-len(with):]) == with
}

func contains(l []byte, text string) bool { return bytes.Contains(l, []byte(text)) }

// testKey returns the key of a test's name.
func testKey(name []byte) string { return string(name[:min(len(name), 300)]) }

// clipText cuts a text to about n bytes.
func clipText(l []byte, n int) []byte {
	if len(l) <= n {
		return l
	}
	cut := bytes.ToValidUTF8(l[:n], nil)
	return append(cut[:len(cut):len(cut)], "..."...)
}

// leadingNumber parses a leading number. n is the number of digits.
func leadingNumber(l []byte) (value, n int) {
	for n < len(l) && n < 15 && l[n] >= '0' && l[n] <= '9' {
		value = value*10 + int(l[n]-'0')
		n++
	}
	return value, n
}
