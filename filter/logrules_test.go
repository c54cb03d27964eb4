package filter

import (
	"slices"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors/command"
)

// rulesFor returns the names of the built-in rules for a command.
func rulesFor(t *testing.T, script string) (names []string) {
	t.Helper()
	rules, warnings := loadRules("")
	if len(warnings) > 0 {
		t.Fatalf("the built-in rules cause warnings: %q", warnings)
	}
	seg := command.OutputsOf(script).Command
	for _, r := range rules {
		if r.match.matches(seg) {
			names = append(names, r.name)
		}
	}
	return names
}

func TestLogRules(t *testing.T) {
	for command, want := range map[string]string{
		"journalctl -u x":                 "log-dedup",
		"sudo journalctl":                 "log-dedup",
		"dmesg | tail -50":                "log-dedup",
		"docker logs api":                 "log-dedup",
		"docker compose -f a.yml logs -f": "log-dedup",
		"docker-compose logs":             "log-dedup",
		"kubectl -n prod logs deploy/web": "log-dedup",
		"kubectl logs -f x":               "log-dedup",
		"pm2 logs":                        "log-dedup",
		"adb -s 1 logcat -d":              "log-dedup",
		"systemctl status nginx":          "log-dedup",
		"cat worker.log":                  "log-file",
		"cat worker.log | grep error":     "log-file",
		"tail -f logs/shop.log":           "log-file",
		"tail -n 300 /var/log/syslog":     "log-file",
		"zcat app.log.2.gz":               "log-file",
		"head -100 nohup.out":             "log-file",
		"grep ERROR app.log":              "log-file grep",
		"grep -c ERROR app.log":           "grep",
		"cat internal/log/log.go":         "",
		"cat src/logs/handler.go":         "",
		"cat logger.py":                   "",
		"cat data.jsonl":                  "",
		"cat changelog.md":                "",
		"grep -rn x --include=*.log .":    "grep",
		"docker ps":                       "",
		"kubectl get pods":                "",
		"ls -la":                          "dir-listing",
		"lsblk":                           "",
		"lsof -i":                         "sysinfo",
		"find . -name x | head":           "dir-listing",
		"rg -l x":                         "dir-listing grep",
		"rg --files":                      "dir-listing grep",
		"git ls-files":                    "dir-listing",
		"tar -xzf a.tgz":                  "dir-listing",
		"tar tf a.tar":                    "dir-listing",
		"tar -tvf a.tar":                  "",
		"ping -c 3 example.test":          "log-dedup",
		"git grep -n x":                   "grep",
		"http-server .":                   "",
		"curl -s x":                       "http-fetch",
		"duf":                             "",
		"du -sh *":                        "sysinfo",
		"psql -c x":                       "",
		"ps aux | grep node":              "sysinfo",
	} {
		got := rulesFor(t, command)
		mine := slices.DeleteFunc(got, func(name string) bool {
			return !slices.Contains([]string{"log-dedup", "log-file", "dir-listing", "grep", "http-fetch", "sysinfo"}, name)
		})
		names := ""
		for i, n := range mine {
			if i > 0 {
				names += " "
			}
			names += n
		}
		if names != want {
			t.Errorf("%q: %q, want %q", command, names, want)
		}
	}
}
