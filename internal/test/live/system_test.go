package live

import (
	"fmt"
	"net"
	"os"
	"regexp"
	"strings"
	"testing"

	"tracewell/internal/test/gdbtest"
)

// TestSystem looks at what "info os" prints of this very test and of the program under trace.
func TestSystem(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	server := gdbtest.Serve(t, "/bin/cat", "<&'\">", "")
	tables := []string{"cpus", "files", "modules", "msg", "processes", "procgroups", "semaphores", "shm", "sockets", "threads"}
	script := "target remote " + server.Address + "\n-- list --\ninfo os\n"
	for _, table := range tables {
		script += "-- " + table + " --\ninfo os " + table + "\n"
	}
	output := gdbtest.Run(t, "", script+"-- none --\n? info os nothing\nkill\n")

	contains(t, output, "list", tables...)
	contains(t, output, "none", "Wrong osdata type?", "error: Can not fetch data now.")
	inferior := server.InferiorPID(t)
	for section, row := range map[string]string{
		"cpus":       `(?m)^processor .*flags`,
		"files":      fmt.Sprintf(`(?m)^%d +cat +0 +/dev/null *$`, inferior),
		"processes":  fmt.Sprintf(`(?m)^%d +\S+ +/bin/cat <&'"> +[0-9]+ *$`, inferior),
		"procgroups": fmt.Sprintf(`(?m)^%d +cat +%[1]d +/bin/cat <&'">`, inferior),
		"sockets":    fmt.Sprintf(`(?m)^127\.0\.0\.1 +%s +0\.0\.0\.0 +0 +LISTEN +\S+ +INET +STREAM`, port),
		"threads":    fmt.Sprintf(`(?m)^%d +live\.test +%[1]d +[0-9]+ *$`, os.Getpid()),
	} {
		if text := output.Section(t, section); !regexp.MustCompile(row).MatchString(text) {
			t.Errorf("info os %s has no row that matches %q:\n%s", section, row, text)
		}
	}
	if headings := output.Section(t, "processes"); !strings.HasPrefix(headings, "pid        user       command    cores") {
		t.Errorf("info os processes begins with %.60q", headings)
	}
}
