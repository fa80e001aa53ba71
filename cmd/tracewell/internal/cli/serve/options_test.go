package serve

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/cmd/tracewell/internal/cli/console"
)

// scan reads a command line of serve.
func scan(t *testing.T, line string) (*Command, error) {
	t.Helper()
	var c struct {
		Serve Command `cmd:""`
	}
	parser, err := kong.New(&c, kong.Writers(io.Discard, io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	_, err = parser.Parse(append([]string{"serve"}, strings.Fields(line)...))
	return &c.Serve, err
}

// asked is what a command line asks for, in short.
type asked struct {
	Place           string
	Command         string // the wrapper, the program and its arguments
	PID             int
	Once, Multi     bool
	RandomAddresses bool
	Without         string // packets
}

// TestGdbserverCommandLines reads the command lines that GDB's test-suite and its documentation start gdbserver with.
func TestGdbserverCommandLines(t *testing.T) {
	for line, want := range map[string]asked{
		"--once --multi localhost:2346":      {Place: "tcp localhost:2346", Once: true, Multi: true},
		"--multi localhost:2346":             {Place: "tcp localhost:2346", Multi: true},
		"--once localhost:2346 /prog":        {Place: "tcp localhost:2346", Command: "/prog", Once: true},
		"localhost:2346 /prog --once -x -":   {Place: "tcp localhost:2346", Command: "/prog --once -x -"},
		"- /prog":                            {Place: "stdio ", Command: "/prog"},
		"--once stdio /prog":                 {Place: "stdio ", Command: "/prog", Once: true},
		"/dev/com1 emacs foo.txt":            {Place: "device /dev/com1", Command: "emacs foo.txt"},
		"--once localhost:2346 --attach 123": {Place: "tcp localhost:2346", PID: 123, Once: true},
		"--attach --once :2346 0x7b":         {Place: "tcp localhost:2346", PID: 123, Once: true},
		"--once --wrapper env TEST=1 -- localhost:2346 /prog a": {Place: "tcp localhost:2346",
			Command: "env TEST=1 /prog a", Once: true},
		"--wrapper env -u LD_PRELOAD -- --multi localhost:2346": {Place: "tcp localhost:2346", Multi: true,
			Command: "env -u LD_PRELOAD "},
		"--once --disable-packet=threads --disable-packet=T,qfThreadInfo :1 /prog": {Place: "tcp localhost:1", Command: "/prog",
			Once: true, Without: "threads T qfThreadInfo"},
		"--no-disable-randomization :1 /prog":                        {Place: "tcp localhost:1", Command: "/prog", RandomAddresses: true},
		"--no-disable-randomization --disable-randomization :1 prog": {Place: "tcp localhost:1", Command: "prog"},
		"--no-startup-with-shell :1 prog":                            {Place: "tcp localhost:1", Command: "prog"},
		"--startup-with-shell :1 prog":                               {Place: "tcp localhost:1", Command: "prog"},
		"--debug --remote-debug --event-loop-debug --debug-file=log --debug-format=all :1 prog": {Place: "tcp localhost:1",
			Command: "prog"},
		"--debug=all --no-event-loop-debug :1 prog --": {Place: "tcp localhost:1", Command: "prog --"},
	} {
		c, err := scan(t, line)
		if err != nil {
			t.Errorf("%q: %v", line, err)
			continue
		}
		r, err := c.request(c.Command)
		if err != nil {
			t.Errorf("%q: %v", line, err)
			continue
		}
		got := asked{r.place.Network + " " + r.place.Address, "", r.pid, c.Once, c.Multi, r.program.RandomAddresses,
			strings.Join(r.disable, " ")}
		if p := r.program; p.Path != "" || len(p.Wrapper) > 0 {
			got.Command = strings.Join(slices.Concat(p.Wrapper, []string{p.Path}, p.Args), " ")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", line, diff)
		}
	}
}

// TestDebugOptions: each option of the debugging output switches its own part on.
func TestDebugOptions(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	for line, want := range map[string][3]bool{ // packets, events, timestamps
		"":                                    {},
		"--debug":                             {false, true, false},
		"--remote-debug":                      {true, false, false},
		"--debug=remote":                      {true, false, false},
		"--debug=threads,event-loop":          {false, true, false},
		"--debug=all --debug-format=all":      {true, true, true},
		"--debug-format=timestamp":            {false, false, true},
		"--debug-format=all,none":             {},
		"--remote-debug --debug-file=" + file: {true, false, false},
	} {
		c, err := scan(t, line+" :1 prog")
		if err != nil {
			t.Errorf("%q: %v", line, err)
			continue
		}
		log, err := c.debugLog(io.Discard)
		if err != nil {
			t.Errorf("%q: %v", line, err)
			continue
		}
		if got := [3]bool{log.Packets, log.Events, log.Timestamps}; got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
		log.Close()
	}
	if _, err := os.Stat(file); err != nil {
		t.Errorf("--debug-file: %v", err)
	}
}

// TestServeMisuse: a command line that gdbserver refuses is refused, too, before anything happens.
func TestServeMisuse(t *testing.T) {
	const nothing = "serve needs a place to listen and a program, or --attach and a PID, or --multi"
	for line, want := range map[string]string{
		"":                                 nothing,
		":1":                               nothing,
		"--multi":                          nothing,
		"--bogus :1 true":                  "unknown flag --bogus",
		"-x :1 true":                       "unknown flag -x",
		"-- :1 true":                       "unknown flag --",
		"--wrapper env":                    `--wrapper: the command has to end with "--"`,
		"--wrapper -- :1 true":             `--wrapper: there is no command before "--"`,
		"--attach :1":                      "--attach needs a place to listen and one PID",
		"--attach :1 1 2":                  "--attach needs a place to listen and one PID",
		":1 --attach":                      "--attach needs a place to listen and one PID",
		"--attach :1 sleep":                `--attach: "sleep" is no process id`,
		"--attach :1 -- -5":                "--attach needs a place to listen and one PID",
		"--attach :1 0":                    `--attach: "0" is no process id`,
		"udp:localhost:1 true":             `"udp:localhost:1" is no place to listen: UDP`,
		"localhost:port true":              `port "port" is not a number`,
		"--debug-format=x :1 true":         `--debug-format: Unknown debug-format argument: "x"`,
		"--debug=x :1 true":                `--debug: "x" is none of`,
		"--debug-file=no/log :1 true":      "--debug-file: open no/log: no such file",
		"--disable-packet=vCont,x :1 true": `--disable-packet: don't know how to disable "x"`,
	} {
		got := clitest.Run(t, append([]string{"serve"}, strings.Fields(line)...)...)
		if got.Status != console.StatusFailure || got.Stdout != "" || !strings.Contains(got.Stderr, want) {
			t.Errorf("%q: exit status %d, printed %q and %q, want %q", line, got.Status, got.Stdout, got.Stderr, want)
		}
	}
}

// TestServeAnswers what asks for no server.
func TestServeAnswers(t *testing.T) {
	for line, want := range map[string]string{
		"--selftest":            "Selftests have been disabled for this build.\n",
		"--selftest=x :1":       "Selftests have been disabled for this build.\n",
		"--disable-packet":      disableable,
		"--once --version :1 x": clitest.Run(t, "version").Stdout,
	} {
		got := clitest.Run(t, append([]string{"serve"}, strings.Fields(line)...)...)
		if got != (clitest.Outcome{Stdout: want}) {
			t.Errorf("%q: %+v, want %q", line, got, want)
		}
	}
}
