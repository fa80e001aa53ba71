//go:build linux

package osdata_test

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/osdata"
	"tracewell/target"
)

// statLine is a line as in /proc/PID/stat.
func statLine(pid int, command string, pgid, core int) string {
	return fmt.Sprintf("%d (%s) S 1 %d %d%s %d 0 0\n", pid, command, pgid, pgid, strings.Repeat(" 0", 32), core)
}

// system has four processes: 10 is the leader of a group and has threads on three processors, 9 is in that group, 2 is one
// of the kernel's own, and 30 goes away when it is looked at.
func system() osdata.System {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	link := func(to string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(to), Mode: fs.ModeSymlink | 0o777}
	}
	names := func(id string) (string, bool) {
		name, ok := map[string]string{"0": "root", "7": "ada"}[id]
		return name, ok
	}
	return osdata.System{User: names, Group: names, Proc: fstest.MapFS{
		"2/stat":        file(statLine(2, "kthreadd", 0, 1)),
		"2/status":      file("Name:\tkthreadd\nUid:\t0\t0\t0\t0\n"),
		"2/cmdline":     file(""),
		"2/task/2/stat": file(statLine(2, "kthreadd", 0, 1)),

		"9/stat":        file(statLine(9, "a) (b", 10, 0)),
		"9/status":      file("Name:\ta) (b\nUid:\t0\t1234\t0\t0\n"),
		"9/cmdline":     file("a) (b\x00<x>\x00\x00"),
		"9/task/9/stat": file(statLine(9, "a) (b", 10, 0)),
		"9/fd/3":        link("/tmp/some file"),
		"9/fd/12":       link("socket:[77]"),
		"9/fd/4":        file("a descriptor that must not be read"),

		"10/stat":          file(statLine(10, "shell", 10, 11)),
		"10/status":        file("Name:\tshell\nUid:\t0\t7\t7\t7\n"),
		"10/cmdline":       file("sh\x00-i\x00"),
		"10/task/10/stat":  file(statLine(10, "shell", 10, 11)),
		"10/task/100/stat": file(statLine(100, "worker", 10, 2)),
		"10/task/20/stat":  file(statLine(20, "worker", 10, 11)),
		"10/task/21/comm":  file("a thread that has ended meanwhile\n"),

		"30/cmdline":      file("gone\x00"),
		"30/task/30/stat": file(""),
		"sysvipc/shm":     file("key shmid perms size cpid lpid nattch uid gid cuid cgid atime dtime ctime rss swap\n 4660 5 640 4096 10 999 1 7 7 8 0 1600000000 0 1600000001 0 0\n"),
		"sysvipc/sem":     file("key semid perms nsems uid gid cuid cgid otime ctime\n85 1 600 3 0 0 0 0 0 1600000001\n cut 1\n"),
		"sysvipc/msg":     file("key msqid perms cbytes qnum lspid lrpid uid gid cuid cgid stime rtime ctime\n"),
		"modules":         file("ext4 12345 2 jbd2,mbcache, Live 0xffffffffc0000000\nwifi 1 0 - Loading 0x0000000000000000 (OE)\n\n"),
		"cpuinfo":         file("processor\t: 0\nmodel name\t: One: fast\nflags\t\t:\n\nprocessor\t: 1\nbugs\t: none\n\n"),
		"net/tcp":         file("heading\n 0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 7 0 1\n"),
		"net/udp":         file("heading\n 5: 0200000A:0035 0300000A:FFFF 07 00000000:00000000 00:00000000 00000000 0 0 1 2\n"),
		"net/tcp6":        file("heading\n 0: B80D0120000000000000000001000000:0050 0000000000000000FFFF00000200000A:0051 0C 0:0 0:0 0 0 0 1\n"),
		"net/udp6":        file("heading\n cut\n 1: nonsense 00 zz 0:0 0:0 0 0 0 1\n"),
	}}
}

// text prints a table with a line for each row.
func text(t target.OSTable) string {
	var b strings.Builder
	for _, row := range append([][]string{t.Columns}, t.Rows...) {
		b.WriteString(strings.Join(row, "|") + "\n")
	}
	return b.String()
}

