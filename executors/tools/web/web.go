// Package web offers the tools that read the web: fetch, which converts a page to
// Markdown, and web_scrape, which extracts parts of one.
//
// Start with [New]. The package promises that it contacts only the public
// Internet, by https, and that it checks every address. It checks the URL
// before the user is asked about it, its addresses after the lookup, and the
// dialled address in the dialer itself. Each redirect is checked from the
// beginning. Size, time and memory are bounded, whatever a server sends. The links around the tools decide whether a host may be
// contacted at all; they check the card's URL.
//
// Why is each redirect checked like a call ([executors.Call.Admit])? Because the
// user allowed one host. A page that forwards to an address in its own URL
// could otherwise send the call, and the data in the URL, to any host.
package web

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/PuerkitoBio/goquery"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

var (
	//go:embed fetch.md
	fetchText string
	//go:embed web_scrape.md
	scrapeText string
)

// New returns the web tools.
func New(cfg Config) executors.Registry { return tools(newClient(cfg)) }

func tools(c *client) executors.Registry {
	scrape := Spec("web_scrape", scrapeText)
	scrape.Invocation = executors.FencedBlock("scrape", "", "")
	scrape.Traits = executors.Seldom
	fetch := Spec("fetch", fetchText)
	fetch.Traits = executors.Recommended | executors.OpensPage
	return executors.Registry{
		executors.Bind(scrape, c.prepareScrape, c.scrape),
		executors.Bind(fetch, c.prepareFetch, c.fetch),
	}.Limited(c.Config.MaxOutputChars)
}

// Spec returns a tool that reads the page of its parameter "url".
func Spec(name, description string) executors.Tool {
	return executors.Tool{
		Name: name, Act: "Fetch", Description: strings.TrimSpace(description), Kind: executors.KindFetch,
		Effect:  executors.Reads | executors.Network | executors.Idempotent,
		Subject: executors.URL("url"), Names: executors.Names{Claude: "WebFetch", Gemini: "web_fetch"},
	}
}

type fetchInput struct {
	URL string `json:"url"`
}

func (c *client) prepareFetch(_ context.Context, _ *executors.Call, in *fetchInput) (executors.Card, error) {
	return c.card(in.URL)
}

// card returns the card of a request for a URL.
func (c *client) card(raw string) (executors.Card, error) {
	u, err := c.target(raw)
	if err != nil {
		return executors.Card{Title: titled(shownURL(raw)), Kind: executors.KindFetch}, err
	}
	return executors.Card{Title: titled(u.String()), Kind: executors.KindFetch, URL: u.String()}, nil
}

// titled returns a URL for a title: without the default scheme, and quoted if a
// colon remains.
func titled(url string) string {
	if short := strings.TrimPrefix(url, "https://"); executors.Titled(short) == short {
		return short
	}
	return executors.Titled(url)
}

// shownURL returns a refused URL for a title, unless it may contain a password.
func shownURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.User != nil || u.Opaque != "" || strings.Contains(raw, "@") || u.String() == "" {
		return "a URL that cannot be shown"
	}
	return u.String() // escaped, so it is one line
}

func (c *client) fetch(ctx context.Context, call *executors.Call, in *fetchInput) (executors.Result, error) {
	return c.run(ctx, call, in.URL, func(ctx context.Context, page webPage) (string, error) {
		text, err := page.Text, error(nil)
		if page.isHTML() {
			text, err = markdown(ctx, page)
		}
		if strings.TrimSpace(text) == "" && err == nil {
			text = "(the page has no text)"
		}
		return text, err
	})
}

type scrapeInput struct {
	URL     string `json:"url"`
	Select  string `json:"select"`
	Extract string `json:"extract,omitempty"`
	Limit   int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=1000"`
}

func (c *client) prepareScrape(_ context.Context, _ *executors.Call, in *scrapeInput) (executors.Card, error) {
	card, err := c.card(in.URL)
	if err == nil {
		_, _, err = in.parse()
	}
	return card, err
}

// parse returns the selector, and a function that extracts the value of an
// element.
func (in scrapeInput) parse() (selector, func(*goquery.Selection) (string, error), error) {
	s, err := parseSelector(in.Select)
	if err != nil {
		return s, nil, executors.Failuref(executors.InvalidParameters, "select: %q %v", in.Select, err).
			Hint("Use a CSS selector such as article h2 > a.")
	}
	name, isAttr := strings.CutPrefix(in.Extract, "attr:")
	switch {
	case in.Extract == "" || in.Extract == "text":
		return s, func(e *goquery.Selection) (string, error) { return e.Text(), nil }, nil
	case in.Extract == "html":
		return s, (*goquery.Selection).Html, nil
	case isAttr && name != "":
		return s, func(e *goquery.Selection) (string, error) { return e.AttrOr(strings.ToLower(name), ""), nil }, nil
	}
	return s, nil, executors.Failuref(executors.InvalidParameters, "extract: must be text, html or attr:NAME, is %q", in.Extract)
}

const defaultLimit = 10

