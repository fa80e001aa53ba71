//go:build linux && amd64

package dap_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	protocol "github.com/google/go-dap"

	"tracewell/internal/test/testtool"
)

// TestRedis has a log point print the keys that a Redis server is asked for, which a benchmark keeps busy meanwhile. Debian's server
// has no debug information: the key is found by the second argument of a function, an object whose text is behind 8 bytes.
func TestRedis(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "redis.sock")
	server := begun(t, testtool.Path(t, "redis-server"), "--port", "0", "--unixsocket", socket, "--save", "", "--daemonize", "no",
		"--logfile", os.DevNull, "--dir", t.TempDir())
	for end := time.Now().Add(deadline); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(socket); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the server does not listen")
		}
	}
	c := connect(t, here())
	c.start("attach", map[string]any{"pid": server.Process.Pid, "logPoints": []any{map[string]any{
		"location": "lookupKeyReadOrReply", "message": "GET {*(char **)($rsi + 8)}"}}})
	ask[*protocol.ConfigurationDoneResponse](c, "configurationDone", nil)
	event[*protocol.ProcessEvent](c)

	load := testtool.Command(t, "redis-benchmark", "-s", socket, "-n", "20000", "-c", "4", "-t", "set", "-q")
	if err := load.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		load.Process.Kill()
		load.Wait()
	})
	var asked, want []string
	for i := range 20 {
		asked = append(asked, fmt.Sprintf("GET key:%d", i*i))
		want = append(want, fmt.Sprintf("GET key:%d\n", i*i))
	}
	cli := testtool.Command(t, "redis-cli", "-s", socket)
	cli.Stdin = strings.NewReader(strings.Join(asked, "\n") + "\n")
	if output, err := cli.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	var got []string
	for len(got) < len(want) {
		if e := event[*protocol.OutputEvent](c); strings.HasPrefix(e.Body.Output, "GET ") {
			got = append(got, e.Body.Output)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	c.leave(nil)
	ping := testtool.Command(t, "redis-cli", "-s", socket, "ping")
	if output, err := ping.Output(); err != nil || strings.TrimSpace(string(output)) != "PONG" {
		t.Errorf("after the session: %v, %s", err, output)
	}
}
