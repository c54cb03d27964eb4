package infoflow

import "sync"

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

// programs lists the programs for which the first operands, or an option, decide.
var programs = sync.OnceValue(func() map[string]map[string]flow {
	return map[string]map[string]flow{
		// Hosts of code.
		"bzr":    {"ci": sends, "commit": sends, "push": sends, "send": sends},
		"darcs":  {"push": sends, "send": sends},
		"fossil": {"push": sends, "sync": both},
		"git": {
			"--remote":     sends,
			"fetch-pack":   sends,
			"http-push":    sends,
			"imap-send":    sends,
			"lfs":          sends,
			"ls-remote":    sends,
			"p4":           both,
			"push":         sends,
			"request-pull": sends,
			"send-email":   sends,
			"send-pack":    sends,
			"subtree":      sends,
			"svn":          both,
		},
		"hg":  {"email": sends, "push": sends},
		"jj":  {"git": sends},
		"svn": {"ci": sends, "commit": sends, "copy": sends, "import": sends},
		// Registries.
		"buildah": {"push": sends},
		"bun":     {"publish": sends},
		"cargo":   {"owner": sends, "publish": sends, "search": sends},
		"deno":    {"publish": sends},
		"docker":  {"--push": sends, "login": sends, "push": sends},
		"dotnet":  {"nuget": sends},
		"gem":     {"push": sends},
		"gradle":  {"publish": sends},
		"helm":    {"push": sends},
		"mvn":     {"deploy": sends},
		"nerdctl": {"--push": sends, "login": sends, "push": sends},
		"npm":     {"publish": sends, "search": sends, "view": sends},
		"pnpm":    {"publish": sends},
		"podman":  {"--push": sends, "login": sends, "push": sends},
		"poetry":  {"publish": sends},
		"uv":      {"publish": sends},
		"yarn":    {"npm": sends, "publish": sends},
		// Others.
		"getent": {
			"ahosts":   sends,
			"ahostsv4": sends,
			"ahostsv6": sends,
			"hosts":    sends,
			"networks": sends,
		},
		"gpg": {
			"--fetch-keys":   both,
			"--keyserver":    sends,
			"--locate-keys":  sends,
			"--recv-keys":    sends,
			"--refresh-keys": sends,
			"--search-keys":  sends,
			"--send-keys":    sends,
		},
		"openssl":   {"ocsp": both, "s_client": both},
		"pulumi":    {"up": sends},
		"tailscale": {"file": sends},
		"terraform": {"apply": sends},
		"tofu":      {"apply": sends},
	}
})

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
