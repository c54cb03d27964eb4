package listing

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/strategy/strategytest"
)

func TestTable(t *testing.T) {
	var ps, du, ss, top strings.Builder
	ps.WriteString("USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\n")
	ss.WriteString("State      Recv-Q Send-Q Local Address:Port Peer Address:Port Process\n")
	top.WriteString("top - 02:36:01 up 1 day,  1 user,  load average: 0.10, 0.20, 0.30\n\n    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     " +
		"TIME+ COMMAND\n")
	for i := range 150 {
		fmt.Fprintf(&top, "%7d dev       20   0    9000   4000   2000 S   0.0   %d.%d   0:00.01 work%d\n", i+1, i/149*7, i%2, i)
		fmt.Fprintf(&ps, "root %11d  0.0  0.0      0     0 ?        I<   02:36   0:00 [kworker/%d:0H]\n", i+2, i)
		fmt.Fprintf(&ps, "dev  %11d  0.0  0.1   9000  4000 ?        S    02:36   0:00 /usr/lib/postgresql/15/bin/postgres -D /var/lib/%d\n", i+1000, i)
		fmt.Fprintf(&du, "%dK\t./dir%d\n", 4+i%7, i)
		fmt.Fprintf(&ss, "TIME-WAIT  0      0      10.0.0.1:%d      10.0.0.2:5432\n", 30000+i)
	}
	ps.WriteString("dev         4711 98.2 40.1 900000 800000 ?       Rl   02:36  12:00 node server.js --port 3000 " + strings.Repeat("--flag=x ", 60) + "\n")
	ps.WriteString("dev         4712  0.0  0.0      0     0 ?        Z    02:36   0:00 [node] <defunct>\n")
	ps.WriteString("dev         4713  0.0  0.0      0     0 ?        S    02:36   0:00 /usr/sbin/cron -f\n")
	du.WriteString("1.9G\t./data\n2.0G\t.\n")
	ss.WriteString("LISTEN     0      511          0.0.0.0:3000        0.0.0.0:*    users:((\"node\",pid=4711,fd=20))\n")
	df := "Filesystem     Type      Size  Used Avail Use% Mounted on\nudev           devtmpfs  7.8G     0  7.8G   0% /dev\ntmpfs          tmpfs     1.6G  " +
		"1.5G   90M  95% /run\n/dev/sda1      ext4      468G  465G     0 100% /\n/dev/loop3     squashfs   64M   64M     0 100% /snap/core20/1828\noverlay       " +
		" overlay   468G  465G     0 100% /var/lib/docker/overlay2/x/merged\n"
	for name, tt := range map[string]struct {
		command, in string
		want, gone  []string
	}{
		"df": {"df -hT", df, []string{"/dev/sda1", "95% /run", "(3 pseudo file systems left out)"}, []string{"snap", "docker", "udev"}},
		"df of a box": {"df -h", "Filesystem      Size  Used Avail Use% Mounted on\noverlay          59G   50G  6.1G  90% /\ntmpfs            64M     0   64M   " +
			"0% /dev\nshm              64M     0   64M   0% /dev/shm\n/dev/vda1        59G   50G  6.1G  90% /etc/hosts\n", []string{"% /\n", "/etc/hosts"},
			[]string{"/dev/shm"}},
		"du": {"du -a .", du.String(), []string{"2.0G\t.", "1.9G\t./data", "10K\t./dir6", "(112 smaller entries left out)"}, []string{"4K\t"}},
		"ps": {"ps aux", ps.String(), []string{"node server.js --port 3000", "[node] <defunct>", "150 kernel threads", "cron", "postgres 1"},
			[]string{"[kworker/3"}},
		"two tables of ps": {"ps -eo pid,comm", "  PID TTY          TIME CMD\n" + strings.Repeat("   14 ?        00:00:00   kworker/0:1H-events\n", 150) +
			"  PID   RSS COMMAND\n 4711 90000 node\n",
			[]string{"  PID   RSS COMMAND\n 4711 90000 node\n(of table 1: 110 more processes: kworker/0:1H-events 110 left out)"}, nil},
		"top":     {"top -bn1", top.String(), []string{"load average", "%MEM", "work0\n", "work149\n", "(129 processes left out)"}, []string{"work148\n"}},
		"sockets": {"ss -tan", ss.String(), []string{"LISTEN     0      511          0.0.0.0:3000", "130 TIME-WAIT"}, []string{":30149"}},
		"padded": {"dpkg -l",
			"||/ Name           Version      Architecture Description\n" + strings.Repeat("ii  adduser        3.134        all          add and remove users\n", 9),
			[]string{"||/ Name  Version  Architecture Description\nii  adduser  3.134  all  add and remove users\n"}, []string{"   "}},
		"not padded":   {"psql -c x", " a | b \n---+---\n 1 | x   y\n 2 | z\n 3 | u\n 4 | v\n", []string{"x   y"}, nil},
		"a few rows":   {"ps aux", "  PID TTY          TIME CMD\n    1 ?        00:00:01 init\n", []string{"init"}, nil},
		"what is else": {"ps aux", strategytest.Numbered(1, 200), []string{"line 100"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := strategytest.Make(t, Strategies["table"], "")
			run := strategy.Run{Command: tt.command}
			got := strategytest.Pass(t, s, run, tt.in)
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
			for _, gone := range tt.gone {
				if strings.Contains(got, gone) {
					t.Errorf("still %q in\n%s", gone, got)
				}
			}
			if again := strategytest.Pass(t, s, run, got); again != got {
				t.Errorf("filtered again, the result became\n%s", again)
			}
		})
	}
}

