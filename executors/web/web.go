// Package web offers the tools that read the web: fetch, which makes Markdown of
// a page, and web_scrape, which takes parts out of one. [Client] gets pages for
// anybody else.
//
// Start with [New]. It promises that nothing but the public Internet is asked,
// by https, and that the address that is dialled is one that was checked: the
// URL is judged before anybody is asked about it ([Client.Target]), the addresses
// once they are known, and the one that is dialled by the dialer itself; each
// redirect again from the beginning. It bounds size, time and memory whatever a
// server sends. It does not decide whether a host may be asked at all; that is
// for the links around it, which judge the card's URL.
//
// Why is a redirect to another host not followed? Because the user allowed a
// host, and any page that forwards to an address in its own URL would take the
// call, and what the URL carries, to hosts that he never saw.
package web

import (
	"context"
	_ "embed"
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/PuerkitoBio/goquery"

	"github.com/zeph-acp/zeph-acp/executors"
)

var (
	//go:embed fetch.md
	fetchText string
	//go:embed web_scrape.md
	scrapeText string
)

// New gives the web tools.
func New(cfg Config) executors.Registry { return tools(NewClient(cfg)) }

func tools(c *Client) executors.Registry {
	tool := func(name, text string) executors.Tool {
		return executors.Tool{
			Name: name, Description: strings.TrimSpace(text), Kind: executors.KindFetch,
			Effect: executors.Reads | executors.Network | executors.Idempotent,
		}
	}
	scrape := tool("web_scrape", scrapeText)
	scrape.Invocation = executors.FencedBlock("scrape", "")
	return executors.Registry{
		executors.Bind(scrape, c.prepareScrape, c.scrape),
		executors.Bind(tool("fetch", fetchText), c.prepareFetch, c.fetch),
	}
}

type fetchInput struct {
	URL string `json:"url"`
}

func (c *Client) prepareFetch(_ context.Context, _ *executors.Call, in fetchInput) (executors.Card, error) {
	return c.card("Fetch ", in.URL)
}

// card tells what asking for a URL would do.
func (c *Client) card(verb, raw string) (executors.Card, error) {
	u, err := c.Target(raw)
	if err != nil {
		return executors.Card{Title: verb + asked(raw), Kind: executors.KindFetch}, err
	}
	return executors.Card{Title: verb + u.String(), Kind: executors.KindFetch, URL: u.String()}, nil
}

// asked shows a URL that is refused, unless it may hold a password.
func asked(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.User != nil || u.Opaque != "" || strings.Contains(raw, "@") || u.String() == "" {
		return "a URL that cannot be asked"
	}
	return u.String() // escaped, so one line
}

func (c *Client) fetch(ctx context.Context, _ *executors.Call, in fetchInput) (executors.Result, error) {
	return c.run(ctx, in.URL, func(ctx context.Context, page Page) (string, error) {
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

func (c *Client) prepareScrape(_ context.Context, _ *executors.Call, in scrapeInput) (executors.Card, error) {
	card, err := c.card("Scrape ", in.URL)
	if err == nil {
		_, _, err = in.parsed()
	}
	return card, err
}

// parsed gives the selector, and how to take the value out of an element.
func (in scrapeInput) parsed() (selector, func(*goquery.Selection) (string, error), error) {
	s, err := parseSelector(in.Select)
	if err != nil {
		return s, nil, executors.Failuref(executors.InvalidParameters, "select: %q %v", in.Select, err).
			Hint("Give a CSS selector such as article h2 > a.")
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

func (c *Client) scrape(ctx context.Context, _ *executors.Call, in scrapeInput) (executors.Result, error) {
	sel, extract, err := in.parsed()
	if err != nil {
		return executors.FailWith(err), nil
	}
	limit := in.Limit
	if limit == 0 {
		limit = defaultLimit
	}
	return c.run(ctx, in.URL, func(ctx context.Context, page Page) (string, error) {
		if !page.isHTML() {
			return "", executors.Failuref(executors.PermanentFailure, "%s is %q, not HTML", page.URL, page.Type).Hint("Use fetch for it.")
		}
		root, err := parse(ctx, page.Text)
		if err != nil {
			return "", executors.Failuref(executors.PermanentFailure, "%s cannot be taken apart: %v", page.URL, err).Hint("Use fetch for it.")
		}
		nodes, err := sel.find(ctx, root)
		if err != nil {
			return "", executors.Failuref(executors.InvalidParameters, "select: %q %v", in.Select, err)
		}
		doc := goquery.NewDocumentFromNode(root)
		var values []string
		chars := 0
		for _, n := range nodes {
			v, err := extract(doc.FindNodes(n))
			if err != nil {
				return "", err
			}
			if v = strings.TrimSpace(v); v == "" {
				continue
			}
			values = append(values, v)
			if chars += len(v); len(values) == limit || chars > utf8.UTFMax*c.Config.MaxOutputChars {
				break
			}
		}
		if len(values) == 0 {
			return fmt.Sprintf("No results for selector: %s (%d elements fit it)", in.Select, len(nodes)), nil
		}
		return strings.Join(values, "\n"), nil
	})
}

// run gets a page and makes the result of what is taken from it, all within the
// configured timeout.
func (c *Client) run(ctx context.Context, raw string, take func(context.Context, Page) (string, error)) (executors.Result, error) {
	within, cancel := context.WithTimeout(ctx, time.Duration(c.Config.Timeout)*time.Second)
	defer cancel()
	page, err := c.follow(within, raw)
	var text string
	if err == nil {
		text, err = take(within, page)
	}
	if err = c.ended(ctx, within, err); err != nil {
		if ctx.Err() != nil {
			return executors.Result{}, err
		}
		return executors.FailWith(err), nil
	}
	return executors.Result{Text: c.cut(text), Valid: always}, nil
}

// always says that a page holds as long as the result cache keeps one.
func always() bool { return true }

// cut bounds a text, at the end of a line where it can.
func (c *Client) cut(text string) string {
	total := utf8.RuneCountInString(text)
	if total <= c.Config.MaxOutputChars {
		return text
	}
	end := 0
	for range c.Config.MaxOutputChars {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}
	if line := strings.LastIndexByte(text[:end], '\n'); line > end/2 {
		end = line
	}
	kept := utf8.RuneCountInString(text[:end])
	return fmt.Sprintf("%s\n[… %d of %d characters left out: take a part with web_scrape …]", text[:end], total-kept, total)
}
