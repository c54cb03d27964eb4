package sandbox

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// seatbelt describes the box of one command on macOS. Its profile is the text for
// sandbox-exec(1), which confines the command and all programs that it starts. Paths are absolute
// and without links: the kernel compares the real path of a file.
//
// Everything that the profile does not name is denied. The last rule that fits decides, so the
// denials of refused files follow the grants. Denials are expressions that ignore case, since most
// disks do: a path that the environment spells otherwise is then still refused.
type seatbelt struct {
	roots        []string    // of the session; nothing in them is executed
	read         []string    // further files and directories that may be read
	execute      []string    // the same, and programs in them may run
	stores       []string    // the same, but for secretNames: tools have downloaded or built all that is in them
	secretNames  []string    // patterns of names that may not be read outside of the roots and the system's programs
	refused      []string    // files and directories that may not be read, such as zeph-acp's own
	refusedGlobs [][2]string // directories, and globs of further such files in them
	denyPatterns []string    // of deny_read
	home         string      // for patterns that begin with ~; empty means unknown
	write        []string    // files and directories that may be read and written
	temp         string      // the directory for temporary files of the command
}

// sandboxExec is the program that starts others with a profile.
const sandboxExec = "/usr/bin/sandbox-exec"

// wrap returns the program and arguments that run a program in the box.
func (s seatbelt) wrap(path string, args []string) (string, []string, error) {
	text, err := s.profile()
	if err != nil {
		return "", nil, err
	}
	return sandboxExec, append([]string{"-p", text, path}, args...), nil
}

// Places of the system that every program needs or that hold programs. /System/Volumes leads to
// all files once more, so it is not among them.
var (
	seatbeltPrograms = []string{
		"/bin", "/sbin", "/usr", "/opt/homebrew", "/opt/local", "/nix/store", "/Applications/Xcode.app", "/Library/Apple",
		"/Library/Developer", "/Library/Frameworks", "/Library/Java", "/System/Applications", "/System/Cryptexes",
		"/System/Library", "/System/Volumes/Preboot/Cryptexes",
	}
	seatbeltFiles = []string{
		"/Library/Perl", "/Library/Python", "/Library/Ruby", "/private/etc", "/private/var/db/dyld", "/private/var/db/timezone",
		"/private/var/db/xcode_select_link", "/private/var/select", "/System/DriverKit", "/System/iOSSupport",
	}
	seatbeltDevices  = []string{"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/dtracehelper"}
	seatbeltServices = []string{ // users and groups, time zones, temporary directories
		"com.apple.system.opendirectoryd.libinfo", "com.apple.system.opendirectoryd.membership",
		"com.apple.system.notification_center", "com.apple.bsd.dirhelper",
	}
	seatbeltLinks = []string{"/etc", "/tmp", "/var", "/private/tmp", "/private/var/tmp"} // only their names
)

// profile returns the text of the profile. It returns an error if a path or pattern cannot be
// expressed; commands then have to ask.
func (s seatbelt) profile() (string, error) {
	var b strings.Builder
	refusedDirs := make([]string, len(s.refusedGlobs))
	for i, g := range s.refusedGlobs {
		refusedDirs[i] = g[0]
	}
	for _, paths := range [][]string{s.roots, s.read, s.execute, s.stores, s.refused, refusedDirs, s.write, {s.temp}} {
		for _, p := range paths {
			if !path.IsAbs(p) || !utf8.ValidString(p) || strings.ContainsFunc(p, func(r rune) bool { return r < ' ' || r == 0x7F }) {
				return "", fmt.Errorf("a directory has a name that a profile of macOS cannot contain: %q", p)
			}
			if p == "/" {
				return "", errors.New("a profile of macOS cannot confine commands to /")
			}
		}
	}
	programs := slices.Concat(seatbeltPrograms, s.execute, s.stores)
	system, own := slices.Concat(programs, seatbeltFiles, s.read), slices.Concat(s.roots, s.write, []string{s.temp})
	b.WriteString("(version 1)\n(deny default)\n")
	b.WriteString("(allow process-fork)\n(allow process-info* signal (target same-sandbox))\n(allow sysctl-read)\n")
	rule(&b, "allow mach-lookup", "global-name", seatbeltServices)
	rule(&b, "allow ipc-posix-shm-read*", "ipc-posix-name", []string{"apple.shm.notification_center"})
	rule(&b, "allow file-read-metadata", "literal", slices.Concat(ancestors(slices.Concat(system, own)), seatbeltLinks))
	rule(&b, "allow file-read*", "literal", slices.Concat([]string{"/"}, seatbeltDevices))
	rule(&b, "allow file-read* file-write-data", "subpath", []string{"/dev/fd"})
	rule(&b, "allow file-ioctl", "literal", []string{"/dev/dtracehelper"})
	rule(&b, "allow file-read*", "subpath", system)
	s.denySecretNames(&b)
	rule(&b, "allow file-read*", "subpath", slices.Concat(s.stores, own))
	rule(&b, "allow process-exec* file-map-executable", "subpath", programs)
	rule(&b, "deny process-exec* file-map-executable", "subpath", own)
	rule(&b, "allow file-write-data", "literal", []string{"/dev/null", "/dev/zero", "/dev/dtracehelper"})
	rule(&b, "allow file-write*", "subpath", append(slices.Clone(s.write), s.temp))
	for _, path := range s.refused {
		deny(&b, "^"+literalExpression(path)+end)
	}
	for _, g := range s.refusedGlobs {
		deny(&b, "^"+literalExpression(g[0])+"/"+globExpression(g[1])+end)
	}
	for _, pattern := range s.denyPatterns {
		for _, expression := range s.denyExpressions(pattern) {
			deny(&b, expression)
		}
	}
	b.WriteString("(deny network*)\n")
	if b.Len() > maxProfileBytes {
		return "", fmt.Errorf("too many directories or patterns for a profile of macOS (%s)", quantity.Count(b.Len(), "byte"))
	}
	return b.String(), nil
}

