package redact

import "github.com/zeph-acp/zeph-acp/filter/text"

// nameClass is the probability that the value of a name is a credential, and the
// evidence that the value must show.
type nameClass uint8

const (
	otherName    nameClass = iota
	weakName               // may be a secret: the value must look random and be long
	tokenName              // the value must look random
	secretName             // the same, but the value may be shorter
	passwordName           // any value but a plain word
)

// nameClasses are the classes by their names in rules.toml.
var nameClasses = map[string]nameClass{"weak": weakName, "token": tokenName, "secret": secretName, "password": passwordName}

// maxName is the part of a name that is examined, in bytes.
const maxName = 80

// classifyName returns the class of a name. Its last word counts, as in
// DB_PASSWORD, apiKey and client-secret. Words before it can void that, as in
// publicKey.
func classifyName(name []byte) nameClass {
	if len(name) > maxName {
		name = name[len(name)-maxName:]
	}
	if !mayBeClassified(name) {
		return otherName
	}
	var w nameWords
	text.AppendLower(w.text[:0], name)
	w.split(name)
	for w.count > 1 && isQualifier(w.word(w.count-1)) {
		w.count--
	}
	if w.count == 0 {
		return otherName
	}
	before := w.count - 1 // number of words before the last
	last := w.word(before)
	noun := classifyNoun(last)
	for i := range before {
		word := w.word(i)
		if voidsName(word) && !(noun == passwordName && isPlaceName(word)) || i == before-1 && string(word) == "host" && string(last) == "key" {
			return otherName
		}
	}
	capitals := inCapitals(name)
	switch {
	case noun != otherName:
		return noun
	case string(last) == "pass", string(last) == "pw" && !capitals:
		return w.classifyPass(before, capitals)
	case string(last) == "pat" && before > 0 && isForgeWord(w.word(before-1)):
		return tokenName
	case string(last) == "ident" && before > 0 && string(w.word(before-1)) == "auth": // npmAuthIdent
		return secretName
	case string(last) == "pw" && before > 0:
		return passwordName
	case string(last) == "key":
		return w.classifyKey(before, capitals)
	}
	if capitals && !isHarmlessNoun(last) {
		for i := range before {
			if classifyNoun(w.word(i)) > weakName {
				return weakName
			}
		}
	}
	return otherName
}

// classifyPass returns the class of a name that ends in "pass" or "pw", by the
// number of words before that.
func (w *nameWords) classifyPass(before int, capitals bool) nameClass {
	for before > 1 && isQualifier(w.word(before-1)) { // RABBITMQ_DEFAULT_PASS
		before--
	}
	switch {
	case before == 0 && capitals: // also the result of a test
		return tokenName
	case before == 0:
		return secretName
	case before > 0 && isAccountWord(w.word(before-1)):
		return passwordName
	}
	return otherName
}

// classifyKey returns the class of a name that ends in "key", by the number of words
// before that.
func (w *nameWords) classifyKey(before int, capitals bool) nameClass {
	for i := range before {
		if makesKeySecret(w.word(i)) {
			return secretName
		}
	}
	if before > 0 && (capitals || string(w.word(before-1)) == "primary" || string(w.word(before-1)) == "secondary") {
		return weakName
	}
	return otherName
}

// mayBeClassified reports whether a name may have a word that classifyName
// recognises. Most names have none.
func mayBeClassified(name []byte) bool {
	for i := 1; i < len(name); i++ {
		var third byte
		if i+1 < len(name) {
			third = name[i+1] | 0x20
		}
		switch second := name[i] | 0x20; name[i-1] | 0x20 {
		case 'p':
			if second == 'a' && (third == 's' || third == 't') || second == 'w' || second == 's' && third == 'k' {
				return true
			}
		case 's':
			if second == 'e' && (third == 'c' || third == 'n') {
				return true
			}
		case 't':
			if second == 'o' && third == 'k' {
				return true
			}
		case 'k':
			if second == 'e' && (third == 'y' || third == 'n') {
				return true
			}
		case 'c':
			if second == 'r' && third == 'e' || second == 'o' && third == 'n' {
				return true
			}
		case 'a':
			if second == 'u' && third == 't' {
				return true
			}
		case 'j':
			if second == 'w' {
				return true
			}
		case 'b':
			if second == 'e' && third == 'a' {
				return true
			}
		}
	}
	return false
}

