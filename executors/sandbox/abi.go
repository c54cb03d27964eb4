package sandbox

import "strings"

// Versions of Landlock's interface that added the coverage of an operation:
// https://docs.kernel.org/userspace-api/landlock.html#previous-limitations.
const (
	abiRefer    = 2  // moves between directories (Linux 5.19)
	abiTruncate = 3  // truncate(2) (6.2)
	abiTCP      = 4  // bind(2) and connect(2) of TCP (6.7)
	abiIoctl    = 5  // ioctl(2) on devices (6.10)
	abiScope    = 6  // signals, abstract sockets (6.12)
	abiUDP      = 10 // bind(2), connect(2) and send(2) of UDP
)

// describeCoverage describes to the user the restrictions of the sandbox at an ABI.
func describeCoverage(abi int, network bool) string {
	parts := []string{"writes", "reads"}
	if !network && abi >= abiTCP {
		parts = append(parts, "TCP")
	}
	if !network && abi >= abiUDP {
		parts = append(parts, "UDP")
	}
	if abi >= abiScope {
		parts = append(parts, "signals")
	}
	text := strings.Join(parts, ", ")
	if abi < abiRefer {
		text += "; moves between directories fail before Linux 5.19"
	}
	if abi < abiTruncate {
		text += "; files elsewhere can be truncated before Linux 6.2"
	}
	if !network && abi < abiTCP {
		text += "; no TCP rules before Linux 6.7"
	}
	return text
}
