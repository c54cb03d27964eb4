package web

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset" // detects encodings as browsers do
	"golang.org/x/text/transform"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// read reads the page of a successful response.
func (c *client) read(u *url.URL, res *http.Response) (webPage, error) {
	page := webPage{URL: u}
	given := res.Header.Get("Content-Type")
	if given != "" {
		var err error
		if page.Type, _, err = mime.ParseMediaType(given); err != nil && page.Type == "" {
			page.Type, _, _ = strings.Cut(strings.ToLower(given), ";")
			page.Type = strings.TrimSpace(page.Type)
		}
		if !isText(page.Type) {
			return webPage{}, executors.Failuref(executors.PermanentFailure, "%s is %q, not text", u, page.Type).
				Hint("Only text, HTML, JSON and XML can be read; look for such a page.")
		}
	}
	body, err := c.body(u, res)
	if err != nil {
		return webPage{}, err
	}
	if page.Type == "" {
		page.Type, _, _ = mime.ParseMediaType(http.DetectContentType(body))
	}
	if !isText(page.Type) {
		return webPage{}, notText(u, body)
	}
	if page.Text, err = c.decode(body, given, page.isHTML()); err != nil || strings.IndexByte(page.Text, 0) >= 0 {
		return webPage{}, notText(u, body)
	}
	return page, nil
}

func notText(u *url.URL, body []byte) *executors.Failure {
	return executors.Failuref(executors.PermanentFailure, "%s is binary (%s), not text", u, quantity.Count(len(body), "byte"))
}

// body reads the whole body of a response. The compressed and the decompressed
// size have the same limit.
func (c *client) body(u *url.URL, res *http.Response) ([]byte, error) {
	limit := int64(c.Config.MaxBodyBytes)
	sent := &limitedReader{r: res.Body, left: limit}
	var r io.Reader = sent
	switch enc := strings.ToLower(strings.TrimSpace(strings.Join(res.Header.Values("Content-Encoding"), ","))); enc {
	case "", "identity":
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(bufio.NewReader(sent))
		if err == io.EOF { // the body is empty
			return nil, nil
		}
		if err != nil {
			return nil, c.bodyFailure(u, err)
		}
		r = &limitedReader{r: z, left: limit}
	default:
		return nil, executors.Failuref(executors.PermanentFailure, "%s has the encoding %q, which was not requested", u, enc)
	}
	if res.ContentLength > limit {
		return nil, c.bodyFailure(u, errTooLarge)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, c.bodyFailure(u, err)
	}
	return data, nil
}

// bodyFailure returns the failure for a body that cannot be read.
func (c *client) bodyFailure(u *url.URL, err error) error {
	switch {
	case errors.Is(err, errTooLarge):
		return executors.Failuref(executors.PermanentFailure, "%s is larger than %s", u, quantity.Count(c.Config.MaxBodyBytes, "byte")).
			Hint("Look for a smaller page; the user can raise tools.scrape.max_body_bytes.")
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), isCorrupt(err):
		return executors.Failuref(executors.PermanentFailure, "%s does not have the encoding that it declares: %v", u, err)
	}
	return executors.Failuref(executors.NetworkError, "%s: the transfer broke off: %v", u, err)
}

func isCorrupt(err error) bool {
	_, ok := errors.AsType[flate.CorruptInputError](err)
	return ok
}

var errTooLarge = errors.New("too large")

// limitedReader reads up to a limit and then fails, unlike [io.LimitReader], which
// reports the end of the file.
type limitedReader struct {
	r    io.Reader
	left int64
}

func (b *limitedReader) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.r.Read(p)
	if int64(n) > b.left {
		n, err = int(b.left), errTooLarge
	}
	b.left -= int64(n)
	return n, err
}

// decode converts a body to valid UTF-8. It detects the encoding as a browser
// does: byte order mark, header, meta element, guess. Invalid bytes become
// U+FFFD.
func (c *client) decode(body []byte, given string, isHTML bool) (string, error) {
	enc, name, certain := charset.DetermineEncoding(body, given)
	if !certain && (!isHTML || name == "windows-1252") && utf8.Valid(body) {
		return string(body), nil // the encoding was guessed from the first bytes alone, or from HTML markup
	}
	// One byte becomes at most three.
	r := &limitedReader{r: transform.NewReader(bytes.NewReader(body), enc.NewDecoder()), left: 3 * int64(c.Config.MaxBodyBytes)}
	data, err := io.ReadAll(r)
	return strings.TrimPrefix(strings.ToValidUTF8(string(data), "\uFFFD"), "\uFEFF"), err
}

func (p webPage) isHTML() bool { return p.Type == "text/html" || p.Type == "application/xhtml+xml" }

// isText reports whether a media type is readable text.
func isText(t string) bool {
	if strings.HasPrefix(t, "text/") || strings.HasSuffix(t, "+json") || strings.HasSuffix(t, "+xml") || strings.HasSuffix(t, "+yaml") {
		return t != "image/svg+xml"
	}
	switch t {
	case "application/json", "application/ld+json", "application/x-ndjson", "application/xml", "application/yaml", "application/x-yaml",
		"application/toml", "application/javascript", "application/x-javascript", "application/ecmascript", "application/x-sh", "application/sql", "application/graphql":
		return true
	}
	return false
}
