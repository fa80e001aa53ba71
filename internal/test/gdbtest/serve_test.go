package gdbtest

import (
	"os"
	"strings"
	"testing"

	"tracewell/internal/test/testprog"
)

// TestServe has GDB stop and end a program under "tracewell serve", over each kind of connection that Start offers.
func TestServe(t *testing.T) {
	program := testprog.Build(t, "queue", testprog.Variant{NoPIE: true})
	for name, comm := range map[string]string{"socket": "", "port": ":0"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := Start(t, Config{Comm: comm, Command: []string{program.Path, "5"}})
			output := Run(t, program.Path, `
				target remote `+server.Address+`
				break work
				continue
				-- arguments --
				info args
				delete
				-- rest --
				continue
			`)
			if args := output.Section(t, "arguments"); !strings.Contains(args, "factor = 1") {
				t.Errorf("arguments: %s", args)
			}
			if rest := output.Section(t, "rest"); !strings.Contains(rest, "exited normally") {
				t.Errorf("the program did not end: %s", rest)
			}
			server.Wait(t)
			if !strings.Contains(server.Stdout(), "done pushes=5 pops=5 highest=2 sum=37\n") {
				t.Errorf("the program printed:\n%s", server.Stdout())
			}
		})
	}
}

// TestBinary looks for an executable that a second call gives again.
func TestBinary(t *testing.T) {
	first := Binary(t)
	stat, err := os.Stat(first)
	if err != nil {
		t.Fatal(err)
	}
	if stat.Mode()&0o111 == 0 {
		t.Errorf("%s is not executable: %v", first, stat.Mode())
	}
	if second := Binary(t); second != first {
		t.Errorf("two binaries, %s and %s", first, second)
	}
}
