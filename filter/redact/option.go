package redact

import (
	"bytes"
	"slices"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// scanDash looks for an option or the marker of a key.
func (m *Stream) scanDash(l []byte, i int) int {
	end := i + 1
	for end < len(l) && l[end] == '-' {
		end++
	}
	switch n := end - i; {
	case n >= 4:
		m.scanKeyMarker(l, end)
	case end == len(l):
	case i > 0 && text.AlnumSet[l[i-1]]:
	case n == 2:
		m.scanOption(l, end)
	case n == 1 && (i == 0 || !text.AlnumSet[l[i-1]]):
		m.scanShortOption(l, i)
	}
	return end - 1
}

// scanOption looks for the value of a long option.
func (m *Stream) scanOption(l []byte, from int) {
	to := text.NameSet.RunEnd(l, from)
	name := l[from:to]
	if equalFold(name, "password-stdin") || equalFold(name, "stdin") || equalFold(name, "with-token") ||
		equalFold(name, "passwd-on-stdin") || equalFold(name, "passphrase-fd") {
		m.scanPiped(l, from)
		return
	}
	if to == len(l) || l[to] != ' ' && !isQuote(l[to]) && !(l[to] == '=' && takesLogin(name)) {
		return
	}
	n := classifyName(name)
	if string(name) == "body" && runsAny(l[:from], []string{"gh secret set"}) {
		n = secretName
	}
	if n == otherName && !(takesLogin(name) && runsAny(l[:from], loginCommands)) {
		return
	}
	at := to
	if l[to] == '=' {
		at++
	}
	if isQuote(l[to]) { // ["--password", "..."]
		at = to + 1
		if at < len(l) && l[at] == ',' {
			at++
		}
	}
	v := valueFrom(l, at)
	if n == otherName {
		m.scanLogin(l, v, ':')
		return
	}
	if value := l[v.from:v.to]; len(value) > 0 && value[0] != '-' && isBelievable(value, n, form{quoted: v.quoted}) {
		m.addHit(v.from, v.to, kindOfName(name))
	}
}

// takesLogin reports whether the value of a long option is user:password.
func takesLogin(name []byte) bool {
	return equalFold(name, "user") || equalFold(name, "proxy-user") || equalFold(name, "auth")
}

// loginCommands have an option for user:password.
var loginCommands = []string{"curl ", "etcdctl ", "http ", "https ", "xh "}

// shortOption is an option whose value is a password, or a user and a password.
type shortOption struct {
	letter   byte
	attached bool // the value follows the letter without a blank
	between  byte // it separates user and password; 0 means that there is no user
	commands []string
}

var shortOptions = []shortOption{
	{letter: 'p', commands: []string{
		"sshpass", "docker login", "podman login", "registry login", "az login", "oc login", "mongo", "cqlsh", "twine upload",
		"snowsql", "beeline", "security unlock-keychain", "certutil", "usermod", "useradd", "doveadm pw", "lpass", "conan remote",
		"nuget add source", "psexec", "PsExec", "evil-winrm", "cypher-shell", "rdesktop", "auth login", "oras login",
	}},
	{letter: 'p', attached: true, commands: []string{"mysql", "mariadb", "sshpass", "7z", "rar ", "unrar "}},
	{letter: 'P', commands: []string{"sqlcmd", "bcp ", "zip ", "unzip ", "ipmitool", "mosquitto_", "isql ", "mssql-cli", "tsql "}},
	{letter: 'a', commands: []string{"redis-cli"}},
	{letter: 'a', between: ':', commands: []string{"http ", "https ", "xh "}},
	{letter: 'A', commands: []string{"snmp"}},
	{letter: 'A', between: ':', commands: []string{"ab "}},
	{letter: 'X', commands: []string{"snmp"}},
	{letter: 'c', commands: []string{"snmp"}},
	{letter: 'k', commands: []string{"openssl enc", "nuget push"}},
	{letter: 's', commands: []string{"ldappasswd"}},
	{letter: 't', commands: []string{"doctl auth", "codecov "}},
	{letter: 'w', commands: []string{"ldap", "security add-", "rabbitmqadmin", "kadmin"}},
	{letter: 'u', between: ':', commands: []string{"curl"}},
	{letter: 'u', attached: true, between: ':', commands: []string{"curl"}},
	{letter: 'U', between: ':', commands: []string{"curl"}},
	{letter: 'U', between: '%', commands: []string{"smbclient", "winexe", "rpcclient", "net ads"}},
}

// scanShortOption looks for a password after an option with one hyphen, by the
// command or by its name: -storepass.
func (m *Stream) scanShortOption(l []byte, i int) {
	if i+2 >= len(l) {
		return
	}
	end := text.NameSet.RunEnd(l, i+1)
	switch name := l[i+1 : end]; {
	case string(name) == "pw" && runsAny(l[:i], puttyCommands):
		m.addOption(l, end)
	case text.HasAnyPrefix(name, "hp") && runsCommand(l[:i], "rar "):
		m.addOption(l, i+len("-hp"))
	case string(name) == "auth" && runsCommand(l[:i], "jenkins-cli"):
		m.scanLogin(l, valueFrom(l, end), ':')
	}
	if end-i > 5 && end < len(l) && l[end] == ' ' {
		if n := classifyName(l[i+1 : end]); n >= tokenName {
			if v := valueFrom(l, end); isBelievable(l[v.from:v.to], n, form{quoted: v.quoted}) {
				m.addHit(v.from, v.to, namedSecret)
			}
			return
		}
	}
	for n := range shortOptions {
		o := &shortOptions[n]
		if o.letter != l[i+1] || o.attached == (l[i+2] == ' ') {
			continue
		}
		v := valueFrom(l, i+2)
		switch value := l[v.from:v.to]; {
		case o.between != 0 && bytes.IndexByte(value, o.between) > 0:
			if runsAny(l[:i], o.commands) {
				m.scanLogin(l, v, o.between)
			}
		case o.between == 0 && isBelievable(value, passwordName, quotedForm) && runsAny(l[:i], o.commands):
			m.addHit(v.from, v.to, namedSecret)
		}
	}
	switch {
	case l[i+1] == 'b' || l[i+1] == 'n':
		m.scanHtpasswd(l, i)
	case l[i+1] == 'S' && bytes.HasSuffix(l[:i], []byte("sudo ")):
		m.scanPiped(l, i)
	}
}

// puttyCommands are the programs of PuTTY with the option -pw.
var puttyCommands = []string{"plink", "pscp", "psftp", "putty", "klink", "kscp"}

// addOption adds the value at at of an option that takes a password.
func (m *Stream) addOption(l []byte, at int) {
	if v := valueFrom(l, at); isBelievable(l[v.from:v.to], passwordName, quotedForm) {
		m.addHit(v.from, v.to, namedSecret)
	}
}

// scanHtpasswd looks for the last operand of htpasswd -b.
func (m *Stream) scanHtpasswd(l []byte, i int) {
	end := bytes.IndexByte(l[i:], ' ')
	if end < 0 || bytes.IndexByte(l[i:i+end], 'b') < 0 || !runsCommand(l[:i], "htpasswd") {
		return
	}
	operand := 3 // after file and user
	if bytes.IndexByte(l[i:i+end], 'n') > 0 {
		operand = 2
	}
	m.scanOperand(l, i+end+1, operand, 0)
}

// scanPiped looks for a password that echo or printf writes to a command that
// reads one: echo PASSWORD | docker login --password-stdin.
func (m *Stream) scanPiped(l []byte, i int) {
	bar := bytes.LastIndexByte(l[:i], '|')
	if bar < 0 {
		return
	}
	before := l[:bar]
	at := max(bytes.LastIndex(before, []byte("echo ")), bytes.LastIndex(before, []byte("printf ")))
	if at < 0 {
		return
	}
	if words := bytes.Fields(before[at:]); len(words) > 1 && len(words) < 4 {
		word := words[len(words)-1]
		if _, password, ok := bytes.Cut(word, []byte(":")); ok && bytes.HasPrefix(l[i-2:], []byte("sswd")) { // chpasswd
			word = bytes.TrimRight(password, "\"'")
		}
		from := bytes.LastIndex(before, word)
		from, to := withoutQuotes(l, from, from+len(word))
		if isBelievable(l[from:to], passwordName, quotedForm) {
			m.addHit(from, to, namedSecret)
		}
	}
}

// scanOperand looks for a password in the n-th word from at on. If between is not 0,
// options are skipped, and the word is user, between and password, then @ and a host.
func (m *Stream) scanOperand(l []byte, at, n int, between byte) {
	for ; n > 1 || between != 0 && at < len(l) && l[at] == '-'; n-- {
		space := bytes.IndexByte(l[at:], ' ')
		if space < 0 {
			return
		}
		at += space + 1
	}
	v := valueFrom(l, at)
	if between == 0 {
		if value := l[v.from:v.to]; isBelievable(value, passwordName, quotedForm) && !isOption(value) && !isVersion(value) {
			m.addHit(v.from, v.to, namedSecret)
		}
		return
	}
	word := l[at:]
	if end := bytes.IndexByte(word, ' '); end >= 0 {
		word = word[:end]
	}
	user := bytes.IndexByte(word, between)
	host := bytes.LastIndexByte(word, '@')
	if user <= 0 || bytes.IndexByte(word[:user], '@') >= 0 {
		return
	}
	if host < user {
		host = len(word)
	}
	from, to := withoutQuotes(l, at+user+1, at+host)
	if isBelievable(l[from:to], passwordName, dataForm) {
		m.addHit(from, to, namedSecret)
	}
}

// scanBundleLogin looks for user:password in the last word of bundle config HOST user:password.
func (m *Stream) scanBundleLogin(l []byte, _, body int) {
	to := len(bytes.TrimRight(l, " "))
	from := bytes.LastIndexByte(l[:to], ' ') + 1
	if from > body && !bytes.Contains(l[from:to], []byte("://")) {
		m.scanLogin(l, assignedValue{from: from, to: to}, ':')
	}
}

// scanCell looks for a value in a cell of a table, if the cell before it is the name of a
// credential. The border between them begins at from and ends at body.
func (m *Stream) scanCell(l []byte, from, body int) {
	end := len(bytes.TrimRight(l[:from], " "))
	start := nameStart(l, end)
	n := classifyName(l[start:end])
	if last := bytes.Trim(l[body:], " |\u2502"); classifyName(last) >= tokenName { // the name of the last column
		m.beginTable(l)
		return
	}
	if before := bytes.TrimRight(l[:start], " "); n < tokenName || len(before) > 0 && !bytes.HasSuffix(before, []byte("|")) && !bytes.HasSuffix(before, []byte("\u2502")) {
		return
	}
	m.beginTable(l)
	cell := l[body:]
	if bar := bytes.IndexAny(cell, "|\u2502"); bar >= 0 {
		cell = cell[:bar]
	}
	from = body + len(cell) - len(bytes.TrimLeft(cell, " "))
	if cell = bytes.TrimSpace(cell); len(cell) == 0 || bytes.IndexByte(cell, ' ') >= 0 {
		return
	}
	if n == passwordName {
		m.addIfLikely(l, from, from+len(cell))
	} else if isBelievable(cell, n, bareForm) {
		m.addHit(from, from+len(cell), namedSecret)
	}
}

// isVersion reports whether a word is a version, such as v1.15.2.
func isVersion(word []byte) bool {
	return bytes.IndexByte(word, '.') > 0 && len(bytes.Trim(bytes.TrimPrefix(word, []byte("v")), "0123456789.")) == 0
}

// isOption reports whether a word is an option, such as --force or /user:bob.
func isOption(word []byte) bool {
	return word[0] == '-' || word[0] == '/' && bytes.IndexByte(word, ':') > 0
}

// passwordReaders are parts of commands that read a password or a token from standard
// input.
var passwordReaders = []string{
	"stdin", "passw", "sudo -S", "kinit", "cryptsetup", "passphrase", "--token", "with-token", "signin", "vault login", "auth login", "docker login",
	"secret set", "env add",
}

// scanHereString looks for a password in a here-string: docker login --password-stdin <<< PASSWORD.
func (m *Stream) scanHereString(l []byte, i int) {
	before := l[bytes.LastIndexAny(l[:i], "|;&")+1 : i]
	if !slices.ContainsFunc(passwordReaders, func(part string) bool { return bytes.Contains(before, []byte(part)) }) {
		return
	}
	v := valueFrom(l, i+len("<<<"))
	from := v.from
	if bytes.Contains(before, []byte("chpasswd")) {
		from += bytes.IndexByte(l[v.from:v.to], ':') + 1
	}
	if isBelievable(l[from:v.to], passwordName, quotedForm) {
		m.addHit(from, v.to, namedSecret)
	}
}

// scanLogin looks for the password in user:password. between is the byte that separates
// them.
func (m *Stream) scanLogin(l []byte, v assignedValue, between byte) {
	i := bytes.IndexByte(l[v.from:v.to], between)
	if at := v.from + i + 1; i > 0 && isBelievable(l[at:v.to], passwordName, dataForm) {
		m.addHit(at, v.to, namedSecret)
	}
}

// runsAny reports whether the text before an option runs any of the commands.
func runsAny(line []byte, commands []string) bool {
	return slices.ContainsFunc(commands, func(c string) bool { return runsCommand(line, c) })
}

// runsCommand reports whether the text before an option runs a command.
func runsCommand(line []byte, command string) bool {
	const longest = 400
	line = line[max(0, len(line)-longest):]
	i := bytes.LastIndex(line, []byte(command))
	return i >= 0 && (i == 0 || !text.AlnumSet[line[i-1]]) && !bytes.ContainsAny(line[i:], "|;`<>(){}")
}
