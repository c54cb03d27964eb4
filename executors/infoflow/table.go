package infoflow

// flow is the direction of data through a program.
type flow uint8

const (
	sends flow = 1 << iota // it can send data out
	reads                  // it prints data that a stranger may have written

	both = sends | reads
)

// programs lists the programs that move data between the machine and others, by
// their first operands. The operand "" stands for any.
var programs = map[string]map[string]flow{
	// Requests.
	"aria2c": {"": both}, "curl": {"": both}, "ftp": {"": both}, "grpcurl": {"": both}, "http": {"": both}, "https": {"": both},
	"links": {"": both}, "lwp-request": {"": both}, "lynx": {"": both}, "w3m": {"": both}, "websocat": {"": both}, "wget": {"": both}, "xh": {"": both},
	// Connections, and names, which can carry data too.
	"dig": {"": both}, "drill": {"": both}, "host": {"": both}, "nslookup": {"": both}, "openssl": {"s_client": both}, "ping": {"": sends},
	"ncat": {"": both}, "nc": {"": both}, "netcat": {"": both}, "socat": {"": both}, "telnet": {"": both}, "tracepath": {"": sends}, "traceroute": {"": sends}, "whois": {"": both},
	// Other machines.
	"rclone": {"": both}, "rsync": {"": both}, "scp": {"": both}, "sftp": {"": both}, "ssh": {"": both},
	"mail": {"": sends}, "mailx": {"": sends}, "msmtp": {"": sends}, "mutt": {"": both}, "sendmail": {"": sends}, "swaks": {"": sends},
	// Hosts of code, and registries.
	"gh": {"": both}, "glab": {"": both}, "hub": {"": both}, "tea": {"": both},
	"git":   {"ls-remote": sends, "push": sends, "request-pull": sends, "send-email": sends, "svn": both},
	"cargo": {"publish": sends}, "docker": {"push": sends}, "gem": {"push": sends}, "helm": {"push": sends}, "npm": {"publish": sends}, "pnpm": {"publish": sends},
	"podman": {"push": sends}, "poetry": {"publish": sends}, "twine": {"upload": sends}, "uv": {"publish": sends}, "yarn": {"npm": sends, "publish": sends},
	// Clouds, clusters, databases.
	"aws": {"": both}, "az": {"": both}, "gcloud": {"": both}, "gsutil": {"": both}, "mc": {"": both}, "s3cmd": {"": both}, "s5cmd": {"": both},
	"ansible": {"": both}, "ansible-playbook": {"": both}, "kubectl": {"": both}, "oc": {"": both}, "terraform": {"apply": sends}, "tofu": {"apply": sends},
	"clickhouse-client": {"": both}, "mariadb": {"": both}, "mongosh": {"": both}, "mysql": {"": both}, "psql": {"": both}, "redis-cli": {"": both}, "sqlcmd": {"": both},
}

// interpreters are programs that can open a connection in code of the script
// itself.
var interpreters = map[string]bool{
	"awk": true, "bun": true, "deno": true, "gawk": true, "lua": true, "node": true, "osascript": true, "perl": true, "php": true, "powershell": true, "pwsh": true,
	"python": true, "python2": true, "python3": true, "rscript": true, "ruby": true, "tclsh": true,
}

// silent are programs that show no content of the files that they name, by their
// first operands.
var silent = map[string][]string{
	"[": nil, "basename": nil, "cd": nil, "chgrp": nil, "chmod": nil, "chown": nil, "dirname": nil, "echo": nil, "find": nil, "ls": nil, "mkdir": nil, "printf": nil,
	"readlink": nil, "realpath": nil, "rm": nil, "rmdir": nil, "shred": nil, "stat": nil, "test": nil, "touch": nil, "unlink": nil,
	"git": {"add", "check-ignore", "commit", "ls-files", "mv", "reset", "rm", "status"},
}

// listers are tools that name files without their content.
var listers = map[string]bool{"create_directory": true, "delete_path": true, "find_path": true, "list_directory": true}
