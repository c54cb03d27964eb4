package permission

import (
	"net/url"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/wildcard"
)

// onlyReadsNetwork reports whether a tool only reads from the network. A tool whose only effect
// is Network may change something at the other side.
func onlyReadsNetwork(e executors.Effect) bool {
	return e&^executors.Idempotent == executors.Reads|executors.Network
}

// decideWeb checks a call that requests a URL.
func (p permissionCheck) decideWeb(call *executors.Call) decision {
	u, err := url.Parse(call.Card.URL)
	if err != nil { // no tool of ours has such a card
		return decision{verdict: verdict{action: Deny, why: "its URL cannot be parsed"}}
	}
	site := siteOf(call.Card.URL) // a redirect between host and www.host stays on one site
	if u.Scheme != "https" {
		site = u.Scheme + "://" + site
	}
	d := decision{
		verdict: verdict{action: Ask, why: "default: web requests need permission"},
		keys:    []string{"web " + site}, extent: "reading " + site,
	}
	if r, ok := firstURLMatch(rulesFor(p.rules.Permissions, call.Tool), u); ok {
		d.verdict = r.userVerdict(call.Tool)
	}
	if r, ok := firstURLMatch(rulesFor(p.rules.repository, call.Tool), u); ok {
		d.verdict = d.stronger(r.repositoryVerdict())
	}
	return d
}

func firstURLMatch(list []Rule, u *url.URL) (Rule, bool) {
	for _, r := range list {
		if r.Action == Allow && coversURL(r.Pattern, u) || r.Action != Allow && mayMeanURL(r.Pattern, u) {
			return r, true
		}
	}
	return Rule{}, false
}

// coversURL reports whether an allow pattern covers u. Host and path are
// matched separately: a "*" in the host must not reach into the path, which
// anyone can choose.
func coversURL(pattern string, u *url.URL) bool {
	host, path, hasPath := strings.Cut(strings.TrimPrefix(pattern, "https://"), "/")
	covered, _ := globMatches(host, u.Host)
	if covered && hasPath {
		covered, _ = globMatches("/"+path, u.RequestURI())
	}
	return covered
}

// mayMeanURL reports whether a deny or ask pattern may mean u: it matches the
// host, with or without "www.", or the text with or without the scheme.
func mayMeanURL(pattern string, u *url.URL) bool {
	whole := u.String()
	site := strings.TrimPrefix(u.Host, "www.")
	return slices.ContainsFunc([]string{site, "www." + site, whole, strings.TrimPrefix(whole, "https://")}, func(text string) bool {
		matches, broken := globMatches(pattern, text)
		return matches || broken
	}) || coversURL(pattern, u)
}

// globMatches reports whether the pattern matches a text. broken reports that the pattern does
// not compile, so that it matches nothing.
func globMatches(pattern, text string) (matches, broken bool) {
	re, err := wildcard.Compile(pattern)
	if err != nil {
		return false, true
	}
	return re.MatchString(text), false
}
