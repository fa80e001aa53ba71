//go:build linux

package match

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/test/gdbtest"
)

// TestMatchServe looks at both sides of a difference in GDB: they stand in front of the same instruction, and part with it. Ctrl-C ends
// the servers, with the status of the comparison.
func TestMatchServe(t *testing.T) {
	binary := gdbtest.Binary(t)
	t.Chdir(t.TempDir())
	for _, args := range []string{"-n 20k -o ref --elf prog", "-n 20k --fault state@10015 -o dut"} {
		if got := clitest.Run(t, append([]string{"gen-trace"}, strings.Fields(args)...)...); got.Status != console.StatusDone {
			t.Fatalf("gen-trace %s: %+v", args, got)
		}
	}
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	sockets := []string{filepath.Join(folder, "ref.sock"), filepath.Join(folder, "dut.sock")}
	cmd := exec.Command(binary, "match", "ref", "dut", "--quiet", "--exec", "prog",
		"--serve", "unix:"+sockets[0]+",unix:"+sockets[1])
	messages, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	awaitLines(t, messages, "Listening on socket "+sockets[0], "Listening on socket "+sockets[1])
	out := gdbtest.RunMultiarch(t, `file prog
target remote `+sockets[0]+`
-- reference --
monitor where
info registers r11
stepi
monitor where
p/x $r11
disconnect
target remote `+sockets[1]+`
-- other --
monitor where
stepi
p/x $r11
`)
	reference, other := out.Section(t, "reference"), out.Section(t, "other")
	const place = "in front of instruction #10015 "
	if !strings.Contains(reference, place) || !strings.Contains(other, place) || lastLine(reference) == lastLine(other) {
		t.Errorf("the reference shows\n%s\nand the other\n%s", reference, other)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if cmd.Wait(); cmd.ProcessState.ExitCode() != console.StatusFinding {
		t.Errorf("exit status %d", cmd.ProcessState.ExitCode())
	}
}

func lastLine(s string) string {
	lines := strings.Split(s, "\n")
	for _, line := range lines {
		if strings.HasPrefix(line, "$") {
			_, value, _ := strings.Cut(line, " = ")
			return value
		}
	}
	return ""
}

// awaitLines reads until some lines have come, in any order.
func awaitLines(t *testing.T, from io.Reader, lines ...string) {
	t.Helper()
	waiting := make(map[string]bool)
	for _, line := range lines {
		waiting[line] = true
	}
	var all strings.Builder
	for in := bufio.NewScanner(from); len(waiting) > 0; {
		if !in.Scan() {
			t.Fatalf("without %v there is only\n%s", waiting, all.String())
		}
		all.WriteString(in.Text() + "\n")
		delete(waiting, in.Text())
	}
	go io.Copy(io.Discard, from)
}

// TestMatchServeRefused is what cannot be served.
func TestMatchServeRefused(t *testing.T) {
	t.Chdir(traceFolder(t))
	for args, says := range map[string]string{
		"ref dut --serve :1":            `":1" is not two places`,
		"ref dut --serve :1,-":          `"-" is no socket`,
		"ref dut same --serve :1,:2":    "--serve needs two traces",
		"ref - --serve :1,:2":           "can be read once only",
		"ref dut --exec prog":           "--exec, --arch and --any-user are for --serve",
		"--pairs nothing --serve :1,:2": "--serve needs two traces",
	} {
		if got := clitest.Run(t, append([]string{"match"}, strings.Fields(args)...)...); got.Status != console.StatusFailure || !strings.Contains(got.Stderr, says) {
			t.Errorf("match %s: want %q: %+v", args, says, got)
		}
	}
	if got := clitest.Run(t, "match", "ref", "same", "--serve", ":1,:2", "-q"); got.Status != console.StatusDone || !strings.Contains(got.Stderr, "no difference to serve") {
		t.Errorf("equal traces: %+v", got)
	}
}
