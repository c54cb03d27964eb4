package workspace

import "testing"

// Paths of Windows are checked by their text alone, on every system.
func TestWindowsPaths(t *testing.T) {
	const machine, device = "it leads to another machine", "it names a device"
	const stream, end, short = "it names a stream of a file", "it ends in a dot or a space, which Windows ignores", "it is a short name of another file"
	dirs := []string{`C:\Users\RUNNER~1\proj`, `\\files\work\proj`, `\\?\D:\long`}
	for path, want := range map[string]struct{ reach, alias string }{
		`C:\Users\RUNNER~1\proj`:              {},
		`C:\Users\RUNNER~1\proj\a.go`:         {},
		`c:/users/runner~1/PROJ/a.go`:         {},
		`C:\Users\x\notes.txt`:                {},
		`C:\`:                                 {},
		`C:\proj\..\a`:                        {},
		`C:\proj\context\com10\console.go`:    {},
		`C:\proj\.gitignore`:                  {},
		`C:\proj\a~b\backup~final.txt`:        {},
		`\\files\work\proj\a`:                 {},
		`//FILES/Work/other/a`:                {},
		`\\?\D:\long\a`:                       {},
		`\\host\share\x`:                      {reach: machine},
		`//host/share/x`:                      {reach: machine},
		`/\host/share/x`:                      {reach: machine},
		`\\host`:                              {reach: machine},
		`\\files\other\x`:                     {reach: machine},
		`\\files\work2\x`:                     {reach: machine},
		`\\127.0.0.1@8080\share\x`:            {reach: machine, alias: ""},
		`\\?\UNC\host\share\x`:                {reach: device},
		`\\?\C:\x`:                            {reach: device, alias: stream},
		`\\.\PhysicalDrive0`:                  {reach: device},
		`//./pipe/x`:                          {reach: device},
		`\??\C:\x`:                            {reach: device, alias: stream},
		`C:\proj\CON`:                         {reach: device},
		`C:\proj\nul.txt`:                     {reach: device},
		`C:\proj\Com1 .log`:                   {reach: device},
		`C:\proj\LPT9\x`:                      {reach: device},
		`C:\proj\COM¹`:                        {reach: device},
		`C:\proj\conin$`:                      {reach: device},
		`C:\proj\aux:x`:                       {reach: device, alias: stream},
		`C:\Users\RUNNER~1\proj\prn`:          {reach: device},
		`C:\proj\a.txt:secret`:                {alias: stream},
		`C:\proj\.git::$INDEX_ALLOCATION\x`:   {alias: stream},
		`C:\proj\.env.`:                       {alias: end},
		`C:\proj\.env `:                       {alias: end},
		`C:\proj\.git .\config`:               {alias: end},
		`C:\Users\RUNNER~1\proj\GIT~1\config`: {alias: short},
		`C:\Users\RUNNER~1\proj\ENV~1`:        {alias: short},
		`C:\proj\LONGF~12.TXT`:                {alias: short},
		`\\files\work\proj\GIT~1`:             {alias: short},
	} {
		if got := windowsReach(path, dirs); got != want.reach {
			t.Errorf("windowsReach(%s) = %q, want %q", path, got, want.reach)
		}
		if got := windowsAlias(path, dirs); got != want.alias {
			t.Errorf("windowsAlias(%s) = %q, want %q", path, got, want.alias)
		}
	}
}
