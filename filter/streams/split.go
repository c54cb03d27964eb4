package streams

import (
	"bytes"
	"cmp"
	"regexp"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// maxName limits the text before a line that names its stream.
const maxName = 120

// split divides a line that begins with the name of its stream.
func (p *pass) split(l []byte) (s *stream, body []byte, ok bool) {
	if place, body, ok := splitRunLine(l); ok {
		s := p.byPrefix[string(place)]
		if s == nil {
			name := cmp.Or(string(bytes.Replace(place, []byte("\t"), []byte(" / "), 1)), "job")
			s = p.addPrefixed(string(place), name, "")
		}
		return s, body, true
	}
	if l[0] == '[' && p.tagged {
		end := bytes.IndexByte(l[:min(len(l), maxName)], ']')
		if end > 1 && (end+1 == len(l) || l[end+1] == ' ') {
			s := p.byPrefix[string(l[:end+1])]
			if s == nil {
				s = p.addPrefixed(string(l[:end+1]), string(l[1:end]), "")
			}
			return s, afterBlank(l[end+1:]), true
		}
	}
	for at := 0; ; {
		i := bytes.IndexByte(l[at:min(len(l), maxName)], ':')
		if i < 0 {
			break
		}
		at += i + 1
		if at < len(l) && l[at] != ' ' {
			continue
		}
		if s := p.byPrefix[string(l[:at])]; s != nil {
			return s, afterBlank(l[at:]), true
		}
		if name := l[:at-1]; beginsStream(name, afterBlank(l[at:])) {
			return p.addPrefixed(string(l[:at]), strings.Trim(string(name), "[]"), ""), afterBlank(l[at:]), true
		}
	}
	end := bytes.Index(l[:min(len(l), maxName)], []byte("$ "))
	if end > 0 && bytes.Count(l[:end], []byte(" ")) == 1 && p.byPrefix[string(l[:end])+":"] == nil {
		name, command := string(l[:end]), string(l[end+2:]) // packages/api test$ vitest run
		return p.addPrefixed(name+":", name, command), nil, true
	}
	return nil, nil, false
}

func afterBlank(l []byte) []byte { return bytes.TrimPrefix(l, []byte(" ")) }

// beginsStream reports whether a line, of a name and a text, is the first of a
// stream of turbo, lerna, nx or yarn.
func beginsStream(name, body []byte) bool {
	switch {
	case len(name) == 0:
		return false
	case bytes.HasPrefix(body, []byte("cache ")):
		for _, how := range [...]string{"miss, ", "hit, ", "bypass, "} {
			if bytes.HasPrefix(body[len("cache "):], []byte(how)) {
				return true
			}
		}
	case bytes.HasPrefix(body, []byte("> ")):
		return bytes.HasPrefix(body[2:], name) && bytes.HasPrefix(body[2+len(name):], []byte("@"))
	case name[0] == '[':
		return bytes.Equal(body, []byte("Process started"))
	}
	return false
}

// splitRunLine splits a line of a log of GitHub Actions: job, tab, step, tab, time, text.
// In a log without job and step, place is empty.
func splitRunLine(l []byte) (place, body []byte, ok bool) {
	body = l
	if tab := bytes.IndexByte(l, '\t'); tab > 0 {
		if second := bytes.IndexByte(l[tab+1:], '\t'); second >= 0 {
			place, body = l[:tab+1+second], l[tab+1+second+1:]
		}
	}
	body = bytes.TrimPrefix(body, []byte("\uFEFF"))
	// 2025-03-02T10:00:00.1234567Z
	if len(body) < 28 || body[4] != '-' || body[10] != 'T' || body[19] != '.' || body[27] != 'Z' || text.DigitsEnd(body, 20) != 27 {
		return nil, nil, false
	}
	return place, bytes.TrimPrefix(afterBlank(body[28:]), []byte("\uFEFF")), true
}

// announce begins a stream if a line announces it.
func (p *pass) announce(l []byte) bool {
	s := p.section
	if s.banner && len(s.header) > 0 { // > pkg@1.0.0 test, then > vitest run
		s.banner = false
		if bytes.HasPrefix(l, []byte("> ")) && s.lines.Count() == 0 {
			s.header = append(s.header, bytes.Clone(l))
			s.command = string(l[2:])
			return true
		}
	}
	name, command, banner, ok := announced(l)
	if !ok {
		return false
	}
	if s = p.add("", command); s == p.rest {
		return false
	}
	s.header = [][]byte{bytes.Clone(l)}
	s.mixed, s.banner = true, banner
	p.sections++
	p.section = s
	if name != "" { // with other options nx writes it before each line
		project, _, _ := strings.Cut(name, ":")
		if p.byPrefix[project+":"] == nil {
			p.addPrefixed(project+":", name, "")
		}
	}
	return true
}

// bannerLine handles a line of npm about the script of a stream: its name, then its
// command, which the header of the stream shows.
func (s *stream) bannerLine(l []byte) bool {
	if command, ok := bytes.CutPrefix(l, []byte("> ")); ok && s.banner {
		s.command, s.shown, s.banner = string(command), true, false
		return true
	}
	s.banner = npmBanner().Match(l)
	return s.banner
}

// announced reports whether a line is a task runner's header for a task's output. name is
// the task's name in nx and lerna, and banner is true if the next line has the command.
func announced(l []byte) (name, command string, banner, ok bool) {
	if l[0] == '>' {
		if m := npmBanner().FindSubmatch(l); m != nil {
			return "", "", true, true
		}
		if m := nxTask().FindSubmatch(l); m != nil {
			return string(m[1]), "", false, true
		}
		return "", "", false, false
	}
	begin := l[:min(len(l), maxName)]
	if !bytes.Contains(begin, []byte("> ")) && !text.HasAnyPrefix(l, "task: [", "[cargo-make] ") {
		return "", "", false, false
	}
	if m := announcedCommand().FindSubmatch(l); m != nil {
		return "", string(bytes.Join(m[1:], nil)), false, true
	}
	return "", "", false, false
}

// expr compiles a regular expression when it is first needed.
func expr(s string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(s) })
}

