package permission

import (
	"net/url"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// downloadOptions are the options of a downloader with which it connects to the hosts of its URLs
// alone. An "always" for a host covers no others.
type downloadOptions struct {
	redirects  string   // the option without which it follows redirects; empty means that it follows none
	prints     bool     // the output is the download, unless an option says otherwise
	flags      string   // letters of options without a value
	valued     string   // letters of options with a value
	long       []string // options without a value
	longValued []string // options with a value
	writes     []string // options whose value is a file that is written
	sends      []string // options whose value may name a file after "@" or "<"
}

var downloadTables = map[string]downloadOptions{
	"curl": {
		prints: true,
		flags:  "fgGiINsSv46#", valued: "AbdeFHmorXuw",
		long: strings.Fields("--compressed --fail --fail-with-body --get --globoff --head --http1.1 --http2 --include --ipv4 --ipv6 " +
			"--no-buffer --no-progress-meter --progress-bar --show-error --silent --verbose"),
		longValued: strings.Fields("--connect-timeout --cookie --data --data-ascii --data-binary --data-raw --data-urlencode --form --form-string " +
			"--header --json --max-redirs --max-time --output --range --referer --request --retry --retry-delay --retry-max-time --url --user --user-agent --write-out"),
		writes: strings.Fields("-o --output"),
		sends:  strings.Fields("-d -F -H -w --data --data-ascii --data-binary --data-urlencode --form --header --json --write-out"),
	},
	"wget": {
		redirects: "--max-redirect=0",
		flags:     "nqvS46", valued: "OTtU",
		long:       strings.Fields("--no-verbose --quiet --server-response --verbose"),
		longValued: strings.Fields("--body-data --header --max-redirect --method --output-document --post-data --referer --timeout --tries --user-agent"),
		writes:     strings.Fields("-O --output-document"),
	},
}

// download is a parsed command of a downloader.
type download struct {
	urls    []string
	options []string // those with a value: "--max-time=5", "-m=5"
	prints  bool     // the output is the download
}

// parseDownload parses the words of a downloader. ok is false if one is not in its table.
func parseDownload(c *command.Command) (d download, ok bool) {
	table, ok := downloadTables[c.Program()]
	if !ok {
		return d, false
	}
	d.prints = table.prints
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
		case slices.Contains(table.long, text):
		case strings.HasPrefix(text, "--") && slices.Contains(table.longValued, name):
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
				case strings.Contains(table.valued, letter):
					if value = bundle[1:]; value == "" {
						value = next()
					}
					d.options = append(d.options, "-"+letter+"="+value)
					bundle = letter
				case !strings.Contains(table.flags, letter):
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
	table := downloadTables[c.Program()]
	redirects := func(option string) bool {
		name, _, _ := strings.Cut(table.redirects, "=")
		return option != table.redirects && strings.HasPrefix(option, name+"=")
	}
	if table.redirects != "" && (!slices.Contains(d.options, table.redirects) || slices.ContainsFunc(d.options, redirects)) {
		return nil, false
	}
	for _, option := range d.options {
		name, value, _ := strings.Cut(option, "=")
		switch {
		case slices.Contains(table.writes, name):
			if value != "-" && value != "/dev/null" {
				return nil, false
			}
			d.prints = true
		case slices.Contains(table.sends, name):
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
