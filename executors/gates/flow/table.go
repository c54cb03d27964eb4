package flow

import "strings"

// flow is the direction of data through a program.
type flow uint8

const (
	sends flow = 1 << iota // it can send data out
	reads                  // it prints data that a stranger may have written

	both = sends | reads
)

// Programs that move data between the machine and others, regardless of their operands.
const (
	twoWayPrograms = " " +
		// Requests.
		"ab aria2c axel curl curlie elinks ftp grpcurl hey http https httpie hurl k6 lftp links lwp-request " +
		"lynx ncftp tftp vegeta w3m websocat wget wget2 wrk xh " +
		// Connections and DNS look-ups; a looked-up name can carry data too.
		"avahi-resolve delv dig dog doggo drill finger gnutls-cli host kdig nc ncat netcat nslookup " +
		"resolvectl rpcinfo snmpget snmpwalk socat systemd-resolve telnet whois " +
		// Other machines.
		"ansible ansible-playbook autossh croc mosh mount.cifs mount.nfs rclone rexec rlogin rsh rsync scp " +
		"sftp slogin smbclient ssh sshfs sshpass unison wormhole mutt " +
		// Hosts of code, and registries.
		"cvs gh glab gist hub p4 tea crane oras skopeo " +
		// Clouds and clusters.
		"aliyun aws az azcopy b2 bq cloudflared consul doctl etcdctl firebase fly flyctl gcloud gsutil hcloud " +
		"heroku ibmcloud ipfs kubectl mc netlify nomad oc oci railway s3cmd s5cmd stripe vault vercel " +
		"wrangler " +
		// Databases and queues.
		"clickhouse-client cqlsh influx isql kafkacat kcat ldapsearch mariadb mongo mongosh mosquitto_pub " +
		"mosquitto_sub mysql nats psql redis-cli snowsql sqlcmd sqlplus "

	sendingPrograms = " " +
		"arping fping hping3 masscan mtr nmap nping ntpdate ping ping6 ssh-copy-id ssh-keyscan tracepath " +
		"tracepath6 traceroute traceroute6 " +
		"exim mail mailx msmtp s-nail sendmail ssmtp swaks " +
		"borg duplicity mongodump mongoexport mysqladmin mysqldump pastebinit restic surge twine " +
		"amqp-publish lpr lp ngrok sentry-cli telegram-send "
)

// wordFlows are the first operands and the options of a program that decide the direction,
// separated by spaces.
type wordFlows struct{ sends, both string }

// of returns the direction that a word decides.
func (f wordFlows) of(word string) flow {
	switch {
	case lists(f.both, word):
		return both
	case lists(f.sends, word):
		return sends
	}
	return 0
}

// lists reports whether one of the words, which spaces separate, is the given one.
func lists(words, one string) bool {
	for word := range strings.FieldsSeq(words) {
		if word == one {
			return true
		}
	}
	return false
}

// any returns the direction if the word is not known.
func (f wordFlows) any() flow {
	switch {
	case f.both != "":
		return both
	case f.sends != "":
		return sends
	}
	return 0
}

// programs lists the programs for which a word decides.
var programs = map[string]wordFlows{
	// Hosts of code.
	"bzr":    {sends: "ci commit push send"},
	"darcs":  {sends: "push send"},
	"fossil": {sends: "push", both: "sync"},
	"git": {
		sends: "--remote fetch-pack http-push imap-send lfs ls-remote push request-pull send-email send-pack subtree",
		both:  "p4 svn",
	},
	"hg":  {sends: "email push"},
	"jj":  {sends: "git"},
	"svn": {sends: "ci commit copy import"},
	// Registries.
	"buildah": {sends: "push"},
	"bun":     {sends: "publish"},
	"cargo":   {sends: "owner publish search"},
	"deno":    {sends: "publish"},
	"docker":  {sends: "--push login push"},
	"dotnet":  {sends: "nuget"},
	"gem":     {sends: "push"},
	"gradle":  {sends: "publish"},
	"helm":    {sends: "push"},
	"mvn":     {sends: "deploy"},
	"nerdctl": {sends: "--push login push"},
	"npm":     {sends: "publish search view"},
	"pnpm":    {sends: "publish"},
	"podman":  {sends: "--push login push"},
	"poetry":  {sends: "publish"},
	"uv":      {sends: "publish"},
	"yarn":    {sends: "npm publish"},
	// Others.
	"getent": {sends: "ahosts ahostsv4 ahostsv6 hosts networks"},
	"gpg": {
		sends: "--keyserver --locate-keys --recv-keys --refresh-keys --search-keys --send-keys",
		both:  "--fetch-keys",
	},
	"openssl":   {both: "ocsp s_client"},
	"pulumi":    {sends: "up"},
	"tailscale": {sends: "file"},
	"terraform": {sends: "apply"},
	"tofu":      {sends: "apply"},
}

// silentPrograms are programs that show no content of the files that they name, by their
// first operands.
var silentPrograms = map[string][]string{
	"[":        nil,
	"basename": nil,
	"cd":       nil,
	"chgrp":    nil,
	"chmod":    nil,
	"chown":    nil,
	"dirname":  nil,
	"echo":     nil,
	"find":     nil,
	"ls":       nil,
	"mkdir":    nil,
	"printf":   nil,
	"readlink": nil,
	"realpath": nil,
	"rm":       nil,
	"rmdir":    nil,
	"shred":    nil,
	"stat":     nil,
	"test":     nil,
	"touch":    nil,
	"unlink":   nil,
	"git":      {"add", "check-ignore", "commit", "ls-files", "mv", "reset", "rm", "status"},
}

// listingTools are tools that name files without their content.
var listingTools = map[string]bool{"create_directory": true, "delete_path": true, "find_path": true, "list_directory": true}