func TestSaidOnce(t *testing.T) {
	const once = `once = '^(\w\w +)\S+ +\S+( +\S+)( +\[.*\])?$'`
	rows := strings.Repeat("ii  adduser   3.1  all    [auto]\n", 20) + strings.Repeat("ii  apt   2.6  amd64  [auto]\n", 10)
	for name, tt := range map[string]struct{ in, want string }{
		"most rows":       {"Head\n" + rows + "rc  old  1.0  all\n", "Head\n(left out of the rows with it: ii, all)\nadduser  3.1  [auto]\n"},
		"in each row":     {rows + "rc  vim  9  all  [auto]\n", "(left out of the rows with it: ii, all, [auto])\nadduser  3.1\n"},
		"another value":   {rows + "rc  vim  9  all  [auto]\n", "\napt  2.6  amd64\nrc  vim  9\n"},
		"no usual value":  {strings.Repeat("a1  x  1  b1\na2  x   1  b2\n", 20), "a1  x  1  b1\na2  x   1  b2\n"},
		"fewer rows":      {strings.Repeat("ii  adduser  3.1  all  [auto]\n", 9), "ii  adduser  3.1  all  [auto]\n"},
		"other last line": {rows + "rc  vim  9  all  [auto]\nDone.\n", "\nDone.\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s := strategytest.Make(t, Strategies["table"], once)
			got := strategytest.Pass(t, s, strategy.Run{Command: "dpkg -l"}, tt.in)
			if !strings.Contains("\n"+got, tt.want) {
				t.Errorf("no %q in\n%s", tt.want, got)
			}
			if again := strategytest.Pass(t, s, strategy.Run{Command: "dpkg -l"}, got); again != got {
				t.Errorf("filtered again, the result became\n%s", again)
			}
		})
	}
}

func FuzzTable(f *testing.F) {
	for _, command := range []string{"df", "du", "ps aux", "top -b", "lsof", "ss"} {
		f.Add(command, "PID FD COMMAND\n"+strings.Repeat("1 mem [x]\n2 x y\n12K\tx\ntmpfs 1 2 3 0% /x\n/dev/a 1 2 3 0% /x\n3 ESTAB x\n", 9))
	}
	f.Fuzz(func(t *testing.T, command, text string) {
		checkCommand(t, strategytest.Make(t, Strategies["table"], "max_rows = 5, width = 40"), command, text)
	})
}
