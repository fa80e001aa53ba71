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

// redis is a Redis server that listens on a socket.
func redis(t *testing.T) (socket string, pid int) {
	t.Helper()
	socket = filepath.Join(t.TempDir(), "redis.sock")
	server := begun(t, testtool.Path(t, "redis-server"), "--port", "0", "--unixsocket", socket, "--save", "", "--daemonize", "no",
		"--logfile", os.DevNull, "--dir", t.TempDir())
	for end := time.Now().Add(deadline); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(socket); err == nil {
			return socket, server.Process.Pid
		}
		if time.Now().After(end) {
			t.Fatal("the server does not listen")
		}
	}
}

// looksUp is the function of Redis that is asked for keys, and keyByte a byte of the text of its key.
const looksUp = "lookupKeyReadOrReply"

func keyByte(n int) string { return fmt.Sprintf("*(unsigned char *)(*(char **)($rsi + 8) + %d)", n) }

// busy has a benchmark ask a Redis server until it is done, or the test is.
func busy(t *testing.T, socket string, options ...string) {
	t.Helper()
	load := testtool.Command(t, "redis-benchmark", append([]string{"-s", socket, "-n", "20000", "-c", "4", "-q"}, options...)...)
	if err := load.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		load.Process.Kill()
		load.Wait()
	})
}

// printsOf sends Redis requests, a line each, and expects the lines that log points print of them.
func (c *client) printsOf(socket, requests string, want []string) {
	c.t.Helper()
	cli := testtool.Command(c.t, "redis-cli", "-s", socket)
	cli.Stdin = strings.NewReader(requests)
	if output, err := cli.CombinedOutput(); err != nil {
		c.t.Fatalf("%v\n%s", err, output)
	}
	var got []string
	for len(got) < len(want) {
		if e := event[*protocol.OutputEvent](c); strings.HasPrefix(e.Body.Output, "GET ") {
			got = append(got, e.Body.Output)
		}
	}
	if !slices.Equal(got, want) {
		c.t.Errorf("%q", got)
	}
}

// TestRedisConditions has a log point print every tenth key of those that begin in a way, while others are asked for all the time.
func TestRedisConditions(t *testing.T) {
	socket, pid := redis(t)
	c := connect(t, here())
	c.start("attach", map[string]any{"pid": pid, "logPoints": []any{map[string]any{"location": looksUp,
		"message": "GET {*(char **)($rsi + 8)}", "condition": keyByte(4) + " == '1'", "hitCondition": "% 10"}}})
	ask[*protocol.ConfigurationDoneResponse](c, "configurationDone", nil)
	event[*protocol.ProcessEvent](c)
	// The keys of the load are key:000000000000 and so on.
	busy(t, socket, "-t", "get", "-r", "1000")
	var asked strings.Builder
	var want []string
	for i := range 200 {
		fmt.Fprintf(&asked, "GET key:2%d\nGET key:1%d\n", i, i)
		if i%10 == 9 {
			want = append(want, fmt.Sprintf("GET key:1%d\n", i))
		}
	}
	c.printsOf(socket, asked.String(), want)
	c.leave(nil)
}

// TestRedis has a log point print the keys that a Redis server is asked for, which a benchmark keeps busy meanwhile. Debian's server
// has no debug information: the key is found by the second argument of a function, an object whose text is behind 8 bytes.
func TestRedis(t *testing.T) {
	socket, pid := redis(t)
	c := connect(t, here())
	c.start("attach", map[string]any{"pid": pid, "logPoints": []any{map[string]any{
		"location": "lookupKeyReadOrReply", "message": "GET {*(char **)($rsi + 8)}"}}})
	ask[*protocol.ConfigurationDoneResponse](c, "configurationDone", nil)
	event[*protocol.ProcessEvent](c)

	busy(t, socket, "-t", "set")
	var asked, want []string
	for i := range 20 {
		asked = append(asked, fmt.Sprintf("GET key:%d", i*i))
		want = append(want, fmt.Sprintf("GET key:%d\n", i*i))
	}
	c.printsOf(socket, strings.Join(asked, "\n")+"\n", want)
	c.leave(nil)
	ping := testtool.Command(t, "redis-cli", "-s", socket, "ping")
	if output, err := ping.Output(); err != nil || strings.TrimSpace(string(output)) != "PONG" {
		t.Errorf("after the session: %v, %s", err, output)
	}
}
