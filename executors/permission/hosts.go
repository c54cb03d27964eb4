package permission

import (
	"net/url"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/executors/command/programs"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// download is a parsed command of a downloader.
type download struct {
	urls    []string
	options []string // those with a value: "--max-time=5", "-m=5"
	prints  bool     // the output is the download
}

// parseDownload parses the words of a downloader. ok is false if one is not in its table.
func parseDownload(c *command.Command) (d download, ok bool) {
	table := c.Facts().Download
	if table == nil {
		return d, false
	}
	d.prints, ok = table.Prints, true
	args := c.Args()
	for ok && len(args) > 0 {
		word := args[0]
		args = args[1:]
		if !word.Literal || word.Glob {
			return d, false
		}
		next := func() string { // the value in the next word
			if len(args) == 0 || !args[0].Literal || args[0].Glob {
				ok = false
				return ""
			}
			value := args[0].Text
			args = args[1:]
			return value
		}
		text := word.Text
		name, value, glued := strings.Cut(text, "=")
		switch {
		case !strings.HasPrefix(text, "-"):
			d.urls = append(d.urls, text)
		case programs.Has(table.Long, text):
		case strings.HasPrefix(text, "--") && programs.Has(table.LongValued, name):
			if !glued {
				value = next()
			}
			d.options = append(d.options, name+"="+value)
		case strings.HasPrefix(text, "--"):
			return d, false
		default:
			for bundle := text[1:]; ok && bundle != ""; bundle = bundle[1:] {
				letter := bundle[:1]
				switch {
				case strings.Contains(table.Valued, letter):
					if value = bundle[1:]; value == "" {
						value = next()
					}
					d.options = append(d.options, "-"+letter+"="+value)
					bundle = letter
				case !strings.Contains(table.Flags, letter):
					return d, false
				}
			}
		}
	}
	return d, ok
}

// plainHost matches the host of a URL that no program reads differently.
var plainHost = lazyregexp.New(`^[a-z0-9.-]+(:[0-9]+)?$`)

// hostsOf returns the hosts that a download connects to, sorted. A host has its port, if that is
// not the usual one of its scheme, and its scheme unless that is https. ok is false if a host is
// unknown, or if the command does more than to print what these hosts send: it follows redirects,
// uses a proxy, reads its options from a file, writes a file or sends one.
func hostsOf(c *command.Command) (hosts []string, ok bool) {
	d, ok := parseDownload(c)
	if !ok {
		return nil, false
	}
	table := c.Facts().Download
	redirects := func(option string) bool {
		name, _, _ := strings.Cut(table.Redirects, "=")
		return option != table.Redirects && strings.HasPrefix(option, name+"=")
	}
	if table.Redirects != "" && (!slices.Contains(d.options, table.Redirects) || slices.ContainsFunc(d.options, redirects)) {
		return nil, false
	}
	for _, option := range d.options {
		name, value, _ := strings.Cut(option, "=")
		switch {
		case programs.Has(table.Writes, name):
			if value != "-" && value != "/dev/null" {
				return nil, false
			}
			d.prints = true
		case programs.Has(table.Sends, name):
			if strings.ContainsAny(value, "@<") || strings.Contains(value, "%output") {
				return nil, false
			}
		case name == "--url":
			d.urls = append(d.urls, value)
		case name == "-b" || name == "--cookie":
			if !strings.Contains(value, "=") { // a file
				return nil, false
			}
		}
	}
	for _, text := range d.urls {
		u, err := url.Parse(text)
		if err != nil || usualPorts[u.Scheme] == "" || strings.ContainsAny(text, `{}[]\`) {
			return nil, false
		}
		host := strings.ToLower(u.Host)
		if !plainHost.MatchString(host) {
			return nil, false
		}
		host = strings.TrimSuffix(host, usualPorts[u.Scheme])
		if u.Scheme != "https" {
			host = u.Scheme + "://" + host
		}
		hosts = append(hosts, host)
	}
	slices.Sort(hosts)
	return slices.Compact(hosts), d.prints && len(hosts) > 0
}

var usualPorts = map[string]string{"http": ":80", "https": ":443"}
