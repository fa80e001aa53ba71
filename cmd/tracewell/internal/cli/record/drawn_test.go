//go:build linux && amd64

package record

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/internal/test/testprog"
	"tracewell/internal/test/testtool"
)

// control is an escape sequence: how far up the cursor goes, or that the rest of the screen is erased.
var control = regexp.MustCompile(`^\x1b\[(\d*)([A-Za-z])`)

// screenOf is what a terminal shows, line by line, that has got a text, so far as the table uses a terminal's abilities. The test fails
// for any other.
func screenOf(t *testing.T, text string) (lines []string) {
	t.Helper()
	lines, row := []string{""}, 0
	for len(text) > 0 {
		m := control.FindStringSubmatch(text)
		switch {
		case m != nil && m[2] == "A":
			n, _ := strconv.Atoi(m[1])
			if row -= n; row < 0 {
				t.Fatalf("the cursor leaves the screen by %q", m[0])
			}
		case m != nil && m[2] == "J":
			lines = append(lines[:row], "")
		case m != nil && m[2] == "m":
		case m != nil || text[0] == '\x1b':
			t.Fatalf("unknown escape sequence in %.40q", text)
		case text[0] == '\r':
			text = text[1:]
			continue
		case text[0] == '\n':
			if row++; row == len(lines) {
				lines = append(lines, "")
			}
			text = text[1:]
			continue
		default:
			lines[row] += text[:1]
			text = text[1:]
			continue
		}
		text = text[len(m[0]):]
	}
	return lines
}

// TestFiguresDrawn: on a terminal the table of an attached process is drawn over the one before, with more hits each time, and the
// last one is left when the user ends the run.
func TestFiguresDrawn(t *testing.T) {
	p := testprog.Build(t, "ticks", testprog.Variant{})
	ticks := exec.Command(p.Path)
	if err := ticks.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ticks.Process.Kill(); ticks.Wait() })
	args := []string{"record", "-q", "--at", "tick", "--count-by", "function", "--max", "now->count", "--every", "50ms",
		"--pid", fmt.Sprint(ticks.Process.Pid)}
	// A new terminal has no size, in which nothing can be drawn.
	command := testtool.Command(t, "sh", "-c", "stty rows 40 cols 100; exec "+os.Args[0])
	command.Env = append(os.Environ(), "TERM=xterm", "NO_COLOR=1", clitest.OnTerminal+"="+strings.Join(args, " "))
	s := clitest.StartOnPTY(t, command)
	title := regexp.MustCompile(`\d+\.\d s: (\d+) hits?, [0-9.]+ per s, \d keys?\b`)
	for deadline := time.Now().Add(time.Minute); len(title.FindAllString(s.Screen.String(), -1)) < 4; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no four tables:\n%.2000q", s.Screen.String())
		}
	}
	io.WriteString(s.Typist, "\x03")
	if status := s.Status(t); status != 0 {
		t.Errorf("exit status %d", status)
	}
	printed := s.Screen.String()
	last := -1
	for _, m := range title.FindAllStringSubmatch(printed, -1) {
		hits, _ := strconv.Atoi(m[1])
		if hits < last {
			t.Errorf("%d hits after %d", hits, last)
		}
		last = hits
	}
	screen := screenOf(t, strings.ReplaceAll(printed, "^C", ""))
	whole := strings.Join(screen, "\n")
	if n := len(title.FindAllString(whole, -1)); n != 1 || last < 1 {
		t.Errorf("%d tables are left, %d hits:\n%s", n, last, whole)
	}
	if row := regexp.MustCompile(fmt.Sprintf(`(?m)^tick +%d +100 .*█`, last)); !row.MatchString(whole) {
		t.Errorf("no row of %d hits with a bar:\n%s", last, whole)
	}
}