// scrape returns the parts of a page that a selector matches.
func (c *client) scrape(ctx context.Context, call *executors.Call, in *scrapeInput) (executors.Result, error) {
	sel, extract, err := in.parse()
	if err != nil {
		return executors.FailWith(err), nil
	}
	limit := in.Limit
	if limit == 0 {
		limit = defaultLimit
	}
	return c.run(ctx, call, in.URL, func(ctx context.Context, page webPage) (string, error) {
		if !page.isHTML() {
			return "", executors.Failuref(executors.PermanentFailure, "%s is %q, not HTML", page.URL, page.Type).Hint("Use fetch instead.")
		}
		root, err := parse(ctx, page.Text)
		if err != nil {
			return "", executors.Failuref(executors.PermanentFailure, "%s cannot be parsed: %v", page.URL, err).Hint("Use fetch instead.")
		}
		nodes, err := sel.find(ctx, root)
		if err != nil {
			return "", executors.Failuref(executors.InvalidParameters, "select: %q %v", in.Select, err)
		}
		doc := goquery.NewDocumentFromNode(root)
		var found extractedValues
		for i, n := range nodes {
			v, err := extract(doc.FindNodes(n))
			if err != nil {
				return "", err
			}
			if found.add(strings.TrimSpace(v)); found.count == limit || found.text.Len() > maxExtracted {
				return found.text.String() + stoppedNote(i+1, len(nodes)), nil
			}
		}
		if found.count == 0 {
			return fmt.Sprintf("No results for selector: %s (%s match it)", in.Select, quantity.Count(len(nodes), "element")), nil
		}
		return found.text.String(), nil
	})
}

// maxExtracted bounds the memory that the values of one call take, in bytes: nested elements repeat
// the same text.
const maxExtracted = 10 << 20

// extractedValues are the extracted values that are not empty, one per line.
type extractedValues struct {
	text  strings.Builder
	count int
}

func (v *extractedValues) add(value string) {
	if value == "" {
		return
	}
	if v.count++; v.count > 1 {
		v.text.WriteByte('\n')
	}
	v.text.WriteString(value)
}

// stoppedNote returns the line below values if some elements were not examined.
func stoppedNote(after, all int) string {
	if after == all {
		return ""
	}
	return fmt.Sprintf("\n[stopped after %d of %s that match the selector: raise limit, or narrow select]", after, quantity.Count(all, "element"))
}

// run requests a page and returns the result of extract for it, within the
// configured timeout. Time in which the user is asked does not count.
func (c *client) run(ctx context.Context, call *executors.Call, raw string,
	extract func(context.Context, webPage) (string, error)) (executors.Result, error) {
	left, crossed, text := c.timeout(), false, ""
	page, err := c.follow(ctx, &left, raw, func(from, to *url.URL) error {
		crossed = crossed || !sameHost(from.Host, to.Host)
		return admit(ctx, call, from, to)
	})
	if err == nil {
		err = left.run(ctx, func(ctx context.Context) error {
			text, err = extract(ctx, page)
			return err
		})
	}
	switch {
	case ctx.Err() != nil:
		return executors.Result{}, context.Cause(ctx)
	case err != nil:
		return executors.FailWith(err), nil
	}
	total := utf8.RuneCountInString(text)
	res := executors.Result{Text: text, Shorten: beginning, Raw: rawPage{
		URL: page.URL.String(), Type: page.Type, Characters: total, Truncated: total > c.Config.MaxOutputChars,
	}}
	if !crossed { // a cached page would reuse a permission for one request
		res.Valid = alwaysValid
	}
	return res, nil
}

// rawPage is the raw output.
type rawPage struct {
	URL        string `json:"url"`
	Type       string `json:"content_type"`
	Characters int    `json:"characters"` // of the extracted text
	Truncated  bool   `json:"truncated"`  // the result contains only the beginning
}

// admit asks the links around the tool whether to follow a redirect.
func admit(ctx context.Context, call *executors.Call, from, to *url.URL) error {
	if call.Admit != nil {
		return call.Admit(ctx, executors.Card{
			Title: titled(to.String()) + " redirected from " + executors.Titled(from.Host), Kind: executors.KindFetch, URL: to.String(),
		})
	}
	if sameHost(from.Host, to.Host) {
		return nil
	}
	return executors.Failuref(executors.ConfirmationRequired, "%s redirects to another host: %s", from, to).
		Hint("If that is the page you want, call the tool with this URL.")
}

// alwaysValid reports that a cached page is valid as long as the result cache keeps
// it.
func alwaysValid() bool { return true }

// beginning returns the first limit characters of a page, in whole lines if they are short, and a
// line that says how much is missing.
func beginning(page *io.SectionReader, limit int) string {
	all, _ := io.ReadAll(page) // it is in memory
	text := string(all)
	end := line.RuneOffset(text, limit)
	if line := strings.LastIndexByte(text[:end], '\n'); line > end/2 {
		end = line
	}
	total := utf8.RuneCountInString(text)
	left := total - utf8.RuneCountInString(text[:end])
	return fmt.Sprintf("%s\n[… %s of %s characters cut …]", text[:end], quantity.Grouped(int64(left)), quantity.Grouped(int64(total)))
}