func TestTables(t *testing.T) {
	time.Local = time.UTC
	want := map[string]string{
		"processes": `
pid|user|command|cores
2|root|[kthreadd]|1
9|1234|a) (b <x>  |0
10|ada|sh -i |2,11
`,
		"procgroups": `
pgid|leader command|pid|command line
10|shell|10|sh -i 
10|shell|9|a) (b <x>  
`,
		"threads": `
pid|command|tid|core
2|kthreadd|2|1
9|a) (b|9|0
10|shell|10|11
10|shell|20|11
10|shell|100|2
`,
		"files": `
pid|command|file descriptor|name
9|a) (b|3|/tmp/some file
9|a) (b|4|4
9|a) (b|12|socket:[77]
`,
		"shm": `
key|shmid|permissions|size|creator command|last op. command|num attached|user|group|creator user|creator group|last shmat() time|last shmdt() time|last shmctl() time
4660|5|640|4096|shell|999|1|ada|ada|8|root|Sun Sep 13 12:26:40 2020||Sun Sep 13 12:26:41 2020
`,
		"semaphores": `
key|semid|permissions|num semaphores|user|group|creator user|creator group|last semop() time|last semctl() time
85|1|600|3|root|root|root|root||Sun Sep 13 12:26:41 2020
`,
		"msg": `
key|msqid|permissions|num used bytes|num messages|last msgsnd() command|last msgrcv() command|user|group|creator user|creator group|last msgsnd() time|last msgrcv() time|last msgctl() time
`,
		"modules": `
name|size|num uses|dependencies|status|address
ext4|12345|2|jbd2,mbcache,|Live|ffffffffc0000000
wifi|1|0|-|Loading|0
`,
		"cpus": `
processor|model name|flags|bugs
0|One: fast||
1|||none
`,
		"sockets": `
local address|local port|remote address|remote port|state|user|family|protocol
127.0.0.1|8080|0.0.0.0|0|LISTEN|ada|INET|STREAM
10.0.0.2|53|10.0.0.3|65535|CLOSE|root|INET|DGRAM
2001:db8::1|80|::ffff:10.0.0.2|81|(unknown)|root|INET6|STREAM
nonsense||00||(unknown)|root|INET6|DGRAM
`,
	}
	for _, table := range system().OSTables() {
		got, err := system().ReadOSTable(table.Name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.TrimPrefix(want[table.Name], "\n"), text(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", table.Name, diff)
		}
		delete(want, table.Name)
	}
	if len(want) > 0 {
		t.Errorf("there are no tables %v", want)
	}
	if _, err := system().ReadOSTable("nothing"); err == nil {
		t.Error("there is a table of nothing")
	}
}

// TestNothing reads the tables of a system that tells nothing.
func TestNothing(t *testing.T) {
	nobody := func(string) (string, bool) { return "", false }
	s := osdata.System{Proc: fstest.MapFS{}, User: nobody, Group: nobody}
	for _, table := range s.OSTables() {
		if got, err := s.ReadOSTable(table.Name); err != nil || len(got.Rows) != 0 {
			t.Errorf("%s: %v, %v", table.Name, got.Rows, err)
		}
	}
}

// TestHost finds this process among those of the real system.
func TestHost(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "open")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for name, wanted := range map[string]func(row []string) bool{
		"processes": func(row []string) bool { return strings.Contains(row[2], "osdata") && row[1] != "" && row[3] != "" },
		"threads":   func(row []string) bool { return row[2] == row[0] && row[3] != "" },
		"files":     func(row []string) bool { return row[3] == f.Name() },
	} {
		table, err := osdata.Host().ReadOSTable(name)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(table.Rows, func(row []string) bool { return row[0] == fmt.Sprint(os.Getpid()) && wanted(row) }) {
			t.Errorf("%s does not have this process:\n%s", name, text(table))
		}
	}
	if table, _ := osdata.Host().ReadOSTable("cpus"); len(table.Rows) == 0 {
		t.Error("there are no processors")
	}
}
