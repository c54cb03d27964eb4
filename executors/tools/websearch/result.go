package websearch

import (
	"fmt"
	"html"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/filter/text/visible"
)

// Limits of one result, in characters. A longer URL is left out with its result.
const (
	maxTitle   = 200
	maxSnippet = 500
	maxDate    = 40
	maxURL     = 1000
)

// found is one result of the raw output.
type found struct {
	Title   string `json:"title"`
	URL     string `json:"url"`
	Date    string `json:"date,omitempty"`
	Snippet string `json:"snippet,omitempty"`
}

// rawResults are the raw output.
type rawResults struct {
	Service string  `json:"service"`
	Query   string  `json:"query"`
	Results []found `json:"results"`
}

// result returns the results for the model: numbered, and one line for each of their parts.
func (c *client) result(q query, hits []hit) executors.Result {
	list, excluded := c.wanted(q, hits)
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s", quantity.Count(len(list), "result"), c.title)
	if len(list) == 0 {
		b.Reset()
		b.WriteString("No results of " + c.title)
	}
	for i, r := range list {
		fmt.Fprintf(&b, "\n\n%d. %s\n   %s", i+1, r.Title, r.URL)
		if text := strings.Trim(r.Date+": "+r.Snippet, ": "); text != "" {
			b.WriteString("\n   " + text)
		}
	}
	if excluded > 0 {
		fmt.Fprintf(&b, "\n\n[%s left out: tools.scrape excludes the domain]", quantity.Count(excluded, "result"))
	}
	// The result cache drops it after its own time.
	return executors.Result{Text: b.String(), Raw: rawResults{c.title, q.text, list}, Valid: func() bool { return true }}
}

// wanted returns the results that the query asks for, each URL once, and the number of those whose
// domain the configuration excludes.
func (c *client) wanted(q query, hits []hit) (list []found, excluded int) {
	list = []found{}
	for _, h := range hits {
		address, host := webAddress(h.url)
		switch {
		case len(list) == q.most:
			return list, excluded
		case address == "", slices.ContainsFunc(list, func(r found) bool { return r.URL == address }):
		case len(q.only) > 0 && !within(host, q.only), within(host, q.without):
		case c.pages.Excludes(host):
			excluded++
		default:
			r := found{Title: cleaned(h.title, maxTitle), URL: address, Date: day(h.date), Snippet: cleaned(h.snippet, maxSnippet)}
			if r.Title == "" {
				r.Title = "(no title)"
			}
			list = append(list, r)
		}
	}
	return list, excluded
}

// webAddress returns the URL of a page as ASCII, and its host; empty if it is no URL that could be
// fetched.
func webAddress(raw string) (address, host string) {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return "", ""
	}
	address = u.String()
	odd := func(r rune) bool { return r == ' ' || visible.Hidden(r) }
	if len(address) > maxURL || strings.IndexFunc(address, odd) >= 0 {
		return "", ""
	}
	return address, strings.ToLower(u.Hostname())
}

// within reports whether a host is one of the domains, or below one.
func within(host string, domains []string) bool {
	return slices.ContainsFunc(domains, func(d string) bool { return host == d || strings.HasSuffix(host, "."+d) })
}

// emphasis are the elements with which services mark the words of the query.
var emphasis = lazyregexp.New(`(?i)</?(b|em|i|mark|strong)>`)

// cleaned returns a text of a service on one line, without its markup and without characters that are
// not shown.
func cleaned(text string, most int) string {
	text = html.UnescapeString(emphasis.ReplaceAllString(strings.ToValidUTF8(text, "\uFFFD"), ""))
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), unicode.IsControl(r):
			return ' '
		case visible.Hidden(r):
			return -1
		}
		return r
	}, text)
	return line.TruncateRunes(line.Join(text), most)
}

// day returns the date of a result: its day, if the format is a usual one, else the service's words.
func day(text string) string {
	for _, layout := range []string{time.DateOnly, time.RFC1123, time.RFC1123Z} {
		part := text
		if layout == time.DateOnly {
			part = line.Prefix(text, len(layout))
		}
		if t, err := time.Parse(layout, part); err == nil {
			return t.Format(time.DateOnly)
		}
	}
	return cleaned(text, maxDate)
}
