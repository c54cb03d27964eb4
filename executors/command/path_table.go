package command

import "sync"

// fileCommand describes which operands of a program are files.
type fileCommand struct {
	lead    int    // operands before the files, such as a pattern
	leadBy  string // short options that replace the leading operand, so that all operands are files
	options string // short options whose value is not a file
}

// fileCommands are programs whose operands are files.
var fileCommands = sync.OnceValue(func() map[string]fileCommand {
	return map[string]fileCommand{
		"awk": {lead: 1, leadBy: "f", options: "vF"}, "b2sum": {}, "base64": {options: "w"}, "bat": {}, "bzip2": {}, "cat": {}, "cd": {},
		"chgrp": {lead: 1}, "chmod": {lead: 1}, "chown": {lead: 1}, "cksum": {}, "cmp": {options: "in"}, "comm": {}, "cp": {options: "S"},
		"column": {}, "csplit": {}, "cut": {options: "bcdf"}, "dd": {}, "diff": {options: "UCW"}, "du": {options: "dBt"}, "egrep": {lead: 1, leadBy: "ef", options: "ABCem"}, "expand": {}, "fd": {lead: 1, options: "detESxXj"}, "fdfind": {lead: 1, options: "detESxXj"},
		"fgrep": {lead: 1, leadBy: "ef", options: "ABCem"}, "file": {options: "m"}, "find": {}, "fmt": {options: "w"}, "fold": {options: "w"}, "gawk": {lead: 1, leadBy: "f", options: "vF"},
		"grep": {lead: 1, leadBy: "ef", options: "ABCemd"}, "gunzip": {}, "gzip": {}, "head": {options: "nc"}, "hexdump": {options: "nsevf"}, "install": {options: "mog"},
		"iconv": {options: "ft"}, "join": {options: "12aotvj"}, "jq": {lead: 1, leadBy: "f"}, "less": {}, "link": {}, "ln": {options: "S"}, "ls": {options: "ITw"}, "md5sum": {}, "mkdir": {options: "m"}, "mkfifo": {options: "m"},
		"mknod": {}, "mktemp": {}, "more": {}, "mv": {options: "S"}, "nano": {}, "nl": {}, "od": {options: "ANjtw"}, "paste": {options: "d"}, "patch": {options: "pFD"}, "pr": {}, "pushd": {},
		"readlink": {}, "realpath": {}, "rev": {}, "rg": {lead: 1, leadBy: "ef", options: "ABCegmtTjMd"}, "rm": {}, "rmdir": {}, "rsync": {options: "e"}, "scp": {options: "PilFcoSJDX"}, "sed": {lead: 1, leadBy: "ef", options: "el"},
		"sha1sum": {}, "sha224sum": {}, "sha256sum": {}, "sha384sum": {}, "sha512sum": {}, "shred": {options: "ns"}, "shuf": {options: "in"}, "sort": {options: "ktS"}, "source": {}, ".": {},
		"split": {options: "abClnt"}, "stat": {options: "cf"}, "strings": {options: "nt"}, "tac": {}, "tail": {options: "nc"}, "tar": {}, "tee": {}, "touch": {options: "dt"},
		"tree": {options: "LIP"}, "truncate": {options: "s"}, "unexpand": {}, "uniq": {options: "fsw"}, "unlink": {}, "unzip": {}, "vi": {}, "view": {}, "vim": {}, "wc": {}, "xxd": {options: "clgs"},
		"zcat": {}, "zip": {},
	}
})

// fileOptions are options whose value is a file.
var fileOptions = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"awk": "-f --file", "bsdtar": "-C -f", "cargo": "--manifest-path --target-dir", "cp": "-t --target-directory", "curl": "-o --output -K --config -T --upload-file --output-dir --cacert --netrc-file -E --cert --key",
		"date": "-r --reference -f --file", "diff": "--from-file --to-file -X --exclude-from", "du": "--files0-from -X --exclude-from", "egrep": "-f --file --exclude-from",
		"env": "-C --chdir", "fd": "--ignore-file --base-directory --search-path", "fdfind": "--ignore-file --base-directory --search-path", "fgrep": "-f --file --exclude-from",
		"file": "-m --magic-file -f --files-from", "find": "-files0-from -newer -anewer -cnewer -samefile", "gawk": "-f --file", "git": "-C --git-dir --work-tree", "go": "-C",
		"grep": "-f --file --exclude-from", "hexdump": "-f", "install": "-t --target-directory", "jq": "-f --from-file -L", "ln": "-t --target-directory", "make": "-C -f --file --directory",
		"mv": "-t --target-directory", "patch": "-d --directory -i --input -o --output", "rg": "-f --file --ignore-file --pre", "sed": "-f --file", "shuf": "-o --output --random-source",
		"sort": "--files0-from -o --output -T --temporary-directory --random-source", "tar": "-C -f --file --directory -T --files-from", "touch": "-r --reference", "tree": "-o --output --fromfile",
		"truncate": "-r --reference", "unzip": "-d", "wc": "--files0-from", "wget": "-O --output-document -P --directory-prefix -i --input-file --post-file --body-file --load-cookies", "xargs": "-a --arg-file",
	}
})
