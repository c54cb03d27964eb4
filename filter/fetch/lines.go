package fetch

import (
	"bytes"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// lineKind is the kind of a line.
type lineKind int

const (
	bodyLine lineKind = iota
	headerLine
	toolLine
)

// classify returns the kind of a line and whether it stays.
func (f *fetchPass) classify(l []byte) (kind lineKind, keep bool) {
	switch {
	case f.inHeaders && len(l) == 0:
		return headerLine, true
	case f.inHeaders && isHeader(l):
		return headerLine, f.keepsHeader(l)
	case bytes.HasPrefix(l, []byte("HTTP/")) && len(l) > 8 && text.Class[l[5]] == text.Digit:
		f.inHeaders = true
		f.setStatus(l)
		return headerLine, true
	}
	f.inHeaders = false
	if len(l) == 0 {
		return bodyLine, true
	}
	switch rest := l[min(2, len(l)):]; {
	case bytes.HasPrefix(l, []byte("  % Total")), bytes.HasPrefix(l, []byte("                                 Dload")):
		return toolLine, false
	case bytes.HasPrefix(l, []byte("* ")):
		return toolLine, f.keepsConnectionLine(rest)
	case bytes.HasPrefix(l, []byte("< ")) && (isHeader(rest) || bytes.HasPrefix(rest, []byte("HTTP/"))):
		if bytes.HasPrefix(rest, []byte("HTTP/")) {
			f.setStatus(rest)
			return toolLine, true
		}
		return toolLine, f.keepsHeader(rest)
	case bytes.HasPrefix(l, []byte("> ")) &&
		(isHeader(rest) || bytes.HasSuffix(l, []byte("HTTP/1.1")) || bytes.HasSuffix(l, []byte("HTTP/2")) ||
			bytes.HasSuffix(l, []byte("HTTP/1.0")) || bytes.HasSuffix(l, []byte("HTTP/3"))):
		return toolLine, !isHeader(rest) || !routineRequestHeaders.Find(headerName(rest))
	case string(l) == ">" || string(l) == "<" || string(l) == "> " || string(l) == "< ":
		return toolLine, false
	case (l[0] == '{' || l[0] == '}') && bytes.HasSuffix(l, []byte("bytes data]")):
		return toolLine, false
	case bytes.HasPrefix(l, []byte("curl: (")), bytes.HasPrefix(l, []byte("curl: ")), bytes.HasPrefix(l, []byte("wget: ")):
		return toolLine, true
	}
	return f.classifyWget(l)
}

// classifyWget classifies a line of wget.
func (f *fetchPass) classifyWget(l []byte) (kind lineKind, keep bool) {
	switch {
	case beginsWgetFile(l),
		bytes.HasPrefix(l, []byte("HTTP request sent, ")),
		bytes.HasPrefix(l, []byte("Saving to: ")),
		bytes.HasPrefix(l, []byte("Length: ")):
		return toolLine, true
	case bytes.HasPrefix(l, []byte("Resolving ")),
		bytes.HasPrefix(l, []byte("Connecting to ")),
		bytes.HasPrefix(l, []byte("Reusing existing connection to ")),
		bytes.HasPrefix(l, []byte("Loaded CA certificate")):
		return toolLine, text.Important(l)
	case isWgetProgress(l):
		return toolLine, false
	}
	return bodyLine, true
}

// isWgetProgress reports whether a line is wget's progress: 50K .......... 12% 1.2M
// 3s.
func isWgetProgress(l []byte) bool {
	l = bytes.TrimLeft(l, " ")
	end := text.DigitsEnd(l, 0)
	if end == 0 || end+3 >= len(l) || l[end] != 'K' && l[end] != 'M' || l[end+1] != ' ' || bytes.IndexByte([]byte("., "), l[end+2]) < 0 {
		return false
	}
	rest := bytes.TrimLeft(l[end+1:], " .,")
	percent := text.DigitsEnd(rest, 0)
	return len(rest) == 0 || percent > 0 && percent < len(rest) && rest[percent] == '%'
}

func (f *fetchPass) setStatus(l []byte) {
	i := bytes.IndexByte(l, ' ')
	f.failedStatus = i > 0 && i+1 < len(l) && l[i+1] >= '4'
}

// isHeader reports whether a line is a header: a name, a colon and a value.
func isHeader(l []byte) bool {
	i := bytes.IndexByte(l, ':')
	if i <= 0 || i+1 < len(l) && l[i+1] != ' ' {
		return false
	}
	for _, b := range l[:i] {
		if text.Class[b] == 0 && b != '-' && b != '_' {
			return false
		}
	}
	return true
}

// headerName returns the name of a header.
func headerName(l []byte) []byte { return l[:bytes.IndexByte(l, ':')+1] }

var (
	routineRequestHeaders  = text.NewWords("host:", "user-agent:", "accept:", "accept-encoding:", "connection:")
	routineResponseHeaders = text.NewWords(
		"date:", "server:", "via:", "connection:", "keep-alive:", "vary:", "age:", "x-cache", "x-served-by:",
		"x-timer:", "cf-", "strict-transport-security:", "security-policy", "report-to:", "nel:", "alt-svc:",
		"expect-ct:", "permissions-policy:", "referrer-policy:", "x-content-type-options:",
		"x-frame-options:", "x-xss-protection:", "x-permitted-cross-domain-policies:", "x-download-options:",
		"x-dns-prefetch-control:", "x-powered-by:", "etag:", "last-modified:", "accept-ranges:", "expires:",
		"p3p:", "server-timing:", "x-envoy", "transfer-encoding:", "cross-origin-", "origin-agent-cluster:",
		"reporting-endpoints:", "x-runtime:", "pragma:", "cache-control:", "x-fastly", "x-github-media-type:",
		"x-varnish:", "priority:",
	)
	connectionNews = text.NewWords(
		"certificate", "verify", "ssl cert", "connected to", "redirect", "resolve", "issue another", "proxy",
		"expire", "closing", "timed out", "bad ", "empty reply", "reset", "unexpected", "alert", "tls fatal",
	)
)

// keepsHeader reports whether a header of a response stays.
func (f *fetchPass) keepsHeader(l []byte) bool {
	return f.failedStatus || f.headersRequested || !routineResponseHeaders.Find(headerName(l))
}

// requestsHeaders reports whether a command requests headers without a body: curl
// -sI, http HEAD, wget --spider -S.
func requestsHeaders(command string) bool {
	words := strings.Fields(command)
	for i, w := range words {
		switch {
		case w == "--head", w == "--spider", w == "--headers", i == 1 && w == "HEAD":
			return true
		case words[0] == "curl" && len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.ContainsRune(w, 'I'):
			return true
		}
	}
	return false
}

// keepsConnectionLine reports whether a line of curl about its connection stays.
func (f *fetchPass) keepsConnectionLine(l []byte) bool {
	l = bytes.TrimLeft(l, " ")
	for _, noise := range connectionNoise {
		if bytes.HasPrefix(l, noise) && !text.Important(l) {
			return false
		}
	}
	return text.Important(l) || connectionNews.Find(l) || f.run.Exit != 0
}

var connectionNoise = text.ByteTexts(
	"Trying ", "ALPN", "TLSv", "TLS ", "CAfile", "CApath", "successfully set certificate",
	"Server certificate", "SSL connection using", "subject", "start date", "expire date", "issuer",
	"SSL certificate verify ok", "Using HTTP", "using HTTP", "Mark bundle", "Connection #", "old SSL session",
	"Connection state changed", "Copying HTTP/2", "h2h3", "[HTTP/2]", "Using Stream",
	"Request completely sent off", "upload completely", "We are completely uploaded", "Expire in",
	"TCP_NODELAY", "Host ", "IPv", "Re-using existing", "Found bundle", "Certificate level",
	"Closing connection", "HTTP 1.", "schannel", "Cipher selection", "no chunk", "Excess found",
)

// curlProgress splits a line after a row of curl's progress: percent, size,
// percent, size, percent, size, two speeds, three times, and the current speed.
func curlProgress(l []byte) (row, after []byte, ok bool) {
	at := 0
	for column := range 12 {
		for at < len(l) && l[at] == ' ' {
			at++
		}
		from, digits := at, 0
		for at < len(l) {
			b := l[at]
			if text.Class[b] == text.Digit {
				digits++
			} else if !(b == '.' && column < 8 || b == '.' && column == 11 || (column >= 8 && column < 11) &&
				(b == ':' || b == '-' || b == 'd' || b == 'h' || b == 'm')) {
				break
			}
			at++
		}
		if at == from {
			return nil, nil, false
		}
		if at < len(l) && digits > 0 && bytes.IndexByte([]byte("kMGTPb"), l[at]) >= 0 && column != 0 && (column < 8 || column == 11) {
			at++
		}
		if column < 11 && (at >= len(l) || l[at] != ' ') ||
			column >= 8 && column < 11 && bytes.Count(l[from:at], []byte(":")) != 2 && bytes.IndexByte(l[from:at], 'd') < 0 {
			return nil, nil, false
		}
	}
	return l[:at], bytes.TrimLeft(l[at:], " "), true
}