var (
	npmBanner = expr(`^> (?:@[\w.-]+/)?[\w.-]+@\d\S* [\w.:-]+(?: /\S+)?$`)
	nxTask    = expr(`^> (?:nx run )?((?:@[\w.-]+/)?[\w.-]+:[\w.:-]+)(?: .*)?$`)

	// go-task, nox, tox, cargo-make
	announcedCommand = expr(`^(?:task: \[[^\]]+\] (\S.*)|nox > ([a-z][\w.-]* \S.*|[a-z]+)|\S+: commands\[\d+\]> (\S.*)|\[cargo-make\] INFO - Execute Command: (\S.*))$`)
)

// headerLine returns the line that names a stream.
func (s *stream) headerLine() []byte {
	name := s.name
	if s.shown {
		name += " $ " + s.command
	}
	return []byte("==> " + name + " <==")
}

// isHeader reports whether a line names a stream in the result of a pass.
func isHeader(l []byte) bool {
	return bytes.HasPrefix(l, []byte("==> ")) && bytes.HasSuffix(l, []byte(" <=="))
}

// usualCommand returns the command of a stream by its name, which ends with the task,
// as in "@acme/api:test" or "packages/api test".
func (p *pass) usualCommand(name string) string {
	if firstWord(p.run.Command) == "gh" {
		return "gh run view"
	}
	if i := strings.LastIndexAny(name, ":# "); i >= 0 {
		return "npm run " + name[i+1:]
	}
	return ""
}

func firstWord(command string) string {
	word, _, _ := strings.Cut(command, " ")
	return word
}

// tags reports whether a program writes the name of a stream in brackets.
func tags(command string) bool {
	switch firstWord(command) {
	case "concurrently", "conc", "npm-run-all", "run-p", "task", "process-compose", "wireit":
		return true
	}
	return false
}

// isNoise reports whether a line of a stream adds nothing.
func isNoise(l []byte) bool {
	for _, begin := range [...]string{
		"cache miss, executing ", "cache hit, replaying logs ", "cache bypass, force executing ",
		"npm warn Unknown ", "npm error path ", "npm error workspace ", "npm error location ", "npm error command failed", "npm error command sh -c ",
		"Process started",
	} {
		if len(l) >= len(begin) && l[0] == begin[0] && string(l[:len(begin)]) == begin {
			return true
		}
	}
	return false
}

// reportsEnd reports whether a line reports how the program of a stream ended.
func reportsEnd(l []byte) bool {
	return isSuccess(l) || bytes.Equal(l, []byte("Failed")) || bytes.HasPrefix(l, []byte("##[error]")) ||
		bytes.Contains(l, []byte(" exited with code ")) || bytes.HasPrefix(l, []byte("Process exited (exit code "))
}

// isSuccess reports whether a line reports that the program of a stream succeeded.
func isSuccess(l []byte) bool {
	return bytes.Equal(l, []byte("Done")) || bytes.HasSuffix(l, []byte(" exited with code 0")) ||
		bytes.HasPrefix(l, []byte("Process exited (exit code 0)"))
}