// maxProfileBytes bounds a profile, which is an argument of a program.
const maxProfileBytes = 256 << 10

// end ends the expression of a file or of a directory with all that is in it.
const end = "(/.*)?$"

// deny writes the denial of the paths that match an expression.
func deny(b *strings.Builder, expression string) {
	fmt.Fprintf(b, "(deny file-read* file-write*\n  (regex #\"%s\"))\n", expression)
}

// denySecretNames denies the secret names wherever a grant is not the system's.
func (s seatbelt) denySecretNames(b *strings.Builder) {
	if len(s.secretNames) == 0 {
		return
	}
	globs := make([]string, len(s.secretNames))
	for i, name := range s.secretNames {
		globs[i] = globExpression(name)
	}
	for _, dir := range outermost(slices.Concat(s.read, s.execute, []string{"/private/etc"})) {
		deny(b, "^"+literalExpression(dir)+"(/.*)?/("+strings.Join(globs, "|")+")"+end)
	}
}

// outermost returns the directories that lie in no other one, sorted.
func outermost(dirs []string) (all []string) {
	for _, dir := range slices.Sorted(slices.Values(dirs)) {
		if !slices.ContainsFunc(all, func(outer string) bool { return workspace.Within(outer, dir) }) {
			all = append(all, dir)
		}
	}
	return all
}

// rule writes a rule for paths or names, none if there are no names.
func rule(b *strings.Builder, what, filter string, names []string) {
	if len(names) == 0 {
		return
	}
	b.WriteString("(" + what)
	for _, name := range names {
		fmt.Fprintf(b, "\n  (%s \"%s\")", filter, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name))
	}
	b.WriteString(")\n")
}

// ancestors returns the directories above the paths, sorted. Programs look at these on the way to
// a file.
func ancestors(paths []string) []string {
	var all []string
	for _, p := range paths {
		for dir := path.Dir(p); dir != "/" && dir != "."; dir = path.Dir(dir) {
			all = append(all, dir)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// denyExpressions returns the regular expressions of the paths that a pattern of deny_read names,
// and of those below. They may name more: letters match in either case, and a class of characters
// matches any.
func (s seatbelt) denyExpressions(pattern string) []string {
	pattern = trimPattern(pattern)
	if rest, ok := strings.CutPrefix(strings.TrimPrefix(pattern, "/"), "**/"); ok {
		return []string{"^/(.*/)?" + globExpression(rest) + end}
	}
	switch {
	case strings.HasPrefix(pattern, "/"): // /etc is a link to /private/etc
		return []string{"^(/private)?" + globExpression(pattern) + end}
	case pattern == "~" || strings.HasPrefix(pattern, "~/"):
		if s.home == "" {
			return nil
		}
		return []string{"^" + literalExpression(s.home) + globExpression(pattern[1:]) + end}
	}
	dirs, depth := s.roots, ""
	if !strings.Contains(pattern, "/") { // a name at any depth; system files are nobody's secrets
		dirs, depth = outermost(slices.Concat(s.roots, s.read, s.execute, s.stores, s.write)), "(.*/)?"
	}
	var all []string
	for _, dir := range dirs {
		all = append(all, "^"+literalExpression(dir)+"/"+depth+globExpression(pattern)+end)
	}
	return all
}

// literalExpression returns the expression of a text.
func literalExpression(text string) string {
	var b strings.Builder
	for _, r := range text {
		expressRune(&b, r)
	}
	return b.String()
}

// expressRune writes the expression of a character of a path.
func expressRune(b *strings.Builder, r rune) {
	switch {
	case 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z': // names ignore case on most disks
		upper, lower := r&^0x20, r|0x20
		fmt.Fprintf(b, "[%c%c]", upper, lower)
	case r == '/' || r == '-' || r == '_' || r == ' ' || '0' <= r && r <= '9':
		b.WriteRune(r)
	case r > '~' || r < ' ' || r == '"' || r == '\\' || r == '^' || r == ']' || r == '[':
		b.WriteString("[^/]+") // several bytes, or two runes in the other normal form
	default:
		fmt.Fprintf(b, "[%c]", r)
	}
}

// globExpression returns the expression of a glob.
func globExpression(glob string) string {
	var b strings.Builder
	depth := 0
	for i := 0; i < len(glob); {
		r, size := utf8.DecodeRuneInString(glob[i:])
		rest := glob[i:]
		i += size
		switch {
		case strings.HasPrefix(rest, "**/"):
			b.WriteString("(.*/)?")
			i += 2
		case strings.HasPrefix(rest, "/**"): // a directory and all below it
			b.WriteString("(/.*)?")
			i += 2
		case strings.HasPrefix(rest, "**"):
			b.WriteString(".*")
			i++
		case r == '*':
			b.WriteString("[^/]*")
		case r == '?':
			b.WriteString("[^/]+")
		case r == '[':
			i += classLength(glob[i:])
			b.WriteString("[^/]+")
		case r == '{':
			depth++
			b.WriteString("(")
		case r == '}' && depth > 0:
			depth--
			b.WriteString(")")
		case r == ',' && depth > 0:
			b.WriteString("|")
		case r == '\\' && i < len(glob):
			r, size = utf8.DecodeRuneInString(glob[i:])
			i += size
			expressRune(&b, r)
		default:
			expressRune(&b, r)
		}
	}
	return b.String()
}

// classLength returns the length of a class of characters after its "[".
func classLength(s string) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case ']':
			if i > 0 {
				return i + 1
			}
		}
	}
	return len(s)
}