// nameWords are the words of a name, in lower case.
type nameWords struct {
	text  [maxName]byte
	ends  [maxWords][2]uint8 // bounds of each word in text
	count int                // words
}

// maxWords limits the words of a name. The last ones count.
const maxWords = 16

func (w *nameWords) word(i int) []byte { return w.text[w.ends[i][0]:w.ends[i][1]] }

// split finds the words of a name.
func (w *nameWords) split(name []byte) {
	from := 0
	for i := 0; i <= len(name); i++ {
		ends := i == len(name) || !text.AlnumSet[name[i]]
		if !ends && (i == from || !beginsWord(name, i)) {
			continue
		}
		if i > from {
			if w.count == maxWords {
				copy(w.ends[:], w.ends[1:])
				w.count--
			}
			w.ends[w.count] = [2]uint8{uint8(from), uint8(i)}
			w.count++
		}
		from = i
		if ends {
			from++
		}
	}
}

// beginsWord reports whether a byte of a name begins a word, as the K of apiKey
// and APIKey does.
func beginsWord(name []byte, i int) bool {
	b, before := name[i], name[i-1]
	return text.DigitSet[b] != text.DigitSet[before] ||
		text.IsUpper(b) && (!text.IsUpper(before) || i+1 < len(name) && name[i+1] >= 'a' && name[i+1] <= 'z')
}

// inCapitals reports whether a name is in capitals, as in an environment.
func inCapitals(name []byte) bool {
	letters := 0
	for _, b := range name {
		if b >= 'a' && b <= 'z' {
			return false
		}
		if text.IsUpper(b) {
			letters++
		}
	}
	return letters >= 2
}

// classifyNoun returns the class of a name that ends in a word, by that word alone.
func classifyNoun(w []byte) nameClass {
	switch string(w) {
	case "password", "passwd", "passphrase", "passcode", "pwd", "passwort", "kennwort", "senha", "contrasena",
		"userpass", "dbpass", "sshpass", "authtok", "bindpw", "psk", "storepass", "keypass", "srcstorepass", "deststorepass":
		return passwordName
	case "secret", "secrets", "credential", "credentials", "creds", "apikey", "appkey", "authkey":
		return secretName
	case "token", "jwt", "bearer", "auth":
		return tokenName
	}
	switch {
	case hasLongerSuffix(w, "password"), hasLongerSuffix(w, "passwd"), hasLongerSuffix(w, "passphrase"):
		return passwordName
	case hasLongerSuffix(w, "secret"),
		hasLongerSuffix(w, "apikey"),
		hasLongerSuffix(w, "secretkey"),
		hasLongerSuffix(w, "privatekey"),
		hasLongerSuffix(w, "accesskey"),
		hasLongerSuffix(w, "authkey"):
		return secretName
	case hasLongerSuffix(w, "token"):
		return tokenName
	}
	return otherName
}

func hasLongerSuffix(w []byte, end string) bool {
	return len(w) > len(end) && string(w[len(w)-len(end):]) == end
}

// isQualifier reports whether a last word only qualifies the name before it.
func isQualifier(w []byte) bool {
	if text.DigitSet.All(w) {
		return true
	}
	switch string(w) {
	case "base", "value", "val", "str", "string", "prod", "production", "dev", "development", "staging",
		"live", "test", "default", "old", "new", "main",
		"primary", "secondary", "plain", "plaintext", "b", "base64", "raw", "readonly", "rw", "ro":
		return true
	}
	return false
}

// voidsName reports whether a word makes a name harmless, such as "public".
func voidsName(w []byte) bool {
	switch string(w) {
	case "public", "publishable", "next", "page", "paging", "continuation", "cursor", "idempotency",
		"pagination", "num", "max", "min", "total", "input", "output",
		"prompt", "completion", "cached", "bos", "eos", "pad", "stop", "special", "unk", "sep", "cls",
		"invalid", "unexpected", "parse", "cache", "foreign", "partition",
		"sort", "unrecognized", "unknown", "bad", "illegal", "gpg", "has", "is", "needs", "requires", "show",
		"hide", "cancellation", "cancel", "sync", "client_request", "fencing", "lookup", "syntax", "site",
		"hash", "ssm", "no", "fingerprint", "index", "unique", "cryptographic":
		return true
	}
	return false
}

// isPlaceName reports whether a word that makes a token harmless is a place before a
// password, as in output.elasticsearch.password.
func isPlaceName(w []byte) bool {
	switch string(w) {
	case "input", "output", "cache", "site", "sync", "index", "page", "partition":
		return true
	}
	return false
}

// makesKeySecret reports whether a key of this kind is a secret.
func makesKeySecret(w []byte) bool {
	switch string(w) {
	case "api", "secret", "private", "access", "auth", "encryption", "encrypt", "signing", "sign", "master",
		"shared", "account", "client", "service", "webhook", "jwt", "app",
		"application", "deploy", "storage", "admin", "session", "cookie", "crypt", "cipher", "hmac",
		"license", "subscription", "function", "functions", "ingest", "write",
		"unseal", "recovery", "consumer", "developer", "integration", "server", "user", "preshared", "psk",
		"aes", "fernet", "wg", "openai", "anthropic", "stripe", "sendgrid", "mailgun",
		"google", "github", "aws", "azure", "datadog", "dd", "sentry", "algolia", "twilio", "secretkey", "rapidapi":
		return true
	}
	return false
}

// isAccountWord reports whether "pass" after this word is a password and not the
// result of a test.
func isAccountWord(w []byte) bool {
	switch string(w) {
	case "db", "database", "user", "smtp", "mail", "email", "mysql", "pg", "postgres", "redis", "mongo",
		"mongodb", "ftp", "sftp", "admin", "root", "http", "proxy", "imap", "ldap", "bind",
		"rabbitmq", "amqp", "become", "auth", "login", "basic", "my", "service", "app", "ssh", "sudo",
		"registry", "keystore", "key", "store", "sql", "git", "docker", "deploy", "api", "jenkins", "es":
		return true
	}
	return false
}

// isAccountPassword reports whether a name is the password of an account and not
// the label of a form.
func isAccountPassword(name []byte) bool {
	var w nameWords
	text.AppendLower(w.text[:0], name)
	w.split(name)
	return w.count > 1 && isAccountWord(w.word(w.count-2))
}

// isForgeWord reports whether "pat" after this word is a personal access token and
// not a pattern.
func isForgeWord(w []byte) bool {
	switch string(w) {
	case "github", "gh", "gitlab", "gl", "git", "azure", "ado", "devops", "bitbucket", "docker":
		return true
	}
	return false
}

// isHarmlessNoun reports whether a last word is a property of a secret, such as
// its path.
func isHarmlessNoun(w []byte) bool {
	switch string(w) {
	case "id", "ids", "name", "names", "url", "uri", "file", "files", "path", "dir", "type", "ttl", "expires",
		"expiry", "expiration", "expire", "length", "len", "size", "count", "limit",
		"policy", "timeout", "age", "header", "format", "prefix", "suffix", "regex", "pattern", "version",
		"algorithm", "algo", "alg", "endpoint", "issuer", "audience", "scope", "scopes",
		"region", "enabled", "required", "rotation", "env", "arn", "ref", "mode", "method", "hint", "field",
		"label", "status", "usage", "attempts", "retries", "provider", "store", "manager",
		"server", "sock", "socket", "domain", "host", "hash", "digest", "checksum", "fingerprint", "public",
		"pub", "kind", "user", "username", "owner", "realm", "resource", "sha", "sum":
		return true
	}
	return false
}
